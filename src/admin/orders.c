/* SPDX-License-Identifier: Apache-2.0 */
/* admin/orders.c: what the shop does to one order: paid, cancel, refund. Each is made once;
 * the same request again gets the same answer, and only the first one is in the audit chain. */
#include "admin/admin.h"

#include "base/metrics.h"
#include "contract/booking.h"
#include "funnel/keys.h"

#include <string.h>

COUNTER(reported_paid, "stampede_orders_reported_paid_total", "Orders that the shop reported as paid.");

/* Moves the order and answers the job. True: moved now, not by an earlier request. */
static bool order_moved(struct admin *admin, struct job *job, const struct order_move *move)
{
    struct order order;
    bool done;
    if (!worker_order_move(admin->worker, job, move, &order, &done))
        return false;
    struct text body = job_body(job);
    worker_returned_json(admin->worker, &order, &body);
    job_reply_json(job, 200, &body);
    return done;
}

static struct order_move move_of(const struct admin *admin, const struct job *job, enum order_event event)
{
    return (struct order_move){ .ticket = job->ticket, .event = (uint8_t)event, .now_ms = admin->now_ms };
}

static unsigned long long order_id(const struct admin *admin, const struct job *job)
{
    return (unsigned long long)funnel_order_id(admin->lent->keys, job->ticket);
}

void admin_order_paid(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_move move = move_of(admin, job, ORDER_EVENT_PAY);
    struct asked_price amount = { 0 };
    char error[FIELD_ERROR];
    const struct field fields[] = {
        { "amount", FIELD_PRICE, &amount, 0, INT64_MAX, true, NULL },
        { "currency", FIELD_TEXT, move.currency, 3, 3, true, NULL },
        { "reference", FIELD_TEXT, move.reference, 1, REFERENCE_BYTES_MAX, true, NULL },
    };
    (void)id;
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return;
    if (!admin_price_take("amount", &amount, move.currency, INT64_MAX, &move.amount, error)) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, error, SPAN_NONE);
        return;
    }
    if (!order_moved(admin, job, &move))
        return;
    metric_add(&reported_paid, 1);
    admin_audit_write(admin, job, "order.paid", "order %016llx amount %llu %s reference %s",
        order_id(admin, job), (unsigned long long)move.amount, move.currency, move.reference);
}

bool admin_booking_free(struct admin *admin, struct job *job, ticket_number ticket)
{
    struct order_store *store = admin->store;
    struct order order;
    struct booking booking;
    enum status status = store->ops->order_by_ticket(store, ticket, &order);
    if (status == STATUS_OK)
        status = store->ops->bookings->get(store, order.item, order.user, &booking);
    if (status == STATUS_NOT_FOUND)
        return true;
    if (status == STATUS_OK && booking.ticket == ticket)
        status = store->ops->bookings->dismiss(store, &booking);
    return job_ok(job, status);
}

void admin_order_cancel(struct admin *admin, struct job *job, uint32_t id)
{
    const struct order_move move = move_of(admin, job, ORDER_EVENT_CANCEL);
    (void)id;
    if (!admin_booking_free(admin, job, job->ticket))
        return;
    if (order_moved(admin, job, &move))
        admin_audit_write(admin, job, "order.cancel", "order %016llx", order_id(admin, job));
    else if (job->status == 202)
        admin_audit_write(admin, job, "order.cancel",
            "order %016llx: will be closed when its payments are closed", order_id(admin, job));
}

bool admin_refund_to_read(struct job *job, const char *name, uint8_t *to)
{
    static const char *const names[] = { "stock", "safety", "write-off" };
    for (*to = REFUND_TO_STOCK; *to <= REFUND_TO_WRITE_OFF; ++*to)
        if (strcmp(names[*to], name) == 0)
            return true;
    job_reply_problem(job, PROBLEM_BAD_VALUE, "to must be stock, safety or write-off.", SPAN_NONE);
    return false;
}

void admin_order_refund(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_move move = move_of(admin, job, ORDER_EVENT_REFUND);
    char to[10];
    const struct field fields[] = { { "to", FIELD_TEXT, to, 1, sizeof to - 1, true, NULL } };
    (void)id;
    if (!job_fields_read(job, fields, 1) || !admin_refund_to_read(job, to, &move.refund_to))
        return;
    if (order_moved(admin, job, &move))
        admin_audit_write(admin, job, "order.refund", "order %016llx to %s", order_id(admin, job), to);
}
