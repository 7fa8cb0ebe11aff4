/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/room/room_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SALE = 3, ARRIVED = 300 };

/* ARRIVED people of SALE, of whom each call reads a few. */
static uint32_t arrivals_read(const struct inventory *inventory, sale_id sale, uint64_t *cursor,
    uint32_t *budget, struct arrival *arrivals, uint32_t max)
{
    uint32_t count = 0;
    (void)inventory;
    assert_int_equal(sale, SALE);
    for (; count<max && * budget> 0 && *cursor < ARRIVED; --*budget, ++*cursor)
        arrivals[count++] = (struct arrival){ .user = 1000 + *cursor, .number = (uint32_t)*cursor };
    return count;
}

static struct inventory_request slot;
static uint32_t committed, flushed;
static bool full;
static struct inventory_request *slot_reserve(struct inventory_port *port)
{
    (void)port;
    return full ? NULL : &slot;
}
static void slot_commit(struct inventory_port *port)
{
    (void)port;
    committed++;
}
static void slot_flush(struct inventory_port *port)
{
    (void)port;
    flushed = committed;
}

static const struct inventory_ops ops = { .arrivals = arrivals_read };
static const struct inventory_port_ops port_ops = {
    .reserve = slot_reserve, .commit = slot_commit, .flush = slot_flush
};
static struct board board;
static struct arena arena;
static struct funnel_keys keys;
static struct room_line line;

static int setup(void **state)
{
    static const char master[FUNNEL_MASTER_BYTES] = "a room has no other secret here";
    (void)state;
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    const size_t bytes = board_bytes(8, 64) + board_rooms_bytes(SALE + 1) + 4096;
    assert_int_equal(arena_open(&arena, bytes), STATUS_OK);
    board_create(&board, &arena, 8, 64);
    board_create_rooms(&board, &arena, SALE + 1);
    room_line_begin(&line, &keys, SALE);
    full = false;
    committed = flushed = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void show(uint32_t arrived, bool draw_done, uint32_t drawn)
{
    board_publish_room(&board,
        &(struct board_room_update){
            .sale = SALE, .arrived = arrived, .draw_done = draw_done, .drawn = drawn });
}

static void the_chain_has_all_who_take_part_and_nobody_else(void **state)
{
    const struct inventory inventory = { .ops = &ops, .board = &board };
    uint32_t budget = 1000;
    struct room_line again;
    (void)state;
    room_line_catch_up(&line, &inventory, &budget);
    assert_int_equal(line.chain.count, 0); /* the board does not know the sale yet */
    show(200, false, 0);
    room_line_catch_up(&line, &inventory, &budget);
    assert_int_equal(line.chain.count, 200);
    show(ARRIVED, true, 250); /* the others came after the start */
    room_line_catch_up(&line, &inventory, &budget);
    assert_int_equal(line.chain.count, 250);
    assert_int_equal(budget, 1000 - 250);
    room_line_begin(&again, &keys, SALE); /* after a restart, in small steps */
    for (uint32_t turn = 0; turn < 5; turn++) {
        budget = 50;
        assert_true(again.chain.count < 250);
        room_line_catch_up(&again, &inventory, &budget);
    }
    assert_int_equal(again.chain.count, 250);
    assert_memory_equal(again.chain.hash, line.chain.hash, sizeof line.chain.hash);
}

static void a_sale_is_open_if_no_item_of_it_is_paused_or_ended(void **state)
{
    static const struct {
        uint64_t now_ms;
        enum gate gates[2];
        bool started, open;
    } rows[] = {
        { 99, { GATE_SCHEDULED, GATE_SCHEDULED }, false, true },
        { 100, { GATE_SCHEDULED, GATE_SCHEDULED }, true, true },
        { 50, { GATE_SCHEDULED, GATE_OPENED }, true, true }, /* by hand */
        { 150, { GATE_SCHEDULED, GATE_PAUSED }, true, false },
        { 150, { GATE_PAUSED, GATE_SCHEDULED }, true, false },
        { 150, { GATE_OPENED, GATE_ENDED }, true, false },
        { 199, { GATE_OPENED, GATE_OPENED }, true, true },
        { 200, { GATE_OPENED, GATE_OPENED }, true, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct room_look look = room_look_begin(rows[i].now_ms, 100, 200);
        for (uint32_t item = 0; item < 2; item++) {
            const struct board_update shown = { .gate = (uint8_t)rows[i].gates[item],
                .counts = { .free = 1 + item, .held = 10 + item, .sold = 100 + item } };
            room_look_item(&look, &shown);
        }
        assert_int_equal(look.started, rows[i].started);
        assert_int_equal(look.open, rows[i].open);
        assert_int_equal(look.stock.free, 3);
        assert_int_equal(look.stock.held, 21);
        assert_int_equal(look.stock.sold, 201);
    }
}

static void the_list_is_closed_then_drawn_then_people_go_in(void **state)
{
    static const struct {
        bool started, open, draw_done, drawn, asking;
        uint32_t chained;
        enum room_step step;
    } rows[] = {
        { false, true, false, false, false, 5, ROOM_STAYS },
        { true, true, false, false, false, 5, ROOM_CLOSES_LIST },
        { true, false, false, false, false, 5, ROOM_STAYS }, /* paused */
        { true, true, false, false, true, 5, ROOM_STAYS },
        { true, true, true, false, false, 4, ROOM_STAYS },
        { true, true, true, false, false, 5, ROOM_DRAWS },
        { true, false, true, false, false, 5, ROOM_DRAWS }, /* what is decided is shown */
        { true, true, true, false, true, 5, ROOM_STAYS },
        { true, true, true, true, false, 5, ROOM_MOVES },
        { true, true, true, true, true, 5, ROOM_STAYS },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct room_look look = { .started = rows[i].started, .open = rows[i].open };
        const struct board_room_update shown = {
            .sale = SALE, .arrived = 9, .drawn = 5, .draw_done = rows[i].draw_done
        };
        line.chain.count = rows[i].chained;
        line.drawn = rows[i].drawn;
        line.asking = rows[i].asking;
        assert_int_equal(room_line_step(&line, &look, &shown), rows[i].step);
    }
}

static void nobody_goes_in_while_the_sale_is_not_open(void **state)
{
    const struct room_rules rules = { .turn_ms = 1000, .rate_min = 10, .rate_max = 1000 };
    const struct board_room_update shown = { .sale = SALE, .arrived = 500, .drawn = 500, .head = 7 };
    struct room_look look = { .started = true, .open = false, .stock = { .free = 400 } };
    struct room_view view;
    (void)state;
    for (uint64_t now_ms = 100; now_ms < 2000; now_ms += 100)
        assert_int_equal(room_line_head(&line, &rules, now_ms, &look, &shown, &view), 7);
    look.open = true;
    uint32_t head = 7;
    for (uint64_t now_ms = 2000; now_ms < 3000; now_ms += 100)
        head = room_line_head(&line, &rules, now_ms, &look, &shown, &view);
    assert_true(head > 7 && head <= 500);
}

static void one_admission_is_under_way_at_a_time(void **state)
{
    struct inventory_port port = { .ops = &port_ops };
    (void)state;
    full = true;
    room_line_ask(&line, &port, 77, 12);
    assert_false(line.asking);
    full = false;
    room_line_ask(&line, &port, 77, 12);
    assert_true(line.asking);
    assert_int_equal(flushed, 1);
    assert_int_equal(slot.tag, 77);
    assert_int_equal(slot.command.type, COMMAND_ADMIT);
    assert_int_equal(slot.command.admit.sale, SALE);
    assert_int_equal(slot.command.admit.head, 12);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(the_chain_has_all_who_take_part_and_nobody_else),
        RULE(a_sale_is_open_if_no_item_of_it_is_paused_or_ended),
        RULE(the_list_is_closed_then_drawn_then_people_go_in),
        RULE(nobody_goes_in_while_the_sale_is_not_open),
        RULE(one_admission_is_under_way_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
