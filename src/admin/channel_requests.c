/* SPDX-License-Identifier: Apache-2.0 */
/* admin/channel_requests.c: what a sales channel does with the units of its own pool (docs/channels.md).
 * The key said which channel it is; no request can name another one.
 *
 * A buyer is a text of the channel's choice. With the channel's name it makes the user of the order, by a
 * keyed hash that no session has: an order is a channel's own if it is of the channel and of the buyer that
 * the request names, so a key opens no order that came in another way.
 * A report of what was sold elsewhere takes units from the pool (ADJUST): its reference is the key of the
 * command, so that it is done once, whatever becomes of the answer. */
#include "admin/admin.h"
#include "api/query.h"
#include "api/refusals.h"
#include "base/hash.h"
#include "base/log.h"
#include "contract/board.h"
#include "contract/channels.h"
#include "contract/inventory.h"
#include "contract/order_state.h"
#include "contract/remedy.h"
#include "funnel/door.h"
#include "funnel/keys.h"
#include "worker/order_views.h"
#include "worker/period_limits.h"
#include "worker/remedies.h"

#include <stdio.h>
#include <string.h>

enum { BUYER_BYTES_MAX = 64, REFUND_TO_BYTES = 9 };

static user_id buyer_user(const struct admin *admin, const struct job *job, const char *buyer)
{
    const struct funnel_keys *keys = admin->lent->keys;
    char name[CHANNEL_NAME_MAX + 1];
    const char *channel = channel_name(admin->lent->channels, job->channel, name);
    const uint64_t user = hash_siphash_pair(keys->user,
        funnel_user_id(keys, span_from_string(channel)), funnel_user_id(keys, span_from_string(buyer)));
    return user != 0 ? user : 1;
}

static void order_reply(struct admin *admin, struct job *job, int status, const struct order *order)
{
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_hex(&body, "order", funnel_order_id(admin->lent->keys, order->ticket));
    order_state_members(order, &body);
    json_u64(&body, "item", order->item);
    json_u64(&body, "quantity", order->quantity);
    json_u64(&body, "unit_price", order->unit_price);
    json_u64(&body, "amount", order->amount);
    json_u64(&body, "pay_by_ms", order->pay_by_ms);
    json_object_end(&body);
    job_reply_json(job, status, &body);
}

void admin_channel_item(struct admin *admin, struct job *job, uint32_t id)
{
    struct item item;
    struct board_update view;
    uint64_t reported = 0, missing = 0;
    char name[CHANNEL_NAME_MAX + 1];
    struct order_store *store = admin->store;
    channel_name(admin->lent->channels, job->channel, name);
    if (!admin_item_read(admin, job, id, &item)
        || !job_ok(job, store->ops->channels->report_sums(store, id, name, &reported, &missing)))
        return;
    const bool known = board_read(admin->lent->inventory->board, id, &view);
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_u64(&body, "item", id);
    json_text(&body, "channel", name);
    json_bool(&body, "preheated", known);
    json_u64(&body, "free",
        known ? view.counts.channel_free[job->channel] : item.channel_units[job->channel]);
    json_u64(&body, "reported", reported);
    json_u64(&body, "missing", missing);
    json_u64(&body, "unit_price", item.flash_price);
    json_text(&body, "currency", item.currency);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}

/* ---- reserve ---- */

static void reserved_reply(struct admin *admin, struct job *job, const struct command_reserve *wish,
    const struct outcome *outcome)
{
    struct text body = job_body(job);
    const bool won = outcome->answer == ANSWER_WON;
    json_object_begin(&body, NULL);
    json_hex(&body, "order", funnel_order_id(admin->lent->keys, outcome->ticket));
    json_u64(&body, "item", wish->item);
    json_u64(&body, "quantity", wish->quantity);
    json_bool(&body, "repeated", outcome->answer == ANSWER_REPEATED);
    if (outcome->answer != ANSWER_DECIDING)
        json_u64(&body, "unit_price", outcome->unit_price);
    if (won)
        json_u64(&body, "pay_by_ms", outcome->pay_by_ms);
    json_object_end(&body);
    job_reply_json(job, won ? 201 : outcome->answer == ANSWER_REPEATED ? 200 : 202, &body);
}

void admin_channel_reserve(struct admin *admin, struct job *job, uint32_t id)
{
    char buyer[BUYER_BYTES_MAX + 1];
    struct command command = { .type = COMMAND_RESERVE,
        .time_ms = admin->now_ms,
        .reserve = { .item = id, .channel = job->channel, .quantity = 1 } };
    struct command_reserve *wish = &command.reserve;
    struct outcome outcome = { 0 };
    const struct field fields[] = {
        { "buyer", FIELD_TEXT, buyer, 1, BUYER_BYTES_MAX, true, NULL },
        { "quantity", FIELD_U32, &wish->quantity, 1, QUANTITY_MAX, false, NULL },
    };
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return;
    if (job->key.size == 0) {
        job_reply_problem(job, PROBLEM_KEY_REQUIRED,
            "An Idempotency-Key is required to reserve units.", SPAN_NONE);
        return;
    }
    wish->user = buyer_user(admin, job, buyer);
    wish->key = funnel_key_hash(admin->lent->keys, wish->user, job->key);
    enum status status = period_limit_apply(admin->store, wish, admin->now_ms);
    if (status == STATUS_OK)
        status = worker_ask(admin->worker, &command, &outcome);
    if (status != STATUS_OK)
        job_reply_status(job, status);
    else if (period_limit_refused(wish, &outcome))
        period_limit_reply(job);
    else if (outcome.answer == ANSWER_WON || outcome.answer == ANSWER_REPEATED
        || outcome.answer == ANSWER_DECIDING)
        reserved_reply(admin, job, wish, &outcome);
    else if (outcome.answer == ANSWER_COOLING_DOWN || outcome.answer == ANSWER_NOT_YOUR_MOMENT)
        job_reply_until(job, refusal_problem(outcome.answer), outcome.again_ms);
    else
        job_reply_refused(job, &outcome);
}

/* ---- what becomes of it ---- */

/* A win whose order is being written is there in a moment. True: answered. */
static bool order_is_coming(struct admin *admin, struct job *job, user_id user)
{
    const struct command command = { .type = COMMAND_ASK_TICKET, .ask = { .ticket = job->ticket } };
    struct outcome outcome = { 0 };
    if (admin->worker == NULL || worker_ask(admin->worker, &command, &outcome) != STATUS_OK)
        return false;
    const bool coming = outcome.answer == ANSWER_DECIDING
        || (outcome.answer == ANSWER_FOUND && outcome.user == user);
    if (coming)
        job_reply_problem(job, PROBLEM_IN_PROGRESS,
            "The order is being written. Repeat the request in a moment.", SPAN_NONE);
    return coming;
}

/* False: answered. Orders of others are not there, as far as a channel is told. */
static bool own_order_read(struct admin *admin, struct job *job, const char *buyer, struct order *order)
{
    struct order_store *store = admin->store;
    const user_id user = buyer_user(admin, job, buyer);
    const enum status status = store->ops->order_by_ticket(store, job->ticket, order);
    if (status == STATUS_OK && order->channel == job->channel && order->user == user)
        return true;
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        job_reply_status(job, status);
    else if (status == STATUS_OK || !order_is_coming(admin, job, user))
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER, NULL, SPAN_NONE);
    return false;
}

void admin_channel_order(struct admin *admin, struct job *job, uint32_t id)
{
    char buyer[BUYER_BYTES_MAX + 1];
    struct order order;
    const struct span value = query_value(job->query, "buyer");
    (void)id;
    if (value.data == NULL || !query_text(value, buyer, BUYER_BYTES_MAX))
        job_reply_problem(job, PROBLEM_BAD_QUERY, "buyer must be the buyer of the order.", SPAN_NONE);
    else if (own_order_read(admin, job, buyer, &order))
        order_reply(admin, job, 200, &order);
}

/* Moves it and answers. True: moved now. */
static bool order_moved(struct admin *admin, struct job *job, const struct order_move *move)
{
    struct order order;
    bool done = false;
    const bool answers = worker_order_move(admin->worker, job, move, &order, &done);
    if (answers)
        order_reply(admin, job, 200, &order);
    return answers && done;
}

void admin_channel_confirm(struct admin *admin, struct job *job, uint32_t id)
{
    char buyer[BUYER_BYTES_MAX + 1], name[CHANNEL_NAME_MAX + 1];
    const struct field fields[] = { { "buyer", FIELD_TEXT, buyer, 1, BUYER_BYTES_MAX, true, NULL } };
    struct order order;
    struct item item;
    (void)id;
    if (!job_fields_read(job, fields, 1) || !own_order_read(admin, job, buyer, &order)
        || !admin_item_read(admin, job, order.item, &item))
        return;
    struct order_move move = {
        .ticket = job->ticket, .event = ORDER_EVENT_PAY, .now_ms = admin->now_ms, .amount = order.amount
    };
    const unsigned long long shown = funnel_order_id(admin->lent->keys, job->ticket);
    memcpy(move.currency, item.currency, sizeof move.currency);
    channel_name(admin->lent->channels, job->channel, name);
    snprintf(move.reference, sizeof move.reference, "%s/%016llx", name, shown);
    if (order_moved(admin, job, &move))
        admin_audit_write(admin, job, "channel.confirm", "%s: order %016llx", name, shown);
}

void admin_channel_return(struct admin *admin, struct job *job, uint32_t id)
{
    char buyer[BUYER_BYTES_MAX + 1], to[REFUND_TO_BYTES + 1] = "stock", name[CHANNEL_NAME_MAX + 1];
    const struct field fields[] = {
        { "buyer", FIELD_TEXT, buyer, 1, BUYER_BYTES_MAX, true, NULL },
        { "to", FIELD_TEXT, to, 1, REFUND_TO_BYTES, false, NULL },
    };
    struct order order;
    struct order_move move = { .ticket = job->ticket, .now_ms = admin->now_ms };
    (void)id;
    if (!job_fields_read(job, fields, 2) || !admin_refund_to_read(job, to, &move.refund_to)
        || !own_order_read(admin, job, buyer, &order))
        return;
    const bool sold = order.state == ORDER_PAID || order.state == ORDER_REFUNDED;
    move.event = sold ? ORDER_EVENT_REFUND : ORDER_EVENT_CANCEL;
    channel_name(admin->lent->channels, job->channel, name);
    if (order_moved(admin, job, &move))
        admin_audit_write(admin, job, "channel.return", "%s: order %016llx to %s", name,
            (unsigned long long)funnel_order_id(admin->lent->keys, job->ticket), sold ? to : "stock");
}

/* ---- sold elsewhere ---- */

static bool line_is_visible(const char *text)
{
    for (; *text != 0; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* False: answered. */
static bool report_read(struct job *job, struct channel_report *report)
{
    const struct field fields[] = {
        { "reference", FIELD_TEXT, report->reference, 1, REPORT_REFERENCE_MAX, true, NULL },
        { "quantity", FIELD_U32, &report->reported, 1, UNITS_MAX, true, NULL },
    };
    if (!job_fields_read(job, fields, 2))
        return false;
    const bool good = line_is_visible(report->reference);
    if (!good)
        job_reply_problem(
            job, PROBLEM_BAD_VALUE, "reference must be visible ASCII characters.", SPAN_NONE);
    return good;
}

static void report_reply(struct job *job, int status, const struct channel_report *report)
{
    struct text body = job_body(job);
    json_object_begin(&body, NULL);
    json_u64(&body, "id", report->id);
    admin_report_json(report, &body);
    json_object_end(&body);
    job_reply_json(job, status, &body);
}

/* Takes what there is. The key is that of the report: of its channel, item and reference. False: answered. */
static bool units_take(struct admin *admin, struct job *job, struct channel_report *report)
{
    const struct hash_key secret = admin->lent->keys->idempotency;
    const struct command_origin origin = job->origin;
    const struct command command = { .type = COMMAND_ADJUST,
        .adjust = { .item = report->item,
            .channel = job->channel,
            .delta = -(int32_t)report->reported,
            .gone = true } };
    struct outcome outcome = { 0 };
    const uint64_t channel = hash_siphash(secret, report->channel, strlen(report->channel));
    const uint64_t reference = hash_siphash(secret, report->reference, strlen(report->reference));
    job->origin.key = hash_siphash_pair(secret, channel, reference) | 1;
    job->origin.request = hash_siphash_pair(secret, channel, report->reported);
    const bool done = admin_ask(admin, job, &command, &outcome);
    job->origin = origin;
    report->taken = done ? (uint32_t)-outcome.applied : 0;
    report->missing = report->reported - report->taken;
    return done;
}

/* Somebody must decide what those get who bought the units that are missing: docs/remedies.md. */
static enum status case_open(
    struct admin *admin, const struct job *job, const struct channel_report *report)
{
    struct remedy_case remedy = { .state = CASE_OPEN, .item = report->item, .missing = report->missing };
    bool fresh = false;
    snprintf(remedy.channel, sizeof remedy.channel, "%s", report->channel);
    snprintf(remedy.reference, sizeof remedy.reference, "%s", report->reference);
    snprintf(remedy.reason, sizeof remedy.reason, "The channel reported %u units and had %u.",
        report->reported, report->taken);
    snprintf(remedy.opened_by, sizeof remedy.opened_by, "%s", job->actor);
    return remedies_open(admin->store, &remedy, admin->now_ms, &fresh);
}

void admin_channel_report(struct admin *admin, struct job *job, uint32_t id)
{
    struct channel_report report = { .item = id, .time_ms = admin->now_ms };
    struct item item;
    struct order_store *store = admin->store;
    const struct channel_store_ops *ops = store->ops->channels;
    channel_name(admin->lent->channels, job->channel, report.channel);
    if (!admin_item_read(admin, job, id, &item) || !report_read(job, &report))
        return;
    const uint32_t reported = report.reported;
    enum status status = ops->report_get(store, &report);
    if (status == STATUS_OK) {
        if (report.reported == reported)
            report_reply(job, 200, &report);
        else
            job_reply_problem(job, PROBLEM_REFERENCE_USED,
                "This reference was reported with another quantity.", SPAN_NONE);
        return;
    }
    if (status != STATUS_NOT_FOUND) {
        job_reply_status(job, status);
        return;
    }
    if (!units_take(admin, job, &report))
        return;
    status = ops->report_put(store, &report);
    if (status == STATUS_OK && report.missing > 0)
        status = case_open(admin, job, &report);
    if (!job_ok(job, status))
        return;
    if (report.missing > 0)
        log_warn("channels", "%s reported %u units of item %u, %u more than it had (reference %s)",
            report.channel, report.reported, id, report.missing, report.reference);
    report_reply(job, 201, &report);
    admin_audit_write(admin, job, "channel.report",
        "%s: item %u reference %s reported %u taken %u missing %u", report.channel, id,
        report.reference, report.reported, report.taken, report.missing);
}

void admin_channel_figures(struct admin *admin, struct job *job, uint32_t id)
{
    struct channel_figures told = { .channel = "" };
    (void)id;
    if (!admin_figures_read(job, &told, false))
        return;
    channel_name(admin->lent->channels, job->channel, told.channel);
    admin_figures_keep(admin, job, &told);
}
