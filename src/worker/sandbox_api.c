/* SPDX-License-Identifier: Apache-2.0 */
/* worker/sandbox_api.c: the sandbox's bank on the wire: its API for the provider (signed), its pay
 * page's two requests (whoever knows the id of a payment may pay it), and its callbacks.
 *
 *   POST /sandbox/v1/payments                          create      signed
 *   GET  /sandbox/v1/payments/{reference}              query       signed
 *   POST /sandbox/v1/payments/{reference}/close        close       signed
 *   POST /sandbox/v1/payments/{reference}/refund       refund      signed
 *   GET  /sandbox/v1/payments/{reference}/refund       its state   signed
 *   GET  /sandbox/v1/pay/{id}                          what the pay page shows
 *   POST /sandbox/v1/pay/{id} {"how":"pay"}            what its buttons do */
#include "base/clock.h"
#include "base/log.h"
#include "worker/money.h"
#include "worker/worker_parts.h"

#include <stdio.h>

/* Signed for the request that it answers. */
static void signed_reply(struct worker *worker, struct job *job, int status, struct span body)
{
    static const char *const methods[] = { [HTTP_GET] = "GET", [HTTP_POST] = "POST" };
    char signature[SANDBOX_SIGNATURE_BYTES], lines[SANDBOX_SIGNATURE_BYTES + 64];
    const struct sandbox_signed what = { span_from_string(methods[job->method]), job->path, body };
    struct text head = text_in(lines, sizeof lines);
    sandbox_sign(&worker->money.bank_secret, clock_wall_ms(), &what, signature);
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

static void message_reply(struct worker *worker, struct job *job, enum bank_answer answer,
    struct sandbox_message *message)
{
    char bytes[4096];
    struct text body = text_in(bytes, sizeof bytes);
    if (bank_is_unanswered(worker->money.bank)) { /* what was done is done; only nobody hears of it */
        network_broken(job);
        return;
    }
    if (answer == BANK_DONE)
        snprintf(message->url, sizeof message->url, "%.200s/sandbox/pay.html?id=%s",
            worker->money.public_url, message->id);
    else
        *message = (struct sandbox_message){ 0 };
    sandbox_message_write(message, &body);
    invariant(!body.overflow);
    signed_reply(worker, job, answer_status[answer], text_span(&body));
}

static void create_job(struct worker *worker, struct job *job)
{
    struct sandbox_message asked, message = { 0 };
    enum bank_answer answer = BANK_REFUSED;
    if (sandbox_message_read(job->body, &asked))
        answer = bank_create(worker->money.bank, &asked, &message);
    message_reply(worker, job, answer, &message);
}

static void payment_job(struct worker *worker, struct job *job, struct span reference, struct span act)
{
    struct bank *bank = worker->money.bank;
    struct sandbox_message asked = { 0 }, message = { 0 };
    char name[REFERENCE_BYTES_MAX + 1];
    enum bank_answer answer = BANK_UNKNOWN;
    if (reference.size > REFERENCE_BYTES_MAX) {
        message_reply(worker, job, answer, &message);
        return;
    }
    memcpy(name, reference.data, reference.size);
    name[reference.size] = 0;
    const bool post = job->method == HTTP_POST;
    const bool refund = span_equal(act, SPAN("refund"));
    if (post && refund && sandbox_message_read(job->body, &asked))
        answer = bank_refund(bank, name, asked.key, asked.amount, &message);
    else if (!post && refund)
        answer = bank_refund_show(bank, name, &message);
    else if (post && span_equal(act, SPAN("close")))
        answer = bank_close_payment(bank, name, worker->now_ms, &message);
    else if (!post && act.size == 0)
        answer = bank_show(bank, name, &message);
    message_reply(worker, job, answer, &message);
}

/* ---- the pay page ---- */

static void page_reply(struct job *job, const struct sandbox_message *message)
{
    struct text body = job_body(job);
    struct sandbox_message shown = *message;
    shown.notify_url[0] = 0;
    sandbox_message_write(&shown, &body);
    job_reply_json(job, 200, &body);
}

static bool how_read(struct job *job, enum bank_how *how)
{
    static const char *const names[] = { "pay", "lost", "twice", "late", "wrong-amount", "decline" };
    char name[16];
    const struct field fields[] = { { "how", FIELD_TEXT, name, 1, sizeof name - 1, true, NULL } };
    if (!job_fields_read(job, fields, 1))
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

static void pay_job(struct worker *worker, struct job *job, struct span id)
{
    struct sandbox_message message;
    enum bank_how how = BANK_PAY;
    enum bank_answer answer = bank_show_id(worker->money.bank, id, &message); /* before the body is read */
    if (answer == BANK_DONE && job->method == HTTP_POST) {
        if (!how_read(job, &how))
            return;
        answer = bank_pay(worker->money.bank, id, how, worker->now_ms, &message);
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

void worker_sandbox_job(struct worker *worker, struct job *job, struct span path)
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
        pay_job(worker, job, span_of(path.data + pay.size, path.size - pay.size));
        return;
    }
    if (!span_starts_with(path, payments)) {
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
        return;
    }
    if (!sandbox_signature_good(&worker->money.bank_secret, clock_wall_ms(), &what,
            provider_header(job->head, SANDBOX_HEADER))) {
        job_reply_problem(job, PROBLEM_SIGNATURE_INVALID, NULL, SPAN_NONE);
        return;
    }
    if (bank_is_unreached(worker->money.bank)) {
        network_broken(job);
        return;
    }
    rest = span_of(path.data + payments.size, path.size - payments.size);
    if (rest.size == 0 && job->method == HTTP_POST) {
        create_job(worker, job);
        return;
    }
    if (rest.size < 2 || rest.data[0] != '/') {
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
        return;
    }
    rest = span_of(rest.data + 1, rest.size - 1);
    (void)span_take_until(&rest, '/', &reference);
    payment_job(worker, job, reference, rest);
}

/* ---- callbacks ---- */

static void callback_send(
    struct worker *worker, struct sandbox_message *message, struct outgoing_call *call)
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
    sandbox_sign(&worker->money.bank_secret, clock_wall_ms(), &what, signature);
    call->headers[0] = 0;
    invariant(outgoing_header_add(call, SANDBOX_HEADER, span_from_string(signature))
        && outgoing_header_add(call, "Content-Type", SPAN("application/json")));
    call->tag = courier_tag(COURIER_SANDBOX, 0);
    call->allow_private = true;
    worker->money.bank_flights++;
    courier_send(worker->courier, call);
}

void worker_sandbox_turn(struct worker *worker)
{
    struct sandbox_message message;
    while (worker->money.bank_flights < SANDBOX_FLIGHT_MAX) {
        struct outgoing_call *call = courier_take(worker->courier);
        if (call == NULL)
            return;
        if (!bank_callback(worker->money.bank, worker->now_ms, &message) || message.notify_url[0] == 0) {
            courier_give(worker->courier, call);
            return;
        }
        callback_send(worker, &message, call);
    }
}

void worker_sandbox_answered(struct worker *worker, const struct outgoing_call *call)
{
    worker->money.bank_flights--;
    if (call->result != OUTGOING_ANSWERED || call->status >= 300)
        log_warn("sandbox", "a callback to %s was not accepted: %d %s", call->url, call->status,
            call->error);
}
