/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cluster.h"

#include "api/link.h"
#include "api/trace_news.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "config/agreed.h"
#include "config/cluster_secret.h"
#include "contract/cluster_store.h"
#include "funnel/keys.h"
#include "funnel/limits_news.h"
#include "inventory/redis/remote.h"
#include "partition/keeper.h"
#include "queue/kafka/kafka_broker.h"
#include "server/admission.h"
#include "server/database.h"
#include "server/version.h"
#include "store/redis/order_cache.h"
#include "worker/alarms.h"
#include "worker/trace_export.h"
#include "worker/worker.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEEPER_LEASE_MS = 3000, FINISH_LOOK_MS = 5 };

struct cluster {
    const struct config *config;
    struct order_store *store; /* the worker's: further connections are opened beside it, as it is set up */
    struct keeper_config keeping;
    struct member member;          /* this process */
    bool admitted;                 /* its row is written */
    struct order_store *log_store; /* a connection of its own; the keeper's is in `keeping` */
    struct remote *remote;
    struct broker *broker; /* NULL: a gateway, or none is set */
    struct keeper *keeper; /* NULL: a gateway */
    struct worker *worker;
    struct link *link;
    struct limits_news news;
    struct order_cache *caches[VIEW_READERS_MAX]; /* the view readers' */
    struct order_cache *drops;                    /* the inventory's thread's */
    struct thread inventory_thread, log_thread, keeper_thread;
};

static bool is_gateway(const char *role)
{
    return strcmp(role, "gateway") == 0;
}

enum leads cluster_leads(const struct config *config)
{
    if (!cluster_is_set(config))
        return LEADS_ALWAYS;
    return is_gateway(config->cluster_role) ? LEADS_NEVER : LEADS_BY_LEASE;
}

/* ---- what processes tell each other: on the inventory's thread ---- */

static void order_changed(void *context, ticket_number ticket, user_id user)
{
    const struct cluster *cluster = context;
    worker_order_heard(cluster->worker, ticket, user);
}

static void changes_end(void *context)
{
    const struct cluster *cluster = context;
    worker_orders_heard_end(cluster->worker);
}

static void proposed(void *context)
{
    const struct cluster *cluster = context;
    keeper_look(cluster->keeper);
}

static bool levels(void *context)
{
    const struct cluster *cluster = context;
    return worker_leads(cluster->worker);
}

static bool order_moved(void *context, ticket_number *ticket, user_id *user)
{
    const struct cluster *cluster = context;
    struct link_note note;
    if (!link_others_take(cluster->link, &note)) {
        cluster->drops->ops->turn(cluster->drops);
        return false;
    }
    cluster->drops->ops->drop(cluster->drops, note.ticket);
    *ticket = note.ticket;
    *user = note.user;
    return true;
}

static bool news_write(void *context, uint64_t now_ms, struct text *message)
{
    struct cluster *cluster = context;
    const bool limits = limits_news_write(&cluster->news, now_ms, message);
    return trace_news_write(worker_purchase_traces(cluster->worker), message) || limits;
}

static bool news_urgent(void *context)
{
    const struct cluster *cluster = context;
    return trace_news_wait(worker_purchase_traces(cluster->worker));
}

static void news_heard(void *context, uint64_t process, struct span message, uint64_t now_ms)
{
    struct cluster *cluster = context;
    limits_news_heard(&cluster->news, process, message, now_ms);
    trace_news_heard(worker_purchase_traces(cluster->worker), message);
}

/* The keeper's thread. */
static void order_wrote(void *context, const struct queue_record *record)
{
    const struct cluster *cluster = context;
    struct purchase_traces *traces = worker_purchase_traces(cluster->worker);
    trace_wrote(traces, record);
    if (trace_news_wait(traces))
        wake_signal(remote_wake(cluster->remote));
}

static void partition_alarm(void *context, uint32_t part, const char *what)
{
    const enum alarm alarm = what != NULL && strncmp(what, "script-differs", 14) == 0
        ? ALARM_SCRIPT_DIFFERS
        : ALARM_PARTITION_CLOSED;
    (void)context;
    if (what != NULL) {
        alarm_raise(alarm, clock_now_ms(), "partition %u: %.150s", part, what);
    } else { /* all of them are open again */
        alarm_clear(ALARM_PARTITION_CLOSED);
        alarm_clear(ALARM_SCRIPT_DIFFERS);
    }
}

static void broker_alarm(void *context, const char *what)
{
    (void)context;
    alarm_set(ALARM_BROKER_AWAY, what != NULL, clock_now_ms(), "%s", what);
}

void cluster_health(void *context, struct worker_health *health)
{
    const struct cluster *cluster = context;
    const struct remote_health remote = remote_health(cluster->remote);
    struct keeper_health keeping = { 0 };
    if (cluster->keeper != NULL)
        keeper_health_read(cluster->keeper, &keeping);
    static const char *const wrong[] = {
        [REMOTE_REDIS_FITS] = NULL,
        [REMOTE_REDIS_SMALL] = "maxmemory of a Redis server is too small for the tickets of its "
                               "sales (480 bytes for each unit): raise it",
        [REMOTE_REDIS_OLD] = "a Redis server is older than 7.0",
        [REMOTE_REDIS_EVICTS] = "a Redis server has another maxmemory-policy than noeviction",
    };
    health->away = remote.store_away;
    health->stopped = remote.damaged != 0;
    health->reason = wrong[remote.wrong] != NULL ? wrong[remote.wrong]
        : remote.redis_away                      ? "Redis can't be reached"
        : keeping.broker != NULL                 ? keeping.broker
        : remote.starting                        ? "the partitions are being opened"
                                                 : NULL;
}

int64_t cluster_redis_apart_ms(void *context)
{
    const struct cluster *cluster = context;
    return remote_health(cluster->remote).redis_apart_ms;
}

/* ---- opening ---- */

/* What this process tells the others. */
static struct member member_of(const struct config *config, uint64_t process)
{
    struct member member = {
        .process = process, .version = STAMPEDE_VERSION, .settings = agreed_settings(config)
    };
    char machine[HOST_NAME_MAX + 1] = "";
    if (gethostname(machine, sizeof machine - 1) != 0)
        snprintf(machine, sizeof machine, "?");
    static_assert((int)CONFIG_TEXT == (int)MEMBER_CHANNELS_MAX + 1, "a list of channels fits");
    snprintf(member.role, sizeof member.role, "%.*s", MEMBER_ROLE_MAX, config->cluster_role);
    snprintf(member.name, sizeof member.name, "%.60s:%u", machine, (unsigned)config->port);
    snprintf(member.channels, sizeof member.channels, "%s", config->channels);
    return member;
}

const struct member *cluster_member(const struct cluster *cluster)
{
    return &cluster->member;
}

struct engine_config cluster_engine_config(const struct config *config)
{
    return (struct engine_config){ .items_max = (uint32_t)config->items_max,
        .sales_max = (uint32_t)config->sales_max,
        .tickets_max = config->tickets_max,
        .places_max = config->room_places_max };
}

static enum status redis_config(
    struct redis_client_config *redis, const struct config *config, char error[CONFIG_ERROR])
{
    struct span wrong = SPAN_NONE;
    *redis = (struct redis_client_config){ 0 };
    if (redis_nodes_read(span_from_string(config->inventory_url), redis->seeds, REDIS_SEEDS_MAX,
            &redis->seed_count, &wrong)
        != STATUS_OK) {
        snprintf(error, CONFIG_ERROR, "inventory.url: %.*s is no address of a server, or unknown",
            (int)(wrong.size < 100 ? wrong.size : 100), wrong.data);
        return STATUS_BAD_INPUT;
    }
    const enum status status =
        redis_login_read(&redis->login, config->inventory_user, config->inventory_password_file);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "inventory.password_file can't be read, or is empty");
    return status;
}

static enum status connection_open(
    struct order_store *store, struct order_store **further, char error[CONFIG_ERROR])
{
    const enum status status = store->ops->writer_open(store, further);
    if (status == STATUS_OK && *further != NULL)
        return STATUS_OK;
    snprintf(error, CONFIG_ERROR, "the database gives no further connection: %s", status_name(status));
    return status == STATUS_OK ? STATUS_AWAY : status;
}

/* What waits for the brokers also waits for the database: the smaller bound of both counts. */
static uint64_t waiting_max(const struct config *config)
{
    return strcmp(config->queue_kind, "kafka") == 0 && config->queue_backlog_max < config->lag_max
        ? config->queue_backlog_max
        : config->lag_max;
}

static enum status remote_start(struct cluster *cluster, const struct config *config,
    const struct redis_client_config *redis, const struct engine_config *engine, uint64_t data_id,
    const struct funnel_keys *keys, uint32_t ports, char error[CONFIG_ERROR])
{
    char what[CONFIG_ERROR - 16];
    const struct remote_config remote = { .redis = *redis,
        .store = cluster->log_store,
        .data_id = data_id,
        .engine = *engine,
        .filter_key = keys->filter,
        .ports = ports,
        .ring_slots = RING_SLOTS,
        .parts_max = (uint32_t)config->inventory_parts_max,
        .tell_ms = (uint32_t)config->inventory_tell_ms,
        .timeout_ms = (uint32_t)config->inventory_timeout_ms,
        .lag_max = waiting_max(config),
        .keep_ms = config->inventory_keep_ms,
        .process = cluster->member.process,
        .changed = order_changed,
        .changes_end = changes_end,
        .proposed = is_gateway(config->cluster_role) ? NULL : proposed,
        .levels = is_gateway(config->cluster_role) ? NULL : levels,
        .moved = order_moved,
        .news = news_write,
        .news_urgent = config->trace_endpoint[0] != '\0' ? news_urgent : NULL,
        .heard = news_heard,
        .context = cluster };
    const enum status status = remote_open(&cluster->remote, &remote, what, sizeof what);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "inventory: %s", what);
    return status;
}

static enum status caches_open(struct cluster *cluster, const struct redis_client_config *redis,
    uint64_t data_id, char error[CONFIG_ERROR])
{
    const uint32_t readers = database_shares(cluster->config).view_readers;
    enum status status = order_cache_open(&cluster->drops, redis, data_id);
    for (uint32_t i = 0; i < readers && status == STATUS_OK; i++)
        status = order_cache_open(&cluster->caches[i], redis, data_id);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "no client of Redis for order views: %s", status_name(status));
    return status;
}

/* A gateway needs none: it reads what the database has. */
static enum status broker_start(
    struct cluster *cluster, const struct config *config, char error[CONFIG_ERROR])
{
    if (is_gateway(config->cluster_role) || strcmp(config->queue_kind, "kafka") != 0)
        return STATUS_OK;
    return kafka_broker_open(&cluster->broker,
        &(struct kafka_config){ .brokers = config->queue_url,
            .topic = config->queue_topic,
            .group = config->queue_group,
            .partitions = (uint32_t)config->queue_partitions,
            .replication = (uint32_t)config->queue_replication,
            .settings_file = config->queue_settings_file },
        error, CONFIG_ERROR);
}

static enum status keeper_start(struct cluster *cluster, char error[CONFIG_ERROR])
{
    enum status status = connection_open(cluster->store, &cluster->keeping.store, error);
    if (status == STATUS_OK) {
        status = keeper_open(&cluster->keeper, &cluster->keeping);
        snprintf(error, CONFIG_ERROR, "partitions can't be kept: %s", status_name(status));
    }
    explicit_bzero(&cluster->keeping.redis.login, sizeof cluster->keeping.redis.login);
    return status;
}

enum status cluster_open(struct cluster **out, const struct config *config,
    const struct data_folder *folder, const struct funnel_keys *keys, struct order_store *store,
    uint32_t ports, char error[CONFIG_ERROR])
{
    struct cluster *cluster = calloc(1, sizeof *cluster);
    struct redis_client_config redis;
    uint64_t process;
    const struct engine_config engine = cluster_engine_config(config);
    *out = NULL;
    invariant(cluster != NULL);
    cluster->config = config;
    cluster->store = store;
    random_secret(&process, sizeof process);
    cluster->member = member_of(config, process | 1); /* 0 is nobody */
    clock_start(0);                                   /* decisions have the time of Redis */
    enum status status = redis_config(&redis, config, error);
    if (status == STATUS_OK)
        status = admission_ask(store, &cluster->member, error, CONFIG_ERROR);
    cluster->admitted = status == STATUS_OK;
    if (status == STATUS_OK)
        status = connection_open(store, &cluster->log_store, error);
    if (status == STATUS_OK)
        status = remote_start(cluster, config, &redis, &engine, folder->data_id, keys, ports, error);
    if (status == STATUS_OK)
        status = caches_open(cluster, &redis, folder->data_id, error);
    if (status == STATUS_OK)
        status = broker_start(cluster, config, error);
    if (status == STATUS_OK && !is_gateway(config->cluster_role))
        cluster->keeping = (struct keeper_config){ .redis = redis,
            .data_id = folder->data_id,
            .engine = engine,
            .holder = cluster->member.process,
            .lag_max = waiting_max(config),
            .timeout_ms = (uint32_t)config->inventory_timeout_ms,
            .lease_ms = KEEPER_LEASE_MS,
            .parts_max = (uint32_t)config->inventory_parts_max,
            .wrote = config->trace_endpoint[0] != '\0' ? order_wrote : NULL,
            .alarm = partition_alarm,
            .broker = cluster->broker,
            .broker_wrong = broker_alarm,
            .context = cluster };
    explicit_bzero(&redis.login, sizeof redis.login);
    if (status == STATUS_OK)
        *out = cluster;
    else
        cluster_close(cluster);
    return status;
}

static void connection_close(struct order_store *store)
{
    if (store != NULL)
        store->ops->close(store);
}

static void cache_close(struct order_cache *cache)
{
    if (cache != NULL)
        cache->ops->close(cache);
}

/* Others need not wait until it does not count any more. */
static void member_leave(struct cluster *cluster)
{
    struct order_store *store = cluster->store;
    if (cluster->admitted && store->ops->cluster->member_remove(store, cluster->member.process) != STATUS_OK)
        log_warn("server", "the row of this process stays in the database for a minute");
    cluster->admitted = false;
}

void cluster_close(struct cluster *cluster)
{
    if (cluster == NULL)
        return;
    member_leave(cluster);
    keeper_close(cluster->keeper);
    if (cluster->broker != NULL)
        cluster->broker->ops->close(cluster->broker);
    remote_close(cluster->remote);
    connection_close(cluster->keeping.store);
    connection_close(cluster->log_store);
    cache_close(cluster->drops);
    for (uint32_t i = 0; i < VIEW_READERS_MAX; i++)
        cache_close(cluster->caches[i]);
    free(cluster);
}

struct order_cache *const *cluster_order_caches(const struct cluster *cluster)
{
    return cluster->caches;
}

struct inventory *cluster_inventory(struct cluster *cluster)
{
    return remote_inventory(cluster->remote);
}

uint64_t cluster_process(const struct cluster *cluster)
{
    return cluster->member.process;
}

/* ---- running ---- */

enum status cluster_join(struct cluster *cluster, struct worker *worker, struct link *link,
    struct limits *limits, char error[CONFIG_ERROR])
{
    static_assert((int)REMOTE_NEWS_BYTES <= (int)NEWS_BYTES_MAX, "a message of limits fits");
    cluster->news.limits = limits;
    cluster->worker = worker;
    cluster->link = link;
    link_others_wake(link, remote_wake(cluster->remote));
    link_health_from(link, cluster_health, cluster);
    return is_gateway(cluster->config->cluster_role) ? STATUS_OK : keeper_start(cluster, error);
}

bool cluster_start(struct cluster *cluster)
{
    return thread_start(&cluster->inventory_thread, "inventory", remote_run, cluster->remote) == STATUS_OK
        && thread_start(&cluster->log_thread, "log", remote_log_run, cluster->remote) == STATUS_OK
        && (cluster->keeper == NULL
            || thread_start(&cluster->keeper_thread, "keeper", keeper_run, cluster->keeper) == STATUS_OK);
}

void cluster_finish(struct cluster *cluster, uint64_t give_up_ms,
    bool (*ended)(const void *context), const void *context)
{
    while (cluster->inventory_thread.started && !ended(context) && clock_now_ms() < give_up_ms)
        poll(NULL, 0, FINISH_LOOK_MS);
}

void cluster_stop(struct cluster *cluster)
{
    if (cluster->keeper != NULL)
        keeper_stop(cluster->keeper);
    thread_join(&cluster->keeper_thread);
    remote_stop(cluster->remote);
    thread_join(&cluster->inventory_thread);
    thread_join(&cluster->log_thread);
}
