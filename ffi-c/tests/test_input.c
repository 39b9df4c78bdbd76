/* Bad input: an error that names the argument, before anything is sent. */
#include "support.h"

#include <limits.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static zoolock_error *err;

static void refuses_hosts(const char *hosts)
{
    zoolock_session *session = NULL;
    zoolock_status status = zoolock_session_connect(hosts, NULL, &session, &err);
    if (status != ZOOLOCK_INVALID_ARGUMENT)
        FAIL("\"%s\" is %s", hosts, zoolock_status_name(status));
    CHECK_TEXT("connect", zoolock_error_operation(err));
    CHECK(zoolock_error_path(err) == NULL);
    CHECK(session == NULL);
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "hosts: ", status, err);
}

static void r20_bad_connect_strings(void)
{
    const char *const bad[] = {
        "",      " ",        ",",           "h:1,",        ",h:1",     "h:1,,h:2",  ":2181",
        "h:",    "h:0",      "h:65536",     "h:-1",        "h:two",    "h:2181x",   "h:1:2",
        "[::1",  "[::1]2181", "[::1]:",     "[]:2181",     "::1:2181", "h 1:2181",  "http://h:2181",
        "/a",    "h:1/a/",   "h:1//a",      "h:1/./a",     "h:1/../a", "h:1/a\x01", "h:1/\xff",
        "\xff:1",
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        refuses_hosts(bad[i]);
}

static void r20_bad_paths(void)
{
    const char *const bad[] = {"", "a", "/", "//", "/a/", "/a//b", "/.", "/a/./b", "/..", "/a/../b",
                               "/a\x01", "/\x7f", "/a\xff"};
    zoolock_session *session = connect_to_ensemble();
    for (size_t i = 0; i < COUNT(bad); i++) {
        zoolock_mutex *mutex = NULL;
        zoolock_reentrant *reentrant = NULL;
        zoolock_rwlock *rwlock = NULL;
        zoolock_status status = zoolock_mutex_new(session, bad[i], NULL, &mutex, &err);
        if (status != ZOOLOCK_INVALID_ARGUMENT)
            FAIL("\"%s\" is %s", bad[i], zoolock_status_name(status));
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "path: ", status, err);
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "path: ",
                    zoolock_reentrant_new(session, bad[i], NULL, &reentrant, &err), err);
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "path: ",
                    zoolock_rwlock_new(session, bad[i], NULL, &rwlock, &err), err);
        CHECK(mutex == NULL && reentrant == NULL && rwlock == NULL);
    }
    end_session(session);
}

static const int64_t bad_timeouts[] = {-2, -1000, INT64_MIN, INT64_MAX, 366LL * 11 * 86400 * 1000};

static void r20_bad_lock_timeouts(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_reentrant *reentrant = new_reentrant(session, path);
    zoolock_rwlock *rwlock = new_rwlock(session, path);
    zoolock_owner *owner = zoolock_owner_new();
    for (size_t i = 0; i < COUNT(bad_timeouts); i++) {
        int64_t bad = bad_timeouts[i];
        zoolock_guard *guard = NULL;
        zoolock_status status = zoolock_mutex_lock(mutex, bad, NULL, &guard, &err);
        CHECK_TEXT("lock", zoolock_error_operation(err));
        CHECK_TEXT(path, zoolock_error_path(err));
        CHECK(zoolock_error_cause(err) == NULL);
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "timeout_ms: ", status, err);
        status = zoolock_rwlock_read_owned(rwlock, owner, bad, NULL, &guard, &err);
        CHECK_TEXT("read", zoolock_error_operation(err));
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "timeout_ms: ", status, err);
        const zoolock_status others[] = {
            zoolock_reentrant_lock(reentrant, bad, NULL, &guard, NULL),
            zoolock_reentrant_lock_owned(reentrant, owner, bad, NULL, &guard, NULL),
            zoolock_rwlock_read(rwlock, bad, NULL, &guard, NULL),
            zoolock_rwlock_read_owned(rwlock, owner, bad, NULL, &guard, NULL),
            zoolock_rwlock_write(rwlock, bad, NULL, &guard, NULL),
            zoolock_rwlock_write_owned(rwlock, owner, bad, NULL, &guard, NULL),
            zoolock_session_close(session, bad, NULL),
        };
        for (size_t j = 0; j < COUNT(others); j++)
            CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, others[j]);
        CHECK(guard == NULL);
    }
    /* Nothing was sent, and the session is open still. */
    CHECK_INT(ZOOLOCK_SESSION_STATE_CONNECTED, zoolock_session_state(session));
    zoolock_owner_free(owner);
    zoolock_mutex_free(mutex);
    zoolock_reentrant_free(reentrant);
    zoolock_rwlock_free(rwlock);
    end_session(session);
}

static void r20_bad_timeout_of_an_asynchronous_call_comes_to_the_callback(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    for (size_t i = 0; i < COUNT(bad_timeouts); i++) {
        struct outcome outcome = OUTCOME_INITIALIZER;
        CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, bad_timeouts[i], NULL, keep_outcome,
                                                       &outcome));
        await_outcome(&outcome, ZOOLOCK_INVALID_ARGUMENT);
        CHECK(strstr(outcome.message, "timeout_ms: ") != NULL);
    }
    zoolock_mutex_free(mutex);
    end_session(session);
}

/* Connects to nowhere with options that have to be refused before that is noticed. */
static void refuses_options(zoolock_session_options *options, const char *contained)
{
    zoolock_session *session = NULL;
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, contained,
                zoolock_session_connect("h.invalid:1", options, &session, &err), err);
    CHECK(session == NULL);
    zoolock_session_options_free(options);
}

static void r20_bad_session_options_are_told_by_setter_and_connect(void)
{
    zoolock_session_options *o;
    for (size_t i = 0; i < COUNT(bad_timeouts); i++) {
        o = zoolock_session_options_new();
        CHECK_INT(ZOOLOCK_INVALID_ARGUMENT,
                  zoolock_session_options_set_session_timeout_ms(o, bad_timeouts[i]));
        refuses_options(o, "session_timeout_ms: ");
        o = zoolock_session_options_new();
        CHECK_INT(ZOOLOCK_INVALID_ARGUMENT,
                  zoolock_session_options_set_connect_timeout_ms(o, bad_timeouts[i]));
        refuses_options(o, "connect_timeout_ms: ");
        o = zoolock_session_options_new();
        CHECK_INT(ZOOLOCK_INVALID_ARGUMENT,
                  zoolock_session_options_set_backoff_fixed(o, bad_timeouts[i], -1));
        refuses_options(o, "backoff delay_ms: ");
        o = zoolock_session_options_new();
        CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, zoolock_session_options_set_backoff_exponential(
                                                o, 10, bad_timeouts[i], -1));
        refuses_options(o, "backoff max_ms: ");
    }
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, zoolock_session_options_set_backoff_fixed(o, 10, -2));
    refuses_options(o, "backoff retries: ");
    const int32_t none[] = {-1, 2, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT(none); i++) {
        o = zoolock_session_options_new();
        CHECK_INT(ZOOLOCK_INVALID_ARGUMENT,
                  zoolock_session_options_set_lease_confirmation(o, none[i]));
        refuses_options(o, "lease_confirmation: ");
    }
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, zoolock_session_options_set_identity(o, "\xff"));
    refuses_options(o, "identity: is not valid UTF-8");
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, zoolock_session_options_add_auth(o, "\xff", "a"));
    refuses_options(o, "auth scheme: is not valid UTF-8");
}

static void r20_bad_session_options_are_told_by_connect(void)
{
    zoolock_session_options *o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_session_timeout_ms(o, 0));
    refuses_options(o, "session_timeout: ");
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_connect_timeout_ms(o, 0));
    refuses_options(o, "connect_timeout: ");
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_backoff_exponential(o, 20, 10, -1));
    refuses_options(o, "backoff: ");
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_acl_creator(o));
    refuses_options(o, "acl: ");
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_add_acl_entry(o, 0, "world", "anyone"));
    refuses_options(o, "acl: ");
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_add_acl_entry(o, 32, "world", "anyone"));
    refuses_options(o, "acl: ");
    o = zoolock_session_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_add_auth(o, "", "secret"));
    refuses_options(o, "auth: ");
}

static void r20_an_option_set_anew_is_good_again(void)
{
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_INVALID_ARGUMENT,
              zoolock_session_options_set_session_timeout_ms(options, -5));
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_session_timeout_ms(options, SESSION_MS));
    end_session(connect_with(options));
}

static void r20_tls_options_are_checked(void)
{
    const struct {
        zoolock_status (*set)(zoolock_session_options *, const char *);
        const char *argument;
    } files[] = {
        {zoolock_session_options_set_tls_ca, "tls.ca"},
        {zoolock_session_options_set_tls_cert, "tls.key"},
        {zoolock_session_options_set_tls_key, "tls.cert"},
    };
    zoolock_session *session = NULL;
    for (size_t i = 0; i < COUNT(files); i++) {
        zoolock_session_options *options = session_options();
        CHECK_INT(ZOOLOCK_OK, files[i].set(options, "missing.pem"));
        CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, files[i].argument,
                    zoolock_session_connect(environment("ZOOLOCK_TEST_HOSTS"), options, &session,
                                            &err),
                    err);
        CHECK(session == NULL);
        CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_tls(options, false));
        end_session(connect_with(options));
    }
    /* These servers do not speak it. */
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_tls(options, true));
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_tls_check_server_name(options, false));
    CHECK_ERROR(ZOOLOCK_UNAVAILABLE, "TLS",
                zoolock_session_connect(environment("ZOOLOCK_TEST_HOSTS"), options, &session, &err),
                err);
    CHECK(session == NULL);
    zoolock_session_options_free(options);
}

static void r20_bad_lock_options(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = NULL;
    zoolock_reentrant *reentrant = NULL;
    zoolock_rwlock *rwlock = NULL;
    zoolock_lock_options *options = zoolock_lock_options_new();
    CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, zoolock_lock_options_set_naming(options, 2));
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "mutex: naming: ",
                zoolock_mutex_new(session, "/a", options, &mutex, &err), err);
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "reentrant_mutex: naming: ",
                zoolock_reentrant_new(session, "/a", options, &reentrant, &err), err);
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "rwlock: naming: ",
                zoolock_rwlock_new(session, "/a", options, &rwlock, &err), err);
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_naming(options, ZOOLOCK_NAMING_CURATOR));
    static char much[512 * 1024 + 1];
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_data(options, much, sizeof much));
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "data: ",
                zoolock_mutex_new(session, "/a", options, &mutex, &err), err);
    CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, zoolock_lock_options_set_data(options, much, SIZE_MAX));
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "data: ",
                zoolock_mutex_new(session, "/a", options, &mutex, &err), err);
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_data(options, "ok", 2));
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_acl_creator(options));
    CHECK_ERROR(ZOOLOCK_INVALID_ARGUMENT, "acl: ",
                zoolock_mutex_new(session, "/a", options, &mutex, &err), err);
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_acl_open(options));
    CHECK_OK(zoolock_mutex_new(session, "/a", options, &mutex, &err), err);
    zoolock_mutex_free(mutex);
    zoolock_lock_options_free(options);
    end_session(session);
}

static void r20_no_server_is_unavailable_in_time(void)
{
    zoolock_session_options *options = session_options();
    zoolock_session *session = NULL;
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_connect_timeout_ms(options, 200));
    CHECK_STATUS(ZOOLOCK_UNAVAILABLE,
                 zoolock_session_connect(environment("ZOOLOCK_HOSTS"), options, &session, &err),
                 err);
    /* And when the rounds are used up, long before the time is. */
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_connect_timeout_ms(options, 3600 * 1000));
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_backoff_fixed(options, 1, 2));
    CHECK_STATUS(ZOOLOCK_UNAVAILABLE,
                 zoolock_session_connect(environment("ZOOLOCK_HOSTS"), options, &session, &err),
                 err);
    CHECK(session == NULL);
    zoolock_session_options_free(options);
}

static const struct test tests[] = {
    TEST(r20_bad_connect_strings),
    TEST(r20_bad_paths),
    TEST(r20_bad_lock_timeouts),
    TEST(r20_bad_timeout_of_an_asynchronous_call_comes_to_the_callback),
    TEST(r20_bad_session_options_are_told_by_setter_and_connect),
    TEST(r20_bad_session_options_are_told_by_connect),
    TEST(r20_an_option_set_anew_is_good_again),
    TEST(r20_tls_options_are_checked),
    TEST(r20_bad_lock_options),
    TEST(r20_no_server_is_unavailable_in_time),
};

HARNESS_MAIN(tests)
