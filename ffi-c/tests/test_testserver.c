/* The server inside the program: what it is told to do, and what that does to locks. Needs no ensemble. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* Sessions expire in steps of it. */
#define TICK_MS 100
/* Short enough to wait for its end, long enough for a slow machine. */
#define SHORT_SESSION_MS 2000

static zoolock_error *err;

static zoolock_test_server *start_server(void)
{
    zoolock_test_server_options *options = zoolock_test_server_options_new();
    CHECK(options != NULL);
    CHECK_INT(ZOOLOCK_OK, zoolock_test_server_options_set_tick_ms(options, TICK_MS));
    zoolock_test_server *server = NULL;
    CHECK_OK(zoolock_test_server_start(options, &server, &err), err);
    CHECK(server != NULL);
    zoolock_test_server_options_free(options);
    return server;
}

static zoolock_session *connect_to(const zoolock_test_server *server)
{
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK,
              zoolock_session_options_set_session_timeout_ms(options, SHORT_SESSION_MS));
    zoolock_session *session = NULL;
    CHECK_OK(zoolock_session_connect(zoolock_test_server_hosts(server), options, &session, &err),
             err);
    zoolock_session_options_free(options);
    return session;
}

static void await_loss(zoolock_guard *guard)
{
    bool lost = false;
    CHECK_OK(zoolock_guard_wait_lost(guard, PATIENCE_MS, &lost, &err), err);
    CHECK(lost);
    CHECK(!zoolock_guard_is_held(guard));
    zoolock_guard_free(guard);
}

static void a_server_with_default_options_serves_locks(void)
{
    zoolock_test_server *server = NULL;
    CHECK_OK(zoolock_test_server_start(NULL, &server, &err), err);
    CHECK(strncmp("127.0.0.1:", zoolock_test_server_hosts(server), 10) == 0);
    zoolock_session *session = connect_to(server);
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    zoolock_guard *guard = lock_mutex(mutex);
    CHECK(zoolock_guard_fencing_token(guard) > 0);
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
    zoolock_test_server_free(server);
}

static void it_lists_its_sessions(void)
{
    zoolock_test_server *server = start_server();
    zoolock_session *session = connect_to(server);
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    zoolock_guard *guard = lock_mutex(mutex);
    zoolock_test_sessions *sessions = NULL;
    CHECK_OK(zoolock_test_server_sessions(server, &sessions, &err), err);
    CHECK_INT(1, zoolock_test_sessions_count(sessions));
    const zoolock_test_session *row = zoolock_test_sessions_get(sessions, 0);
    CHECK(row != NULL && zoolock_test_sessions_get(sessions, 1) == NULL);
    CHECK_INT(zoolock_session_id(session), row->id);
    CHECK_INT(SHORT_SESSION_MS, row->timeout_ms);
    CHECK(row->connected);
    CHECK_INT(1, row->ephemeral_count);
    CHECK_TEXT(zoolock_guard_node_path(guard), row->ephemerals[0]);
    zoolock_test_sessions_free(sessions);
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
    CHECK_OK(zoolock_test_server_sessions(server, &sessions, &err), err);
    CHECK_INT(0, zoolock_test_sessions_count(sessions));
    zoolock_test_sessions_free(sessions);
    zoolock_test_server_free(server);
}

static void r04_a_holder_whose_session_expires_is_told_and_the_next_gets_the_lock(void)
{
    zoolock_test_server *server = start_server();
    zoolock_session *session = connect_to(server), *other = connect_to(server);
    zoolock_mutex *mutex = new_mutex(session, "/locks/a"), *others = new_mutex(other, "/locks/a");
    zoolock_guard *guard = lock_mutex(mutex);
    struct waiter waiter = {.mutex = others, .timeout_ms = PATIENCE_MS};
    waiter_start(&waiter);
    bool found = false;
    CHECK_OK(zoolock_test_server_expire_session(server, zoolock_session_id(session), &found, &err),
             err);
    CHECK(found);
    await_loss(guard);
    waiter_join(&waiter, ZOOLOCK_OK);
    release(waiter.guard);
    CHECK_OK(zoolock_test_server_expire_session(server, 1, &found, &err), err);
    CHECK(!found);

    guard = lock_mutex(others);
    size_t count = 0;
    CHECK_OK(zoolock_test_server_expire_all(server, &count, &err), err);
    CHECK(count >= 1);
    await_loss(guard);
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(others);
    end_session(session);
    end_session(other);
    zoolock_test_server_free(server);
}

static void r03_a_holder_that_is_cut_off_loses_the_lock_by_its_own_clock(void)
{
    zoolock_test_server *server = start_server();
    zoolock_session *session = connect_to(server), *other = connect_to(server);
    zoolock_mutex *mutex = new_mutex(session, "/locks/a"), *others = new_mutex(other, "/locks/a");
    zoolock_guard *guard = lock_mutex(mutex);
    int64_t id = zoolock_session_id(session);
    bool found = false;
    CHECK_OK(zoolock_test_server_freeze_session(server, id, &found, &err), err);
    CHECK(found);
    await_loss(guard);
    /* Its session expires later, unheard of, and only then the lock is free. */
    guard = lock_mutex(others);
    CHECK_OK(zoolock_test_server_thaw_session(server, id, &found, &err), err);
    CHECK(found);
    CHECK_OK(zoolock_test_server_thaw_session(server, id, &found, &err), err);
    CHECK(!found);
    release(guard);
    CHECK_OK(zoolock_test_server_freeze_session(server, id, &found, &err), err);
    CHECK(!found);
    release(lock_mutex(mutex));
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(others);
    end_session(session);
    end_session(other);
    zoolock_test_server_free(server);
}

static void r16_a_cut_connection_costs_no_lock(void)
{
    zoolock_test_server *server = start_server();
    zoolock_session *session = connect_to(server);
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    zoolock_guard *guard = lock_mutex(mutex);
    int64_t id = zoolock_session_id(session);
    bool found = false;
    CHECK_OK(zoolock_test_server_cut_session(server, id, &found, &err), err);
    CHECK(found);
    EVENTUALLY(zoolock_session_state(session) == ZOOLOCK_SESSION_STATE_CONNECTED);
    size_t count = 0;
    EVENTUALLY(zoolock_test_server_cut_all(server, &count, NULL) == ZOOLOCK_OK && count == 1);
    CHECK_OK(zoolock_guard_release(guard, &err), err);
    zoolock_guard_free(guard);
    CHECK_INT(id, zoolock_session_id(session));
    zoolock_mutex_free(mutex);
    end_session(session);
    zoolock_test_server_free(server);
}

static void it_freezes_delays_and_refuses(void)
{
    zoolock_test_server *server = start_server();
    zoolock_session *session = connect_to(server);
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    CHECK_OK(zoolock_test_server_delay_answers(server, 100, &err), err);
    int64_t start = now_ms();
    zoolock_guard *guard = lock_mutex(mutex);
    CHECK(now_ms() - start >= 100);
    CHECK_OK(zoolock_test_server_delay_answers(server, 0, &err), err);
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "delay_ms: ",
                zoolock_test_server_delay_answers(server, -1, &err), err);
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "delay: ",
                zoolock_test_server_delay_answers(server, 3600001, &err), err);

    CHECK_OK(zoolock_test_server_freeze_all(server, &err), err);
    await_loss(guard);
    CHECK_OK(zoolock_test_server_thaw_all(server, &err), err);
    release(lock_mutex(mutex));

    CHECK_OK(zoolock_test_server_refuse_connections(server, &err), err);
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_connect_timeout_ms(options, 200));
    zoolock_session *late = NULL;
    CHECK_STATUS(ZOOLOCK_UNAVAILABLE,
                 zoolock_session_connect(zoolock_test_server_hosts(server), options, &late, &err),
                 err);
    CHECK_OK(zoolock_test_server_accept_connections(server, &err), err);
    CHECK_OK(zoolock_session_connect(zoolock_test_server_hosts(server), options, &late, &err), err);
    zoolock_session_options_free(options);
    zoolock_mutex_free(mutex);
    end_session(late);
    end_session(session);
    zoolock_test_server_free(server);
}

static void r20_bad_options(void)
{
    struct {
        const char *message;
        zoolock_status (*set)(zoolock_test_server_options *, int64_t);
        int64_t value;
    } const bad[] = {
        {"tick_ms: ", zoolock_test_server_options_set_tick_ms, -1},
        {"tick: ", zoolock_test_server_options_set_tick_ms, 9},
        {"tick: ", zoolock_test_server_options_set_tick_ms, 60001},
        {"min_session_timeout: ", zoolock_test_server_options_set_min_session_timeout_ms, 999},
        {"max_session_timeout: ", zoolock_test_server_options_set_max_session_timeout_ms, 999},
        {"container_check: ", zoolock_test_server_options_set_container_check_ms, 0},
    };
    zoolock_test_server *server = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        zoolock_test_server_options *options = zoolock_test_server_options_new();
        bad[i].set(options, bad[i].value);
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, bad[i].message,
                    zoolock_test_server_start(options, &server, &err), err);
        CHECK(server == NULL);
        zoolock_test_server_options_free(options);
    }
    zoolock_test_server_options *options = zoolock_test_server_options_new();
    CHECK_INT(ZOOLOCK_INVALID_ARGUMENT,
              zoolock_test_server_options_set_address(options, "localhost"));
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "address: \"localhost\" is no IP address",
                zoolock_test_server_start(options, &server, &err), err);
    /* Set well, the mistake is forgotten. The second server finds the port taken. */
    CHECK_INT(ZOOLOCK_OK, zoolock_test_server_options_set_address(options, "127.0.0.1"));
    zoolock_test_server *first = start_server();
    unsigned long port = strtoul(strchr(zoolock_test_server_hosts(first), ':') + 1, NULL, 10);
    CHECK_INT(ZOOLOCK_OK, zoolock_test_server_options_set_port(options, (uint16_t)port));
    CHECK_ERROR(ZOOLOCK_UNAVAILABLE, "cannot listen on 127.0.0.1:",
                zoolock_test_server_start(options, &server, &err), err);
    zoolock_test_server_free(first);
    CHECK_OK(zoolock_test_server_start(options, &server, &err), err);
    zoolock_test_server_options_free(options);
    zoolock_test_server_free(server);
}

static void a_stopped_server_is_closed(void)
{
    zoolock_test_server *server = start_server();
    zoolock_session *session = connect_to(server);
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    zoolock_guard *guard = lock_mutex(mutex);
    CHECK_OK(zoolock_test_server_stop(server, &err), err);
    CHECK_OK(zoolock_test_server_stop(server, &err), err);
    await_loss(guard);
    zoolock_test_sessions *sessions = NULL;
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_test_server_sessions(server, &sessions, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_test_server_expire_all(server, NULL, &err), err);
    CHECK_STATUS(ZOOLOCK_CLOSED, zoolock_test_server_accept_connections(server, &err), err);
    CHECK(zoolock_test_server_hosts(server) != NULL);
    zoolock_test_server_free(server);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static const struct test tests[] = {
    TEST(a_server_with_default_options_serves_locks),
    TEST(it_lists_its_sessions),
    TEST(r04_a_holder_whose_session_expires_is_told_and_the_next_gets_the_lock),
    TEST(r03_a_holder_that_is_cut_off_loses_the_lock_by_its_own_clock),
    TEST(r16_a_cut_connection_costs_no_lock),
    TEST(it_freezes_delays_and_refuses),
    TEST(r20_bad_options),
    TEST(a_stopped_server_is_closed),
};

HARNESS_MAIN(tests)
