/* The shop's tables in SQLite. */
#include "store.h"
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    store base;
    sqlite3 *database;
} sqlite_store;

/* Runs a statement with the texts and then the token, as its parameters ?1, ?2 … How many rows it
 * changed, or -1. */
static int run(sqlite3 *database, const char *sql, const char *const *texts, int count,
               const int64_t *token)
{
    sqlite3_stmt *statement = NULL;
    int rows = -1;
    int status = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    for (int i = 0; i < count && status == SQLITE_OK; i++)
        status = sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
    if (status == SQLITE_OK && token != NULL)
        status = sqlite3_bind_int64(statement, count + 1, *token);
    if (status == SQLITE_OK && sqlite3_step(statement) == SQLITE_DONE)
        rows = sqlite3_changes(database);
    else
        fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(database));
    sqlite3_finalize(statement);
    return rows;
}

static bool command(sqlite3 *database, const char *sql)
{
    return run(database, sql, NULL, 0, NULL) >= 0;
}

/* IMMEDIATE takes the write lock before anything is read. A transaction that reads first and writes
 * later fails with SQLITE_BUSY if somebody wrote in between. */
static bool begin(sqlite3 *database)
{
    return command(database, "BEGIN IMMEDIATE");
}

static stored end(sqlite3 *database, stored outcome)
{
    bool commits = outcome == STORED || outcome == REPEATED;
    if (commits && command(database, "COMMIT"))
        return outcome;
    /* Fails where SQLite has rolled back by itself. */
    sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return commits ? BROKEN : outcome;
}

static stored place(store *self, const char *order, const char *customer, const char *item,
                    int64_t token)
{
    sqlite3 *database = ((sqlite_store *)self)->database;
    if (!begin(database))
        return BROKEN;
    /* First of all, in one statement: compare the token and leave it behind. Whatever this
     * transaction reads after that, no older holder can change any more. */
    int claimed = run(database,
                      "INSERT INTO customers (name, fence) VALUES (?1, ?2)"
                      " ON CONFLICT (name) DO UPDATE SET fence = excluded.fence"
                      " WHERE customers.fence <= excluded.fence",
                      &customer, 1, &token);
    if (claimed != 1)
        return end(database, claimed == 0 ? STALE : BROKEN);
    const char *texts[] = {order, customer, item};
    int rows = run(database,
                   "INSERT INTO orders (id, customer, item, token) VALUES (?1, ?2, ?3, ?4)"
                   " ON CONFLICT (id) DO NOTHING",
                   texts, 3, &token);
    return end(database, rows < 0 ? BROKEN : rows == 1 ? STORED : REPEATED);
}

static stored bill(store *self, const char *batch, int64_t token)
{
    sqlite3 *database = ((sqlite_store *)self)->database;
    if (!begin(database))
        return BROKEN;
    int claimed = run(database, "UPDATE jobs SET fence = ?1 WHERE name = 'billing' AND fence <= ?1",
                      NULL, 0, &token);
    if (claimed != 1)
        return end(database, claimed == 0 ? STALE : BROKEN);
    /* The key and the work are committed together: both, or neither. */
    int begun = run(database,
                    "INSERT INTO batches (name, token) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
                    &batch, 1, &token);
    if (begun != 1)
        return end(database, begun == 0 ? REPEATED : BROKEN);
    bool billed = command(database, "UPDATE customers SET invoices = invoices + 1");
    return end(database, billed ? STORED : BROKEN);
}

static void close_store(store *self)
{
    sqlite3_close(((sqlite_store *)self)->database);
    free(self);
}

store *store_open_sqlite(const char *file)
{
    sqlite_store *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->base = (store){.place = place, .bill = bill, .close = close_store};
    if (sqlite3_open(file, &self->database) != SQLITE_OK) {
        fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(self->database));
        close_store(&self->base);
        return NULL;
    }
    /* How long to wait for another writer. */
    sqlite3_busy_timeout(self->database, 10000);
    if (!command(self->database, "PRAGMA foreign_keys = ON")) {
        close_store(&self->base);
        return NULL;
    }
    return &self->base;
}
