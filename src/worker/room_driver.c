/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/room_driver.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "base/arena.h"
#include "base/log.h"
#include "config/config.h"
#include "contract/inventory.h"
#include "contract/order_store.h"
#include "funnel/room/room_line.h"
#include "funnel/room/rooms.h"
#include "funnel/switches.h"
#include "worker/catalog_updates.h"
#include "worker/sale_commands.h"
#include "worker/task.h"

enum {
    ROOM_TICK_MS = 100,
    ROOM_ROWS_PER_TURN = 8192, /* arrivals that one turn adds to chains: a few milliseconds */
};

/* Waiting rooms that are open, or were and have a draw to be worked out again. */
enum { OPEN_ROOMS_MAX = 64 };
struct open_room {
    struct room_line line; /* of sale 0: a free place */
    bool defined, seen, told;
};

struct room_driver {
    struct room_driver_config config;
    struct open_room rooms[OPEN_ROOMS_MAX];
    uint64_t tick_ms;
    uint64_t now_ms; /* of the present turn */
    bool full_told;
};

static const struct board *board_of(const struct room_driver *driver)
{
    return driver->config.inventory->board;
}

static struct open_room *room_find(struct room_driver *driver, sale_id sale)
{
    for (uint32_t i = 0; i < OPEN_ROOMS_MAX; i++)
        if (driver->rooms[i].line.sale == sale)
            return &driver->rooms[i];
    return NULL;
}

static struct room_look sale_look(const struct room_driver *driver, const struct catalog_sale *sale)
{
    struct room_look look = room_look_begin(driver->now_ms, sale->start_ms, sale->end_ms);
    for (uint32_t i = 0; i < sale->item_count; i++) {
        struct board_update view;
        if (board_read(board_of(driver), sale->items[i], &view))
            room_look_item(&look, &view);
    }
    return look;
}

/* A room is worked on from its opening to its end, and later until its draw can be shown. */
static bool room_is_due(const struct room_driver *driver, const struct catalog_sale *sale)
{
    struct board_room_update room;
    if (!sale->waiting_room || !board_read_room(board_of(driver), sale->id, &room))
        return false;
    const uint64_t opens_ms = room_opens_ms(sale->start_ms, driver->config.config->room_open_ms);
    const bool opened = catalog_sale_opened(board_of(driver), sale);
    const bool live = driver->now_ms < sale->end_ms
        && rooms_take_in(driver->config.shown, sale->id, opened, driver->now_ms, opens_ms);
    struct room_draw draw;
    struct room_chain chain;
    return live || (room.draw_done && !rooms_draw(driver->config.shown, sale->id, &draw, &chain));
}

static struct open_room *room_take(struct room_driver *driver, sale_id sale)
{
    struct open_room *room = room_find(driver, sale);
    if (room != NULL)
        return room;
    room = room_find(driver, 0);
    if (room == NULL) {
        if (!driver->full_told)
            log_error("worker", "more than %u waiting rooms at once: the room of sale %u does not advance",
                OPEN_ROOMS_MAX, sale);
        driver->full_told = true;
        return NULL;
    }
    struct room_draw draw;
    struct room_chain chain;
    *room = (struct open_room){ .seen = false };
    room_line_begin(&room->line, driver->config.keys, sale);
    room->line.drawn = rooms_draw(driver->config.shown, sale, &draw, &chain);
    return room;
}

static void answers_take(struct room_driver *driver)
{
    struct inventory_port *port = driver->config.port;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        struct open_room *room = room_find(driver, (sale_id)answer->tag);
        if (room != NULL)
            room->line.asking = false;
    }
}

/* Until when is written before anybody hears of it, so that a restart does not make the wait
 * longer. */
static bool beacon_wait_begin(struct room_driver *driver, struct sale *row)
{
    struct order_store *store = driver->config.store;
    row->beacon_until_ms = driver->now_ms + driver->config.config->room_beacon_wait_ms;
    if (store->ops->sale_beacon(store, row) != STATUS_OK)
        return false;
    log_info("worker", "sale %u: the draw waits up to %llu ms for its beacon", row->id,
        (unsigned long long)driver->config.config->room_beacon_wait_ms);
    return true;
}

static bool beacon_miss(struct room_driver *driver, struct sale *row)
{
    struct order_store *store = driver->config.store;
    row->beacon_state = BEACON_MISSED;
    if (store->ops->sale_beacon(store, row) != STATUS_OK)
        return false;
    log_warn("worker", "sale %u: the value of the beacon did not come in time", row->id);
    return true;
}

/* The list is closed. True: it is decided, and stored, whether a beacon goes into the draw and with
 * what value; `row` has it. A database that is away delays the draw: nobody hears a place that
 * could turn out to be another one. */
static bool beacon_decided(struct room_driver *driver, struct open_room *room,
    const struct catalog_sale *sale, bool gone_in, struct sale *row)
{
    struct order_store *store = driver->config.store;
    if (catalog_updates_are_due(driver->config.updates)) /* it may have a name by now */
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
        rooms_show_halt(driver->config.shown, sale->id);
        return false;
    }
    if (row->beacon_state == BEACON_OPEN && row->beacon_until_ms == 0 && !beacon_wait_begin(driver, row))
        return false;
    rooms_show_beacon_wait(driver->config.shown, sale->id, row->beacon_until_ms);
    if (row->beacon_state != BEACON_OPEN)
        return true;
    return driver->now_ms >= row->beacon_until_ms && beacon_miss(driver, row);
}

static void draw_show(struct room_driver *driver, struct open_room *room, const struct sale *row)
{
    struct room_draw draw;
    char beacon[ROOM_BEACON_MAX + 1] = "";
    const bool used = row->beacon_state == BEACON_GIVEN;
    const struct span value = used ? span_from_string(row->beacon_value) : SPAN_NONE;
    if (used)
        room_beacon(span_from_string(row->beacon_name), value, beacon);
    room_draw_make(
        &draw, room->line.secret, room->line.sale, &room->line.chain, span_from_string(beacon));
    rooms_show_draw(driver->config.shown, room->line.sale, &draw, &room->line.chain, value);
    room->line.drawn = true;
    log_info("worker", "sale %u: the places of %u people are drawn%s", room->line.sale, draw.count,
        used ? ", with the beacon" : "");
}

static void head_move(struct room_driver *driver, struct open_room *room,
    const struct room_look *look, const struct board_room_update *shown)
{
    const struct config *config = driver->config.config;
    const uint32_t most = switch_value(driver->config.switches, SWITCH_ROOM_RATE);
    const struct room_rules rules = { .turn_ms = (uint32_t)config->room_turn_ms,
        .rate_min = config->room_rate_min < most ? (uint32_t)config->room_rate_min : most,
        .rate_max = most };
    struct room_view view;
    const uint32_t head = room_line_head(&room->line, &rules, driver->now_ms, look, shown, &view);
    rooms_show_view(driver->config.shown, room->line.sale, &view);
    if (head > shown->head)
        room_line_ask(&room->line, driver->config.port, room->line.sale, head);
}

static void room_turn(struct room_driver *driver, const struct catalog_sale *sale,
    struct open_room *room, uint32_t *budget)
{
    struct board_room_update shown;
    struct sale row;
    const struct room_look look = sale_look(driver, sale);
    room->seen = true;
    room_line_catch_up(&room->line, driver->config.inventory, budget);
    if (!board_read_room(board_of(driver), room->line.sale, &shown))
        return;
    const bool decided = shown.draw_done && !room->line.drawn && !room->line.asking
        && beacon_decided(driver, room, sale, shown.head > 0, &row);
    switch (room_line_step(&room->line, &look, &shown)) {
    case ROOM_STAYS:
        return;
    case ROOM_CLOSES_LIST:
        room_line_ask(&room->line, driver->config.port, room->line.sale, 0);
        return;
    case ROOM_DRAWS:
        if (!decided)
            return;
        draw_show(driver, room, &row);
        break;
    case ROOM_MOVES:
        break;
    }
    head_move(driver, room, &look, &shown);
}

static void rooms_drop_unseen(struct room_driver *driver)
{
    for (uint32_t i = 0; i < OPEN_ROOMS_MAX; i++) {
        struct open_room *room = &driver->rooms[i];
        if (room->line.sale != 0 && !room->seen && !room->line.asking)
            *room = (struct open_room){ .seen = false };
        room->seen = false;
    }
}

static uint64_t driver_turn(void *self, uint64_t now_ms)
{
    struct room_driver *driver = self;
    const struct catalog *catalog = handover_get(driver->config.catalog);
    uint32_t budget = ROOM_ROWS_PER_TURN;
    driver->now_ms = now_ms;
    answers_take(driver);
    if (catalog == NULL)
        return now_ms + ROOM_TICK_MS;
    if (now_ms < driver->tick_ms)
        return driver->tick_ms;
    for (const struct catalog_sale *sale = catalog_sale_next(catalog, 0); sale != NULL;
         sale = catalog_sale_next(catalog, sale->id)) {
        struct open_room *room = room_is_due(driver, sale) ? room_take(driver, sale->id) : NULL;
        if (room != NULL)
            room_turn(driver, sale, room, &budget);
    }
    rooms_drop_unseen(driver);
    if (budget == 0)
        return now_ms; /* there are more arrivals */
    driver->tick_ms = now_ms + ROOM_TICK_MS;
    return driver->tick_ms;
}

/* Nobody can enter a sale that the inventory has not heard of. */
void room_driver_define(struct room_driver *driver, const struct sale *sale, uint64_t now_ms)
{
    struct outcome outcome;
    struct open_room *room = room_find(driver, sale->id);
    if (room == NULL || room->defined || !sale->waiting_room || !sale->published
        || sale->gate == GATE_ENDED || now_ms >= sale->start_ms)
        return;
    const bool defined = sale_ensure(driver->config.errands, sale, &outcome) == STATUS_OK
        && (outcome.answer == ANSWER_DONE || outcome.answer == ANSWER_UNCHANGED);
    room = room_find(driver, sale->id); /* it may be gone by now */
    if (room != NULL)
        room->defined = defined;
    if (!defined)
        log_warn("worker", "the waiting room of sale %u can't be opened now", sale->id);
}

struct room_driver *room_driver_open(
    struct arena *arena, const struct room_driver_config *config, struct task *task)
{
    struct room_driver *driver = arena_take(arena, 1, sizeof *driver);
    driver->config = *config;
    *task = (struct task){ .name = "rooms", .self = driver, .turn = driver_turn, .listens = true };
    return driver;
}
