// zoolock: ZooKeeper locks for C++17. Header only, over zoolock.h; link with the same library.
//
//     zoolock::session session{"127.0.0.1:2181"};
//     zoolock::mutex mutex{session, "/locks/order/user-123"};
//     zoolock::guard held = mutex.acquire(3s);               // throws zoolock::timeout
//     save(order, held.fencing_token());
//     held.release();                                        // throws zoolock::lock_lost
//
// What a lock promises is written as numbered rules, R1 to R20, in DESIGN.md; the headers name the rule they implement. Failures
// are exceptions below `zoolock::error`. Callbacks run one after the other on one thread of the library's own, the callback thread.
// Everything is for any thread, except options, and except for ending what another thread still uses.
#ifndef ZOOLOCK_HPP
#define ZOOLOCK_HPP

#include <zoolock.h>
#include <zoolock/asynchronous.hpp>
#include <zoolock/contender.hpp>
#include <zoolock/error.hpp>
#include <zoolock/guard.hpp>
#include <zoolock/lock_options.hpp>
#include <zoolock/log.hpp>
#include <zoolock/mutex.hpp>
#include <zoolock/reentrant_mutex.hpp>
#include <zoolock/session.hpp>
#include <zoolock/session_options.hpp>
#include <zoolock/shared_mutex.hpp>
#include <zoolock/wait.hpp>

namespace zoolock {

/// The version of the library, such as "1.2.3".
inline const char *version() noexcept
{
    return zoolock_version();
}

} // namespace zoolock

#endif
