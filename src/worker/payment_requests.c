/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/payment_requests.h"

#include "api/job_reply.h"
#include "api/refusals.h"
#include "config/config.h"
#include "contract/payment.h"
#include "funnel/intent.h"
#include "payment/provider.h"
#include "worker/errands.h"
#include "worker/money.h"
#include "worker/order_news.h"
#include "worker/order_requests.h"
#include "worker/payment_waits.h"
#include "worker/period_limits.h"
#include "worker/public_requests.h"
#include "worker/worker_parts.h"

#include <stdio.h>
#include <string.h>

enum {
    INTENT_BODY_UNREAD = 1024, /* bytes that are parsed before an intent was seen */
    QUERY_SOON_MS = 200,       /* after the user has said "I have paid" */
};

static const struct payment_store_ops *money_ops(const struct worker *worker)
{
    return worker->config.store->ops->payment;
}

/* ---- requests that wait: at the edge, which asks again on news of their order ---- */

static void payer_waits(struct worker *worker, struct job *job, uint64_t wait_ms)
{
    job->wait_until_ms = worker->now_ms + wait_ms;
    job->result = JOB_NOT_YET;
}

void worker_payment_job(struct worker *worker, struct job *job)
{
    struct order order;
    struct payment payment = { .state = PAYMENT_STARTED };
    uint32_t count = 0;
    const struct pay_verdict *verdict = payment_waits_verdict(worker->payment_waits, job->ticket);
    if (verdict != NULL) {
        job_reply_problem(job, (enum problem)verdict->problem, verdict->detail, SPAN_NONE);
        return;
    }
    enum status status =
        worker->config.store->ops->order_by_ticket(worker->config.store, job->ticket, &order);
    if (status == STATUS_OK)
        status = money_ops(worker)->of_order(worker->config.store, job->ticket, &payment, 1, &count);
    const bool starting = status == STATUS_NOT_FOUND
        || (status == STATUS_OK && order.state == ORDER_PENDING
            && (count == 0 || payment.state == PAYMENT_STARTED));
    if (starting && job->may_wait)
        job->result = JOB_NOT_YET;
    else if (status == STATUS_OK && order.state == ORDER_PENDING && payment.state == PAYMENT_CLOSING)
        job_reply_problem(job, PROBLEM_ORDER_CLOSED, NULL, SPAN_NONE); /* cancelled, or too late */
    else if (status == STATUS_OK && order.state == ORDER_PENDING && payment.state == PAYMENT_CLOSED)
        job_reply_problem(job, PROBLEM_PAYMENT_REFUSED, NULL, SPAN_NONE);
    else if (public_order_read(worker, job, &order))
        public_order_reply(worker, job, starting ? 202 : 200, &order);
}

/* ---- starting to pay ---- */

static void payment_start_job(struct worker *worker, struct job *job, const struct order *order,
    const struct provider *provider)
{
    const uint64_t wait_ms = worker->config.config->create_wait_ms;
    struct pay_start start;
    payment_waits_start(worker->payment_waits, order, provider, worker->now_ms, &start);
    if (start.status != STATUS_OK)
        job_reply_status(job, start.status);
    else if (start.problem != PROBLEM_NONE)
        job_reply_problem(job, start.problem, start.detail, SPAN_NONE);
    else if (!start.open && job->may_wait && wait_ms > 0)
        payer_waits(worker, job, wait_ms);
    else
        public_order_reply(worker, job, start.open ? 200 : 202, &start.after);
}

/* "": with one provider only, nothing needs to be said. NULL: the job is answered. */
static const struct provider *provider_choose(struct worker *worker, struct job *job, const char *name)
{
    const bool given = name[0] != 0;
    uint32_t index;
    if (money_provider(worker->money, 0) == NULL) {
        job_reply_problem(job, PROBLEM_NO_PROVIDER, NULL, SPAN_NONE);
        return NULL;
    }
    if (!given && money_provider(worker->money, 1) == NULL)
        return money_provider(worker->money, 0);
    const struct provider *provider =
        given ? money_provider_find(worker->money, span_from_string(name), &index) : NULL;
    if (provider == NULL)
        job_reply_problem(
            job, PROBLEM_BAD_VALUE, "provider must be one that GET /v1/payments lists.", SPAN_NONE);
    return provider;
}

void public_order_pay(struct worker *worker, struct job *job, uint32_t id)
{
    char name[PROVIDER_NAME_MAX + 1] = "";
    const struct field fields[] = { { "provider", FIELD_TEXT, name, 1, PROVIDER_NAME_MAX, false, NULL } };
    struct order order;
    (void)id;
    if (!public_order_read(worker, job, &order)
        || (job->body.size > 0 && !job_fields_read(job, fields, 1)))
        return;
    const struct provider *provider = provider_choose(worker, job, name);
    if (provider != NULL)
        payment_start_job(worker, job, &order, provider);
}

void public_payment_ways(struct worker *worker, struct job *job, uint32_t id)
{
    struct text body = job_body(job);
    (void)id;
    text_literal(&body, "{\"providers\":[");
    const struct provider *provider;
    for (uint32_t i = 0; (provider = money_provider(worker->money, i)) != NULL; i++) {
        text_string(&body, i == 0 ? "" : ",");
        text_json(&body, span_from_string(provider->ops->name));
    }
    text_format(&body, "],\"refund_ms\":%llu%s}",
        (unsigned long long)worker->config.config->user_refund_ms,
        money_bank(worker->money) != NULL ? ",\"test\":true" : "");
    job_reply_json(job, 200, &body);
}

/* "I have paid": the provider is asked soon, not when it would be its turn. */
void public_order_query(struct worker *worker, struct job *job, uint32_t id)
{
    struct order order;
    struct payment payments[PAYMENTS_PER_ORDER];
    uint32_t count = 0;
    (void)id;
    if (!public_order_read(worker, job, &order))
        return;
    enum status status = money_ops(worker)->of_order(
        worker->config.store, order.ticket, payments, PAYMENTS_PER_ORDER, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const bool asked = payments[i].state == PAYMENT_OPEN || payments[i].state == PAYMENT_CLOSING
            || payment_is_unanswered(&payments[i]);
        if (asked && payments[i].next_ms > worker->now_ms + QUERY_SOON_MS)
            status = money_ops(worker)->again(
                worker->config.store, payments[i].id, worker->now_ms + QUERY_SOON_MS);
    }
    if (!job_ok(job, status))
        return;
    money_look(worker->money);
    public_order_reply(worker, job, 202, &order);
}

/* ---- giving it up, giving it back ---- */

void worker_cancel_later(struct worker *worker, struct job *job, struct order *order)
{
    uint32_t live = 0;
    const enum status status = money_ops(worker)->closing(
        worker->config.store, order->ticket, REASON_CANCELLED, worker->now_ms, &live);
    if (!job_ok(job, status))
        return;
    order->ending = REASON_CANCELLED;
    order_news_tell(&worker->news, order->ticket, order->user);
    money_look(worker->money);
    public_order_reply(worker, job, 202, order);
}

void public_order_refund(struct worker *worker, struct job *job, uint32_t id)
{
    const struct config *config = worker->config.config;
    struct order order;
    struct payment payment;
    struct order_move move = { .event = ORDER_EVENT_REFUND,
        .now_ms = worker->now_ms,
        .unless_shipped = true, /* what was sent comes back by way of the shop */
        .refund_to = strcmp(config->user_refund_to, "stock") == 0 ? REFUND_TO_STOCK
            : config->user_refund_to[0] == 's'                    ? REFUND_TO_SAFETY
                                                                  : REFUND_TO_WRITE_OFF };
    bool done = false;
    (void)id;
    if (!public_order_read(worker, job, &order))
        return;
    move.ticket = order.ticket;
    if (order.state == ORDER_PAID) {
        const enum status status =
            money_ops(worker)->of_paid(worker->config.store, order.ticket, &payment);
        if (!job_ok(job, status))
            return;
        if (worker->now_ms >= payment.captured_ms + config->user_refund_ms) {
            job_reply_problem(job, PROBLEM_REFUND_NOT_ALLOWED, NULL, SPAN_NONE);
            return;
        }
    }
    if (worker_order_move(worker, job, &move, &order, &done))
        worker_return_reply(worker, job, &order, done);
}

/* ---- deduct on payment: the unit is taken when payment starts ---- */

static bool intent_fits(
    const struct worker *worker, const struct job *job, struct span text, struct intent *intent)
{
    return intent_verify(worker->config.keys, text, worker->now_ms, intent) && intent->user == job->user;
}

/* Whether a body may be parsed: its intent is good, as far as can be seen without parsing. A small
 * body without one is parsed for the sake of a precise answer. */
static bool intent_look(const struct worker *worker, const struct job *job)
{
    static const struct span name = SPAN("\"intent\"");
    struct intent intent;
    struct span rest = job->body;
    const char *found = rest.size == 0 ? NULL : memmem(rest.data, rest.size, name.data, name.size);
    if (found == NULL)
        return rest.size <= INTENT_BODY_UNREAD;
    const char *at = found + name.size, *end = rest.data + rest.size;
    while (at < end && strchr(" \t\r\n:", *at) != NULL && *at != 0)
        at++;
    if (end - at < INTENT_CHARS + 2 || at[0] != '"' || at[INTENT_CHARS + 1] != '"')
        return rest.size <= INTENT_BODY_UNREAD;
    return intent_fits(worker, job, span_of(at + 1, INTENT_CHARS), &intent);
}

static void intent_invalid(struct job *job)
{
    job->check_failed = true;
    job_reply_problem(job, PROBLEM_INTENT_INVALID, NULL, SPAN_NONE);
}

/* False: the job is answered. */
static bool intent_read(
    struct worker *worker, struct job *job, struct intent *intent, struct pending_intent *pending)
{
    char text[INTENT_CHARS + 1] = "", name[PROVIDER_NAME_MAX + 1] = "", error[FIELD_ERROR];
    json_t *details = NULL;
    const struct field fields[] = {
        { "intent", FIELD_TEXT, text, INTENT_CHARS, INTENT_CHARS, true, NULL },
        { "provider", FIELD_TEXT, name, 1, PROVIDER_NAME_MAX, false, NULL },
        { "details", FIELD_JSON, &details, 0, 0, false, &pending->has_details },
    };
    struct field inner[DETAIL_FIELDS];
    if (!intent_look(worker, job)) {
        intent_invalid(job);
        return false;
    }
    json_t *body = admin_body_parse(job->body, error);
    if (body == NULL) {
        job_reply_problem(job, PROBLEM_BAD_BODY, error, SPAN_NONE);
        return false;
    }
    details_fields(&pending->details, inner);
    const bool good = admin_fields_read(body, fields, sizeof fields / sizeof *fields, error)
        && (!pending->has_details || admin_fields_read(details, inner, DETAIL_FIELDS, error));
    json_decref(body);
    if (!good) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, error, SPAN_NONE);
        return false;
    }
    if (!intent_fits(worker, job, span_from_string(text), intent)) {
        intent_invalid(job);
        return false;
    }
    pending->provider = provider_choose(worker, job, name);
    return pending->provider != NULL
        && (!pending->has_details || details_check(job, &pending->details));
}

/* Answers with the order as it is now. */
static void order_reply(struct worker *worker, struct job *job, int status)
{
    struct order order;
    if (public_order_read(worker, job, &order))
        public_order_reply(worker, job, status, &order);
}

static void intent_refuse(struct job *job, const struct outcome *outcome)
{
    if (outcome->answer == ANSWER_SOLD_OUT)
        job_reply_problem(job, PROBLEM_SOLD_OUT, "Sold out. You were not charged.", SPAN_NONE);
    else if (outcome->answer == ANSWER_COOLING_DOWN || outcome->answer == ANSWER_NOT_YOUR_MOMENT)
        job_reply_until(job, refusal_problem(outcome->answer), outcome->again_ms);
    else
        job_reply_refused(job, outcome);
}

void public_intent_pay(struct worker *worker, struct job *job, uint32_t id)
{
    struct intent intent;
    struct pending_intent asked = { 0 };
    struct outcome outcome;
    (void)id;
    if (!intent_read(worker, job, &intent, &asked))
        return;
    struct command command = { .type = COMMAND_RESERVE,
        .time_ms = worker->now_ms,
        .reserve = { .user = intent.user,
            .key = intent_key(worker->config.keys, &intent),
            .item = intent.item,
            .quantity = intent.quantity,
            .channel = intent.channel } };
    enum status status = period_limit_apply(worker->config.store, &command.reserve, worker->now_ms);
    if (status == STATUS_OK)
        status = errands_ask(worker->errands, &command, &outcome);
    if (status != STATUS_OK) { /* the intent is the key: asking again is safe */
        job_reply_status(job, status);
        return;
    }
    if (period_limit_refused(&command.reserve, &outcome)) {
        period_limit_reply(job);
        return;
    }
    /* One that is being decided is waited for like one whose order is being written: it comes, or not. */
    if (outcome.answer != ANSWER_WON && outcome.answer != ANSWER_REPEATED
        && outcome.answer != ANSWER_DECIDING) {
        intent_refuse(job, &outcome);
        return;
    }
    job->ticket = asked.ticket = outcome.ticket;
    asked.until_ms = worker->now_ms + ORDER_WAIT_MS;
    if (payment_waits_add(worker->payment_waits, &asked) && job->may_wait)
        payer_waits(worker, job, ORDER_WAIT_MS + worker->config.config->create_wait_ms);
    else
        order_reply(worker, job, 202);
}
