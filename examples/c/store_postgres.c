/* The shop's tables in PostgreSQL. */
#include "store.h"
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    store base;
    PGconn *connection;
} postgres_store;

/* A token as text. */
typedef struct {
    char digits[24];
} text;

static text as_text(int64_t token)
{
    text result;
    snprintf(result.digits, sizeof result.digits, "%lld", (long long)token);
    return result;
}

/* Runs a statement with its parameters $1, $2 … How many rows it changed, or -1. */
static int run(PGconn *connection, const char *sql, const char *const *values, int count)
{
    PGresult *result = PQexecParams(connection, sql, count, NULL, values, NULL, NULL, 0);
    int rows = -1;
    if (PQresultStatus(result) == PGRES_COMMAND_OK)
        rows = atoi(PQcmdTuples(result));
    else
        fprintf(stderr, "postgres: %s", PQerrorMessage(connection));
    PQclear(result);
    return rows;
}

static bool command(PGconn *connection, const char *sql)
{
    return run(connection, sql, NULL, 0) >= 0;
}

/* READ COMMITTED is what the statements below are written for: one that has waited for another
 * transaction compares with what that one has committed. Under stricter levels it fails with a
 * serialization error instead, and writes nothing either. */
static bool begin(PGconn *connection)
{
    return command(connection, "BEGIN ISOLATION LEVEL READ COMMITTED");
}

static stored end(PGconn *connection, stored outcome)
{
    bool commits = outcome == STORED || outcome == REPEATED;
    /* The reply to a COMMIT may be lost with the connection, and the transaction stand: then the
     * same order, or batch, sent again is REPEATED. */
    if (!command(connection, commits ? "COMMIT" : "ROLLBACK"))
        return BROKEN;
    return outcome;
}

static stored place(store *self, const char *order, const char *customer, const char *item,
                    int64_t token)
{
    PGconn *connection = ((postgres_store *)self)->connection;
    text number = as_text(token);
    if (!begin(connection))
        return BROKEN;
    /* First of all, in one statement: compare the token and leave it behind. The row stays locked
     * until the end of the transaction, so whatever is read after that, no older holder can change
     * any more. */
    const char *claim[] = {customer, number.digits};
    int claimed = run(connection,
                      "INSERT INTO customers (name, fence) VALUES ($1, $2)"
                      " ON CONFLICT (name) DO UPDATE SET fence = excluded.fence"
                      " WHERE customers.fence <= excluded.fence",
                      claim, 2);
    if (claimed != 1)
        return end(connection, claimed == 0 ? STALE : BROKEN);
    const char *values[] = {order, customer, item, number.digits};
    int rows = run(connection,
                   "INSERT INTO orders (id, customer, item, token) VALUES ($1, $2, $3, $4)"
                   " ON CONFLICT (id) DO NOTHING",
                   values, 4);
    return end(connection, rows < 0 ? BROKEN : rows == 1 ? STORED : REPEATED);
}

static stored bill(store *self, const char *batch, int64_t token)
{
    PGconn *connection = ((postgres_store *)self)->connection;
    text number = as_text(token);
    if (!begin(connection))
        return BROKEN;
    const char *claim[] = {number.digits};
    int claimed = run(connection,
                      "UPDATE jobs SET fence = $1 WHERE name = 'billing' AND fence <= $1", claim, 1);
    if (claimed != 1)
        return end(connection, claimed == 0 ? STALE : BROKEN);
    /* The key and the work are committed together: both, or neither. */
    const char *values[] = {batch, number.digits};
    int begun = run(connection,
                    "INSERT INTO batches (name, token) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                    values, 2);
    if (begun != 1)
        return end(connection, begun == 0 ? REPEATED : BROKEN);
    bool billed = command(connection, "UPDATE customers SET invoices = invoices + 1");
    return end(connection, billed ? STORED : BROKEN);
}

static void close_store(store *self)
{
    PQfinish(((postgres_store *)self)->connection);
    free(self);
}

store *store_open_postgres(const char *url)
{
    postgres_store *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    self->base = (store){.place = place, .bill = bill, .close = close_store};
    self->connection = PQconnectdb(url);
    if (PQstatus(self->connection) != CONNECTION_OK) {
        fprintf(stderr, "postgres: %s", PQerrorMessage(self->connection));
        close_store(&self->base);
        return NULL;
    }
    return &self->base;
}
