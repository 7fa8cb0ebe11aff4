/* SPDX-License-Identifier: Apache-2.0 */
#include "store/gather.h"

#include <stdlib.h>

enum { ORDER_NUMBERS = 13, COUNTER_NUMBERS = 3 };

enum { NUMBER_BYTES = 24 }; /* of a number in a statement, with what stands around it */
static_assert(ORDER_BATCH_MAX * (ORDER_NUMBERS + 1) * NUMBER_BYTES + 1024 <= SQL_STATEMENT_BYTES_MAX,
    "a batch of orders is one statement");

static const char order_head[] =
    "INSERT INTO orders(ticket, item, user_id, quantity, channel, unit_price, amount, created_ms,"
    " pay_by_ms, slot, version, state, reason)";
static const char counter_head[] = "INSERT INTO user_counters(scope, user_id, used)";

struct store_gathered {
    uint32_t orders, counters;
    uint64_t order_numbers[ORDER_BATCH_MAX * ORDER_NUMBERS];
    uint64_t counter_numbers[ORDER_BATCH_MAX * COUNTER_NUMBERS];
};

bool store_gathers(const struct store_batch *batch)
{
    return batch->gathers;
}

static enum status gathered_need(struct store_batch *batch, struct store_gathered **gathered)
{
    struct store *store = batch->store;
    if (store->gathered == NULL)
        store->gathered = calloc(1, sizeof *store->gathered);
    *gathered = store->gathered;
    return store->gathered == NULL ? STATUS_AWAY : STATUS_OK;
}

static enum status rows_write(struct store_batch *batch, const char *head, const uint64_t *numbers,
    uint32_t columns, uint32_t *rows)
{
    struct sql_connection *connection = batch->store->connection;
    const uint32_t count = *rows;
    *rows = 0;
    if (count == 0)
        return STATUS_OK;
    if (store_is_lost(batch->store))
        return STATUS_AWAY;
    const enum status status =
        connection->driver->insert_many(connection, head, numbers, columns, count);
    batch->store->changes += status == STATUS_OK;
    return status == STATUS_OK && sql_matched(batch->store) != count
        ? store_refuse(batch, REFUSAL_UNIQUE, "an order or counter of the batch is there already")
        : status;
}

enum status store_gather_flush(struct store_batch *batch)
{
    struct store_gathered *gathered = batch->store->gathered;
    if (!batch->gathers || gathered == NULL)
        return STATUS_OK;
    const enum status status =
        rows_write(batch, order_head, gathered->order_numbers, ORDER_NUMBERS, &gathered->orders);
    if (status != STATUS_OK) {
        gathered->counters = 0;
        return status;
    }
    return rows_write(
        batch, counter_head, gathered->counter_numbers, COUNTER_NUMBERS, &gathered->counters);
}

enum status store_gather_order(struct store_batch *batch, const struct store_ticket *ticket, uint64_t slot)
{
    struct store_gathered *gathered;
    enum status status = gathered_need(batch, &gathered);
    if (status == STATUS_OK && gathered->orders == ORDER_BATCH_MAX)
        status = store_gather_flush(batch);
    if (status != STATUS_OK)
        return status;
    const uint64_t row[ORDER_NUMBERS] = { ticket->ticket, ticket->item, ticket->user,
        ticket->quantity, ticket->channel, ticket->unit_price, ticket->unit_price * ticket->quantity,
        ticket->created_ms, ticket->pay_by_ms, slot, 1, ORDER_PENDING, REASON_NONE };
    memcpy(&gathered->order_numbers[gathered->orders++ * ORDER_NUMBERS], row, sizeof row);
    return STATUS_OK;
}

enum status store_gather_counter(struct store_batch *batch, uint64_t scope, user_id user, uint32_t quantity)
{
    struct store_gathered *gathered;
    enum status status = gathered_need(batch, &gathered);
    if (status == STATUS_OK && gathered->counters == ORDER_BATCH_MAX)
        status = store_gather_flush(batch);
    if (status != STATUS_OK)
        return status;
    const uint64_t row[COUNTER_NUMBERS] = { scope, user, quantity };
    memcpy(&gathered->counter_numbers[gathered->counters++ * COUNTER_NUMBERS], row, sizeof row);
    return STATUS_OK;
}

void store_gather_clear(struct store *store)
{
    if (store->gathered != NULL)
        store->gathered->orders = store->gathered->counters = 0;
}

void store_gather_free(struct store *store)
{
    free(store->gathered);
}
