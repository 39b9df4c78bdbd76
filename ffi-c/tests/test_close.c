/* Closing, and what comes after. */
#include "control.h"
#include "support.h"

static zoolock_error *err;

static void r17_close_ends_waits_and_tells_guards(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *guard = lock_mutex(mutex);
    struct event lost = EVENT_INITIALIZER;
    CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &lost, &err), err);
    struct waiter waiter = {.mutex = mutex, .timeout_ms = -1};
    waiter_start(&waiter);
    control_await_children(path, 2);
    CHECK_OK(zoolock_session_close(session, -1, &err), err);
    waiter_join(&waiter, ZOOLOCK_CLOSED);
    CHECK_INT(ZOOLOCK_GUARD_STATE_LOST, zoolock_guard_state(guard));
    event_await(&lost, 1);
    CHECK_STATUS(ZOOLOCK_LOCK_LOST, zoolock_guard_release(guard, &err), err);
    CHECK_STATUS(ZOOLOCK_LOCK_LOST, zoolock_guard_ensure_held(guard, &err), err);
    control_await_children(path, 0);
    CHECK_INT(1, event_count(&lost));
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    zoolock_session_free(session);
}

static void r17_close_is_idempotent_and_use_after_it_is_closed(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_owner *owner = zoolock_owner_new();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_reentrant *reentrant = new_reentrant(session, lock_path("b"));
    zoolock_rwlock *rwlock = new_rwlock(session, lock_path("c"));
    zoolock_guard *guard = NULL;
    zoolock_contenders *list = NULL;
    CHECK_OK(zoolock_session_close(session, 2000, &err), err);
    CHECK_OK(zoolock_session_close(session, 0, &err), err);
    CHECK_OK(zoolock_session_close(session, -1, &err), err);
    CHECK_INT(ZOOLOCK_SESSION_STATE_CLOSED, zoolock_session_state(session));

    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_mutex_lock(mutex, -1, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_mutex_lock(mutex, 0, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_reentrant_lock(reentrant, -1, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED,
                 zoolock_reentrant_lock_owned(reentrant, owner, -1, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_rwlock_read(rwlock, -1, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_rwlock_write(rwlock, -1, NULL, &guard, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_mutex_contenders(mutex, &list, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_reentrant_contenders(reentrant, &list, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_rwlock_contenders(rwlock, &list, &err), err);
    CHECK(guard == NULL && list == NULL);

    zoolock_mutex *late = NULL;
    zoolock_reentrant *late_reentrant = NULL;
    zoolock_rwlock *late_rwlock = NULL;

    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_mutex_new(session, "/a", NULL, &late, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_reentrant_new(session, "/a", NULL, &late_reentrant, &err),
                 err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_rwlock_new(session, "/a", NULL, &late_rwlock, &err), err);
    CHECK(late == NULL && late_reentrant == NULL && late_rwlock == NULL);

    zoolock_owner_free(owner);
    zoolock_mutex_free(mutex);
    zoolock_reentrant_free(reentrant);
    zoolock_rwlock_free(rwlock);
    zoolock_session_free(session);
}

static void ignore_state(zoolock_session_state_t state, void *userdata)
{
    (void)state;
    event_happens(userdata);
}

static void r17_on_state_after_close_is_closed(void)
{
    zoolock_session *session = connect_to_ensemble();
    struct event told = EVENT_INITIALIZER;
    CHECK_OK(zoolock_session_close(session, -1, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_session_on_state(session, ignore_state, &told, &err),
                 err);
    CHECK_INT(0, event_count(&told));
    zoolock_session_free(session);
}

static void r17_closing_one_handle_leaves_the_other_on_the_session(void)
{
    zoolock_session *pair[2];
    for (int i = 0; i < 2; i++) {
        zoolock_session_options *options = session_options();
        CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_exclusive(options, false));
        pair[i] = connect_with(options);
    }
    const char *path = lock_path("a"), *kept_path = lock_path("b");
    zoolock_mutex *mutex = new_mutex(pair[0], path);
    zoolock_mutex *kept = new_mutex(pair[1], kept_path);
    zoolock_guard *guard = lock_mutex(mutex);
    zoolock_guard *kept_guard = lock_mutex(kept);
    CHECK_OK(zoolock_session_close(pair[0], -1, &err), err);
    CHECK_INT(ZOOLOCK_GUARD_STATE_LOST, zoolock_guard_state(guard));
    control_await_children(path, 0);
    CHECK(zoolock_guard_is_held(kept_guard));
    CHECK_INT(1, control_children(kept_path));
    release(kept_guard);
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(kept);
    zoolock_session_free(pair[0]);
    end_session(pair[1]);
}

static void r17_freeing_everything_without_close_ends_the_session(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    int64_t id = zoolock_session_id(session);
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *guard = lock_mutex(mutex);
    CHECK(control_knows_session(id));
    zoolock_session_free(session);
    zoolock_mutex_free(mutex);
    zoolock_guard_free(guard);
    EVENTUALLY(!control_knows_session(id));
    CHECK_INT(0, control_children(path));
}

static const struct test tests[] = {
    TEST(r17_close_ends_waits_and_tells_guards),
    TEST(r17_close_is_idempotent_and_use_after_it_is_closed),
    TEST(r17_on_state_after_close_is_closed),
    TEST(r17_closing_one_handle_leaves_the_other_on_the_session),
    TEST(r17_freeing_everything_without_close_ends_the_session),
};

HARNESS_MAIN(tests)
