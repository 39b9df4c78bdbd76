// The held lock.
#ifndef ZOOLOCK_GUARD_HPP
#define ZOOLOCK_GUARD_HPP

#include <zoolock.h>
#include <zoolock/callback.hpp>
#include <zoolock/wait.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace zoolock {

/// State of a guard (R4). Values are append-only.
enum class guard_state : int {
    /// Not a state: the guard was moved from.
    none = ZOOLOCK_GUARD_STATE_INVALID,
    held = ZOOLOCK_GUARD_STATE_HELD,
    /// Held, but the connection is in doubt; the lease still runs.
    suspended = ZOOLOCK_GUARD_STATE_SUSPENDED,
    /// Final.
    lost = ZOOLOCK_GUARD_STATE_LOST,
    /// Final.
    released = ZOOLOCK_GUARD_STATE_RELEASED,
};

/// A lock that was granted. Its end releases the lock in the background and never blocks or throws; `release` waits, and throws
/// `lock_lost` if the lock was lost. For any thread. In a forked child an inherited guard is lost (R18).
///
/// Of a guard that was moved from, `release` and the like throw `invalid_argument`.
class [[nodiscard]] guard {
public:
    /// Takes over a guard of C's.
    explicit guard(zoolock_guard *handle) noexcept : handle_(handle) {}

    /// The fencing token: positive, unique in the ensemble, rising from grant to grant on a path (R2). What the lock protects should
    /// refuse a token lower than one it has seen. -1 if moved from.
    std::int64_t fencing_token() const noexcept { return zoolock_guard_fencing_token(handle_.get()); }

    /// The second part of the token of a lock that keeps its contenders, from 1: the pair with `fencing_token` rises from grant to
    /// grant on a path, and has to be compared whole (R2). 0 if moved from.
    std::uint64_t grant_count() const noexcept { return zoolock_guard_grant_count(handle_.get()); }

    /// Whether the lock may be believed in at this moment: true in the states held and suspended (R3).
    bool held() const noexcept { return zoolock_guard_is_held(handle_.get()); }

    /// The state at this moment.
    guard_state state() const noexcept { return static_cast<guard_state>(zoolock_guard_state(handle_.get())); }

    /// Throws `lock_lost` if the lock was lost, `not_held` if it was released: for between two steps of the protected work.
    void ensure_held() const
    {
        detail::call([&](zoolock_error **err) { return zoolock_guard_ensure_held(handle_.get(), err); });
    }

    /// The lock path.
    std::string path() const { return detail::text(zoolock_guard_path(handle_.get())); }

    /// The contender's node.
    std::string node_path() const { return detail::text(zoolock_guard_node_path(handle_.get())); }

    /// Calls `callback` once, on the callback thread, when the lock is lost, soon if it is already (R4); never once the lock is
    /// released. The callback may use everything here, `release` included; what blocks in it delays the other callbacks, but no
    /// lock. What it throws goes to the log. A copy of it lives until it was called, or the lock is released. Never blocks.
    template <class Callback>
    void on_lost(Callback &&callback) const
    {
        using function = std::decay_t<Callback>;
        static_assert(std::is_invocable_v<function &>, "on_lost takes a callable without arguments");
        auto kept = detail::keep(std::forward<Callback>(callback));
        detail::call([&](zoolock_error **err) {
            return zoolock_guard_on_lost_and_free(
                handle_.get(), [](void *userdata) noexcept { detail::run("on_lost", *static_cast<function *>(userdata)); },
                kept.release(), detail::destroy<function>, err);
        });
    }

    /// Blocks until the lock is lost, at most so long: true if it is lost, false at the time-out, or when it is released.
    bool wait_lost(wait limit = forever) const
    {
        bool lost = false;
        detail::call([&](zoolock_error **err) { return zoolock_guard_wait_lost(handle_.get(), limit.c_milliseconds(), &lost, err); });
        return lost;
    }

    /// Releases the lock (R10). Belief ends at once; blocks until the deletion of the contender is confirmed, the session is over, or
    /// the lease would have ended. From any thread. Throws `lock_lost` if the lock was lost before the call, `not_held` if it was
    /// released before.
    void release() const
    {
        detail::call([&](zoolock_error **err) { return zoolock_guard_release(handle_.get(), err); });
    }

    /// Whether there is a guard in it, held or not: false if moved from.
    explicit operator bool() const noexcept { return handle_ != nullptr; }

    const zoolock_guard *c_handle() const noexcept { return handle_.get(); }

private:
    detail::guard_handle handle_;
};

} // namespace zoolock

#endif
