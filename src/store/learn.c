/* SPDX-License-Identifier: Apache-2.0 */
/* News of payments. One door, one transaction: the payment, its order, the stock, the event and the
 * refund intent change together or not at all. What becomes of them is decided in
 * contract/payment_rules.h; here it is read and written. */
#include "contract/order_state.h"
#include "contract/payment_rules.h"
#include "store/parts.h"

static enum status order_pay(struct store_batch *batch, struct order *order, uint64_t now_ms)
{
    const struct order_move move = { .ticket = order->ticket, .event = ORDER_EVENT_PAY, .now_ms = now_ms };
    return store_move_make(batch, &move, order, ORDER_PAID);
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
        status = order_pay(batch, order, news->now_ms);
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
    bool payer_known = false;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = store_reference_lock(store, news->reference);
    if (status == STATUS_OK)
        status = learn_look(store, news, payment, after, &payer_known);
    if (status == STATUS_OK) {
        verdict = payment_news_decide(news, after, payer_known, payment);
        status = verdict_execute(&change.batch, &verdict, news, payment, after);
    } else if (status == STATUS_NOT_FOUND) {
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

static enum status relink_execute(struct store_batch *batch, enum relink_verdict verdict,
    const struct payment *payment, struct order *order, uint64_t now_ms)
{
    if (verdict != RELINK_PAYS && verdict != RELINK_GIVES_BACK)
        return STATUS_OK;
    const enum status status = store_payment_write(batch->store, payment);
    if (status != STATUS_OK)
        return status;
    return verdict == RELINK_PAYS
        ? order_pay(batch, order, now_ms)
        : store_refund_want(batch->store, payment, payment->currency, REFUND_OF_LATE, now_ms);
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
    enum relink_verdict verdict = RELINK_OVER;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = relink_lock(store, id, ticket);
    if (status == STATUS_OK)
        status = store_payment_get(handle, id, &payment);
    if (status == STATUS_OK)
        status = store_order_by_ticket(handle, ticket, after);
    if (status == STATUS_OK)
        status = relink_look(store, &payment, after, &first, &payer_known);
    if (status == STATUS_OK) {
        verdict = payment_relink_decide(&first, after, payer_known, &payment);
        status = relink_execute(&change.batch, verdict, &payment, after, now_ms);
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
