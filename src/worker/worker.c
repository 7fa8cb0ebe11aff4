/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include "api/link.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "contract/board.h"
#include "contract/inventory.h"
#include "worker/ban_list.h"
#include "worker/callbacks.h"
#include "worker/catalog_updates.h"
#include "worker/errands.h"
#include "worker/high_water_mark.h"
#include "worker/job_group.h"
#include "worker/leadership.h"
#include "worker/money.h"
#include "worker/order_requests.h"
#include "worker/order_writing.h"
#include "worker/payment_requests.h"
#include "worker/public_requests.h"
#include "worker/reconcile_runs.h"
#include "worker/returns.h"
#include "worker/store_readers.h"
#include "worker/unpaid_orders.h"
#include "worker/webhooks.h"
#include "worker/worker_parts.h"

enum {
    URGENT_PER_TURN = 64, /* of one edge */
    JOBS_PER_TURN = GROUP_JOBS_MAX,
    OTHERS_LOOK_MS = 200,
    URGENT_EVERY = 8, /* usual jobs between two looks for urgent ones */
};

/* What only reads, and what the shop does to one order, need not wait for operators' changes. */
static enum lane job_lane(const struct job *job)
{
    const bool changes = job->method != HTTP_GET && job->method != HTTP_HEAD;
    return job->share == SHARE_ADMIN && changes ? LANE_OPERATORS : LANE_SHARED;
}

static void job_end(struct worker *worker, struct job *job)
{
    /* A change is visible before the request that made it is answered. */
    if (job_lane(job) == LANE_OPERATORS) {
        ban_list_show(worker->bans, worker->now_ms);
        catalog_updates_show(worker->catalog);
    }
    job_group_answer(worker->group, job);
}

/* Jobs that may ask the inventory: each on an errand. */
static void job_errand(void *self, void *what)
{
    struct worker *worker = self;
    struct job *job = what;
    if (job->share == SHARE_ADMIN) /* what an operator asks is answered whatever becomes of the group */
        job_group_join(worker->group, false);
    if (job->kind == JOB_ADMIN) {
        worker->config.admin->job(worker, job);
        if (job_lane(job) == LANE_OPERATORS)
            high_water_mark_look(worker->high_water, worker->now_ms);
    } else if (job->kind == JOB_PUBLIC) {
        worker_public_job(worker, job);
    } else if (job->kind == JOB_PAYMENT) {
        worker_payment_job(worker, job);
    } else {
        worker_return_job(worker, job);
    }
    job_end(worker, job);
}

static void line_add(struct worker *worker, struct job *job)
{
    struct job_line *line = job_lane(job) == LANE_OPERATORS ? &worker->operators : &worker->buyers;
    job_line_add(line, job);
}

static void line_turn(struct worker *worker, struct job_line *line, enum lane lane)
{
    while (line->first != NULL && errands_has_room(worker->errands, lane)) {
        struct job *job = job_line_take(line);
        (void)errands_begin(worker->errands, lane, job_errand, worker, job);
    }
}

static void lines_turn(struct worker *worker)
{
    line_turn(worker, &worker->operators, LANE_OPERATORS);
    line_turn(worker, &worker->buyers, LANE_SHARED);
}

void worker_read_job(void *self, struct order_store *reader, struct job *job)
{
    const struct worker *worker = self;
    struct order_views views = worker->views;
    views.store = reader;
    views.catalog = NULL;
    worker->config.admin->read(&worker->config, &views, job);
}

void worker_job_read(void *self, struct job *job)
{
    job_end(self, job);
}

/* Those that read the database only are done at once, or by a reader; the others go on errands. */
static void (*const doers[])(struct worker *, struct job *) = {
    [JOB_OUTSIDE] = worker_outside_job,
    [JOB_ADMIN] = NULL,
};

static void job_do(struct worker *worker, struct job *job)
{
    if (job->kind == JOB_ADMIN && worker->config.admin->only_reads(worker, job)) {
        store_readers_add(worker->readers, job);
        return;
    }
    if (doers[job->kind] == NULL) {
        line_add(worker, job);
        lines_turn(worker);
        return;
    }
    job_group_join(worker->group, true);
    doers[job->kind](worker, job);
    job_end(worker, job);
}

/* What operators and payment providers want. */
static bool urgent_turn(struct worker *worker)
{
    bool more = false;
    for (uint32_t edge = 0; edge < worker->config.edges; edge++) {
        struct job *job = NULL;
        for (uint32_t done = 0;
             done < URGENT_PER_TURN && (job = link_next(worker->config.link, edge, true)); done++)
            job_do(worker, job);
        more |= job != NULL;
    }
    return more;
}

static bool jobs_turn(struct worker *worker)
{
    bool more = urgent_turn(worker);
    for (uint32_t edge = 0; edge < worker->config.edges; edge++) {
        struct job *job = NULL;
        for (uint32_t done = 0;
             done < JOBS_PER_TURN && (job = link_next(worker->config.link, edge, false)); done++) {
            job_do(worker, job);
            if (done % URGENT_EVERY == URGENT_EVERY - 1)
                more |= urgent_turn(worker);
        }
        more |= job != NULL;
    }
    return more;
}

/* Tasks that only the leader has. The catalog's updates of a process are its own, its reports only sums. */
static void leading_turn(struct worker *worker)
{
    static const enum worker_task tasks[] = { TASK_MONEY, TASK_UNPAID, TASK_RETURNS, TASK_BOOKINGS,
        TASK_TIMETABLES, TASK_SCHEDULE, TASK_BOUNDS, TASK_BUYERS, TASK_WEBHOOKS, TASK_MAILS,
        TASK_PAGES };
    const bool off = !leadership_holds(worker->leadership, worker->now_ms);
    for (uint32_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        worker->tasks[tasks[i]].off = off;
    /* A run that somebody has asked for is done where it was asked for. */
    worker->tasks[TASK_RECONCILE].off = off && !reconcile_runs_is_running(worker->reconciling);
    worker->tasks[TASK_RECLAIM].off = worker->config.queue == NULL; /* a partition goes as a whole */
}

/* What other processes have written may be due: these tasks know only of what this one has written, and a
 * message about the rest may be lost. Answers when it is time again. */
static uint64_t others_look(struct worker *worker)
{
    if (worker->config.leads == LEADS_ALWAYS || !leadership_holds(worker->leadership, worker->now_ms))
        return UINT64_MAX;
    if (worker->now_ms < worker->others_ms)
        return worker->others_ms;
    worker->others_ms = worker->now_ms + OTHERS_LOOK_MS;
    money_look(worker->money);
    unpaid_orders_look(worker->unpaid);
    returns_look(worker->returns);
    webhooks_look(worker->webhooks);
    return worker->others_ms;
}

/* One round: jobs, then the tasks that are due. Answers when there is something to do again. */
static uint64_t worker_turn(struct worker *worker)
{
    const struct board *board = worker->config.inventory->board;
    worker->now_ms = clock_now_ms();
    const bool more = jobs_turn(worker);
    const uint64_t rest_until_ms = selling_rest_until(&worker->rest, worker->now_ms,
        atomic_load_explicit(&board->durable_lsn, memory_order_relaxed),
        order_writing_is_behind(worker->orders), order_writing_was_filled(worker->orders));
    leading_turn(worker);
    const uint64_t others_ms = others_look(worker);
    const uint64_t next_ms = tasks_turn(worker->tasks, WORKER_TASKS, worker->now_ms, rest_until_ms);
    lines_turn(worker); /* errands have ended */
    job_group_end(worker->group);
    link_flush(worker->config.link);
    return more ? worker->now_ms : next_ms < others_ms ? next_ms : others_ms;
}

static void worker_wait(struct worker *worker, uint64_t until_ms, uint32_t least_ms)
{
    const uint64_t now_ms = clock_now_ms();
    const uint64_t wait_ms = until_ms <= now_ms ? least_ms : until_ms - now_ms;
    if (wait_ms > 0)
        wake_wait(&worker->wake, wait_ms < ASK_MS ? (uint32_t)wait_ms : ASK_MS);
}

void worker_run(void *context)
{
    struct worker *worker = context;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    store_readers_start(worker->readers);
    while (!atomic_load(&worker->stop))
        worker_wait(worker, worker_turn(worker), 0);
    /* What the log has by now is written before the end, unless the database is away. */
    const uint64_t give_up_ms = clock_now_ms() + ASK_MS;
    order_writing_last(worker->orders);
    do {
        const uint64_t next_ms = worker_turn(worker);
        if (order_writing_is_done(worker->orders))
            break;
        worker_wait(worker, next_ms, 1);
    } while (clock_now_ms() < give_up_ms);
    worker->now_ms = clock_now_ms();
    tasks_end(worker->tasks, WORKER_TASKS, worker->now_ms);
    atomic_store(&worker->ended, true);
}

bool worker_leads(const struct worker *worker)
{
    return leadership_holds(worker->leadership, clock_now_ms());
}

bool worker_ended(const struct worker *worker)
{
    return atomic_load(&worker->ended);
}

void worker_stop(struct worker *worker)
{
    atomic_store(&worker->stop, true);
    wake_signal(&worker->wake);
}

void worker_order_heard(struct worker *worker, uint64_t ticket, uint64_t user)
{
    order_writing_heard(worker->orders, ticket, user);
}

void worker_orders_heard_end(struct worker *worker)
{
    order_writing_heard_end(worker->orders);
}

struct wake *worker_wake(struct worker *worker)
{
    return &worker->wake;
}
