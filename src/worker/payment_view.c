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

/* Also of a rehearsal that is long over, in the same data folder. */
static bool order_is_test(const struct order_views *views, const struct order *order)
{
    struct order_store *store = views->store;
    struct payment payment;
    uint32_t count = 0;
    if (views->sandbox)
        return true;
    if (order->state == ORDER_PAID || order->state == ORDER_REFUNDED)
        count = money_ops(views)->of_paid(store, order->ticket, &payment) == STATUS_OK;
    else if (money_ops(views)->of_order(store, order->ticket, &payment, 1, &count) != STATUS_OK)
        count = 0;
    return count > 0 && provider_is_test(payment.provider);
}

void order_payment_json(const struct order_views *views, const struct order *order, struct text *out)
{
    struct order_store *store = views->store;
    struct payment payment;
    struct refund refund;
    uint32_t count = 0;
    if (order_is_test(views, order))
        text_literal(out, ",\"test\":true");
    if (order->state == ORDER_PENDING
        && money_ops(views)->of_order(store, order->ticket, &payment, 1, &count) == STATUS_OK
        && count > 0)
        payment_members(&payment, out);
    if ((order->state == ORDER_REFUNDED || order->state == ORDER_CLOSED)
        && money_ops(views)->refund_of_order(store, order->ticket, &refund) == STATUS_OK)
        text_format(out, ",\"refund\":{\"state\":\"%s\",\"amount\":%llu}",
            refund_states[refund.state], (unsigned long long)refund.amount);
    if (order->state != ORDER_CLOSED
        || money_ops(views)->of_order(store, order->ticket, &payment, 1, &count) != STATUS_OK
        || count == 0)
        return;
    if (payment_is_unanswered(&payment))
        payment_members(&payment, out);
    if (payment.use == USE_RELINKED)
        text_format(out, ",\"continued_as\":\"%016llx\"",
            (unsigned long long)funnel_order_id(views->keys, payment.paid_ticket));
}
