/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/room/rooms.h"

#include <string.h>

static_assert(BEACON_VALUE_BYTES_MAX <= UINT8_MAX, "its size is a byte");
enum { MARK_ROWS_MAX = 16384, SOLD_OUT_POLL_MS = 120000, START_POLL_MS = 16000 };

struct room_shown {
    _Atomic bool drawn; /* draw and chain are there for good */
    struct room_draw draw;
    struct room_chain chain;
    char beacon_value[BEACON_VALUE_BYTES_MAX]; /* of drawn, too */
    uint8_t beacon_value_size;
    _Atomic uint64_t beacon_until_ms;
    _Atomic bool halted;
    _Atomic bool viewed; /* there was a look at the line */
    _Atomic uint32_t free, held, deciding, conversion_milli, ready;
    _Atomic uint64_t rate_milli;
};

struct rooms {
    struct arena arena;
    const struct inventory *inventory;
    uint32_t sales_max;
    struct room_shown *sales;
};

enum status rooms_open(struct rooms **out, const struct inventory *inventory, uint32_t sales_max)
{
    struct rooms *rooms = *out = arena_object(sizeof *rooms, sales_max * sizeof *rooms->sales);
    if (rooms == NULL)
        return STATUS_FULL;
    rooms->sales = arena_take(&rooms->arena, sales_max, sizeof *rooms->sales);
    rooms->sales_max = sales_max;
    rooms->inventory = inventory;
    return STATUS_OK;
}

void rooms_close(struct rooms *rooms)
{
    arena_object_free(rooms);
}

void rooms_show_draw(struct rooms *rooms, sale_id sale, const struct room_draw *draw,
    const struct room_chain *chain, struct span value)
{
    invariant(sale < rooms->sales_max && value.size <= BEACON_VALUE_BYTES_MAX);
    struct room_shown *shown = &rooms->sales[sale];
    invariant(!atomic_load_explicit(&shown->drawn, memory_order_relaxed));
    shown->draw = *draw;
    shown->chain = *chain;
    shown->beacon_value_size = (uint8_t)value.size;
    if (value.size > 0)
        memcpy(shown->beacon_value, value.data, value.size);
    atomic_store_explicit(&shown->drawn, true, memory_order_release);
}

void rooms_show_halt(struct rooms *rooms, sale_id sale)
{
    atomic_store_explicit(&rooms->sales[sale].halted, true, memory_order_relaxed);
}

void rooms_show_beacon_wait(struct rooms *rooms, sale_id sale, uint64_t until_ms)
{
    invariant(sale < rooms->sales_max);
    atomic_store_explicit(&rooms->sales[sale].beacon_until_ms, until_ms, memory_order_relaxed);
}

/* The numbers may be of two looks: they are estimates. */
void rooms_show_view(struct rooms *rooms, sale_id sale, const struct room_view *view)
{
    invariant(sale < rooms->sales_max);
    struct room_shown *shown = &rooms->sales[sale];
    atomic_store_explicit(&shown->free, view->free, memory_order_relaxed);
    atomic_store_explicit(&shown->held, view->held, memory_order_relaxed);
    atomic_store_explicit(&shown->deciding, view->deciding, memory_order_relaxed);
    atomic_store_explicit(&shown->conversion_milli, view->conversion_milli, memory_order_relaxed);
    atomic_store_explicit(&shown->rate_milli, view->rate_milli, memory_order_relaxed);
    atomic_store_explicit(&shown->ready, view->ready, memory_order_relaxed);
    atomic_store_explicit(&shown->viewed, true, memory_order_release);
}

static bool view_read(const struct room_shown *shown, struct room_view *view)
{
    if (!atomic_load_explicit(&shown->viewed, memory_order_acquire))
        return false;
    *view = (struct room_view){
        .free = atomic_load_explicit(&shown->free, memory_order_relaxed),
        .held = atomic_load_explicit(&shown->held, memory_order_relaxed),
        .deciding = atomic_load_explicit(&shown->deciding, memory_order_relaxed),
        .conversion_milli = atomic_load_explicit(&shown->conversion_milli, memory_order_relaxed),
        .rate_milli = atomic_load_explicit(&shown->rate_milli, memory_order_relaxed),
        .ready = atomic_load_explicit(&shown->ready, memory_order_relaxed),
    };
    return true;
}

bool rooms_take_in(const struct rooms *rooms, sale_id sale, bool opened, uint64_t now_ms, uint64_t opens_ms)
{
    struct board_room_update room;
    return opened || now_ms >= opens_ms
        || (board_read_room(rooms->inventory->board, sale, &room) && room.draw_done);
}

/* Nobody goes in before the draw is shown: a head without a draw is that of an earlier process. */
static bool is_again(const struct room_shown *shown, const struct board_room_update *room)
{
    return room->head > 0
        && (!atomic_load_explicit(&shown->drawn, memory_order_acquire)
            || !atomic_load_explicit(&shown->viewed, memory_order_acquire));
}

bool rooms_is_ready(const struct rooms *rooms, sale_id sale)
{
    struct board_room_update room;
    if (sale >= rooms->sales_max || !board_read_room(rooms->inventory->board, sale, &room))
        return true;
    const struct room_shown *shown = &rooms->sales[sale];
    return !is_again(shown, &room) || atomic_load_explicit(&shown->halted, memory_order_relaxed);
}

void rooms_look(const struct rooms *rooms, sale_id sale, user_id user, struct room_standing *standing)
{
    const struct inventory *inventory = rooms->inventory;
    struct board_room_update room;
    *standing = (struct room_standing){ .state = ROOM_ABSENT };
    if (sale >= rooms->sales_max || !board_read_room(inventory->board, sale, &room))
        return;
    const bool entered = inventory->ops->arrival_find(inventory, sale, user, &standing->number);
    standing->arrived = room.arrived;
    if (!entered)
        return;
    const struct room_shown *shown = &rooms->sales[sale];
    standing->state = ROOM_EARLY;
    if (is_again(shown, &room)) {
        standing->state = ROOM_AGAIN;
        return;
    }
    if (!atomic_load_explicit(&shown->drawn, memory_order_acquire)) {
        standing->beacon_until_ms = rooms_beacon_until_ms(rooms, sale);
        standing->list_closed = room.draw_done;
        return;
    }
    if (!view_read(shown, &standing->view))
        return;
    const uint32_t place = room_place(&shown->draw, standing->number);
    if (place < room.head) {
        standing->state = ROOM_ADMITTED;
        return;
    }
    standing->ahead = place - room.head;
    standing->state =
        room_odds(&standing->view, standing->ahead) == ROOM_NONE ? ROOM_SOLD_OUT : ROOM_WAITING;
}

bool rooms_is_drawn(const struct rooms *rooms, sale_id sale)
{
    return sale < rooms->sales_max
        && atomic_load_explicit(&rooms->sales[sale].drawn, memory_order_acquire);
}

bool rooms_draw(const struct rooms *rooms, sale_id sale, struct room_draw *draw, struct room_chain *chain)
{
    if (!rooms_is_drawn(rooms, sale))
        return false;
    const struct room_shown *shown = &rooms->sales[sale];
    *draw = shown->draw;
    *chain = shown->chain;
    return true;
}

struct span rooms_beacon_value(const struct rooms *rooms, sale_id sale)
{
    if (!rooms_is_drawn(rooms, sale))
        return SPAN_NONE;
    const struct room_shown *shown = &rooms->sales[sale];
    return span_of(shown->beacon_value, shown->beacon_value_size);
}

uint64_t rooms_beacon_until_ms(const struct rooms *rooms, sale_id sale)
{
    if (sale >= rooms->sales_max)
        return 0;
    return atomic_load_explicit(&rooms->sales[sale].beacon_until_ms, memory_order_relaxed);
}

uint32_t rooms_marks(const struct rooms *rooms, sale_id sale, const uint8_t secret[ROOM_SECRET_BYTES],
    uint32_t count, uint64_t *cursor, uint32_t max, uint32_t *first, struct text *out)
{
    const struct inventory *inventory = rooms->inventory;
    struct arrival arrivals[ROOM_MARKS_MAX];
    uint32_t budget = MARK_ROWS_MAX, marks = 0;
    invariant(max <= ROOM_MARKS_MAX);
    const uint32_t found = inventory->ops->arrivals(inventory, sale, cursor, &budget, arrivals, max);
    for (; marks < found && arrivals[marks].number < count; marks++)
        text_hex64(out, room_mark(secret, sale, arrivals[marks].user));
    if (marks > 0)
        *first = arrivals[0].number;
    /* Whoever has a higher number came after the draw, and so did the rest. */
    if (marks < found || (found < max && budget > 0))
        *cursor = UINT64_MAX;
    return marks;
}

uint64_t room_wait_ms(const struct room_standing *standing, uint64_t start_ms, uint64_t now_ms)
{
    const uint64_t draw_ms = standing->list_closed ? now_ms : start_ms;
    const uint64_t then_ms = standing->beacon_until_ms > draw_ms ? standing->beacon_until_ms : draw_ms;
    return then_ms > now_ms ? then_ms - now_ms : 0;
}

/* For the pause between two looks. A line that has not moved yet, though there is stock, will soon. */
static uint64_t line_eta_ms(const struct room_standing *standing)
{
    const uint64_t eta_ms = room_eta_ms(&standing->view, standing->ahead);
    return eta_ms == UINT64_MAX && standing->view.free > 0 ? START_POLL_MS : eta_ms;
}

uint32_t room_poll_after_ms(const struct room_standing *standing, uint64_t wait_ms, uint64_t random)
{
    switch (standing->state) {
    case ROOM_EARLY:
        return room_poll_ms(wait_ms, random);
    case ROOM_WAITING:
        return room_poll_ms(line_eta_ms(standing), random);
    case ROOM_SOLD_OUT:
        return room_poll_ms(SOLD_OUT_POLL_MS, random);
    case ROOM_ABSENT:
    case ROOM_AGAIN:
    case ROOM_ADMITTED:
    case ROOM_STATES:
        break;
    }
    return room_poll_ms(0, random);
}

void room_members(
    const struct room_standing *standing, uint64_t wait_ms, uint64_t random, struct text *out)
{
    static const char *const names[] = { "absent", "again", "waiting", "waiting", "admitted", "sold-out" };
    static_assert(sizeof names / sizeof *names == ROOM_STATES, "a name for each");
    text_format(out, "\"state\":\"%s\",\"drawn\":%s,\"number\":%u,\"arrived\":%u",
        names[standing->state], standing->state > ROOM_EARLY ? "true" : "false", standing->number,
        standing->arrived);
    if (standing->state == ROOM_EARLY && standing->beacon_until_ms != 0)
        text_literal(out, ",\"waits_for_beacon\":true");
    if (standing->state == ROOM_WAITING) {
        const uint64_t eta_ms = room_eta_ms(&standing->view, standing->ahead);
        text_format(
            out, ",\"position\":%u,\"ahead\":%u,\"eta_ms\":", standing->ahead + 1, standing->ahead);
        if (eta_ms == UINT64_MAX)
            text_literal(out, "null");
        else
            text_u64(out, eta_ms);
        text_format(
            out, ",\"odds\":\"%s\"", room_odds_names[room_odds(&standing->view, standing->ahead)]);
    }
    text_format(out, ",\"poll_after_ms\":%u", room_poll_after_ms(standing, wait_ms, random));
}
