/* NULL for every pointer argument of every function: an error that names the argument, no crash.
 * test.sh checks that no function of the header is missing here. */
#include "support.h"

#include <string.h>

#define IS_NULL(argument, call) CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, argument ": is NULL", call, err)
#define REFUSED(call) CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, call)

static zoolock_error *err;

static void unexpected(zoolock_status status, zoolock_guard *guard, const zoolock_error *error,
                       void *userdata)
{
    (void)status, (void)guard, (void)error;
    event_happens(userdata);
}

static void r20_null_session_arguments(void)
{
    zoolock_session *session = connect_to_ensemble();
    IS_NULL("session", zoolock_session_connect(NULL, NULL, NULL, &err));
    IS_NULL("session", zoolock_session_close(NULL, 0, &err));
    IS_NULL("session", zoolock_session_on_state(NULL, NULL, NULL, &err));
    IS_NULL("callback", zoolock_session_on_state(session, NULL, NULL, &err));
    IS_NULL("session", zoolock_session_on_state_and_free(NULL, NULL, NULL, NULL, &err));
    IS_NULL("callback", zoolock_session_on_state_and_free(session, NULL, NULL, NULL, &err));
    CHECK_INT(ZOOLOCK_SESSION_STATE_INVALID, zoolock_session_state(NULL));
    CHECK_INT(0, zoolock_session_id(NULL));
    CHECK_INT(0, zoolock_session_negotiated_timeout_ms(NULL));
    zoolock_session_free(NULL);
    end_session(session);
}

static void r20_null_hosts_are_the_default(void)
{
    /* test.sh puts an address there on which nothing listens. */
    zoolock_session_options *options = session_options();
    REFUSED(zoolock_session_options_set_connect_timeout_ms(NULL, 1));
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_connect_timeout_ms(options, 300));
    zoolock_session *session = NULL;
    CHECK_STATUS(ZOOLOCK_UNAVAILABLE, zoolock_session_connect(NULL, options, &session, &err), err);
    CHECK(session == NULL);
    zoolock_session_options_free(options);
}

static void r20_null_session_options(void)
{
    REFUSED(zoolock_session_options_set_session_timeout_ms(NULL, 1));
    REFUSED(zoolock_session_options_set_connect_timeout_ms(NULL, 1));
    REFUSED(zoolock_session_options_add_auth(NULL, "digest", "a:b"));
    REFUSED(zoolock_session_options_set_acl_open(NULL));
    REFUSED(zoolock_session_options_set_acl_creator(NULL));
    REFUSED(zoolock_session_options_add_acl_entry(NULL, 1, "world", "anyone"));
    REFUSED(zoolock_session_options_set_identity(NULL, "me"));
    REFUSED(zoolock_session_options_set_exclusive(NULL, true));
    REFUSED(zoolock_session_options_set_backoff_exponential(NULL, 1, 2, -1));
    REFUSED(zoolock_session_options_set_backoff_fixed(NULL, 1, -1));
    REFUSED(zoolock_session_options_set_lease_confirmation(NULL, 0));
    REFUSED(zoolock_session_options_set_tls(NULL, true));
    REFUSED(zoolock_session_options_set_tls_ca(NULL, "file"));
    REFUSED(zoolock_session_options_set_tls_cert(NULL, "file"));
    REFUSED(zoolock_session_options_set_tls_key(NULL, "file"));
    REFUSED(zoolock_session_options_set_tls_check_server_name(NULL, true));
    zoolock_session_options_free(NULL);
}

/* A setter's NULL is also told by the connect. */
static void r20_null_values_of_session_options(void)
{
    struct {
        const char *argument;
        zoolock_status (*set)(zoolock_session_options *, const char *);
    } const one[] = {
        {"identity: is NULL", zoolock_session_options_set_identity},
        {"tls_ca: is NULL", zoolock_session_options_set_tls_ca},
        {"tls_cert: is NULL", zoolock_session_options_set_tls_cert},
        {"tls_key: is NULL", zoolock_session_options_set_tls_key},
    };
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        zoolock_session_options *options = zoolock_session_options_new();
        zoolock_session *session = NULL;
        REFUSED(one[i].set(options, NULL));
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, one[i].argument,
                    zoolock_session_connect("h:1", options, &session, &err), err);
        zoolock_session_options_free(options);
    }
    const char *const halves[][2] = {{NULL, "a"}, {"a", NULL}, {NULL, NULL}};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        zoolock_session_options *options = zoolock_session_options_new();
        zoolock_session *session = NULL;
        REFUSED(zoolock_session_options_add_auth(options, halves[i][0], halves[i][1]));
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, ": is NULL",
                    zoolock_session_connect("h:1", options, &session, &err), err);
        zoolock_session_options_free(options);

        options = zoolock_session_options_new();
        REFUSED(zoolock_session_options_add_acl_entry(options, 1, halves[i][0], halves[i][1]));
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, ": is NULL",
                    zoolock_session_connect("h:1", options, &session, &err), err);
        zoolock_session_options_free(options);
    }
}

static void r20_null_lock_options(void)
{
    REFUSED(zoolock_lock_options_set_naming(NULL, ZOOLOCK_NAMING_KAZOO));
    REFUSED(zoolock_lock_options_set_keep_ms(NULL, 5000));
    REFUSED(zoolock_lock_options_set_data(NULL, "data", 4));
    REFUSED(zoolock_lock_options_set_acl_open(NULL));
    REFUSED(zoolock_lock_options_set_acl_creator(NULL));
    REFUSED(zoolock_lock_options_add_acl_entry(NULL, 1, "world", "anyone"));
    zoolock_lock_options *options = zoolock_lock_options_new();
    REFUSED(zoolock_lock_options_set_data(options, NULL, 1));
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_data(options, NULL, 0));
    REFUSED(zoolock_lock_options_add_acl_entry(options, 1, NULL, "anyone"));
    REFUSED(zoolock_lock_options_add_acl_entry(options, 1, "world", NULL));
    zoolock_lock_options_free(options);
    zoolock_lock_options_free(NULL);
}

static void r20_null_mutex_arguments(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = NULL;
    zoolock_guard *guard = NULL;
    zoolock_contenders *contenders = NULL;
    zoolock_statistics statistics;
    struct event called = EVENT_INITIALIZER;
    IS_NULL("session", zoolock_mutex_new(NULL, "/a", NULL, &mutex, &err));
    IS_NULL("path", zoolock_mutex_new(session, NULL, NULL, &mutex, &err));
    IS_NULL("mutex", zoolock_mutex_new(session, "/a", NULL, NULL, &err));
    IS_NULL("mutex", zoolock_mutex_lock(NULL, 0, NULL, &guard, &err));
    IS_NULL("mutex", zoolock_mutex_contenders(NULL, &contenders, &err));
    IS_NULL("mutex", zoolock_mutex_statistics(NULL, &statistics, &err));
    mutex = new_mutex(session, lock_path("a"));
    IS_NULL("guard", zoolock_mutex_lock(mutex, 0, NULL, NULL, &err));
    IS_NULL("contenders", zoolock_mutex_contenders(mutex, NULL, &err));
    IS_NULL("statistics", zoolock_mutex_statistics(mutex, NULL, &err));
    REFUSED(zoolock_mutex_lock_async(NULL, 0, NULL, unexpected, &called));
    REFUSED(zoolock_mutex_lock_async(mutex, 0, NULL, NULL, &called));
    CHECK_INT(0, event_count(&called));
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(NULL);
    end_session(session);
}

static void r20_null_reentrant_arguments(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_owner *owner = zoolock_owner_new();
    zoolock_reentrant *reentrant = NULL;
    zoolock_guard *guard = NULL;
    zoolock_contenders *contenders = NULL;
    zoolock_statistics statistics;
    struct event called = EVENT_INITIALIZER;
    IS_NULL("session", zoolock_reentrant_new(NULL, "/a", NULL, &reentrant, &err));
    IS_NULL("path", zoolock_reentrant_new(session, NULL, NULL, &reentrant, &err));
    IS_NULL("reentrant", zoolock_reentrant_new(session, "/a", NULL, NULL, &err));
    IS_NULL("reentrant", zoolock_reentrant_lock(NULL, 0, NULL, &guard, &err));
    IS_NULL("reentrant", zoolock_reentrant_lock_owned(NULL, owner, 0, NULL, &guard, &err));
    IS_NULL("reentrant", zoolock_reentrant_contenders(NULL, &contenders, &err));
    IS_NULL("reentrant", zoolock_reentrant_statistics(NULL, &statistics, &err));
    reentrant = new_reentrant(session, lock_path("a"));
    IS_NULL("guard", zoolock_reentrant_lock(reentrant, 0, NULL, NULL, &err));
    IS_NULL("owner", zoolock_reentrant_lock_owned(reentrant, NULL, 0, NULL, &guard, &err));
    IS_NULL("guard", zoolock_reentrant_lock_owned(reentrant, owner, 0, NULL, NULL, &err));
    IS_NULL("contenders", zoolock_reentrant_contenders(reentrant, NULL, &err));
    IS_NULL("statistics", zoolock_reentrant_statistics(reentrant, NULL, &err));
    REFUSED(zoolock_reentrant_lock_owned_async(NULL, owner, 0, NULL, unexpected, &called));
    REFUSED(zoolock_reentrant_lock_owned_async(reentrant, NULL, 0, NULL, unexpected, &called));
    REFUSED(zoolock_reentrant_lock_owned_async(reentrant, owner, 0, NULL, NULL, &called));
    CHECK_INT(0, event_count(&called));
    zoolock_reentrant_free(reentrant);
    zoolock_reentrant_free(NULL);
    zoolock_owner_free(owner);
    zoolock_owner_free(NULL);
    end_session(session);
}

static void r20_null_rwlock_arguments(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_owner *owner = zoolock_owner_new();
    zoolock_rwlock *rwlock = NULL;
    zoolock_guard *guard = NULL;
    zoolock_contenders *contenders = NULL;
    zoolock_statistics statistics;
    struct event called = EVENT_INITIALIZER;
    IS_NULL("session", zoolock_rwlock_new(NULL, "/a", NULL, &rwlock, &err));
    IS_NULL("path", zoolock_rwlock_new(session, NULL, NULL, &rwlock, &err));
    IS_NULL("rwlock", zoolock_rwlock_new(session, "/a", NULL, NULL, &err));
    IS_NULL("rwlock", zoolock_rwlock_read(NULL, 0, NULL, &guard, &err));
    IS_NULL("rwlock", zoolock_rwlock_write(NULL, 0, NULL, &guard, &err));
    IS_NULL("rwlock", zoolock_rwlock_read_owned(NULL, owner, 0, NULL, &guard, &err));
    IS_NULL("rwlock", zoolock_rwlock_write_owned(NULL, owner, 0, NULL, &guard, &err));
    IS_NULL("rwlock", zoolock_rwlock_contenders(NULL, &contenders, &err));
    IS_NULL("rwlock", zoolock_rwlock_statistics(NULL, &statistics, &err));
    rwlock = new_rwlock(session, lock_path("a"));
    IS_NULL("guard", zoolock_rwlock_read(rwlock, 0, NULL, NULL, &err));
    IS_NULL("guard", zoolock_rwlock_write(rwlock, 0, NULL, NULL, &err));
    IS_NULL("owner", zoolock_rwlock_read_owned(rwlock, NULL, 0, NULL, &guard, &err));
    IS_NULL("owner", zoolock_rwlock_write_owned(rwlock, NULL, 0, NULL, &guard, &err));
    IS_NULL("guard", zoolock_rwlock_read_owned(rwlock, owner, 0, NULL, NULL, &err));
    IS_NULL("guard", zoolock_rwlock_write_owned(rwlock, owner, 0, NULL, NULL, &err));
    IS_NULL("contenders", zoolock_rwlock_contenders(rwlock, NULL, &err));
    IS_NULL("statistics", zoolock_rwlock_statistics(rwlock, NULL, &err));
    REFUSED(zoolock_rwlock_read_owned_async(NULL, owner, 0, NULL, unexpected, &called));
    REFUSED(zoolock_rwlock_read_owned_async(rwlock, NULL, 0, NULL, unexpected, &called));
    REFUSED(zoolock_rwlock_read_owned_async(rwlock, owner, 0, NULL, NULL, &called));
    REFUSED(zoolock_rwlock_write_owned_async(NULL, owner, 0, NULL, unexpected, &called));
    REFUSED(zoolock_rwlock_write_owned_async(rwlock, NULL, 0, NULL, unexpected, &called));
    REFUSED(zoolock_rwlock_write_owned_async(rwlock, owner, 0, NULL, NULL, &called));
    CHECK_INT(0, event_count(&called));
    zoolock_rwlock_free(rwlock);
    zoolock_rwlock_free(NULL);
    zoolock_owner_free(owner);
    end_session(session);
}

static void r20_null_guard_arguments(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    bool lost = true;
    CHECK_INT(-1, zoolock_guard_fencing_token(NULL));
    CHECK_INT(0, (int64_t)zoolock_guard_grant_count(NULL));
    CHECK(!zoolock_guard_is_held(NULL));
    CHECK_INT(ZOOLOCK_GUARD_STATE_INVALID, zoolock_guard_state(NULL));
    CHECK(zoolock_guard_node_path(NULL) == NULL);
    CHECK(zoolock_guard_path(NULL) == NULL);
    IS_NULL("guard", zoolock_guard_ensure_held(NULL, &err));
    IS_NULL("guard", zoolock_guard_on_lost(NULL, tell_event, NULL, &err));
    IS_NULL("callback", zoolock_guard_on_lost(guard, NULL, NULL, &err));
    IS_NULL("guard", zoolock_guard_on_lost_and_free(NULL, tell_event, NULL, NULL, &err));
    IS_NULL("callback", zoolock_guard_on_lost_and_free(guard, NULL, NULL, NULL, &err));
    IS_NULL("guard", zoolock_guard_wait_lost(NULL, 0, &lost, &err));
    CHECK(!lost);
    IS_NULL("lost", zoolock_guard_wait_lost(guard, 0, NULL, &err));
    IS_NULL("guard", zoolock_guard_release(NULL, &err));
    zoolock_guard_free(NULL);
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r20_null_cancel_and_contenders(void)
{
    REFUSED(zoolock_cancel_cancel(NULL));
    CHECK(!zoolock_cancel_is_cancelled(NULL));
    zoolock_cancel_free(NULL);
    zoolock_cancel *cancel = zoolock_cancel_new();
    CHECK(cancel != NULL && !zoolock_cancel_is_cancelled(cancel));
    zoolock_cancel_free(cancel);
    CHECK_INT(0, zoolock_contenders_count(NULL));
    CHECK(zoolock_contenders_get(NULL, 0) == NULL);
    zoolock_contenders_free(NULL);
}

static void r20_null_holds_and_log(void)
{
    zoolock_holds *holds = NULL;
    zoolock_guard *guard = NULL;
    IS_NULL("holds", zoolock_holds_new("/a", NULL, &err));
    IS_NULL("path", zoolock_holds_new(NULL, &holds, &err));
    CHECK(holds == NULL);
    IS_NULL("holds", zoolock_holds_push(NULL, NULL, &err));
    IS_NULL("holds", zoolock_holds_current(NULL, &guard, &err));
    IS_NULL("holds", zoolock_holds_take(NULL, &guard, &err));
    CHECK_OK(zoolock_holds_new("/a", &holds, &err), err);
    IS_NULL("guard", zoolock_holds_push(holds, NULL, &err));
    IS_NULL("guard", zoolock_holds_current(holds, NULL, &err));
    IS_NULL("guard", zoolock_holds_take(holds, NULL, &err));
    CHECK_ERROR(ZOOLOCK_NOT_HELD, "/a", zoolock_holds_current(holds, &guard, &err), err);
    CHECK_ERROR(ZOOLOCK_NOT_HELD, "/a", zoolock_holds_take(holds, &guard, &err), err);
    CHECK(guard == NULL);
    zoolock_holds_free(holds);
    zoolock_holds_free(NULL);
    CHECK_OK(zoolock_set_log_callback(ZOOLOCK_LOG_LEVEL_WARN, NULL, NULL, NULL, &err), err);
    REFUSED(zoolock_report_callback_failure(NULL, "why"));
    REFUSED(zoolock_report_callback_failure("callback", NULL));
}

static void r20_null_test_server_arguments(void)
{
    zoolock_test_server *server = NULL;
    zoolock_test_sessions *sessions = NULL;
    bool found = true;
    size_t count = 1;
    IS_NULL("server", zoolock_test_server_start(NULL, NULL, &err));
    CHECK(zoolock_test_server_hosts(NULL) == NULL);
    IS_NULL("server", zoolock_test_server_sessions(NULL, &sessions, &err));
    IS_NULL("server", zoolock_test_server_expire_session(NULL, 1, &found, &err));
    CHECK(!found);
    IS_NULL("server", zoolock_test_server_expire_all(NULL, &count, &err));
    CHECK_INT(0, count);
    IS_NULL("server", zoolock_test_server_cut_session(NULL, 1, &found, &err));
    IS_NULL("server", zoolock_test_server_cut_all(NULL, &count, &err));
    IS_NULL("server", zoolock_test_server_freeze_session(NULL, 1, &found, &err));
    IS_NULL("server", zoolock_test_server_thaw_session(NULL, 1, &found, &err));
    IS_NULL("server", zoolock_test_server_freeze_all(NULL, &err));
    IS_NULL("server", zoolock_test_server_thaw_all(NULL, &err));
    IS_NULL("server", zoolock_test_server_delay_answers(NULL, 0, &err));
    IS_NULL("server", zoolock_test_server_refuse_connections(NULL, &err));
    IS_NULL("server", zoolock_test_server_accept_connections(NULL, &err));
    IS_NULL("server", zoolock_test_server_stop(NULL, &err));
    zoolock_test_server_free(NULL);
    CHECK_OK(zoolock_test_server_start(NULL, &server, &err), err);
    IS_NULL("sessions", zoolock_test_server_sessions(server, NULL, &err));
    CHECK_OK(zoolock_test_server_expire_session(server, 1, NULL, &err), err);
    CHECK_OK(zoolock_test_server_expire_all(server, NULL, &err), err);
    CHECK_OK(zoolock_test_server_cut_session(server, 1, NULL, &err), err);
    CHECK_OK(zoolock_test_server_cut_all(server, NULL, &err), err);
    CHECK_OK(zoolock_test_server_freeze_session(server, 1, NULL, &err), err);
    CHECK_OK(zoolock_test_server_thaw_session(server, 1, NULL, &err), err);
    CHECK_INT(ZOOLOCK_OK, zoolock_test_server_stop(server, NULL));
    zoolock_test_server_free(server);
    CHECK_INT(0, zoolock_test_sessions_count(NULL));
    CHECK(zoolock_test_sessions_get(NULL, 0) == NULL);
    zoolock_test_sessions_free(NULL);
}

static void r20_null_test_server_options(void)
{
    REFUSED(zoolock_test_server_options_set_address(NULL, "127.0.0.1"));
    REFUSED(zoolock_test_server_options_set_port(NULL, 1));
    REFUSED(zoolock_test_server_options_set_tick_ms(NULL, 100));
    REFUSED(zoolock_test_server_options_set_min_session_timeout_ms(NULL, 1000));
    REFUSED(zoolock_test_server_options_set_max_session_timeout_ms(NULL, 1000));
    REFUSED(zoolock_test_server_options_set_container_check_ms(NULL, 1000));
    zoolock_test_server_options_free(NULL);
    zoolock_test_server_options *options = zoolock_test_server_options_new();
    zoolock_test_server *server = NULL;
    REFUSED(zoolock_test_server_options_set_address(options, NULL));
    IS_NULL("address", zoolock_test_server_start(options, &server, &err));
    zoolock_test_server_options_free(options);
}

static void null_error_and_names(void)
{
    REFUSED(zoolock_error_status(NULL));
    CHECK_TEXT("", zoolock_error_message(NULL));
    CHECK_TEXT("", zoolock_error_operation(NULL));
    CHECK(zoolock_error_path(NULL) == NULL);
    CHECK(zoolock_error_cause(NULL) == NULL);
    zoolock_error_free(NULL);
    CHECK_TEXT("ZOOLOCK_OK", zoolock_status_name(ZOOLOCK_OK));
    CHECK_TEXT("ZOOLOCK_NOT_ACQUIRED", zoolock_status_name(ZOOLOCK_NOT_ACQUIRED));
    CHECK_TEXT("ZOOLOCK_INTERNAL", zoolock_status_name(ZOOLOCK_INTERNAL));
    CHECK_TEXT("unknown", zoolock_status_name(15));
    CHECK_TEXT("unknown", zoolock_status_name(-2));
    CHECK(strchr(zoolock_version(), '.') != NULL);
}

/* Every function that takes a place for an error goes without one. */
static void r20_err_may_be_null(void)
{
    zoolock_session *session = NULL;
    zoolock_mutex *mutex = NULL;
    zoolock_guard *guard = NULL;
    bool lost = false;
    REFUSED(zoolock_session_connect("", NULL, &session, NULL));
    CHECK(session == NULL);
    session = connect_to_ensemble();
    REFUSED(zoolock_mutex_new(session, "no slash", NULL, &mutex, NULL));
    mutex = new_mutex(session, lock_path("a"));
    REFUSED(zoolock_mutex_lock(mutex, -7, NULL, &guard, NULL));
    guard = lock_mutex(mutex);
    REFUSED(zoolock_guard_wait_lost(guard, -7, &lost, NULL));
    CHECK_INT(ZOOLOCK_OK, zoolock_guard_release(guard, NULL));
    CHECK_INT(ZOOLOCK_NOT_HELD, zoolock_guard_release(guard, NULL));
    CHECK_INT(ZOOLOCK_NOT_HELD, zoolock_guard_ensure_held(guard, NULL));
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    CHECK_INT(ZOOLOCK_OK, zoolock_session_close(session, 2000, NULL));
    zoolock_session_free(session);
}

static const struct test tests[] = {
    TEST(r20_null_session_arguments),
    TEST(r20_null_hosts_are_the_default),
    TEST(r20_null_session_options),
    TEST(r20_null_values_of_session_options),
    TEST(r20_null_lock_options),
    TEST(r20_null_mutex_arguments),
    TEST(r20_null_reentrant_arguments),
    TEST(r20_null_rwlock_arguments),
    TEST(r20_null_guard_arguments),
    TEST(r20_null_cancel_and_contenders),
    TEST(r20_null_holds_and_log),
    TEST(r20_null_test_server_arguments),
    TEST(r20_null_test_server_options),
    TEST(null_error_and_names),
    TEST(r20_err_may_be_null),
};

HARNESS_MAIN(tests)
