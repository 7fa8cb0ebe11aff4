/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/admin/admin_shop.h"

#include "admin/admin.h"
#include "admin/switches.h"
#include "api/catalog.h"
#include "api/customers.h"
#include "api/handover.h"
#include "api/key_ring.h"
#include "api/link.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "config/data_folder.h"
#include "contract/admin_store.h"
#include "contract/cluster_store.h"
#include "contract/inventory.h"
#include "contract/ticket_number.h"
#include "funnel/bans.h"
#include "funnel/door.h"
#include "funnel/item_rules.h"
#include "funnel/keys.h"
#include "funnel/room/rooms.h"
#include "funnel/spent.h"
#include "funnel/switches.h"
#include "gateway/gate_limits.h"
#include "media/media_service.h"
#include "server/host.h"
#include "store/sqlite/sqlite.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PORT_EDGE,
    PORT_ADMIN,
    PORT_PUMP,
    PORT_RECONCILE,
    PORT_ROOMS,
    PORTS,
    VIEW_READERS = 1,
    OPERATOR_READERS = 2,
    WAIT_MS = 100,
    PATIENCE_MS = 60 * 1000, /* on a busy machine */
    TEXT_BYTES = 64 * 1024,
    PATH_BYTES = 512,
};

static struct {
    char folder_path[64];
    struct config config;
    struct data_folder folder;
    struct funnel_keys keys;
    struct door_channels channels;
    struct switches switches;
    struct gate_limits limits;
    struct arena spent_arena;
    struct spent *spent;
    struct item_rules rules;
    struct handover catalog, bans;
    struct reader_turns turns;
    struct host host;
    struct rooms *rooms;
    struct customers *customers;
    struct order_store *store;
    struct ticket_queue *queue;
    struct link *link;
    struct worker *worker;
    struct media_service media;
    struct key_ring *key_ring;
    struct thread worker_thread;
    struct wake wake; /* of the edge that the test plays */
    struct inventory_port *port;
    _Atomic uint32_t switched;
    /* The request. */
    struct job job;
    enum admin_role role;
    const char *key;
    char path[PATH_BYTES], text[TEXT_BYTES], headers[JOB_HEADERS_BYTES + 1];
    char response[JOB_RESPONSE_BYTES + 1];
    json_t *answer;
    uint32_t product;
} shop;

/* ---- the database that fails ---- */

static const struct order_store_ops *real;
static struct order_store_ops faulty;
static struct admin_store_ops faulty_admin;
static _Atomic int fault;

static enum status audit_append(struct order_store *store, const struct audit_entry *entry)
{
    return fault == FAULT_AUDIT ? STATUS_AWAY : real->audit_append(store, entry);
}

static enum status item_insert(struct order_store *store, struct item *item)
{
    const enum status status = real->item_insert(store, item);
    return status == STATUS_OK && fault == FAULT_AFTER_A_ROW ? STATUS_AWAY : status;
}

static enum status sale_update(struct order_store *store, const struct sale *sale)
{
    if (fault == FAULT_PREPARED)
        assert_int_equal(real->cluster->part_want(store, part_of_sale(sale->id, 0)), STATUS_OK);
    return real->sale_update(store, sale);
}

static enum status transaction_end(struct order_store *store, bool keep)
{
    if (fault != FAULT_AT_THE_END)
        return real->admin->end(store, keep);
    const enum status status = real->admin->end(store, false);
    return status == STATUS_OK && keep ? STATUS_AWAY : status;
}

static void store_make_faulty(struct order_store *store)
{
    real = store->ops;
    faulty = *real;
    faulty_admin = *real->admin;
    faulty.audit_append = audit_append;
    faulty.item_insert = item_insert;
    faulty.sale_update = sale_update;
    faulty_admin.end = transaction_end;
    faulty.admin = &faulty_admin;
    store->ops = &faulty;
}

void shop_fault_set(enum shop_fault which)
{
    fault = (int)which;
}

/* ---- opening ---- */

static void good(enum status status, const char *error)
{
    if (status != STATUS_OK)
        fail_msg("%s: %s", status_name(status), error);
}

static void settings_make(char error[CONFIG_ERROR])
{
    static const char *const settings[][2] = { { "data.segment_bytes", "2097152" },
        { "data.tickets_max", "10000" }, { "data.items_max", "512" }, { "data.sales_max", "256" },
        { "room.places_max", "1000" }, { "channels.names", "web,app" } };
    config_defaults(&shop.config);
    good(config_set(&shop.config, "data.folder", shop.folder_path, error), error);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        good(config_set(&shop.config, settings[i][0], settings[i][1], error), error);
    const struct span names[] = { SPAN("web"), SPAN("app") };
    good(door_channels_set(&shop.channels, names, 2), "channels");
    switches_start(&shop.switches, &shop.config);
    good(gate_limits_open(&shop.limits, &shop.config, 1, false, error), error);
    good(arena_open(&shop.spent_arena, spent_bytes(1)), "what was used");
    shop.spent = spent_create(&shop.spent_arena, 1);
}

static void stores_open(char error[CONFIG_ERROR])
{
    good(data_folder_open(&shop.folder, shop.folder_path, DATA_SERVE, error), error);
    good(funnel_keys_derive(&shop.keys, shop.folder.master, sizeof shop.folder.master), "keys");
    good(host_open(&shop.host, &shop.config, &shop.folder, &shop.keys, PORTS, error), error);
    good(sqlite_store_open(&shop.store, shop.folder.database, NULL, error, CONFIG_ERROR), error);
    good(data_folder_match(&shop.folder, shop.store, host_durable(&shop.host), error), error);
    good(host_queue_open(&shop.host, &shop.config, &shop.folder, &shop.queue), "queue");
    good(media_service_open(&shop.media, &shop.config, error), error);
    store_make_faulty(shop.store);
}

static struct inventory_port *port_of(uint32_t port, struct wake *client)
{
    struct inventory *inventory = shop.host.inventory;
    return inventory->ops->port(inventory, port, client);
}

static void switched(void *context)
{
    (void)context;
    atomic_fetch_add(&shop.switched, 1);
}

static void worker_make(char error[CONFIG_ERROR])
{
    handover_create(&shop.catalog, NULL, catalog_free);
    handover_create(&shop.bans, NULL, ban_set_free);
    key_ring_open(&shop.key_ring, shop.folder.root, &shop.turns);
    shop.turns.readers = 1 + VIEW_READERS;
    reader_left(&shop.turns, 0); /* the test holds none of what is shown to edges */
    good(link_open(&shop.link, 1, VIEW_READERS), "link");
    good(rooms_open(&shop.rooms, shop.host.inventory, (uint32_t)shop.config.sales_max), "rooms");
    good(customers_open(&shop.customers, 1, &shop.keys), "customers");
    const struct worker_config config = { .config = &shop.config,
        .keys = &shop.keys,
        .channels = &shop.channels,
        .inventory = shop.host.inventory,
        .port = port_of(PORT_ADMIN, NULL),
        .pump_port = port_of(PORT_PUMP, NULL),
        .reconcile_port = port_of(PORT_RECONCILE, NULL),
        .rooms_port = port_of(PORT_ROOMS, NULL),
        .rooms = shop.rooms,
        .customers = shop.customers,
        .store = shop.store,
        .queue = shop.queue,
        .folder = shop.folder.root,
        .edges = 1,
        .view_readers = VIEW_READERS,
        .operator_readers = OPERATOR_READERS,
        .link = shop.link,
        .limits = shop.limits.limits,
        .spent = shop.spent,
        .tokens = shop.spent,
        .switches = &shop.switches,
        .admin = &admin_of_worker,
        .switched = switched,
        .media = &shop.media,
        .key_ring = shop.key_ring,
        .catalog = &shop.catalog,
        .rules = &shop.rules,
        .bans = &shop.bans,
        .turns = &shop.turns };
    good(worker_open(&shop.worker, &config, error), error);
    for (uint32_t port = PORT_ADMIN; port < PORTS; port++)
        port_of(port, worker_wake(shop.worker));
    good(worker_start(shop.worker, 1, error), error);
}

int shop_open(void **state)
{
    char error[CONFIG_ERROR] = "";
    log_level_set(LOG_ERROR);
    metrics_thread_enter();
    memcpy(shop.folder_path, "/tmp/stampede-admin-XXXXXX", sizeof "/tmp/stampede-admin-XXXXXX");
    assert_non_null(mkdtemp(shop.folder_path));
    settings_make(error);
    stores_open(error);
    worker_make(error);
    good(wake_open(&shop.wake), "wake");
    link_edge_wake(shop.link, 0, &shop.wake);
    shop.port = port_of(PORT_EDGE, &shop.wake);
    assert_true(host_start(&shop.host, NULL));
    good(thread_start(&shop.worker_thread, "worker", worker_run, shop.worker), "thread");
    (void)shop_begin(state);
    assert_done(201, shop_asks(HTTP_POST, "{\"name\":\"Phone\",\"list_price\":499900}", "/products"));
    shop.product = (uint32_t)shop_number("id");
    return 0;
}

static bool worker_is_done(const void *context)
{
    return worker_ended(context);
}

int shop_close(void **state)
{
    (void)state;
    worker_stop(shop.worker);
    host_finish(&shop.host, clock_now_ms() + PATIENCE_MS, worker_is_done, shop.worker);
    thread_join(&shop.worker_thread);
    host_stop(&shop.host);
    worker_close(shop.worker);
    gate_limits_close(&shop.limits);
    arena_close(&shop.spent_arena);
    link_close(shop.link);
    shop.queue->ops->close(shop.queue);
    shop.store->ops->close(shop.store);
    rooms_close(shop.rooms);
    customers_close(shop.customers);
    host_close(&shop.host);
    media_service_close(&shop.media);
    handover_close(&shop.catalog);
    handover_close(&shop.bans);
    key_ring_close(shop.key_ring);
    data_folder_close(&shop.folder);
    wake_close(&shop.wake);
    json_decref(shop.answer);
    tree_remove(shop.folder_path);
    return 0;
}

int shop_begin(void **state)
{
    (void)state;
    fault = FAULT_NONE;
    shop.role = ADMIN_ADMIN;
    shop.key = NULL;
    shop_machines_set(false);
    return 0;
}

/* ---- asking ---- */

void shop_role_set(enum admin_role role)
{
    shop.role = role;
}

void shop_key_set(const char *key)
{
    shop.key = key;
}

void shop_machines_set(bool several)
{
    snprintf(shop.config.inventory_kind, sizeof shop.config.inventory_kind, "%s",
        several ? "redis" : "embedded");
}

uint32_t shop_switched(void)
{
    return atomic_load(&shop.switched);
}

const char *shop_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(shop.text, sizeof shop.text, format, arguments);
    va_end(arguments);
    assert_true(size >= 0 && size < TEXT_BYTES);
    return shop.text;
}

static void job_wait(void)
{
    const uint64_t give_up_ms = clock_now_ms() + PATIENCE_MS;
    struct link_note note;
    while (clock_now_ms() < give_up_ms) {
        while (link_take_back(shop.link, 0, &note))
            if (note.job == &shop.job)
                return;
        wake_wait(&shop.wake, WAIT_MS);
    }
    fail_msg("no answer");
}

static void answer_keep(void)
{
    assert_int_equal(shop.job.result, JOB_REPLY);
    shop.response[JOB_HEAD_BYTES + shop.job.body_size] = 0;
    memcpy(shop.headers, shop.job.headers, shop.job.headers_size);
    shop.headers[shop.job.headers_size] = 0;
    json_decref(shop.answer);
    shop.answer = json_loads(shop_said(), 0, NULL);
}

int shop_asks(enum http_method method, const char *body, const char *path, ...)
{
    va_list arguments;
    va_start(arguments, path);
    const int size = vsnprintf(shop.path, sizeof shop.path, path, arguments);
    va_end(arguments);
    assert_true(size >= 0 && size < PATH_BYTES);
    struct span query = span_from_string(shop.path), only = SPAN_NONE;
    (void)span_take_until(&query, '?', &only);
    shop.job = (struct job){ .kind = JOB_ADMIN,
        .share = SHARE_ADMIN,
        .method = method,
        .path = only,
        .query = query,
        .body = body == NULL ? SPAN_NONE : span_from_string(body),
        .actor = "ada",
        .role = shop.role,
        .key = shop.key == NULL ? SPAN_NONE : span_from_string(shop.key),
        .response = shop.response,
        .response_bytes = JOB_RESPONSE_BYTES };
    link_hand_in(shop.link, 0, &shop.job);
    job_wait();
    answer_keep();
    return shop.job.status;
}

const char *shop_said(void)
{
    return shop.response + JOB_HEAD_BYTES;
}

const char *shop_headers(void)
{
    return shop.headers;
}

json_t *shop_value(const char *name)
{
    struct span rest = span_from_string(name), part;
    json_t *value = shop.answer;
    while (value != NULL && span_take_until(&rest, '.', &part)) {
        char key[64];
        uint32_t index;
        snprintf(key, sizeof key, "%.*s", (int)part.size, part.data);
        value = json_is_array(value) && span_to_u32(part, &index) == STATUS_OK
            ? json_array_get(value, index)
            : json_object_get(value, key);
    }
    return value;
}

uint64_t shop_number(const char *name)
{
    const json_t *value = shop_value(name);
    if (!json_is_integer(value))
        fail_msg("no number \"%s\" in: %s", name, shop_said());
    return (uint64_t)json_integer_value(value);
}

/* ---- sales ---- */

uint64_t shop_now_ms(void)
{
    return clock_now_ms();
}

sale_id shop_sale(void)
{
    const uint64_t now_ms = clock_now_ms();
    assert_done(201,
        shop_asks(HTTP_POST,
            shop_text("{\"title\":\"Sale\",\"start_ms\":%llu,\"end_ms\":%llu,\"start_draw_ms\":0}",
                (unsigned long long)now_ms - 1000, (unsigned long long)now_ms + 3600000),
            "/sales"));
    return (sale_id)shop_number("id");
}

item_id shop_item(sale_id sale, uint32_t total)
{
    assert_done(201,
        shop_asks(HTTP_POST,
            shop_text("{\"sale\":%u,\"product\":%u,\"flash_price\":99900,\"total\":%u}", sale,
                shop.product, total),
            "/items"));
    return (item_id)shop_number("id");
}

void shop_publish(sale_id sale)
{
    assert_done(200, shop_asks(HTTP_POST, NULL, "/sales/%u/publish", sale));
}

static struct outcome inventory_answers(const struct command *command)
{
    const struct inventory_port_ops *ops = shop.port->ops;
    const uint64_t give_up_ms = clock_now_ms() + PATIENCE_MS;
    struct inventory_request *request = ops->reserve(shop.port);
    assert_non_null(request);
    *request = (struct inventory_request){ .tag = 1, .command = *command };
    ops->commit(shop.port);
    ops->flush(shop.port);
    while (clock_now_ms() < give_up_ms) {
        const struct inventory_answer *answer = ops->collect(shop.port);
        if (answer != NULL)
            return answer->outcome;
        wake_wait(&shop.wake, WAIT_MS);
    }
    fail_msg("the inventory does not answer");
    return (struct outcome){ 0 };
}

bool shop_sells(const char *subject, item_id item, uint32_t quantity)
{
    static uint64_t key = 1;
    const user_id user = funnel_user_id(&shop.keys, span_from_string(subject));
    const struct command command = { .type = COMMAND_RESERVE,
        .reserve = { .user = user, .key = key++, .item = item, .quantity = quantity } };
    const uint64_t give_up_ms = clock_now_ms() + PATIENCE_MS;
    const struct outcome outcome = inventory_answers(&command);
    if (outcome.answer != ANSWER_WON)
        return false;
    while (clock_now_ms() < give_up_ms) {
        assert_done(200, shop_asks(HTTP_GET, NULL, "/orders?subject=%s&item=%u", subject, item));
        if (shop_value("orders.0") != NULL)
            return true;
        wake_wait(&shop.wake, 1);
    }
    fail_msg("no order");
    return false;
}
