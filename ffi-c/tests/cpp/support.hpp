// What several C++ tests do with the library. Each test runs in a process of its own: see test-cpp.sh.
#ifndef SUPPORT_HPP
#define SUPPORT_HPP

#include <zoolock.hpp>
#include <zoolock/testing.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

using namespace std::chrono_literals;

// Long enough for anything that has to happen, on a slow machine.
inline constexpr auto patience = 30s;
// Short enough to wait for its end, long enough for a slow machine.
inline constexpr auto session_timeout = 4s;

inline zoolock::session_options session_options()
{
    zoolock::session_options options;
    options.session_timeout(session_timeout).connect_timeout(patience).exclusive();
    return options;
}

// A server inside the program and a session of the test's own with it.
struct Locks : testing::Test {
    zoolock::testing::server server{zoolock::testing::server_options().tick(100ms)};
    zoolock::session session{server.hosts(), session_options()};
    const std::string path = "/locks/a";

    zoolock::session another_session() const { return zoolock::session(server.hosts(), session_options()); }

    // Contenders as another session sees them.
    std::size_t contenders() const { return zoolock::mutex(another_session(), path).contenders().size(); }
};

// Something that a callback or a thread tells, and the test waits for.
class Event {
public:
    void happens()
    {
        const std::lock_guard hold(mutex_);
        count_++;
        changed_.notify_all();
    }

    // Whether it has happened so often, within the patience.
    bool awaited(int count = 1)
    {
        std::unique_lock hold(mutex_);
        return changed_.wait_for(hold, patience, [&] { return count_ >= count; });
    }

    int count()
    {
        const std::lock_guard hold(mutex_);
        return count_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

// Waits for what only looking can tell.
inline bool eventually(const std::function<bool()> &condition)
{
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > until)
            return false;
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

// Runs something to its end on a thread of its own.
template <class Body>
void on_another_thread(Body &&body)
{
    std::thread(std::forward<Body>(body)).join();
}

#endif
