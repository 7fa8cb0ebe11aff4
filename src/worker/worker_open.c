/* SPDX-License-Identifier: Apache-2.0 */
/* worker/worker_open.c: which tasks the worker has, in the order of their turns, and who tells
 * whom. */
#include "api/customers.h"
#include "api/link.h"
#include "base/clock.h"
#include "config/config.h"
#include "contract/admin_store.h"
#include "contract/inventory.h"
#include "funnel/door.h"
#include "worker/alarm_checks.h"
#include "worker/alarm_messages.h"
#include "worker/anomaly_findings.h"
#include "worker/archiving.h"
#include "worker/ban_list.h"
#include "worker/bookings.h"
#include "worker/buyer_lists.h"
#include "worker/catalog_updates.h"
#include "worker/crowd_checks.h"
#include "worker/database_hold.h"
#include "worker/errands.h"
#include "worker/folder_bounds.h"
#include "worker/high_water_mark.h"
#include "worker/history.h"
#include "worker/job_group.h"
#include "worker/leadership.h"
#include "worker/limit_holders.h"
#include "worker/mails.h"
#include "worker/members.h"
#include "worker/money.h"
#include "worker/order_writing.h"
#include "worker/outgoing_calls.h"
#include "worker/page_export.h"
#include "worker/payment_waits.h"
#include "worker/picture_uploads.h"
#include "worker/reclaim.h"
#include "worker/reconcile_runs.h"
#include "worker/returns.h"
#include "worker/room_driver.h"
#include "worker/sale_report.h"
#include "worker/sandbox_api.h"
#include "worker/schedule.h"
#include "worker/shared_changes.h"
#include "worker/store_readers.h"
#include "worker/timetables.h"
#include "worker/trace_export.h"
#include "worker/trend_checks.h"
#include "worker/unpaid_orders.h"
#include "worker/view_readers.h"
#include "worker/webhooks.h"
#include "worker/worker_parts.h"

#include <stdio.h>
#include <string.h>

enum {
    TASKS_BYTES = 8 * 1024 * 1024
}; /* their own structures; what is not touched costs nothing */

/* ---- what the money of orders causes ---- */

static void money_changed(void *context, const struct order *order)
{
    struct worker *worker = context;
    order_news_tell(&worker->news, order->ticket, order->user);
    returns_look(worker->returns);
    unpaid_orders_look(worker->unpaid);
}

static void money_opened(void *context, const struct payment *payment, const char *error)
{
    struct worker *worker = context;
    payment_waits_opened(worker->payment_waits, payment, error);
}

static void money_stuck(void *context)
{
    struct worker *worker = context;
    alarm_checks_refund_stuck(worker->alarms);
}

/* ---- names of customers: written as they come ---- */

static uint64_t customers_task_turn(void *self, uint64_t now_ms)
{
    struct worker *worker = self;
    const bool more = customers_turn(worker->config.customers, worker->config.store, now_ms);
    return more ? now_ms : TASK_IDLE;
}

static void customers_open_task(struct worker *worker, struct task *task)
{
    *task = (struct task){
        .name = "customers", .self = worker, .turn = customers_task_turn, .listens = true, .rests = true
    };
}

/* ---- many machines: why this process does not sell ---- */

static void health_gather(void *context, struct worker_health *health)
{
    const struct worker *worker = context;
    worker->config.health(worker->config.health_context, health);
    if (health->reason == NULL)
        health->reason = members_trouble(worker->members);
}

/* ---- opening ---- */

static struct sale_report_config report_config(const struct worker_config *config)
{
    return (struct sale_report_config){ .store = config->store,
        .board = config->inventory->board,
        .items_max = (uint32_t)config->config->items_max,
        .edges = config->edges };
}

/* What the gateways are shown, and what they bring. */
static void gateway_tasks_open(struct worker *worker, const struct worker_config *config)
{
    struct arena *arena = &worker->arena;
    worker->bans = ban_list_open(arena,
        &(struct ban_list_config){ .store = config->store,
            .shown = config->bans,
            .turns = config->turns,
            .proxies = config->config->proxy_trusted },
        &worker->tasks[TASK_BANS]);
    worker->pages = page_export_open(arena, config->config, &worker->tasks[TASK_PAGES]);
    worker->catalog = catalog_updates_open(arena,
        &(struct catalog_updates_config){ .store = config->store,
            .shown = config->catalog,
            .turns = config->turns,
            .pages = worker->pages,
            .rules = config->rules,
            .board = config->inventory->board,
            .items_max = (uint32_t)config->config->items_max },
        &worker->tasks[TASK_CATALOG]);
    limit_holders_open(arena, config->store, config->inventory->board, &worker->tasks[TASK_HOLDERS]);
    shared_changes_open(arena,
        &(struct shared_changes_config){ .store = config->store,
            .catalog = worker->catalog,
            .bans = worker->bans,
            .switches = config->switches,
            .switched = config->switched,
            .switched_context = config->switched_context,
            .on = config->leads != LEADS_ALWAYS },
        &worker->tasks[TASK_CHANGES]);
    worker->findings = anomaly_findings_open(arena,
        &(struct anomaly_findings_config){
            .config = config->config, .edges = config->edges, .store = config->store, .bans = worker->bans },
        &worker->tasks[TASK_FINDINGS]);
    const struct sale_report_config report = report_config(config);
    worker->report = sale_report_open(arena, &report, &worker->tasks[TASK_REPORT]);
    worker->history = history_open(arena,
        &(struct history_config){ .board = config->inventory->board, .catalog = config->catalog },
        &worker->tasks[TASK_HISTORY]);
    worker->high_water = high_water_mark_open(
        arena, config->folder, config->high_water, config->store, &worker->tasks[TASK_HIGH_WATER]);
    picture_uploads_open(
        arena, config->media, config->turns, config->store, &worker->tasks[TASK_PICTURES]);
    customers_open_task(worker, &worker->tasks[TASK_CUSTOMERS]);
}

static void money_tasks_open(struct worker *worker, const struct worker_config *config)
{
    struct arena *arena = &worker->arena;
    worker->money = money_open(arena,
        &(struct money_config){ .config = config->config,
            .keys = config->keys,
            .store = config->store,
            .board = config->inventory->board,
            .port = config->pump_port,
            .has_bank = config->leads != LEADS_NEVER,
            .calls = worker->calls,
            .changed = money_changed,
            .opened = money_opened,
            .stuck = money_stuck,
            .context = worker },
        &worker->tasks[TASK_MONEY]);
    worker->sandbox =
        sandbox_api_open(arena, worker->money, worker->calls, &worker->tasks[TASK_SANDBOX]);
    worker->payment_waits = payment_waits_open(arena,
        &(struct payment_waits_config){ .store = config->store,
            .keys = config->keys,
            .extend_ms = config->config->extend_ms,
            .news = &worker->news,
            .money = worker->money },
        &worker->tasks[TASK_PAYMENT_WAITS]);
}

static enum status order_tasks_open(struct worker *worker, const struct worker_config *config)
{
    struct arena *arena = &worker->arena;
    worker->alarms = alarm_checks_open(arena, config->store, config->inventory->board,
        config->config->tickets_max, &worker->tasks[TASK_ALARMS]);
    worker->returns = returns_open(arena,
        &(struct returns_config){ .store = config->store,
            .port = config->pump_port,
            .board = config->inventory->board,
            .offer_window_ms = (uint32_t)config->config->waitlist_window_ms,
            .has_line = config->leads != LEADS_ALWAYS || config->channels->count <= CHANNEL_LINE,
            .let_go = anomaly_findings_unpaid,
            .let_go_context = worker->findings,
            .news = &worker->news,
            .alarms = worker->alarms,
            .money = worker->money },
        &worker->tasks[TASK_RETURNS]);
    worker->unpaid = unpaid_orders_open(arena,
        &(struct unpaid_orders_config){ .store = config->store,
            .grace_ms = config->config->grace_ms,
            .news = &worker->news,
            .returns = worker->returns,
            .leadership = worker->leadership },
        &worker->tasks[TASK_UNPAID]);
    return order_writing_open(&worker->orders, arena,
        &(struct order_writing_config){ .queue = config->queue,
            .health = health_gather,
            .health_context = worker,
            .store = config->store,
            .wake = &worker->wake,
            .news = &worker->news,
            .inventory = config->inventory,
            .link = config->link,
            .lag_max = config->config->lag_max,
            .beside = config->orders_beside,
            .alarms = worker->alarms,
            .traces = worker->traces,
            .unpaid = worker->unpaid },
        &worker->tasks[TASK_ORDERS]);
}

static void sale_tasks_open(struct worker *worker, const struct worker_config *config)
{
    struct arena *arena = &worker->arena;
    worker->rooms = room_driver_open(arena,
        &(struct room_driver_config){ .config = config->config,
            .keys = config->keys,
            .inventory = config->inventory,
            .port = config->rooms_port,
            .errands = worker->errands,
            .shown = config->rooms,
            .store = config->store,
            .catalog = config->catalog,
            .updates = worker->catalog,
            .switches = config->switches,
            .leadership = worker->leadership },
        &worker->tasks[TASK_ROOMS]);
    bookings_open(arena,
        &(struct bookings_config){ .store = config->store,
            .returns = worker->returns,
            .news = &worker->news,
            .money = worker->money },
        &worker->tasks[TASK_BOOKINGS]);
    timetables_open(arena,
        &(struct timetables_config){ .store = config->store,
            .errands = worker->errands,
            .catalog = worker->catalog,
            .board = config->inventory->board },
        &worker->tasks[TASK_TIMETABLES]);
    schedule_open(arena,
        &(struct schedule_config){ .store = config->store,
            .errands = worker->errands,
            .rooms = worker->rooms,
            .board = config->inventory->board,
            .channels = config->channels },
        &worker->tasks[TASK_SCHEDULE]);
    folder_bounds_open(arena,
        &(struct folder_bounds_config){ .config = config->config,
            .store = config->store,
            .board = config->inventory->board,
            .bans = worker->bans },
        &worker->tasks[TASK_BOUNDS]);
    crowd_checks_open(arena,
        &(struct crowd_checks_config){ .limits = config->limits,
            .spent = config->spent,
            .tokens = config->tokens,
            .connections_max = config->edges * config->config->connections_max },
        &worker->tasks[TASK_CROWD]);
    trend_checks_open(arena,
        &(struct trend_checks_config){
            .config = config->config, .board = config->inventory->board, .catalog = config->catalog },
        &worker->tasks[TASK_TRENDS]);
    worker->tasks[TASK_BUYERS] = buyer_lists_task(config->store);
    reclaim_open(arena,
        &(struct reclaim_config){ .errands = worker->errands,
            .board = config->inventory->board,
            .tickets_max = config->config->tickets_max },
        &worker->tasks[TASK_RECLAIM]);
    worker->config.archiving = archiving_open(arena,
        &(struct archiving_config){ .errands = worker->errands,
            .store = config->store,
            .config = config->config,
            .board = config->inventory->board,
            .catalog = worker->catalog,
            .wake = &worker->wake,
            .data_id = config->data_id,
            .one_machine = config->queue != NULL },
        &worker->tasks[TASK_ARCHIVING]);
    worker->reconciling = reconcile_runs_open(arena,
        &(struct reconcile_runs_config){ .interval_ms = config->config->reconcile_interval_ms,
            .store = config->store,
            .port = config->reconcile_port,
            .board = config->inventory->board,
            .partitions = config->leads != LEADS_ALWAYS,
            .checks = config->inventory->checks,
            .returns = worker->returns,
            .updates = worker->catalog },
        &worker->tasks[TASK_RECONCILE]);
}

static enum status tasks_open(
    struct worker *worker, const struct worker_config *config, char error[CONFIG_ERROR])
{
    struct arena *arena = &worker->arena;
    worker->group = job_group_open(arena, config->store, config->link, &worker->tasks[TASK_GROUP]);
    worker->leadership = leadership_open(arena,
        &(struct leadership_config){
            .store = config->store, .leads = (enum leads)config->leads, .holder = config->process },
        &worker->tasks[TASK_LEADERSHIP]);
    worker->members = members_open(arena,
        &(struct members_config){ .store = config->store,
            .self = config->member,
            .leadership = worker->leadership,
            .redis_apart_ms = config->redis_apart_ms,
            .context = config->health_context },
        &worker->tasks[TASK_MEMBERS]);
    database_hold_open(arena,
        &(struct database_hold_config){ .store = config->store,
            .holder = config->database_holder,
            .lost = config->database_lost,
            .context = config->database_context },
        &worker->tasks[TASK_HOLD]);
    enum status status = errands_open(&worker->errands, arena,
        &(struct errands_config){ .inventory = config->inventory,
            .port = config->port,
            .store = config->store,
            .group = worker->group,
            .keys = config->keys },
        &worker->tasks[TASK_ERRANDS]);
    if (status == STATUS_OK)
        status = outgoing_calls_open(&worker->calls, arena, &worker->wake, &worker->tasks[TASK_CALLS]);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "no memory for the store thread: %s", status_name(status));
        return status;
    }
    worker->readers = store_readers_open(arena,
        &(struct store_readers_config){ .store = config->store,
            .wake = &worker->wake,
            .count = config->operator_readers,
            .read = worker_read_job,
            .done = worker_job_read,
            .context = worker },
        &worker->tasks[TASK_READERS]);
    status = view_readers_open(&worker->view_readers, arena,
        &(struct view_readers_config){ .store = config->store,
            .link = config->link,
            .edges = config->edges,
            .count = config->view_readers,
            .views = &worker->views,
            .turns = config->turns,
            .caches = config->order_caches },
        &worker->tasks[TASK_VIEWS]);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "the database gives no connection to show orders: %s",
            status_name(status));
        return status;
    }
    worker->traces = trace_export_open(arena, config->config, config->leads != LEADS_ALWAYS,
        worker->calls, &worker->tasks[TASK_TRACES]);
    gateway_tasks_open(worker, config);
    money_tasks_open(worker, config);
    status = order_tasks_open(worker, config);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "orders can't be read from the journal: %s", status_name(status));
        return status;
    }
    sale_tasks_open(worker, config);
    status = alarm_messages_open(
        arena, config->config, worker->calls, &worker->tasks[TASK_MESSAGES], error);
    if (status != STATUS_OK)
        return status;
    status = webhooks_open(&worker->webhooks, arena,
        &(struct webhooks_config){ .config = config->config,
            .store = config->store,
            .views = &worker->views,
            .calls = worker->calls,
            .traces = worker->traces },
        &worker->tasks[TASK_WEBHOOKS], error);
    if (status != STATUS_OK)
        return status;
    return mails_open(&worker->mails, arena,
        &(struct mails_config){ .config = config->config,
            .store = config->store,
            .views = &worker->views,
            .calls = worker->calls },
        &worker->tasks[TASK_MAILS], error);
}

static size_t worker_bytes(const struct worker_config *config)
{
    const struct sale_report_config report = report_config(config);
    return TASKS_BYTES + order_writing_bytes() + returns_bytes() + reconcile_runs_bytes()
        + anomaly_findings_bytes(config->edges) + sale_report_bytes(&report) + history_bytes()
        + room_driver_bytes(config->config->sales_max);
}

/* Audit rows of commands name their channels. */
static void channels_name(const struct worker_config *config)
{
    char names[CHANNELS_MAX][CHANNEL_NAME_MAX + 1] = { { 0 } };
    for (uint32_t i = 0; i < config->channels->count; i++)
        memcpy(names[i], config->channels->names[i].name, config->channels->names[i].size);
    config->store->ops->admin->channel_names(config->store, (const char(*)[CHANNEL_NAME_MAX + 1]) names);
}

enum status worker_open(struct worker **out, const struct worker_config *config, char *error)
{
    struct worker *worker = arena_object(sizeof *worker, worker_bytes(config));
    *out = NULL;
    if (worker == NULL) {
        snprintf(error, CONFIG_ERROR, "no memory for the store thread");
        return STATUS_FULL;
    }
    worker->config = *config;
    worker->wake.fd = -1;
    channels_name(config);
    worker->views = (struct order_views){ .keys = config->keys,
        .store = config->store,
        .catalog = config->catalog,
        .customers = config->customers,
        .recent = &worker->recent };
    enum status status = wake_open(&worker->wake);
    if (status == STATUS_OK) {
        link_worker_wake(config->link, &worker->wake);
        status = tasks_open(worker, config, error);
    } else {
        snprintf(error, CONFIG_ERROR, "no descriptor for a wake-up");
    }
    if (status == STATUS_OK) {
        worker->news = (struct order_news){ .link = config->link,
            .store = config->store,
            .webhooks = worker->webhooks,
            .recent = &worker->recent };
        *out = worker;
        return STATUS_OK;
    }
    worker_close(worker);
    return status;
}

enum status worker_start(struct worker *worker, uint16_t port, char *error)
{
    enum status status = money_start(worker->money, port, error);
    worker->views.sandbox = money_bank(worker->money) != NULL;
    page_export_start(worker->pages, port);
    if (status != STATUS_OK)
        return status;
    status = view_readers_start(worker->view_readers);
    if (status == STATUS_OK)
        status = order_writing_start(worker->orders);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "a thread or a connection for orders can't be opened: %s",
            status_name(status));
    return status;
}

void worker_close(struct worker *worker)
{
    if (worker == NULL)
        return;
    tasks_close(worker->tasks, WORKER_TASKS);
    if (worker->wake.fd >= 0)
        wake_close(&worker->wake);
    arena_object_free(worker);
}

struct courier *worker_courier(struct worker *worker)
{
    return outgoing_calls_courier(worker->calls);
}

struct watch *const *worker_edge_watches(struct worker *worker)
{
    return anomaly_findings_watches(worker->findings);
}

struct purchase_traces *worker_purchase_traces(struct worker *worker)
{
    return worker->traces;
}

struct sale_meters *worker_sale_meters(struct worker *worker)
{
    return sale_report_meters(worker->report);
}
