/* SPDX-License-Identifier: Apache-2.0 */
/* admin/repeated_changes.c: how a request of an administrator that changes something is carried out.
 *
 * A refusal means that nothing was changed. So what changes the database is one transaction, begun
 * before the handler does anything and ended after it, with the audit rows and, if the request has an
 * Idempotency-Key, its answer: the same key again gets that answer. What is a command to the inventory
 * carries actor and key in its log record, and the inventory itself knows a repeated key. While its answer
 * is waited for, other jobs run and the transaction is not open (contract/admin_store.h: pause): commands
 * come before changes. Where a command was given and then something failed, the answer is "outcome
 * unknown", never "unavailable". */
#include "admin/admin.h"
#include "base/log.h"
#include "contract/admin_store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static_assert((int)REQUEST_BODY_MAX >= (int)JOB_RESPONSE_BYTES, "every answer can be kept");

/* True: this key was used before, and the job is answered. */
static bool request_is_known(struct admin *admin, struct job *job)
{
    struct order_store *store = admin->store;
    struct kept_request kept;
    struct text body = job_body(job);
    if (job->origin.key == 0)
        return false;
    const enum status status =
        store->ops->admin->request_get(store, job->origin.key, &kept, body.data, body.capacity);
    if (status == STATUS_NOT_FOUND)
        return false;
    if (status != STATUS_OK) {
        job_reply_status(job, status);
    } else if (kept.request != job->origin.request) {
        job_reply_problem(job, PROBLEM_KEY_REUSED, NULL, SPAN_NONE);
    } else {
        body.size = kept.body.size;
        job_reply_json(job, kept.status, &body);
    }
    return true;
}

static enum status answer_keep(struct admin *admin, const struct job *job)
{
    struct order_store *store = admin->store;
    const struct kept_request kept = { .key = job->origin.key,
        .request = job->origin.request,
        .time_ms = admin->now_ms,
        .status = job->status,
        .body = job_response_body(job) };
    const bool done = job->status >= 200 && job->status < 300;
    return done && kept.key != 0 ? store->ops->admin->request_put(store, &kept) : STATUS_OK;
}

/* Ends the transaction: kept, unless something failed. `answered`: the job has its response. */
static enum status transaction_end(struct admin *admin, struct job *job, bool answered)
{
    struct order_store *store = admin->store;
    const bool failed = answered && job->status >= 500;
    enum status status = job->audited;
    if (!store->ops->admin->is_open(store)) { /* after a wait for the inventory it could not be begun again */
        admin->together = false;
        return STATUS_AWAY;
    }
    if (status == STATUS_OK && answered && !failed)
        status = answer_keep(admin, job);
    const bool keep = status == STATUS_OK && !failed;
    const enum status ended = store->ops->admin->end(store, keep);
    admin->together = false;
    return keep ? ended : status;
}

static void transaction_run(struct admin *admin, struct job *job, admin_handler handler, uint32_t id)
{
    struct order_store *store = admin->store;
    enum status status = store->ops->admin->begin(store);
    if (!job_ok(job, status))
        return;
    if (request_is_known(admin, job)) {
        (void)!store->ops->admin->end(store, false);
        return;
    }
    admin->together = true;
    handler(admin, job, id);
    invariant(job->result == JOB_REPLY);
    if (!admin->together)
        return; /* admin_audit_keep has ended it */
    status = transaction_end(admin, job, true);
    if (status != STATUS_OK)
        job_reply_status(job, status);
}

void admin_change_run(struct admin *admin, struct job *job, admin_handler handler, uint32_t id, bool writes)
{
    job->commanded = false;
    job->audited = STATUS_OK;
    job->status = 0;
    worker_origin_read(admin->worker, job);
    worker_acting(admin->worker, job);
    if (writes)
        transaction_run(admin, job, handler, id);
    else
        handler(admin, job, id);
    worker_acting(admin->worker, NULL);
    if (job->status == 503 && job->commanded)
        job_reply_problem(job, PROBLEM_OUTCOME_UNKNOWN, NULL, SPAN_NONE);
}

void admin_audit_write(struct admin *admin, struct job *job, const char *action, const char *format, ...)
{
    struct audit_entry entry = { .time_ms = admin->now_ms };
    va_list arguments;
    invariant(admin->together);
    snprintf(entry.actor, sizeof entry.actor, "%s", job->actor);
    snprintf(entry.action, sizeof entry.action, "%s", action);
    va_start(arguments, format);
    vsnprintf(entry.detail, sizeof entry.detail, format, arguments);
    va_end(arguments);
    const enum status status = admin->store->ops->audit_append(admin->store, &entry);
    if (status == STATUS_OK)
        return;
    log_error("worker", "the audit entry \"%s %s\" can't be written: %s", action, entry.detail,
        status_name(status));
    if (job->audited == STATUS_OK)
        job->audited = status;
}

bool admin_audit_keep(struct admin *admin, struct job *job)
{
    const enum status status = transaction_end(admin, job, false);
    if (status != STATUS_OK)
        job_reply_status(job, status);
    return status == STATUS_OK;
}
