/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/embedded_view.c: the embedded inventory as the seam names it (contract/inventory.h), and the
 * arrivals of waiting rooms, which any thread may read. */
#include "inventory/embedded_parts.h"

static struct embedded *self_of(struct inventory *inventory)
{
    return (struct embedded *)inventory;
}

static const struct embedded *view_of(const struct inventory *inventory)
{
    return (const struct embedded *)inventory;
}

static struct inventory_port *view_port(struct inventory *inventory, uint32_t index, struct wake *client)
{
    return embedded_port(self_of(inventory), index, client);
}

static bool view_turn(struct inventory *inventory, uint64_t now_ms)
{
    return embedded_turn(self_of(inventory), now_ms);
}

static void view_close(struct inventory *inventory)
{
    embedded_close(self_of(inventory));
}

static bool view_failed(const struct inventory *inventory)
{
    return embedded_failed(view_of(inventory));
}

static void view_wins_until(struct inventory *inventory, lsn_t last)
{
    embedded_wins_until(self_of(inventory), last);
}

static uint64_t rows_durable(const struct embedded *embedded)
{
    return atomic_load_explicit(&embedded->board.places_durable, memory_order_acquire);
}

static bool view_arrival_find(
    const struct inventory *inventory, sale_id sale, user_id user, uint32_t *number)
{
    const struct embedded *embedded = view_of(inventory);
    struct board_room_update room;
    return board_read_room(&embedded->board, sale, &room)
        && places_look(&embedded->engine.places, sale, user, number) && *number < room.arrived;
}

/* A cursor is a row of the table, in which the arrivals of all sales stand in the order of the log. Those of
 * one sale stand close together: between them are only those of rooms that were open at the same time. */
static uint32_t view_arrivals(const struct inventory *inventory, sale_id sale, uint64_t *cursor,
    uint32_t *budget, struct arrival *arrivals, uint32_t max)
{
    const struct embedded *embedded = view_of(inventory);
    const uint64_t durable = rows_durable(embedded);
    const uint64_t first = sale < SALES_LIMIT ? places_first(&embedded->engine.places, sale) : UINT64_MAX;
    uint32_t count = 0;
    if (first >= durable)
        return 0;
    if (*cursor < first)
        *cursor = first;
    for (; *cursor < durable && count < max && (*budget) > 0; ++*cursor, --*budget) {
        const struct place_row *row = places_at(&embedded->engine.places, *cursor);
        if (row->sale == sale)
            arrivals[count++] = (struct arrival){ .user = row->user, .number = row->number };
    }
    return count;
}

const struct inventory_ops embedded_ops = {
    .port = view_port,
    .turn = view_turn,
    .close = view_close,
    .failed = view_failed,
    .wins_until = view_wins_until,
    .arrival_find = view_arrival_find,
    .arrivals = view_arrivals,
};

struct inventory *embedded_inventory(struct embedded *embedded)
{
    return &embedded->inventory;
}
