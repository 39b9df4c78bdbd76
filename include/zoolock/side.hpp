// What the lock objects have in common: how they are locked, and which hold an unlock ends.
#ifndef ZOOLOCK_SIDE_HPP
#define ZOOLOCK_SIDE_HPP

#include <zoolock.h>
#include <zoolock/guard.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace zoolock::detail {

/// The holds that were taken without a guard, each with the thread that took it (R10).
class holds {
public:
    explicit holds(const std::string &path)
    {
        call([&](zoolock_error **err) {
            zoolock_holds *made = nullptr;
            const zoolock_status status = zoolock_holds_new(path.c_str(), &made, err);
            handle_.reset(made);
            return status;
        });
    }

    void push(const guard &taken) const
    {
        call([&](zoolock_error **err) { return zoolock_holds_push(handle_.get(), taken.c_handle(), err); });
    }

    guard current() const { return get(zoolock_holds_current); }
    guard take() const { return get(zoolock_holds_take); }

    /// For an unlock, which tells nobody of anything.
    void release_silently() const noexcept
    {
        zoolock_guard *taken = nullptr;
        if (zoolock_holds_take(handle_.get(), &taken, nullptr) == ZOOLOCK_OK)
            zoolock_guard_release(taken, nullptr);
        zoolock_guard_free(taken);
    }

private:
    using getter = zoolock_status (*)(const zoolock_holds *, zoolock_guard **, zoolock_error **);

    guard get(getter from_holds) const
    {
        zoolock_guard *found = nullptr;
        call([&](zoolock_error **err) { return from_holds(handle_.get(), &found, err); });
        return guard(found);
    }

    holds_handle handle_;
};

/// A function of C's that locks something.
template <class Handle>
using lock_function = zoolock_status (*)(const Handle *, std::int64_t, const zoolock_cancel *, zoolock_guard **, zoolock_error **);

template <class Handle>
using owned_lock_function = zoolock_status (*)(const Handle *, const zoolock_owner *, std::int64_t, const zoolock_cancel *,
                                               zoolock_guard **, zoolock_error **);

/// The guard; nothing if a try finds it busy.
template <class Ask>
std::optional<guard> try_to_acquire(Ask &&ask)
{
    zoolock_guard *granted = nullptr;
    const zoolock_status status = call([&](zoolock_error **err) { return ask(&granted, err); });
    return status == ZOOLOCK_OK ? std::optional<guard>(std::in_place, granted) : std::nullopt;
}

/// The guard; a try that finds it busy has timed out.
template <class Ask>
guard acquire(const std::string &path, Ask &&ask)
{
    std::optional<guard> granted = try_to_acquire(std::forward<Ask>(ask));
    if (!granted)
        throw timeout("lock", path, "lock " + path + ": timed out: somebody else is before us");
    return std::move(*granted);
}

/// One side of a lock object, or the only one.
template <class Handle>
class side {
public:
    side(const Handle *lock, std::string path, lock_function<Handle> by_thread)
        : lock_(lock), path_(std::move(path)), by_thread_(by_thread), holds_(path_)
    {
    }

    void lock() const { holds_.push(acquire(forever, nullptr)); }

    bool try_lock() const { return note(try_acquire()); }

    /// False if it is busy, for a try, or at the time-out.
    bool try_lock(wait limit) const
    {
        zoolock_guard *granted = nullptr;
        zoolock_error *place = nullptr;
        const zoolock_status status = by_thread_(lock_, limit.c_milliseconds(), nullptr, &granted, &place);
        const std::unique_ptr<zoolock_error, free_error> failure(place);
        if (status > ZOOLOCK_OK && status != ZOOLOCK_TIMEOUT)
            raise(to_error(failure.get()));
        return note(granted == nullptr ? std::nullopt : std::optional<guard>(std::in_place, granted));
    }

    guard acquire(wait limit, const cancel *by) const
    {
        return detail::acquire(path_, [&](zoolock_guard **granted, zoolock_error **err) {
            return by_thread_(lock_, limit.c_milliseconds(), by == nullptr ? nullptr : by->c_handle(), granted, err);
        });
    }

    std::optional<guard> try_acquire() const
    {
        return try_to_acquire([&](zoolock_guard **granted, zoolock_error **err) { return by_thread_(lock_, 0, nullptr, granted, err); });
    }

    void unlock() const noexcept { holds_.release_silently(); }
    void release() const { holds_.take().release(); }
    guard current() const { return holds_.current(); }
    const std::string &path() const noexcept { return path_; }

    /// False if the calling thread has no hold.
    bool held() const
    {
        try {
            return current().held();
        } catch (const not_held &) {
            return false;
        }
    }

private:
    bool note(const std::optional<guard> &granted) const
    {
        if (granted)
            holds_.push(*granted);
        return granted.has_value();
    }

    const Handle *lock_;
    std::string path_;
    lock_function<Handle> by_thread_;
    holds holds_;
};

/// As `side::acquire`, for an owner.
template <class Handle>
guard acquire_owned(const Handle *lock, const std::string &path, owned_lock_function<Handle> by_owner, const owner &who, wait limit,
                    const cancel *by)
{
    return acquire(path, [&](zoolock_guard **granted, zoolock_error **err) {
        return by_owner(lock, who.c_handle(), limit.c_milliseconds(), by == nullptr ? nullptr : by->c_handle(), granted, err);
    });
}

/// As `side::try_acquire`, for an owner.
template <class Handle>
std::optional<guard> try_acquire_owned(const Handle *lock, owned_lock_function<Handle> by_owner, const owner &who)
{
    return try_to_acquire(
        [&](zoolock_guard **granted, zoolock_error **err) { return by_owner(lock, who.c_handle(), 0, nullptr, granted, err); });
}

} // namespace zoolock::detail

#endif
