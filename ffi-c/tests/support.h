/* What several test programs do with the library. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <zoolock.h>

#include "harness.h"

/* Long enough for anything that has to happen, on a slow machine. */
#define PATIENCE_MS 30000
/* The session timeout of `connect_to_ensemble`. */
#define SESSION_MS 4000

/* The value of an environment variable that test.sh sets. */
const char *environment(const char *name);

/* Milliseconds on a clock that only runs forwards. */
int64_t now_ms(void);

/* Pauses between two looks at something that another process does. */
void pause_between_looks(void);

/* Waits for what only looking can tell. */
#define EVENTUALLY(condition)                                       \
    do {                                                            \
        int64_t until_ = now_ms() + PATIENCE_MS;                    \
        while (!(condition)) {                                      \
            if (now_ms() > until_)                                  \
                FAIL("still not so: %s", #condition);               \
            pause_between_looks();                                  \
        }                                                           \
    } while (0)

/* A lock path that no other test, and no other run, uses. Valid until the next call but three. */
const char *lock_path(const char *name);

/* A session of the test's own. */
zoolock_session *connect_to_ensemble(void);

/* The options that it has; to be changed, and freed. */
zoolock_session_options *session_options(void);
zoolock_session *connect_with(zoolock_session_options *options);

/* Closes and frees it. */
void end_session(zoolock_session *session);

zoolock_mutex *new_mutex(zoolock_session *session, const char *path);
zoolock_reentrant *new_reentrant(zoolock_session *session, const char *path);
zoolock_rwlock *new_rwlock(zoolock_session *session, const char *path);

/* Locks, waiting at most PATIENCE_MS. */
zoolock_guard *lock_mutex(const zoolock_mutex *mutex);

/* Releases and frees it. */
void release(zoolock_guard *guard);

/* An event that a callback or a thread tells, and the test waits for. */
struct event {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int count;
};

#define EVENT_INITIALIZER {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

void event_happens(struct event *event);
int event_count(struct event *event);
/* Waits until it has happened so often. */
void event_await(struct event *event, int count);

/* For zoolock_guard_on_lost, with a struct event. */
void tell_event(void *event);

/* The outcome of an asynchronous call. */
struct outcome {
    struct event arrived;
    zoolock_status status;
    zoolock_guard *guard;
    char message[256];
    pthread_t thread;
};

#define OUTCOME_INITIALIZER {.arrived = EVENT_INITIALIZER}

/* For zoolock_*_lock_async, with a struct outcome. */
void keep_outcome(zoolock_status status, zoolock_guard *guard, const zoolock_error *err,
                  void *outcome);

/* Waits for it and checks its status. */
void await_outcome(struct outcome *outcome, zoolock_status expected);

/* A call for a mutex that waits on a thread of its own. */
struct waiter {
    pthread_t thread;
    const zoolock_mutex *mutex;
    int64_t timeout_ms;
    zoolock_cancel *cancel;
    zoolock_status status;
    zoolock_guard *guard;
};

void waiter_start(struct waiter *waiter);
/* Waits for its end and checks its status. */
void waiter_join(struct waiter *waiter, zoolock_status expected);

#endif
