/* The plain mutex: exclusion, tokens, try, time-out, cancel, release. */
#include "control.h"
#include "support.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static zoolock_error *err;

static void r02_token_rises_from_grant_to_grant(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_mutex *mutex = new_mutex(session, lock_path("a"));
    int64_t last = 0;
    for (int i = 0; i < 5; i++) {
        zoolock_guard *guard = lock_mutex(mutex);
        int64_t token = zoolock_guard_fencing_token(guard);
        CHECK(token > last);
        last = token;
        release(guard);
    }
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void a_guard_tells_its_state_and_node(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *guard = lock_mutex(mutex);
    CHECK(zoolock_guard_is_held(guard));
    CHECK_INT(ZOOLOCK_GUARD_STATE_HELD, zoolock_guard_state(guard));
    CHECK_OK(zoolock_guard_ensure_held(guard, &err), err);
    const char *node = zoolock_guard_node_path(guard);
    CHECK(strncmp(node, path, strlen(path)) == 0 && strstr(node, "-lock-") != NULL);
    CHECK_TEXT(path, zoolock_guard_path(guard));
    char *seen = control("exists %s", node);
    CHECK(strstr(seen, "\"exists\":true") != NULL);
    free(seen);
    CHECK_OK(zoolock_guard_release(guard, &err), err);
    CHECK(!zoolock_guard_is_held(guard));
    CHECK_INT(ZOOLOCK_GUARD_STATE_RELEASED, zoolock_guard_state(guard));
    CHECK_STATUS(ZOOLOCK_NOT_HELD, zoolock_guard_ensure_held(guard, &err), err);
    CHECK_INT(0, control_children(path));
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void a_try_of_a_busy_mutex_is_not_acquired_and_no_error(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_session *other = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_mutex *same = new_mutex(other, path);
    zoolock_guard *held = lock_mutex(mutex);
    zoolock_guard *guard = held;
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_mutex_lock(same, 0, NULL, &guard, &err), err);
    CHECK(guard == NULL);
    /* The plain mutex is not re-entrant. */
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_mutex_lock(mutex, 0, NULL, &guard, &err), err);
    control_await_children(path, 1);
    release(held);
    CHECK_OK(zoolock_mutex_lock(same, 0, NULL, &guard, &err), err);
    release(guard);
    zoolock_mutex_free(mutex);
    zoolock_mutex_free(same);
    end_session(other);
    end_session(session);
}

static void r06_a_time_out_ends_the_wait_and_leaves_no_contender(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *held = lock_mutex(mutex);
    zoolock_guard *guard = NULL;
    int64_t began = now_ms();
    zoolock_status status = zoolock_mutex_lock(mutex, 300, NULL, &guard, &err);
    CHECK(now_ms() - began >= 300);
    CHECK_TEXT("lock", zoolock_error_operation(err));
    CHECK_TEXT(path, zoolock_error_path(err));
    CHECK_ERROR(ZOOLOCK_TIMEOUT, path, status, err);
    CHECK(guard == NULL);
    control_await_children(path, 1);
    CHECK(zoolock_guard_is_held(held));
    release(held);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r05_a_cancel_from_another_thread_leaves_no_contender(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *held = lock_mutex(mutex);
    zoolock_cancel *cancel = zoolock_cancel_new();
    struct waiter waiters[3];
    for (size_t i = 0; i < COUNT(waiters); i++) {
        waiters[i] = (struct waiter){.mutex = mutex, .timeout_ms = -1, .cancel = cancel};
        waiter_start(&waiters[i]);
    }
    control_await_children(path, 4);
    CHECK_INT(ZOOLOCK_OK, zoolock_cancel_cancel(cancel));
    for (size_t i = 0; i < COUNT(waiters); i++)
        waiter_join(&waiters[i], ZOOLOCK_CANCELLED);
    control_await_children(path, 1);
    /* It stays fired. */
    CHECK(zoolock_cancel_is_cancelled(cancel));
    zoolock_guard *guard = NULL;
    CHECK_STATUS(ZOOLOCK_CANCELLED, zoolock_mutex_lock(mutex, -1, cancel, &guard, &err), err);
    CHECK(guard == NULL);
    CHECK_INT(ZOOLOCK_OK, zoolock_cancel_cancel(cancel));
    zoolock_cancel_free(cancel);
    release(held);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r07_a_waiter_gets_the_lock_on_release(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *held = lock_mutex(mutex);
    struct waiter waiter = {.mutex = mutex, .timeout_ms = -1};
    waiter_start(&waiter);
    control_await_children(path, 2);
    int64_t token = zoolock_guard_fencing_token(held);
    release(held);
    waiter_join(&waiter, ZOOLOCK_OK);
    CHECK(zoolock_guard_fencing_token(waiter.guard) > token);
    release(waiter.guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r10_a_second_release_is_not_held_and_touches_nothing(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *first = lock_mutex(mutex);
    CHECK_OK(zoolock_guard_release(first, &err), err);
    zoolock_guard *second = lock_mutex(mutex);
    zoolock_status status = zoolock_guard_release(first, &err);
    CHECK_TEXT("release", zoolock_error_operation(err));
    CHECK_TEXT(path, zoolock_error_path(err));
    CHECK_STATUS(ZOOLOCK_NOT_HELD, status, err);
    CHECK(zoolock_guard_is_held(second));
    CHECK_INT(1, control_children(path));
    zoolock_guard_free(first);
    CHECK_INT(1, control_children(path));
    release(second);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void *release_on_a_thread(void *guard)
{
    release(guard);
    return NULL;
}

static void r10_release_from_another_thread(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard *guard = lock_mutex(mutex);
    pthread_t thread;
    CHECK_INT(0, pthread_create(&thread, NULL, release_on_a_thread, guard));
    CHECK_INT(0, pthread_join(thread, NULL));
    CHECK_INT(0, control_children(path));
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r10_free_without_release_releases_in_the_background(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_guard_free(lock_mutex(mutex));
    control_await_children(path, 0);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void a_guard_outlives_its_mutex_and_session_handle(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_session_free(session);
    zoolock_guard *guard = lock_mutex(mutex);
    CHECK(zoolock_guard_is_held(guard));
    release(guard);
    zoolock_mutex_free(mutex);
}

#define ROUNDS 100

struct counting {
    const zoolock_mutex *mutex;
    int *counter;
    int64_t *last_token;
};

/* Without the mutex, increments would be lost, and valgrind or a sanitizer would see the race. */
static void *count(void *argument)
{
    struct counting *counting = argument;
    for (int i = 0; i < ROUNDS; i++) {
        zoolock_guard *guard = lock_mutex(counting->mutex);
        int seen = *counting->counter;
        CHECK(zoolock_guard_fencing_token(guard) > *counting->last_token);
        *counting->last_token = zoolock_guard_fencing_token(guard);
        sched_yield();
        *counting->counter = seen + 1;
        release(guard);
    }
    return NULL;
}

static void r01_two_threads_hammer_one_mutex(void)
{
    zoolock_session *sessions[] = {connect_to_ensemble(), connect_to_ensemble()};
    const char *path = lock_path("a");
    int counter = 0;
    int64_t last_token = 0;
    struct counting counting[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        counting[i] = (struct counting){new_mutex(sessions[i], path), &counter, &last_token};
        CHECK_INT(0, pthread_create(&threads[i], NULL, count, &counting[i]));
    }
    for (int i = 0; i < 2; i++)
        CHECK_INT(0, pthread_join(threads[i], NULL));
    CHECK_INT(2 * ROUNDS, counter);
    CHECK_INT(0, control_children(path));
    for (int i = 0; i < 2; i++) {
        zoolock_mutex_free((zoolock_mutex *)counting[i].mutex);
        end_session(sessions[i]);
    }
}

static void contenders_show_who_queues(void)
{
    zoolock_session_options *options = session_options();
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_identity(options, "holder \xc3\xa9"));
    zoolock_session *session = connect_with(options);
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_contenders *list = NULL;
    CHECK_OK(zoolock_mutex_contenders(mutex, &list, &err), err);
    CHECK_INT(0, zoolock_contenders_count(list));
    CHECK(zoolock_contenders_get(list, 0) == NULL);
    zoolock_contenders_free(list);

    zoolock_guard *held = lock_mutex(mutex);
    struct waiter waiter = {.mutex = mutex, .timeout_ms = -1};
    waiter_start(&waiter);
    control_await_children(path, 2);
    CHECK_OK(zoolock_mutex_contenders(mutex, &list, &err), err);
    CHECK_INT(2, zoolock_contenders_count(list));
    const zoolock_contender *first = zoolock_contenders_get(list, 0);
    const zoolock_contender *second = zoolock_contenders_get(list, 1);
    CHECK(zoolock_contenders_get(list, 2) == NULL);
    CHECK_TEXT(zoolock_guard_node_path(held), first->node_path);
    CHECK_TEXT("holder \xc3\xa9", first->identity);
    CHECK_INT(zoolock_session_id(session), first->session_id);
    CHECK(first->holds && !second->holds);
    CHECK(first->sequence < second->sequence);
    zoolock_contenders_free(list);
    release(held);
    waiter_join(&waiter, ZOOLOCK_OK);
    release(waiter.guard);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void lock_options_name_nodes_and_give_them_data(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_lock_options *options = zoolock_lock_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_naming(options, ZOOLOCK_NAMING_KAZOO));
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_data(options, "job-7 and more", 5));
    zoolock_mutex *kazoo = NULL;
    CHECK_OK(zoolock_mutex_new(session, path, options, &kazoo, &err), err);
    zoolock_lock_options_free(options);
    zoolock_guard *guard = lock_mutex(kazoo);
    CHECK(strstr(zoolock_guard_node_path(guard), "__lock__") != NULL);
    char *node = control("get %s", zoolock_guard_node_path(guard));
    CHECK(strstr(node, "\"data\":\"job-7\"") != NULL);
    free(node);
    /* It excludes the other naming. */
    zoolock_mutex *curator = new_mutex(session, path);
    zoolock_guard *other = NULL;
    CHECK_STATUS(ZOOLOCK_NOT_ACQUIRED, zoolock_mutex_lock(curator, 0, NULL, &other, &err), err);
    release(guard);
    zoolock_mutex_free(kazoo);
    zoolock_mutex_free(curator);
    end_session(session);
}

static void r02_a_kept_contender_is_granted_again_and_the_pair_rises(void)
{
    zoolock_session *session = connect_to_ensemble();
    zoolock_session *other = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_lock_options *options = zoolock_lock_options_new();
    CHECK_INT(ZOOLOCK_OK, zoolock_lock_options_set_keep_ms(options, 60000));
    zoolock_mutex *mutex = NULL;
    CHECK_OK(zoolock_mutex_new(session, path, options, &mutex, &err), err);
    int64_t token = 0;
    for (int64_t count = 1; count <= 100; count++) {
        zoolock_guard *guard = lock_mutex(mutex);
        CHECK_INT(count, (int64_t)zoolock_guard_grant_count(guard));
        CHECK(count == 1 || token == zoolock_guard_fencing_token(guard));
        token = zoolock_guard_fencing_token(guard);
        release(guard);
    }
    CHECK_INT(1, control_children(path));
    /* Somebody else comes: it is given up. */
    zoolock_mutex *same = new_mutex(other, path);
    zoolock_guard *guard = lock_mutex(same);
    CHECK(zoolock_guard_fencing_token(guard) > token);
    CHECK_INT(1, (int64_t)zoolock_guard_grant_count(guard));
    release(guard);
    CHECK_INT(ZOOLOCK_INVALID_ARGUMENT, zoolock_lock_options_set_keep_ms(options, -1));
    zoolock_mutex *refused = NULL;
    CHECK_STATUS(ZOOLOCK_INVALID_ARGUMENT, zoolock_mutex_new(session, path, options, &refused, &err), err);
    zoolock_lock_options_free(options);
    zoolock_mutex_free(same);
    zoolock_mutex_free(mutex);
    end_session(other);
    end_session(session);
}

static void statistics_count(void)
{
    zoolock_session *session = connect_to_ensemble();
    const char *path = lock_path("a");
    zoolock_mutex *mutex = new_mutex(session, path);
    zoolock_statistics statistics;
    CHECK_OK(zoolock_mutex_statistics(mutex, &statistics, &err), err);
    CHECK_INT(0, statistics.acquisitions + statistics.timeouts + statistics.held_us);
    zoolock_guard *held = lock_mutex(mutex);
    zoolock_guard *guard = NULL;
    CHECK_STATUS(ZOOLOCK_TIMEOUT, zoolock_mutex_lock(mutex, 50, NULL, &guard, &err), err);
    struct waiter waiter = {.mutex = mutex, .timeout_ms = -1};
    waiter_start(&waiter);
    control_await_children(path, 2);
    release(held);
    waiter_join(&waiter, ZOOLOCK_OK);
    release(waiter.guard);
    CHECK_OK(zoolock_mutex_statistics(mutex, &statistics, &err), err);
    CHECK_INT(2, statistics.acquisitions);
    CHECK_INT(1, statistics.contended);
    CHECK_INT(1, statistics.timeouts);
    CHECK_INT(0, statistics.losses);
    CHECK(statistics.waited_us > 0);
    CHECK(statistics.held_us >= 50000);
    zoolock_mutex_free(mutex);
    end_session(session);
}

static void r16_equal_options_share_a_session(void)
{
    zoolock_session *pair[2];
    for (int i = 0; i < 2; i++) {
        zoolock_session_options *options = session_options();
        CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_exclusive(options, false));
        pair[i] = connect_with(options);
    }
    zoolock_session *own = connect_to_ensemble();
    CHECK(zoolock_session_id(pair[0]) != 0);
    CHECK_INT(zoolock_session_id(pair[0]), zoolock_session_id(pair[1]));
    CHECK(zoolock_session_id(own) != zoolock_session_id(pair[0]));
    CHECK_INT(SESSION_MS, zoolock_session_negotiated_timeout_ms(own));
    end_session(pair[0]);
    CHECK_INT(ZOOLOCK_SESSION_STATE_CONNECTED, zoolock_session_state(pair[1]));
    end_session(pair[1]);
    end_session(own);
}

static const struct test tests[] = {
    TEST(r02_token_rises_from_grant_to_grant),
    TEST(a_guard_tells_its_state_and_node),
    TEST(a_try_of_a_busy_mutex_is_not_acquired_and_no_error),
    TEST(r06_a_time_out_ends_the_wait_and_leaves_no_contender),
    TEST(r05_a_cancel_from_another_thread_leaves_no_contender),
    TEST(r07_a_waiter_gets_the_lock_on_release),
    TEST(r10_a_second_release_is_not_held_and_touches_nothing),
    TEST(r10_release_from_another_thread),
    TEST(r10_free_without_release_releases_in_the_background),
    TEST(a_guard_outlives_its_mutex_and_session_handle),
    TEST(r01_two_threads_hammer_one_mutex),
    TEST(contenders_show_who_queues),
    TEST(lock_options_name_nodes_and_give_them_data),
    TEST(r02_a_kept_contender_is_granted_again_and_the_pair_rises),
    TEST(statistics_count),
    TEST(r16_equal_options_share_a_session),
};

HARNESS_MAIN(tests)
