// Lengths of time of every type.
#include "support.hpp"

#include <cstdint>
#include <limits>

namespace {

std::int64_t milliseconds(zoolock::wait length)
{
    return length.c_milliseconds();
}

TEST(Time, r20_lengths_of_any_unit_are_rounded_up)
{
    EXPECT_EQ(milliseconds(0s), 0);
    EXPECT_EQ(milliseconds(3s), 3000);
    EXPECT_EQ(milliseconds(2h), 7200000);
    EXPECT_EQ(milliseconds(1500us), 2);
    // Never a try, which is another thing.
    EXPECT_EQ(milliseconds(1ns), 1);
    EXPECT_EQ(milliseconds(std::chrono::duration<double>(0.0001)), 1);
    EXPECT_EQ(milliseconds(std::chrono::duration<float>(1.5F)), 1500);
    EXPECT_EQ(milliseconds(std::chrono::duration<int, std::ratio<1, 3>>(2)), 667);
    EXPECT_EQ(milliseconds(std::chrono::duration<std::int8_t, std::ratio<7>>(100)), 700000);
    EXPECT_EQ(milliseconds(std::chrono::duration<unsigned, std::micro>(1)), 1);
    EXPECT_EQ(milliseconds(zoolock::forever), -1);
    EXPECT_EQ(milliseconds({}), -1);
}

TEST(Time, r20_the_longest_lengths_do_not_overflow)
{
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(milliseconds(std::chrono::hours::max()), most);
    EXPECT_EQ(milliseconds(std::chrono::milliseconds::max()), most);
    EXPECT_EQ(milliseconds(std::chrono::nanoseconds::max()), 9223372036855);
    EXPECT_EQ(milliseconds(std::chrono::duration<double>::max()), most);
    EXPECT_EQ(milliseconds(std::chrono::duration<double>(std::numeric_limits<double>::infinity())), most);
    EXPECT_EQ(milliseconds(std::chrono::duration<std::int64_t, std::ratio<1000000000, 7>>::max()), most);
}

TEST(Time, r20_negative_lengths_and_nan_are_invalid)
{
    EXPECT_THROW(milliseconds(-1ns), zoolock::invalid_argument);
    EXPECT_THROW(milliseconds(-1ms), zoolock::invalid_argument);
    EXPECT_THROW(milliseconds(std::chrono::hours::min()), zoolock::invalid_argument);
    EXPECT_THROW(milliseconds(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())), zoolock::invalid_argument);
    EXPECT_THROW(milliseconds(std::chrono::duration<double>(-0.1)), zoolock::invalid_argument);
}

TEST(Time, r20_times_that_are_past_give_a_try_and_far_ones_do_not_overflow)
{
    using std::chrono::steady_clock;
    using std::chrono::system_clock;
    EXPECT_EQ(milliseconds(zoolock::wait::until(steady_clock::now() - 1h)), 0);
    EXPECT_EQ(milliseconds(zoolock::wait::until(steady_clock::time_point::min())), 0);
    EXPECT_EQ(milliseconds(zoolock::wait::until(system_clock::time_point())), 0);
    const std::int64_t hour = milliseconds(zoolock::wait::until(system_clock::now() + 1h));
    EXPECT_LE(hour, 3600000);
    EXPECT_GT(hour, 3600000 - 60000);
    const std::int64_t ten_years = std::int64_t{10} * 366 * 24 * 3600 * 1000;
    EXPECT_GT(milliseconds(zoolock::wait::until(steady_clock::time_point::max())), ten_years);
    EXPECT_GT(milliseconds(zoolock::wait::until(std::chrono::time_point<system_clock, std::chrono::hours>::max())), ten_years);
}

TEST_F(Locks, r20_over_ten_years_is_invalid_before_anything_is_sent)
{
    zoolock::mutex mutex(session, path);
    EXPECT_THROW((void)mutex.acquire(std::chrono::hours::max()), zoolock::invalid_argument);
    EXPECT_THROW((void)mutex.try_lock_for(std::chrono::hours(24 * 367 * 10)), zoolock::invalid_argument);
    EXPECT_THROW((void)mutex.try_lock_for(-1s), zoolock::invalid_argument);
    EXPECT_THROW((void)mutex.try_lock_until(std::chrono::steady_clock::time_point::max()), zoolock::invalid_argument);
    EXPECT_EQ(contenders(), 0U);
    EXPECT_TRUE(mutex.try_lock_for(std::chrono::hours(24 * 365 * 10)));
    mutex.release();
}

} // namespace
