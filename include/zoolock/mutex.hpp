// The plain mutex.
#ifndef ZOOLOCK_MUTEX_HPP
#define ZOOLOCK_MUTEX_HPP

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

/// A mutex on a lock path: one holder at a time among all processes and languages (R1), granted in the order of arrival (R7).
/// **Not re-entrant**: a thread that holds it and locks it again waits for itself. For any thread. It keeps the session open.
///
/// `acquire` gives the hold itself, and is the better way: a loss is told. `lock` and its like make it TimedLockable, for
/// `std::unique_lock` and `std::scoped_lock`, whose ends cannot tell that the lock was lost: call `release` before them, or look
/// at `ensure_held`. Their failures are thrown; false means busy or timed out.
class mutex {
public:
    /// A mutex on `path`, an absolute path below the session's chroot. Nothing is sent. Throws `invalid_argument` (R20), `closed`.
    mutex(const session &on, const std::string &path, const lock_options &options = {})
        : handle_(make(on, detail::c_text(path, "mutex", "path"), options)), side_(handle_.get(), path, zoolock_mutex_lock)
    {
    }

    mutex(const mutex &) = delete;
    mutex &operator=(const mutex &) = delete;

    /// Locks it and gives the hold. Blocks at most so long plus 50 ms, whatever servers and network do (R6).
    ///
    /// Throws `timeout`, also if a wait of nothing finds it busy; `cancelled`, `closed`, `no_auth`, `sequence_exhausted`; `unavailable`
    /// (a wait of nothing, bounded by the connect timeout). Whatever it is, no contender is left behind (R5).
    guard acquire(wait limit = forever) const { return side_.acquire(limit, nullptr); }
    guard acquire(wait limit, const cancel &by) const { return side_.acquire(limit, &by); }

    /// The hold if nobody is before us. Does not wait for a holder; bounded by the connect timeout.
    std::optional<guard> try_acquire() const { return side_.try_acquire(); }

    /// Locks it without blocking: `callback` gets an `acquisition`, on the callback thread, exactly once, which may be before this
    /// returns. The terms are those of `acquire`. The mutex may go before. A copy of the callback lives until it was called.
    template <class Callback>
    void acquire_async(Callback &&callback, wait limit = forever, const cancel *by = nullptr) const
    {
        detail::start(path(), std::forward<Callback>(callback), [&](zoolock_lock_callback call, void *userdata) {
            return zoolock_mutex_lock_async(handle_.get(), limit.c_milliseconds(), detail::c_handle(by), call, userdata);
        });
    }

    /// TimedLockable. Waits through outages and session changes.
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

    /// Ends the hold that the calling thread took, or, if it took none, the only one (R10). Tells nobody of a loss. May block as
    /// `guard::release`.
    void unlock() const noexcept { side_.unlock(); }

    /// `unlock` that throws: `lock_lost` if that hold was lost, `not_held` if there is none.
    void release() const { side_.release(); }

    /// Of the hold that `unlock` would end: its token (R2), whether it may be believed in, and the same as an exception. Without a hold
    /// `held` is false, and the others throw `not_held`.
    std::int64_t fencing_token() const { return side_.current().fencing_token(); }

    /// The second part of that hold's token, where contenders are kept: see `guard::grant_count`. Throws `not_held`.
    std::uint64_t grant_count() const { return side_.current().grant_count(); }
    bool held() const { return side_.held(); }
    void ensure_held() const { side_.current().ensure_held(); }

    /// Who queues on the path, in order, asked from a server. Throws `unavailable`, `no_auth`, `closed`.
    std::vector<contender> contenders() const { return detail::contenders_of(handle_.get(), zoolock_mutex_contenders); }

    /// What this object has counted.
    zoolock::statistics statistics() const { return detail::statistics_of(handle_.get(), zoolock_mutex_statistics); }

    const std::string &path() const noexcept { return side_.path(); }
    const zoolock_mutex *c_handle() const noexcept { return handle_.get(); }

private:
    static zoolock_mutex *make(const session &on, const char *path, const lock_options &options)
    {
        zoolock_mutex *made = nullptr;
        detail::call([&](zoolock_error **err) { return zoolock_mutex_new(on.c_handle(), path, options.c_handle(), &made, err); });
        return made;
    }

    detail::handle<zoolock_mutex, zoolock_mutex_free> handle_;
    detail::side<zoolock_mutex> side_;
};

} // namespace zoolock

#endif
