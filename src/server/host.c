/* SPDX-License-Identifier: Apache-2.0 */
#include "server/host.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "config/data_folder.h"
#include "contract/inventory.h"
#include "funnel/keys.h"
#include "gateway/routes.h"
#include "inventory/embedded.h"
#include "queue/journal_queue.h"
#include "server/cluster.h"
#include "worker/worker.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum {
    BATCH_BYTES = 1024 * 1024,
    SYNC_WAIT_MS = 1000,
    TURN_WAIT_MS = 50,
};

bool loop_turn(void *self, uint64_t now_ms)
{
    const struct loop *loop = self;
    struct inventory *hosted = loop->hosted;
    bool again = routes_turn(loop->routes, now_ms);
    if (hosted != NULL)
        again |= hosted->ops->turn(hosted, clock_now_ms());
    routes_collect(loop->routes);
    return again;
}

static void sync_run(void *context)
{
    struct host *host = context;
    metrics_thread_enter();
    while (!atomic_load(&host->stop_sync)) {
        if (!embedded_write(host->embedded))
            wake_wait(embedded_sync_wake(host->embedded), SYNC_WAIT_MS);
    }
}

static void inventory_run(void *context)
{
    struct host *host = context;
    metrics_thread_enter();
    while (!atomic_load(&host->stop_inventory)) {
        if (!embedded_turn(host->embedded, clock_now_ms()))
            wake_wait(&host->wake, TURN_WAIT_MS);
    }
}

static struct journal_config journal_of(const struct config *config, const struct data_folder *folder)
{
    return (struct journal_config){ .disk = folder->journal,
        .data_id = folder->data_id,
        .segment_bytes = config->segment_bytes,
        .batch_bytes = BATCH_BYTES };
}

static void opened_log(const struct embedded_report *report, uint64_t took_ms)
{
    log_info("inventory",
        "ready: position %" PRIu64 ", %" PRIu64 " records replayed after the snapshot at %" PRIu64
        ", in %" PRIu64 " ms",
        report->replay.end.lsn, report->replay.records, report->snapshot.lsn, took_ms);
    if (report->replay.torn_bytes > 0)
        log_warn("inventory",
            "cut %" PRIu64 " bytes of a torn last batch: nobody was told of what was in it",
            report->replay.torn_bytes);
}

enum status host_open(struct host *host, const struct config *config, const struct data_folder *folder,
    const struct funnel_keys *keys, uint32_t ports, char error[CONFIG_ERROR])
{
    struct embedded_report report;
    const struct embedded_config embedded = {
        .journal = journal_of(config, folder),
        .engine = { .items_max = (uint32_t)config->items_max,
            .sales_max = (uint32_t)config->sales_max,
            .tickets_max = config->tickets_max,
            .places_max = config->room_places_max },
        .filter_key = keys->filter,
        .imported = folder->imported,
        .ports = ports,
        .ring_slots = RING_SLOTS,
    };
    const uint64_t began = clock_monotonic_ns();
    if (strcmp(config->inventory_kind, "embedded") != 0) {
        snprintf(error, CONFIG_ERROR, "this program has no inventory of kind %.40s",
            config->inventory_kind);
        return STATUS_BAD_INPUT;
    }
    enum status status = wake_open(&host->wake);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "no descriptor for a wake-up");
        return status;
    }
    status = embedded_open(&host->embedded, &embedded, &report);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "%.250s",
            report.what[0] != 0 ? report.what : "the inventory can't be opened");
        return status;
    }
    host->inventory = embedded_inventory(host->embedded);
    clock_start(embedded_time_floor(host->embedded));
    opened_log(&report, (clock_monotonic_ns() - began) / 1000000);
    return STATUS_OK;
}

enum status host_join(struct host *host, const struct config *config,
    const struct data_folder *folder, const struct funnel_keys *keys, struct order_store *store,
    uint32_t ports, char error[CONFIG_ERROR])
{
    const enum status status = cluster_open(&host->cluster, config, folder, keys, store, ports, error);
    if (status == STATUS_OK)
        host->inventory = cluster_inventory(host->cluster);
    return status;
}

enum status host_queue_open(const struct host *host, const struct config *config,
    const struct data_folder *folder, struct ticket_queue **queue)
{
    const struct journal_config journal = journal_of(config, folder);
    return journal_queue_open(queue, &journal, embedded_journal(host->embedded), folder->imported);
}

lsn_t host_durable(const struct host *host)
{
    return journal_durable(embedded_journal(host->embedded));
}

enum status host_numbers_skip(struct host *host, uint32_t count, uint64_t *left_out)
{
    struct inventory_port *port = embedded_port(host->embedded, 0, NULL);
    const uint64_t last = embedded_engine(host->embedded)->tickets.last;
    const uint64_t to = last + count < TICKET_NUMBER_MAX ? last + count : TICKET_NUMBER_MAX;
    const struct inventory_answer *answer = NULL;
    *left_out = 0;
    const enum status prepared = host_prepare(host); /* the log of a copy may end with a full segment */
    if (prepared != STATUS_OK)
        return prepared;
    struct inventory_request *request = port->ops->reserve(port);
    invariant(request != NULL); /* nobody else asks */
    *request = (struct inventory_request){ .command = { .type = COMMAND_SKIP,
                                               .skip = { .to = (uint32_t)to } } };
    port->ops->commit(port);
    port->ops->flush(port);
    while (answer == NULL) {
        if (embedded_failed(host->embedded))
            return STATUS_IO;
        (void)embedded_turn(host->embedded, clock_now_ms());
        (void)embedded_write(host->embedded);
        answer = port->ops->collect(port);
    }
    *left_out = (uint64_t)answer->outcome.applied;
    const uint8_t got = answer->outcome.answer;
    return got == ANSWER_DONE || got == ANSWER_UNCHANGED ? STATUS_OK : STATUS_FULL;
}

void host_numbers(const struct host *host, item_id *item, sale_id *sale)
{
    const struct engine *engine = embedded_engine(host->embedded);
    *item = 0;
    *sale = 0;
    for (item_id id = 1; id < engine->config.items_max; id++)
        if (engine->items[id].sale != 0)
            *item = id;
    for (sale_id id = 1; id < engine->config.sales_max; id++)
        if (engine->sales[id].defined)
            *sale = id;
}

void host_follow(const struct host *host, struct worker_config *config)
{
    if (host->cluster == NULL)
        return;
    config->process = cluster_process(host->cluster);
    config->member = cluster_member(host->cluster);
    config->order_caches = cluster_order_caches(host->cluster);
    config->redis_apart_ms = cluster_redis_apart_ms;
    config->health = cluster_health;
    config->health_context = host->cluster;
}

enum status host_tell(struct host *host, struct worker *worker, struct link *link,
    struct limits *limits, char error[CONFIG_ERROR])
{
    return host->cluster == NULL ? STATUS_OK : cluster_join(host->cluster, worker, link, limits, error);
}

bool host_start(struct host *host, struct wake *loop)
{
    if (host->cluster != NULL)
        return cluster_start(host->cluster);
    embedded_host(host->embedded, loop != NULL ? loop : &host->wake);
    if (thread_start(&host->sync_thread, "journal", sync_run, host) != STATUS_OK)
        return false;
    return loop != NULL
        || thread_start(&host->inventory_thread, "inventory", inventory_run, host) == STATUS_OK;
}

enum status host_prepare(struct host *host)
{
    return host->cluster != NULL ? STATUS_OK : embedded_prepare(host->embedded);
}

enum status host_keep(struct host *host, bool busy)
{
    return host->cluster != NULL ? STATUS_OK : embedded_keep(host->embedded, busy);
}

void host_touch(const struct host *host)
{
    board_touch(host->inventory->board);
    if (host->embedded != NULL)
        engine_touch(embedded_engine(host->embedded));
}

void host_finish(
    struct host *host, uint64_t give_up_ms, bool (*ended)(const void *context), const void *context)
{
    if (host->cluster != NULL) {
        cluster_finish(host->cluster, give_up_ms, ended, context);
        return;
    }
    atomic_store(&host->stop_inventory, true);
    wake_signal(&host->wake);
    thread_join(&host->inventory_thread);
    if (!host->sync_thread.started)
        return; /* nothing could become durable */
    while (!embedded_failed(host->embedded) && clock_now_ms() < give_up_ms) {
        const bool more = embedded_turn(host->embedded, clock_now_ms());
        if (ended(context) && embedded_idle(host->embedded))
            break;
        if (!more)
            poll(NULL, 0, 1);
    }
}

void host_stop(struct host *host)
{
    if (host->cluster != NULL) {
        cluster_stop(host->cluster);
        return;
    }
    atomic_store(&host->stop_sync, true);
    wake_signal(embedded_sync_wake(host->embedded));
    thread_join(&host->sync_thread);
    if (!embedded_failed(host->embedded) && embedded_idle(host->embedded)
        && embedded_snapshot_now(host->embedded) != STATUS_OK)
        log_warn("server", "no snapshot on shutdown: the next start replays more of the log");
}

void host_close(struct host *host)
{
    cluster_close(host->cluster);
    embedded_close(host->embedded);
    if (host->wake.fd > 0)
        wake_close(&host->wake);
    host->cluster = NULL;
    host->embedded = NULL;
    host->inventory = NULL;
}
