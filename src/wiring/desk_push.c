/* wiring/desk_push.c: what a push connection is to be told, read from the store. The texts are the
 * ones that polling gets. A job with a ticket asks for that order, unless it is still at
 * version_seen; one without, for the newest orders of the user. The response is JSON and no HTTP;
 * empty: there is nothing to tell. */
#include "wiring/desk_parts.h"

static const char *event_name(const struct order *order)
{
    switch (order->state) {
    case ORDER_PENDING:
        return order->version == 1 ? "created" : "changed";
    case ORDER_PAID:
        return "paid";
    case ORDER_CLOSED:
        return "closed";
    case ORDER_REFUNDED:
        return "refunded";
    default:
        return "changed";
    }
}

static enum status order_text(struct desk *desk, struct job *job, struct text *out)
{
    struct order order;
    const enum status status =
        desk->config.store->ops->order_by_ticket(desk->config.store, job->ticket, &order);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK; /* a note for an order that was not to be */
    if (status != STATUS_OK || order.user != job->user || order.version == job->version_seen)
        return status;
    text_format(out,
        "{\"type\":\"order\",\"event\":\"%s\",\"version\":%llu,\"order\":", event_name(&order),
        (unsigned long long)order.version);
    desk_order_json(desk, &order, out);
    text_literal(out, "}");
    job->version_seen = order.version;
    return STATUS_OK;
}

void desk_push_job(struct desk *desk, struct job *job)
{
    struct text out = text_in(job->response, JOB_RESPONSE_BYTES);
    const enum status status =
        job->ticket != 0 ? order_text(desk, job, &out) : desk_orders_text(desk, job, &out);
    job->result = status == STATUS_OK ? JOB_REPLY : JOB_NOT_YET;
    job->response_size = out.overflow ? 0 : out.size;
}
