/* SPDX-License-Identifier: Apache-2.0 */
/* admin/payments.c: the money as the shop sees it: payments of an order, refunds under way, sums,
 * where an order goes; and the sandbox's switches. */
#include "admin/admin.h"
#include "api/catalog.h"
#include "base/log.h"
#include "contract/payment.h"
#include "funnel/keys.h"
#include "payment/sandbox_bank.h"
#include "worker/order_views.h"
#include "worker/payment_requests.h"

#include <stdlib.h>

enum { REFUNDS_SHOWN = 100 };

static const struct payment_store_ops *money_ops(const struct admin *admin)
{
    return admin->store->ops->payment;
}

static void payment_members(const struct admin *admin, const struct payment *payment, struct text *out)
{
    static const char *const uses[] = { "none", "order", "late", "relinked", "refund" };
    static_assert(sizeof uses / sizeof *uses == PAYMENT_USES, "a name for each");
    if (payment->paid_ticket != 0)
        json_hex(out, "paid_order", funnel_order_id(admin->lent->keys, payment->paid_ticket));
    json_text(out, "provider", payment->provider);
    if (provider_is_test(payment->provider))
        json_bool(out, "test", true);
    json_text(out, "reference", payment->reference);
    json_text(out, "provider_id", payment->provider_id);
    json_text(out, "state", payment_state_name(payment));
    json_text(out, "use", uses[payment->use]);
    json_u64(out, "amount", payment->amount);
    json_u64(out, "captured", payment->captured);
    currency_members(payment->currency, out);
    json_u64(out, "created_ms", payment->created_ms);
    json_u64(out, "captured_ms", payment->captured_ms);
    json_u64(out, "tries", payment->tries);
}

void admin_order_payments(struct admin *admin, struct job *job, uint32_t id)
{
    struct payment payments[PAYMENTS_PER_ORDER];
    struct order order;
    uint32_t count = 0;
    (void)id;
    enum status status = admin->store->ops->order_by_ticket(admin->store, job->ticket, &order);
    if (status == STATUS_OK)
        status = money_ops(admin)->of_order(
            admin->store, job->ticket, payments, PAYMENTS_PER_ORDER, &count);
    if (!job_found(job, status, PROBLEM_UNKNOWN_ORDER, "This order does not exist."))
        return;
    struct page page = page_begin(job, "payments");
    for (uint32_t i = 0; i < count; i++)
        payment_members(admin, &payments[i], page_object(&page, payments[i].id));
    page_end(job, &page, 0);
}

void admin_order_details(struct admin *admin, struct job *job, uint32_t id)
{
    (void)id;
    order_details_reply(admin->views, job, job->ticket);
}

static void refund_members(const struct admin *admin, const struct refund *refund, struct text *out)
{
    static const char *const whys[] = { "order", "late", "double", "amount", "part", "payer-limit" };
    static_assert(sizeof whys / sizeof *whys == REFUND_WHYS, "a name for each");
    json_hex(out, "order", funnel_order_id(admin->lent->keys, refund->ticket));
    json_text(out, "provider", refund->provider);
    if (provider_is_test(refund->provider))
        json_bool(out, "test", true);
    json_text(out, "key", refund->key);
    json_text(out, "state", refund_state_name(refund->state));
    json_text(out, "why", whys[refund->why]);
    json_u64(out, "amount", refund->amount);
    currency_members(refund->currency, out);
    json_u64(out, "created_ms", refund->created_ms);
    json_u64(out, "done_ms", refund->done_ms);
    json_u64(out, "tries", refund->tries);
    json_text(out, "error", refund->error);
    if (refund->note[0] != '\0')
        json_text(out, "reason", refund->note);
}

static int refund_compare(const void *left, const void *right)
{
    const struct refund *one = left, *other = right;
    return one->id < other->id ? -1 : one->id > other->id;
}

/* Those that are wanted and those that are stuck, as one ascending list: the last id shown is where
 * the next page goes on, for both. */
static enum status refunds_open(
    struct admin *admin, uint64_t after, struct refund refunds[2 * REFUNDS_SHOWN], uint32_t *count)
{
    uint32_t wanted = 0, stuck = 0;
    enum status status =
        money_ops(admin)->refunds(admin->store, after, REFUND_WANTED, refunds, REFUNDS_SHOWN, &wanted);
    if (status == STATUS_OK)
        status = money_ops(admin)->refunds(
            admin->store, after, REFUND_STUCK, refunds + wanted, REFUNDS_SHOWN, &stuck);
    *count = wanted + stuck;
    qsort(refunds, *count, sizeof *refunds, refund_compare);
    if (*count > REFUNDS_SHOWN)
        *count = REFUNDS_SHOWN;
    return status;
}

void admin_refunds(struct admin *admin, struct job *job, uint32_t id)
{
    struct refund refunds[2 * REFUNDS_SHOWN];
    uint32_t count = 0;
    uint64_t after = 0, open = 0;
    (void)id;
    if (!job_query_u64(job, "after", INT64_MAX, &after) || !job_query_u64(job, "open", 1, &open))
        return;
    const enum status status = open != 0
        ? refunds_open(admin, after, refunds, &count)
        : money_ops(admin)->refunds(admin->store, after, REFUND_NONE, refunds, REFUNDS_SHOWN, &count);
    if (!job_ok(job, status))
        return;
    struct page page = page_begin(job, "refunds");
    for (uint32_t i = 0; i < count; i++)
        refund_members(admin, &refunds[i], page_object(&page, refunds[i].id));
    page_end(job, &page, page_next(&page, REFUNDS_SHOWN));
}

void admin_money_totals(struct admin *admin, struct job *job, uint32_t id)
{
    struct money_totals totals;
    struct text body = job_body(job);
    (void)id;
    const enum status status = money_ops(admin)->totals(admin->store, &totals);
    if (!job_ok(job, status))
        return;
    text_format(&body, "{\"captured\":%llu,\"refunded\":%llu,\"wanted\":%llu,\"late\":%llu,\"paid\":%llu}",
        (unsigned long long)money_shown(totals.captured),
        (unsigned long long)money_shown(totals.refunded), (unsigned long long)money_shown(totals.wanted),
        (unsigned long long)money_shown(totals.late), (unsigned long long)money_shown(totals.paid));
    job_reply_json(job, 200, &body);
}

/* ---- the sandbox ---- */

static void switches_reply(struct admin *admin, struct job *job)
{
    const struct bank_switches *switches = bank_switches(worker_bank(admin->worker));
    struct text body = job_body(job);
    uint64_t captured, refunded;
    bank_totals(worker_bank(admin->worker), &captured, &refunded);
    text_format(&body,
        "{\"lost\":%u,\"doubled\":%u,\"reordered\":%u,\"wrong_amount\":%u,\"unreached\":%u,"
        "\"unanswered\":%u,\"short_paid\":%u,\"delay_ms\":%u,\"captured\":%llu,\"refunded\":%llu}",
        switches->lost, switches->doubled, switches->reordered, switches->wrong_amount,
        switches->unreached, switches->unanswered, switches->short_paid, switches->delay_ms,
        (unsigned long long)captured, (unsigned long long)refunded);
    job_reply_json(job, 200, &body);
}

void admin_sandbox(struct admin *admin, struct job *job, uint32_t id)
{
    (void)id;
    if (worker_bank(admin->worker) == NULL)
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
    else
        switches_reply(admin, job);
}

void admin_sandbox_change(struct admin *admin, struct job *job, uint32_t id)
{
    if (worker_bank(admin->worker) == NULL) {
        admin_sandbox(admin, job, id);
        return;
    }
    struct bank_switches wanted = *bank_switches(worker_bank(admin->worker));
    const struct field fields[] = {
        { "lost", FIELD_U32, &wanted.lost, 0, 100, false, NULL },
        { "doubled", FIELD_U32, &wanted.doubled, 0, 100, false, NULL },
        { "reordered", FIELD_U32, &wanted.reordered, 0, 100, false, NULL },
        { "wrong_amount", FIELD_U32, &wanted.wrong_amount, 0, 100, false, NULL },
        { "unreached", FIELD_U32, &wanted.unreached, 0, 100, false, NULL },
        { "unanswered", FIELD_U32, &wanted.unanswered, 0, 100, false, NULL },
        { "short_paid", FIELD_U32, &wanted.short_paid, 0, 100, false, NULL },
        { "delay_ms", FIELD_U32, &wanted.delay_ms, 0, 60000, false, NULL },
    };
    if (!job_fields_read(job, fields, sizeof fields / sizeof *fields))
        return;
    admin_audit_write(admin, job, "sandbox.change", "lost %u doubled %u delay %u ms", wanted.lost,
        wanted.doubled, wanted.delay_ms);
    if (!admin_audit_keep(admin, job))
        return;
    *bank_switches(worker_bank(admin->worker)) = wanted;
    switches_reply(admin, job);
}
