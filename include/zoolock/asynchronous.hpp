// Calls for a lock that do not block.
#ifndef ZOOLOCK_ASYNCHRONOUS_HPP
#define ZOOLOCK_ASYNCHRONOUS_HPP

#include <zoolock.h>
#include <zoolock/guard.hpp>

#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace zoolock {

/// The outcome of an asynchronous call for a lock: a guard, "busy" for a try, or a failure. Moved from, it has none any more.
class acquisition {
public:
    /// Takes over what C's callback got.
    acquisition(zoolock_guard *granted, std::exception_ptr failure) noexcept : guard_(granted), failure_(std::move(failure)) {}

    acquisition(acquisition &&other) noexcept
        : guard_(std::move(other.guard_)), failure_(std::exchange(other.failure_, nullptr)), taken_(std::exchange(other.taken_, true))
    {
    }

    acquisition &operator=(acquisition &&other) noexcept
    {
        if (this != &other) {
            guard_ = std::move(other.guard_);
            failure_ = std::exchange(other.failure_, nullptr);
            taken_ = std::exchange(other.taken_, true);
        }
        return *this;
    }

    /// Whether there is a guard, which `get` gives.
    bool granted() const noexcept { return static_cast<bool>(guard_); }

    /// Whether it was a try that found the lock busy.
    bool busy() const noexcept { return !granted() && failure_ == nullptr && !taken_; }

    /// The guard, once. Throws the failure; `timeout` if the lock was busy; `not_held` if the guard was got before.
    guard get()
    {
        if (failure_ != nullptr)
            std::rethrow_exception(failure_);
        if (taken_)
            throw not_held("get", "", "get: the outcome was taken before");
        if (!granted())
            throw timeout("lock", "", "lock: timed out: somebody else is before us");
        taken_ = true;
        return std::move(guard_);
    }

private:
    guard guard_;
    std::exception_ptr failure_;
    bool taken_ = false;
};

namespace detail {

inline std::exception_ptr as_exception(const zoolock_error *failure)
{
    try {
        raise(to_error(failure));
    } catch (...) {
        return std::current_exception();
    }
}

template <class Function>
void finish(zoolock_status status, zoolock_guard *granted, const zoolock_error *failure, void *userdata) noexcept
{
    const std::unique_ptr<Function> function(static_cast<Function *>(userdata));
    acquisition outcome(granted, nullptr);
    if (status > ZOOLOCK_OK)
        outcome = acquisition(nullptr, as_exception(failure));
    run("acquire_async", *function, std::move(outcome));
}

/// Starts a call of C's that takes a callback; throws if it cannot be started.
template <class Callback, class Start>
void start(const std::string &path, Callback &&callback, Start &&begin)
{
    using function = std::decay_t<Callback>;
    static_assert(std::is_invocable_v<function &, acquisition>, "an asynchronous call takes a callable that takes an acquisition");
    auto kept = keep(std::forward<Callback>(callback));
    const zoolock_status status = begin(static_cast<zoolock_lock_callback>(finish<function>), static_cast<void *>(kept.get()));
    if (status != ZOOLOCK_OK)
        raise(error(static_cast<errc>(status), "lock", path, "lock " + path + ": cannot be started: " + zoolock_status_name(status)));
    // The callback's, which may have had it already.
    kept.release();
}

inline const zoolock_cancel *c_handle(const cancel *by)
{
    return by == nullptr ? nullptr : by->c_handle();
}

} // namespace detail

} // namespace zoolock

#endif
