/* SPDX-License-Identifier: Apache-2.0 */
/* worker/reconcile_runs.c: when reconciliation runs, and what follows from its report. By itself:
 * every reconcile.interval_ms while a sale is open, and once a minute after a sale is over. */
#include "base/log.h"
#include "worker/alarms.h"
#include "worker/worker_parts.h"

#include <stdio.h>
#include <string.h>

enum { READ_ROWS = 32, AFTER_SALE_MS = 60000, LOOK_MS = 1000 };

static void repaired(void *context, const struct finding *finding)
{
    struct worker *worker = context;
    struct order_store *store = worker->config.store;
    struct audit_entry entry = { .time_ms = worker->now_ms, .action = "reconcile.repair" };
    snprintf(entry.actor, sizeof entry.actor, "%s", worker->reconciling.actor);
    snprintf(entry.detail, sizeof entry.detail, "%s: %s",
        finding_name((enum finding_code)finding->code), finding->text);
    const enum status status = store->ops->audit_append(store, &entry);
    if (status != STATUS_OK)
        log_error("worker", "the audit entry \"%s\" can't be written: %s", entry.detail,
            status_name(status));
    stock_pump_look(worker->pump);
    worker->catalog_stale = true;
}

void worker_reconcile_open(struct worker *worker, struct arena *arena)
{
    worker->reconcile = reconcile_create(arena,
        &(struct reconcile_config){ .store = worker->config.store,
            .port = worker->config.reconcile_port,
            .board = worker->config.inventory->board,
            .repaired = repaired,
            .context = worker });
}

bool worker_reconcile_begin(struct worker *worker, const char *actor, bool repair)
{
    if (!reconcile_begin(worker->reconcile, worker->now_ms, repair))
        return false;
    snprintf(worker->reconciling.actor, sizeof worker->reconciling.actor, "%s", actor);
    worker->reconciling.run++;
    return true;
}

static void report_take(struct worker *worker)
{
    const struct reconcile_report *report = reconcile_report(worker->reconcile);
    const uint32_t left = report->found - report->repaired;
    if (report->state == RECONCILE_FAILED) {
        log_warn("reconcile", "not finished: %s", report->trouble);
        return;
    }
    for (uint32_t i = 0; i < report->count; i++)
        log_error("reconcile", "%s %s: %s", report->findings[i].repaired ? "repaired" : "found",
            finding_name((enum finding_code)report->findings[i].code), report->findings[i].text);
    if (left > 0)
        alarm_raise(ALARM_RECONCILE, worker->now_ms, "%u findings: stampede reconcile", left);
    else
        alarm_clear(ALARM_RECONCILE);
}

/* Whether a sale is open; *over: how many are over. */
static bool sales_look(const struct worker *worker, uint32_t *over)
{
    struct order_store *store = worker->config.store;
    struct sale sales[READ_ROWS];
    uint32_t count = READ_ROWS;
    bool open = false;
    *over = 0;
    for (sale_id after = 0; count == READ_ROWS;) {
        if (store->ops->sales(store, after, sales, READ_ROWS, &count) != STATUS_OK)
            return false;
        for (uint32_t i = 0; i < count; i++) {
            const struct sale *sale = &sales[i];
            const bool ended = sale->gate == GATE_ENDED || worker->now_ms >= sale->end_ms;
            after = sale->id;
            *over += ended;
            open |= !ended && (sale->gate == GATE_OPENED || worker->now_ms >= sale->start_ms);
        }
    }
    return open;
}

static void schedule_look(struct worker *worker)
{
    struct worker_reconcile *state = &worker->reconciling;
    const uint64_t interval_ms = worker->config.config->reconcile_interval_ms;
    uint32_t over = 0;
    if (interval_ms == 0 || worker->now_ms < state->look_ms)
        return;
    state->look_ms = worker->now_ms + LOOK_MS;
    const bool open = sales_look(worker, &over);
    if (!state->looked)
        state->next_ms = open ? worker->now_ms + interval_ms : UINT64_MAX;
    else if (over > state->sales_over && (!open || state->next_ms > worker->now_ms + AFTER_SALE_MS))
        state->next_ms = worker->now_ms + AFTER_SALE_MS;
    else if (open && state->next_ms == UINT64_MAX)
        state->next_ms = worker->now_ms + interval_ms;
    state->looked = true;
    state->sales_over = over;
    if (worker->now_ms < state->next_ms)
        return;
    (void)worker_reconcile_begin(worker, "schedule", false);
    state->next_ms = open ? worker->now_ms + interval_ms : UINT64_MAX;
}

bool worker_reconcile_turn(struct worker *worker)
{
    if (!reconcile_running(worker->reconcile)) {
        schedule_look(worker);
        return reconcile_running(worker->reconcile);
    }
    if (!reconcile_turn(worker->reconcile, worker->now_ms))
        report_take(worker);
    return reconcile_running(worker->reconcile);
}
