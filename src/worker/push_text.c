/* SPDX-License-Identifier: Apache-2.0 */
/* worker/push_text.c: what a push connection is to be told, read from the store. The texts are the
 * ones that polling gets. A job with a ticket asks for that order, unless its text is still the one
 * of version_seen; one without, for the newest orders of the user. The response is JSON and no
 * HTTP; empty: there is nothing to tell. */
#include "api/job_reply.h"
#include "base/hash.h"
#include "contract/order_state.h"
#include "contract/order_store.h"
#include "worker/order_views.h"
#include "worker/view_requests.h"

static const char *event_name(const struct order *order, bool told_before)
{
    if (order->state != ORDER_PENDING)
        return order_state_name((enum order_state)order->state);
    return order->version == 1 && !told_before ? "created" : "changed";
}

static enum status order_text(const struct order_views *views, struct job *job, struct text *out)
{
    struct order order;
    const enum status status = views->store->ops->order_by_ticket(views->store, job->ticket, &order);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK; /* a note for an order that was not to be */
    if (status != STATUS_OK || order.user != job->user)
        return status;
    text_format(out, "{\"type\":\"order\",\"event\":\"%s\",\"version\":%llu,\"order\":",
        event_name(&order, job->version_seen != 0), (unsigned long long)order.version);
    order_json(views, &order, out);
    text_literal(out, "}");
    /* Not the version alone: a payment that was started shows before the order moves. */
    const uint64_t told = order.version << 32 | hash_crc32c(0, out->data, out->size);
    if (told == job->version_seen)
        out->size = 0;
    job->version_seen = told;
    return STATUS_OK;
}

enum status view_push_text(const struct order_views *views, struct job *job, struct text *out)
{
    return job->ticket != 0 ? order_text(views, job, out) : view_orders_text(views, job, out);
}
