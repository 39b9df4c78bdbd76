// Options of a lock, and the permissions that ACLs name.
#ifndef ZOOLOCK_LOCK_OPTIONS_HPP
#define ZOOLOCK_LOCK_OPTIONS_HPP

#include <zoolock.h>
#include <zoolock/handle.hpp>
#include <zoolock/wait.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace zoolock {

/// Permissions of an entry of an ACL; joined by `|`.
enum class permission : std::uint32_t {
    read = ZOOLOCK_PERMISSION_READ,
    write = ZOOLOCK_PERMISSION_WRITE,
    create = ZOOLOCK_PERMISSION_CREATE,
    /// To delete children.
    remove = ZOOLOCK_PERMISSION_DELETE,
    admin = ZOOLOCK_PERMISSION_ADMIN,
    all = ZOOLOCK_PERMISSION_ALL,
};

constexpr permission operator|(permission left, permission right) noexcept
{
    return static_cast<permission>(static_cast<std::uint32_t>(left) | static_cast<std::uint32_t>(right));
}

/// The names that contenders get. Every naming is understood, whatever is written.
enum class naming : std::int32_t {
    /// Curator's, which go-zookeeper shares. The default.
    curator = ZOOLOCK_NAMING_CURATOR,
    kazoo = ZOOLOCK_NAMING_KAZOO,
};

/// Options of a lock; each is left at its default unless set. A bad value is told by the lock that is made with them, as
/// `invalid_argument` (R20). Not for two threads at once.
class lock_options {
public:
    lock_options() : handle_(detail::made(zoolock_lock_options_new(), "lock_options")) {}

    /// The names that contenders get.
    lock_options &names(naming names)
    {
        zoolock_lock_options_set_naming(handle_.get(), static_cast<std::int32_t>(names));
        return *this;
    }

    /// Data of the contender node, any bytes, at most 512 KiB. Default: the session's identity.
    lock_options &data(const std::string &bytes)
    {
        zoolock_lock_options_set_data(handle_.get(), bytes.data(), bytes.size());
        return *this;
    }

    /// Keeps the contender at a release, so that the next acquire in this process costs no request; given up when nobody here has used
    /// it for so long, 1 ms to a day, or when anybody else comes. Default: off. For `mutex` and `reentrant_mutex`. The token is then the
    /// pair of `guard::fencing_token` and `guard::grant_count`, to be compared whole (R2).
    template <class Rep, class Period>
    lock_options &keep(std::chrono::duration<Rep, Period> idle)
    {
        zoolock_lock_options_set_keep_ms(handle_.get(), detail::milliseconds(idle, "keep"));
        return *this;
    }

    /// Nodes that anyone may do anything with, whatever the session's ACL is.
    lock_options &acl_open()
    {
        zoolock_lock_options_set_acl_open(handle_.get());
        return *this;
    }

    /// Nodes that only the session's credentials may change.
    lock_options &acl_creator()
    {
        zoolock_lock_options_set_acl_creator(handle_.get());
        return *this;
    }

    /// Adds an entry to a list of the lock's own.
    lock_options &acl_entry(permission permissions, const std::string &scheme, const std::string &id)
    {
        zoolock_lock_options_add_acl_entry(handle_.get(), static_cast<std::uint32_t>(permissions),
                                           detail::c_text(scheme, "acl_entry", "scheme"), detail::c_text(id, "acl_entry", "id"));
        return *this;
    }

    /// Throws `invalid_argument` if it was moved from.
    const zoolock_lock_options *c_handle() const { return detail::present(handle_, "lock_options"); }

private:
    detail::handle<zoolock_lock_options, zoolock_lock_options_free> handle_;
};

} // namespace zoolock

#endif
