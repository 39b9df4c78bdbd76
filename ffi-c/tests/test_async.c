/* Asynchronous calls and their callbacks. */
#include "control.h"
#include "support.h"

#include <string.h>

static zoolock_error *err;

static void a_callback_gets_the_guard_on_the_callback_thread(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    struct outcome first = OUTCOME_INITIALIZER, second = OUTCOME_INITIALIZER;
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, NULL, keep_outcome, &first));
    await_outcome(&first, ZOOLOCK_OK);
    CHECK(!pthread_equal(first.thread, pthread_self()));
    CHECK(zoolock_guard_is_held(first.guard));
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, 0, NULL, keep_outcome, &second));
    await_outcome(&second, ZOOLOCK_NOT_ACQUIRED);
    CHECK(pthread_equal(first.thread, second.thread));
    release(first.guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r07_asynchronous_calls_are_granted_in_their_order(void)
{
    enum { CALLS = 5 };
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    struct outcome outcomes[CALLS];
    for (int i = 0; i < CALLS; i++) {
        outcomes[i] = (struct outcome)OUTCOME_INITIALIZER;
        CHECK_INT(ZOOLOCK_OK,
                  zoolock_mutex_lock_async(mutex, PATIENCE_MS, NULL, keep_outcome, &outcomes[i]));
    }
    /* The calls go on without the handle. */
    zoolock_mutex_free(mutex);
    int64_t last = 0;
    for (int i = 0; i < CALLS; i++) {
        await_outcome(&outcomes[i], ZOOLOCK_OK);
        CHECK(zoolock_guard_fencing_token(outcomes[i].guard) > last);
        last = zoolock_guard_fencing_token(outcomes[i].guard);
        for (int later = i + 1; later < CALLS; later++)
            CHECK_INT(0, event_count(&outcomes[later].arrived));
        release(outcomes[i].guard);
    }
    end_session(session);
}

static void r06_an_asynchronous_call_times_out(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *held = lock_mutex(mutex);
    struct outcome outcome = OUTCOME_INITIALIZER;
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, 100, NULL, keep_outcome, &outcome));
    await_outcome(&outcome, ZOOLOCK_TIMEOUT);
    CHECK(strstr(outcome.message, path) != NULL);
    control_await_children(path, 1);
    release(held);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r05_an_asynchronous_call_is_cancelled(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *held = lock_mutex(mutex);
    zoolock_cancel *cancel = zoolock_cancel_new();
    struct outcome waiting = OUTCOME_INITIALIZER, late = OUTCOME_INITIALIZER;
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, cancel, keep_outcome, &waiting));
    control_await_children(path, 2);
    CHECK_INT(0, event_count(&waiting.arrived));
    CHECK_INT(ZOOLOCK_OK, zoolock_cancel_cancel(cancel));
    await_outcome(&waiting, ZOOLOCK_CANCELLED);
    control_await_children(path, 1);
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, cancel, keep_outcome, &late));
    await_outcome(&late, ZOOLOCK_CANCELLED);
    zoolock_cancel_free(cancel);
    release(held);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r05_cancel_in_a_race_with_the_grant_gives_guard_or_cancelled(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    for (int i = 0; i < 50; i++) {
        zoolock_cancel *cancel = zoolock_cancel_new();
        struct outcome outcome = OUTCOME_INITIALIZER;
        CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, cancel, keep_outcome, &outcome));
        CHECK_INT(ZOOLOCK_OK, zoolock_cancel_cancel(cancel));
        zoolock_cancel_free(cancel);
        event_await(&outcome.arrived, 1);
        if (outcome.guard != NULL)
            release(outcome.guard);
        else
            CHECK_INT(ZOOLOCK_CANCELLED, outcome.status);
    }
    control_await_children(path, 0);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r17_close_ends_an_asynchronous_call(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *held = lock_mutex(mutex);
    struct outcome waiting = OUTCOME_INITIALIZER, late = OUTCOME_INITIALIZER;
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, NULL, keep_outcome, &waiting));
    control_await_children(path, 2);
    CHECK_OK(zoolock_session_close(session, -1, &err), err);
    await_outcome(&waiting, ZOOLOCK_CLOSED);
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, NULL, keep_outcome, &late));
    await_outcome(&late, ZOOLOCK_CLOSED);
    zoolock_guard_free(held);
    zoolock_mutex_free(mutex);
    zoolock_session_free(session);
}

struct in_callback {
    struct event done;
    zoolock_mutex *mutex;
    zoolock_status released, again, second;
};

static void release_and_lock_again(zoolock_status status, zoolock_guard *guard,
                                   const zoolock_error *error, void *userdata)
{
    struct in_callback *in = userdata;
    (void)status, (void)error;
    in->released = zoolock_guard_release(guard, NULL);
    zoolock_guard_free(guard);
    in->again = zoolock_mutex_lock(in->mutex, PATIENCE_MS, NULL, &guard, NULL);
    in->second = zoolock_guard_release(guard, NULL);
    zoolock_guard_free(guard);
    event_happens(&in->done);
}

static void a_callback_may_make_blocking_calls(void)
{
    zoolock_session *session = connect_to_ensemble();
    struct in_callback in = {.done = EVENT_INITIALIZER,
                             .mutex = new_mutex(session, lock_path("a"))};
    CHECK_INT(ZOOLOCK_OK,
              zoolock_mutex_lock_async(in.mutex, -1, NULL, release_and_lock_again, &in));
    event_await(&in.done, 1);
    CHECK_INT(ZOOLOCK_OK, in.released);
    CHECK_INT(ZOOLOCK_OK, in.again);
    CHECK_INT(ZOOLOCK_OK, in.second);
    zoolock_mutex_free(in.mutex);
    end_session(session);
}

static const struct test tests[] = {
    TEST(a_callback_gets_the_guard_on_the_callback_thread),
    TEST(r07_asynchronous_calls_are_granted_in_their_order),
    TEST(r06_an_asynchronous_call_times_out),
    TEST(r05_an_asynchronous_call_is_cancelled),
    TEST(r05_cancel_in_a_race_with_the_grant_gives_guard_or_cancelled),
    TEST(r17_close_ends_an_asynchronous_call),
    TEST(a_callback_may_make_blocking_calls),
};

HARNESS_MAIN(tests)
