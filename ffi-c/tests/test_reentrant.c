/* The re-entrant mutex, with threads and with owners. */
#include "control.h"
#include "support.h"

static zoolock_error *err;

static zoolock_guard *lock_reentrant(const zoolock_reentrant *reentrant)
{
    zoolock_guard *guard = NULL;
    CHECK_OK(zoolock_reentrant_lock(reentrant, PATIENCE_MS, NULL, &guard, &err), err);
    return guard;
}

static zoolock_guard *lock_owned(const zoolock_reentrant *reentrant, const zoolock_owner *owner)
{
    zoolock_guard *guard = NULL;
    CHECK_OK(zoolock_reentrant_lock_owned(reentrant, owner, PATIENCE_MS, NULL, &guard, &err), err);
    return guard;
}

struct trial {
    const zoolock_reentrant *reentrant;
    zoolock_status status;
};

static void *try_on_a_thread(void *argument)
{
    struct trial *trial = argument;
    zoolock_guard *guard = NULL;
    trial->status = zoolock_reentrant_lock(trial->reentrant, 0, NULL, &guard, NULL);
    zoolock_guard_free(guard);
    return NULL;
}

static zoolock_status try_elsewhere(const zoolock_reentrant *reentrant)
{
    struct trial trial = {reentrant, ZOOLOCK_INTERNAL};
    pthread_t thread;
    CHECK_INT(0, pthread_create(&thread, NULL, try_on_a_thread, &trial));
    CHECK_INT(0, pthread_join(thread, NULL));
    return trial.status;
}

static void r11_a_thread_gets_it_again_with_the_same_token(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_reentrant *reentrant = new_reentrant(session, path);
    zoolock_guard *outer = lock_reentrant(reentrant);
    zoolock_guard *inner = lock_reentrant(reentrant);
    CHECK_INT(zoolock_guard_fencing_token(outer), zoolock_guard_fencing_token(inner));
    CHECK_TEXT(zoolock_guard_node_path(outer), zoolock_guard_node_path(inner));
    CHECK_INT(1, control_children(path));
    CHECK_INT(ZOOLOCK_NOT_ACQUIRED, try_elsewhere(reentrant));
    release(outer);
    CHECK(zoolock_guard_is_held(inner));
    control_await_children(path, 1);
    CHECK_INT(ZOOLOCK_NOT_ACQUIRED, try_elsewhere(reentrant));
    release(inner);
    CHECK_INT(0, control_children(path));
    CHECK_INT(ZOOLOCK_OK, try_elsewhere(reentrant));
    zoolock_reentrant_free(reentrant);
    end_session(session);
}

static void r11_re_entrancy_is_of_the_path_not_of_the_object(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_reentrant *one = new_reentrant(session, path);
    zoolock_reentrant *two = new_reentrant(session, path);
    zoolock_guard *outer = lock_reentrant(one);
    zoolock_guard *inner = lock_reentrant(two);
    CHECK_INT(zoolock_guard_fencing_token(outer), zoolock_guard_fencing_token(inner));
    release(inner);
    release(outer);
    zoolock_reentrant_free(one);
    zoolock_reentrant_free(two);
    end_session(session);
}

static void r11_an_owner_gets_it_again_and_another_owner_queues(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_reentrant *reentrant = new_reentrant(session, path);
    zoolock_owner *mine = zoolock_owner_new();
    zoolock_owner *yours = zoolock_owner_new();
    zoolock_guard *outer = lock_owned(reentrant, mine);
    zoolock_guard *inner = lock_owned(reentrant, mine);
    CHECK_INT(zoolock_guard_fencing_token(outer), zoolock_guard_fencing_token(inner));
    zoolock_guard *guard = NULL;
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED,
                 zoolock_reentrant_lock_owned(reentrant, yours, 0, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_TIMEOUT,
                 zoolock_reentrant_lock_owned(reentrant, yours, 100, NULL, &guard, &err), err);
    /* The thread that calls is an owner of its own too. */
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_reentrant_lock(reentrant, 0, NULL, &guard, &err),
                 err);
    /* What an owner holds outlives its handle. */
    zoolock_owner_free(mine);
    release(inner);
    CHECK(zoolock_guard_is_held(outer));
    release(outer);
    guard = lock_owned(reentrant, yours);
    release(guard);
    zoolock_owner_free(yours);
    zoolock_reentrant_free(reentrant);
    end_session(session);
}

static void r11_asynchronous_calls_of_one_owner_share_one_contender(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_reentrant *reentrant = new_reentrant(session, path);
    zoolock_owner *owner = zoolock_owner_new();
    struct outcome outcomes[3];
    for (int i = 0; i < 3; i++) {
        outcomes[i] = (struct outcome)OUTCOME_INITIALIZER;
        CHECK_INT(ZOOLOCK_OK, zoolock_reentrant_lock_owned_async(reentrant, owner, -1, NULL,
                                                                 keep_outcome, &outcomes[i]));
    }
    zoolock_owner_free(owner);
    for (int i = 0; i < 3; i++) {
        await_outcome(&outcomes[i], ZOOLOCK_OK);
        CHECK_INT(zoolock_guard_fencing_token(outcomes[0].guard),
                  zoolock_guard_fencing_token(outcomes[i].guard));
    }
    CHECK_INT(1, control_children(path));
    for (int i = 0; i < 3; i++)
        release(outcomes[i].guard);
    CHECK_INT(0, control_children(path));
    zoolock_reentrant_free(reentrant);
    end_session(session);
}

static void r11_a_plain_mutex_is_excluded(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_reentrant *reentrant = new_reentrant(session, path);
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *held = lock_reentrant(reentrant);
    zoolock_guard *guard = NULL;
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_mutex_lock(mutex, 0, NULL, &guard, &err), err);
    release(held);
    zoolock_contenders *list = NULL;
    CHECK_OK(zoolock_reentrant_contenders(reentrant, &list, &err), err);
    CHECK_INT(0, zoolock_contenders_count(list));
    zoolock_contenders_free(list);
    zoolock_statistics statistics;
    CHECK_OK(zoolock_reentrant_statistics(reentrant, &statistics, &err), err);
    CHECK_INT(1, statistics.acquisitions);
    zoolock_reentrant_free(reentrant);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r11_re_entering_a_lost_lock_is_lock_lost(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_reentrant *reentrant = new_reentrant(session, lock_path("a"));
    zoolock_guard *lost = lock_reentrant(reentrant);
    control_do("delete %s", zoolock_guard_node_path(lost));
    EVENTUALLY(zoolock_guard_state(lost) == ZOOLOCK_GUARD_STATE_LOST);
    zoolock_guard *guard = NULL;
    CHECK_STATUS(ZOOLOCK_LOCK_LOST, zoolock_reentrant_lock(reentrant, -1, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_LOCK_LOST, zoolock_guard_release(lost, &err), err);
    zoolock_guard_free(lost);
    release(lock_reentrant(reentrant));
    zoolock_reentrant_free(reentrant);
    end_session(session);
}

static const struct test tests[] = {
    TEST(r11_a_thread_gets_it_again_with_the_same_token),
    TEST(r11_re_entrancy_is_of_the_path_not_of_the_object),
    TEST(r11_an_owner_gets_it_again_and_another_owner_queues),
    TEST(r11_asynchronous_calls_of_one_owner_share_one_contender),
    TEST(r11_a_plain_mutex_is_excluded),
    TEST(r11_re_entering_a_lost_lock_is_lock_lost),
};

HARNESS_MAIN(tests)
