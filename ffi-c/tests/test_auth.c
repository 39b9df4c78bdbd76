/* Credentials and ACLs. */
#include "control.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static zoolock_error *err;

static zoolock_session *connect_as(const char *credentials)
{
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_add_auth(options, "digest", credentials));
    return connect_with(options);
}

/* Below no parent that another ACL was given to. */
static const char *own_root(void)
{
    static char path[256];
    snprintf(path, sizeof path, "/%s-%ld/a", harness_test(), (long)getpid());
    return path;
}

static void check_acl(const char *path, const char *expected)
{
    char *acl = control("acl %s", path);
    if (strstr(acl, expected) == NULL)
        FAIL("the ACL of %s is %s, without %s", path, acl, expected);
    free(acl);
}

static void with_credentials_nodes_are_the_creators(void)
{
    zoolock_session *session = connect_as("user:sesame");
    zoolock_mutex *mutex = new_mutex(session, own_root());
    zoolock_guard *guard = lock_mutex(mutex);
    control_denied("acl %s", own_root());
    control_denied("create %s/stranger", own_root());
    control_denied("set %s mine", zoolock_guard_node_path(guard));
    check_acl(zoolock_guard_node_path(guard),
              "\"admin\":true,\"create\":true,\"delete\":true,\"id\":\"user:");
    check_acl(zoolock_guard_node_path(guard), "\"id\":\"anyone\",\"read\":true");
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r20_a_session_without_credentials_gets_no_auth(void)
{
    zoolock_session *owner = connect_as("user:sesame");
    zoolock_mutex *mutex = new_mutex(owner, own_root());
    zoolock_guard *guard = lock_mutex(mutex);
    zoolock_session *strangers[] = {connect_to_ensemble(), connect_as("user:guess")};
    for (int i = 0; i < 2; i++) {
        zoolock_mutex *denied = new_mutex(strangers[i], own_root());
        zoolock_guard *none = NULL;
        zoolock_status status = zoolock_mutex_lock(denied, PATIENCE_MS, NULL, &none, &err);
        CHECK(strstr(zoolock_error_message(err), "CREATE") != NULL);
        CHECK_ERROR(ZOOLOCK_NO_AUTH, own_root(), status, err);
        CHECK(none == NULL);
        zoolock_mutex_free(denied);
        end_session(strangers[i]);
    }
    /* The same credentials on another session are let in. */
    zoolock_session *same = connect_as("user:sesame");
    zoolock_mutex *allowed = new_mutex(same, own_root());
    zoolock_guard *none = NULL;
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_mutex_lock(allowed, 0, NULL, &none, &err), err);
    release(guard);
    release(lock_mutex(allowed));
    zoolock_mutex_free(allowed);
    zoolock_mutex_free(mutex);
    end_session(same);
    end_session(owner);
}

static void a_lock_may_have_an_acl_of_its_own(void)
{
    zoolock_session *session = connect_as("user:sesame");
    zoolock_session *stranger = connect_to_ensemble();
    zoolock_lock_options *options = zoolock_lock_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_acl_open(options));
    zoolock_mutex *open = NULL;
    CHECK_OK(zoolock_mutex_new(session, own_root(), options, &open, &err), err);
    zoolock_lock_options_free(options);
    zoolock_guard *guard = lock_mutex(open);
    check_acl(zoolock_guard_node_path(guard), "\"id\":\"anyone\",\"read\":true");
    zoolock_mutex *theirs = new_mutex(stranger, own_root());
    zoolock_guard *none = NULL;
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_mutex_lock(theirs, 0, NULL, &none, &err), err);
    release(guard);
    release(lock_mutex(theirs));
    zoolock_mutex_free(open);
    zoolock_mutex_free(theirs);
    end_session(stranger);
    end_session(session);
}

static void a_list_of_entries_is_the_acl(void)
{
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_add_acl_entry(options, ZOOLOCK_PERMISSION_ALL,
                                                                "world", "anyone"));
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_add_acl_entry(
                              options, ZOOLOCK_PERMISSION_READ | ZOOLOCK_PERMISSION_WRITE, "digest",
                              "bob:l1M/zqcVDLXKkd9KEPpHUtCuNUM="));
    zoolock_session *session = connect_with(options);
    zoolock_mutex *mutex = new_mutex(session, own_root());
    zoolock_guard *guard = lock_mutex(mutex);
    check_acl(zoolock_guard_node_path(guard), "\"id\":\"anyone\"");
    check_acl(zoolock_guard_node_path(guard),
              "\"admin\":false,\"create\":false,\"delete\":false,\"id\":\"bob:");
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r19_credentials_are_in_no_error(void)
{
    zoolock_session_options *options = session_options();
    zoolock_session *session = NULL;
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_add_auth(options, "nosuch", "user:sesame"));
    zoolock_status status = zoolock_session_connect(environment("ZOOLOCK_TEST_HOSTS"), options,
                                                    &session, &err);
    CHECK(strstr(zoolock_error_message(err), "sesame") == NULL);
    CHECK_STATUS(ZOOLOCK_AUTH_FAILED, status, err);
    CHECK(session == NULL);
    zoolock_session_options_free(options);
}

static const struct test tests[] = {
    TEST(with_credentials_nodes_are_the_creators),
    TEST(r20_a_session_without_credentials_gets_no_auth),
    TEST(a_lock_may_have_an_acl_of_its_own),
    TEST(a_list_of_entries_is_the_acl),
    TEST(r19_credentials_are_in_no_error),
};

HARNESS_MAIN(tests)
