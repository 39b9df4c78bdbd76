// The read-write lock.
#ifndef ZOOLOCK_SHARED_MUTEX_HPP
#define ZOOLOCK_SHARED_MUTEX_HPP

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

/// A read-write lock on a lock path: many readers or one writer, in the order of arrival (R7, R12). Re-entrant per side for one
/// owner, a thread or an `owner`. It does not exclude a mutex on the same path. Otherwise as `mutex`.
///
/// The owner of the write side may take the read side and then release the write side, with no writer in between (a downgrade);
/// the owner of only the read side that asks for the write side gets `would_deadlock` at once.
class shared_mutex {
public:
    /// As for `mutex`.
    shared_mutex(const session &on, const std::string &path, const lock_options &options = {})
        : handle_(make(on, detail::c_text(path, "rwlock", "path"), options)), write_(handle_.get(), path, zoolock_rwlock_write),
          read_(handle_.get(), path, zoolock_rwlock_read)
    {
    }

    shared_mutex(const shared_mutex &) = delete;
    shared_mutex &operator=(const shared_mutex &) = delete;

    /// The write side, for the calling thread; as for `mutex`.
    guard acquire(wait limit = forever) const { return write_.acquire(limit, nullptr); }
    guard acquire(wait limit, const cancel &by) const { return write_.acquire(limit, &by); }
    std::optional<guard> try_acquire() const { return write_.try_acquire(); }

    /// The read side, for the calling thread. Waits for earlier writers only.
    guard acquire_shared(wait limit = forever) const { return read_.acquire(limit, nullptr); }
    guard acquire_shared(wait limit, const cancel &by) const { return read_.acquire(limit, &by); }
    std::optional<guard> try_acquire_shared() const { return read_.try_acquire(); }

    /// The write side, for an owner.
    guard acquire(const owner &who, wait limit = forever) const { return owned(zoolock_rwlock_write_owned, who, limit, nullptr); }
    guard acquire(const owner &who, wait limit, const cancel &by) const { return owned(zoolock_rwlock_write_owned, who, limit, &by); }
    std::optional<guard> try_acquire(const owner &who) const
    {
        return detail::try_acquire_owned(handle_.get(), zoolock_rwlock_write_owned, who);
    }

    /// The read side, for an owner.
    guard acquire_shared(const owner &who, wait limit = forever) const { return owned(zoolock_rwlock_read_owned, who, limit, nullptr); }
    guard acquire_shared(const owner &who, wait limit, const cancel &by) const
    {
        return owned(zoolock_rwlock_read_owned, who, limit, &by);
    }
    std::optional<guard> try_acquire_shared(const owner &who) const
    {
        return detail::try_acquire_owned(handle_.get(), zoolock_rwlock_read_owned, who);
    }

    /// As for `reentrant_mutex`.
    template <class Callback>
    void acquire_async(const owner &who, Callback &&callback, wait limit = forever, const cancel *by = nullptr) const
    {
        start(zoolock_rwlock_write_owned_async, who, std::forward<Callback>(callback), limit, by);
    }
    template <class Callback>
    void acquire_shared_async(const owner &who, Callback &&callback, wait limit = forever, const cancel *by = nullptr) const
    {
        start(zoolock_rwlock_read_owned_async, who, std::forward<Callback>(callback), limit, by);
    }

    /// TimedLockable: the write side, for the calling thread.
    void lock() const { write_.lock(); }
    bool try_lock() const { return write_.try_lock(); }

    template <class Rep, class Period>
    bool try_lock_for(std::chrono::duration<Rep, Period> length) const
    {
        return write_.try_lock(length);
    }

    template <class Clock, class Duration>
    bool try_lock_until(std::chrono::time_point<Clock, Duration> time) const
    {
        return write_.try_lock(wait::until(time));
    }

    /// SharedTimedLockable: the read side, for the calling thread.
    void lock_shared() const { read_.lock(); }
    bool try_lock_shared() const { return read_.try_lock(); }

    template <class Rep, class Period>
    bool try_lock_shared_for(std::chrono::duration<Rep, Period> length) const
    {
        return read_.try_lock(length);
    }

    template <class Clock, class Duration>
    bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> time) const
    {
        return read_.try_lock(wait::until(time));
    }

    /// End the last hold of that side that the calling thread took; otherwise as for `mutex`.
    void unlock() const noexcept { write_.unlock(); }
    void release() const { write_.release(); }
    void unlock_shared() const noexcept { read_.unlock(); }
    void release_shared() const { read_.release(); }

    /// As for `mutex`, of the hold that the unlock of the side would end. Only writers' tokens rise in the order of grants (R2).
    std::int64_t fencing_token() const { return write_.current().fencing_token(); }
    bool held() const { return write_.held(); }
    void ensure_held() const { write_.current().ensure_held(); }
    std::int64_t fencing_token_shared() const { return read_.current().fencing_token(); }
    bool held_shared() const { return read_.held(); }
    void ensure_held_shared() const { read_.current().ensure_held(); }

    /// As for `mutex`, both sides together.
    std::vector<contender> contenders() const { return detail::contenders_of(handle_.get(), zoolock_rwlock_contenders); }
    zoolock::statistics statistics() const { return detail::statistics_of(handle_.get(), zoolock_rwlock_statistics); }
    const std::string &path() const noexcept { return write_.path(); }
    const zoolock_rwlock *c_handle() const noexcept { return handle_.get(); }

private:
    using start_function = zoolock_status (*)(const zoolock_rwlock *, const zoolock_owner *, std::int64_t, const zoolock_cancel *,
                                              zoolock_lock_callback, void *);

    guard owned(detail::owned_lock_function<zoolock_rwlock> by_owner, const owner &who, wait limit, const cancel *by) const
    {
        return detail::acquire_owned(handle_.get(), path(), by_owner, who, limit, by);
    }

    template <class Callback>
    void start(start_function begin, const owner &who, Callback &&callback, wait limit, const cancel *by) const
    {
        detail::start(path(), std::forward<Callback>(callback), [&](zoolock_lock_callback call, void *userdata) {
            return begin(handle_.get(), who.c_handle(), limit.c_milliseconds(), detail::c_handle(by), call, userdata);
        });
    }

    static zoolock_rwlock *make(const session &on, const char *path, const lock_options &options)
    {
        zoolock_rwlock *made = nullptr;
        detail::call([&](zoolock_error **err) { return zoolock_rwlock_new(on.c_handle(), path, options.c_handle(), &made, err); });
        return made;
    }

    detail::handle<zoolock_rwlock, zoolock_rwlock_free> handle_;
    detail::side<zoolock_rwlock> write_, read_;
};

} // namespace zoolock

#endif
