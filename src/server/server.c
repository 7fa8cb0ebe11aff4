/* SPDX-License-Identifier: Apache-2.0 */
#include "server/server.h"
#include "server/database.h"

#include "admin/admin.h"
#include "admin/switches.h"
#include "api/catalog.h"
#include "api/customers.h"
#include "api/key_ring.h"
#include "api/link.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "config/cluster_secret.h"
#include "edge/handshakes.h"
#include "edge/static_files.h"
#include "funnel/bans.h"
#include "funnel/door.h"
#include "funnel/room/rooms.h"
#include "gateway/answers.h"
#include "gateway/console_sessions.h"
#include "gateway/gate_limits.h"
#include "gateway/human_shared.h"
#include "gateway/redirect.h"
#include "gateway/routes.h"
#include "gateway/settings.h"
#include "media/media_service.h"
#include "outgoing/courier.h"
#include "pages/pages.h"
#include "server/cluster.h"
#include "server/file_limit.h"
#include "server/housekeeper.h"
#include "server/listening.h"
#include "server/reload.h"
#include "server/signals.h"
#include "server/storage.h"
#include "server/tls_service.h"
#include "worker/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

enum {
    WATCH_MS = 100,             /* how often the main thread looks after the others */
    FEW_CORES = 2,              /* up to here the inventory runs on edge 0's loop */
    REQUEST_TIMEOUT_MS = 40000, /* above the longest long-poll */
    FINISH_MS = 5000,           /* beyond server.drain_ms: for what is in flight at a stop */
};

struct server {
    struct config config;
    const struct server_options *options;
    struct storage storage;
    struct door_channels channels;
    struct switches switches;
    struct item_rules rules;
    struct human_shared human;
    struct handover settings, catalog, bans;
    struct reader_turns turns;
    struct rooms *rooms;
    struct customers *customers;
    struct link *link;
    struct worker *worker;
    struct gate_limits limits;
    struct tls_service tls;
    struct listening listening;
    struct pages pages;
    struct static_files *files;
    struct media_service media;
    struct key_ring *key_ring;
    uint32_t edge_count;
    struct edge *edges[EDGES_MAX];
    struct routes *routes[EDGES_MAX];
    struct loop loops[EDGES_MAX];
    bool host_on_edge;
    struct housekeeper housekeeper;
    struct thread edge_threads[EDGES_MAX], worker_thread, courier_thread;
    _Atomic bool draining, database_lost; /* the latter: another server has it */
    bool wrong_settings;                  /* why it can't start: exit code 2 */
    char error[CONFIG_ERROR];
};

static void edge_thread(void *context)
{
    metrics_thread_enter();
    edge_run(context);
}

static bool failed(struct server *server, const char *what)
{
    if (server->error[0] == 0)
        snprintf(server->error, sizeof server->error, "%s", what);
    return false;
}

static bool channels_open(struct server *server)
{
    return door_channels_read(&server->channels, span_from_string(server->config.channels)) == STATUS_OK
        || failed(server,
            "channels.names must be up to 8 different names of a-z 0-9 _ -, the first one web");
}

static bool settings_open(struct server *server)
{
    handover_create(&server->settings, NULL, settings_free);
    handover_create(&server->catalog, NULL, catalog_free);
    handover_create(&server->bans, NULL, ban_set_free);
    key_ring_open(&server->key_ring, server->storage.folder.root, &server->turns);
    return settings_load(
               &server->settings, server->key_ring, &server->turns, &server->config, server->error)
        == STATUS_OK;
}

/* The worker's ports stand behind those of the edges. */
enum worker_ports { PORT_ADMIN, PORT_PUMP, PORT_RECONCILE, PORT_ROOMS, WORKER_PORTS };

static struct inventory_port *port_of(struct server *server, unsigned port, struct wake *client)
{
    struct inventory *inventory = server->storage.host.inventory;
    return inventory->ops->port(inventory, server->edge_count + port, client);
}

static void switched(void *context)
{
    struct server *server = context;
    gate_limits_apply(server->limits.limits, &server->switches, &server->config);
}

static void database_lost(void *context)
{
    struct server *server = context;
    atomic_store(&server->database_lost, true);
}

static bool worker_make(struct server *server)
{
    const struct database_shares shares = database_shares(&server->config);
    if (link_open(&server->link, server->edge_count, shares.view_readers) != STATUS_OK)
        return failed(server, "no memory for the way to the store thread");
    if (rooms_open(&server->rooms, server->storage.host.inventory, (uint32_t)server->config.sales_max)
        != STATUS_OK)
        return failed(server, "no memory for the waiting rooms");
    if (customers_open(&server->customers, server->edge_count, &server->storage.keys) != STATUS_OK)
        return failed(server, "no memory for the customers");
    struct worker_config config = { .config = &server->config,
        .keys = &server->storage.keys,
        .channels = &server->channels,
        .inventory = server->storage.host.inventory,
        .port = port_of(server, PORT_ADMIN, NULL),
        .pump_port = port_of(server, PORT_PUMP, NULL),
        .reconcile_port = port_of(server, PORT_RECONCILE, NULL),
        .rooms_port = port_of(server, PORT_ROOMS, NULL),
        .rooms = server->rooms,
        .customers = server->customers,
        .store = server->storage.store,
        .queue = server->storage.queue,
        .folder = server->storage.folder.root,
        .data_id = server->storage.folder.data_id,
        .high_water = server->storage.queue == NULL ? NULL : &server->storage.high_water,
        .edges = server->edge_count,
        .view_readers = shares.view_readers,
        .operator_readers = shares.operator_readers,
        .orders_beside = shares.order_writer,
        .link = server->link,
        .limits = server->limits.limits,
        .spent = server->human.spent,
        .tokens = server->human.tokens,
        .switches = &server->switches,
        .admin = &admin_of_worker,
        .switched = switched,
        .switched_context = server,
        .media = &server->media,
        .key_ring = server->key_ring,
        .catalog = &server->catalog,
        .rules = &server->rules,
        .bans = &server->bans,
        .turns = &server->turns,
        .database_holder = server->storage.holder,
        .database_lost = database_lost,
        .database_context = server,
        .leads = (uint8_t)cluster_leads(&server->config) };
    host_follow(&server->storage.host, &config);
    if (worker_open(&server->worker, &config, server->error) != STATUS_OK)
        return failed(server, "the store thread can't be created");
    for (unsigned port = 0; port < WORKER_PORTS; port++)
        port_of(server, port, worker_wake(server->worker));
    return host_tell(&server->storage.host, server->worker, server->link, server->limits.limits,
               server->error)
        == STATUS_OK;
}

static bool edge_start(struct server *server, uint32_t index)
{
    if (tls_service_listen(&server->tls, index, &server->listening, server->error) != STATUS_OK)
        return false;
    const struct routes_shared shared = { .config = &server->config,
        .keys = &server->storage.keys,
        .channels = &server->channels,
        .inventory = server->storage.host.inventory,
        .inventory_shared = cluster_is_set(&server->config),
        .link = server->link,
        .watches = worker_edge_watches(server->worker),
        .meters = worker_sale_meters(server->worker),
        .traces = worker_purchase_traces(server->worker),
        .rooms = server->rooms,
        .customers = server->customers,
        .files = server->files,
        .pages = &server->pages,
        .media = &server->media,
        .limits = server->limits.limits,
        .channel_rates = &server->limits.channel_rates,
        .lockout = server->limits.lockout,
        .console = server->limits.console,
        .passwords = server->limits.passwords,
        .human = &server->human,
        .switches = &server->switches,
        .rules = &server->rules,
        .catalog = &server->catalog,
        .bans = &server->bans,
        .settings = &server->settings,
        .key_ring = server->key_ring,
        .turns = &server->turns,
        .draining = &server->draining };
    struct inventory *inventory = server->storage.host.inventory;
    struct inventory_port *port = inventory->ops->port(inventory, index, NULL);
    if (routes_open(&server->routes[index], &shared, index, port) != STATUS_OK)
        return failed(server, "no memory for an edge");
    struct edge_handler handler = routes_handler(server->routes[index]);
    if (server->config.tls_redirect)
        redirect_install(server->routes[index], &handler, (uint16_t)server->config.tls_port);
    handler.turn = loop_turn;
    handler.turn_self = &server->loops[index];
    const struct edge_config config = { .port = (uint16_t)server->config.port,
        .address = server->config.address,
        .listen_fd = listening_plain(&server->listening, index),
        .connections_max = (uint32_t)server->config.connections_max,
        .head_timeout_ms = (uint32_t)server->config.head_timeout_ms,
        .body_timeout_ms = (uint32_t)server->config.body_timeout_ms,
        .idle_timeout_ms = (uint32_t)server->config.idle_timeout_ms,
        .send_timeout_ms = (uint32_t)server->config.send_timeout_ms,
        .request_timeout_ms = REQUEST_TIMEOUT_MS,
        .trusted = &server->limits.trusted,
        .callers = server->limits.callers,
        .handshakes = server->tls.handshakes[index],
        .secure_header = tls_service_header(&server->tls),
        .cpu = server->config.pin ? (int)index : -1 };
    if (edge_open(&server->edges[index], &config, &handler) != STATUS_OK) {
        snprintf(server->error, sizeof server->error, "can't listen on %.100s port %" PRIu64 ": %s",
            server->config.address, server->config.port, strerrordesc_np(errno));
        return false;
    }
    /* The first edge learns the real port when 0 was asked for; the others share it. */
    server->config.port = edge_port(server->edges[index]);
    routes_edge(server->routes[index], server->edges[index]);
    inventory->ops->port(inventory, index, edge_wake(server->edges[index]));
    server->loops[index] = (struct loop){ .routes = server->routes[index],
        .hosted = server->host_on_edge && index == 0 ? inventory : NULL };
    link_edge_wake(server->link, index, edge_wake(server->edges[index]));
    return true;
}

static bool edges_start(struct server *server)
{
    listening_find(&server->listening);
    if (listening_is_taken(&server->listening, server->config.address,
            (uint16_t)server->config.port, server->error))
        return false;
    for (uint32_t i = 0; i < server->edge_count; i++)
        if (!edge_start(server, i))
            return false;
    return true;
}

static bool threads_start(struct server *server)
{
    struct wake *loop = server->host_on_edge ? edge_wake(server->edges[0]) : NULL;
    struct host *host = &server->storage.host;
    bool good = follow_host_start(&server->storage.follow) == STATUS_OK && host_start(host, loop)
        && thread_start(&server->courier_thread, "courier", courier_run, worker_courier(server->worker))
            == STATUS_OK
        && thread_start(&server->worker_thread, "worker", worker_run, server->worker) == STATUS_OK
        && housekeeper_start(&server->housekeeper, host, server->link, server->limits.limits) == STATUS_OK
        && human_shared_start(&server->human) == STATUS_OK
        && gate_limits_start(&server->limits) == STATUS_OK;
    for (uint32_t i = 0; good && i < server->edge_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "edge-%u", i);
        good = thread_start(&server->edge_threads[i], name, edge_thread, server->edges[i]) == STATUS_OK;
    }
    good = good && tls_service_start(&server->tls);
    return good || failed(server, "a thread can't be started");
}

static bool server_open(struct server *server)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const long edges = server->config.threads != 0 ? (long)server->config.threads : cores;
    server->edge_count = edges < 1 ? 1 : edges > EDGES_MAX ? EDGES_MAX : (uint32_t)edges;
    server->host_on_edge =
        !cluster_is_set(&server->config) && (cores <= FEW_CORES || server->edge_count == 1);
    server->turns.readers = server->edge_count + database_shares(&server->config).view_readers;
    server->config.connections_max =
        file_limit_raise(server->edge_count, (uint32_t)server->config.connections_max,
            server->config.tls_certificates[0] != 0 ? HANDSHAKES_MAX : 0);
    answers_create();
    switches_start(&server->switches, &server->config);
    if (gate_limits_open(&server->limits, &server->config, server->edge_count,
            cluster_is_set(&server->config), server->error)
        != STATUS_OK)
        return false;
    gate_limits_apply(server->limits.limits, &server->switches, &server->config);
    if (!channels_open(server))
        return false;
    const enum status tls =
        tls_service_open(&server->tls, server->edge_count, &server->limits.trusted, server->error);
    server->wrong_settings = tls == STATUS_BAD_INPUT;
    if (tls != STATUS_OK)
        return false;
    if (data_folder_open(&server->storage.folder, server->config.folder, DATA_SERVE, server->error)
        != STATUS_OK)
        return failed(server, "the data folder can't be opened");
    if (!settings_open(server))
        return false;
    const enum status opened = storage_open(&server->storage, &server->config,
        server->edge_count + WORKER_PORTS, server->options->seed, server->error);
    server->wrong_settings = opened == STATUS_BAD_INPUT;
    if (opened != STATUS_OK)
        return failed(server, "the database and the inventory can't be opened");
    funnel_keys_turn(&server->storage.keys, clock_now_ms());
    console_sessions_invite_first(server->limits.console, server->options->console_invitation,
        key_ring_now(server->key_ring), clock_now_ms());
    static_assert((int)CONFIG_LIST <= (int)CSP_ORIGINS_MAX, "a list of origins fits");
    const struct verdict_ops *widget = verdict_find(server->config.human_outside);
    if (pages_open(&server->pages, &server->config, assets_embedded, assets_embedded_count, server->error)
        != STATUS_OK)
        return false;
    if (static_files_open(&server->files, server->pages.assets, server->pages.count,
            server->config.image_origins, widget == NULL ? "" : widget->sources)
        != STATUS_OK)
        return failed(server, "the pages can't be loaded");
    if (media_service_open(&server->media, &server->config, server->error) != STATUS_OK)
        return false;
    if (human_shared_open(&server->human, &server->config, server->edge_count, server->error) != STATUS_OK)
        return failed(server, "the human check can't be opened");
    if (cluster_is_set(&server->config)) {
        human_shared_join(&server->human, &server->storage.keys);
        gate_limits_join(&server->limits, &server->storage.keys);
    }
    if (!worker_make(server) || !edges_start(server))
        return false;
    if (worker_start(server->worker, (uint16_t)server->config.port, server->error) != STATUS_OK)
        return failed(server, "payments can't be started");
    return threads_start(server);
}

/* ---- stopping */

static void edge_join(struct server *server, uint32_t edge)
{
    thread_join(&server->edge_threads[edge]);
    reader_left(&server->turns, edge);
}

/* The edges end one after another, the one that hosts the inventory last: the others still need its
 * answers. All have one deadline. */
static void edges_stop(struct server *server)
{
    const uint64_t end_ms = clock_now_ms() + server->config.drain_ms;
    tls_service_stop(&server->tls);
    for (uint32_t i = server->edge_count; i-- > 1;)
        if (server->edges[i] != NULL)
            edge_drain(server->edges[i], (uint32_t)server->config.drain_ms);
    for (uint32_t i = server->edge_count; i-- > 1;)
        edge_join(server, i);
    const uint64_t now_ms = clock_now_ms();
    if (server->edges[0] != NULL)
        edge_drain(server->edges[0], now_ms < end_ms ? (uint32_t)(end_ms - now_ms) : 0);
    edge_join(server, 0);
}

static bool worker_is_done(const void *context)
{
    const struct server *server = context;
    return !server->worker_thread.started || worker_ended(server->worker);
}

static void threads_stop(struct server *server)
{
    if (server->storage.host.inventory == NULL || server->worker == NULL)
        return;
    edges_stop(server);
    worker_stop(server->worker);
    host_finish(&server->storage.host, clock_now_ms() + server->config.drain_ms + FINISH_MS,
        worker_is_done, server);
    follow_host_release(&server->storage.follow);
    thread_join(&server->worker_thread);
    courier_stop(worker_courier(server->worker));
    thread_join(&server->courier_thread);
    housekeeper_stop(&server->housekeeper);
    host_stop(&server->storage.host);
}

static void server_close(struct server *server)
{
    threads_stop(server);
    for (uint32_t i = 0; i < server->edge_count; i++) {
        edge_close(server->edges[i]);
        routes_close(server->routes[i]);
    }
    tls_service_close(&server->tls);
    gate_limits_close(&server->limits);
    human_shared_close(&server->human);
    worker_close(server->worker);
    link_close(server->link);
    rooms_close(server->rooms);
    customers_close(server->customers);
    static_files_close(server->files);
    pages_close(&server->pages);
    media_service_close(&server->media);
    if (server->settings.release != NULL) {
        handover_close(&server->settings);
        handover_close(&server->catalog);
        handover_close(&server->bans);
    }
    key_ring_close(server->key_ring);
    storage_close(&server->storage);
}

/* ---- running */

/* True: a clean stop was asked for. */
static bool server_watch(struct server *server, const sigset_t *signals)
{
    for (;;) {
        const struct timespec wait = { .tv_nsec = WATCH_MS * 1000000L };
        const int signal = sigtimedwait(signals, NULL, &wait);
        if (signal == SIGTERM || signal == SIGINT)
            return true;
        if (signal == SIGHUP)
            reload_settings(&(const struct reload){ &server->config, server->options,
                &server->settings, server->key_ring, &server->turns, &server->tls });
        handover_collect(&server->settings, &server->turns);
        tls_service_watch(&server->tls, clock_now_ms());
        follow_host_watch(&server->storage.follow, &server->storage.host);
        if (inventory_failed(server->storage.host.inventory)) {
            log_error("server", "the journal has failed: stopping at once without further answers");
            return false;
        }
        if (atomic_load(&server->database_lost)) {
            log_error("server", "another server sells with this database now: stopping at once");
            return false;
        }
    }
}

int server_run(const struct config *config, const struct server_options *options)
{
    struct server *server = calloc(1, sizeof *server);
    sigset_t signals;
    invariant(server != NULL);
    server->config = *config;
    server->options = options;
    server->tls.config = &server->config;
    metrics_thread_enter();
    signals_block(&signals);
    umask(S_IRWXG | S_IRWXO); /* what is written here is nobody else's business */
    if (!server_open(server)) {
        const int code = server->wrong_settings ? 2 : 1;
        log_error("server", "can't start: %s", server->error);
        server_close(server);
        free(server);
        return code;
    }
    log_info("server", "listening on %s port %" PRIu64 " with %u edges", server->config.address,
        server->config.port, server->edge_count);
    if (server->tls.certificates != NULL)
        log_info("server", "listening with TLS on port %" PRIu64, server->config.tls_port);
    sd_notify(0, "READY=1");
    if (options->started != NULL)
        options->started(&server->config, (uint16_t)server->config.port, options->context);
    const bool clean = server_watch(server, &signals);
    if (!clean)
        _exit(1); /* fail-stop: no answer, no write, no snapshot after a fault */
    log_info("server", "draining");
    sd_notify(0, "STOPPING=1");
    atomic_store(&server->draining, true);
    poll(NULL, 0, (int)server->config.drain_notice_ms);
    server_close(server);
    free(server);
    log_info("server", "stopped");
    return 0;
}
