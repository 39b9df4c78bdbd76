/* A job that every instance starts at the same time and only one shall do.
 *
 *     scheduled_job NAME
 *
 * Waits 10 s for the job's lock, else skips the round. The servers come from ZOOLOCK_HOSTS. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <zoolock.h>

#define STEPS 3

static atomic_bool stopped;

static void stop(void *unused)
{
    (void)unused;
    atomic_store(&stopped, true);
}

/* Works in steps, to stop soon after the lock is lost: another instance may have begun. */
static int work(zoolock_guard *guard)
{
    zoolock_error *err = NULL;
    zoolock_status status = zoolock_guard_on_lost(guard, stop, NULL, &err);
    if (status == ZOOLOCK_OK) {
        for (int step = 1; step <= STEPS && !atomic_load(&stopped); step++)
            printf("step %d with fencing token %lld\n", step,
                   (long long)zoolock_guard_fencing_token(guard));
        status = zoolock_guard_release(guard, &err);
    }
    if (status == ZOOLOCK_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "stopped: %s\n", zoolock_error_message(err));
    zoolock_error_free(err);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: scheduled_job NAME\n");
        return EXIT_FAILURE;
    }
    char path[256];
    snprintf(path, sizeof path, "/locks/job/%s", argv[1]);

    zoolock_session *session = NULL;
    zoolock_mutex *mutex = NULL;
    zoolock_guard *guard = NULL;
    zoolock_error *err = NULL;
    int result = EXIT_FAILURE;
    zoolock_status status = zoolock_session_connect(NULL, NULL, &session, &err);
    if (status == ZOOLOCK_OK)
        status = zoolock_mutex_new(session, path, NULL, &mutex, &err);
    if (status == ZOOLOCK_OK)
        status = zoolock_mutex_lock(mutex, 10000, NULL, &guard, &err);
    if (status == ZOOLOCK_OK) {
        result = work(guard);
    } else if (status == ZOOLOCK_TIMEOUT) {
        puts("another instance does it: skipped");
        result = EXIT_SUCCESS;
    } else {
        fprintf(stderr, "%s\n", zoolock_error_message(err));
    }
    zoolock_error_free(err);
    zoolock_guard_free(guard);
    zoolock_mutex_free(mutex);
    zoolock_session_close(session, 2000, NULL);
    zoolock_session_free(session);
    return result;
}
