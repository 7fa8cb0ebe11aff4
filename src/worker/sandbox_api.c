/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox_api.h"

#include "api/job_reply.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "contract/outgoing.h"
#include "payment/provider.h"
#include "payment/sandbox_bank.h"
#include "worker/money.h"
#include "worker/outgoing_calls.h"
#include "worker/task.h"

#include <stdio.h>
#include <string.h>

enum { FLIGHT_MAX = 16, LOOK_MS = 20 }; /* callbacks of the bank under way */

struct sandbox_api {
    const struct money *money; /* it has the bank, once it is started */
    struct outgoing_calls *calls;
    uint32_t flights;
};

static struct bank *bank_of(const struct sandbox_api *api)
{
    return money_bank(api->money);
}

/* Signed for the request that it answers. */
static void signed_reply(struct sandbox_api *api, struct job *job, int status, struct span body)
{
    static const char *const methods[] = { [HTTP_GET] = "GET", [HTTP_POST] = "POST" };
    char signature[SANDBOX_SIGNATURE_BYTES], lines[SANDBOX_SIGNATURE_BYTES + 64];
    const struct sandbox_signed what = { span_from_string(methods[job->method]), job->path, body };
    struct text head = text_in(lines, sizeof lines);
    sandbox_sign(money_bank_secret(api->money), clock_wall_ms(), &what, signature);
    text_string(&head, SANDBOX_HEADER);
    text_literal(&head, ": ");
    text_string(&head, signature);
    text_literal(&head, "\r\nCache-Control: no-store\r\n");
    job_reply_bytes(job, status, "application/json", text_span(&head), body);
}

static const int answer_status[] = {
    [BANK_DONE] = 200,
    [BANK_UNKNOWN] = 404,
    [BANK_REFUSED] = 409,
    [BANK_FULL] = 503,
    [BANK_BROKEN] = 503,
};

static void network_broken(struct job *job)
{
    job_reply_problem(job, PROBLEM_UNAVAILABLE, "The sandbox simulates a network failure.", SPAN_NONE);
}

static void message_reply(struct sandbox_api *api, struct job *job, enum bank_answer answer,
    struct sandbox_message *message)
{
    char bytes[4096];
    struct text body = text_in(bytes, sizeof bytes);
    if (bank_is_unanswered(bank_of(api))) { /* what was done is done; only nobody hears of it */
        network_broken(job);
        return;
    }
    if (answer == BANK_DONE)
        snprintf(message->url, sizeof message->url, "%.200s/sandbox/pay.html?id=%s",
            money_public_url(api->money), message->id);
    else
        *message = (struct sandbox_message){ 0 };
    sandbox_message_write(message, &body);
    invariant(!body.overflow);
    signed_reply(api, job, answer_status[answer], text_span(&body));
}

static void create_job(struct sandbox_api *api, struct job *job)
{
    struct sandbox_message asked, message = { 0 };
    enum bank_answer answer = BANK_REFUSED;
    if (sandbox_message_read(job->body, &asked))
        answer = bank_create(bank_of(api), &asked, &message);
    message_reply(api, job, answer, &message);
}

/* "refund/KEY": the key; false: it is something else. */
static bool refund_key_take(struct span act, char key[REFERENCE_BYTES_MAX + 1])
{
    static const struct span before = { "refund/", 7 };
    const size_t size = act.size - before.size;
    if (act.size <= before.size || !span_starts_with(act, before) || size > REFERENCE_BYTES_MAX)
        return false;
    memcpy(key, act.data + before.size, size);
    key[size] = 0;
    return true;
}

static void payment_job(struct sandbox_api *api, struct job *job, struct span reference,
    struct span act, uint64_t now_ms)
{
    struct bank *bank = bank_of(api);
    struct sandbox_message asked = { 0 }, message = { 0 };
    char name[REFERENCE_BYTES_MAX + 1], key[REFERENCE_BYTES_MAX + 1] = "";
    enum bank_answer answer = BANK_UNKNOWN;
    if (reference.size > REFERENCE_BYTES_MAX) {
        message_reply(api, job, answer, &message);
        return;
    }
    memcpy(name, reference.data, reference.size);
    name[reference.size] = 0;
    const bool post = job->method == HTTP_POST;
    const bool refund = span_equal(act, SPAN("refund"));
    if (post && refund && sandbox_message_read(job->body, &asked))
        answer = bank_refund(bank, name, asked.key, asked.amount, &message);
    else if (!post && (refund || refund_key_take(act, key)))
        answer = bank_refund_show(bank, name, key, &message);
    else if (post && span_equal(act, SPAN("close")))
        answer = bank_close_payment(bank, name, now_ms, &message);
    else if (!post && act.size == 0)
        answer = bank_show(bank, name, &message);
    message_reply(api, job, answer, &message);
}

/* ---- the pay page ---- */

static void page_reply(struct job *job, const struct sandbox_message *message)
{
    struct text body = job_body(job);
    struct sandbox_message shown = *message;
    shown.notify_url[0] = shown.payer[0] = 0;
    sandbox_message_write(&shown, &body);
    job_reply_json(job, 200, &body);
}

static bool how_read(struct job *job, enum bank_how *how, char payer[SANDBOX_PAYER_MAX + 1])
{
    static const char *const names[] = { "pay", "lost", "twice", "late", "wrong-amount", "decline" };
    char name[16];
    const struct field fields[] = { { "how", FIELD_TEXT, name, 1, sizeof name - 1, true, NULL },
        { "payer", FIELD_TEXT, payer, 0, SANDBOX_PAYER_MAX, false, NULL } };
    if (!job_fields_read(job, fields, 2))
        return false;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        *how = (enum bank_how)i;
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    job_reply_problem(job, PROBLEM_BAD_VALUE,
        "how must be pay, lost, twice, late, wrong-amount or decline.", SPAN_NONE);
    return false;
}

static void pay_job(struct sandbox_api *api, struct job *job, struct span id, uint64_t now_ms)
{
    struct sandbox_message message;
    enum bank_how how = BANK_PAY;
    char payer[SANDBOX_PAYER_MAX + 1] = "";
    enum bank_answer answer = bank_show_id(bank_of(api), id, &message); /* before the body is read */
    if (answer == BANK_DONE && job->method == HTTP_POST) {
        if (!how_read(job, &how, payer))
            return;
        answer = bank_pay(bank_of(api), id, how, payer, now_ms, &message);
    }
    if (answer == BANK_DONE)
        page_reply(job, &message);
    else
        job_reply_problem(job,
            answer == BANK_UNKNOWN       ? PROBLEM_NOT_FOUND
                : answer == BANK_REFUSED ? PROBLEM_CONFLICT
                                         : PROBLEM_UNAVAILABLE,
            NULL, SPAN_NONE);
}

void sandbox_api_job(struct sandbox_api *api, struct job *job, struct span path, uint64_t now_ms)
{
    static const struct span payments = SPAN("/payments"), pay = SPAN("/pay/");
    const struct sandbox_signed what = { job->method == HTTP_POST ? SPAN("POST") : SPAN("GET"),
        job->path, job->body };
    struct span reference, rest;
    const bool taken =
        job->method == HTTP_POST || (job->method == HTTP_GET && !span_equal(path, payments));
    if (!taken) {
        job_reply_method(job, span_equal(path, payments) ? "POST, OPTIONS" : "GET, HEAD, POST, OPTIONS");
        return;
    }
    if (span_starts_with(path, pay)) {
        pay_job(api, job, span_of(path.data + pay.size, path.size - pay.size), now_ms);
        return;
    }
    if (!span_starts_with(path, payments)) {
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
        return;
    }
    if (!sandbox_signature_good(money_bank_secret(api->money), clock_wall_ms(), &what,
            provider_header(job->head, SANDBOX_HEADER))) {
        job_reply_problem(job, PROBLEM_SIGNATURE_INVALID, NULL, SPAN_NONE);
        return;
    }
    if (bank_is_unreached(bank_of(api))) {
        network_broken(job);
        return;
    }
    rest = span_of(path.data + payments.size, path.size - payments.size);
    if (rest.size == 0 && job->method == HTTP_POST) {
        create_job(api, job);
        return;
    }
    if (rest.size < 2 || rest.data[0] != '/') {
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
        return;
    }
    rest = span_of(rest.data + 1, rest.size - 1);
    (void)span_take_until(&rest, '/', &reference);
    payment_job(api, job, reference, rest, now_ms);
}

/* ---- callbacks ---- */

static void callback_send(
    struct sandbox_api *api, struct sandbox_message *message, struct outgoing_call *call)
{
    char signature[SANDBOX_SIGNATURE_BYTES];
    struct text body = text_in(call->body, sizeof call->body);
    snprintf(call->method, sizeof call->method, "POST");
    snprintf(call->url, sizeof call->url, "%s", message->notify_url);
    message->notify_url[0] = message->return_url[0] = 0;
    sandbox_message_write(message, &body);
    invariant(!body.overflow);
    call->body_size = (uint32_t)body.size;
    const struct sandbox_signed what = { SPAN("POST"), sandbox_path_of(call->url), text_span(&body) };
    sandbox_sign(money_bank_secret(api->money), clock_wall_ms(), &what, signature);
    call->headers[0] = 0;
    invariant(outgoing_header_add(call, SANDBOX_HEADER, span_from_string(signature))
        && outgoing_header_add(call, "Content-Type", SPAN("application/json")));
    call->allow_private = true;
    api->flights++;
    outgoing_call_send(api->calls, CALL_SANDBOX, 0, call);
}

static void callbacks_send(struct sandbox_api *api, uint64_t now_ms)
{
    struct sandbox_message message;
    while (api->flights < FLIGHT_MAX) {
        struct outgoing_call *call = outgoing_call_take(api->calls);
        if (call == NULL)
            return;
        if (!bank_callback(bank_of(api), now_ms, &message) || message.notify_url[0] == 0) {
            outgoing_call_give(api->calls, call);
            return;
        }
        callback_send(api, &message, call);
    }
}

static void callback_answered(void *self, uint64_t id, const struct outgoing_call *call)
{
    struct sandbox_api *api = self;
    (void)id;
    api->flights--;
    if (call->result != OUTGOING_ANSWERED || call->status >= 300)
        log_warn("sandbox", "a callback to %s was not accepted: %d %s", call->url, call->status,
            call->error);
}

static uint64_t callbacks_turn(void *self, uint64_t now_ms)
{
    struct sandbox_api *api = self;
    if (!sandbox_api_is_on(api))
        return TASK_IDLE;
    callbacks_send(api, now_ms);
    return now_ms + LOOK_MS;
}

bool sandbox_api_is_on(const struct sandbox_api *api)
{
    return bank_of(api) != NULL;
}

struct sandbox_api *sandbox_api_open(
    struct arena *arena, const struct money *money, struct outgoing_calls *calls, struct task *task)
{
    struct sandbox_api *api = arena_take(arena, 1, sizeof *api);
    *api = (struct sandbox_api){ .money = money, .calls = calls };
    *task = (struct task){ .name = "sandbox", .self = api, .turn = callbacks_turn, .listens = true };
    outgoing_calls_listen(calls, CALL_SANDBOX, callback_answered, api);
    return api;
}
