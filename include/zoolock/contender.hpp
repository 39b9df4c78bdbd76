// Who queues, and what was counted.
#ifndef ZOOLOCK_CONTENDER_HPP
#define ZOOLOCK_CONTENDER_HPP

#include <zoolock.h>
#include <zoolock/handle.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace zoolock {

/// A contender as the server shows it: holder or waiter, of this library or another.
struct contender {
    /// Its node, without the session's chroot.
    std::string node_path;
    /// The number that the server gave it. Not a fencing token.
    std::int64_t sequence;
    /// The node's data as text: zoolock writes the holder's identity there.
    std::string identity;
    /// The id of the ZooKeeper session that owns the node.
    std::int64_t session_id;
    /// Whether the lock is its own by the order of the queue.
    bool holds;
};

/// A reading of a lock object's counters.
struct statistics {
    /// Grants.
    std::uint64_t acquisitions;
    /// Grants that had to wait for another contender.
    std::uint64_t contended;
    /// Attempts that ended at their time-out.
    std::uint64_t timeouts;
    /// Guards that were lost.
    std::uint64_t losses;
    /// Sum of the time from call to grant.
    std::chrono::microseconds waited;
    /// Sum of the time from grant to release or loss.
    std::chrono::microseconds held;
};

namespace detail {

template <class Handle>
std::vector<contender> contenders_of(const Handle *lock,
                                     zoolock_status (*ask)(const Handle *, zoolock_contenders **, zoolock_error **))
{
    zoolock_contenders *place = nullptr;
    call([&](zoolock_error **err) { return ask(lock, &place, err); });
    const handle<zoolock_contenders, zoolock_contenders_free> list(place);
    std::vector<contender> found;
    const std::size_t count = zoolock_contenders_count(list.get());
    found.reserve(count);
    for (std::size_t index = 0; index < count; index++) {
        const zoolock_contender &row = *zoolock_contenders_get(list.get(), index);
        found.push_back({text(row.node_path), row.sequence, text(row.identity), row.session_id, row.holds});
    }
    return found;
}

template <class Handle>
statistics statistics_of(const Handle *lock, zoolock_status (*read)(const Handle *, zoolock_statistics *, zoolock_error **))
{
    zoolock_statistics reading{};
    call([&](zoolock_error **err) { return read(lock, &reading, err); });
    const auto time = [](std::uint64_t micros) { return std::chrono::microseconds(static_cast<std::int64_t>(micros)); };
    return {reading.acquisitions, reading.contended,       reading.timeouts,
            reading.losses,       time(reading.waited_us), time(reading.held_us)};
}

} // namespace detail

} // namespace zoolock

#endif
