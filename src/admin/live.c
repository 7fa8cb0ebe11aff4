/* SPDX-License-Identifier: Apache-2.0 */
/* admin/live.c: what the console's live screen shows, in one answer. Everything is read from memory: the
 * metrics, the board and the catalog; never the database. A screen asks once a second. */
#include "admin/admin.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "base/metrics.h"
#include "contract/inventory.h"
#include "worker/alarms.h"

#include <string.h>

enum {
    LIVE_SALES_MAX = 24,
    LIVE_ITEMS_MAX = 96,              /* of all these sales */
    LIVE_AHEAD_MS = 24 * 3600 * 1000, /* sales that open this soon are told */
    LIVE_BEHIND_MS = 2 * 3600 * 1000, /* and those that ended this lately */
};

/* A name as in /metrics; its label, if it has one, names a member: {"won":1,"sold-out":2}. */
static const char *const names[] = {
    "stampede_edge_requests_total",
    "stampede_edge_connections_accepted_total",
    "stampede_edge_connections_closed_total",
    "stampede_edge_connections_refused_total",
    "stampede_edge_requests_refused_total",
    "stampede_door_total",
    "stampede_limits_refused_total",
    "stampede_human_total",
    "stampede_purchases_total",
    "stampede_orders_written_total",
    "stampede_orders_rejected_total",
    "stampede_orders_expired_total",
    "stampede_orders_reported_paid_total",
    "stampede_payment_news_total",
    "stampede_refunds_done_total",
    "stampede_order_lag",
    "stampede_stock_events_open",
    "stampede_waitlist_waiting",
    "stampede_waitlist_offers_total",
    "stampede_journal_durable_position",
    "stampede_wins_stopped",
    "stampede_ready",
    "stampede_store_away",
    "stampede_dead_letters_open",
    "stampede_reconcile_findings",
    "stampede_webhooks_open",
    "stampede_push_sockets",
    "stampede_bans",
    "stampede_watch_found_total",
    "stampede_watch_banned_total",
};

/* Where metric_see writes, and under which name. */
struct place {
    struct text *out;
    const char *name;
    bool open; /* an object of labels has begun */
};

static void metric_see(void *context, const char *labels, uint64_t value)
{
    struct place *place = context;
    char label[64];
    const char *begin = labels == NULL ? NULL : strchr(labels, '"');
    if (begin == NULL) {
        json_u64(place->out, place->name, value);
        return;
    }
    const size_t size = strcspn(begin + 1, "\"");
    invariant(size < sizeof label);
    memcpy(label, begin + 1, size);
    label[size] = 0;
    if (!place->open)
        json_object_begin(place->out, place->name);
    place->open = true;
    json_u64(place->out, label, value);
}

static void metrics_write(struct text *out)
{
    json_object_begin(out, "metrics");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct place place = { .out = out, .name = names[i] };
        metrics_each(names[i], metric_see, &place);
        if (place.open)
            json_object_end(out);
    }
    json_object_end(out);
}

struct live {
    struct text *out;
    const struct catalog *catalog;
    const struct board *board;
    const struct worker *worker;
    uint64_t now_ms;
    uint32_t sales, items;
    bool more; /* some did not fit */
};

static void item_write(struct live *live, const struct catalog_item *item)
{
    struct board_update view = { 0 };
    const bool preheated = board_read(live->board, item->id, &view);
    json_value(live->out, NULL);
    text_literal(live->out, "{");
    catalog_item_members(live->catalog, item, false, live->out);
    json_bool(live->out, "preheated", preheated);
    json_object_begin(live->out, "counts");
    counts_members(&view.counts, live->out);
    json_object_end(live->out);
    json_object_end(live->out);
}

static void sale_write(struct live *live, const struct catalog_sale *sale)
{
    struct board_room_update room;
    struct board_update view;
    catalog_sale_view(live->board, sale, &view);
    json_object_begin(live->out, NULL);
    json_u64(live->out, "id", sale->id);
    json_value(live->out, "title");
    text_add(live->out, sale->title);
    text_add(live->out, sale->texts);
    json_text(live->out, "state",
        sale_state_name((uint8_t)view.gate, view.start_ms, view.end_ms, live->now_ms));
    json_u64(live->out, "start_ms", view.start_ms);
    json_u64(live->out, "end_ms", view.end_ms);
    if (sale->waiting_room && board_read_room(live->board, sale->id, &room)) {
        json_object_begin(live->out, "room");
        json_u64(live->out, "arrived", room.arrived);
        json_u64(live->out, "admitted", room.head);
        json_bool(live->out, "drawn", room.draw_done);
        json_object_end(live->out);
    }
    worker_sale_funnel_json(live->worker, sale->id, live->out);
    json_list_begin(live->out, "items");
    for (uint32_t i = 0; i < sale->item_count; i++) {
        if (live->items == LIVE_ITEMS_MAX) {
            live->more = true;
            break;
        }
        item_write(live, catalog_item_at(live->catalog, sale, i));
        live->items++;
    }
    json_list_end(live->out);
    json_object_end(live->out);
}

/* Which sales matter now: first those that sell, then those that soon will, then those that just did. */
static uint32_t rank_of(const struct live *live, const struct catalog_sale *sale)
{
    struct board_update view;
    catalog_sale_view(live->board, sale, &view);
    const char *state = sale_state_name((uint8_t)view.gate, view.start_ms, view.end_ms, live->now_ms);
    if (strcmp(state, "open") == 0 || strcmp(state, "paused") == 0)
        return 0;
    if (strcmp(state, "scheduled") == 0)
        return view.start_ms < live->now_ms + LIVE_AHEAD_MS ? 1 : UINT32_MAX;
    return view.end_ms + LIVE_BEHIND_MS > live->now_ms ? 2 : UINT32_MAX;
}

static void sales_write(struct live *live)
{
    enum { RANKS = 3 };
    json_list_begin(live->out, "sales");
    for (uint32_t rank = 0; live->catalog != NULL && rank < RANKS; rank++)
        for (const struct catalog_sale *sale = catalog_sale_next(live->catalog, 0); sale != NULL;
             sale = catalog_sale_next(live->catalog, sale->id)) {
            if (sale->archived || rank_of(live, sale) != rank)
                continue;
            if (live->sales == LIVE_SALES_MAX || live->items == LIVE_ITEMS_MAX) {
                live->more = true;
                break;
            }
            sale_write(live, sale);
            live->sales++;
        }
    json_list_end(live->out);
}

void admin_live(struct admin *admin, struct job *job, uint32_t id)
{
    struct text body = job_body(job);
    struct live live = { .out = &body,
        .catalog = handover_get(admin->lent->catalog),
        .board = admin->lent->inventory->board,
        .worker = admin->worker,
        .now_ms = admin->now_ms };
    (void)id;
    json_object_begin(&body, NULL);
    json_u64(&body, "now_ms", admin->now_ms);
    metrics_write(&body);
    sales_write(&live);
    json_bool(&body, "more", live.more);
    alarms_member(&body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}
