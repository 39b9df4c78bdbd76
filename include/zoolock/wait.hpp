// How long to wait, and what ends a wait early.
#ifndef ZOOLOCK_WAIT_HPP
#define ZOOLOCK_WAIT_HPP

#include <zoolock.h>
#include <zoolock/handle.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>

namespace zoolock {

namespace detail {

/// Of any clock's and any unit's: nothing overflows in it.
using fractional_milliseconds = std::chrono::duration<long double, std::milli>;

/// Whole milliseconds, rounded up, so that no wait of something becomes one of nothing. Lengths that do not fit are as long as
/// can be said, which the library refuses as it does all over ten years.
inline std::int64_t whole_milliseconds(fractional_milliseconds length)
{
    const long double rounded = std::ceil(length.count());
    // 2^63, which every floating-point type has exactly.
    if (rounded >= 9223372036854775808.0L)
        return INT64_MAX;
    return static_cast<std::int64_t>(rounded);
}

template <class Rep, class Period>
std::int64_t milliseconds(std::chrono::duration<Rep, Period> length, const char *argument)
{
    const fractional_milliseconds exact = length;
    // Written so that NaN is refused, too.
    if (!(exact.count() >= 0))
        throw invalid_argument("wait", "", std::string(argument) + ": is negative, or not a number");
    return whole_milliseconds(exact);
}

} // namespace detail

/// How long a call may wait: for ever, or a `std::chrono::duration` of any type. Zero is a try. Negative ones, NaN, and more than
/// ten years are `invalid_argument` (R20), the last from the call that is given it.
class wait {
public:
    /// For ever.
    constexpr wait() noexcept = default;

    /// At most so long, rounded up to milliseconds.
    template <class Rep, class Period>
    wait(std::chrono::duration<Rep, Period> length) : milliseconds_(detail::milliseconds(length, "timeout"))
    {
    }

    /// Until a clock shows a time. The clock is read once, now: setting it during the wait changes nothing. A time that is past
    /// gives a try.
    template <class Clock, class Duration>
    static wait until(std::chrono::time_point<Clock, Duration> time)
    {
        const detail::fractional_milliseconds then = time.time_since_epoch(), now = Clock::now().time_since_epoch();
        wait left;
        left.milliseconds_ = then > now ? detail::whole_milliseconds(then - now) : 0;
        return left;
    }

    /// As C has it: -1 is for ever, 0 a try.
    constexpr std::int64_t c_milliseconds() const noexcept { return milliseconds_; }

private:
    std::int64_t milliseconds_ = -1;
};

/// Waits for ever, through outages and session changes.
inline constexpr wait forever{};

/// Ends waits from another thread: calls that were given it throw `cancelled` and leave no contender (R5). Once fired it stays
/// fired. Copies are the same; for any thread, also in callbacks.
class cancel {
public:
    cancel() : handle_(detail::made(zoolock_cancel_new(), "cancel"), zoolock_cancel_free) {}

    /// Ends every call that waits with this, and every later one. Never blocks.
    void fire() const noexcept { zoolock_cancel_cancel(handle_.get()); }

    /// Whether it has fired.
    bool fired() const noexcept { return zoolock_cancel_is_cancelled(handle_.get()); }

    /// Throws `invalid_argument` if it was moved from.
    const zoolock_cancel *c_handle() const { return detail::present(handle_, "cancel"); }

private:
    std::shared_ptr<zoolock_cancel> handle_;
};

/// An owner of re-entrant and read-write locks (R11), for work that moves between threads, or for several pieces of work on one
/// thread. Every one is different from every other and from every thread; copies are the same.
class owner {
public:
    owner() : handle_(detail::made(zoolock_owner_new(), "owner"), zoolock_owner_free) {}

    const zoolock_owner *c_handle() const noexcept { return handle_.get(); }

private:
    std::shared_ptr<zoolock_owner> handle_;
};

} // namespace zoolock

#endif
