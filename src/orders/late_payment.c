/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/late_payment.h"

#include "base/log.h"
#include "contract/booking.h"

static const struct payment_store_ops *ops_of(const struct cashier *cashier)
{
    return cashier->config.store->ops->payment;
}

static enum status give_back(struct cashier *cashier, const struct payment *payment, uint64_t now_ms)
{
    const enum status status =
        ops_of(cashier)->give_back(cashier->config.store, payment->id, REFUND_OF_LATE, now_ms);
    if (status == STATUS_OK) {
        log_warn("cashier", "late payment %s is refunded: there is no unit for it", payment->reference);
        cashier_shown(cashier, payment->ticket);
    }
    cashier_look(cashier);
    return status;
}

static enum status unit_take(
    struct cashier *cashier, const struct payment *payment, ticket_number ticket, uint64_t now_ms)
{
    struct order after;
    bool done = false;
    const enum status status =
        ops_of(cashier)->relink(cashier->config.store, payment->id, ticket, now_ms, &after, &done);
    if (status == STATUS_NOT_FOUND) /* the new order is being written, unless it never will be */
        return now_ms < payment->captured_ms + cashier->config.late_wait_ms
            ? cashier_again(cashier, payment, now_ms + CASHIER_LATE_AGAIN_MS)
            : give_back(cashier, payment, now_ms);
    if (status != STATUS_OK)
        return status;
    log_info("cashier", "late payment %s %s", payment->reference,
        done ? "got a unit and paid a new order" : "is refunded: its new order is closed");
    cashier->config.changed(cashier->config.context, &after);
    cashier_shown(cashier, payment->ticket); /* it names the new one */
    cashier_look(cashier);
    return STATUS_OK;
}

enum status late_payment_turn(struct cashier *cashier, const struct payment *payment, uint64_t now_ms)
{
    struct outcome outcome;
    struct order order;
    struct order_store *store = cashier->config.store;
    enum status status = store->ops->order_by_ticket(store, payment->ticket, &order);
    bool balance = false;
    if (status == STATUS_OK && store->ops->bookings != NULL)
        status = store->ops->bookings->is_balance(store, payment->ticket, &balance);
    if (status != STATUS_OK)
        return status;
    if (balance) /* its deposit went back or is kept: a unit for the balance alone would be too cheap */
        return give_back(cashier, payment, now_ms);
    status = cashier->config.unit(cashier->config.context, payment, &order, &outcome);
    const bool answered = status == STATUS_OK && outcome.answer != ANSWER_UNAVAILABLE
        && outcome.answer != ANSWER_TOO_POPULAR && outcome.answer != ANSWER_IN_PROGRESS;
    /* However late it is: it may have its unit already, or get it in a moment. */
    if (status == STATUS_BUSY || (answered && outcome.answer == ANSWER_DECIDING)) {
        cashier_look_by(&cashier->payments_look_ms, now_ms + CASHIER_LATE_AGAIN_MS);
        return STATUS_OK;
    }
    if (!answered && now_ms < payment->captured_ms + cashier->config.late_wait_ms)
        return cashier_again(cashier, payment, now_ms + CASHIER_CLOSE_AGAIN_MS);
    if (answered && (outcome.answer == ANSWER_WON || outcome.answer == ANSWER_REPEATED))
        return unit_take(cashier, payment, outcome.ticket, now_ms);
    return give_back(cashier, payment, now_ms);
}
