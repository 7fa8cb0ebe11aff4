/* SPDX-License-Identifier: Apache-2.0 */
/* worker/room_driver.c: the waiting rooms of open sales, each by the rules of funnel/room/room_line.h, and
 * what gateways are shown of them.
 * A draw with a public beacon waits for its value, or for the time to be over. Which of the two it was is in
 * the database before the draw is shown, and never changes. */
#include "api/catalog.h"
#include "base/log.h"
#include "worker/worker_parts.h"

enum {
    ROOM_TICK_MS = 100,
    ROOM_ROWS_PER_TURN = 8192, /* arrivals that one turn adds to chains: a few milliseconds */
};

static const struct board *board_of(const struct worker *worker)
{
    return worker->config.inventory->board;
}

static struct worker_room *room_find(struct worker *worker, sale_id sale)
{
    for (uint32_t i = 0; i < WORKER_ROOMS_MAX; i++)
        if (worker->rooms.rooms[i].line.sale == sale)
            return &worker->rooms.rooms[i];
    return NULL;
}

static struct room_look sale_look(
    const struct worker *worker, const struct catalog *catalog, const struct catalog_sale *sale)
{
    struct room_look look = room_look_begin(worker->now_ms, sale->start_ms, sale->end_ms);
    for (uint32_t i = 0; i < sale->item_count; i++) {
        struct board_update view;
        if (board_read(board_of(worker), catalog->items[sale->first_item + i].id, &view))
            room_look_item(&look, &view);
    }
    return look;
}

/* A room is worked on from its opening to its end, and later until its draw can be shown. */
static bool room_is_due(
    const struct worker *worker, const struct catalog *catalog, const struct catalog_sale *sale)
{
    struct board_room_update room;
    if (!sale->waiting_room || !board_read_room(board_of(worker), sale->id, &room))
        return false;
    const uint64_t opens_ms = room_opens_ms(sale->start_ms, worker->config.config->room_open_ms);
    const bool opened = catalog_sale_opened(catalog, board_of(worker), sale);
    const bool live = worker->now_ms < sale->end_ms
        && rooms_take_in(worker->config.rooms, sale->id, opened, worker->now_ms, opens_ms);
    struct room_draw draw;
    struct room_chain chain;
    return live || (room.draw_done && !rooms_draw(worker->config.rooms, sale->id, &draw, &chain));
}

static struct worker_room *room_take(struct worker *worker, sale_id sale)
{
    struct worker_room *room = room_find(worker, sale);
    if (room != NULL)
        return room;
    room = room_find(worker, 0);
    if (room == NULL) {
        if (!worker->rooms.full_told)
            log_error("worker", "more than %u waiting rooms at once: the room of sale %u does not advance",
                WORKER_ROOMS_MAX, sale);
        worker->rooms.full_told = true;
        return NULL;
    }
    struct room_draw draw;
    struct room_chain chain;
    *room = (struct worker_room){ .seen = false };
    room_line_begin(&room->line, worker->config.keys, sale);
    room->line.drawn = rooms_draw(worker->config.rooms, sale, &draw, &chain);
    return room;
}

static void answers_take(struct worker *worker)
{
    struct inventory_port *port = worker->config.rooms_port;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        struct worker_room *room = room_find(worker, (sale_id)answer->tag);
        if (room != NULL)
            room->line.asking = false;
    }
}

/* Until when is written before anybody hears of it, so that a restart does not make the wait longer. */
static bool beacon_wait_begin(struct worker *worker, struct sale *row)
{
    struct order_store *store = worker->config.store;
    row->beacon_until_ms = worker->now_ms + worker->config.config->room_beacon_wait_ms;
    if (store->ops->sale_beacon(store, row) != STATUS_OK)
        return false;
    log_info("worker", "sale %u: the draw waits up to %llu ms for its beacon", row->id,
        (unsigned long long)worker->config.config->room_beacon_wait_ms);
    return true;
}

static bool beacon_miss(struct worker *worker, struct sale *row)
{
    struct order_store *store = worker->config.store;
    row->beacon_state = BEACON_MISSED;
    if (store->ops->sale_beacon(store, row) != STATUS_OK)
        return false;
    log_warn("worker", "sale %u: the value of the beacon did not come in time", row->id);
    return true;
}

/* The list is closed. True: it is decided, and stored, whether a beacon goes into the draw and with what
 * value; `row` has it. A database that is away delays the draw: nobody hears a place that could turn out
 * to be another one. */
static bool beacon_decided(struct worker *worker, struct worker_room *room,
    const struct catalog_sale *sale, bool gone_in, struct sale *row)
{
    struct order_store *store = worker->config.store;
    if (worker->catalog_stale) /* it may have a name by now */
        return false;
    row->beacon_state = BEACON_OPEN;
    if (sale->beacon_name.size == 0)
        return true;
    if (store->ops->sale_get(store, sale->id, row) != STATUS_OK)
        return false;
    if (row->beacon_state == BEACON_OPEN && gone_in) { /* a restore has lost what was decided */
        if (!room->told)
            log_error("worker",
                "sale %u: the draw of this room used a beacon value that is no longer in the "
                "database: nobody is admitted until the value is sent again",
                sale->id);
        room->told = true;
        rooms_show_halt(worker->config.rooms, sale->id);
        return false;
    }
    if (row->beacon_state == BEACON_OPEN && row->beacon_until_ms == 0 && !beacon_wait_begin(worker, row))
        return false;
    rooms_show_beacon_wait(worker->config.rooms, sale->id, row->beacon_until_ms);
    if (row->beacon_state != BEACON_OPEN)
        return true;
    return worker->now_ms >= row->beacon_until_ms && beacon_miss(worker, row);
}

static void draw_show(struct worker *worker, struct worker_room *room, const struct sale *row)
{
    struct room_draw draw;
    char beacon[ROOM_BEACON_MAX + 1] = "";
    const bool used = row->beacon_state == BEACON_GIVEN;
    const struct span value = used ? span_from_string(row->beacon_value) : SPAN_NONE;
    if (used)
        room_beacon(span_from_string(row->beacon_name), value, beacon);
    room_draw_make(
        &draw, room->line.secret, room->line.sale, &room->line.chain, span_from_string(beacon));
    rooms_show_draw(worker->config.rooms, room->line.sale, &draw, &room->line.chain, value);
    room->line.drawn = true;
    log_info("worker", "sale %u: the places of %u people are drawn%s", room->line.sale, draw.count,
        used ? ", with the beacon" : "");
}

static void head_move(struct worker *worker, struct worker_room *room, const struct room_look *look,
    const struct board_room_update *shown)
{
    const struct config *config = worker->config.config;
    const struct room_rules rules = { .turn_ms = (uint32_t)config->room_turn_ms,
        .rate_min = (uint32_t)config->room_rate_min,
        .rate_max = (uint32_t)config->room_rate_max };
    struct room_view view;
    const uint32_t head = room_line_head(&room->line, &rules, worker->now_ms, look, shown, &view);
    rooms_show_view(worker->config.rooms, room->line.sale, &view);
    if (head > shown->head)
        room_line_ask(&room->line, worker->config.rooms_port, room->line.sale, head);
}

static void room_turn(struct worker *worker, const struct catalog *catalog,
    const struct catalog_sale *sale, struct worker_room *room, uint32_t *budget)
{
    struct board_room_update shown;
    struct sale row;
    const struct room_look look = sale_look(worker, catalog, sale);
    room->seen = true;
    room_line_catch_up(&room->line, worker->config.inventory, budget);
    if (!board_read_room(board_of(worker), room->line.sale, &shown))
        return;
    const bool decided = shown.draw_done && !room->line.drawn && !room->line.asking
        && beacon_decided(worker, room, sale, shown.head > 0, &row);
    switch (room_line_step(&room->line, &look, &shown)) {
    case ROOM_STAYS:
        return;
    case ROOM_CLOSES_LIST:
        room_line_ask(&room->line, worker->config.rooms_port, room->line.sale, 0);
        return;
    case ROOM_DRAWS:
        if (!decided)
            return;
        draw_show(worker, room, &row);
        break;
    case ROOM_MOVES:
        break;
    }
    head_move(worker, room, &look, &shown);
}

static void rooms_drop_unseen(struct worker *worker)
{
    for (uint32_t i = 0; i < WORKER_ROOMS_MAX; i++) {
        struct worker_room *room = &worker->rooms.rooms[i];
        if (room->line.sale != 0 && !room->seen && !room->line.asking)
            *room = (struct worker_room){ .seen = false };
        room->seen = false;
    }
}

bool worker_rooms_turn(struct worker *worker)
{
    const struct catalog *catalog = handover_get(worker->config.catalog);
    uint32_t budget = ROOM_ROWS_PER_TURN;
    answers_take(worker);
    if (catalog == NULL || worker->now_ms < worker->rooms.tick_ms)
        return false;
    for (uint32_t i = 0; i < catalog->sale_count; i++) {
        const struct catalog_sale *sale = &catalog->sales[i];
        struct worker_room *room =
            room_is_due(worker, catalog, sale) ? room_take(worker, sale->id) : NULL;
        if (room != NULL)
            room_turn(worker, catalog, sale, room, &budget);
    }
    rooms_drop_unseen(worker);
    if (budget == 0)
        return true;
    worker->rooms.tick_ms = worker->now_ms + ROOM_TICK_MS;
    return false;
}

/* Nobody can enter a sale that the inventory has not heard of. */
void worker_rooms_define(struct worker *worker, const struct sale *sale)
{
    struct outcome outcome;
    struct worker_room *room = room_find(worker, sale->id);
    if (room == NULL || room->defined || !sale->waiting_room || !sale->published
        || sale->gate == GATE_ENDED || worker->now_ms >= sale->start_ms)
        return;
    room->defined = worker_sale_ensure(worker, sale, &outcome) == STATUS_OK
        && (outcome.answer == ANSWER_DONE || outcome.answer == ANSWER_UNCHANGED);
    if (!room->defined)
        log_warn("worker", "the waiting room of sale %u can't be opened now", sale->id);
}
