/* SPDX-License-Identifier: Apache-2.0 */
/* admin/fulfilment.c: orders go on: shipped, delivered; and some of their money goes back. */
#include "contract/fulfilment.h"
#include "admin/admin.h"
#include "contract/payment.h"
#include "funnel/keys.h"
#include "worker/order_views.h"

#include <stdio.h>
#include <string.h>

static unsigned long long order_id(const struct admin *admin, ticket_number ticket)
{
    return (unsigned long long)funnel_order_id(admin->lent->keys, ticket);
}

/* The texts of a parcel are one line each. NULL: fine. */
static const char *parcel_wrong(const struct fulfil_move *move)
{
    if (!admin_line_is_good(move->carrier, CARRIER_MAX))
        return "carrier must be one line of 1 to 64 visible characters.";
    return admin_line_is_good(move->tracking, TRACKING_MAX)
        ? NULL
        : "tracking must be one line of 1 to 64 visible characters.";
}

static void move_refuse(struct job *job, enum fulfil_answer answer, const struct order *order)
{
    char bytes[96], detail[96];
    struct text more = text_in(bytes, sizeof bytes);
    const enum problem problem = answer == FULFIL_UNKNOWN ? PROBLEM_UNKNOWN_ORDER
        : answer == FULFIL_NOT_PAID                       ? PROBLEM_NOT_PAID
        : answer == FULFIL_NOT_SHIPPED                    ? PROBLEM_NOT_SHIPPED
                                                          : PROBLEM_ALREADY_SHIPPED;
    if (answer != FULFIL_UNKNOWN)
        order_state_members(order, &more);
    snprintf(detail, sizeof detail, "%c%s.", fulfil_answer_text(answer)[0] - 'a' + 'A',
        fulfil_answer_text(answer) + 1);
    job_reply_problem(job, problem, detail, text_span(&more));
}

/* Moves one order and answers the job. True: moved now. */
static bool order_fulfil(struct admin *admin, struct job *job, const struct fulfil_move *move)
{
    struct order order;
    uint8_t answer = FULFIL_UNKNOWN;
    const enum status status =
        admin->store->ops->fulfil->move(admin->store, move, 1, false, &order, &answer);
    if (!job_ok(job, status))
        return false;
    if (answer != FULFIL_DONE && answer != FULFIL_REPEATED) {
        move_refuse(job, (enum fulfil_answer)answer, &order);
        return false;
    }
    if (answer == FULFIL_DONE)
        worker_order_changed(admin->worker, order.ticket, order.user);
    struct text body = job_body(job);
    order_json(admin->views, &order, &body);
    job_reply_json(job, 200, &body);
    return answer == FULFIL_DONE;
}

void admin_order_ship(struct admin *admin, struct job *job, uint32_t id)
{
    struct fulfil_move move = { .ticket = job->ticket, .event = FULFIL_SHIP, .now_ms = admin->now_ms };
    const struct field fields[] = {
        { "carrier", FIELD_TEXT, move.carrier, 1, CARRIER_MAX, true, NULL },
        { "tracking", FIELD_TEXT, move.tracking, 1, TRACKING_MAX, true, NULL },
        { "replace", FIELD_FLAG, &move.replace, 0, 1, false, NULL },
    };
    (void)id;
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return;
    const char *wrong = parcel_wrong(&move);
    if (wrong != NULL) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, wrong, SPAN_NONE);
        return;
    }
    if (order_fulfil(admin, job, &move))
        admin_audit_write(admin, job, "order.ship", "order %016llx with %s, number %s",
            order_id(admin, job->ticket), move.carrier, move.tracking);
}

void admin_order_deliver(struct admin *admin, struct job *job, uint32_t id)
{
    const struct fulfil_move move = {
        .ticket = job->ticket, .event = FULFIL_DELIVER, .now_ms = admin->now_ms
    };
    (void)id;
    if (order_fulfil(admin, job, &move))
        admin_audit_write(admin, job, "order.deliver", "order %016llx", order_id(admin, job->ticket));
}

/* ---- many at once ---- */

struct parcels {
    struct fulfil_move moves[FULFIL_MOVES_MAX];
    struct order after[FULFIL_MOVES_MAX];
    uint8_t answers[FULFIL_MOVES_MAX];
    uint32_t count;
    bool check;
};

/* False: `error` says what is wrong. */
static bool row_read(struct admin *admin, json_t *json, struct fulfil_move *move, char error[FIELD_ERROR])
{
    char order[17];
    uint64_t id = 0;
    *move = (struct fulfil_move){ .event = FULFIL_SHIP, .now_ms = admin->now_ms };
    const struct field fields[] = {
        { "order", FIELD_TEXT, order, 16, 16, true, NULL },
        { "carrier", FIELD_TEXT, move->carrier, 1, CARRIER_MAX, true, NULL },
        { "tracking", FIELD_TEXT, move->tracking, 1, TRACKING_MAX, true, NULL },
    };
    const char *wrong = NULL;
    if (!json_is_object(json))
        wrong = "rows must be objects.";
    else if (!admin_fields_read(json, fields, sizeof fields / sizeof *fields, error))
        return false;
    else if (span_to_hex64(span_from_string(order), &id) != STATUS_OK || id == 0)
        wrong = "order must be the id of an order: 16 hex digits.";
    else
        wrong = parcel_wrong(move);
    if (wrong != NULL)
        snprintf(error, FIELD_ERROR, "%s", wrong);
    else
        move->ticket = funnel_order_number(admin->lent->keys, id);
    return wrong == NULL;
}

static bool rows_read(struct admin *admin, json_t *rows, struct parcels *parcels, char error[FIELD_ERROR])
{
    if (!json_is_array(rows) || json_array_size(rows) == 0 || json_array_size(rows) > FULFIL_MOVES_MAX) {
        snprintf(error, FIELD_ERROR, "rows must be an array of 1 to %d rows.", FULFIL_MOVES_MAX);
        return false;
    }
    for (size_t i = 0; i < json_array_size(rows); i++, parcels->count++)
        if (!row_read(admin, json_array_get(rows, i), &parcels->moves[i], error))
            return false;
    return true;
}

static void parcels_reply(struct admin *admin, struct job *job, const struct parcels *parcels)
{
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_list_begin(&body, "rows");
    for (uint32_t i = 0; i < parcels->count; i++) {
        const enum fulfil_answer answer = (enum fulfil_answer)parcels->answers[i];
        json_object_begin(&body, NULL);
        json_hex(&body, "order", order_id(admin, parcels->moves[i].ticket));
        json_text(&body, "answer",
            answer == FULFIL_DONE           ? "done"
                : answer == FULFIL_REPEATED ? "repeated"
                                            : "refused");
        if (answer != FULFIL_DONE && answer != FULFIL_REPEATED)
            json_text(&body, "why", fulfil_answer_text(answer));
        json_object_end(&body);
    }
    job_reply_list(job, &body);
}

void admin_orders_ship(struct admin *admin, struct job *job, uint32_t id)
{
    struct parcels parcels = { .count = 0 };
    json_t *rows = NULL;
    char error[FIELD_ERROR] = "";
    const struct field fields[] = {
        { "rows", FIELD_JSON, &rows, 0, 0, true, NULL },
        { "check", FIELD_FLAG, &parcels.check, 0, 1, false, NULL },
    };
    json_t *object = job_body_object(job);
    (void)id;
    if (object == NULL)
        return;
    const bool good =
        admin_fields_read(object, fields, 2, error) && rows_read(admin, rows, &parcels, error);
    if (!job_body_end(job, object, good ? NULL : error))
        return;
    const enum status status = admin->store->ops->fulfil->move(
        admin->store, parcels.moves, parcels.count, parcels.check, parcels.after, parcels.answers);
    if (!job_ok(job, status))
        return;
    parcels_reply(admin, job, &parcels);
    for (uint32_t i = 0; i < parcels.count && !parcels.check; i++) {
        if (parcels.answers[i] != FULFIL_DONE)
            continue;
        worker_order_changed(admin->worker, parcels.after[i].ticket, parcels.after[i].user);
        admin_audit_write(admin, job, "order.ship", "order %016llx with %s, number %s",
            order_id(admin, parcels.moves[i].ticket), parcels.moves[i].carrier,
            parcels.moves[i].tracking);
    }
}

/* ---- some of the money goes back ---- */

static void part_refuse(struct job *job, enum part_answer answer, const struct order *order, uint64_t left)
{
    char bytes[96], detail[160];
    struct text more = text_in(bytes, sizeof bytes);
    if (answer != PART_UNKNOWN)
        order_state_members(order, &more);
    snprintf(detail, sizeof detail,
        "The amount must be above 0 and below %llu, which is left. POST …/refund refunds the rest.",
        (unsigned long long)left);
    const struct {
        enum problem problem;
        const char *detail;
    } said[PART_ANSWERS] = {
        [PART_UNKNOWN] = { PROBLEM_UNKNOWN_ORDER, "This order does not exist." },
        [PART_NOT_PAID] = { PROBLEM_NOT_PAID, NULL },
        [PART_NO_PAYMENT] = { PROBLEM_CONFLICT,
            "There is no known payment of this order. See stampede reconcile." },
        [PART_CURRENCY] = { PROBLEM_AMOUNT_MISMATCH, NULL },
        [PART_TOO_MUCH] = { PROBLEM_AMOUNT_MISMATCH, detail },
        [PART_TOO_MANY] = { PROBLEM_CONFLICT,
            "This order has 32 partial refunds. POST …/refund refunds the rest." },
        [PART_KEY_USED] = { PROBLEM_KEY_REUSED,
            "This key has already given back another amount of this order." },
    };
    job_reply_problem(job, said[answer].problem, said[answer].detail, text_span(&more));
}

void admin_order_refund_part(struct admin *admin, struct job *job, uint32_t id)
{
    struct part_refund part = { .ticket = job->ticket, .now_ms = admin->now_ms };
    struct asked_price amount = { 0 };
    struct refund refund;
    struct order order;
    uint64_t left = 0;
    uint8_t answer = PART_UNKNOWN;
    char error[FIELD_ERROR];
    const struct field fields[] = {
        { "amount", FIELD_PRICE, &amount, 0, INT64_MAX, true, NULL },
        { "currency", FIELD_TEXT, part.currency, 3, 3, true, NULL },
        { "key", FIELD_TEXT, part.key, 1, PART_KEY_MAX, true, NULL },
        { "reason", FIELD_TEXT, part.reason, 0, PART_REASON_MAX, false, NULL },
    };
    (void)id;
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return;
    if (!admin_price_take("amount", &amount, part.currency, INT64_MAX, &part.amount, error)) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, error, SPAN_NONE);
        return;
    }
    const enum status status =
        admin->store->ops->payment->refund_part(admin->store, &part, &refund, &order, &left, &answer);
    if (!job_ok(job, status))
        return;
    if (answer != PART_DONE && answer != PART_REPEATED) {
        part_refuse(job, (enum part_answer)answer, &order, left);
        return;
    }
    struct text body = job_body(job);
    order_json(admin->views, &order, &body);
    job_reply_json(job, 200, &body);
    if (answer == PART_REPEATED)
        return;
    worker_payments_due(admin->worker);
    worker_order_changed(admin->worker, order.ticket, order.user);
    admin_audit_write(admin, job, "order.refund-part", "order %016llx amount %llu %s key %s: %s",
        order_id(admin, job->ticket), (unsigned long long)part.amount, part.currency, part.key,
        part.reason);
}
