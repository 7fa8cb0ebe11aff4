/* SPDX-License-Identifier: Apache-2.0 */
/* The store suite against SQLite on a real file; and once more with lots of one order, so that nearly every
 * order is in another lot than the one before (store/lots.h). */
#include "store/lots.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"
#include "tests/seam/store_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct place {
    char folder[64];
    char path[96];
    uint32_t lot_orders;
};

static struct order_store *sqlite_open(const struct place *place)
{
    struct order_store *store;
    char error[200];
    if (sqlite_store_open(&store, place->path, NULL, error, sizeof error) != STATUS_OK) {
        fprintf(stderr, "%s\n", error);
        return NULL;
    }
    store_lots_set(store, place->lot_orders);
    return store;
}

static struct order_store *sqlite_fresh(void *context)
{
    struct place *place = context;
    snprintf(place->folder, sizeof place->folder, "/tmp/stampede-store.XXXXXX");
    if (mkdtemp(place->folder) == NULL)
        return NULL;
    snprintf(place->path, sizeof place->path, "%s/orders.db", place->folder);
    return sqlite_open(place);
}

static struct order_store *sqlite_again(void *context, struct order_store *store)
{
    store->ops->close(store);
    return sqlite_open(context);
}

static void sqlite_done(void *context, struct order_store *store)
{
    const struct place *place = context;
    char name[128];
    store->ops->close(store);
    static const char *const endings[] = { "", "-wal", "-shm" };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(name, sizeof name, "%s%s", place->path, endings[i]);
        unlink(name);
    }
    rmdir(place->folder);
}

int main(void)
{
    struct place place = { .lot_orders = LOT_ORDERS };
    const struct store_maker maker = { "sqlite", sqlite_fresh, sqlite_again, sqlite_done, &place };
    const int failed = store_suite_run(&maker);
    place.lot_orders = 1;
    return failed + store_suite_run(&maker);
}
