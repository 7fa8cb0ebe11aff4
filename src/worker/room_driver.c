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
#include "worker/leadership.h"
#include "worker/sale_commands.h"
#include "worker/task.h"

enum {
    ROOM_TICK_MS = 100,
    ROOM_ROWS_PER_TURN = 8192, /* arrivals that one turn adds to chains: a few milliseconds */
    PAST_LOOK_MS = 1000,       /* between two looks for rooms of sales that are over */
};

/* A waiting room that is open, or was and has a draw to be worked out again. */
struct open_room {
    struct room_line line;
    uint64_t ended_ms; /* when it was seen that its sale was ended by hand; 0: it was not */
    bool worked_on, defined, seen, told;
    bool past; /* only its draw is worked on */
};

struct room_driver {
    struct room_driver_config config;
    uint32_t sales_max;
    struct open_room *rooms; /* by sale: every one may have its room */
    sale_id *open;           /* those that are worked on */
    uint32_t open_count;
    uint64_t tick_ms, past_ms;
    uint64_t now_ms; /* of the present turn */
};

static const struct board *board_of(const struct room_driver *driver)
{
    return driver->config.inventory->board;
}

/* NULL: it is not worked on. */
static struct open_room *room_find(struct room_driver *driver, sale_id sale)
{
    struct open_room *room = sale < driver->sales_max ? &driver->rooms[sale] : NULL;
    return room != NULL && room->worked_on ? room : NULL;
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

/* A room is worked on from its opening to its end. One whose sale was ended by hand is let go when those
 * who went in have had their turn: what is shown of it no longer changes. */
static bool room_is_live(struct room_driver *driver, const struct catalog_sale *sale)
{
    struct board_room_update shown;
    struct board_update view;
    if (!sale->waiting_room || driver->now_ms >= sale->end_ms
        || !board_read_room(board_of(driver), sale->id, &shown))
        return false;
    catalog_sale_view(board_of(driver), sale, &view);
    const uint64_t opens_ms = room_opens_ms(sale->start_ms, driver->config.config->room_open_ms);
    if (!rooms_take_in(driver->config.shown, sale->id, view.gate == GATE_OPENED, driver->now_ms, opens_ms))
        return false;
    struct open_room *room = &driver->rooms[sale->id];
    if (view.gate != GATE_ENDED)
        room->ended_ms = 0;
    else if (room->ended_ms == 0)
        room->ended_ms = driver->now_ms;
    return room->ended_ms == 0 || driver->now_ms < room->ended_ms + driver->config.config->room_turn_ms;
}

/* After a restart: its sale is over, and its draw is to be shown again. */
static bool room_is_past_due(const struct room_driver *driver, const struct catalog_sale *sale)
{
    struct board_room_update shown;
    return sale->waiting_room && !rooms_is_drawn(driver->config.shown, sale->id)
        && board_read_room(board_of(driver), sale->id, &shown) && shown.draw_done;
}

static struct open_room *room_take(struct room_driver *driver, sale_id sale)
{
    struct open_room *room = &driver->rooms[sale];
    if (room->worked_on)
        return room;
    *room = (struct open_room){ .ended_ms = room->ended_ms, .worked_on = true };
    driver->open[driver->open_count++] = sale;
    room_line_begin(&room->line, driver->config.keys, sale);
    room->line.drawn = rooms_is_drawn(driver->config.shown, sale);
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

static bool leads(const struct room_driver *driver)
{
    return leadership_holds(driver->config.leadership, driver->now_ms);
}

static void head_ask(struct room_driver *driver, struct open_room *room, uint32_t head)
{
    if (leads(driver))
        room_line_ask(&room->line, driver->config.port, room->line.sale, head);
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
    if (row->beacon_state == BEACON_OPEN && row->beacon_until_ms == 0
        && (!leads(driver) || !beacon_wait_begin(driver, row)))
        return false;
    rooms_show_beacon_wait(driver->config.shown, sale->id, row->beacon_until_ms);
    if (row->beacon_state != BEACON_OPEN)
        return true;
    return driver->now_ms >= row->beacon_until_ms && leads(driver) && beacon_miss(driver, row);
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
        head_ask(driver, room, head);
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
        head_ask(driver, room, 0);
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

static void rooms_drop_unseen(struct room_driver *driver, bool past_too)
{
    for (uint32_t i = driver->open_count; i-- > 0;) {
        struct open_room *room = &driver->rooms[driver->open[i]];
        const bool keep = room->seen || room->line.asking || (room->past && !past_too);
        room->seen = false;
        if (keep)
            continue;
        room->worked_on = false;
        driver->open[i] = driver->open[--driver->open_count];
    }
}

/* The rooms of sales that are not over. */
static void live_turn(struct room_driver *driver, const struct catalog *catalog, uint32_t *budget)
{
    for (uint32_t i = 0; i < catalog->lists->coming; i++) {
        const struct catalog_sale *sale = catalog_sale_find(catalog, catalog->lists->by_start[i]);
        if (sale == NULL || !room_is_live(driver, sale))
            continue;
        struct open_room *room = room_take(driver, sale->id);
        room->past = false;
        room_turn(driver, sale, room, budget);
    }
}

/* The others: there are some after a restart, and they wait until the live ones have caught up. */
static void past_turn(struct room_driver *driver, const struct catalog *catalog, uint32_t *budget)
{
    bool some = false;
    for (const struct catalog_sale *sale = catalog_sale_next(catalog, 0); sale != NULL;
         sale = catalog_sale_next(catalog, sale->id)) {
        if (!room_is_past_due(driver, sale) || driver->rooms[sale->id].seen)
            continue;
        struct open_room *room = room_take(driver, sale->id);
        room->past = some = true;
        if (*budget > 0)
            room_turn(driver, sale, room, budget);
        room->seen = true;
    }
    driver->past_ms = some ? driver->now_ms : driver->now_ms + PAST_LOOK_MS;
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
    live_turn(driver, catalog, &budget);
    const bool past_too = now_ms >= driver->past_ms;
    if (past_too)
        past_turn(driver, catalog, &budget);
    rooms_drop_unseen(driver, past_too);
    if (budget == 0)
        return now_ms; /* there are more arrivals */
    driver->tick_ms = now_ms + ROOM_TICK_MS;
    return driver->tick_ms;
}

sale_id room_driver_undefined(const struct room_driver *driver, uint32_t *at)
{
    while (*at < driver->open_count) {
        const sale_id sale = driver->open[(*at)++];
        if (!driver->rooms[sale].defined && !driver->rooms[sale].past)
            return sale;
    }
    return 0;
}

/* Nobody can enter a sale that the inventory has not heard of. */
void room_driver_define(struct room_driver *driver, const struct sale *sale, uint64_t now_ms)
{
    struct outcome outcome;
    struct open_room *room = room_find(driver, sale->id);
    if (room == NULL || room->defined || !sale->waiting_room || !sale->published)
        return;
    bool defined = sale->gate == GATE_ENDED || now_ms >= sale->start_ms; /* or it is no longer needed */
    if (!defined) {
        defined = sale_ensure(driver->config.errands, sale, &outcome) == STATUS_OK
            && (outcome.answer == ANSWER_DONE || outcome.answer == ANSWER_UNCHANGED);
        if (!defined)
            log_warn("worker", "the waiting room of sale %u can't be opened now", sale->id);
    }
    room = room_find(driver, sale->id); /* it may be gone by now */
    if (room != NULL)
        room->defined = defined;
}

size_t room_driver_bytes(uint64_t sales_max)
{
    return sales_max * (sizeof(struct open_room) + sizeof(sale_id)) + 128;
}

struct room_driver *room_driver_open(
    struct arena *arena, const struct room_driver_config *config, struct task *task)
{
    struct room_driver *driver = arena_take(arena, 1, sizeof *driver);
    driver->config = *config;
    driver->sales_max = (uint32_t)config->config->sales_max;
    driver->rooms = arena_take(arena, driver->sales_max, sizeof *driver->rooms);
    driver->open = arena_take(arena, driver->sales_max, sizeof *driver->open);
    *task = (struct task){ .name = "rooms", .self = driver, .turn = driver_turn, .listens = true };
    return driver;
}
