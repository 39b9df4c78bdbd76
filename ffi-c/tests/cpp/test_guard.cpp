// Guards, sessions, cancelling, asynchronous calls.
#include "support.hpp"

#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

TEST_F(Locks, r02_tokens_rise)
{
    zoolock::mutex mutex(session, path);
    const zoolock::guard first = mutex.acquire(patience);
    EXPECT_EQ(first.path(), path);
    EXPECT_EQ(first.node_path().find(path + "/"), 0U);
    EXPECT_EQ(first.state(), zoolock::guard_state::held);
    first.ensure_held();
    first.release();
    EXPECT_EQ(first.state(), zoolock::guard_state::released);
    const std::optional<zoolock::guard> second = mutex.try_acquire();
    ASSERT_TRUE(second);
    EXPECT_GT(second->fencing_token(), first.fencing_token());
}

TEST_F(Locks, r10_release_is_once_and_the_end_of_a_guard_releases)
{
    zoolock::mutex mutex(session, path);
    {
        zoolock::guard held = mutex.acquire();
        held.release();
        EXPECT_THROW(held.release(), zoolock::not_held);
        EXPECT_THROW(held.ensure_held(), zoolock::not_held);
        EXPECT_FALSE(held.held());
        held = mutex.acquire();
        EXPECT_TRUE(held.held());
        EXPECT_EQ(contenders(), 1U);
    }
    EXPECT_TRUE(eventually([&] { return contenders() == 0; }));
}

// C takes NULL for the defaults: what was set would be lost in silence.
TEST_F(Locks, what_was_moved_from_is_not_taken_for_the_defaults)
{
    zoolock::session_options options;
    options.auth("digest", "ann:secret");
    const zoolock::session_options kept = std::move(options);
    EXPECT_THROW(zoolock::session(server.hosts(), options), zoolock::invalid_argument);
    zoolock::lock_options lock_options;
    const zoolock::lock_options kept_too = std::move(lock_options);
    EXPECT_THROW(zoolock::mutex(session, path, lock_options), zoolock::invalid_argument);
    zoolock::cancel by;
    const zoolock::cancel also_kept = std::move(by);
    zoolock::mutex mutex{session, path};
    EXPECT_THROW(mutex.acquire(1s, by), zoolock::invalid_argument);
    EXPECT_THROW(mutex.acquire_async([](zoolock::acquisition) { ADD_FAILURE(); }, zoolock::forever, &by), zoolock::invalid_argument);
}

TEST_F(Locks, an_outcome_that_was_moved_from_is_none)
{
    zoolock::acquisition busy{nullptr, nullptr};
    zoolock::acquisition moved = std::move(busy);
    EXPECT_TRUE(moved.busy());
    EXPECT_FALSE(busy.busy() || busy.granted());
    EXPECT_THROW(busy.get(), zoolock::not_held);
    EXPECT_THROW(moved.get(), zoolock::timeout);
}

TEST_F(Locks, a_guard_that_was_moved_from_holds_nothing)
{
    zoolock::mutex mutex(session, path);
    zoolock::guard from = mutex.acquire();
    const zoolock::guard to = std::move(from);
    EXPECT_TRUE(to.held());
    EXPECT_TRUE(static_cast<bool>(to));
    EXPECT_FALSE(static_cast<bool>(from));
    EXPECT_EQ(from.fencing_token(), -1);
    EXPECT_EQ(from.state(), zoolock::guard_state::none);
    EXPECT_FALSE(from.held());
    EXPECT_EQ(from.node_path(), "");
    EXPECT_THROW(from.release(), zoolock::invalid_argument);
    EXPECT_THROW(from.on_lost([] {}), zoolock::invalid_argument);
}

TEST_F(Locks, r04_a_loss_is_told)
{
    zoolock::mutex mutex(session, path);
    const zoolock::guard held = mutex.acquire();
    Event lost, late;
    held.on_lost([&] { lost.happens(); });
    // Of any type, also one that cannot be copied.
    held.on_lost([&lost, only = std::make_unique<int>(1)] { lost.happens(); });
    const std::function<void()> kept = [&] { lost.happens(); };
    held.on_lost(kept);
    EXPECT_FALSE(held.wait_lost(0s));
    ASSERT_TRUE(server.expire_session(session.id()));
    EXPECT_TRUE(held.wait_lost(patience));
    EXPECT_TRUE(held.wait_lost());
    ASSERT_TRUE(lost.awaited(3));
    EXPECT_EQ(held.state(), zoolock::guard_state::lost);
    EXPECT_THROW(held.ensure_held(), zoolock::lock_lost);
    held.on_lost([&] { late.happens(); });
    EXPECT_TRUE(late.awaited());
    EXPECT_THROW(held.release(), zoolock::lock_lost);
    EXPECT_EQ(lost.count(), 3);
}

TEST_F(Locks, what_a_callback_holds_is_freed_whether_it_is_called_or_not)
{
    zoolock::mutex mutex(session, path);
    const auto resource = std::make_shared<int>(1);
    const zoolock::guard released = mutex.acquire();
    released.on_lost([resource] { FAIL() << "a released lock is not lost"; });
    EXPECT_GT(resource.use_count(), 1);
    released.release();
    EXPECT_TRUE(eventually([&] { return resource.use_count() == 1; }));
    {
        // Also of a guard that is only let go.
        const zoolock::guard dropped = mutex.acquire();
        dropped.on_lost([resource] { FAIL() << "a released lock is not lost"; });
    }
    EXPECT_TRUE(eventually([&] { return resource.use_count() == 1; }));
    const zoolock::guard lost = mutex.acquire();
    lost.on_lost([resource] {});
    session.on_state([resource](zoolock::session_state) {});
    session.close();
    EXPECT_TRUE(eventually([&] { return resource.use_count() == 1; }));
    EXPECT_THROW(session.on_state([resource](zoolock::session_state) {}), zoolock::closed);
    EXPECT_TRUE(eventually([&] { return resource.use_count() == 1; }));
}

TEST_F(Locks, r05_a_cancelled_call_leaves_no_contender)
{
    zoolock::mutex mutex(session, path);
    const zoolock::guard held = mutex.acquire();
    const zoolock::cancel cancel;
    EXPECT_FALSE(cancel.fired());
    std::thread waiting([&] { EXPECT_THROW((void)mutex.acquire(zoolock::forever, cancel), zoolock::cancelled); });
    EXPECT_TRUE(eventually([&] { return contenders() == 2; }));
    const zoolock::cancel same = cancel;
    same.fire();
    waiting.join();
    EXPECT_TRUE(cancel.fired());
    EXPECT_TRUE(eventually([&] { return contenders() == 1; }));
    zoolock::reentrant_mutex reentrant(session, "/locks/b");
    EXPECT_THROW((void)reentrant.acquire(patience, cancel), zoolock::cancelled);
    EXPECT_THROW((void)reentrant.acquire(zoolock::owner(), patience, cancel), zoolock::cancelled);
}

TEST_F(Locks, an_asynchronous_call_gives_a_guard_a_try_or_a_failure)
{
    zoolock::mutex mutex(session, path);
    std::promise<zoolock::guard> promise;
    mutex.acquire_async([&](zoolock::acquisition outcome) { promise.set_value(outcome.get()); });
    const zoolock::guard held = promise.get_future().get();
    EXPECT_TRUE(held.held());

    Event told;
    mutex.acquire_async(
        [&](zoolock::acquisition outcome) {
            EXPECT_TRUE(outcome.busy());
            EXPECT_THROW((void)outcome.get(), zoolock::timeout);
            told.happens();
        },
        0s);
    mutex.acquire_async(
        [&](zoolock::acquisition outcome) {
            EXPECT_FALSE(outcome.busy() || outcome.granted());
            EXPECT_THROW((void)outcome.get(), zoolock::timeout);
            told.happens();
        },
        20ms);
    const zoolock::cancel cancel;
    cancel.fire();
    mutex.acquire_async(
        [&](zoolock::acquisition outcome) {
            EXPECT_THROW((void)outcome.get(), zoolock::cancelled);
            told.happens();
        },
        patience, &cancel);
    const zoolock::owner owner;
    zoolock::shared_mutex rw(session, "/locks/b");
    rw.acquire_shared_async(owner, [&](zoolock::acquisition outcome) {
        const zoolock::guard got = outcome.get();
        EXPECT_FALSE(outcome.granted() || outcome.busy());
        EXPECT_THROW((void)outcome.get(), zoolock::not_held);
        told.happens();
    });
    zoolock::reentrant_mutex reentrant(session, "/locks/c");
    reentrant.acquire_async(owner, [&](const zoolock::acquisition &outcome) {
        EXPECT_TRUE(outcome.granted());
        told.happens();
    });
    EXPECT_TRUE(told.awaited(5));
    // Nobody took the last one's guard: it is let go.
    EXPECT_TRUE(eventually([&] { return reentrant.contenders().empty(); }));
}

TEST_F(Locks, contenders_tell_who_queues)
{
    zoolock::mutex mutex(session, path, zoolock::lock_options().data("me").names(zoolock::naming::kazoo));
    const zoolock::guard held = mutex.acquire();
    const std::vector<zoolock::contender> queue = mutex.contenders();
    ASSERT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue[0].node_path, held.node_path());
    EXPECT_EQ(queue[0].identity, "me");
    EXPECT_EQ(queue[0].session_id, session.id());
    EXPECT_TRUE(queue[0].holds);
    EXPECT_NE(held.node_path().find("__lock__"), std::string::npos);
    const zoolock::statistics counted = mutex.statistics();
    EXPECT_EQ(counted.acquisitions, 1U);
    EXPECT_EQ(counted.losses, 0U);
    EXPECT_GT(counted.waited.count(), 0);
}

TEST_F(Locks, a_session_tells_its_state_and_its_server_lists_it)
{
    EXPECT_EQ(session.state(), zoolock::session_state::connected);
    EXPECT_EQ(session.negotiated_timeout(), session_timeout);
    const auto sessions = server.sessions();
    ASSERT_EQ(sessions.size(), 1U);
    EXPECT_EQ(sessions[0].id, session.id());
    EXPECT_EQ(sessions[0].timeout, session_timeout);
    EXPECT_TRUE(sessions[0].connected);
    EXPECT_TRUE(sessions[0].ephemerals.empty());
    std::vector<zoolock::session_state> states;
    Event closed;
    session.on_state([&](zoolock::session_state state) {
        states.push_back(state);
        if (state == zoolock::session_state::closed)
            closed.happens();
    });
    EXPECT_EQ(server.cut_all(), 1U);
    EXPECT_TRUE(eventually([&] { return server.sessions()[0].connected; }));
    session.close();
    session.close(0s);
    ASSERT_TRUE(closed.awaited());
    EXPECT_EQ(states.front(), zoolock::session_state::suspended);
    EXPECT_EQ(states.back(), zoolock::session_state::closed);
    const zoolock::session moved = std::move(session);
    EXPECT_EQ(moved.state(), zoolock::session_state::closed);
    EXPECT_EQ(session.state(), zoolock::session_state::none);
    EXPECT_THROW(zoolock::mutex(session, path), zoolock::invalid_argument);
}
