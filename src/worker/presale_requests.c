/* SPDX-License-Identifier: Apache-2.0 */
/* worker/presale_requests.c: bookings, made, shown and given up by users (contract/booking.h). */
#include "contract/booking.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "api/job_reply.h"
#include "contract/inventory.h"
#include "funnel/keys.h"
#include "policy/booking_rules.h"
#include "worker/errands.h"
#include "worker/public_requests.h"
#include "worker/returns.h"
#include "worker/worker_parts.h"

static const struct booking_store_ops *bookings(const struct worker *worker)
{
    return worker->config.store->ops->bookings;
}

static const char *state_name(const struct booking *booking)
{
    static const char *const names[] = { "none", "deposit-due", "booked", "bought", "ended", "refunded" };
    static_assert(sizeof names / sizeof *names == BOOKING_STATES, "a name for each");
    if (booking->state == BOOKING_PLACED && booking->place_state == PLACE_OFFERED)
        return "offered";
    return booking_deposit_is_kept(booking) ? "deposit-kept" : names[booking->state];
}

static void order_members(
    const struct worker *worker, const char *name, ticket_number ticket, struct text *out)
{
    if (ticket == 0)
        return;
    if (name != NULL)
        json_object_begin(out, name);
    json_hex(out, "ticket", funnel_ticket_id(worker->config.keys, ticket));
    json_hex(out, "order", funnel_order_id(worker->config.keys, ticket));
    if (name != NULL)
        json_object_end(out);
}

static void booking_reply(struct worker *worker, struct job *job, int status, const struct booking *booking)
{
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_u64(&body, "item", booking->item);
    json_text(&body, "state", state_name(booking));
    json_u64(&body, "quantity", booking->quantity);
    json_u64(&body, "booked_ms", booking->booked_ms);
    order_members(worker, "deposit", booking->deposit, &body);
    if (booking->has_deposit)
        json_text(&body, "deposit_kept", deposit_kept_name(booking->deposit_kept));
    order_members(worker, NULL, booking->ticket, &body);
    json_object_end(&body);
    job_reply_json(job, status, &body);
}

/* The item takes bookings; else the job is answered. */
static bool item_check(const struct worker *worker, struct job *job, item_id id, struct item *item,
    struct board_update *view)
{
    const struct catalog *catalog = handover_get(worker->config.catalog);
    if (catalog == NULL || catalog_item_find(catalog, id) == NULL
        || !board_read(worker->config.inventory->board, id, view)) {
        job_reply_problem(job, PROBLEM_UNKNOWN_ITEM, NULL, SPAN_NONE);
        return false;
    }
    const enum status status = worker->config.store->ops->item_get(worker->config.store, id, item);
    if (!job_found(job, status, PROBLEM_UNKNOWN_ITEM, NULL))
        return false;
    if (item->offer.kind == SOLD_OUT_PRESALE && item->offer.presale_item == 0)
        return true;
    job_reply_problem(job, PROBLEM_NOT_FOUND, "This item takes no bookings.", SPAN_NONE);
    return false;
}

/* A refusal ends the booking, so nobody else may win its deposit meanwhile. NULL: it is asked for already. */
static uint64_t *deposit_begin(struct worker *worker, uint64_t booking)
{
    uint64_t *place = NULL;
    for (uint32_t i = 0; i < SHARED_ERRANDS; i++) {
        if (worker->deposits[i] == booking)
            return NULL;
        if (worker->deposits[i] == 0)
            place = &worker->deposits[i];
    }
    if (place != NULL)
        *place = booking;
    return place;
}

static void deposit_told(struct worker *worker, struct job *job, const struct outcome *outcome,
    struct booking *booking, int status)
{
    /* Many machines: one that is being decided may not be kept; then the booking is forgotten later. */
    const enum deposit_answer answer = booking_deposit_answer((enum answer)outcome->answer);
    if (answer == DEPOSIT_BOUGHT) {
        booking->deposit = outcome->ticket;
        booking_reply(worker, job, status, booking);
        return;
    }
    if (answer == DEPOSIT_REFUSED) /* if it can't be written, the booking is lost later */
        (void)!bookings(worker)->finish(worker->config.store, booking, BOOKING_ENDED);
    job_reply_refused(job, outcome);
}

static void deposit_ask(struct worker *worker, struct job *job, const struct item *item,
    struct booking *booking, int status)
{
    struct item deposit;
    struct outcome outcome = { 0 };
    enum status found =
        worker->config.store->ops->item_get(worker->config.store, item->offer.deposit_item, &deposit);
    if (!job_found(job, found, PROBLEM_UNKNOWN_ITEM, "The item of the deposit does not exist."))
        return;
    uint64_t *asked = deposit_begin(worker, booking->id);
    if (asked == NULL) {
        job_reply_problem(job, PROBLEM_IN_PROGRESS,
            "The deposit is being bought. Repeat the request in a moment.", SPAN_NONE);
        return;
    }
    const struct command command = booking_deposit_command(booking, &deposit, worker->now_ms);
    found = errands_ask(worker->errands, &command, &outcome);
    *asked = 0;
    if (found == STATUS_OK)
        deposit_told(worker, job, &outcome, booking, status);
    else
        job_reply_status(job, found);
}

void public_presale_book(struct worker *worker, struct job *job, uint32_t id)
{
    struct booking booking = { .item = id, .user = job->user, .booked_ms = worker->now_ms, .quantity = 1 };
    const struct field fields[] = {
        { "quantity", FIELD_U32, &booking.quantity, 1, QUANTITY_MAX, false, NULL },
    };
    struct board_update view;
    struct item item;
    uint8_t answer = BOOK_FULL;
    if (!item_check(worker, job, id, &item, &view)
        || (job->body.size > 0 && !job_fields_read(job, fields, 1))
        || !public_line_check(worker, job, id, &view, booking.quantity,
            "This item is not sold out: buy it instead of booking it."))
        return;
    booking.has_deposit = item.offer.deposit_item != 0;
    booking.deposit_kept = item.offer.deposit_kept;
    const enum status status =
        bookings(worker)->book(worker->config.store, &booking, item.offer.presale_cap, &answer);
    if (status != STATUS_OK)
        job_reply_status(job, status);
    else if (answer == BOOK_FULL)
        job_reply_problem(job, PROBLEM_WAITLIST_FULL, "All bookings of this item are taken.", SPAN_NONE);
    else if (booking_wants_deposit(&booking, worker->now_ms))
        deposit_ask(worker, job, &item, &booking, answer == BOOK_DONE ? 201 : 200);
    else
        booking_reply(worker, job, answer == BOOK_DONE ? 201 : 200, &booking);
    returns_look_line(worker->returns);
}

static bool booking_read(struct worker *worker, struct job *job, item_id id, struct booking *booking)
{
    const enum status status = bookings(worker)->get(worker->config.store, id, job->user, booking);
    return job_found(job, status, PROBLEM_NOT_WAITING, "You have not booked this item.");
}

void public_presale_show(struct worker *worker, struct job *job, uint32_t id)
{
    struct booking booking;
    if (booking_read(worker, job, id, &booking))
        booking_reply(worker, job, 200, &booking);
}

/* The place is given up; the deposit follows by itself (worker/bookings.h). */
void public_presale_leave(struct worker *worker, struct job *job, uint32_t id)
{
    struct order_store *store = worker->config.store;
    struct booking booking;
    bool left = false;
    if (!booking_read(worker, job, id, &booking))
        return;
    if (booking.state == BOOKING_PLACED && booking.place_state == PLACE_WAITING
        && !job_ok(job, store->ops->waitlist->leave(store, id, job->user, &left)))
        return;
    if (left || booking.state > BOOKING_PLACED || booking.place_state == PLACE_LEFT) {
        if (booking_read(worker, job, id, &booking))
            booking_reply(worker, job, 200, &booking);
        return;
    }
    job_reply_problem(job, PROBLEM_CONFLICT,
        booking.state == BOOKING_DUE ? "The deposit is not paid yet: cancel its order instead."
                                     : "You already have an offer: cancel its order instead.",
        SPAN_NONE);
}
