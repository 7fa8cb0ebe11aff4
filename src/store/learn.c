/* SPDX-License-Identifier: Apache-2.0 */
/* News of payments. One door, one transaction: the payment, its order, the stock, the event and the
 * refund intent change together or not at all. What becomes of them is decided in
 * contract/payment_rules.h; here it is read and written. */
#include "contract/order_state.h"
#include "contract/payment_rules.h"
#include "store/deposits.h"
#include "store/limit_uses.h"

/* Its payer's units count from now on. */
static enum status order_pay(
    struct store_batch *batch, const struct payment *payment, struct order *order, uint64_t now_ms)
{
    const struct order_move move = { .ticket = order->ticket, .event = ORDER_EVENT_PAY, .now_ms = now_ms };
    struct stock_row *row;
    enum status status = store_move_make(batch, &move, order, ORDER_PAID);
    if (status != STATUS_OK || payment->payer == 0)
        return status;
    status = store_stock_row(batch, order->item, &row);
    return status != STATUS_OK ? status
                               : store_limit_take(batch->store, row, LIMIT_PAYER, payment->payer,
                                   order->ticket, order->quantity, now_ms);
}

/* Its units go back, and payments of it are closed. */
static enum status order_close(struct store_batch *batch, struct order *order, uint64_t now_ms)
{
    const struct order_move move = { .ticket = order->ticket, .event = ORDER_EVENT_REJECT, .now_ms = now_ms };
    const enum status status = store_move_make(batch, &move, order, ORDER_CLOSED);
    return status == STATUS_OK ? store_payments_close(batch->store, order->ticket, now_ms) : status;
}

/* The order of a payer who has bought enough. */
static enum status order_reject(struct store_batch *batch, struct order *order, uint64_t now_ms)
{
    enum status status = order_close(batch, order, now_ms);
    if (status == STATUS_OK)
        status = store_limit_mark(batch->store, order->ticket, LIMIT_PAYER);
    order->limited = LIMIT_PAYER;
    return status;
}

/* What was paid before stays as it is. */
static enum status payer_look(struct store_batch *batch, const struct order *order, uint64_t payer,
    uint64_t now_ms, enum payer_limit *limit)
{
    struct stock_row *row;
    bool over = false;
    *limit = PAYER_FREE;
    if (order->state == ORDER_PAID)
        return STATUS_OK;
    enum status status = store_stock_row(batch, order->item, &row);
    if (status != STATUS_OK || row->limits.payer_limit == 0)
        return status;
    if (payer != 0)
        status = store_limit_look(batch->store, row, LIMIT_PAYER, payer, order->quantity, now_ms, &over);
    *limit = payer == 0 ? PAYER_WANTED : over ? PAYER_OVER : PAYER_FREE;
    return status;
}

enum status store_order_close_waiting(struct store_batch *batch, struct order *order, uint64_t now_ms)
{
    uint32_t live = 0;
    enum order_event event;
    const enum status status = store_payments_live(batch->store, order->ticket, &live);
    if (status != STATUS_OK || !order_ending_event(order, live, &event))
        return status;
    const struct order_move move = { .ticket = order->ticket, .event = (uint8_t)event, .now_ms = now_ms };
    return store_move_make(batch, &move, order, ORDER_CLOSED);
}

static enum status verdict_execute(struct store_batch *batch, const struct news_verdict *verdict,
    const struct payment_news *news, const struct payment *payment, struct order *order)
{
    struct store *store = batch->store;
    enum status status = STATUS_OK;
    if (verdict->changed)
        status = store_payment_write(store, payment);
    if (status == STATUS_OK && verdict->pays)
        status = order_pay(batch, payment, order, news->now_ms);
    if (status == STATUS_OK && verdict->rejects)
        status = order_reject(batch, order, news->now_ms);
    if (status == STATUS_OK && verdict->refund)
        status = store_refund_want(
            store, payment, news->currency, (enum refund_why)verdict->why, news->now_ms);
    if (status == STATUS_OK && verdict->order_freed)
        status = store_order_close_waiting(batch, order, news->now_ms);
    return status;
}

static enum status learn_look(struct store *store, const struct payment_news *news,
    struct payment *payment, struct order *order, bool *payer_known)
{
    enum status status = store_payment_by_reference(&store->store, news->reference, payment);
    if (status != STATUS_OK)
        return status;
    status = store_order_by_ticket(&store->store, payment->ticket, order);
    if (status == STATUS_NOT_FOUND)
        return STATUS_CORRUPT;
    return status == STATUS_OK ? store_payer_known(store, order->ticket, payer_known) : status;
}

static enum status learn_once(struct store *store, const struct payment_news *news,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    struct store_change change;
    struct news_verdict verdict = { .answer = LEARN_UNKNOWN };
    enum payer_limit limit = PAYER_FREE;
    bool payer_known = false;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = store_reference_lock(store, news->reference);
    if (status == STATUS_OK)
        status = learn_look(store, news, payment, after, &payer_known);
    const bool known = status == STATUS_OK;
    if (known && news->kind == NEWS_CAPTURED && payment->state != PAYMENT_CAPTURED)
        status = payer_look(&change.batch, after, news->payer, news->now_ms, &limit);
    if (status == STATUS_OK) {
        verdict = payment_news_decide(news, after, payer_known, limit, payment);
        status = verdict_execute(&change.batch, &verdict, news, payment, after);
    } else if (status == STATUS_NOT_FOUND && !known) {
        status = STATUS_OK;
    }
    *answer = verdict.answer;
    return store_change_end(&change, status, verdict.changed || verdict.refund);
}

enum status store_payment_learn(struct order_store *handle, const struct payment_news *news,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { .repeatable = true };
    uint8_t first = LEARN_REPEATED;
    enum status status;
    STORE_TRIES (store, &tries, &status) {
        status = learn_once(store, news, payment, after, answer);
        if (status == STATUS_UNKNOWN && first == LEARN_REPEATED)
            first = *answer;
    }
    if (*answer == LEARN_REPEATED)
        *answer = first; /* of the try that was kept */
    return status;
}

/* ---- late money ---- */

/* The order that the money was for, and whether the other one is paid by something. */
static enum status relink_look(struct store *store, const struct payment *payment,
    const struct order *order, struct order *first, bool *payer_known)
{
    const enum status status = store_order_by_ticket(&store->store, payment->ticket, first);
    if (status == STATUS_NOT_FOUND)
        return STATUS_CORRUPT;
    return status == STATUS_OK ? store_payer_known(store, order->ticket, payer_known) : status;
}

/* What else speaks against it: the payer, and a booking that can't go on with this deposit. */
struct relink_facts {
    enum payer_limit limit;
    struct booking_late late;
    bool joins; /* the order is the booking's deposit from now on */
};

/* An order of a deposit item that belongs to no booking: it is closed, or refunded if somebody has paid
 * it by other money meanwhile. */
static enum status stray_end(struct store_batch *batch, struct order *order, uint64_t now_ms)
{
    const struct order_move move = {
        .ticket = order->ticket, .event = ORDER_EVENT_REFUND, .refund_to = REFUND_TO_STOCK, .now_ms = now_ms
    };
    enum move_answer answer;
    if (order->state == ORDER_PENDING)
        return order_close(batch, order, now_ms);
    return order->state == ORDER_PAID ? store_move_one(batch, &move, order, &answer) : STATUS_OK;
}

static enum status relink_execute(struct store_batch *batch, enum relink_verdict verdict,
    const struct relink_facts *facts, const struct payment *payment, struct order *order, uint64_t now_ms)
{
    const bool over = facts->limit == PAYER_OVER;
    const bool open = order->state == ORDER_PENDING;
    if (verdict != RELINK_PAYS && verdict != RELINK_GIVES_BACK)
        return STATUS_OK;
    enum status status = store_payment_write(batch->store, payment);
    if (status == STATUS_OK && facts->joins && (verdict == RELINK_PAYS || order->state == ORDER_PAID))
        status = store_booking_join(batch->store, &facts->late, order->ticket);
    if (status != STATUS_OK)
        return status;
    if (verdict == RELINK_PAYS)
        return order_pay(batch, payment, order, now_ms);
    if (open && over)
        status = order_reject(batch, order, now_ms);
    else if (facts->late.booking.id != 0 && (open || !facts->joins))
        status = stray_end(batch, order, now_ms);
    return status != STATUS_OK ? status
                               : store_refund_want(batch->store, payment, payment->currency,
                                   over ? REFUND_OF_PAYER : REFUND_OF_LATE, now_ms);
}

/* Locks before the orders are: items come first. */
static enum status relink_booking(
    struct store *store, uint64_t id, ticket_number ticket, struct relink_facts *facts)
{
    ticket_number first = 0;
    enum status status =
        sql_number(store, "SELECT ticket FROM payments WHERE id = ?1", VALUES(U64(id)), &first);
    if (status == STATUS_OK)
        status = store_booking_late(store, first, ticket, &facts->late);
    facts->joins = booking_late_joins(&facts->late);
    return status;
}

static enum status relink_lock(struct store *store, uint64_t id, ticket_number ticket)
{
    ticket_number tickets[2] = { ticket };
    if (!store_locks(store))
        return STATUS_OK;
    enum status status =
        sql_number(store, "SELECT ticket FROM payments WHERE id = ?1", VALUES(U64(id)), &tickets[1]);
    if (status == STATUS_OK)
        status = store_orders_lock(store, tickets, 2);
    return status == STATUS_OK && (tickets[0] == 0 || tickets[1] == 0) ? STATUS_NOT_FOUND : status;
}

static enum status relink_once(struct order_store *handle, uint64_t id, ticket_number ticket,
    uint64_t now_ms, struct order *after, bool *done)
{
    struct store *store = store_of(handle);
    struct store_change change;
    struct payment payment = { 0 };
    struct order first;
    bool payer_known = false;
    struct relink_facts facts = { .limit = PAYER_FREE };
    enum relink_verdict verdict = RELINK_OVER;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = relink_booking(store, id, ticket, &facts);
    if (status == STATUS_OK)
        status = relink_lock(store, id, ticket);
    if (status == STATUS_OK)
        status = store_payment_get(handle, id, &payment);
    if (status == STATUS_OK)
        status = store_order_by_ticket(handle, ticket, after);
    if (status == STATUS_OK)
        status = relink_look(store, &payment, after, &first, &payer_known);
    if (status == STATUS_OK && payment.use == USE_LATE)
        status = payer_look(&change.batch, after, payment.payer, now_ms, &facts.limit);
    if (status == STATUS_OK) {
        const bool apart = facts.late.booking.id != 0 && !facts.joins;
        verdict = payment_relink_decide(&first, after, payer_known, apart, facts.limit, &payment);
        status = relink_execute(&change.batch, verdict, &facts, &payment, after, now_ms);
    }
    *done = verdict == RELINK_PAYS || verdict == RELINK_REPEATED;
    return store_change_end(&change, status, verdict == RELINK_PAYS || verdict == RELINK_GIVES_BACK);
}

enum status store_payment_relink(struct order_store *handle, uint64_t id, ticket_number ticket,
    uint64_t now_ms, struct order *after, bool *done)
{
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = relink_once(handle, id, ticket, now_ms, after, done);
    return status;
}

static enum status give_back_once(
    struct order_store *handle, uint64_t id, enum refund_why why, uint64_t now_ms)
{
    struct store *store = store_of(handle);
    struct store_change change;
    struct payment payment = { 0 };
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = store_payment_lock(store, id, false);
    if (status == STATUS_OK)
        status = store_payment_get(handle, id, &payment);
    const bool goes = status == STATUS_OK && payment_give_back_decide(&payment);
    if (goes)
        status = store_payment_write(store, &payment);
    if (status == STATUS_OK && goes)
        status = store_refund_want(store, &payment, payment.currency, why, now_ms);
    return store_change_end(&change, status, goes);
}

enum status store_payment_give_back(
    struct order_store *handle, uint64_t id, enum refund_why why, uint64_t now_ms)
{
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = give_back_once(handle, id, why, now_ms);
    return status;
}
