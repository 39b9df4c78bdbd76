// What the standard asks of lockable types and of error codes, and a second file that includes the headers: they have to go
// together in one program.
#include <zoolock.hpp>
#include <zoolock/testing.hpp>

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <system_error>
#include <type_traits>
#include <utility>

namespace {

template <class Lock>
using lock_result = decltype(std::declval<Lock &>().lock());
template <class Lock>
constexpr bool is_timed_lockable =
    std::is_same_v<decltype(std::declval<Lock &>().try_lock()), bool> &&
    std::is_same_v<decltype(std::declval<Lock &>().try_lock_for(std::chrono::hours(1))), bool> &&
    std::is_same_v<decltype(std::declval<Lock &>().try_lock_until(std::chrono::system_clock::now())), bool> &&
    std::is_same_v<lock_result<Lock>, void> && noexcept(std::declval<Lock &>().unlock()) && !std::is_copy_constructible_v<Lock> &&
    !std::is_move_constructible_v<Lock> && !std::is_copy_assignable_v<Lock> && !std::is_move_assignable_v<Lock>;
template <class Lock>
constexpr bool is_shared_timed_lockable =
    is_timed_lockable<Lock> && std::is_same_v<decltype(std::declval<Lock &>().try_lock_shared()), bool> &&
    std::is_same_v<decltype(std::declval<Lock &>().try_lock_shared_for(std::chrono::nanoseconds(1))), bool> &&
    std::is_same_v<decltype(std::declval<Lock &>().try_lock_shared_until(std::chrono::steady_clock::now())), bool> &&
    std::is_same_v<decltype(std::declval<Lock &>().lock_shared()), void> && noexcept(std::declval<Lock &>().unlock_shared());

static_assert(is_timed_lockable<zoolock::mutex>);
static_assert(is_timed_lockable<zoolock::reentrant_mutex>);
static_assert(is_shared_timed_lockable<zoolock::shared_mutex>);

static_assert(std::is_nothrow_move_constructible_v<zoolock::guard> && std::is_nothrow_move_assignable_v<zoolock::guard>);
static_assert(!std::is_copy_constructible_v<zoolock::guard> && std::is_nothrow_destructible_v<zoolock::guard>);
static_assert(std::is_nothrow_move_constructible_v<zoolock::session> && !std::is_copy_constructible_v<zoolock::session>);
static_assert(std::is_nothrow_copy_constructible_v<zoolock::error>, "an exception's copy may not throw");
static_assert(std::is_base_of_v<std::system_error, zoolock::error> && std::is_base_of_v<zoolock::error, zoolock::lock_lost>);
static_assert(std::is_error_code_enum_v<zoolock::errc>);

} // namespace

template class std::unique_lock<zoolock::mutex>;
template class std::lock_guard<zoolock::reentrant_mutex>;
template class std::shared_lock<zoolock::shared_mutex>;
template class std::scoped_lock<zoolock::mutex, zoolock::reentrant_mutex, zoolock::shared_mutex>;

// Called by no one: it only has to link.
zoolock::session open_session(const char *hosts)
{
    zoolock::session session(hosts, zoolock::session_options().session_timeout(std::chrono::seconds(15)));
    session.on_state([](zoolock::session_state) {});
    zoolock::mutex(session, "/locks/a").acquire().release();
    return session;
}
