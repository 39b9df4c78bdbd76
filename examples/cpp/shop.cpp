// A shop on several instances, as examples/c, with the guard as an object and failures as exceptions. The stores are C's.
//
//     shop place ORDER CUSTOMER ITEM
//     shop bill BATCH
//
// The servers come from ZOOLOCK_HOSTS, the database from SHOP_DB: a PostgreSQL URL, or SQLite's file.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#include <zoolock.hpp>

extern "C" {
#include "../c/store.h"
}

using namespace std::chrono_literals;

namespace {

// How long a customer waits for an order of theirs that is being placed elsewhere, and after what time an instance leaves a round
// to another.
constexpr auto order_patience = 3s;
constexpr auto job_patience = 10s;

struct busy : std::runtime_error {
    busy() : runtime_error("somebody else had the lock for the whole time") {}
};

struct stale : std::runtime_error {
    explicit stale(std::int64_t token)
        : runtime_error("refused: a later holder has written, and token " + std::to_string(token) + " is old")
    {
    }
};

struct close_store {
    void operator()(store *open) const { store_close(open); }
};
using store_handle = std::unique_ptr<store, close_store>;

store_handle open_store()
{
    const char *name = std::getenv("SHOP_DB");
    const std::string database = name == nullptr ? "shop.db" : name;
    const bool postgres = database.rfind("postgresql://", 0) == 0;
    store_handle opened(postgres ? store_open_postgres(database.c_str()) : store_open_sqlite(database.c_str()));
    if (opened == nullptr)
        throw std::runtime_error("the database cannot be opened");
    return opened;
}

// Runs `write` with a fencing token; whether it stored something new.
bool under_lock(const zoolock::mutex &mutex, std::chrono::seconds patience, const std::function<stored(std::int64_t)> &write)
try {
    const zoolock::guard held = mutex.acquire(patience);
    const auto token = held.fencing_token();
    const stored outcome = write(token);
    if (outcome == STALE)
        throw stale(token);
    if (outcome == BROKEN)
        throw std::runtime_error("the database failed");
    try {
        held.release();
    } catch (const zoolock::lock_lost &) {
        // The database had the last word: it took the token, so what it committed stands. Work that no fence guards would have
        // to stop at the loss: see `on_lost` and `ensure_held`.
    }
    return outcome == STORED;
} catch (const zoolock::timeout &late) {
    // An outage is not somebody else's lock.
    if (late.cause() != nullptr)
        throw *late.cause();
    throw busy();
}

int place(const std::string &order, const std::string &customer, const std::string &item)
{
    const auto database = open_store();
    const zoolock::session session;
    const zoolock::mutex mutex(session, "/locks/order/" + customer);
    const bool placed = under_lock(mutex, order_patience, [&](std::int64_t token) {
        return store_place(database.get(), order.c_str(), customer.c_str(), item.c_str(), token);
    });
    std::cout << (placed ? "order placed\n" : "was placed before\n");
    return 0;
}

int bill(const std::string &batch)
{
    const auto database = open_store();
    const zoolock::session session;
    const zoolock::mutex mutex(session, "/locks/job/billing");
    const bool done =
        under_lock(mutex, job_patience, [&](std::int64_t token) { return store_bill(database.get(), batch.c_str(), token); });
    std::cout << (done ? "done\n" : "was done before\n");
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    const std::vector<std::string> args(argv + 1, argv + argc);
    const bool is_bill = args.size() == 2 && args[0] == "bill";
    // A slash would make a lock path of the name.
    const bool is_place = args.size() == 4 && args[0] == "place" && args[2].find('/') == std::string::npos;
    if (!is_bill && !is_place) {
        std::cerr << "usage: shop place ORDER CUSTOMER ITEM | bill BATCH\n";
        return 2;
    }
    try {
        return is_bill ? bill(args[1]) : place(args[1], args[2], args[3]);
    } catch (const busy &) {
        std::cout << (is_bill ? "skipped: another instance is at it\n" : "order in progress\n");
        return is_bill ? 0 : 1;
    } catch (const stale &refused) {
        std::cerr << refused.what() << '\n';
        return 3;
    } catch (const std::exception &failure) {
        std::cerr << failure.what() << '\n';
        return 1;
    }
}
