/* A shop on several instances: orders of a customer one at a time, and a billing job done once.
 *
 *     shop place ORDER CUSTOMER ITEM
 *     shop bill BATCH
 *
 * The servers come from ZOOLOCK_HOSTS, the database from SHOP_DB: a PostgreSQL URL, or SQLite's
 * file. The lock keeps instances apart. The database refuses one that has lost its lock without
 * knowing: see the stores. */
#include "store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zoolock.h>

enum { DONE = 0, FAILED = 1, MISUSED = 2, REFUSED = 3 };

/* How long a customer waits for an order of theirs that is being placed elsewhere, and after what
 * time an instance leaves a round to another. */
enum { ORDER_PATIENCE_MS = 3000, JOB_PATIENCE_MS = 10000 };

/* What is to be done under the lock. */
typedef struct {
    const char *path;
    int64_t patience_ms;
    const char *order, *customer, *item; /* of an order; else NULL */
    const char *batch;
    const char *busy, *done, *repeated; /* what to say */
    int when_busy;
} task;

static int fail(zoolock_error *err)
{
    fprintf(stderr, "%s\n", zoolock_error_message(err));
    zoolock_error_free(err);
    return FAILED;
}

/* Whether the time was over because of servers that could not be reached, and of nobody's lock. */
static bool is_outage(const zoolock_error *err)
{
    const zoolock_error *cause = zoolock_error_cause(err);
    return cause != NULL && zoolock_error_status(cause) == ZOOLOCK_UNAVAILABLE;
}

static int answer(const task *task, stored outcome, int64_t token)
{
    switch (outcome) {
    case STORED:
        puts(task->done);
        return DONE;
    case REPEATED:
        puts(task->repeated);
        return DONE;
    case STALE:
        fprintf(stderr, "refused: a later holder has written, and token %lld is old\n",
                (long long)token);
        return REFUSED;
    case BROKEN:
        break;
    }
    return FAILED;
}

static int under_lock(const zoolock_mutex *mutex, store *store, const task *task)
{
    zoolock_guard *guard = NULL;
    zoolock_error *err = NULL;
    zoolock_status status = zoolock_mutex_lock(mutex, task->patience_ms, NULL, &guard, &err);
    if (status == ZOOLOCK_TIMEOUT && !is_outage(err)) {
        zoolock_error_free(err);
        puts(task->busy);
        return task->when_busy;
    }
    if (status != ZOOLOCK_OK)
        return fail(err);
    int64_t token = zoolock_guard_fencing_token(guard);
    stored outcome = task->batch != NULL
                         ? store_bill(store, task->batch, token)
                         : store_place(store, task->order, task->customer, task->item, token);
    status = zoolock_guard_release(guard, &err);
    zoolock_guard_free(guard);
    if (status != ZOOLOCK_OK && status != ZOOLOCK_LOCK_LOST)
        return fail(err);
    /* If it was lost, the database had the last word: what it committed, with the token, stands.
     * Work that no fence guards would have to stop at the loss: see zoolock_guard_on_lost and
     * zoolock_guard_ensure_held. */
    zoolock_error_free(err);
    return answer(task, outcome, token);
}

static int run(const task *task)
{
    const char *database = getenv("SHOP_DB");
    if (database == NULL)
        database = "shop.db";
    store *store = strncmp(database, "postgresql://", 13) == 0 ? store_open_postgres(database)
                                                               : store_open_sqlite(database);
    if (store == NULL)
        return FAILED;
    zoolock_session *session = NULL;
    zoolock_mutex *mutex = NULL;
    zoolock_error *err = NULL;
    int result;
    if (zoolock_session_connect(NULL, NULL, &session, &err) != ZOOLOCK_OK ||
        zoolock_mutex_new(session, task->path, NULL, &mutex, &err) != ZOOLOCK_OK)
        result = fail(err);
    else
        result = under_lock(mutex, store, task);
    zoolock_mutex_free(mutex);
    zoolock_session_close(session, 2000, NULL);
    zoolock_session_free(session);
    store_close(store);
    return result;
}

int main(int argc, char **argv)
{
    char path[256];
    if (argc == 3 && strcmp(argv[1], "bill") == 0)
        return run(&(task){.path = "/locks/job/billing",
                           .patience_ms = JOB_PATIENCE_MS,
                           .batch = argv[2],
                           .busy = "skipped: another instance is at it",
                           .done = "done",
                           .repeated = "was done before",
                           .when_busy = DONE});
    /* A slash would make a lock path of the name. */
    if (argc == 5 && strcmp(argv[1], "place") == 0 && strchr(argv[3], '/') == NULL) {
        int length = snprintf(path, sizeof path, "/locks/order/%s", argv[3]);
        /* Cut off, it could be another customer's. */
        if (length > 0 && (size_t)length < sizeof path)
            return run(&(task){.path = path,
                               .patience_ms = ORDER_PATIENCE_MS,
                               .order = argv[2],
                               .customer = argv[3],
                               .item = argv[4],
                               .busy = "order in progress",
                               .done = "order placed",
                               .repeated = "was placed before",
                               .when_busy = FAILED});
    }
    fprintf(stderr, "usage: shop place ORDER CUSTOMER ITEM | bill BATCH\n");
    return MISUSED;
}
