// An order service: one order of a user at a time, on however many instances it runs.
//
//     order_service USER ITEM
//
// Tries for 3 s to get the user's lock, and says "order in progress" if somebody else has it. The servers come from ZOOLOCK_HOSTS.
#include <zoolock.hpp>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

enum result { placed = 0, in_progress = 1, failed = 1, misused = 2 };

// What the lock protects. A database would refuse a token lower than the last it saw, so that an instance that lost the lock
// without noticing yet changes nothing.
void save_order(const std::string &, const std::string &, std::int64_t)
{
}

result place(const zoolock::session &session, const std::string &user, const std::string &item)
{
    const zoolock::mutex mutex{session, "/locks/order/" + user};
    try {
        const zoolock::guard held = mutex.acquire(3s);
        save_order(user, item, held.fencing_token());
        // Throws if the lock was lost: the order may have met another one.
        held.release();
        std::cout << "order placed, token " << held.fencing_token() << '\n';
        return placed;
    } catch (const zoolock::timeout &failure) {
        // Because of servers that could not be reached, and of nobody's order.
        if (failure.cause() != nullptr && failure.cause()->code() == zoolock::errc::unavailable)
            throw;
        std::cout << "order in progress\n";
        return in_progress;
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::cerr << "usage: order_service USER ITEM\n";
        return misused;
    }
    try {
        const zoolock::session session;
        const result placing = place(session, argv[1], argv[2]);
        session.close();
        return placing;
    } catch (const zoolock::error &failure) {
        std::cerr << failure.what() << '\n';
        return failed;
    }
}
