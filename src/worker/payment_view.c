/* SPDX-License-Identifier: Apache-2.0 */
/* worker/payment_view.c: the money of an order as JSON (worker/order_views.h). */
#include "base/text.h"
#include "contract/payment.h"
#include "funnel/keys.h"
#include "payment/sandbox.h"
#include "worker/order_views.h"

#include <string.h>

static const char *const payment_states[] = { NULL, "starting", "open", "closing", "captured", "closed" };
static_assert(sizeof payment_states / sizeof *payment_states == PAYMENT_STATES, "a name for each");
static const char *const refund_states[] = { NULL, "wanted", "done", "stuck" };
static_assert(sizeof refund_states / sizeof *refund_states == REFUND_STATES, "a name for each");

const char *payment_state_name(const struct payment *payment)
{
    return payment_is_unanswered(payment) ? "unanswered" : payment_states[payment->state];
}

const char *refund_state_name(uint8_t state)
{
    return refund_states[state];
}

static const struct payment_store_ops *money_ops(const struct order_views *views)
{
    return views->store->ops->payment;
}

static void payment_members(const struct payment *payment, struct text *out)
{
    text_literal(out, ",\"payment\":{\"provider\":");
    text_json(out, span_from_string(payment->provider));
    text_format(out, ",\"state\":\"%s\"", payment_state_name(payment));
    if (payment->state == PAYMENT_OPEN) {
        text_literal(out, ",\"url\":");
        text_json(out, span_from_string(payment->url));
    }
    text_literal(out, "}");
}

bool provider_is_test(const char *provider)
{
    return strcmp(provider, sandbox_provider.name) == 0;
}

/* The payment that the order is shown with: the one that paid it, else the newest. */
static enum status payment_read(
    const struct order_views *views, const struct order *order, struct payment *payment)
{
    struct order_store *store = views->store;
    uint32_t count = 0;
    if (order->state == ORDER_PAID || order->state == ORDER_REFUNDED)
        return money_ops(views)->of_paid(store, order->ticket, payment);
    const enum status status = money_ops(views)->of_order(store, order->ticket, payment, 1, &count);
    return status == STATUS_OK && count == 0 ? STATUS_NOT_FOUND : status;
}

static bool was_read(enum status status)
{
    return status == STATUS_OK || status == STATUS_NOT_FOUND;
}

/* `payment`: of the order, NULL: none is known. False: the database could not say. */
static bool refund_members(const struct order_views *views, const struct order *order,
    const struct payment *payment, struct text *out)
{
    struct order_store *store = views->store;
    struct refund refund;
    enum status status = STATUS_NOT_FOUND;
    if (order->state == ORDER_REFUNDED && payment != NULL)
        status = money_ops(views)->refund_of_payment(store, payment->id, &refund);
    if (status == STATUS_NOT_FOUND)
        status = money_ops(views)->refund_of_order(store, order->ticket, &refund);
    if (status != STATUS_OK)
        return was_read(status);
    text_format(out, ",\"refund\":{\"state\":\"%s\",\"amount\":%llu,\"created_ms\":%llu",
        refund_states[refund.state], (unsigned long long)refund.amount,
        (unsigned long long)refund.created_ms);
    if (refund.state == REFUND_DONE)
        text_format(out, ",\"done_ms\":%llu", (unsigned long long)refund.done_ms);
    text_literal(out, "}");
    return true;
}

/* When the money came, of an order that a payment has paid. */
static void paid_member(const struct order *order, const struct payment *payment, struct text *out)
{
    const bool paid = order->state == ORDER_PAID || order->state == ORDER_REFUNDED;
    if (paid && payment->captured_ms > 0)
        text_format(out, ",\"paid_ms\":%llu", (unsigned long long)payment->captured_ms);
}

/* Money of a paid order that went back, or is on its way back. False: the database could not say. */
static bool parts_member(const struct order_views *views, const struct order *order, struct text *out)
{
    uint64_t amount = 0;
    const enum status status = money_ops(views)->given_back(views->store, order->ticket, &amount);
    if (status == STATUS_OK && amount > 0)
        text_format(out, ",\"partly_refunded\":%llu", (unsigned long long)amount);
    return status == STATUS_OK;
}

bool order_payment_json(const struct order_views *views, const struct order *order, struct text *out)
{
    struct payment payment;
    const bool closed = order->state == ORDER_CLOSED;
    const enum status status = payment_read(views, order, &payment);
    const bool known = status == STATUS_OK;
    bool whole = was_read(status);
    /* Also of a rehearsal that is long over, in the same data folder. */
    if (views->sandbox || (known && provider_is_test(payment.provider)))
        text_literal(out, ",\"test\":true");
    if (known)
        paid_member(order, &payment, out);
    if (known && order->state == ORDER_PENDING)
        payment_members(&payment, out);
    if (known && order->state != ORDER_PENDING && !closed)
        whole = parts_member(views, order, out) && whole;
    if (order->state == ORDER_REFUNDED || (closed && known)) /* without a payment nothing went back */
        whole = refund_members(views, order, known ? &payment : NULL, out) && whole;
    if (!closed || !known)
        return whole;
    if (payment_is_unanswered(&payment))
        payment_members(&payment, out);
    if (payment.use == USE_RELINKED)
        text_format(out, ",\"continued_as\":\"%016llx\"",
            (unsigned long long)funnel_order_id(views->keys, payment.paid_ticket));
    return whole;
}
