/* Callbacks that call back into the API or never return, what they are given, and the log. Needs no ensemble. */
#include "support.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static zoolock_error *err;
static zoolock_test_server *server;

static void start_server(void)
{
    zoolock_test_server_options *options = zoolock_test_server_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_test_server_options_set_tick_ms(options, 100));
    CHECK_OK(zoolock_test_server_start(options, &server, &err), err);
    zoolock_test_server_options_free(options);
}

static zoolock_session *connect_to_server(void)
{
    if (server == NULL)
        start_server();
    zoolock_session_options *options = session_options();
    zoolock_session *session = NULL;
    CHECK_OK(zoolock_session_connect(zoolock_test_server_hosts(server), options, &session, &err),
             err);
    zoolock_session_options_free(options);
    return session;
}

static void expire(const zoolock_session *session)
{
    CHECK_OK(zoolock_test_server_expire_session(server, zoolock_session_id(session), NULL, &err),
             err);
}

static void cut(void)
{
    CHECK_OK(zoolock_test_server_cut_all(server, NULL, &err), err);
}

static size_t contenders(const zoolock_mutex *mutex)
{
    zoolock_contenders *list = NULL;
    CHECK_OK(zoolock_mutex_contenders(mutex, &list, &err), err);
    size_t count = zoolock_contenders_count(list);
    zoolock_contenders_free(list);
    return count;
}

/* What callbacks do, and tell. */
struct told {
    struct event called, freed, end;
    zoolock_guard *guard;
    zoolock_session *session;
    const zoolock_mutex *mutex;
    zoolock_status released, locked, closed;
    struct outcome later;
};

#define TOLD_INITIALIZER                                                                    \
    {.called = EVENT_INITIALIZER, .freed = EVENT_INITIALIZER, .end = EVENT_INITIALIZER, \
     .later = OUTCOME_INITIALIZER}

static void tell_called(void *userdata)
{
    event_happens(&((struct told *)userdata)->called);
}

static void tell_freed(void *userdata)
{
    event_happens(&((struct told *)userdata)->freed);
}

static void tell_state(zoolock_session_state_t state, void *userdata)
{
    if (state == ZOOLOCK_SESSION_STATE_CLOSED)
        tell_called(userdata);
}

static void userdata_is_freed_once_whether_the_callback_is_called_or_not(void)
{
    zoolock_session *session = connect_to_server();
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    struct told released = TOLD_INITIALIZER, dropped = TOLD_INITIALIZER, lost = TOLD_INITIALIZER,
                state = TOLD_INITIALIZER, refused = TOLD_INITIALIZER;
    zoolock_guard *guard = lock_mutex(mutex);
    CHECK_OK(zoolock_guard_on_lost_and_free(guard, tell_called, &released, tell_freed, &err), err);
    release(guard);
    event_await(&released.freed, 1);

    guard = lock_mutex(mutex);
    CHECK_OK(zoolock_guard_on_lost_and_free(guard, tell_called, &dropped, tell_freed, &err), err);
    zoolock_guard_free(guard);
    event_await(&dropped.freed, 1);

    guard = lock_mutex(mutex);
    CHECK_OK(zoolock_guard_on_lost_and_free(guard, tell_called, &lost, tell_freed, &err), err);
    CHECK_OK(zoolock_guard_on_lost_and_free(guard, tell_called, &lost, NULL, &err), err);
    CHECK_OK(zoolock_session_on_state_and_free(session, tell_state, &state, tell_freed, &err), err);
    CHECK_OK(zoolock_session_close(session, -1, &err), err);
    event_await(&lost.called, 2);
    event_await(&lost.freed, 1);
    event_await(&state.called, 1);
    event_await(&state.freed, 1);
    CHECK_STATUS(ZOOLOCK_CLOSED,
                 zoolock_session_on_state_and_free(session, tell_state, &refused, tell_freed, &err),
                 err);
    event_await(&refused.freed, 1);
    CHECK_STATUS(ZOOLOCK_INVALID_ARGUMENT,
                 zoolock_guard_on_lost_and_free(NULL, tell_called, &refused, tell_freed, &err), err);
    event_await(&refused.freed, 2);
    CHECK_INT(0, event_count(&released.called) + event_count(&dropped.called));
    CHECK_INT(3, event_count(&released.freed) + event_count(&dropped.freed) +
                     event_count(&lost.freed));
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    zoolock_session_free(session);
    zoolock_test_server_free(server);
}

static void call_back(void *userdata)
{
    struct told *told = userdata;
    zoolock_guard *guard = NULL;
    told->released = zoolock_guard_release(told->guard, NULL);
    zoolock_guard_free(told->guard);
    told->locked = zoolock_mutex_lock(told->mutex, PATIENCE_MS, NULL, &guard, NULL);
    /* A call whose callback comes after this one. */
    zoolock_mutex_lock_async(told->mutex, PATIENCE_MS, NULL, keep_outcome, &told->later);
    zoolock_guard_release(guard, NULL);
    zoolock_guard_free(guard);
    event_happens(&told->called);
}

static void a_loss_callback_may_release_and_lock(void)
{
    zoolock_session *session = connect_to_server();
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    struct told told = TOLD_INITIALIZER;
    told.mutex = mutex;
    told.guard = lock_mutex(mutex);
    CHECK_OK(zoolock_guard_on_lost(told.guard, call_back, &told, &err), err);
    expire(session);
    event_await(&told.called, 1);
    CHECK_INT(ZOOLOCK_LOCK_LOST, told.released);
    CHECK_INT(ZOOLOCK_OK, told.locked);
    await_outcome(&told.later, ZOOLOCK_OK);
    release(told.later.guard);
    zoolock_mutex_free(mutex);
    end_session(session);
    zoolock_test_server_free(server);
}

static void close_session(zoolock_session_state_t state, void *userdata)
{
    struct told *told = userdata;
    if (state == ZOOLOCK_SESSION_STATE_SUSPENDED) {
        told->closed = zoolock_session_close(told->session, -1, NULL);
        zoolock_session_free(told->session);
        event_happens(&told->called);
    }
}

static void r17_a_state_callback_may_close_and_free_its_session(void)
{
    zoolock_session *session = connect_to_server();
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    zoolock_guard *guard = lock_mutex(mutex);
    struct told told = TOLD_INITIALIZER;
    told.session = session;
    CHECK_OK(zoolock_session_on_state(session, close_session, &told, &err), err);
    cut();
    event_await(&told.called, 1);
    CHECK_INT(ZOOLOCK_OK, told.closed);
    CHECK_INT(ZOOLOCK_GUARD_STATE_LOST, zoolock_guard_state(guard));
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    zoolock_test_server_free(server);
}

static void never_return(void *userdata)
{
    struct told *told = userdata;
    event_happens(&told->called);
    event_await(&told->end, 1);
}

static void r03_a_callback_that_never_returns_costs_no_lock(void)
{
    zoolock_session *session = connect_to_server(), *theirs = connect_to_server();
    zoolock_mutex *mutex = new_mutex(session, "/locks/a"), *other = new_mutex(theirs, "/locks/b");
    zoolock_guard *held = lock_mutex(other), *guard = lock_mutex(mutex);
    struct told told = TOLD_INITIALIZER;
    CHECK_OK(zoolock_guard_on_lost(guard, never_return, &told, &err), err);
    expire(session);
    event_await(&told.called, 1);
    zoolock_guard_free(guard);
    /* Longer than any lease lives without being renewed (R3). */
    bool lost = true;
    CHECK_OK(zoolock_guard_wait_lost(held, SESSION_MS, &lost, &err), err);
    CHECK(!lost && zoolock_guard_is_held(held));
    guard = lock_mutex(mutex);
    struct waiter waiter = {.mutex = mutex, .timeout_ms = PATIENCE_MS};
    waiter_start(&waiter);
    EVENTUALLY(contenders(mutex) == 2);
    release(guard);
    waiter_join(&waiter, ZOOLOCK_OK);
    release(waiter.guard);
    release(held);
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(other);
    end_session(session);
    end_session(theirs);
    event_happens(&told.end);
    zoolock_test_server_free(server);
}

/* Lines of the log. */
struct lines {
    struct event logged, freed, failure;
    atomic_int lowest;
    atomic_bool foreign;
};

#define LINES_INITIALIZER \
    {.logged = EVENT_INITIALIZER, .freed = EVENT_INITIALIZER, .failure = EVENT_INITIALIZER}

static void keep_line(zoolock_log_level level, const char *target, const char *message,
                      void *userdata)
{
    struct lines *lines = userdata;
    if ((int)level > atomic_load(&lines->lowest))
        atomic_store(&lines->lowest, (int)level);
    if (strncmp(target, "zoolock", 7) != 0)
        atomic_store(&lines->foreign, true);
    event_happens(&lines->logged);
    if (strstr(message, "mine") != NULL && strstr(message, "why not") != NULL)
        event_happens(&lines->failure);
}

static void free_lines(void *userdata)
{
    event_happens(&((struct lines *)userdata)->freed);
}

static void the_log_goes_to_its_callback(void)
{
    zoolock_session *session = connect_to_server();
    struct lines lines = LINES_INITIALIZER;
    CHECK_OK(zoolock_set_log_callback(ZOOLOCK_LOG_LEVEL_INFO, keep_line, &lines, free_lines, &err),
             err);
    cut();
    event_await(&lines.logged, 1);
    CHECK_INT(ZOOLOCK_OK, zoolock_report_callback_failure("mine", "why not"));
    event_await(&lines.failure, 1);
    CHECK_OK(zoolock_set_log_callback(ZOOLOCK_LOG_LEVEL_OFF, NULL, NULL, NULL, &err), err);
    event_await(&lines.freed, 1);
    CHECK(atomic_load(&lines.lowest) <= ZOOLOCK_LOG_LEVEL_INFO);
    CHECK(!atomic_load(&lines.foreign));
    int before = event_count(&lines.logged);
    cut();
    end_session(session);
    CHECK_INT(before, event_count(&lines.logged));
    zoolock_test_server_free(server);
}

static void r20_a_bad_log_level_frees_the_userdata(void)
{
    struct lines lines = LINES_INITIALIZER;
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "level: 9 is no level",
                zoolock_set_log_callback(9, keep_line, &lines, free_lines, &err), err);
    event_await(&lines.freed, 1);
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "level: -1 is no level",
                zoolock_set_log_callback(-1, keep_line, &lines, NULL, &err), err);
    CHECK_OK(zoolock_set_log_callback(ZOOLOCK_LOG_LEVEL_TRACE, NULL, &lines, free_lines, &err), err);
    event_await(&lines.freed, 2);
    CHECK_INT(0, event_count(&lines.logged));
}

static const struct test tests[] = {
    TEST(userdata_is_freed_once_whether_the_callback_is_called_or_not),
    TEST(a_loss_callback_may_release_and_lock),
    TEST(r17_a_state_callback_may_close_and_free_its_session),
    TEST(r03_a_callback_that_never_returns_costs_no_lock),
    TEST(the_log_goes_to_its_callback),
    TEST(r20_a_bad_log_level_frees_the_userdata),
};

HARNESS_MAIN(tests)
