/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/alarm_checks.h"

#include "base/arena.h"
#include "base/metrics.h"
#include "contract/board.h"
#include "contract/order_store.h"
#include "contract/payment.h"
#include "orders/order_writer.h"
#include "orders/stock_pump.h"
#include "worker/alarms.h"
#include "worker/task.h"

enum { NEARLY_FULL_PERCENT = 80, REFUNDS_LOOK_MS = 250 };

GAUGE(letters_open, "stampede_dead_letters_open", "Dead letters that wait for a person.");

struct alarm_checks {
    struct order_store *store;
    const struct board *board;
    uint64_t tickets_max;
    struct task *task;
    bool letters_stale;  /* dead letters are to be counted again */
    bool refunds_looked; /* whether a refund is stuck is known */
};

bool tables_nearly_full(const struct board *board, uint64_t tickets_max)
{
    const uint64_t tickets = atomic_load_explicit(&board->tickets, memory_order_relaxed);
    return tickets * 100 >= tickets_max * NEARLY_FULL_PERCENT
        || atomic_load_explicit(&board->buyers_percent, memory_order_relaxed) >= NEARLY_FULL_PERCENT;
}

static void letters_look(struct alarm_checks *checks, uint64_t now_ms)
{
    struct order_store *store = checks->store;
    uint64_t count = 0;
    if (store->ops->dead_letters_open(store, &count) != STATUS_OK)
        return; /* next time */
    checks->letters_stale = false;
    metric_set(&letters_open, count);
    alarm_set(ALARM_DEAD_LETTERS, count > 0, now_ms,
        "%llu records could not become orders: stampede admin dead-letter list",
        (unsigned long long)count);
}

void alarm_checks_writer(
    struct alarm_checks *checks, const struct order_writer_progress *progress, uint64_t now_ms)
{
    alarm_set(ALARM_DATABASE_AWAY,
        progress->state == ORDER_WRITER_AWAY || progress->state == ORDER_WRITER_STOPPED, now_ms,
        "orders wait: %s", progress->trouble == NULL ? "no further information" : progress->trouble);
    if (progress->dead > 0)
        checks->letters_stale = true;
    if (checks->letters_stale)
        letters_look(checks, now_ms);
}

/* Both tables grow with wins; what of them can be reclaimed is no longer in them for long. */
static void tickets_look(const struct alarm_checks *checks, uint64_t now_ms)
{
    const struct board *board = checks->board;
    const uint64_t tickets = atomic_load_explicit(&board->tickets, memory_order_relaxed);
    alarm_set(ALARM_TICKETS, tables_nearly_full(board, checks->tickets_max), now_ms,
        "%llu of %llu tickets and %u %% of the rows of users are used: raise data.tickets_max "
        "and restart before wins stop",
        (unsigned long long)tickets, (unsigned long long)checks->tickets_max,
        atomic_load_explicit(&board->buyers_percent, memory_order_relaxed));
}

void alarm_checks_pump(struct alarm_checks *checks, const struct stock_pump_progress *pump, uint64_t now_ms)
{
    alarm_set(ALARM_STOCK_EVENT_REFUSED, pump->refused > 0, now_ms,
        "the inventory refused %u stock events: run stampede reconcile", pump->refused);
    alarm_set(ALARM_DISK_FULL,
        atomic_load_explicit(&checks->board->wins_stopped, memory_order_relaxed) == WINS_NO_DISK,
        now_ms, "no space for the journal: wins are stopped");
    tickets_look(checks, now_ms);
}

/* Refunds that a provider refuses for good. Looks only while the alarm is up, when it may be, and
 * at the start. */
static uint64_t refunds_turn(void *self, uint64_t now_ms)
{
    struct alarm_checks *checks = self;
    struct order_store *store = checks->store;
    struct refund stuck;
    uint32_t count = 0;
    if (checks->refunds_looked && !alarm_is_up(ALARM_REFUND_STUCK))
        return TASK_IDLE;
    if (store->ops->payment->refunds(store, 0, REFUND_STUCK, &stuck, 1, &count) != STATUS_OK)
        return now_ms + REFUNDS_LOOK_MS;
    checks->refunds_looked = true;
    if (count == 0) {
        alarm_clear(ALARM_REFUND_STUCK);
        return TASK_IDLE;
    }
    alarm_raise(ALARM_REFUND_STUCK, now_ms, "%s refuses refund %s: stampede admin refund list",
        stuck.provider, stuck.key);
    return now_ms + REFUNDS_LOOK_MS;
}

struct alarm_checks *alarm_checks_open(struct arena *arena, struct order_store *store,
    const struct board *board, uint64_t tickets_max, struct task *task)
{
    struct alarm_checks *checks = arena_take(arena, 1, sizeof *checks);
    *checks = (struct alarm_checks){
        .store = store, .board = board, .tickets_max = tickets_max, .task = task, .letters_stale = true
    };
    *task = (struct task){ .name = "alarms", .self = checks, .turn = refunds_turn, .rests = true };
    return checks;
}

void alarm_checks_letters_changed(struct alarm_checks *checks)
{
    checks->letters_stale = true;
}

void alarm_checks_refund_stuck(struct alarm_checks *checks)
{
    checks->refunds_looked = false;
    task_wake(checks->task);
}
