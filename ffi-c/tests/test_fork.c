/* What a forked child finds. A child that fails a check exits with 1, one that hangs is killed by
 * its alarm; either fails the test. */
#include "control.h"
#include "support.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SECONDS 30

static zoolock_error *err;

/* Starts a child that an alarm ends; 0 in the child. */
static pid_t start_child(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        alarm(CHILD_SECONDS);
    return child;
}

static void await_child(pid_t child)
{
    int status;
    CHECK_INT(child, waitpid(child, &status, 0));
    if (WIFSIGNALED(status))
        FAIL("the child was ended by signal %d", WTERMSIG(status));
    CHECK_INT(0, WEXITSTATUS(status));
}

static void r18_an_inherited_guard_is_lost_and_the_parents_is_not(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *guard = lock_mutex(mutex);
    struct event lost_event = EVENT_INITIALIZER, parents = EVENT_INITIALIZER;
    CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &parents, &err), err);
    pid_t child = start_child();
    if (child == 0) {
        bool lost = false;
        CHECK(!zoolock_guard_is_held(guard));
        CHECK_INT(ZOOLOCK_GUARD_STATE_LOST, zoolock_guard_state(guard));
        CHECK_STATUS(ZOOLOCK_LOCK_LOST, zoolock_guard_ensure_held(guard, &err), err);
        CHECK_STATUS(ZOOLOCK_LOCK_LOST, zoolock_guard_release(guard, &err), err);
        CHECK_OK(zoolock_guard_wait_lost(guard, -1, &lost, &err), err);
        CHECK(lost);
        CHECK_OK(zoolock_guard_on_lost(guard, tell_event, &lost_event, &err), err);
        event_await(&lost_event, 1);
        CHECK_INT(0, event_count(&parents));
        zoolock_guard_free(guard);
        exit(0);
    }
    await_child(child);
    CHECK(zoolock_guard_is_held(guard));
    CHECK_INT(1, control_children(path));
    CHECK_INT(0, event_count(&parents));
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r18_inherited_session_and_lock_open_a_session_of_the_childs_own(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a"), *free_path = lock_path("b");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_mutex *other = new_mutex(session, free_path);
    zoolock_reentrant *reentrant = new_reentrant(session, lock_path("c"));
    int64_t id = zoolock_session_id(session);
    zoolock_guard *guard = lock_mutex(mutex);
    zoolock_guard *outer = NULL;
    CHECK_OK(zoolock_reentrant_lock(reentrant, PATIENCE_MS, NULL, &outer, &err), err);
    pid_t child = start_child();
    if (child == 0) {
        zoolock_guard *mine = NULL;
        CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_mutex_lock(mutex, 0, NULL, &mine, &err), err);
        /* The child's thread is nobody that the parent had. */
        CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_reentrant_lock(reentrant, 0, NULL, &mine, &err),
                     err);
        CHECK(zoolock_session_id(session) != id && zoolock_session_id(session) != 0);
        mine = lock_mutex(other);
        CHECK(zoolock_guard_is_held(mine));
        struct outcome outcome = OUTCOME_INITIALIZER;
        CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(other, 0, NULL, keep_outcome, &outcome));
        await_outcome(&outcome, ZOOLOCK_NOT_ACQUIRED);
        release(mine);
        zoolock_guard_free(guard);
        zoolock_guard_free(outer);
        zoolock_mutex_free(mutex);
        zoolock_mutex_free(other);
        zoolock_reentrant_free(reentrant);
        end_session(session);
        exit(0);
    }
    await_child(child);
    CHECK_INT(id, zoolock_session_id(session));
    CHECK_INT(ZOOLOCK_SESSION_STATE_CONNECTED, zoolock_session_state(session));
    CHECK(zoolock_guard_is_held(guard) && zoolock_guard_is_held(outer));
    CHECK_INT(0, control_children(free_path));
    release(guard);
    release(outer);
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(other);
    zoolock_reentrant_free(reentrant);
    end_session(session);
}

static void r18_a_child_that_closes_leaves_the_parents_session(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    pid_t child = start_child();
    if (child == 0) {
        end_session(session);
        zoolock_guard_free(guard);
        zoolock_mutex_free(mutex);
        exit(0);
    }
    await_child(child);
    CHECK(zoolock_guard_is_held(guard));
    CHECK_INT(ZOOLOCK_SESSION_STATE_CONNECTED, zoolock_session_state(session));
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r18_a_child_that_does_nothing_exits(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_guard *guard = lock_mutex(mutex);
    pid_t child = start_child();
    if (child == 0)
        exit(0);
    await_child(child);
    CHECK(zoolock_guard_is_held(guard));
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

struct hammer {
    zoolock_mutex *mutex;
    atomic_bool *stop;
    int grants;
};

static void *hammer(void *argument)
{
    struct hammer *hammer = argument;
    while (!atomic_load(hammer->stop)) {
        release(lock_mutex(hammer->mutex));
        hammer->grants++;
    }
    return NULL;
}

/* At whatever moment of the other threads' work the fork comes: no lock of theirs is taken. */
static void r18_forks_while_threads_lock(void)
{
    enum { FORKS = 10, THREADS = 2 };
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("b");
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    zoolock_mutex *childs = new_mutex(session, path);
    atomic_bool stop = false;
    struct hammer hammers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        hammers[i] = (struct hammer){mutex, &stop, 0};
        CHECK_INT(0, pthread_create(&threads[i], NULL, hammer, &hammers[i]));
    }
    for (int i = 0; i < FORKS; i++) {
        pid_t child = start_child();
        if (child == 0) {
            release(lock_mutex(childs));
            end_session(session);
            exit(0);
        }
        await_child(child);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        CHECK_INT(0, pthread_join(threads[i], NULL));
        CHECK(hammers[i].grants > 0);
    }
    CHECK_INT(ZOOLOCK_SESSION_STATE_CONNECTED, zoolock_session_state(session));
    CHECK_INT(0, control_children(path));
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(childs);
    end_session(session);
}

struct forked {
    pid_t child;
    zoolock_guard *guard;
    struct event done;
};

static void fork_and_return(zoolock_status status, zoolock_guard *guard,
                            const zoolock_error *error, void *userdata)
{
    struct forked *forked = userdata;
    (void)error;
    CHECK_INT(ZOOLOCK_OK, status);
    pid_t child = start_child();
    if (child == 0)
        return;
    forked->child = child;
    forked->guard = guard;
    event_happens(&forked->done);
}

/* Its only thread is the library's, and nobody there has a job for it. */
static void r18_a_child_that_returns_from_a_callback_ends(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    struct forked forked = {.done = EVENT_INITIALIZER};
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, NULL, fork_and_return, &forked));
    event_await(&forked.done, 1);
    await_child(forked.child);
    CHECK(zoolock_guard_is_held(forked.guard));
    release(forked.guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r18_an_inherited_cancel_handle_works(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *held = lock_mutex(mutex);
    zoolock_cancel *cancel = zoolock_cancel_new();
    struct outcome waiting = OUTCOME_INITIALIZER;
    CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, cancel, keep_outcome, &waiting));
    control_await_children(path, 2);
    pid_t child = start_child();
    if (child == 0) {
        struct waiter waiter = {.mutex = mutex, .timeout_ms = -1, .cancel = cancel};
        waiter_start(&waiter);
        control_await_children(path, 3);
        CHECK_INT(ZOOLOCK_OK, zoolock_cancel_cancel(cancel));
        waiter_join(&waiter, ZOOLOCK_CANCELLED);
        zoolock_cancel_free(cancel);
        end_session(session);
        exit(0);
    }
    await_child(child);
    CHECK(!zoolock_cancel_is_cancelled(cancel));
    CHECK_INT(0, event_count(&waiting.arrived));
    release(held);
    await_outcome(&waiting, ZOOLOCK_OK);
    release(waiting.guard);
    zoolock_cancel_free(cancel);
    zoolock_mutex_free(mutex);
    end_session(session);
}

/* A session so long that only an orderly end can be why its locks are free. */
static zoolock_session *connect_for_long(void)
{
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_session_timeout_ms(options, 60000));
    return connect_with(options);
}

static void r17_a_process_that_exits_frees_its_locks_at_once(void)
{
    const char *path = lock_path("a");
    pid_t child = start_child();
    if (child == 0) {
        zoolock_session *session = connect_for_long();
        (void)lock_mutex(new_mutex(session, path));
        CHECK_INT(1, control_children(path));
        exit(0);
    }
    await_child(child);
    CHECK_INT(0, control_children(path));
}

static void ignore_outcome(zoolock_status status, zoolock_guard *guard, const zoolock_error *error,
                           void *userdata)
{
    (void)status, (void)error, (void)userdata;
    zoolock_guard_free(guard);
}

static void r17_a_process_exits_in_the_midst_of_waiting_calls(void)
{
    const char *path = lock_path("a");
    pid_t child = start_child();
    if (child == 0) {
        zoolock_session *session = connect_for_long();
        zoolock_mutex *mutex = new_mutex(session, path);
        (void)lock_mutex(mutex);
        static struct waiter waiter;
        waiter = (struct waiter){.mutex = mutex, .timeout_ms = -1};
        waiter_start(&waiter);
        CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, NULL, ignore_outcome, NULL));
        control_await_children(path, 3);
        exit(0);
    }
    await_child(child);
    CHECK_INT(0, control_children(path));
}

static void exit_in_callback(zoolock_status status, zoolock_guard *guard,
                             const zoolock_error *error, void *userdata)
{
    (void)guard, (void)error, (void)userdata;
    exit(status == ZOOLOCK_OK ? 0 : 1);
}

static void r17_a_process_exits_from_a_callback(void)
{
    const char *path = lock_path("a");
    pid_t child = start_child();
    if (child == 0) {
        zoolock_mutex *mutex = new_mutex(connect_for_long(), path);
        CHECK_INT(ZOOLOCK_OK, zoolock_mutex_lock_async(mutex, -1, NULL, exit_in_callback, NULL));
        for (;;)
            pause();
    }
    await_child(child);
    CHECK_INT(0, control_children(path));
}

static void r18_a_child_leaves_its_parents_test_server_alone(void)
{
    zoolock_test_server *server = NULL;
    CHECK_OK(zoolock_test_server_start(NULL, &server, &err), err);
    zoolock_session *session = NULL;
    zoolock_session_options *options = session_options();
    CHECK_OK(zoolock_session_connect(zoolock_test_server_hosts(server), options, &session, &err),
             err);
    zoolock_session_options_free(options);
    zoolock_mutex *mutex = new_mutex(session, "/locks/a");
    zoolock_guard *guard = lock_mutex(mutex);
    pid_t child = start_child();
    if (child == 0) {
        CHECK_ERROR(ZOOLOCK_CLOSED, "belongs to the process that started it",
                    zoolock_test_server_expire_all(server, NULL, &err), err);
        CHECK_OK(zoolock_test_server_stop(server, &err), err);
        zoolock_test_server_free(server);
        exit(0);
    }
    await_child(child);
    CHECK_OK(zoolock_guard_ensure_held(guard, &err), err);
    release(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
    zoolock_test_server_free(server);
}

static const struct test tests[] = {
    TEST(r18_an_inherited_guard_is_lost_and_the_parents_is_not),
    TEST(r18_inherited_session_and_lock_open_a_session_of_the_childs_own),
    TEST(r18_a_child_that_closes_leaves_the_parents_session),
    TEST(r18_a_child_that_does_nothing_exits),
    TEST(r18_forks_while_threads_lock),
    TEST(r18_a_child_that_returns_from_a_callback_ends),
    TEST(r18_an_inherited_cancel_handle_works),
    TEST(r17_a_process_that_exits_frees_its_locks_at_once),
    TEST(r17_a_process_exits_in_the_midst_of_waiting_calls),
    TEST(r17_a_process_exits_from_a_callback),
    TEST(r18_a_child_leaves_its_parents_test_server_alone),
};

HARNESS_MAIN(tests)
