/* An order service: one lock per user, so that a double click makes one order.
 *
 *     order_service USER
 *
 * Waits 3 s for the user's lock; if another instance has it still, an order is in progress. The
 * servers come from ZOOLOCK_HOSTS. */
#include <stdio.h>
#include <stdlib.h>
#include <zoolock.h>

/* What the lock protects. The database refuses a token lower than the last it saw, so that an
 * instance that lost the lock without noticing yet changes nothing. */
static void save_order(const char *user, int64_t fencing_token)
{
    printf("order of %s saved with fencing token %lld\n", user, (long long)fencing_token);
}

static int fail(const char *what, zoolock_error *err)
{
    fprintf(stderr, "%s: %s\n", what, zoolock_error_message(err));
    zoolock_error_free(err);
    return EXIT_FAILURE;
}

static int order(const zoolock_mutex *mutex, const char *user)
{
    zoolock_guard *guard = NULL;
    zoolock_error *err = NULL;
    zoolock_status status = zoolock_mutex_lock(mutex, 3000, NULL, &guard, &err);
    if (status == ZOOLOCK_TIMEOUT) {
        zoolock_error_free(err);
        puts("order in progress");
        return EXIT_SUCCESS;
    }
    if (status != ZOOLOCK_OK)
        return fail("cannot lock", err);
    save_order(user, zoolock_guard_fencing_token(guard));
    status = zoolock_guard_release(guard, &err);
    zoolock_guard_free(guard);
    if (status != ZOOLOCK_OK)
        return fail("the order may have met another one", err);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: order_service USER\n");
        return EXIT_FAILURE;
    }
    char path[256];
    snprintf(path, sizeof path, "/locks/order/%s", argv[1]);

    zoolock_session *session = NULL;
    zoolock_mutex *mutex = NULL;
    zoolock_error *err = NULL;
    if (zoolock_session_connect(NULL, NULL, &session, &err) != ZOOLOCK_OK)
        return fail("cannot connect", err);
    int result;
    if (zoolock_mutex_new(session, path, NULL, &mutex, &err) != ZOOLOCK_OK)
        result = fail("not a user's name", err);
    else
        result = order(mutex, argv[1]);
    zoolock_mutex_free(mutex);
    zoolock_session_close(session, 2000, NULL);
    zoolock_session_free(session);
    return result;
}
