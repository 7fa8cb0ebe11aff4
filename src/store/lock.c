/* SPDX-License-Identifier: Apache-2.0 */
/* store/lock.c: rows that a decision rests on are locked before they are looked at (parts.h has the order).
 * A lock is a statement of its own: what is read after it is what nobody else changes any more. */
#include "contract/ticket_number.h"
#include "store/parts.h"

#include <stdlib.h>

bool store_locks(const struct store *store)
{
    return store->connection->driver->locks_rows;
}

/* A row that another connection commits between the lock and the read would be decided on without a lock. So
 * what the lock did not find counts as not there. */
static enum status known_row_lock(struct store *store, const char *sql, struct sql_values values)
{
    bool found = true;
    const enum status status = store_locks(store) ? sql_found(store, sql, values, &found) : STATUS_OK;
    return status == STATUS_OK && !found ? STATUS_NOT_FOUND : status;
}

/* One that need not be there. */
static enum status row_lock(struct store *store, const char *sql, struct sql_values values)
{
    const enum status status = known_row_lock(store, sql, values);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status part_read(struct store *store, struct position *position)
{
    return sql_number(store,
        store_locks(store) ? "SELECT seq FROM parts WHERE part = ?1 FOR UPDATE"
                           : "SELECT seq FROM parts WHERE part = ?1",
        VALUES(U64(position->part)), &position->seq);
}

enum status store_part_take(struct store *store, uint32_t part, struct position *position)
{
    *position = (struct position){ .part = part };
    if (part > PART_MAX)
        return STATUS_BAD_INPUT;
    enum status status = part_read(store, position);
    if (status != STATUS_NOT_FOUND)
        return status;
    status = store_parts_make(store, part);
    return status == STATUS_OK ? part_read(store, position) : status;
}

enum status store_parts_lock(struct store *store)
{
    struct sql_row *row;
    if (!store_locks(store))
        return STATUS_OK;
    enum status status =
        sql_query(store, "SELECT part FROM parts ORDER BY part FOR UPDATE", NO_VALUES, &row);
    if (status != STATUS_OK)
        return status;
    while (status == STATUS_OK)
        status = sql_next(row);
    sql_finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status store_audit_lock(struct store *store)
{
    return row_lock(store, "SELECT entries FROM audit_head FOR UPDATE", NO_VALUES);
}

enum status store_counter_lock(struct store *store, uint64_t scope, user_id user)
{
    return row_lock(store, "SELECT used FROM user_counters WHERE scope = ?1 AND user_id = ?2 FOR UPDATE",
        VALUES(U64(scope), U64(user)));
}

enum status store_item_lock(struct store *store, item_id item)
{
    return row_lock(store, "SELECT id FROM items WHERE id = ?1 FOR UPDATE", VALUES(U64(item)));
}

static int number_compare(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

/* Each once, in ascending order; 0 is none. Those that are not there become 0. */
static enum status all_lock(struct store *store, uint64_t *numbers, uint32_t count,
    enum status (*lock)(struct store *, uint64_t number))
{
    enum status status = STATUS_OK;
    qsort(numbers, count, sizeof *numbers, number_compare);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        if (numbers[i] == 0 || (i > 0 && numbers[i] == numbers[i - 1]))
            continue;
        status = lock(store, numbers[i]);
        if (status == STATUS_NOT_FOUND) {
            numbers[i] = 0;
            status = STATUS_OK;
        }
    }
    return status;
}

static enum status item_number_lock(struct store *store, uint64_t item)
{
    return store_item_lock(store, (item_id)item);
}

enum status store_items_lock(struct store *store, uint64_t *items, uint32_t count)
{
    return store_locks(store) ? all_lock(store, items, count, item_number_lock) : STATUS_OK;
}

enum status store_order_lock(struct store *store, ticket_number ticket)
{
    return known_row_lock(
        store, "SELECT item FROM orders WHERE ticket = ?1 FOR UPDATE", VALUES(U64(ticket)));
}

enum status store_orders_lock(struct store *store, ticket_number *tickets, uint32_t count)
{
    uint64_t items[ORDER_MOVES_MAX] = { 0 };
    enum status status = STATUS_OK;
    invariant(count <= ORDER_MOVES_MAX);
    if (!store_locks(store))
        return STATUS_OK;
    for (uint32_t i = 0; i < count && !store->grouped && status == STATUS_OK; i++) {
        status = sql_number(
            store, "SELECT item FROM orders WHERE ticket = ?1", VALUES(U64(tickets[i])), &items[i]);
        if (status == STATUS_NOT_FOUND) {
            tickets[i] = 0; /* without its item it can't be moved */
            status = STATUS_OK;
        }
    }
    if (status == STATUS_OK && !store->grouped)
        status = store_items_lock(store, items, count);
    return status == STATUS_OK ? all_lock(store, tickets, count, store_order_lock) : status;
}

/* The order that a payment is for never changes, so it may be read before it is locked. */
static enum status payer_lock(struct store *store, const char *sql, struct sql_values payment, bool moves)
{
    ticket_number ticket = 0;
    if (!store_locks(store))
        return STATUS_OK;
    const enum status status = sql_number(store, sql, payment, &ticket);
    if (status != STATUS_OK)
        return status;
    return moves ? store_orders_lock(store, &ticket, 1) : store_order_lock(store, ticket);
}

enum status store_payment_lock(struct store *store, uint64_t id, bool moves)
{
    return payer_lock(store, "SELECT ticket FROM payments WHERE id = ?1", VALUES(U64(id)), moves);
}

enum status store_reference_lock(struct store *store, const char *reference)
{
    return payer_lock(
        store, "SELECT ticket FROM payments WHERE reference = ?1", VALUES(TEXT(reference)), true);
}
