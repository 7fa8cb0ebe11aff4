/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/late_money.h"

#include "contract/waitlist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ITEM = 3, KEY_BASE = 1000, NOW_MS = 77 };

/* An inventory that answers when the test says so, and a line whose first place wants `wants` units. */
static struct {
    struct inventory_port port;
    struct inventory_request slot, asked[LATE_ASKS_MAX * 2];
    uint32_t count, flushed;
    bool full;
} inventory;
static struct {
    struct order_store store;
    uint32_t wants; /* 0: nobody waits */
    enum status status;
} line;
static struct board board;
static struct arena arena;
static struct late_money late;
static const struct order order = { .ticket = 5, .user = 42, .item = ITEM, .quantity = 2 };

static struct inventory_request *slot_reserve(struct inventory_port *port)
{
    (void)port;
    return inventory.full ? NULL : &inventory.slot;
}

static void slot_commit(struct inventory_port *port)
{
    (void)port;
    inventory.asked[inventory.count++] = inventory.slot;
}

static void slots_flush(struct inventory_port *port)
{
    (void)port;
    inventory.flushed = inventory.count;
}

static enum status line_next(struct order_store *store, item_id item, uint32_t units,
    struct waitlist_place *places, uint32_t max, uint32_t *count)
{
    (void)store;
    assert_int_equal(item, ITEM);
    assert_true(max > 0);
    *count = line.wants != 0 && line.wants <= units;
    if (*count > 0)
        places[0] = (struct waitlist_place){ .id = 1, .item = item, .quantity = line.wants };
    return line.status;
}

static uint64_t key_of(void *context, const struct payment *payment, user_id user)
{
    assert_ptr_equal(context, &line);
    assert_int_equal(user, order.user);
    return KEY_BASE + payment->id;
}

static const struct inventory_port_ops port_ops = {
    .reserve = slot_reserve, .commit = slot_commit, .flush = slots_flush
};
static const struct waitlist_store_ops line_ops = { .next = line_next };
static const struct order_store_ops store_ops = { .waitlist = &line_ops };

static int setup(void **state)
{
    (void)state;
    inventory.port.ops = &port_ops;
    inventory.count = inventory.flushed = 0;
    inventory.full = false;
    line.store.ops = &store_ops;
    line.wants = 0;
    line.status = STATUS_OK;
    assert_int_equal(arena_open(&arena, board_bytes(8, 64) + 4096), STATUS_OK);
    board_create(&board, &arena, 8, 64);
    const struct late_money_config config = {
        .store = &line.store, .port = &inventory.port, .board = &board, .key = key_of, .context = &line
    };
    late_money_start(&late, &config);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void show_free(uint32_t web, uint32_t other)
{
    struct board_update update = { .item = ITEM, .sale = 1, .end_ms = 1000 };
    update.counts.channel_free[WAITLIST_CHANNEL] = web;
    update.counts.channel_free[WAITLIST_CHANNEL + 1] = other;
    board_publish(&board, &update);
}

static enum status unit_of(uint64_t payment, struct outcome *outcome)
{
    const struct payment row = { .id = payment, .ticket = order.ticket };
    return late_money_unit(&late, &row, &order, NOW_MS, outcome);
}

static void answer(uint32_t at, enum answer what, ticket_number ticket)
{
    const struct inventory_answer told = { .tag = inventory.asked[at].tag,
        .outcome = { .answer = (uint8_t)what, .ticket = ticket } };
    assert_true(late_money_answer(&late, &told));
}

static void a_unit_is_asked_for_once_and_its_answer_is_given_once(void **state)
{
    struct outcome outcome;
    (void)state;
    show_free(2, 0);
    assert_int_equal(unit_of(9, &outcome), STATUS_BUSY);
    assert_int_equal(unit_of(9, &outcome), STATUS_BUSY);
    assert_int_equal(inventory.count, 1);
    assert_int_equal(inventory.flushed, 1);
    const struct command *command = &inventory.asked[0].command;
    assert_int_equal(command->type, COMMAND_RESERVE);
    assert_int_equal(command->time_ms, NOW_MS);
    assert_int_equal(command->reserve.user, order.user);
    assert_int_equal(command->reserve.key, KEY_BASE + 9);
    assert_int_equal(command->reserve.item, ITEM);
    assert_int_equal(command->reserve.quantity, order.quantity);
    assert_int_equal(command->reserve.channel, order.channel);
    assert_int_equal(command->reserve.flags, RESERVE_AFTER_END);
    answer(0, ANSWER_WON, 31);
    assert_int_equal(unit_of(9, &outcome), STATUS_OK);
    assert_int_equal(outcome.answer, ANSWER_WON);
    assert_int_equal(outcome.ticket, 31);
    /* Not kept: under its key it is the same ticket. */
    assert_int_equal(unit_of(9, &outcome), STATUS_BUSY);
    assert_int_equal(inventory.asked[1].command.reserve.key, KEY_BASE + 9);
}

static void free_units_belong_to_those_who_wait_first(void **state)
{
    struct outcome outcome;
    (void)state;
    line.wants = 2;
    show_free(2, 0);
    assert_int_equal(unit_of(9, &outcome), STATUS_AWAY);
    assert_int_equal(inventory.count, 0);
    line.status = STATUS_AWAY; /* nobody knows who waits: nobody is overtaken */
    line.wants = 0;
    assert_int_equal(unit_of(9, &outcome), STATUS_AWAY);
    assert_int_equal(inventory.count, 0);
    line.status = STATUS_OK;
    assert_int_equal(unit_of(9, &outcome), STATUS_BUSY); /* they are served */
}

static void who_waits_for_more_than_is_free_holds_up_nobody(void **state)
{
    struct outcome outcome;
    (void)state;
    line.wants = 3;
    show_free(2, 9);
    assert_int_equal(unit_of(9, &outcome), STATUS_BUSY);
    show_free(0, 9); /* nothing to be offered: the inventory says so itself */
    assert_int_equal(unit_of(10, &outcome), STATUS_BUSY);
}

static void the_line_waits_for_units_of_the_web_only(void **state)
{
    struct outcome outcome;
    const struct payment payment = { .id = 9 };
    struct order partner = order;
    (void)state;
    line.wants = 1;
    show_free(2, 2);
    partner.channel = WAITLIST_CHANNEL + 1;
    assert_int_equal(late_money_unit(&late, &payment, &partner, NOW_MS, &outcome), STATUS_BUSY);
    assert_int_equal(inventory.asked[0].command.reserve.channel, WAITLIST_CHANNEL + 1);
}

static void an_inventory_without_room_is_asked_later(void **state)
{
    struct outcome outcome;
    (void)state;
    show_free(2, 0);
    inventory.full = true;
    assert_int_equal(unit_of(9, &outcome), STATUS_AWAY);
    inventory.full = false;
    assert_int_equal(unit_of(9, &outcome), STATUS_BUSY);
}

static void questions_are_bounded_and_an_answer_nobody_fetches_makes_room(void **state)
{
    struct outcome outcome;
    (void)state;
    show_free(2, 0);
    for (uint64_t payment = 1; payment <= LATE_ASKS_MAX; payment++)
        assert_int_equal(unit_of(payment, &outcome), STATUS_BUSY);
    assert_int_equal(unit_of(500, &outcome), STATUS_AWAY);
    assert_int_equal(inventory.count, LATE_ASKS_MAX);
    answer(7, ANSWER_SOLD_OUT, 0);
    assert_int_equal(unit_of(500, &outcome), STATUS_BUSY);
    assert_int_equal(unit_of(1, &outcome), STATUS_BUSY); /* what is on its way is not forgotten */
    assert_int_equal(inventory.count, LATE_ASKS_MAX + 1);
}

static void answers_for_others_are_not_taken(void **state)
{
    const struct inventory_answer other = { .tag = (uint64_t)1 << 61 | 9 };
    (void)state;
    assert_false(late_money_answer(&late, &other));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_unit_is_asked_for_once_and_its_answer_is_given_once),
        RULE(free_units_belong_to_those_who_wait_first),
        RULE(who_waits_for_more_than_is_free_holds_up_nobody),
        RULE(the_line_waits_for_units_of_the_web_only),
        RULE(an_inventory_without_room_is_asked_later),
        RULE(questions_are_bounded_and_an_answer_nobody_fetches_makes_room),
        RULE(answers_for_others_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
