/* SPDX-License-Identifier: Apache-2.0 */
/* News of payments. One door, one transaction: the payment, its order, the stock, the event and the
 * refund intent change together or not at all. What was captured is never taken back by later news;
 * what came too late never reopens an order.
 *
 *   captured, its order is ...   use
 *   pending                      ORDER     pending → paid, other payments of it are closed
 *   paid (by another one)        REFUND    double
 *   paid, by none that we know   ORDER     after a restore: this was it
 *   refunded, the same           ORDER     and goes back, like any money of a refunded order
 *   closed, refunded             LATE      the cashier looks for a unit: relink or give_back
 *   any, another amount          REFUND    if we asked; a callback only makes us ask
 *
 * A payment that is closed without its provider's word keeps a next_ms: it is unanswered, and due. */
#include "base/planted.h"
#include "store/sqlite/parts.h"

#include <stdio.h>

static const struct sqlite_sql payment_soon = { SQL_PAYMENT_SOON,
    "UPDATE payments SET next_ms = ?2 WHERE id = ?1" };
static const struct sqlite_sql payment_closed = { SQL_PAYMENT_CLOSED,
    "UPDATE payments SET state = 5, use = 0, tries = 0, next_ms = ?2 WHERE id = ?1" };
static const struct sqlite_sql payment_captured = { SQL_PAYMENT_CAPTURED,
    "UPDATE payments SET state = 4, use = ?2, paid_ticket = ?3, captured = ?4, captured_ms = ?5,"
    " next_ms = ?6, tries = 0, provider_id = ?7 WHERE id = ?1 AND state <> 4" };
static const struct sqlite_sql payment_use = { SQL_PAYMENT_USE,
    "UPDATE payments SET use = ?2, paid_ticket = ?3, next_ms = 0, tries = 0"
    " WHERE id = ?1 AND use = 2" };
/* Only for the planted bug. */
static const struct sqlite_sql order_reopen = { SQL_ORDER_REOPEN,
    "UPDATE orders SET state = 2, reason = 0, slot = ticket, version = version + 1"
    " WHERE ticket = ?1 AND state = 3" };

static_assert(PAYMENT_CAPTURED == 4 && PAYMENT_CLOSED == 5 && USE_LATE == 2, "said in numbers above");

static enum status captured_write(struct sqlite_store *store, const struct payment *payment)
{
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(store, &payment_captured, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, payment->id);
    bind_u64(update, 2, payment->use);
    bind_u64(update, 3, payment->paid_ticket);
    bind_u64(update, 4, payment->captured);
    bind_u64(update, 5, payment->captured_ms);
    bind_u64(update, 6, payment->next_ms);
    bind_text(update, 7, payment->provider_id);
    status = sqlite_run(update);
    (void)sqlite3_clear_bindings(update);
    invariant(status != STATUS_OK || sqlite_changed_rows(store) == 1); /* read in this transaction */
    return status;
}

static enum status use_write(struct sqlite_store *store, const struct payment *payment)
{
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(store, &payment_use, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, payment->id);
    bind_u64(update, 2, payment->use);
    bind_u64(update, 3, payment->paid_ticket);
    status = sqlite_run(update);
    invariant(status != STATUS_OK || sqlite_changed_rows(store) == 1);
    return status;
}

static enum status soon_write(struct sqlite_store *store, uint64_t id, uint64_t now_ms)
{
    sqlite3_stmt *update;
    const enum status status = sqlite_prepare(store, &payment_soon, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, id);
    bind_u64(update, 2, now_ms);
    return sqlite_run(update);
}

static enum status order_pay(struct sqlite_batch *batch, struct order *order, uint64_t now_ms)
{
    const struct order_move move = { .ticket = order->ticket, .event = ORDER_EVENT_PAY, .now_ms = now_ms };
    return sqlite_move_make(batch, &move, order, ORDER_PAID);
}

enum status sqlite_order_close_waiting(struct sqlite_batch *batch, struct order *order, uint64_t now_ms)
{
    uint32_t live = 0;
    if (order->state != ORDER_PENDING || order->ending == REASON_NONE)
        return STATUS_OK;
    enum status status = sqlite_payments_live(batch->store, order->ticket, &live);
    if (status != STATUS_OK || live > 0)
        return status;
    const bool expired = order->ending == REASON_EXPIRED;
    const struct order_move move = { .ticket = order->ticket,
        .event = (uint8_t)(expired ? ORDER_EVENT_EXPIRE : ORDER_EVENT_CANCEL),
        .now_ms = now_ms };
    return sqlite_move_make(batch, &move, order, ORDER_CLOSED);
}

static enum status learn_closed(struct sqlite_batch *batch, const struct payment_news *news,
    struct payment *payment, struct order *order, uint8_t *answer)
{
    sqlite3_stmt *update;
    const bool captured = payment->state == PAYMENT_CAPTURED && !planted(CLOSED_NEWS_WIN);
    /* Only what we asked for ends the questions: a callback may be older than the money. */
    const bool answered = payment_is_unanswered(payment) && news->asked && news->ask_ms == 0;
    *answer = LEARN_REPEATED;
    if (captured || (payment->state == PAYMENT_CLOSED && !answered))
        return STATUS_OK;
    *answer = LEARN_CLOSED;
    enum status status = sqlite_prepare(batch->store, &payment_closed, &update);
    if (status != STATUS_OK)
        return status;
    payment->state = PAYMENT_CLOSED;
    payment->use = USE_NONE;
    payment->tries = 0;
    payment->next_ms = planted(UNANSWERED_FORGOTTEN) ? 0 : news->ask_ms;
    bind_u64(update, 1, payment->id);
    bind_u64(update, 2, payment->next_ms);
    status = sqlite_run(update);
    return status == STATUS_OK ? sqlite_order_close_waiting(batch, order, news->now_ms) : status;
}

/* What becomes of money that is there; changes only *payment and *answer. */
static void captured_decide(struct payment *payment, const struct order *order, bool right,
    bool refunded, bool payer_known, enum refund_why *why, uint8_t *answer)
{
    const bool adopts = right && !payer_known;
    *why = right ? REFUND_OF_DOUBLE : REFUND_OF_AMOUNT;
    *answer = LEARN_REFUND;
    payment->use = USE_REFUND;
    payment->next_ms = 0;
    if (adopts && order->state == ORDER_REFUNDED) {
        *why = REFUND_OF_ORDER;
        payment->use = USE_ORDER;
        payment->paid_ticket = order->ticket;
        return;
    }
    if (!right || refunded || (order->state == ORDER_PAID && !adopts))
        return;
    if (order->state == ORDER_PENDING || order->state == ORDER_PAID) {
        *answer = LEARN_PAID;
        payment->use = USE_ORDER;
        payment->paid_ticket = order->ticket;
        return;
    }
    *answer = LEARN_LATE;
    payment->use = USE_LATE;
    payment->next_ms = payment->captured_ms;
}

/* The planted bugs about money that came too late. */
static enum status late_planted(struct sqlite_store *store, struct payment *payment, struct order *order)
{
    sqlite3_stmt *update;
    if (planted(LATE_MONEY_KEPT))
        payment->use = USE_REFUND; /* and no intent */
    if (!planted(LATE_MONEY_REOPENS) || order->state != ORDER_CLOSED)
        return STATUS_OK;
    payment->use = USE_ORDER;
    payment->paid_ticket = order->ticket;
    const enum status status = sqlite_prepare(store, &order_reopen, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, order->ticket);
    return sqlite_run(update);
}

static enum status learn_captured(struct sqlite_batch *batch, const struct payment_news *news,
    struct payment *payment, struct order *order, uint8_t *answer)
{
    const bool right = planted(CALLBACK_AMOUNT_UNCHECKED)
        || (news->amount == payment->amount && strcmp(news->currency, payment->currency) == 0);
    enum refund_why why;
    *answer = LEARN_AMOUNT;
    if (!right && !news->asked)
        return soon_write(batch->store, payment->id, news->now_ms);
    payment->state = PAYMENT_CAPTURED;
    payment->tries = 0;
    payment->captured = news->amount;
    payment->captured_ms = news->now_ms;
    if (news->provider_id[0] != '\0')
        memcpy(payment->provider_id, news->provider_id, sizeof payment->provider_id);
    bool payer_known = false;
    enum status status = sqlite_payer_known(batch->store, order->ticket, &payer_known);
    if (status != STATUS_OK)
        return status;
    captured_decide(payment, order, right, news->refunded, payer_known, &why, answer);
    if (*answer == LEARN_LATE)
        status = late_planted(batch->store, payment, order);
    if (status == STATUS_OK)
        status = captured_write(batch->store, payment);
    if (status == STATUS_OK && *answer == LEARN_PAID)
        return order_pay(batch, order, news->now_ms);
    const bool kept = planted(DOUBLE_MONEY_KEPT) && why == REFUND_OF_DOUBLE;
    if (status == STATUS_OK && *answer == LEARN_REFUND && !kept)
        status = sqlite_refund_want(batch->store, payment, news->currency, why, news->now_ms);
    return status == STATUS_OK ? sqlite_order_close_waiting(batch, order, news->now_ms) : status;
}

static enum status learn_news(struct sqlite_batch *batch, const struct payment_news *news,
    struct payment *payment, struct order *order, uint8_t *answer)
{
    struct sqlite_store *store = batch->store;
    enum status status = sqlite_payment_by_reference(&store->store, news->reference, payment);
    *answer = LEARN_UNKNOWN;
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK || strcmp(payment->provider, news->provider) != 0)
        return status;
    status = sqlite_order_by_ticket(&store->store, payment->ticket, order);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
    if (news->kind == NEWS_CLOSED)
        return learn_closed(batch, news, payment, order, answer);
    if (payment->state != PAYMENT_CAPTURED)
        return learn_captured(batch, news, payment, order, answer);
    *answer = LEARN_REPEATED;
    if (planted(REFUND_TWICE) && payment->use == USE_REFUND)
        return sqlite_refund_want(store, payment, payment->currency, REFUND_OF_DOUBLE, news->now_ms);
    return STATUS_OK;
}

enum status sqlite_payment_learn(struct order_store *handle, const struct payment_news *news,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    struct sqlite_change change;
    *answer = LEARN_UNKNOWN;
    enum status status = sqlite_change_begin(&change, sqlite_of(handle));
    if (status == STATUS_OK)
        status = learn_news(&change.batch, news, payment, after, answer);
    const bool told = *answer != LEARN_UNKNOWN && (*answer != LEARN_REPEATED || planted(REFUND_TWICE));
    return sqlite_change_end(&change, status, told);
}

/* The new order must be one that this money is for. */
static enum status relink_fits(struct sqlite_store *store, const struct payment *payment,
    const struct order *order, bool *fits)
{
    struct order first;
    bool payer_known = false;
    enum status status = sqlite_order_by_ticket(&store->store, payment->ticket, &first);
    if (status == STATUS_NOT_FOUND)
        return STATUS_CORRUPT;
    if (status == STATUS_OK)
        status = sqlite_payer_known(store, order->ticket, &payer_known);
    const bool takes = order->state == ORDER_PENDING || (order->state == ORDER_PAID && !payer_known);
    *fits = status == STATUS_OK && takes && order->user == first.user && order->item == first.item
        && order->amount == payment->captured;
    return status;
}

static enum status money_back(
    struct sqlite_store *store, struct payment *payment, enum refund_why why, uint64_t now_ms)
{
    payment->use = USE_REFUND;
    const enum status status = use_write(store, payment);
    if (status != STATUS_OK)
        return status;
    return sqlite_refund_want(store, payment, payment->currency, why, now_ms);
}

enum status sqlite_payment_relink(struct order_store *handle, uint64_t id, ticket_number ticket,
    uint64_t now_ms, struct order *after, bool *done)
{
    struct sqlite_store *store = sqlite_of(handle);
    struct sqlite_change change;
    struct payment payment = { 0 };
    *done = false;
    enum status status = sqlite_change_begin(&change, store);
    if (status == STATUS_OK)
        status = sqlite_payment_get(handle, id, &payment);
    if (status == STATUS_OK)
        status = sqlite_order_by_ticket(handle, ticket, after);
    if (status == STATUS_OK && payment.use != USE_LATE) { /* told again */
        *done = payment.use == USE_RELINKED && payment.paid_ticket == ticket;
        return sqlite_change_end(&change, status, false);
    }
    if (status == STATUS_OK)
        status = relink_fits(store, &payment, after, done);
    if (status == STATUS_OK && *done) {
        payment.use = USE_RELINKED;
        payment.paid_ticket = ticket;
        status = use_write(store, &payment);
        if (status == STATUS_OK)
            status = order_pay(&change.batch, after, now_ms);
    } else if (status == STATUS_OK) {
        status = money_back(store, &payment, REFUND_OF_LATE, now_ms);
    }
    return sqlite_change_end(&change, status, true);
}

enum status sqlite_payment_give_back(
    struct order_store *handle, uint64_t id, enum refund_why why, uint64_t now_ms)
{
    struct sqlite_store *store = sqlite_of(handle);
    struct sqlite_change change;
    struct payment payment = { 0 };
    enum status status = sqlite_change_begin(&change, store);
    if (status == STATUS_OK)
        status = sqlite_payment_get(handle, id, &payment);
    const bool late = payment.use == USE_LATE;
    if (status == STATUS_OK && late)
        status = money_back(store, &payment, why, now_ms);
    return sqlite_change_end(&change, status, late);
}
