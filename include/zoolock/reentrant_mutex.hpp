// The mutex that its owner may lock again.
#ifndef ZOOLOCK_REENTRANT_MUTEX_HPP
#define ZOOLOCK_REENTRANT_MUTEX_HPP

#include <zoolock.h>
#include <zoolock/asynchronous.hpp>
#include <zoolock/contender.hpp>
#include <zoolock/session.hpp>
#include <zoolock/side.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zoolock {

/// A mutex that its owner, a thread or an `owner`, may lock again, at no request and with the same token (R11). The contender goes
/// when all holds are released. Re-entrancy counts per session, path, naming and owner, not per object. Otherwise as `mutex`;
/// and an owner that has lost its hold gets `lock_lost` when it locks again, until it has released that hold.
class reentrant_mutex {
public:
    /// As for `mutex`.
    reentrant_mutex(const session &on, const std::string &path, const lock_options &options = {})
        : handle_(make(on, detail::c_text(path, "reentrant_mutex", "path"), options)),
          side_(handle_.get(), path, zoolock_reentrant_lock)
    {
    }

    reentrant_mutex(const reentrant_mutex &) = delete;
    reentrant_mutex &operator=(const reentrant_mutex &) = delete;

    /// As for `mutex`, for the calling thread.
    guard acquire(wait limit = forever) const { return side_.acquire(limit, nullptr); }
    guard acquire(wait limit, const cancel &by) const { return side_.acquire(limit, &by); }
    std::optional<guard> try_acquire() const { return side_.try_acquire(); }

    /// As for `mutex`, for an owner.
    guard acquire(const owner &who, wait limit = forever) const
    {
        return detail::acquire_owned(handle_.get(), path(), zoolock_reentrant_lock_owned, who, limit, nullptr);
    }
    guard acquire(const owner &who, wait limit, const cancel &by) const
    {
        return detail::acquire_owned(handle_.get(), path(), zoolock_reentrant_lock_owned, who, limit, &by);
    }
    std::optional<guard> try_acquire(const owner &who) const
    {
        return detail::try_acquire_owned(handle_.get(), zoolock_reentrant_lock_owned, who);
    }

    /// As for `mutex`, for an owner: there is no form for the calling thread, since the callback runs on another one.
    template <class Callback>
    void acquire_async(const owner &who, Callback &&callback, wait limit = forever, const cancel *by = nullptr) const
    {
        detail::start(path(), std::forward<Callback>(callback), [&](zoolock_lock_callback call, void *userdata) {
            return zoolock_reentrant_lock_owned_async(handle_.get(), who.c_handle(), limit.c_milliseconds(), detail::c_handle(by), call,
                                                      userdata);
        });
    }

    /// TimedLockable, for the calling thread.
    void lock() const { side_.lock(); }
    bool try_lock() const { return side_.try_lock(); }

    template <class Rep, class Period>
    bool try_lock_for(std::chrono::duration<Rep, Period> length) const
    {
        return side_.try_lock(length);
    }

    template <class Clock, class Duration>
    bool try_lock_until(std::chrono::time_point<Clock, Duration> time) const
    {
        return side_.try_lock(wait::until(time));
    }

    /// Ends the last hold that the calling thread took; otherwise as for `mutex`.
    void unlock() const noexcept { side_.unlock(); }
    void release() const { side_.release(); }

    /// As for `mutex`.
    std::int64_t fencing_token() const { return side_.current().fencing_token(); }

    /// The second part of that hold's token, where contenders are kept: see `guard::grant_count`. Throws `not_held`.
    std::uint64_t grant_count() const { return side_.current().grant_count(); }
    bool held() const { return side_.held(); }
    void ensure_held() const { side_.current().ensure_held(); }
    std::vector<contender> contenders() const { return detail::contenders_of(handle_.get(), zoolock_reentrant_contenders); }
    zoolock::statistics statistics() const { return detail::statistics_of(handle_.get(), zoolock_reentrant_statistics); }
    const std::string &path() const noexcept { return side_.path(); }
    const zoolock_reentrant *c_handle() const noexcept { return handle_.get(); }

private:
    static zoolock_reentrant *make(const session &on, const char *path, const lock_options &options)
    {
        zoolock_reentrant *made = nullptr;
        detail::call([&](zoolock_error **err) { return zoolock_reentrant_new(on.c_handle(), path, options.c_handle(), &made, err); });
        return made;
    }

    detail::handle<zoolock_reentrant, zoolock_reentrant_free> handle_;
    detail::side<zoolock_reentrant> side_;
};

} // namespace zoolock

#endif
