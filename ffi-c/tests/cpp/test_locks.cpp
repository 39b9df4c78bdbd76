// The lock objects, under the standard library's locks.
#include "support.hpp"

#include <atomic>
#include <shared_mutex>
#include <vector>

TEST_F(Locks, r01_one_thread_at_a_time_is_in_a_unique_lock)
{
    zoolock::mutex mutex(session, path);
    std::atomic<int> inside{0}, most{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int round = 0; round < 10; round++) {
                const std::unique_lock lock(mutex);
                const int now = ++inside;
                if (now > most)
                    most = now;
                EXPECT_TRUE(mutex.held());
                --inside;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(most, 1);
    EXPECT_EQ(mutex.statistics().acquisitions, 40U);
    EXPECT_EQ(contenders(), 0U);
}

TEST_F(Locks, lock_guard_and_unique_lock_hold_while_they_live)
{
    zoolock::mutex mutex(session, path);
    {
        const std::lock_guard lock(mutex);
        EXPECT_GT(mutex.fencing_token(), 0);
        EXPECT_EQ(contenders(), 1U);
    }
    EXPECT_EQ(contenders(), 0U);
    std::unique_lock deferred(mutex, std::defer_lock);
    EXPECT_FALSE(deferred.owns_lock());
    EXPECT_TRUE(deferred.try_lock());
    EXPECT_THROW(deferred.lock(), std::system_error);
    deferred.unlock();
    EXPECT_EQ(contenders(), 0U);
    const std::unique_lock tried(mutex, std::try_to_lock);
    EXPECT_TRUE(tried);
}

TEST_F(Locks, r06_timed_locks_are_false_at_their_time_outs)
{
    zoolock::mutex mutex(session, path);
    const zoolock::session stranger = another_session();
    zoolock::mutex theirs(stranger, path);
    const zoolock::guard held = theirs.acquire();
    const auto start = std::chrono::steady_clock::now();
    const std::unique_lock timed(mutex, 100ms);
    EXPECT_FALSE(timed);
    EXPECT_GE(std::chrono::steady_clock::now() - start, 100ms);
    const std::unique_lock until(mutex, std::chrono::system_clock::now() + 50ms);
    EXPECT_FALSE(until);
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock_for(0s));
    EXPECT_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now() - 1h));
    EXPECT_FALSE(mutex.try_acquire());
    EXPECT_THROW((void)mutex.acquire(0s), zoolock::timeout);
    EXPECT_THROW((void)mutex.acquire(20ms), zoolock::timeout);
    EXPECT_TRUE(eventually([&] { return contenders() == 1; }));
    held.release();
    EXPECT_TRUE(mutex.try_lock_for(patience));
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock_until(std::chrono::steady_clock::now() + patience));
    mutex.release();
}

TEST_F(Locks, scoped_lock_and_lock_take_two_locks_without_a_deadlock)
{
    zoolock::mutex a(session, "/locks/a"), b(session, "/locks/b");
    Event rounds;
    const auto take = [&](zoolock::mutex &first, zoolock::mutex &second) {
        for (int round = 0; round < 5; round++) {
            {
                const std::scoped_lock both(first, second);
                EXPECT_TRUE(a.held());
                EXPECT_TRUE(b.held());
            }
            std::lock(second, first);
            const std::lock_guard one(first, std::adopt_lock), other(second, std::adopt_lock);
            rounds.happens();
        }
    };
    std::thread one([&] { take(a, b); }), other([&] { take(b, a); });
    one.join();
    other.join();
    EXPECT_EQ(rounds.count(), 10);
    EXPECT_EQ(std::try_lock(a, b), -1);
    a.unlock();
    EXPECT_EQ(std::try_lock(a, b), 1);
    b.unlock();
}

TEST_F(Locks, r07_shared_locks_share_and_exclude_a_writer)
{
    zoolock::shared_mutex rw(session, path);
    const zoolock::session stranger = another_session();
    zoolock::shared_mutex theirs(stranger, path);
    {
        const std::shared_lock read(rw);
        const std::shared_lock also(theirs, patience);
        EXPECT_TRUE(rw.held_shared());
        EXPECT_GT(rw.fencing_token_shared(), 0);
        EXPECT_TRUE(theirs.try_lock_shared());
        theirs.unlock_shared();
        EXPECT_FALSE(theirs.held());
        on_another_thread([&] {
            EXPECT_FALSE(rw.try_lock());
            EXPECT_FALSE(rw.try_lock_for(50ms));
            EXPECT_TRUE(rw.try_lock_shared_for(patience));
            rw.release_shared();
        });
    }
    const std::unique_lock write(rw);
    EXPECT_FALSE(theirs.try_lock_shared_until(std::chrono::steady_clock::now() + 50ms));
    EXPECT_FALSE(theirs.try_acquire_shared());
    rw.ensure_held();
    EXPECT_GT(rw.fencing_token(), 0);
}

TEST_F(Locks, r12_a_writer_downgrades_and_a_reader_may_not_upgrade)
{
    zoolock::shared_mutex rw(session, path);
    rw.lock();
    rw.lock_shared();
    rw.unlock();
    EXPECT_FALSE(rw.held());
    EXPECT_TRUE(rw.held_shared());
    EXPECT_THROW(rw.lock(), zoolock::would_deadlock);
    EXPECT_THROW((void)rw.try_lock(), zoolock::would_deadlock);
    rw.lock_shared();
    rw.release_shared();
    EXPECT_TRUE(rw.held_shared());
    rw.release_shared();
    EXPECT_TRUE(rw.contenders().empty());
    EXPECT_THROW(rw.release_shared(), zoolock::not_held);
    EXPECT_THROW(rw.release(), zoolock::not_held);
}

TEST_F(Locks, r11_a_thread_may_lock_a_reentrant_mutex_again)
{
    zoolock::reentrant_mutex mutex(session, path);
    const std::unique_lock outer(mutex);
    const std::int64_t token = mutex.fencing_token();
    {
        const std::unique_lock inner(mutex, 0s);
        EXPECT_TRUE(inner);
        EXPECT_EQ(mutex.fencing_token(), token);
        EXPECT_EQ(contenders(), 1U);
        on_another_thread([&] { EXPECT_FALSE(mutex.try_lock()); });
    }
    EXPECT_TRUE(mutex.held());
    EXPECT_EQ(contenders(), 1U);
}

TEST_F(Locks, r11_owners_are_different_from_threads_and_each_other)
{
    zoolock::reentrant_mutex mutex(session, path);
    const zoolock::owner one, other, same = one;
    const zoolock::guard first = mutex.acquire(one);
    EXPECT_TRUE(mutex.try_acquire(same));
    EXPECT_FALSE(mutex.try_acquire(other));
    EXPECT_FALSE(mutex.try_acquire());
    zoolock::shared_mutex rw(session, "/locks/b");
    const zoolock::guard read = rw.acquire_shared(one, patience);
    EXPECT_TRUE(rw.try_acquire_shared(other));
    EXPECT_THROW((void)rw.acquire(same), zoolock::would_deadlock);
    EXPECT_FALSE(rw.try_acquire(zoolock::owner()));
}

TEST_F(Locks, r10_unlock_ends_the_hold_of_the_calling_thread)
{
    zoolock::shared_mutex rw(session, path);
    rw.lock_shared();
    const std::int64_t mine = rw.fencing_token_shared();
    Event taken, checked;
    std::thread other([&] {
        rw.lock_shared();
        EXPECT_NE(rw.fencing_token_shared(), mine);
        taken.happens();
        EXPECT_TRUE(checked.awaited());
        // The other one's is gone: this thread's own is left.
        EXPECT_TRUE(rw.held_shared());
        rw.release_shared();
    });
    ASSERT_TRUE(taken.awaited());
    EXPECT_EQ(rw.fencing_token_shared(), mine);
    // A stranger to both can end neither: there are two.
    on_another_thread([&] {
        EXPECT_THROW(rw.release_shared(), zoolock::not_held);
        rw.unlock_shared();
    });
    EXPECT_EQ(rw.contenders().size(), 2U);
    rw.unlock_shared();
    EXPECT_EQ(rw.contenders().size(), 1U);
    checked.happens();
    other.join();
    EXPECT_EQ(rw.contenders().size(), 0U);
}

TEST_F(Locks, r10_unlock_by_a_thread_that_took_none_ends_the_only_hold)
{
    zoolock::mutex mutex(session, path);
    on_another_thread([&] { mutex.lock(); });
    EXPECT_TRUE(mutex.held());
    mutex.unlock();
    EXPECT_EQ(contenders(), 0U);
    EXPECT_FALSE(mutex.held());
    EXPECT_THROW(mutex.ensure_held(), zoolock::not_held);
    // Nothing to end, and nobody to tell.
    mutex.unlock();
}

TEST_F(Locks, r10_a_lost_hold_stays_its_takers)
{
    zoolock::mutex mutex(session, path);
    std::unique_lock lost(mutex);
    const std::int64_t token = mutex.fencing_token();
    ASSERT_TRUE(server.expire_session(session.id()));
    ASSERT_TRUE(eventually([&] { return !mutex.held(); }));
    on_another_thread([&] {
        // Somebody else's now: another thread's, through the same object.
        mutex.lock();
        EXPECT_GT(mutex.fencing_token(), token);
        EXPECT_TRUE(mutex.held());
        mutex.release();
    });
    EXPECT_EQ(mutex.fencing_token(), token);
    EXPECT_THROW(mutex.ensure_held(), zoolock::lock_lost);
    EXPECT_THROW(mutex.release(), zoolock::lock_lost);
    EXPECT_THROW(mutex.release(), zoolock::not_held);
    // Its unlock finds nothing, and says nothing.
    lost.unlock();
}

TEST_F(Locks, unlock_of_a_lost_lock_throws_nothing)
{
    zoolock::mutex mutex(session, path);
    {
        const std::unique_lock lock(mutex);
        session.close();
        EXPECT_THROW(mutex.ensure_held(), zoolock::lock_lost);
    }
    EXPECT_THROW(mutex.lock(), zoolock::closed);
    EXPECT_THROW((void)mutex.try_lock(), zoolock::closed);
    EXPECT_THROW((void)mutex.try_lock_for(1s), zoolock::closed);
    EXPECT_THROW((void)mutex.contenders(), zoolock::closed);
    EXPECT_THROW(zoolock::mutex(session, path), zoolock::closed);
}

TEST_F(Locks, an_object_that_ends_lets_its_holds_go)
{
    {
        zoolock::mutex mutex(session, path);
        mutex.lock();
    }
    EXPECT_TRUE(eventually([&] { return contenders() == 0; }));
}

TEST_F(Locks, r02_a_kept_contender_is_granted_again_and_the_pair_rises)
{
    zoolock::mutex mutex(session, path, zoolock::lock_options().keep(1min));
    std::int64_t token = 0;
    for (std::uint64_t count = 1; count <= 100; count++) {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(mutex.grant_count(), count);
        EXPECT_TRUE(count == 1 || mutex.fencing_token() == token);
        token = mutex.fencing_token();
    }
    EXPECT_EQ(contenders(), 1U);
    const zoolock::session stranger = another_session();
    zoolock::mutex theirs(stranger, path);
    const zoolock::guard held = theirs.acquire();
    EXPECT_GT(held.fencing_token(), token);
    EXPECT_EQ(held.grant_count(), 1U);
    EXPECT_THROW(zoolock::mutex(session, path, zoolock::lock_options().keep(0s)), zoolock::invalid_argument);
}
