/* A job that a scheduler starts on several instances and that one of them does.
 *
 *     scheduled_job BATCH
 *
 * Waits 10 s (or JOB_PATIENCE_MS) for the lock, else skips the round. The servers come from
 * ZOOLOCK_HOSTS, the directory of what is done, which has to exist, from JOBS_DIR. A batch is done
 * once, whoever comes when: its name is unique there. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <zoolock.h>

enum { DONE_OR_SKIPPED = 0, FAILED = 1, MISUSED = 2 };

#define STEPS 10

static atomic_bool lost;

static void note_loss(void *unused)
{
    (void)unused;
    atomic_store(&lost, true);
}

static int fail(zoolock_error *err)
{
    fprintf(stderr, "%s\n", zoolock_error_message(err));
    zoolock_error_free(err);
    return FAILED;
}

/* Whether the time was over because of servers that could not be reached, and of nobody's work. */
static bool is_outage(const zoolock_error *err)
{
    const zoolock_error *cause = zoolock_error_cause(err);
    return cause != NULL && zoolock_error_status(cause) == ZOOLOCK_UNAVAILABLE;
}

/* Does the batch, in steps, to stop soon after the lock is lost: another instance may have begun. */
static int run(const zoolock_guard *guard, const char *record)
{
    zoolock_error *err = NULL;
    if (zoolock_guard_on_lost(guard, note_loss, NULL, &err) != ZOOLOCK_OK)
        return fail(err);
    for (int step = 0; step < STEPS; step++)
        if (atomic_load(&lost) && zoolock_guard_ensure_held(guard, &err) != ZOOLOCK_OK)
            return fail(err);
    FILE *file = fopen(record, "wx");
    if (file == NULL && errno == EEXIST) {
        puts("was done before");
        return DONE_OR_SKIPPED;
    }
    bool written = file != NULL &&
                   fprintf(file, "%lld", (long long)zoolock_guard_fencing_token(guard)) > 0;
    written = (file == NULL || fclose(file) == 0) && written;
    if (!written) {
        perror(record);
        return FAILED;
    }
    puts("done");
    return DONE_OR_SKIPPED;
}

static int work(const zoolock_mutex *mutex, int64_t patience_ms, const char *record)
{
    zoolock_guard *guard = NULL;
    zoolock_error *err = NULL;
    zoolock_status status = zoolock_mutex_lock(mutex, patience_ms, NULL, &guard, &err);
    if (status == ZOOLOCK_TIMEOUT && !is_outage(err)) {
        zoolock_error_free(err);
        puts("skipped: another instance is at it");
        return DONE_OR_SKIPPED;
    }
    if (status != ZOOLOCK_OK)
        return fail(err);
    int result = run(guard, record);
    status = zoolock_guard_release(guard, &err);
    zoolock_guard_free(guard);
    if (status == ZOOLOCK_OK)
        return result;
    if (result != FAILED)
        return fail(err);
    zoolock_error_free(err);
    return result;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: scheduled_job BATCH\n");
        return MISUSED;
    }
    const char *directory = getenv("JOBS_DIR");
    char record[256];
    int length = snprintf(record, sizeof record, "%s/%s", directory == NULL ? "." : directory,
                          argv[1]);
    if (length < 0 || (size_t)length >= sizeof record) {
        /* Cut off, it could be another batch's. */
        fprintf(stderr, "the batch's name is too long\n");
        return MISUSED;
    }
    const char *patience = getenv("JOB_PATIENCE_MS");
    int64_t patience_ms = patience == NULL ? 10000 : strtoll(patience, NULL, 10);

    zoolock_session *session = NULL;
    zoolock_mutex *mutex = NULL;
    zoolock_error *err = NULL;
    int result;
    if (zoolock_session_connect(NULL, NULL, &session, &err) != ZOOLOCK_OK ||
        zoolock_mutex_new(session, "/locks/job/nightly", NULL, &mutex, &err) != ZOOLOCK_OK)
        result = fail(err);
    else
        result = work(mutex, patience_ms, record);
    zoolock_mutex_free(mutex);
    zoolock_session_close(session, 2000, NULL);
    zoolock_session_free(session);
    return result;
}
