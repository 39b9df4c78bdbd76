/* The shop's tables. Every write brings the fencing token of the lock that it is made under. */
#ifndef STORE_H
#define STORE_H

#include <stdint.h>

typedef enum {
    STORED,
    /* The order is stored, or the batch done, already. */
    REPEATED,
    /* The database has seen a higher token: another holder came after us. Nothing was written. */
    STALE,
    /* The database failed, and has said why on stderr. Nothing was written. */
    BROKEN
} stored;

typedef struct store store;

/* NULL if it cannot be opened, which is said on stderr. */
store *store_open_sqlite(const char *file);
store *store_open_postgres(const char *url);

stored store_place(store *self, const char *order, const char *customer, const char *item,
                   int64_t token);
stored store_bill(store *self, const char *batch, int64_t token);
void store_close(store *self);

/* What each database brings. */
struct store {
    stored (*place)(store *self, const char *order, const char *customer, const char *item,
                    int64_t token);
    stored (*bill)(store *self, const char *batch, int64_t token);
    void (*close)(store *self);
};

#endif
