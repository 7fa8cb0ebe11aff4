/* SPDX-License-Identifier: Apache-2.0 */
/* admin/remedies.c: what is done in a case: orders are added, each gets one remedy, its customer a notice,
 * and the case is closed when all have one. A remedy is one transaction: the refund intent, the coupon, the
 * message to the shop, the mail that waits, the entries of the log and of the audit chain. */
#include "admin/cases.h"

#include "admin/admin.h"
#include "base/random.h"
#include "config/config.h"
#include "contract/payment.h"
#include "contract/remedy.h"
#include "funnel/keys.h"
#include "policy/remedy.h"
#include "worker/payment_requests.h"

#include <stdio.h>
#include <string.h>

static const uint64_t day_ms = 24 * 60 * 60 * 1000;

static const struct remedy_store_ops *remedy_ops(const struct admin *admin)
{
    return admin->store->ops->remedy;
}

/* False: it is not the id of an order; the job is answered. */
static bool order_take(struct admin *admin, struct job *job, const char *text, ticket_number *ticket)
{
    uint64_t id = 0;
    if (strlen(text) != 16 || span_to_hex64(span_from_string(text), &id) != STATUS_OK || id == 0) {
        job_reply_problem(
            job, PROBLEM_BAD_VALUE, "order must be the id of an order: 16 hex digits.", SPAN_NONE);
        return false;
    }
    *ticket = funnel_order_number(admin->lent->keys, id);
    return true;
}

static bool line_check(struct job *job, const char *text, const char *detail)
{
    const bool good = admin_line_is_good(text, CASE_TEXT_MAX);
    if (!good)
        job_reply_problem(job, PROBLEM_BAD_VALUE, detail, SPAN_NONE);
    return good;
}

/* ---- orders of a case ---- */

/* Reads the list before anything is changed. NULL: fine. */
static const char *tickets_read(
    struct admin *admin, json_t *list, ticket_number tickets[CASE_ORDERS_MAX], uint32_t *count)
{
    if (list == NULL)
        return NULL;
    if (!json_is_array(list) || json_array_size(list) > CASE_ORDERS_MAX)
        return "orders must be a list of up to 100 orders.";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        uint64_t id = 0;
        if (text == NULL || strlen(text) != 16
            || span_to_hex64(span_from_string(text), &id) != STATUS_OK || id == 0)
            return "orders must be ids of orders: 16 hex digits each.";
        tickets[(*count)++] = funnel_order_number(admin->lent->keys, id);
    }
    return NULL;
}

/* Each must be an order of the case's item. False: answered. */
static bool tickets_check(struct admin *admin, struct job *job, const struct remedy_case *remedy,
    const ticket_number *tickets, uint32_t count)
{
    struct order order;
    for (uint32_t i = 0; i < count; i++) {
        const enum status status = admin->store->ops->order_by_ticket(admin->store, tickets[i], &order);
        if (!job_found(job, status, PROBLEM_UNKNOWN_ORDER, "One of these orders does not exist."))
            return false;
        if (order.item != remedy->item) {
            job_reply_problem(
                job, PROBLEM_CONFLICT, "One of these orders is not of the case's item.", SPAN_NONE);
            return false;
        }
    }
    return true;
}

void admin_case_orders(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_case remedy;
    ticket_number tickets[CASE_ORDERS_MAX];
    uint32_t count = 0, added = 0;
    json_t *list = NULL;
    char error[FIELD_ERROR] = "";
    const struct field fields[] = { { "orders", FIELD_JSON, &list, 0, 0, true, NULL } };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return;
    const char *wrong = admin_fields_read(object, fields, 1, error)
        ? tickets_read(admin, list, tickets, &count)
        : error;
    if (!job_body_end(job, object, wrong) || !admin_case_read(admin, job, id, &remedy)
        || !admin_case_is_open(job, &remedy) || !tickets_check(admin, job, &remedy, tickets, count))
        return;
    enum status status =
        remedy_ops(admin)->orders_add(admin->store, id, tickets, count, admin->now_ms, &added);
    if (status == STATUS_FULL) {
        job_reply_problem(job, PROBLEM_CONFLICT, "A case has at most 100 orders.", SPAN_NONE);
        return;
    }
    if (!job_ok(job, status))
        return;
    admin_case_reply(admin, job, 200, id);
    if (added > 0)
        admin_audit_write(admin, job, "case.orders", "case %u: %u orders added", id, added);
}

void admin_case_assign(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_case remedy;
    char assignee[NAME_BYTES_MAX + 1] = "", text[CASE_TEXT_MAX + 1];
    const struct field fields[] = { { "assignee", FIELD_TEXT, assignee, 1, NAME_BYTES_MAX, true, NULL } };
    if (!job_fields_read(job, fields, 1)
        || !line_check(job, assignee, "assignee must be one line of visible characters.")
        || !admin_case_read(admin, job, id, &remedy) || !admin_case_is_open(job, &remedy)
        || !job_ok(job, remedy_ops(admin)->assign(admin->store, id, assignee)))
        return;
    snprintf(text, sizeof text, "Assigned to %.200s.", assignee);
    if (!job_ok(job, admin_case_note_write(admin, job, id, 0, "step", text)))
        return;
    admin_case_reply(admin, job, 200, id);
    admin_audit_write(admin, job, "case.assign", "case %u to %s", id, assignee);
}

void admin_case_note(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_case remedy;
    struct remedy_order row;
    ticket_number ticket = 0;
    char order[17] = "", way[NOTE_WAY_MAX + 1] = "", text[CASE_TEXT_MAX + 1] = "";
    bool named = false;
    const struct field fields[] = {
        { "way", FIELD_TEXT, way, 1, NOTE_WAY_MAX, true, NULL },
        { "text", FIELD_TEXT, text, 1, CASE_TEXT_MAX, true, NULL },
        { "order", FIELD_TEXT, order, 16, 16, false, &named },
    };
    if (!job_fields_read(job, fields, 3)
        || !line_check(job, text, "text must be one line of visible characters.")
        || !line_check(job, way, "way must be one line of visible characters.")
        || (named && !order_take(admin, job, order, &ticket))
        || !admin_case_read(admin, job, id, &remedy))
        return;
    if (named
        && !job_found(job, remedy_ops(admin)->order(admin->store, id, ticket, &row),
            PROBLEM_UNKNOWN_ORDER, "This order is not in the case."))
        return;
    if (!job_ok(job, admin_case_note_write(admin, job, id, ticket, way, text)))
        return;
    admin_case_reply(admin, job, 201, id);
    admin_audit_write(admin, job, "case.note", "case %u: %s: %s", id, way, text);
}

void admin_case_close(struct admin *admin, struct job *job, uint32_t id)
{
    struct remedy_case remedy;
    char outcome[CASE_TEXT_MAX + 1] = "";
    const struct field fields[] = { { "outcome", FIELD_TEXT, outcome, 1, CASE_TEXT_MAX, true, NULL } };
    if (!job_fields_read(job, fields, 1)
        || !line_check(job, outcome, "outcome must be one line of visible characters.")
        || !admin_case_read(admin, job, id, &remedy))
        return;
    if (remedy.state == CASE_CLOSED && strcmp(remedy.outcome, outcome) == 0) {
        admin_case_reply(admin, job, 200, id); /* the same again */
        return;
    }
    if (!admin_case_is_open(job, &remedy))
        return;
    const enum status status = remedy_ops(admin)->close(admin->store, id, outcome, admin->now_ms);
    if (status == STATUS_CONFLICT) {
        job_reply_problem(
            job, PROBLEM_CONFLICT, "Each order of the case needs a remedy first.", SPAN_NONE);
        return;
    }
    if (!job_ok(job, status) || !job_ok(job, admin_case_note_write(admin, job, id, 0, "step", outcome)))
        return;
    admin_case_reply(admin, job, 200, id);
    admin_audit_write(admin, job, "case.close", "case %u: %s", id, outcome);
}

/* ---- one remedy ---- */

struct apply {
    struct remedy_order row;
    char remedy[16], order[17], to[10], email[DETAIL_EMAIL_MAX + 1];
    struct asked_price loss;
    uint32_t percent;
    bool percent_given, notify, mailed;
    struct remedy_facts facts;
};

/* False: answered. */
static bool apply_read(struct admin *admin, struct job *job, struct apply *apply)
{
    static const char *const names[] = { "stock", "safety", "write-off" };
    const struct field fields[] = {
        { "order", FIELD_TEXT, apply->order, 16, 16, true, NULL },
        { "remedy", FIELD_TEXT, apply->remedy, 1, sizeof apply->remedy - 1, true, NULL },
        { "coupon_percent", FIELD_U32, &apply->percent, 0, 100, false, &apply->percent_given },
        { "loss", FIELD_PRICE, &apply->loss, 0, INT64_MAX, false, NULL },
        { "note", FIELD_TEXT, apply->row.note, 0, CASE_TEXT_MAX, false, NULL },
        { "to", FIELD_TEXT, apply->to, 1, sizeof apply->to - 1, false, NULL },
        { "notify", FIELD_FLAG, &apply->notify, 0, 1, false, NULL },
        { "email", FIELD_TEXT, apply->email, 0, DETAIL_EMAIL_MAX, false, NULL },
    };
    const char *wrong = NULL;
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields)
        || !order_take(admin, job, apply->order, &apply->row.ticket))
        return false;
    apply->row.remedy = (uint8_t)remedy_find(apply->remedy);
    if (apply->row.remedy == REMEDY_NONE)
        wrong = "remedy must be refund-coupon, wait-coupon, substitute, ship-at-a-loss or dismiss.";
    else if (strcmp(apply->to, names[0]) != 0 && strcmp(apply->to, names[1]) != 0
        && strcmp(apply->to, names[2]) != 0)
        wrong = "to must be stock, safety or write-off.";
    else if (apply->email[0] != '\0' && !email_is_good(apply->email))
        wrong = "email must be an address like name@example.org.";
    else if (!admin_line_is_good(apply->row.note, CASE_TEXT_MAX))
        wrong = "note must be one line of visible characters.";
    if (wrong != NULL)
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
    return wrong == NULL;
}

static void coupon_code(char out[COUPON_CODE_MAX + 1])
{
    static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"; /* no 0 O 1 I */
    uint8_t secret[16];
    random_secret(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++)
        out[i] = letters[secret[i] % 32];
    out[sizeof secret] = '\0';
}

/* The order of the case without a remedy, and what may be done for it. False: answered. */
static bool apply_look(struct admin *admin, struct job *job, struct apply *apply, struct order *order)
{
    struct remedy_order row;
    struct item item;
    char error[FIELD_ERROR];
    enum status status =
        remedy_ops(admin)->order(admin->store, apply->row.case_id, apply->row.ticket, &row);
    if (!job_found(job, status, PROBLEM_UNKNOWN_ORDER, "This order is not in the case."))
        return false;
    if (row.remedy == apply->row.remedy) { /* the same again */
        admin_case_reply(admin, job, 200, apply->row.case_id);
        return false;
    }
    if (row.remedy != REMEDY_NONE) {
        job_reply_problem(job, PROBLEM_CONFLICT, "This order has another remedy already.", SPAN_NONE);
        return false;
    }
    status = admin_case_facts(admin, apply->row.ticket, order, &apply->facts);
    if (status == STATUS_OK)
        status = admin->store->ops->item_get(admin->store, order->item, &item);
    if (!job_ok(job, status))
        return false;
    snprintf(apply->row.currency, sizeof apply->row.currency, "%s", item.currency);
    if (!admin_price_take("loss", &apply->loss, item.currency, INT64_MAX, &apply->row.loss, error)) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, error, SPAN_NONE);
        return false;
    }
    if (remedy_fits((enum remedy)apply->row.remedy, &apply->facts))
        return true;
    job_reply_problem(job, PROBLEM_CONFLICT,
        "This remedy is not possible for an order in this state.", SPAN_NONE);
    return false;
}

/* False: answered. */
static bool apply_move(struct admin *admin, struct job *job, struct apply *apply, struct order *order)
{
    const enum order_event event = remedy_event((enum remedy)apply->row.remedy, &apply->facts);
    uint64_t parts = 0;
    bool done = false;
    if (event == ORDER_EVENTS)
        return true;
    if (!job_ok(job, admin->store->ops->payment->given_back(admin->store, order->ticket, &parts)))
        return false;
    if (event == ORDER_EVENT_REFUND)
        apply->row.refund = order->amount - parts;
    const struct order_move move = { .ticket = order->ticket,
        .event = (uint8_t)event,
        .now_ms = admin->now_ms,
        .refund_to = apply->to[0] == 'w' ? REFUND_TO_WRITE_OFF
            : apply->to[1] == 'a'        ? REFUND_TO_SAFETY
                                         : REFUND_TO_STOCK };
    if (event == ORDER_EVENT_CANCEL && !admin_booking_free(admin, job, order->ticket))
        return false;
    return worker_order_move(admin->worker, job, &move, order, &done);
}

static void apply_coupon(struct admin *admin, struct apply *apply, const struct order *order)
{
    const struct config *config = admin->lent->config;
    const uint32_t percent = apply->percent_given
        ? apply->percent
        : remedy_coupon_percent((enum remedy)apply->row.remedy, (uint32_t)config->coupon_percent);
    apply->row.coupon_value =
        apply->row.remedy == REMEDY_DISMISS ? 0 : remedy_coupon_value(order->amount, percent);
    if (apply->row.coupon_value == 0)
        return;
    coupon_code(apply->row.coupon);
    apply->row.coupon_until_ms = admin->now_ms + config->coupon_days * day_ms;
}

/* A mail waits for whoever has an address. */
static enum status apply_mail(struct admin *admin, struct apply *apply)
{
    struct mail_row mail = {
        .case_id = apply->row.case_id, .ticket = apply->row.ticket, .created_ms = admin->now_ms
    };
    struct order_details details = { .name = "" };
    enum status status = STATUS_OK;
    if (!apply->notify || apply->row.remedy == REMEDY_DISMISS || !worker_mails_are_on(admin->worker))
        return STATUS_OK;
    if (apply->email[0] == '\0') {
        status = admin->store->ops->payment->details(admin->store, apply->row.ticket, &details);
        snprintf(apply->email, sizeof apply->email, "%s", status == STATUS_OK ? details.email : "");
    }
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    if (apply->email[0] == '\0')
        return STATUS_OK;
    snprintf(mail.address, sizeof mail.address, "%s", apply->email);
    apply->mailed = true;
    return remedy_ops(admin)->mail_put(admin->store, &mail);
}

static enum status apply_note(struct admin *admin, struct job *job, const struct apply *apply)
{
    char text[CASE_TEXT_MAX + 1];
    snprintf(text, sizeof text, "%s: refund %llu, coupon %llu %s, loss %llu; %s%s", apply->remedy,
        (unsigned long long)apply->row.refund, (unsigned long long)apply->row.coupon_value,
        apply->row.currency, (unsigned long long)apply->row.loss,
        worker_webhooks_are_on(admin->worker) ? "the shop is told" : "no webhook is set",
        apply->mailed ? ", a mail waits" : ", no mail");
    return admin_case_note_write(admin, job, apply->row.case_id, apply->row.ticket, "step", text);
}

void admin_case_apply(struct admin *admin, struct job *job, uint32_t id)
{
    struct apply apply = {
        .row = { .case_id = id, .done_ms = admin->now_ms }, .notify = true, .to = "write-off"
    };
    struct remedy_case remedy;
    struct order order;
    if (!apply_read(admin, job, &apply) || !admin_case_read(admin, job, id, &remedy)
        || !apply_look(admin, job, &apply, &order) || !admin_case_is_open(job, &remedy)
        || !apply_move(admin, job, &apply, &order))
        return;
    apply_coupon(admin, &apply, &order);
    snprintf(apply.row.done_by, sizeof apply.row.done_by, "%s", job->actor);
    enum status status = remedy_ops(admin)->apply(admin->store, &apply.row, &order);
    if (status == STATUS_OK)
        status = apply_mail(admin, &apply);
    if (status == STATUS_OK)
        status = apply_note(admin, job, &apply);
    if (status != STATUS_OK) { /* 5xx: the whole transaction is given up */
        job_reply_status(job, status == STATUS_CONFLICT ? STATUS_AWAY : status);
        return;
    }
    worker_order_changed(admin->worker, order.ticket, order.user);
    worker_mails_look(admin->worker);
    admin_case_reply(admin, job, 200, id);
    admin_audit_write(admin, job, "case.remedy",
        "case %u order %016llx: %s, refund %llu, coupon %llu, loss %llu %s", id,
        (unsigned long long)funnel_order_id(admin->lent->keys, order.ticket), apply.remedy,
        (unsigned long long)apply.row.refund, (unsigned long long)apply.row.coupon_value,
        (unsigned long long)apply.row.loss, apply.row.currency);
}
