/* Hands over to the database that was opened. */
#include "store.h"

stored store_place(store *self, const char *order, const char *customer, const char *item,
                   int64_t token)
{
    return self->place(self, order, customer, item, token);
}

stored store_bill(store *self, const char *batch, int64_t token)
{
    return self->bill(self, batch, token);
}

void store_close(store *self)
{
    self->close(self);
}
