// What needs type information in other libraries: errors caught by class, callables of any type.
#include <zoolock.hpp>
#include <zoolock/testing.hpp>

#include <functional>
#include <system_error>

int main()
{
    const zoolock::testing::server server;
    const zoolock::session session{server.hosts()};
    zoolock::mutex mutex{session, "/locks/a"};
    const zoolock::guard held = mutex.acquire();
    held.on_lost(std::function<void()>([] {}));
    try {
        (void)mutex.acquire(std::chrono::milliseconds(10));
    } catch (const zoolock::lock_lost &) {
        return 1;
    } catch (const zoolock::timeout &caught) {
        return caught.code() == std::errc::timed_out ? 0 : 2;
    }
    return 3;
}
