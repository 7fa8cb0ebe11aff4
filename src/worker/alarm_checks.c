/* SPDX-License-Identifier: Apache-2.0 */
/* worker/alarm_checks.c: what the store thread sees and a person must know. */
#include "base/log.h"
#include "base/metrics.h"
#include "worker/alarms.h"
#include "worker/worker_parts.h"

GAUGE(letters_open, "stampede_dead_letters_open", "Dead letters that wait for a person.");

void worker_letters_look(struct worker *worker)
{
    struct order_store *store = worker->config.store;
    uint64_t count = 0;
    if (store->ops->dead_letters_open(store, &count) != STATUS_OK)
        return; /* next time */
    worker->letters_stale = false;
    metric_set(&letters_open, count);
    if (count > 0)
        alarm_raise(ALARM_DEAD_LETTERS, worker->now_ms,
            "%llu records could not become orders: stampede admin dead-letter list",
            (unsigned long long)count);
    else
        alarm_clear(ALARM_DEAD_LETTERS);
}

void worker_alarms_writer(struct worker *worker, const struct order_writer_progress *progress)
{
    if (progress->state == ORDER_WRITER_AWAY || progress->state == ORDER_WRITER_STOPPED)
        alarm_raise(ALARM_DATABASE_AWAY, worker->now_ms, "orders wait: %s",
            progress->trouble == NULL ? "no further information" : progress->trouble);
    else
        alarm_clear(ALARM_DATABASE_AWAY);
    if (progress->dead > 0)
        worker->letters_stale = true;
    if (worker->letters_stale)
        worker_letters_look(worker);
}

/* Both tables grow with wins; what of them can be reclaimed is no longer in them for long. */
static void tickets_look(struct worker *worker, const struct board *board)
{
    const uint64_t tickets = atomic_load_explicit(&board->tickets, memory_order_relaxed);
    const uint64_t tickets_max = worker->config.config->tickets_max;
    if (worker_tables_nearly_full(worker))
        alarm_raise(ALARM_TICKETS, worker->now_ms,
            "%llu of %llu tickets and %u %% of the rows of users are used: raise data.tickets_max "
            "and restart before wins stop",
            (unsigned long long)tickets, (unsigned long long)tickets_max,
            atomic_load_explicit(&board->buyers_percent, memory_order_relaxed));
    else
        alarm_clear(ALARM_TICKETS);
}

void worker_alarms_pump(struct worker *worker, const struct stock_pump_progress *pump)
{
    if (pump->refused > 0)
        alarm_raise(ALARM_STOCK_EVENT_REFUSED, worker->now_ms,
            "the inventory refused %u stock events: run stampede reconcile", pump->refused);
    else
        alarm_clear(ALARM_STOCK_EVENT_REFUSED);
    const struct board *board = worker->config.inventory->board;
    if (atomic_load_explicit(&board->wins_stopped, memory_order_relaxed) == WINS_NO_DISK)
        alarm_raise(ALARM_DISK_FULL, worker->now_ms, "no space for the journal: wins are stopped");
    else
        alarm_clear(ALARM_DISK_FULL);
    tickets_look(worker, board);
}

/* Looks only while the alarm is up, and once at the start. */
void worker_alarms_refunds(struct worker *worker)
{
    struct order_store *store = worker->config.store;
    struct refund stuck;
    uint32_t count = 0;
    if (worker->refunds_looked && !alarm_is_up(ALARM_REFUND_STUCK))
        return;
    if (store->ops->payment->refunds(store, 0, REFUND_STUCK, &stuck, 1, &count) != STATUS_OK)
        return; /* next time */
    worker->refunds_looked = true;
    if (count == 0)
        alarm_clear(ALARM_REFUND_STUCK);
    else
        alarm_raise(ALARM_REFUND_STUCK, worker->now_ms,
            "%s refuses refund %s: stampede admin refund list", stuck.provider, stuck.key);
}
