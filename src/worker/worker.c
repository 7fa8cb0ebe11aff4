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
static user_id order_user(struct desk *desk, ticket_number ticket)
{
    struct order order;
    const enum status status =
        desk->config.store->ops->order_by_ticket(desk->config.store, ticket, &order);
    if (status == STATUS_OK)
        return order.user;
    if (status != STATUS_NOT_FOUND)
        link_many_changed(desk->config.link);
    return 0;
}

void desk_order_changed(void *context, ticket_number ticket, user_id user)
{
    struct desk *desk = context;
    desk_webhooks_look(desk);
    link_order_changed(desk->config.link, ticket, user != 0 ? user : order_user(desk, ticket));
}

enum status desk_ask(struct desk *desk, const struct command *command, struct outcome *outcome)
{
    struct inventory_port *port = desk->config.port;
    struct inventory_request *request = port->ops->reserve(port);
    if (request == NULL)
        return STATUS_AWAY;
    const uint64_t tag = ++desk->next_tag;
    *request = (struct inventory_request){ .tag = tag, .command = *command };
    if (desk->acting != NULL)
        desk_origin_fill(desk, &request->command);
    const bool changes = command->type < COMMAND_LOGGED_COUNT;
    port->ops->commit(port);
    port->ops->flush(port);
    const uint64_t give_up_ms = clock_now_ms() + DESK_ASK_MS;
    while (clock_now_ms() < give_up_ms && !inventory_failed(desk->config.inventory)) {
        const struct inventory_answer *answer;
        while ((answer = port->ops->collect(port)) != NULL) {
            if (answer->tag != tag)
                continue; /* came too late for the one who asked */
            *outcome = answer->outcome;
            if (desk->acting != NULL)
                desk->acting->commanded |= outcome->changed || outcome->repeated;
            return STATUS_OK;
        }
        wake_wait(&desk->wake, 20);
    }
    if (desk->acting != NULL)
        desk->acting->commanded |= changes;
    return changes ? STATUS_UNKNOWN : STATUS_AWAY;
}

static void catalog_turn(struct desk *desk)
{
    struct catalog *catalog = NULL;
    handover_collect(desk->config.catalog, desk->config.turns);
    if (!desk->catalog_stale)
        return;
    const enum status status = catalog_build(&catalog, desk->config.store);
    if (status != STATUS_OK) {
        log_warn("desk", "the catalog can't be read now (%s); the previous one stays in use",
            status_name(status));
        return;
    }
    desk->catalog_stale = false;
    /* First: who finds an item in the catalog may buy it by the rules of its sale. */
    catalog_rules_show(catalog, desk->config.rules, (uint32_t)desk->config.config->items_max);
    handover_put(desk->config.catalog, desk->config.turns, catalog);
}

static void job_do(struct desk *desk, struct job *job)
{
    switch (job->kind) {
    case JOB_ORDER:
        desk_order_job(desk, job);
        break;
    case JOB_ORDERS:
        desk_orders_job(desk, job);
        break;
    case JOB_PAYMENT:
        desk_payment_job(desk, job);
        break;
    case JOB_RETURN:
        desk_return_job(desk, job);
        break;
    case JOB_PUBLIC:
        desk_public_job(desk, job);
        break;
    case JOB_OUTSIDE:
        desk_outside_job(desk, job);
        break;
    case JOB_PUSH:
        desk_push_job(desk, job);
        break;
    case JOB_ADMIN:
        desk->config.admin(desk, job);
        desk_high_water_turn(desk, true);
        break;
    }
    /* Who is told that something is published, or banned, finds it so. */
    if (desk->bans_stale)
        desk_bans_turn(desk);
    if (desk->catalog_stale)
        catalog_turn(desk);
    link_return(desk->config.link, job);
    link_flush(desk->config.link);
}

/* What operators and payment providers want. */
static bool urgent_turn(struct desk *desk)
{
    bool more = false;
    for (uint32_t edge = 0; edge < desk->config.edges; edge++) {
        struct job *job = NULL;
        for (uint32_t done = 0;
             done < JOBS_PER_TURN && (job = link_next(desk->config.link, edge, true)); done++)
            job_do(desk, job);
        more |= job != NULL;
    }
    return more;
}

static bool jobs_turn(struct desk *desk)
{
    bool more = urgent_turn(desk);
    for (uint32_t edge = 0; edge < desk->config.edges; edge++) {
        struct job *job = NULL;
        for (uint32_t done = 0;
             done < JOBS_PER_TURN && (job = link_next(desk->config.link, edge, false)); done++) {
            job_do(desk, job);
            if (done % URGENT_EVERY == URGENT_EVERY - 1)
                more |= urgent_turn(desk);
        }
        more |= job != NULL;
    }
    return more;
}

/* Orders that fall too far behind stop the wins; a tenth below the bound they go on. */
static void lag_turn(struct desk *desk, const struct order_writer_progress *progress)
{
    struct inventory *inventory = desk->config.inventory;
    const uint64_t bound = desk->config.config->lag_max;
    const bool held = desk->lag > bound;
    desk->lag = progress->lag;
    desk->writer_state = progress->state;
    link_health_set(desk->config.link,
        &(struct worker_health){ .away = progress->state == ORDER_WRITER_AWAY,
            .stopped = progress->state == ORDER_WRITER_STOPPED,
            .lag = progress->lag });
    if (progress->lag > bound && !held) {
        log_error("desk", "orders are %llu records behind: wins stop until they catch up",
            (unsigned long long)progress->lag);
        inventory->ops->hold_wins(inventory, WINS_ORDERS_LAG);
    } else if (progress->lag < bound - bound / 10) {
        inventory->ops->hold_wins(inventory, WINS_RUNNING);
    }
}

/* Each transaction syncs the disk that the journal is waiting for, too. So while wins come in, orders
 * are written one batch at a time with a pause between, longer when the batches are well filled; when
 * selling rests, or the orders fall behind, as fast as they can be. */
static bool orders_are_due(struct desk *desk)
{
    const lsn_t durable =
        atomic_load_explicit(&desk->config.inventory->board->durable_lsn, memory_order_relaxed);
    if (durable != desk->durable_seen)
        desk->selling_until_ms = desk->now_ms + DESK_SELLING_MS;
    desk->durable_seen = durable;
    const bool selling = desk->now_ms < desk->selling_until_ms;
    if (!selling || desk->lag > desk->config.config->lag_max / 4)
        return true;
    if (desk->now_ms < desk->orders_at_ms)
        return false;
    const bool busy = desk->orders_last > ORDER_BATCH_MAX / 4;
    desk->orders_at_ms = desk->now_ms + (busy ? DESK_FULL_PAUSE_MS : ORDER_BATCH_WAIT_MS);
    return true;
}

static void expiry_run(struct desk *desk, uint32_t written)
{
    uint32_t closed = 0;
    if (written > 0)
        expiry_look(&desk->expiry);
    const enum status status = expiry_turn(&desk->expiry, desk->now_ms, &closed);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("desk", "orders can't be closed: %s", status_name(status));
    if (closed > 0)
        stock_pump_look(desk->pump);
}

/* What the courier brings back, to those who asked; some of it, so that jobs don't wait for all. True:
 * there may be more. */
static bool courier_turn(struct desk *desk)
{
    struct outgoing_call *call = NULL;
    for (uint32_t done = 0;
         done < ANSWERS_PER_TURN && (call = courier_collect(desk->courier)) != NULL; done++) {
        switch ((enum courier_client)(call->tag >> COURIER_CLIENT_SHIFT)) {
        case COURIER_WEBHOOKS:
            desk_webhooks_answered(desk, call);
            break;
        case COURIER_CASHIER:
            desk_money_answered(desk, call);
            break;
        case COURIER_SANDBOX:
            desk_sandbox_answered(desk, call);
            break;
        }
        courier_give(desk->courier, call);
    }
    return call != NULL;
}

/* One round; answers how long there is nothing to do. */
static uint32_t desk_turn(struct desk *desk)
{
    struct order_writer_progress progress = { 0 };
    desk->now_ms = clock_now_ms();
    bool more = jobs_turn(desk);
    more |= desk_rooms_turn(desk);
    more |= courier_turn(desk);
    desk_money_turn(desk);
    desk_watch_turn(desk);
    desk_media_turn(desk);
    desk_bans_turn(desk);
    desk_high_water_turn(desk, false);
    if (desk->now_ms < desk->returns_until_ms)
        desk_returns_run(desk); /* somebody waits for it: not only with the orders */
    link_flush(desk->config.link);
    if (!orders_are_due(desk))
        return more ? 0 : (uint32_t)(desk->orders_at_ms - desk->now_ms);
    const enum status status = order_writer_turn(desk->writer, desk->now_ms, &progress);
    if (status != STATUS_OK && progress.state == ORDER_WRITER_STOPPED)
        log_error("desk", "orders can't be written: %s (%s)", status_name(status),
            progress.trouble == NULL ? "no further information" : progress.trouble);
    desk_alarms_writer(desk, &progress);
    desk->orders_last = progress.records;
    lag_turn(desk, &progress);
    expiry_run(desk, progress.records);
    desk_returns_run(desk);
    if (desk->now_ms >= desk->schedule_at_ms) {
        desk->schedule_at_ms = desk->now_ms + DESK_SCHEDULE_MS;
        desk_schedule(desk);
        desk_report_look(desk);
        desk_alarms_refunds(desk);
    }
    more |= desk_reclaim_turn(desk);
    const bool reconciling = desk_reconcile_turn(desk);
    more |= customers_turn(desk->config.customers, desk->config.store, desk->now_ms);
    desk_webhooks_turn(desk);
    catalog_turn(desk);
    link_flush(desk->config.link);
    if (more)
        return 0;
    if (reconciling)
        return 1;
    return progress.wait_ms < ORDER_BATCH_WAIT_MS ? progress.wait_ms : ORDER_BATCH_WAIT_MS;
}

void desk_run(void *context)
{
    struct desk *desk = context;
    metrics_thread_enter();
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), BACKGROUND_NICE) != 0)
        log_warn("desk", "the priority can't be lowered");
    while (!atomic_load(&desk->stop)) {
        const uint32_t wait_ms = desk_turn(desk);
        if (wait_ms > 0)
            wake_wait(&desk->wake, wait_ms);
    }
    /* What the log has by now is written before the end, unless the database is away. */
    const uint64_t give_up_ms = clock_now_ms() + DESK_ASK_MS;
    do {
        const uint32_t wait_ms = desk_turn(desk);
        const uint32_t state = desk->writer_state;
        if (desk->lag == 0 || state == ORDER_WRITER_AWAY || state == ORDER_WRITER_STOPPED)
            break;
        wake_wait(&desk->wake, wait_ms > 0 ? wait_ms : 1);
    } while (clock_now_ms() < give_up_ms);
    desk_report_look(desk);
    desk_report_flush(desk);
    desk_high_water_end(desk);
    atomic_store(&desk->ended, true);
}

bool desk_ended(const struct desk *desk)
{
    return atomic_load(&desk->ended);
}

void desk_stop(struct desk *desk)
{
    atomic_store(&desk->stop, true);
    wake_signal(&desk->wake);
}

enum status desk_start(struct desk *desk, uint16_t port, char error[CONFIG_ERROR])
{
    return desk_money_start(desk, port, error);
}

struct wake *desk_wake(struct desk *desk)
{
    return &desk->wake;
}

struct courier *desk_courier(struct desk *desk)
{
    return desk->courier;
}

static size_t desk_bytes(const struct desk_config *config)
{
    const uint32_t edges = config->edges;
    return sizeof(struct desk) + order_writer_bytes() + stock_pump_bytes() + reconcile_bytes()
        + desk_watch_bytes(edges) + desk_report_bytes(config) + 8192;
}

/* Audit rows of commands name their channels. */
static void channels_name(const struct desk_config *config)
{
    char names[CHANNELS_MAX][CHANNEL_NAME_MAX + 1] = { { 0 } };
    for (uint32_t i = 0; i < config->channels->count; i++)
        memcpy(names[i], config->channels->names[i].name, config->channels->names[i].size);
    config->store->ops->admin->channel_names(config->store, (const char(*)[CHANNEL_NAME_MAX + 1]) names);
}

enum status desk_open(struct desk **out, const struct desk_config *config, char error[CONFIG_ERROR])
{
    struct arena arena;
    *out = NULL;
    enum status status = arena_open(&arena, desk_bytes(config));
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "no memory for the store thread");
        return status;
    }
    struct desk *desk = arena_take(&arena, 1, sizeof *desk);
    desk->config = *config;
    desk->catalog_stale = true;
    desk->letters_stale = true;
    desk->bans_stale = true;
    desk->wake.fd = -1;
    const struct order_writer_config writer = { .queue = config->queue,
        .store = config->store,
        .changed = desk_order_changed,
        .changed_context = desk };
    channels_name(config);
    desk->writer = order_writer_create(&arena, &writer);
    desk->pump = stock_pump_create(&arena,
        &(struct stock_pump_config){ .store = config->store,
            .port = config->pump_port,
            .offer_window_ms = (uint32_t)config->config->waitlist_window_ms,
            .port_is_shared = true,
            .let_go = desk_watch_unpaid,
            .context = desk });
    waitlist_start(&desk->waitlist,
        &(struct waitlist_config){ .store = config->store,
            .port = config->pump_port,
            .board = config->inventory->board,
            .window_ms = (uint32_t)config->config->waitlist_window_ms });
    desk_reconcile_open(desk, &arena);
    desk_watch_open(desk, &arena);
    desk_report_open(desk, &arena);
    expiry_start(&desk->expiry,
        &(struct expiry_config){ .store = config->store,
            .started_ms = clock_now_ms(),
            .grace_ms = config->config->grace_ms,
            .changed = desk_order_changed,
            .changed_context = desk });
    desk->arena = arena;
    status = wake_open(&desk->wake);
    if (status == STATUS_OK)
        link_worker_wake(config->link, &desk->wake);
    if (status == STATUS_OK)
        status = courier_open(&desk->courier, COURIER_CALLS_MAX, &desk->wake);
    if (status == STATUS_OK)
        status = order_writer_start(desk->writer);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "orders can't be read from the journal: %s", status_name(status));
    if (status == STATUS_OK)
        status = desk_webhooks_open(desk, error);
    if (status == STATUS_OK) {
        *out = desk;
        return STATUS_OK;
    }
    desk_close(desk);
    return status;
}

void desk_close(struct desk *desk)
{
    if (desk == NULL)
        return;
    desk_money_close(desk);
    desk_webhooks_close(desk);
    courier_close(desk->courier);
    if (desk->wake.fd >= 0)
        wake_close(&desk->wake);
    struct arena arena = desk->arena;
    arena_close(&arena);
}
