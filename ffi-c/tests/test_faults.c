/* Loss and states, on an ensemble that is disturbed. */
#include "control.h"
#include "support.h"

#include <string.h>

static zoolock_error *err;

/* The states that a session went through. */
struct states {
    struct event each[5];
    zoolock_session_state_t last;
};

static void states_init(struct states *states)
{
    *states = (struct states){.last = ZOOLOCK_SESSION_STATE_INVALID};
    for (int i = 0; i < 5; i++)
        states->each[i] = (struct event)EVENT_INITIALIZER;
}

static void keep_state(zoolock_session_state_t state, void *userdata)
{
    struct states *states = userdata;
    states->last = state;
    if (state >= 0 && state < 5)
        event_happens(&states->each[state]);
}

static void await_state(struct states *states, zoolock_session_state_t state, int times)
{
    event_await(&states->each[state], times);
}

static void r04_a_frozen_ensemble_loses_the_lock_and_tells_once(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *guard = lock_mutex(mutex);
    struct event first = EVENT_INITIALIZER, second = EVENT_INITIALIZER, late = EVENT_INITIALIZER;
    CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &first, &err), err);
    CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &second, &err), err);
    bool lost = true;
    CHECK_OK(zoolock_guard_wait_lost(guard, 0, &lost, &err), err);
    CHECK(!lost);
    CHECK_OK(zoolock_guard_wait_lost(guard, 50, &lost, &err), err);
    CHECK(!lost);

    control_do("freeze client all");
    CHECK_OK(zoolock_guard_wait_lost(guard, -1, &lost, &err), err);
    CHECK(lost);
    CHECK(!zoolock_guard_is_held(guard));
    CHECK_INT(ZOOLOCK_GUARD_STATE_LOST, zoolock_guard_state(guard));
    event_await(&first, 1);
    event_await(&second, 1);
    CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &late, &err), err);
    event_await(&late, 1);
    CHECK_STATUS(ZOOLOCK_LOCK_LOST, zoolock_guard_ensure_held(guard, &err), err);

    control_do("thaw client all");
    CHECK_ERROR(ZOOLOCK_LOCK_LOST, path, zoolock_guard_release(guard, &err), err);
    /* Lost is final; its contender goes, and the lock can be had again. */
    CHECK_INT(ZOOLOCK_GUARD_STATE_LOST, zoolock_guard_state(guard));
    release(lock_mutex(mutex));
    control_await_children(path, 0);
    CHECK_INT(1, event_count(&first));
    CHECK_INT(1, event_count(&second));
    CHECK_INT(1, event_count(&late));
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r04_nothing_is_told_after_a_release(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    struct event lost_event = EVENT_INITIALIZER;
    CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &lost_event, &err), err);
    CHECK_OK(zoolock_guard_release(guard, &err), err);
    bool lost = true;
    CHECK_OK(zoolock_guard_wait_lost(guard, -1, &lost, &err), err);
    CHECK(!lost);
    end_session(session);
    CHECK_INT(ZOOLOCK_GUARD_STATE_RELEASED, zoolock_guard_state(guard));
    /* Whatever the close told was told before this. */
    zoolock_session *next = connect_to_ensemble();
    zoolock_mutex *other = new_mutex(next, lock_path("b"));
    struct outcome outcome = OUTCOME_INITIALIZER;
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(other, -1, NULL, keep_outcome, &outcome));
    await_outcome(&outcome, ZOOLOCK_OK);
    CHECK_INT(0, event_count(&lost_event));
    release(outcome.guard);
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(other);
    end_session(next);
}

static void r04_a_contender_removed_by_another_is_a_lost_lock(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    struct event lost = EVENT_INITIALIZER;
    CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &lost, &err), err);
    control_do("delete %s", zoolock_guard_node_path(guard));
    event_await(&lost, 1);
    CHECK_INT(ZOOLOCK_GUARD_STATE_LOST, zoolock_guard_state(guard));
    zoolock_statistics statistics;
    CHECK_OK(zoolock_mutex_statistics(mutex, &statistics, &err), err);
    CHECK_INT(1, statistics.losses);
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r16_a_reset_connection_is_suspended_then_connected_and_the_lock_stays(void)
{
    zoolock_session *session = connect_to_ensemble();
    int64_t id = zoolock_session_id(session);
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    struct states states;
    states_init(&states);
    CHECK_OK(zoolock_session_on_state(session, keep_state, &states, &err), err);
    control_do("reset client all");
    await_state(&states, ZOOLOCK_SESSION_STATE_SUSPENDED, 1);
    await_state(&states, ZOOLOCK_SESSION_STATE_CONNECTED, 1);
    EVENTUALLY(zoolock_guard_state(guard) == ZOOLOCK_GUARD_STATE_HELD);
    CHECK_INT(id, zoolock_session_id(session));
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
    await_state(&states, ZOOLOCK_SESSION_STATE_CLOSED, 1);
    CHECK_INT(ZOOLOCK_SESSION_STATE_CLOSED, states.last);
    CHECK_INT(0, event_count(&states.each[ZOOLOCK_SESSION_STATE_EXPIRED]));
}

static void r16_a_killed_server_costs_a_fail_over_and_not_the_session(void)
{
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_session_timeout_ms(options, 20000));
    zoolock_session *session = connect_with(options);
    int64_t id = zoolock_session_id(session);
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    struct states states;
    states_init(&states);
    CHECK_OK(zoolock_session_on_state(session, keep_state, &states, &err), err);
    int server = control_server_of(id);
    control_do("kill %d", server);
    await_state(&states, ZOOLOCK_SESSION_STATE_SUSPENDED, 1);
    await_state(&states, ZOOLOCK_SESSION_STATE_CONNECTED, 1);
    CHECK_INT(id, zoolock_session_id(session));
    CHECK(zoolock_guard_is_held(guard));
    CHECK(control_server_of(id) != server);
    release(guard);
    release(lock_mutex(mutex));
    control_do("restart %d", server);
    control_do("wait");
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r16_a_frozen_server_costs_a_fail_over_and_not_the_lock(void)
{
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_session_timeout_ms(options, 10000));
    zoolock_session *session = connect_with(options);
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    struct states states;
    states_init(&states);
    CHECK_OK(zoolock_session_on_state(session, keep_state, &states, &err), err);
    int server = control_server_of(zoolock_session_id(session));
    control_do("freeze client %d", server);
    await_state(&states, ZOOLOCK_SESSION_STATE_CONNECTED, 1);
    CHECK(zoolock_guard_is_held(guard));
    CHECK_INT(1, event_count(&states.each[ZOOLOCK_SESSION_STATE_SUSPENDED]));
    control_do("thaw client %d", server);
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r04_an_expired_session_loses_its_locks_and_a_new_one_follows(void)
{
    zoolock_session *session = connect_to_ensemble();
    int64_t id = zoolock_session_id(session);
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    struct event lost = EVENT_INITIALIZER;
    struct states states;
    states_init(&states);
    CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &lost, &err), err);
    CHECK_OK(zoolock_session_on_state(session, keep_state, &states, &err), err);
    control_do("expire 0x%llx", (unsigned long long)id);
    event_await(&lost, 1);
    await_state(&states, ZOOLOCK_SESSION_STATE_EXPIRED, 1);
    await_state(&states, ZOOLOCK_SESSION_STATE_CONNECTED, 1);
    CHECK(zoolock_session_id(session) != id);
    zoolock_status status = zoolock_guard_ensure_held(guard, &err);
    CHECK_INT(ZOOLOCK_SESSION_EXPIRED, zoolock_error_status(zoolock_error_cause(err)));
    CHECK_STATUS(ZOOLOCK_LOCK_LOST, status, err);
    CHECK_STATUS(ZOOLOCK_LOCK_LOST, zoolock_guard_release(guard, &err), err);
    release(lock_mutex(mutex));
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r06_a_time_out_holds_while_no_server_answers(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = NULL;
    control_do("freeze client all");
    CHECK_STATUS(ZOOLOCK_TIMEOUT, zoolock_mutex_lock(mutex, 500, NULL, &guard, &err), err);
    CHECK(guard == NULL);
    /* With no connection the error says so; somebody else's lock is another matter. */
    EVENTUALLY(zoolock_session_state(session) == ZOOLOCK_SESSION_STATE_SUSPENDED);
    zoolock_status status = zoolock_mutex_lock(mutex, 300, NULL, &guard, &err);
    CHECK_INT(ZOOLOCK_TIMEOUT, zoolock_error_status(err));
    const zoolock_error *cause = zoolock_error_cause(err);
    CHECK_INT(ZOOLOCK_UNAVAILABLE, zoolock_error_status(cause));
    CHECK(zoolock_error_cause(cause) == NULL);
    CHECK_STATUS(ZOOLOCK_TIMEOUT, status, err);
    /* A close does not wait for servers either. */
    CHECK_OK(zoolock_session_close(session, 100, &err), err);
    control_do("thaw client all");
    zoolock_mutex_free(mutex);
    zoolock_session_free(session);
}

static const struct test tests[] = {
    TEST(r04_a_frozen_ensemble_loses_the_lock_and_tells_once),
    TEST(r04_nothing_is_told_after_a_release),
    TEST(r04_a_contender_removed_by_another_is_a_lost_lock),
    TEST(r16_a_reset_connection_is_suspended_then_connected_and_the_lock_stays),
    TEST(r16_a_killed_server_costs_a_fail_over_and_not_the_session),
    TEST(r16_a_frozen_server_costs_a_fail_over_and_not_the_lock),
    TEST(r04_an_expired_session_loses_its_locks_and_a_new_one_follows),
    TEST(r06_a_time_out_holds_while_no_server_answers),
};

HARNESS_MAIN(tests)
