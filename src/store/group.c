/* SPDX-License-Identifier: Apache-2.0 */
/* store/group.c: groups (contract/order_store.h). The transaction of a group begins with its first
 * part: a round that only reads takes no lock. Parts are savepoints. A failed statement takes back its
 * part; where the database gives up the whole transaction (a full disk, a failed write, a lost
 * connection), the group is lost, and everything is STATUS_AWAY until its end says so. What the parts do to
 * the stock and the sums of items is added up in memory and written once, at the end (store/stock.h). */
#include "base/clock.h"
#include "store/parts.h"

void store_group_begin(struct order_store *handle)
{
    struct store *store = store_of(handle);
    invariant(!store->together || store->grouped);
    store->grouping = true;
}

enum status store_batch_begin(struct store *store)
{
    const enum status status = store_stock_settle(store);
    return status == STATUS_OK ? store_begin(store) : status;
}

bool store_group_is_open(const struct order_store *handle)
{
    return ((const struct store *)(const void *)handle)->grouped;
}

enum status store_group_enter(struct store *store)
{
    if (!store->grouping || store->grouped)
        return STATUS_OK;
    const enum status status = store->connection->driver->begin(store->connection);
    store->grouped = status == STATUS_OK;
    store->begun_ns = clock_monotonic_ns();
    store_stock_clear(&store->group.kept);
    return status;
}

enum status store_group_end(struct order_store *handle)
{
    struct store *store = store_of(handle);
    const bool open = store->grouped;
    invariant(!open || !store->together);
    const enum status status = store_is_lost(store) ? STATUS_AWAY : store_stock_settle(store);
    store->grouping = store->grouped = false;
    return open ? store_end(store, status) : STATUS_OK;
}
