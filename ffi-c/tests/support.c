#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *environment(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL)
        FAIL("%s is not set: run ffi-c/test.sh", name);
    return value;
}

int64_t now_ms(void)
{
    struct timespec now;
    CHECK_INT(0, clock_gettime(CLOCK_MONOTONIC, &now));
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_between_looks(void)
{
    struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
}

const char *lock_path(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "/locks/c/%s-%ld/%s", harness_test(), (long)getpid(), name);
    return path;
}

zoolock_session_options *session_options(void)
{
    zoolock_session_options *options = zoolock_session_options_new();
    CHECK(options != NULL);
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_session_timeout_ms(options, SESSION_MS));
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_connect_timeout_ms(options, PATIENCE_MS));
    CHECK_INT(ZOOLOCK_OK, zoolock_session_options_set_exclusive(options, true));
    return options;
}

zoolock_session *connect_with(zoolock_session_options *options)
{
    zoolock_session *session = NULL;
    zoolock_error *err = NULL;
    CHECK_OK(zoolock_session_connect(environment("ZOOLOCK_TEST_HOSTS"), options, &session, &err),
             err);
    CHECK(session != NULL);
    zoolock_session_options_free(options);
    return session;
}

zoolock_session *connect_to_ensemble(void)
{
    return connect_with(session_options());
}

void end_session(zoolock_session *session)
{
    zoolock_error *err = NULL;
    CHECK_OK(zoolock_session_close(session, -1, &err), err);
    zoolock_session_free(session);
}

zoolock_mutex *new_mutex(zoolock_session *session, const char *path)
{
    zoolock_mutex *mutex = NULL;
    zoolock_error *err = NULL;
    CHECK_OK(zoolock_mutex_new(session, path, NULL, &mutex, &err), err);
    CHECK(mutex != NULL);
    return mutex;
}

zoolock_reentrant *new_reentrant(zoolock_session *session, const char *path)
{
    zoolock_reentrant *reentrant = NULL;
    zoolock_error *err = NULL;
    CHECK_OK(zoolock_reentrant_new(session, path, NULL, &reentrant, &err), err);
    CHECK(reentrant != NULL);
    return reentrant;
}

zoolock_rwlock *new_rwlock(zoolock_session *session, const char *path)
{
    zoolock_rwlock *rwlock = NULL;
    zoolock_error *err = NULL;
    CHECK_OK(zoolock_rwlock_new(session, path, NULL, &rwlock, &err), err);
    CHECK(rwlock != NULL);
    return rwlock;
}

zoolock_guard *lock_mutex(const zoolock_mutex *mutex)
{
    zoolock_guard *guard = NULL;
    zoolock_error *err = NULL;
    CHECK_OK(zoolock_mutex_lock(mutex, PATIENCE_MS, NULL, &guard, &err), err);
    CHECK(guard != NULL);
    return guard;
}

void release(zoolock_guard *guard)
{
    zoolock_error *err = NULL;
    CHECK_OK(zoolock_guard_release(guard, &err), err);
    zoolock_guard_free(guard);
}

void event_happens(struct event *event)
{
    pthread_mutex_lock(&event->mutex);
    event->count++;
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->mutex);
}

int event_count(struct event *event)
{
    pthread_mutex_lock(&event->mutex);
    int count = event->count;
    pthread_mutex_unlock(&event->mutex);
    return count;
}

void event_await(struct event *event, int count)
{
    struct timespec until;
    CHECK_INT(0, clock_gettime(CLOCK_REALTIME, &until));
    until.tv_sec += PATIENCE_MS / 1000;
    pthread_mutex_lock(&event->mutex);
    int failure = 0;
    while (event->count < count && failure == 0)
        failure = pthread_cond_timedwait(&event->changed, &event->mutex, &until);
    int happened = event->count;
    pthread_mutex_unlock(&event->mutex);
    if (happened < count)
        FAIL("happened %d times, not %d", happened, count);
}

void tell_event(void *event)
{
    event_happens(event);
}

void keep_outcome(zoolock_status status, zoolock_guard *guard, const zoolock_error *err,
                  void *userdata)
{
    struct outcome *outcome = userdata;
    outcome->status = status;
    outcome->guard = guard;
    outcome->thread = pthread_self();
    snprintf(outcome->message, sizeof outcome->message, "%s", zoolock_error_message(err));
    event_happens(&outcome->arrived);
}

void await_outcome(struct outcome *outcome, zoolock_status expected)
{
    event_await(&outcome->arrived, 1);
    if (outcome->status != expected)
        FAIL("the outcome is %s, not %s: %s", zoolock_status_name(outcome->status),
             zoolock_status_name(expected), outcome->message);
    CHECK_INT(expected == ZOOLOCK_OK, outcome->guard != NULL);
    CHECK_INT(expected > 0, outcome->message[0] != '\0');
}

static void *wait_for_lock(void *argument)
{
    struct waiter *waiter = argument;
    waiter->status = zoolock_mutex_lock(waiter->mutex, waiter->timeout_ms, waiter->cancel,
                                        &waiter->guard, NULL);
    return NULL;
}

void waiter_start(struct waiter *waiter)
{
    CHECK_INT(0, pthread_create(&waiter->thread, NULL, wait_for_lock, waiter));
}

void waiter_join(struct waiter *waiter, zoolock_status expected)
{
    CHECK_INT(0, pthread_join(waiter->thread, NULL));
    CHECK_TEXT(zoolock_status_name(expected), zoolock_status_name(waiter->status));
    CHECK_INT(expected == ZOOLOCK_OK, waiter->guard != NULL);
}
