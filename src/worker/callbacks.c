/* SPDX-License-Identifier: Apache-2.0 */
/* worker/callbacks.c: requests that carry no session of ours: callbacks of payment providers, and
 * what is said to the sandbox's bank. Nothing of them is trusted before its signature was checked. */
#include "worker/callbacks.h"
#include "api/job_reply.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/payment.h"
#include "payment/provider.h"
#include "worker/money.h"
#include "worker/sandbox_api.h"
#include "worker/worker_parts.h"

COUNTER(callbacks_forged, "stampede_payment_callbacks_refused_total",
    "Callbacks whose signature, freshness, form or payment was wrong.");

static void receipt_reply(struct job *job, const struct provider_receipt *receipt)
{
    job_reply_bytes(job, receipt->status, receipt->type,
        receipt->status == 503 ? SPAN("Cache-Control: no-store\r\nRetry-After: 2\r\n")
                               : SPAN("Cache-Control: no-store\r\n"),
        span_from_string(receipt->body));
}

/* "/v1/payments/alipay/callback" → alipay */
static bool callback_provider(struct span path, struct span *name)
{
    static const struct span prefix = SPAN("/v1/payments/"), suffix = SPAN("/callback");
    if (!span_starts_with(path, prefix) || !span_ends_with(path, suffix)
        || path.size <= prefix.size + suffix.size)
        return false;
    *name = span_of(path.data + prefix.size, path.size - prefix.size - suffix.size);
    return true;
}

static void callback_job(struct worker *worker, struct job *job, struct provider *provider)
{
    const struct provider_ops *ops = provider->ops;
    const struct provider_callback callback = { .head = job->head,
        .path = job->path,
        .query = job->query,
        .body = job->body,
        .now_ms = clock_wall_ms() };
    struct provider_said said;
    uint8_t answer = LEARN_UNKNOWN;
    ops->callback(provider, &callback, &said);
    if (said.word == WORD_FORGED) {
        metric_add(&callbacks_forged, 1);
        log_warn("cashier", "a callback in the name of %s was refused: %s", ops->name, said.error);
        receipt_reply(job, &ops->refused);
        return;
    }
    if (said.word != WORD_CAPTURED && said.word != WORD_CLOSED) {
        receipt_reply(job, &ops->taken);
        return;
    }
    /* Answered after the commit: what the provider was thanked for is not forgotten. */
    enum status status = money_news(worker->money, ops->name, &said, worker->now_ms, &answer);
    if (status == STATUS_OK && answer == LEARN_UNKNOWN) {
        status = money_adopt(worker->money, ops->name, said.reference, worker->now_ms);
        if (status == STATUS_OK) {
            money_look(worker->money); /* what became of it is asked of the provider */
            answer = LEARN_REPEATED;
        } else if (status == STATUS_NOT_FOUND) {
            status = STATUS_OK;
        }
    }
    const bool refused = answer == LEARN_UNKNOWN || answer == LEARN_AMOUNT;
    if (status == STATUS_OK && refused)
        metric_add(&callbacks_forged, 1);
    receipt_reply(job, status != STATUS_OK ? &ops->later : refused ? &ops->refused : &ops->taken);
}

void worker_outside_job(struct worker *worker, struct job *job)
{
    static const struct span sandbox = SPAN("/sandbox/v1");
    struct span name;
    uint32_t index;
    if (sandbox_api_is_on(worker->sandbox) && span_starts_with(job->path, sandbox)) {
        sandbox_api_job(worker->sandbox, job,
            span_of(job->path.data + sandbox.size, job->path.size - sandbox.size), worker->now_ms);
        return;
    }
    struct provider *provider =
        callback_provider(job->path, &name) ? money_provider_find(worker->money, name, &index) : NULL;
    if (provider == NULL)
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
    else if (job->method != HTTP_POST)
        job_reply_method(job, "POST, OPTIONS");
    else
        callback_job(worker, job, provider);
}
