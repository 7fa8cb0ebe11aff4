/* SPDX-License-Identifier: Apache-2.0 */
/* An order from its ticket to its end, as far as the log tells (move.c: as the order side
 * decides).
 *
 * Accounting. An order is live while pending or paid. items.sold − items.sold_before = Σ quantity
 * of live orders, at every commit; with nothing under way it equals the engine's held + sold (dead
 * letters aside: their units are held by the engine and by no order, until a person decides).
 *   written          sold += quantity, counters += quantity, slot taken
 *   rejected         closed from the start: no sold, no counter, no slot; a stock event returns the
 *                    engine's units. Also when a limit over a period is passed (limit_uses.h), which the
 *                    engine does not know: then at once, without a second try of the batch
 *   settled: sold    pending → paid; nothing moves. Paid already: the record only confirms.
 *   settled: return  live → closed or refunded: sold −= quantity, counters −= quantity, slot NULL;
 *                    an order that is over already (rejected, closed by a move) has given back
 *                    everything: the record only confirms its event
 *   settled: off     paid → refunded: sold −= quantity, and locked and written_off += quantity:
 *                    the units don't come back for sale; counters stay, as in the engine
 * The other guards here are never stricter than the engine: they count against the limits that the log
 * has told. */
#include "contract/order_state.h"
#include "contract/waitlist_rules.h"
#include "store/gather.h"
#include "store/limit_uses.h"
#include "store/lots.h"
#include "store/parts.h"

static const uint64_t scope_sale = (uint64_t)1 << 32;

#define ORDER_INSERT \
    "INSERT INTO orders(version, ticket, item, user_id, quantity, channel, unit_price, amount," \
    " created_ms, pay_by_ms, lot, slot, state, reason)" \
    " VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
static const char order_insert[] = ORDER_INSERT "?11, 1, 0) ON CONFLICT DO NOTHING";
static const char order_reject[] = ORDER_INSERT "NULL, 3, 3) ON CONFLICT DO NOTHING";
static_assert(ORDER_PENDING == 1 && ORDER_CLOSED == 3 && REASON_REJECTED == 3,
    "said in numbers in the statements");
static const char order_move[] = "UPDATE orders SET state = ?3, ending = 0, version = version + 1"
                                 " WHERE ticket = ?1 AND state = ?2";
static const char order_end[] =
    "UPDATE orders SET state = ?3, reason = ?4, slot = NULL, ending = 0, version = version + 1"
    " WHERE ticket = ?1 AND state = ?2";

static enum status counter_take(
    struct store_batch *batch, uint64_t scope, user_id user, uint32_t quantity, uint32_t limit)
{
    if (quantity > limit)
        return store_refuse(batch, REFUSAL_LIMIT, "%u units exceed the limit of %u", quantity, limit);
    if (store_gathers(batch))
        return store_gather_counter(batch, scope, user, quantity);
    enum status status = store_batch_do(batch, /* most users buy once */
        "INSERT INTO user_counters(scope, user_id, used) VALUES(?1, ?2, ?3)"
        " ON CONFLICT(scope, user_id) DO NOTHING",
        VALUES(U64(scope), U64(user), U64(quantity)));
    if (status == STATUS_OK && sql_matched(batch->store) != 1)
        status = store_batch_do(batch,
            "UPDATE user_counters SET used = used + ?3"
            " WHERE scope = ?1 AND user_id = ?2 AND used + ?3 <= ?4",
            VALUES(U64(scope), U64(user), U64(quantity), U64(limit)));
    if (status == STATUS_OK && sql_matched(batch->store) != 1)
        return store_refuse(batch, REFUSAL_LIMIT,
            "%u more units would exceed the user's limit of %u", quantity, limit);
    return status;
}

static enum status counters_take(
    struct store_batch *batch, const struct stock_row *row, user_id user, uint32_t quantity)
{
    enum status status = STATUS_OK;
    if (row->limit_per_user == 1 && quantity > 1)
        return store_refuse(batch, REFUSAL_LIMIT, "%u units exceed the limit of 1", quantity);
    if (row->limit_per_user > 1)
        status = counter_take(batch, row->item, user, quantity, row->limit_per_user);
    if (status == STATUS_OK && row->sale_limit > 0)
        status = counter_take(batch, scope_sale + row->sale, user, quantity, row->sale_limit);
    return status;
}

static enum status counters_free(
    struct store_batch *batch, const struct stock_row *row, user_id user, uint32_t quantity)
{
    const uint64_t scopes[] = { row->item, scope_sale + row->sale };
    enum status status = STATUS_OK;
    /* A scope without a limit has no counter: then no row changes. Not both at once: SQLite makes a table
     * for "IN", which costs more than the second statement. */
    for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++)
        status = store_batch_do(batch,
            "UPDATE user_counters SET used = used - ?3"
            " WHERE scope = ?1 AND user_id = ?2 AND used >= ?3",
            VALUES(U64(scopes[i]), U64(user), U64(quantity)));
    return status;
}

/* Nothing was inserted. The ticket is there already: harmless if it is this one, told again under another
 * position. Otherwise the user has a live order of the item. */
static enum status order_check_same(
    struct store_batch *batch, const struct store_ticket *ticket, bool *there)
{
    struct order order;
    const enum status status = store_order_by_ticket(&batch->store->store, ticket->ticket, &order);
    if (status == STATUS_NOT_FOUND)
        return store_refuse(batch, REFUSAL_UNIQUE, "item %u has a live order of this user", ticket->item);
    *there = status == STATUS_OK;
    if (status == STATUS_OK
        && (order.item != ticket->item || order.user != ticket->user || order.quantity != ticket->quantity))
        return store_refuse(batch, REFUSAL_UNKNOWN, "ticket %llu is another order",
            (unsigned long long)ticket->ticket);
    return status;
}

/* *there: it was written before, with all that belongs to it. */
static enum status order_put(struct store_batch *batch, struct stock_row *row,
    const struct store_ticket *ticket, bool reject, bool *there)
{
    const uint64_t slot = row->limit_per_user == 1 ? 0 : ticket->ticket;
    const uint64_t unit_price = ticket->unit_price;
    bool taken = false;
    *there = false;
    enum status status = store_lot_take(batch, row);
    if (status == STATUS_OK && slot == 0 && !reject)
        status = store_lots_find(batch, row, ticket->user, &taken);
    if (status != STATUS_OK)
        return status;
    if (taken)
        return order_check_same(batch, ticket, there);
    struct sql_values values = VALUES(U64(ticket->ticket), U64(ticket->item), U64(ticket->user),
        U64(ticket->quantity), U64(ticket->channel), U64(unit_price), U64(unit_price * ticket->quantity),
        U64(ticket->created_ms), U64(ticket->pay_by_ms), U64(row->lot), U64(slot));
    if (store_gathers(batch) && !reject)
        return store_gather_order(batch, ticket, slot);
    if (reject)
        values.count = 10; /* no slot */
    status = store_batch_do(batch, reject ? order_reject : order_insert, values);
    if (status == STATUS_OK && __builtin_expect(sql_matched(batch->store) != 1, 0))
        return order_check_same(batch, ticket, there);
    store_lots_add(batch->store, row, ticket->user);
    return status;
}

enum status store_event_put(struct store_batch *batch, const struct order *order,
    enum settle_step step, channel_index destination)
{
    const enum status status = store_batch_do(batch,
        "INSERT INTO stock_events(ticket, step, destination) VALUES(?1, ?2, ?3)"
        " ON CONFLICT(ticket, step) DO NOTHING",
        VALUES(U64(order->ticket), U64(step), U64(destination)));
    if (status != STATUS_OK)
        return status;
    const bool fresh = sql_matched(batch->store) == 1;
    return fresh && waitlist_gets(step, destination) ? store_waitlist_pick(batch, order) : STATUS_OK;
}

/* What is over a limit is written by itself, behind what was gathered. */
static enum status limit_look(struct store_batch *batch, const struct stock_row *row,
    const struct store_ticket *ticket, bool *over)
{
    enum status status = store_limit_look(
        batch->store, row, LIMIT_PERIOD, ticket->user, ticket->quantity, ticket->created_ms, over);
    if (status == STATUS_OK && *over)
        status = store_gather_flush(batch);
    return status;
}

static enum status rejected_return(struct store_batch *batch, const struct store_ticket *ticket, bool over)
{
    const struct order order = {
        .ticket = ticket->ticket, .item = ticket->item, .quantity = ticket->quantity
    };
    const enum status status =
        over ? store_limit_mark(batch->store, ticket->ticket, LIMIT_PERIOD) : STATUS_OK;
    return status == STATUS_OK ? store_event_put(batch, &order, SETTLE_RETURN, ticket->channel) : status;
}

enum status store_order_write(struct store_batch *batch, const struct store_ticket *ticket, bool reject)
{
    struct stock_row *row;
    bool there, over = false;
    enum status status = store_stock_row(batch, ticket->item, &row);
    if (status == STATUS_OK && !reject)
        status = limit_look(batch, row, ticket, &over);
    if (status != STATUS_OK)
        return status;
    reject |= over;
    status = order_put(batch, row, ticket, reject, &there);
    if (status != STATUS_OK || there)
        return status;
    status = store_outbox_put(batch->store, ticket->ticket, 1, reject ? ORDER_CLOSED : ORDER_PENDING);
    if (status != STATUS_OK)
        return store_batch_failed(batch, status);
    status = store_buyer_put(batch, row, ticket->user);
    if (status != STATUS_OK)
        return status;
    store_sum_add(row, reject ? ORDER_CLOSED : ORDER_PENDING, reject ? REASON_REJECTED : REASON_NONE,
        ticket->quantity, ticket->unit_price * ticket->quantity, 1);
    if (reject)
        return rejected_return(batch, ticket, over);
    status = store_stock_take(batch, row, ticket->quantity);
    if (status == STATUS_OK)
        status = counters_take(batch, row, ticket->user, ticket->quantity);
    if (status == STATUS_OK)
        status = store_limit_take(batch->store, row, LIMIT_PERIOD, ticket->user, ticket->ticket,
            ticket->quantity, ticket->created_ms);
    return status;
}

/* A ticket without an order is settled in good order only if a person has it as a dead letter. */
static enum status settle_without_order(struct store_batch *batch, ticket_number ticket)
{
    bool dead;
    const enum status status = sql_found(
        batch->store, "SELECT 1 FROM dead_letters WHERE ticket = ?1", VALUES(U64(ticket)), &dead);
    if (status == STATUS_OK && !dead)
        return store_refuse(batch, REFUSAL_UNKNOWN, "ticket %llu is settled but has no order",
            (unsigned long long)ticket);
    return status;
}

static enum status order_change(struct store_batch *batch, struct stock_row *row,
    const struct order *order, enum order_state to, enum order_reason reason)
{
    const bool over = to == ORDER_CLOSED || to == ORDER_REFUNDED;
    struct sql_values values = VALUES(U64(order->ticket), U64(order->state), U64(to), U64(reason));
    if (!over)
        values.count = 3;
    enum status status = store_batch_do(batch, over ? order_end : order_move, values);
    if (status != STATUS_OK)
        return status;
    if (sql_matched(batch->store) != 1) /* it was read in this transaction */
        return store_conflict(batch->store);
    store_sum_add(row, (enum order_state)order->state, (enum order_reason)order->reason,
        order->quantity, order->amount, -1);
    store_sum_add(row, to, reason, order->quantity, order->amount, 1);
    status = store_outbox_put(batch->store, order->ticket, order->version + 1, to);
    return status == STATUS_OK ? STATUS_OK : store_batch_failed(batch, status);
}

enum status store_order_paid(struct store_batch *batch, const struct order *order)
{
    struct stock_row *row;
    invariant(order->state == ORDER_PENDING);
    const enum status status = store_stock_row(batch, order->item, &row);
    return status == STATUS_OK ? order_change(batch, row, order, ORDER_PAID, REASON_NONE) : status;
}

enum status store_order_end(struct store_batch *batch, struct stock_row *row,
    const struct order *order, enum order_state to, enum order_reason reason, enum settle_step step)
{
    row->now.sold -= order->quantity;
    if (step == SETTLE_WRITE_OFF) {
        row->now.locked += order->quantity;
        row->now.written_off += order->quantity;
    }
    enum status status = order_change(batch, row, order, to, reason);
    if (status == STATUS_OK && step == SETTLE_RETURN)
        status = counters_free(batch, row, order->user, order->quantity);
    return status == STATUS_OK ? store_limit_free(batch->store, row, order->ticket) : status;
}

/* Mostly it was moved before, and the record only confirms: then it needs no lock. */
static enum status settle_look(
    struct store *store, const struct command_settle *settle, struct order *order)
{
    const enum order_state settled = settle->step == SETTLE_SOLD ? ORDER_PAID : ORDER_CLOSED;
    enum status status = store_order_by_ticket(&store->store, settle->ticket, order);
    if (status != STATUS_OK || order->state >= settled || !store_locks(store))
        return status;
    status = store_order_lock(store, settle->ticket);
    return status == STATUS_OK ? store_order_by_ticket(&store->store, settle->ticket, order) : status;
}

static enum status settle_order(struct store_batch *batch, const struct queue_record *record,
    const struct order *order, struct stock_row *row)
{
    const struct command_settle *settle = &record->command.settle;
    if (settle->step == SETTLE_SOLD) {
        if (order->state != ORDER_PENDING)
            return STATUS_OK;
        return store_order_paid(batch, order);
    }
    if (settle->step == SETTLE_WRITE_OFF && order->state == ORDER_PENDING)
        return store_refuse(batch, REFUSAL_UNKNOWN, "ticket %llu is written off but was never paid",
            (unsigned long long)settle->ticket);
    store_stock_allot(row, order->channel, -(int64_t)order->quantity);
    if (settle->step == SETTLE_RETURN)
        store_stock_allot(row,
            settle->to == CHANNEL_SAFETY || settle->to < CHANNELS_MAX ? settle->to : order->channel,
            order->quantity);
    if (!order_state_holds_stock((enum order_state)order->state))
        return STATUS_OK;
    enum order_state to = order->state == ORDER_PAID ? ORDER_REFUNDED : ORDER_CLOSED;
    enum order_reason reason = to == ORDER_REFUNDED   ? REASON_NONE
        : record->command.time_ms >= order->pay_by_ms ? REASON_EXPIRED
                                                      : REASON_CANCELLED;
    enum status status = store_order_end(batch, row, order, to, reason, (enum settle_step)settle->step);
    if (status == STATUS_OK && to == ORDER_REFUNDED) /* nobody moved it: its money goes back too */
        status = store_refund_order(batch->store, settle->ticket, record->command.time_ms);
    return status;
}

static enum status settle_waiters(struct store_batch *batch, const struct queue_record *record,
    const struct stock_row *row, bool reject)
{
    const struct command_settle *settle = &record->command.settle;
    const struct outcome *outcome = &record->outcome;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < settle->waiter_count && status == STATUS_OK; i++) {
        const struct store_ticket ticket = {
            .ticket = outcome_waiter_ticket(outcome, i),
            .user = settle->waiters[i].user,
            .item = row->item,
            .quantity = settle->waiters[i].quantity,
            .channel = settle->to,
            .unit_price = outcome->unit_price,
            .created_ms = record->command.time_ms,
            .pay_by_ms = outcome->pay_by_ms,
        };
        bool over = false;
        if (ticket.ticket != 0)
            status = store_booking_is_over(batch->store, settle->waiters[i].key, &over);
        if (ticket.ticket != 0 && status == STATUS_OK)
            status = store_order_write(batch, &ticket, reject || over);
    }
    return status;
}

enum status store_order_settle(struct store_batch *batch, const struct queue_record *record, bool reject)
{
    const struct command_settle *settle = &record->command.settle;
    const bool served =
        record->outcome.detail != 0 && settle->step == SETTLE_RETURN && settle->to < CHANNELS_MAX;
    if (settle->step >= SETTLE_STEPS)
        return store_refuse(batch, REFUSAL_UNKNOWN, "%u is not a step of a ticket", settle->step);
    static_assert(SETTLE_SOLD == 0, "a unit that is back can't be sold any more: that event is over too");
    enum status status = store_batch_do(batch,
        "UPDATE stock_events SET confirmed_lsn = ?3"
        " WHERE ticket = ?1 AND (step = ?2 OR step = 0) AND confirmed_lsn IS NULL",
        VALUES(U64(settle->ticket), U64(settle->step), U64(record->at.seq)));
    if (status == STATUS_OK)
        status = store_waitlist_settled(batch, record);
    if (status != STATUS_OK)
        return status;

    struct order order;
    struct stock_row *row;
    status = settle_look(batch->store, settle, &order);
    if (status == STATUS_NOT_FOUND) {
        status = settle_without_order(batch, settle->ticket);
        order = (struct order){ .item = record->outcome.item, .state = ORDER_NONE };
        if (status != STATUS_OK || !served)
            return status;
    }
    if (status != STATUS_OK)
        return status;
    status = store_stock_row(batch, order.item, &row);
    if (status == STATUS_OK && order.state != ORDER_NONE)
        status = settle_order(batch, record, &order, row);
    if (status == STATUS_OK && served)
        status = settle_waiters(batch, record, row, reject);
    return status;
}
