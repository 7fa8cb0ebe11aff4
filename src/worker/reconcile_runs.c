/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/reconcile_runs.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/admin_keys.h"
#include "contract/order_store.h"
#include "contract/part_checks.h"
#include "orders/reconcile.h"
#include "worker/alarms.h"
#include "worker/catalog_updates.h"
#include "worker/returns.h"
#include "worker/task.h"

#include <stdio.h>
#include <string.h>

enum { AFTER_SALE_MS = 60000, REST_MS = 10 * 60 * 1000, LOOK_MS = 1000, SLICE_PAUSE_MS = 1 };

/* When reconciliation runs by itself, and for whom it runs now. */
struct reconcile_runs {
    struct reconcile_runs_config config;
    struct task *task;
    struct reconcile *reconcile;
    uint64_t run, next_ms, look_ms;
    uint64_t sales_over;
    bool looked;
    char actor[ADMIN_NAME_MAX + 1];
};

static void repaired(void *context, const struct finding *finding)
{
    struct reconcile_runs *runs = context;
    struct order_store *store = runs->config.store;
    struct audit_entry entry = { .time_ms = clock_now_ms(), .action = "reconcile.repair" };
    snprintf(entry.actor, sizeof entry.actor, "%s", runs->actor);
    snprintf(entry.detail, sizeof entry.detail, "%s: %s",
        finding_name((enum finding_code)finding->code), finding->text);
    const enum status status = store->ops->audit_append(store, &entry);
    if (status != STATUS_OK)
        log_error("worker", "the audit entry \"%s\" can't be written: %s", entry.detail,
            status_name(status));
    returns_look(runs->config.returns);
    catalog_updates_all(runs->config.updates);
}

bool reconcile_runs_begin(
    struct reconcile_runs *runs, const char *actor, bool repair, bool recent, uint64_t now_ms)
{
    if (!reconcile_begin(runs->reconcile, now_ms, repair, recent))
        return false;
    snprintf(runs->actor, sizeof runs->actor, "%s", actor);
    runs->run++;
    task_wake(runs->task);
    return true;
}

bool reconcile_runs_is_running(const struct reconcile_runs *runs)
{
    return reconcile_running(runs->reconcile);
}

const struct reconcile_report *reconcile_runs_report(const struct reconcile_runs *runs, uint64_t *run)
{
    *run = runs->run;
    return reconcile_report(runs->reconcile);
}

static void report_take(const struct reconcile_runs *runs, uint64_t now_ms)
{
    const struct reconcile_report *report = reconcile_report(runs->reconcile);
    const uint32_t left = report->found - report->repaired;
    if (report->state == RECONCILE_FAILED) {
        log_warn("reconcile", "not finished: %s", report->trouble);
        return;
    }
    for (uint32_t i = 0; i < report->count; i++)
        log_error("reconcile", "%s %s: %s", report->findings[i].repaired ? "repaired" : "found",
            finding_name((enum finding_code)report->findings[i].code), report->findings[i].text);
    alarm_set(ALARM_RECONCILE, left > 0, now_ms, "%u findings: stampede reconcile", left);
}

/* No sale is open, and Redis has partitions: the next run may put them to rest. */
static bool rest_is_due(const struct reconcile_runs *runs, bool open)
{
    struct part_checks *checks = runs->config.checks;
    return !open && runs->next_ms == UINT64_MAX && checks != NULL && checks->ops->is_any_open(checks);
}

static void schedule_look(struct reconcile_runs *runs, uint64_t now_ms)
{
    const uint64_t interval_ms = runs->config.interval_ms;
    struct order_store *store = runs->config.store;
    struct sales_tally tally;
    if (interval_ms == 0 || now_ms < runs->look_ms)
        return;
    runs->look_ms = now_ms + LOOK_MS;
    if (store->ops->sales_tally(store, now_ms, &tally) != STATUS_OK)
        return; /* away: the order writer tells */
    const bool open = tally.open;
    const uint64_t over = tally.ids - tally.live;
    if (!runs->looked)
        runs->next_ms = open ? now_ms + interval_ms : UINT64_MAX;
    else if (over > runs->sales_over && (!open || runs->next_ms > now_ms + AFTER_SALE_MS))
        runs->next_ms = now_ms + AFTER_SALE_MS;
    else if (open && runs->next_ms == UINT64_MAX)
        runs->next_ms = now_ms + interval_ms;
    if (rest_is_due(runs, open))
        runs->next_ms = now_ms + REST_MS;
    runs->looked = true;
    runs->sales_over = over;
    if (now_ms < runs->next_ms)
        return;
    (void)reconcile_runs_begin(runs, "schedule", false, true, now_ms);
    runs->next_ms = open ? now_ms + interval_ms : UINT64_MAX;
}

static uint64_t runs_turn(void *self, uint64_t now_ms)
{
    struct reconcile_runs *runs = self;
    if (!reconcile_running(runs->reconcile))
        schedule_look(runs, now_ms);
    else if (!reconcile_turn(runs->reconcile, now_ms))
        report_take(runs, now_ms);
    if (reconcile_running(runs->reconcile))
        return now_ms + SLICE_PAUSE_MS;
    return runs->config.interval_ms == 0 ? TASK_IDLE : runs->look_ms;
}

size_t reconcile_runs_bytes(void)
{
    return reconcile_bytes();
}

struct reconcile_runs *reconcile_runs_open(
    struct arena *arena, const struct reconcile_runs_config *config, struct task *task)
{
    struct reconcile_runs *runs = arena_take(arena, 1, sizeof *runs);
    runs->config = *config;
    runs->task = task;
    runs->reconcile = reconcile_create(arena,
        &(struct reconcile_config){ .store = config->store,
            .port = config->port,
            .board = config->board,
            .repaired = repaired,
            .context = runs,
            .partitions = config->partitions,
            .checks = config->checks });
    *task = (struct task){ .name = "reconcile", .self = runs, .turn = runs_turn, .rests = true };
    return runs;
}
