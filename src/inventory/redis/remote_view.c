/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_view.c: the inventory over Redis as the seam names it (contract/inventory.h). */
#include "inventory/ports.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"

static struct remote *self_of(struct inventory *inventory)
{
    return (struct remote *)inventory;
}

struct inventory *remote_inventory(struct remote *remote)
{
    return &remote->inventory;
}

static struct inventory_port *remote_view_port(
    struct inventory *inventory, uint32_t index, struct wake *client)
{
    return ports_port(self_of(inventory)->ports, index, client);
}

static bool remote_view_turn(struct inventory *inventory, uint64_t now_ms)
{
    return remote_turn(self_of(inventory), now_ms);
}

static void remote_view_close(struct inventory *inventory)
{
    remote_close(self_of(inventory));
}

static bool remote_view_failed(const struct inventory *inventory)
{
    (void)inventory; /* Redis and the database may come back */
    return false;
}

static void remote_view_wins_until(struct inventory *inventory, lsn_t last)
{
    (void)inventory; /* the script counts what waits for the database */
    (void)last;
}

static const struct replica *replica_of(const struct inventory *inventory, sale_id sale)
{
    const struct remote *remote = (const struct remote *)inventory;
    return sale < remote->config.engine.sales_max
        ? atomic_load_explicit(&remote->by_sale[sale], memory_order_acquire)
        : NULL;
}

static bool remote_view_arrival_find(
    const struct inventory *inventory, sale_id sale, user_id user, uint32_t *number)
{
    const struct replica *replica = replica_of(inventory, sale);
    return replica != NULL && replica_arrival_find(replica, sale, user, number);
}

static uint32_t remote_view_arrivals(const struct inventory *inventory, sale_id sale,
    uint64_t *cursor, uint32_t *budget, struct arrival *arrivals, uint32_t max)
{
    const struct replica *replica = replica_of(inventory, sale);
    return replica == NULL ? 0 : replica_arrivals(replica, sale, cursor, budget, arrivals, max);
}

const struct inventory_ops remote_ops = {
    .port = remote_view_port,
    .turn = remote_view_turn,
    .close = remote_view_close,
    .failed = remote_view_failed,
    .wins_until = remote_view_wins_until,
    .arrival_find = remote_view_arrival_find,
    .arrivals = remote_view_arrivals,
};
