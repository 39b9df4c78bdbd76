/* An order service: one order of a user at a time, on however many instances it runs.
 *
 *     order_service USER ITEM
 *
 * Tries for 3 s to get the user's lock, and says "order in progress" if somebody else has it. The
 * servers come from ZOOLOCK_HOSTS. */
#include <stdio.h>
#include <stdlib.h>
#include <zoolock.h>

enum { PLACED = 0, IN_PROGRESS = 1, FAILED = 1, MISUSED = 2 };

/* What the lock protects. A database would refuse a token lower than the last it saw, so that an
 * instance that lost the lock without noticing yet changes nothing. */
static void save_order(const char *user, const char *item, int64_t fencing_token)
{
    (void)user, (void)item, (void)fencing_token;
}

static int fail(zoolock_error *err)
{
    fprintf(stderr, "%s\n", zoolock_error_message(err));
    zoolock_error_free(err);
    return FAILED;
}

/* Whether the time was over because of servers that could not be reached, and of nobody's order. */
static bool is_outage(const zoolock_error *err)
{
    const zoolock_error *cause = zoolock_error_cause(err);
    return cause != NULL && zoolock_error_status(cause) == ZOOLOCK_UNAVAILABLE;
}

static int place(const zoolock_mutex *mutex, const char *user, const char *item)
{
    zoolock_guard *guard = NULL;
    zoolock_error *err = NULL;
    zoolock_status status = zoolock_mutex_lock(mutex, 3000, NULL, &guard, &err);
    if (status == ZOOLOCK_TIMEOUT && !is_outage(err)) {
        zoolock_error_free(err);
        puts("order in progress");
        return IN_PROGRESS;
    }
    if (status != ZOOLOCK_OK)
        return fail(err);
    int64_t token = zoolock_guard_fencing_token(guard);
    save_order(user, item, token);
    /* Fails if the lock was lost: the order may have met another one. */
    status = zoolock_guard_release(guard, &err);
    zoolock_guard_free(guard);
    if (status != ZOOLOCK_OK)
        return fail(err);
    printf("order placed, token %lld\n", (long long)token);
    return PLACED;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: order_service USER ITEM\n");
        return MISUSED;
    }
    const char *user = argv[1], *item = argv[2];
    char path[256];
    int length = snprintf(path, sizeof path, "/locks/order/%s", user);
    if (length < 0 || (size_t)length >= sizeof path) {
        /* Cut off, it could be another user's. */
        fprintf(stderr, "the user's name is too long\n");
        return MISUSED;
    }

    zoolock_session *session = NULL;
    zoolock_mutex *mutex = NULL;
    zoolock_error *err = NULL;
    int result;
    if (zoolock_session_connect(NULL, NULL, &session, &err) != ZOOLOCK_OK ||
        zoolock_mutex_new(session, path, NULL, &mutex, &err) != ZOOLOCK_OK)
        result = fail(err);
    else
        result = place(mutex, user, item);
    zoolock_mutex_free(mutex);
    zoolock_session_close(session, 2000, NULL);
    zoolock_session_free(session);
    return result;
}
