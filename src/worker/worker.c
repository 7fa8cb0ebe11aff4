/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include "api/catalog.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/admin_store.h"
#include "worker/worker_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    JOBS_PER_TURN = 64, /* of one edge, urgent and usual each */
    URGENT_EVERY = 8,   /* usual jobs between two looks for urgent ones */
    ANSWERS_PER_TURN = 32,
};

/* Whose order it is; 0: nobody's. A store that is away knows nothing: all edges are to look. */
static user_id order_user(struct worker *worker, ticket_number ticket)
{
    struct order order;
    const enum status status =
        worker->config.store->ops->order_by_ticket(worker->config.store, ticket, &order);
    if (status == STATUS_OK)
        return order.user;
    if (status != STATUS_NOT_FOUND)
        link_many_changed(worker->config.link);
    return 0;
}

void worker_order_changed(void *context, ticket_number ticket, user_id user)
{
    struct worker *worker = context;
    worker_webhooks_look(worker);
    link_order_changed(worker->config.link, ticket, user != 0 ? user : order_user(worker, ticket));
}

enum status worker_ask(struct worker *worker, const struct command *command, struct outcome *outcome)
{
    struct inventory_port *port = worker->config.port;
    struct inventory_request *request = port->ops->reserve(port);
    if (request == NULL)
        return STATUS_AWAY;
    const uint64_t tag = ++worker->next_tag;
    *request = (struct inventory_request){ .tag = tag, .command = *command };
    if (worker->acting != NULL)
        worker_origin_fill(worker, &request->command);
    const bool changes = command->type < COMMAND_LOGGED_COUNT;
    port->ops->commit(port);
    port->ops->flush(port);
    const uint64_t give_up_ms = clock_now_ms() + WORKER_ASK_MS;
    while (clock_now_ms() < give_up_ms && !inventory_failed(worker->config.inventory)) {
        const struct inventory_answer *answer;
        while ((answer = port->ops->collect(port)) != NULL) {
            if (answer->tag != tag)
                continue; /* came too late for the one who asked */
            *outcome = answer->outcome;
            if (worker->acting != NULL)
                worker->acting->commanded |= outcome->changed || outcome->repeated;
            return STATUS_OK;
        }
        wake_wait(&worker->wake, 20);
    }
    if (worker->acting != NULL)
        worker->acting->commanded |= changes;
    return changes ? STATUS_UNKNOWN : STATUS_AWAY;
}

static void catalog_turn(struct worker *worker)
{
    struct catalog *catalog = NULL;
    handover_collect(worker->config.catalog, worker->config.turns);
    if (!worker->catalog_stale)
        return;
    const enum status status = catalog_build(&catalog, worker->config.store);
    if (status != STATUS_OK) {
        log_warn("worker", "the catalog can't be read now (%s); the previous one stays in use",
            status_name(status));
        return;
    }
    worker->catalog_stale = false;
    /* First: an item that is in the catalog is sold by the rules of its sale. */
    catalog_rules_show(catalog, worker->config.rules, (uint32_t)worker->config.config->items_max);
    handover_put(worker->config.catalog, worker->config.turns, catalog);
}

static void job_do(struct worker *worker, struct job *job)
{
    switch (job->kind) {
    case JOB_ORDER:
        worker_order_job(worker, job);
        break;
    case JOB_ORDERS:
        worker_orders_job(worker, job);
        break;
    case JOB_PAYMENT:
        worker_payment_job(worker, job);
        break;
    case JOB_RETURN:
        worker_return_job(worker, job);
        break;
    case JOB_PUBLIC:
        worker_public_job(worker, job);
        break;
    case JOB_OUTSIDE:
        worker_outside_job(worker, job);
        break;
    case JOB_PUSH:
        worker_push_job(worker, job);
        break;
    case JOB_ADMIN:
        worker->config.admin(worker, job);
        worker_high_water_turn(worker, true);
        break;
    }
    /* A change is visible before the request that made it is answered. */
    if (worker->bans_stale)
        worker_bans_turn(worker);
    if (worker->catalog_stale)
        catalog_turn(worker);
    link_return(worker->config.link, job);
    link_flush(worker->config.link);
}

/* What operators and payment providers want. */
static bool urgent_turn(struct worker *worker)
{
    bool more = false;
    for (uint32_t edge = 0; edge < worker->config.edges; edge++) {
        struct job *job = NULL;
        for (uint32_t done = 0;
             done < JOBS_PER_TURN && (job = link_next(worker->config.link, edge, true)); done++)
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

/* Orders that fall too far behind stop the wins; a tenth below the bound they go on. */
static void lag_turn(struct worker *worker, const struct order_writer_progress *progress)
{
    struct inventory *inventory = worker->config.inventory;
    const uint64_t bound = worker->config.config->lag_max;
    const bool held = worker->lag > bound;
    worker->lag = progress->lag;
    worker->writer_state = progress->state;
    link_health_set(worker->config.link,
        &(struct worker_health){ .away = progress->state == ORDER_WRITER_AWAY,
            .stopped = progress->state == ORDER_WRITER_STOPPED,
            .lag = progress->lag });
    if (progress->lag > bound && !held) {
        log_error("worker", "orders are %llu records behind: wins stop until they catch up",
            (unsigned long long)progress->lag);
        inventory->ops->hold_wins(inventory, WINS_ORDERS_LAG);
    } else if (progress->lag < bound - bound / 10) {
        inventory->ops->hold_wins(inventory, WINS_RUNNING);
    }
}

/* Each transaction syncs the disk that the journal is waiting for, too. So while wins come in, orders
 * are written one batch at a time with a pause between, longer when the batches are well filled; when
 * selling rests, or the orders fall behind, as fast as they can be. */
static bool orders_are_due(struct worker *worker)
{
    const lsn_t durable =
        atomic_load_explicit(&worker->config.inventory->board->durable_lsn, memory_order_relaxed);
    if (durable != worker->durable_seen)
        worker->selling_until_ms = worker->now_ms + WORKER_SELLING_MS;
    worker->durable_seen = durable;
    const bool selling = worker->now_ms < worker->selling_until_ms;
    if (!selling || worker->lag > worker->config.config->lag_max / 4)
        return true;
    if (worker->now_ms < worker->orders_at_ms)
        return false;
    const bool busy = worker->orders_last > ORDER_BATCH_MAX / 4;
    worker->orders_at_ms = worker->now_ms + (busy ? WORKER_FULL_PAUSE_MS : ORDER_BATCH_WAIT_MS);
    return true;
}

static void expiry_run(struct worker *worker, uint32_t written)
{
    uint32_t closed = 0;
    if (written > 0)
        expiry_look(&worker->expiry);
    const enum status status = expiry_turn(&worker->expiry, worker->now_ms, &closed);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("worker", "orders can't be closed: %s", status_name(status));
    if (closed > 0)
        stock_pump_look(worker->pump);
}

/* What the courier brings back, to those who asked; some of it, so that jobs don't wait for all. True:
 * there may be more. */
static bool courier_turn(struct worker *worker)
{
    struct outgoing_call *call = NULL;
    for (uint32_t done = 0;
         done < ANSWERS_PER_TURN && (call = courier_collect(worker->courier)) != NULL; done++) {
        switch ((enum courier_client)(call->tag >> COURIER_CLIENT_SHIFT)) {
        case COURIER_WEBHOOKS:
            worker_webhooks_answered(worker, call);
            break;
        case COURIER_CASHIER:
            worker_money_answered(worker, call);
            break;
        case COURIER_SANDBOX:
            worker_sandbox_answered(worker, call);
            break;
        }
        courier_give(worker->courier, call);
    }
    return call != NULL;
}

/* One round; answers how long there is nothing to do. */
static uint32_t worker_turn(struct worker *worker)
{
    struct order_writer_progress progress = { 0 };
    worker->now_ms = clock_now_ms();
    bool more = jobs_turn(worker);
    more |= worker_rooms_turn(worker);
    more |= courier_turn(worker);
    worker_money_turn(worker);
    worker_watch_turn(worker);
    worker_media_turn(worker);
    worker_bans_turn(worker);
    worker_high_water_turn(worker, false);
    if (worker->now_ms < worker->returns_until_ms)
        worker_returns_run(worker); /* somebody waits for it: not only with the orders */
    link_flush(worker->config.link);
    if (!orders_are_due(worker))
        return more ? 0 : (uint32_t)(worker->orders_at_ms - worker->now_ms);
    const enum status status = order_writer_turn(worker->writer, worker->now_ms, &progress);
    if (status != STATUS_OK && progress.state == ORDER_WRITER_STOPPED)
        log_error("worker", "orders can't be written: %s (%s)", status_name(status),
            progress.trouble == NULL ? "no further information" : progress.trouble);
    worker_alarms_writer(worker, &progress);
    worker->orders_last = progress.records;
    lag_turn(worker, &progress);
    expiry_run(worker, progress.records);
    worker_returns_run(worker);
    if (worker->now_ms >= worker->schedule_at_ms) {
        worker->schedule_at_ms = worker->now_ms + WORKER_SCHEDULE_MS;
        worker_schedule(worker);
        worker_report_look(worker);
        worker_alarms_refunds(worker);
    }
    more |= worker_reclaim_turn(worker);
    const bool reconciling = worker_reconcile_turn(worker);
    more |= customers_turn(worker->config.customers, worker->config.store, worker->now_ms);
    worker_webhooks_turn(worker);
    catalog_turn(worker);
    link_flush(worker->config.link);
    if (more)
        return 0;
    if (reconciling)
        return 1;
    return progress.wait_ms < ORDER_BATCH_WAIT_MS ? progress.wait_ms : ORDER_BATCH_WAIT_MS;
}

void worker_run(void *context)
{
    struct worker *worker = context;
    metrics_thread_enter();
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), BACKGROUND_NICE) != 0)
        log_warn("worker", "the priority can't be lowered");
    while (!atomic_load(&worker->stop)) {
        const uint32_t wait_ms = worker_turn(worker);
        if (wait_ms > 0)
            wake_wait(&worker->wake, wait_ms);
    }
    /* What the log has by now is written before the end, unless the database is away. */
    const uint64_t give_up_ms = clock_now_ms() + WORKER_ASK_MS;
    do {
        const uint32_t wait_ms = worker_turn(worker);
        const uint32_t state = worker->writer_state;
        if (worker->lag == 0 || state == ORDER_WRITER_AWAY || state == ORDER_WRITER_STOPPED)
            break;
        wake_wait(&worker->wake, wait_ms > 0 ? wait_ms : 1);
    } while (clock_now_ms() < give_up_ms);
    worker_report_look(worker);
    worker_report_flush(worker);
    worker_high_water_end(worker);
    atomic_store(&worker->ended, true);
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

enum status worker_start(struct worker *worker, uint16_t port, char error[CONFIG_ERROR])
{
    return worker_money_start(worker, port, error);
}

struct wake *worker_wake(struct worker *worker)
{
    return &worker->wake;
}

struct courier *worker_courier(struct worker *worker)
{
    return worker->courier;
}

static size_t worker_bytes(const struct worker_config *config)
{
    const uint32_t edges = config->edges;
    return sizeof(struct worker) + order_writer_bytes() + stock_pump_bytes() + reconcile_bytes()
        + worker_watch_bytes(edges) + worker_report_bytes(config) + 8192;
}

/* Audit rows of commands name their channels. */
static void channels_name(const struct worker_config *config)
{
    char names[CHANNELS_MAX][CHANNEL_NAME_MAX + 1] = { { 0 } };
    for (uint32_t i = 0; i < config->channels->count; i++)
        memcpy(names[i], config->channels->names[i].name, config->channels->names[i].size);
    config->store->ops->admin->channel_names(config->store, (const char(*)[CHANNEL_NAME_MAX + 1]) names);
}

enum status worker_open(struct worker **out, const struct worker_config *config, char error[CONFIG_ERROR])
{
    struct arena arena;
    *out = NULL;
    enum status status = arena_open(&arena, worker_bytes(config));
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "no memory for the store thread");
        return status;
    }
    struct worker *worker = arena_take(&arena, 1, sizeof *worker);
    worker->config = *config;
    worker->catalog_stale = true;
    worker->letters_stale = true;
    worker->bans_stale = true;
    worker->wake.fd = -1;
    const struct order_writer_config writer = { .queue = config->queue,
        .store = config->store,
        .changed = worker_order_changed,
        .changed_context = worker };
    channels_name(config);
    worker->writer = order_writer_create(&arena, &writer);
    worker->pump = stock_pump_create(&arena,
        &(struct stock_pump_config){ .store = config->store,
            .port = config->pump_port,
            .offer_window_ms = (uint32_t)config->config->waitlist_window_ms,
            .port_is_shared = true,
            .let_go = worker_watch_unpaid,
            .context = worker });
    waitlist_start(&worker->waitlist,
        &(struct waitlist_config){ .store = config->store,
            .port = config->pump_port,
            .board = config->inventory->board,
            .window_ms = (uint32_t)config->config->waitlist_window_ms });
    worker_reconcile_open(worker, &arena);
    worker_watch_open(worker, &arena);
    worker_report_open(worker, &arena);
    expiry_start(&worker->expiry,
        &(struct expiry_config){ .store = config->store,
            .started_ms = clock_now_ms(),
            .grace_ms = config->config->grace_ms,
            .changed = worker_order_changed,
            .changed_context = worker });
    worker->arena = arena;
    status = wake_open(&worker->wake);
    if (status == STATUS_OK)
        link_worker_wake(config->link, &worker->wake);
    if (status == STATUS_OK)
        status = courier_open(&worker->courier, COURIER_CALLS_MAX, &worker->wake);
    if (status == STATUS_OK)
        status = order_writer_start(worker->writer);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "orders can't be read from the journal: %s", status_name(status));
    if (status == STATUS_OK)
        status = worker_webhooks_open(worker, error);
    if (status == STATUS_OK) {
        *out = worker;
        return STATUS_OK;
    }
    worker_close(worker);
    return status;
}

void worker_close(struct worker *worker)
{
    if (worker == NULL)
        return;
    worker_money_close(worker);
    worker_webhooks_close(worker);
    courier_close(worker->courier);
    if (worker->wake.fd >= 0)
        wake_close(&worker->wake);
    struct arena arena = worker->arena;
    arena_close(&arena);
}
