/* SPDX-License-Identifier: Apache-2.0 */
/* Payment, expiry, cancellation, refund: an order moves because the order side says so. One
 * transaction holds the conditional update, the accounting of order.c, the payment, and the
 * stock event that the pump brings to the inventory. The SETTLE record that comes back finds the
 * order moved and only confirms the event; so nothing is counted twice, and a crash anywhere in
 * between leaves an open event, which the pump sends again.
 *   paid               pending → paid; a payment, an event SOLD
 *   expired, cancelled pending → closed; sold −= quantity, counters, slot; an event RETURN
 *   refunded           paid → refunded; the same, or written off: an event WRITE_OFF
 * Units that belong to a channel follow the log, as always: they move when the record comes. */
#include "contract/order_state.h"
#include "contract/payment_rules.h"
#include "store/parts.h"

static_assert(ORDER_PENDING == 1 && PAYMENT_CAPTURED == 4, "said in numbers in the statements");

enum status store_currency(struct store *store, item_id item, char currency[4])
{
    const enum status status = sql_text(
        store, "SELECT currency FROM items JOIN products ON products.id = items.product WHERE items.id = ?1",
        VALUES(U64(item)), currency, 4);
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
}

enum status store_change_begin(struct store_change *change, struct store *store)
{
    *change = (struct store_change){ .refusal = { .index = UINT32_MAX } };
    change->batch =
        (struct store_batch){ .store = store, .refusal = &change->refusal, .index = UINT32_MAX };
    store_stock_clear(&store->stock);
    return store_begin(store);
}

enum status store_change_end(struct store_change *change, enum status status, bool changed)
{
    struct store *store = change->batch.store;
    if (status == STATUS_OK && !store->grouped)
        status = store_stock_flush(&change->batch);
    if (status == STATUS_OK && changed)
        status = store_commit(store);
    if (status != STATUS_OK || !changed)
        store_rollback(store);
    else if (store->grouped)
        store_stock_keep(store);
    return status;
}

/* What the order's money says to this move: who pays or refunds asks for the payer, who closes for payments
 * that are under way. `payer`: the payment that has paid the order; id 0: none. */
static enum status money_look(struct store *store, const struct order_move *move,
    struct payment *payer, struct order_money *money)
{
    const bool pays = move->event == ORDER_EVENT_PAY, refunds = move->event == ORDER_EVENT_REFUND;
    struct payment named = { 0 };
    enum status status = STATUS_OK;
    if (pays)
        status = store_payment_by_reference(&store->store, move->reference, &named);
    if (pays || refunds)
        status = status == STATUS_OK || status == STATUS_NOT_FOUND
            ? store_payment_of_paid(&store->store, move->ticket, payer)
            : status;
    if (status == STATUS_NOT_FOUND)
        status = STATUS_OK;
    if (status == STATUS_OK && !pays && !refunds)
        status = store_payments_live(store, move->ticket, &money->live);
    if (status == STATUS_OK && refunds && move->unless_shipped)
        status = sql_found(store, "SELECT 1 FROM shipments WHERE ticket = ?1",
            VALUES(U64(move->ticket)), &money->shipped);
    const bool paid_by_this = named.id != 0 && named.paid_ticket == move->ticket;
    money->reference_used = named.id != 0 && !paid_by_this;
    money->payer = paid_by_this ? PAYER_THIS : payer->id != 0 ? PAYER_OTHER : PAYER_NONE;
    return status;
}

/* Nothing is changed here: what the move comes to, as the order is now. */
static enum status move_look(struct store *store, const struct order_move *move,
    struct order *order, struct payment *payer, enum order_state *to, enum move_answer *answer)
{
    char currency[4] = "";
    struct order_money money = { 0 };
    bool left = false;
    enum status status = store_order_by_ticket(&store->store, move->ticket, order);
    *answer = MOVE_UNKNOWN;
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    if (move->event == ORDER_EVENT_PAY)
        status = store_currency(store, order->item, currency);
    if (move->event == ORDER_EVENT_REFUND) /* its row is still there, but the bundle has it as it was */
        status = store_item_left(store, order->item, &left);
    if (status == STATUS_OK && left)
        return STATUS_OK;
    if (status == STATUS_OK)
        status = money_look(store, move, payer, &money);
    if (status == STATUS_OK)
        *answer = order_move_decide(move, order, currency, &money, to);
    return status;
}

enum status store_move_make(struct store_batch *batch, const struct order_move *move,
    struct order *order, enum order_state to)
{
    const enum settle_step step = order_move_step(move);
    const enum order_reason reason =
        to == ORDER_CLOSED ? order_state_reason((enum order_event)move->event) : REASON_NONE;
    enum status status = STATUS_OK;
    struct stock_row *row;
    if (order->state == to) /* it was paid, and its payment is known by now */
        return store_payments_close(batch->store, move->ticket, move->now_ms);
    if (move->event == ORDER_EVENT_PAY) {
        status = store_order_paid(batch, order);
        if (status == STATUS_OK)
            status = store_payments_close(batch->store, move->ticket, move->now_ms);
    } else {
        status = store_stock_row(batch, order->item, &row);
        if (status == STATUS_OK)
            status = store_order_end(batch, row, order, to, reason, step);
    }
    if (status == STATUS_OK)
        status = store_event_put(batch, order, step, order_move_destination(move, order));
    order->state = (uint8_t)to;
    order->reason = (uint8_t)reason;
    order->ending = REASON_NONE;
    order->version++;
    return status;
}

/* The shop moves money itself: what it reports is written down as done. */
static enum status move_money(
    struct store *store, const struct order_move *move, const struct payment *payer)
{
    struct payment payment;
    if (move->event == ORDER_EVENT_PAY) {
        payment_by_shop_make(move, &payment);
        return store_payment_insert(store, &payment);
    }
    if (move->event == ORDER_EVENT_REFUND)
        return store_refund_want(store, payer, payer->currency, REFUND_OF_ORDER, move->now_ms);
    return STATUS_OK;
}

enum status store_move_one(struct store_batch *batch, const struct order_move *move,
    struct order *after, enum move_answer *answer)
{
    enum order_state to = ORDER_NONE;
    struct payment payer = { 0 };
    enum status status = move_look(batch->store, move, after, &payer, &to, answer);
    if (status != STATUS_OK || *answer != MOVE_DONE)
        return status;
    status = store_move_make(batch, move, after, to);
    return status == STATUS_OK ? move_money(batch->store, move, &payer) : status;
}

struct locked_orders {
    ticket_number tickets[ORDER_MOVES_MAX];
    uint32_t count;
};

static enum status moves_lock(struct store *store, const struct order_move *moves, uint32_t count,
    struct locked_orders *locked)
{
    locked->count = count;
    for (uint32_t i = 0; i < count; i++)
        locked->tickets[i] = moves[i].ticket;
    return store_orders_lock(store, locked->tickets, count);
}

static bool is_locked(const struct store *store, const struct locked_orders *locked, ticket_number ticket)
{
    bool found = !store_locks(store);
    for (uint32_t i = 0; i < locked->count && !found; i++)
        found = locked->tickets[i] == ticket;
    return found;
}

static enum status moves_make(struct store *store, const struct order_move *moves, uint32_t count,
    struct order *after, uint8_t *answers)
{
    struct store_change change;
    struct locked_orders locked;
    bool changed = false;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = moves_lock(store, moves, count, &locked);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        enum move_answer answer = MOVE_UNKNOWN;
        if (is_locked(store, &locked, moves[i].ticket))
            status = store_move_one(&change.batch, &moves[i], &after[i], &answer);
        answers[i] = (uint8_t)answer;
        changed |= answer == MOVE_DONE;
    }
    return store_change_end(&change, status, changed);
}

/* Two orders that are paid with one reference at once: the database refuses the second, which then finds
 * the first. */
static enum status moves_reference(struct store *store, enum status status)
{
    const bool taken = status == STATUS_REFUSED && store_locks(store)
        && store->connection->driver->error(store->connection) == SQL_ERROR_UNIQUE;
    return taken ? store_conflict(store) : status;
}

enum status store_orders_move(struct order_store *handle, const struct order_move *moves,
    uint32_t count, struct order *after, uint8_t *answers)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { .repeatable = true };
    enum status status;
    invariant(count <= ORDER_MOVES_MAX);
    STORE_TRIES (store, &tries, &status)
        status = moves_reference(store, moves_make(store, moves, count, after, answers));
    for (uint32_t i = 0; i < count && tries.unknown; i++)
        if (answers[i] == MOVE_REPEATED) /* by the try that was kept */
            answers[i] = MOVE_DONE;
    return status;
}

/* The next one may have live payments: when these end without money, nobody else tells the time. */
enum status store_orders_due(struct order_store *handle, uint64_t now_ms, uint64_t created_from_ms,
    ticket_number *tickets, uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    *next_ms = UINT64_MAX;
    enum status status = sql_rows(store_of(handle),
        "SELECT ticket FROM orders WHERE state = 1 AND pay_by_ms <= ?1 AND created_ms >= ?2"
        " AND NOT EXISTS(SELECT 1 FROM payments"
        " WHERE payments.ticket = orders.ticket AND payments.state < 4) ORDER BY pay_by_ms LIMIT "
        "?3",
        VALUES(U64(now_ms), U64(created_from_ms), U64(max)), &sql_number_column,
        PAGE(tickets, max, count));
    if (status == STATUS_OK)
        status = sql_number(store_of(handle),
            "SELECT pay_by_ms FROM orders WHERE state = 1 AND pay_by_ms > ?1 AND created_ms >= ?2"
            " ORDER BY pay_by_ms LIMIT 1",
            VALUES(U64(now_ms), U64(created_from_ms)), next_ms);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}
