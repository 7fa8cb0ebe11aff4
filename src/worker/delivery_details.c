/* SPDX-License-Identifier: Apache-2.0 */
/* worker/delivery_details.c: where an order goes: what its owner says, checked, kept and shown. */
#include "api/job_reply.h"
#include "contract/payment.h"
#include "worker/order_views.h"
#include "worker/payment_requests.h"
#include "worker/public_requests.h"
#include "worker/services.h"
#include "worker/worker_parts.h"

#include <string.h>

static bool detail_is_clean(const char *text)
{
    for (; *text != 0; text++)
        if (((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f)
            return false;
    return true;
}

enum { PHONE_DIGITS_MIN = 3 };
/* As the page asks for it (web/details.js): digits, spaces, brackets, hyphens, '+' in front. */
static bool phone_is_good(const char *phone)
{
    unsigned digits = 0;
    for (const char *at = phone; *at != 0; at++) {
        const bool digit = *at >= '0' && *at <= '9';
        digits += digit;
        if (!digit && strchr(" ()-", *at) == NULL && (*at != '+' || at != phone))
            return false;
    }
    return digits >= PHONE_DIGITS_MIN;
}

/* A name, one '@', a domain with a point in it, and nothing that means something to a mail server. */
bool email_is_good(const char *email)
{
    const char *at = strchr(email, '@');
    const char *point = at == NULL ? NULL : strrchr(at, '.');
    for (const char *byte = email; *byte != 0; byte++)
        if ((unsigned char)*byte <= ' ' || (unsigned char)*byte >= 0x7f || strchr("<>()[]\\,;:\"", *byte))
            return false;
    return at != NULL && at != email && strchr(at + 1, '@') == NULL && point != NULL
        && point > at + 1 && point[1] != 0;
}

bool details_check(struct job *job, const struct order_details *details)
{
    const char *wrong = NULL;
    if (!detail_is_clean(details->name) || !detail_is_clean(details->phone)
        || !detail_is_clean(details->address) || !detail_is_clean(details->note))
        wrong = "Control characters are not allowed.";
    else if (!phone_is_good(details->phone))
        wrong = "phone must have at least three digits; spaces, brackets, hyphens and a leading + "
                "are allowed.";
    else if (details->email[0] != 0 && !email_is_good(details->email))
        wrong = "email must be an address like name@example.org.";
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    return wrong == NULL;
}

void details_fields(struct order_details *details, struct field *fields)
{
    fields[0] = (struct field){ "name", FIELD_TEXT, details->name, 1, DETAIL_NAME_MAX, true, NULL };
    fields[1] = (struct field){ "phone", FIELD_TEXT, details->phone, 3, DETAIL_PHONE_MAX, true, NULL };
    fields[2] =
        (struct field){ "address", FIELD_TEXT, details->address, 3, DETAIL_ADDRESS_MAX, true, NULL };
    fields[3] = (struct field){ "note", FIELD_TEXT, details->note, 0, DETAIL_NOTE_MAX, false, NULL };
    fields[4] = (struct field){ "email", FIELD_TEXT, details->email, 0, DETAIL_EMAIL_MAX, false, NULL };
}

/* False: the job is answered. */
static bool details_keep(struct worker *worker, struct job *job, const struct order *order,
    const struct order_details *details, struct order *after)
{
    struct order_store *store = worker->config.store;
    const enum status status =
        store->ops->payment->details_set(store, order->ticket, details, worker->now_ms, after);
    if (status == STATUS_CONFLICT)
        job_reply_problem(job,
            order->state == ORDER_PAID ? PROBLEM_ALREADY_PAID : PROBLEM_ORDER_CLOSED, NULL, SPAN_NONE);
    else if (status != STATUS_OK)
        job_reply_status(job, status);
    return status == STATUS_OK;
}

void public_order_details_set(struct worker *worker, struct job *job, uint32_t id)
{
    struct order order, after;
    struct order_details details = { .note = "" };
    struct field fields[DETAIL_FIELDS];
    (void)id;
    details_fields(&details, fields);
    if (public_order_read(worker, job, &order) && job_fields_read(job, fields, DETAIL_FIELDS)
        && details_check(job, &details) && details_keep(worker, job, &order, &details, &after))
        public_order_reply(worker, job, 200, &after);
}

enum status order_details_json(const struct order_views *views, ticket_number ticket, struct text *out)
{
    struct order_details details;
    const enum status status = views->store->ops->payment->details(views->store, ticket, &details);
    if (status != STATUS_OK)
        return status;
    const struct {
        const char *name, *value;
    } members[] = { { "name", details.name }, { "phone", details.phone },
        { "address", details.address }, { "note", details.note }, { "email", details.email } };
    const size_t count = sizeof members / sizeof *members - (details.email[0] == 0 ? 1 : 0);
    for (size_t i = 0; i < count; i++) {
        text_format(out, "%s\"%s\":", i == 0 ? "{" : ",", members[i].name);
        text_json(out, span_from_string(members[i].value));
    }
    text_literal(out, "}");
    return STATUS_OK;
}

void order_details_reply(const struct order_views *views, struct job *job, ticket_number ticket)
{
    struct text body = job_body(job);
    const enum status status = order_details_json(views, ticket, &body);
    if (job_ok(job, status))
        job_reply_json(job, 200, &body);
}

void public_order_details(struct worker *worker, struct job *job, uint32_t id)
{
    struct order order;
    (void)id;
    if (public_order_read(worker, job, &order))
        order_details_reply(&worker->views, job, order.ticket);
}
