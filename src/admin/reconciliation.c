/* SPDX-License-Identifier: Apache-2.0 */
/* admin/reconciliation.c: reconciliation by hand, and the report of the last run. A run takes many
 * turns of the worker: the answer says that it has begun, and GET tells how it went. */
#include "admin/admin.h"
#include "funnel/keys.h"
#include "orders/reconcile.h"

static void finding_json(const struct admin *admin, const struct finding *finding, struct text *out)
{
    const enum finding_code code = (enum finding_code)finding->code;
    text_format(out, "{\"code\":\"%s\",\"repairable\":%s,\"repaired\":%s,\"text\":", finding_name(code),
        finding_repairable(code) ? "true" : "false", finding->repaired ? "true" : "false");
    text_json(out, span_from_string(finding->text));
    if (finding->item != 0)
        text_format(out, ",\"item\":%u", finding->item);
    if (finding->sale != 0)
        text_format(out, ",\"sale\":%u", finding->sale);
    if (finding->ticket != 0) {
        text_format(out, ",\"number\":%llu,\"order\":\"", (unsigned long long)finding->ticket);
        text_hex64(out, funnel_order_id(admin->lent->keys, finding->ticket));
        text_literal(out, "\"");
    }
    if (finding->user != 0) {
        text_literal(out, ",\"user\":\"");
        text_hex64(out, finding->user);
        text_literal(out, "\"");
    }
    if (finding->payment != 0)
        text_format(out, ",\"payment\":%llu", (unsigned long long)finding->payment);
    text_literal(out, "}");
}

static void report_reply(struct admin *admin, struct job *job, int status)
{
    static const char *const states[] = { "never", "running", "done", "failed" };
    uint64_t run;
    const struct reconcile_report *report = worker_reconcile_report(admin->worker, &run);
    const bool over = report->state == RECONCILE_DONE || report->state == RECONCILE_FAILED;
    struct text body = job_body(job);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = { { "run", run }, { "started_ms", report->started_ms },
        { "ended_ms", report->ended_ms }, { "part", report->position.part },
        { "position", report->position.seq }, { "orders", report->orders }, { "users", report->users },
        { "counters", report->counters }, { "payments", report->payments }, { "items", report->items },
        { "skipped", report->skipped }, { "found", over ? report->found : 0 },
        { "repaired", report->repaired }, { "left", over ? report->found - report->repaired : 0 } };
    text_format(&body, "{\"state\":\"%s\",\"repair\":%s,\"recent\":%s", states[report->state],
        report->repair ? "true" : "false", report->recent ? "true" : "false");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        text_format(&body, ",\"%s\":%llu", numbers[i].name, (unsigned long long)numbers[i].value);
    text_literal(&body, ",\"trouble\":");
    text_json(&body, span_from_string(report->trouble == NULL ? "" : report->trouble));
    text_literal(&body, ",\"findings\":[");
    for (uint32_t i = 0; i < report->count && over; i++) {
        text_string(&body, i == 0 ? "" : ",");
        finding_json(admin, &report->findings[i], &body);
    }
    text_literal(&body, "]}");
    job_reply_json(job, status, &body);
}

void admin_reconcile_show(struct admin *admin, struct job *job, uint32_t id)
{
    (void)id;
    report_reply(admin, job, 200);
}

void admin_reconcile_run(struct admin *admin, struct job *job, uint32_t id)
{
    bool repair = false, recent = false;
    const struct field fields[] = { { "repair", FIELD_FLAG, &repair, 0, 0, false, NULL },
        { "recent", FIELD_FLAG, &recent, 0, 0, false, NULL } };
    (void)id;
    if (!job_fields_read(job, fields, 2))
        return;
    if (repair && recent) {
        job_reply_problem(job, PROBLEM_BAD_VALUE,
            "A repair looks at everything: send either repair or recent, not both.", SPAN_NONE);
        return;
    }
    if (repair && job->role < ADMIN_ADMIN) {
        job_reply_problem(job, PROBLEM_ADMIN_ROLE, NULL, SPAN_NONE);
        return;
    }
    uint64_t run;
    if (worker_reconcile_report(admin->worker, &run)->state == RECONCILE_RUNNING) {
        job_reply_problem(job, PROBLEM_CONFLICT, "A reconciliation is already running.", SPAN_NONE);
        return;
    }
    if (repair)
        admin_audit_write(admin, job, "reconcile.run", "with repair");
    if (!admin_audit_keep(admin, job))
        return;
    const bool begun = worker_reconcile_begin(admin->worker, job->actor, repair, recent);
    invariant(begun);
    report_reply(admin, job, 202);
}
