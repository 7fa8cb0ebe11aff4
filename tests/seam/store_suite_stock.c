/* SPDX-License-Identifier: Apache-2.0 */
/* Stock and schedule as the log tells them. */
#include "tests/seam/store_suite_parts.h"

static void a_preheat_loads_the_stock_once(void **state)
{
    struct fixture *f = *state;
    const struct command_preheat preheat = { .item = f->one,
        .sale = f->sale,
        .unit_price = 5,
        .limit_per_user = 1,
        .pay_window_ms = 70,
        .total = 100,
        .locked = 10,
        .sold_before = 20,
        .safety = 7,
        .channel_units = { 60, 3 } };
    suite_add(f, COMMAND_PREHEAT)->command.preheat = preheat;
    suite_add_win(f, f->one, 1, 1);
    suite_must_send(f);
    struct item item = suite_item_of(f, f->one);
    assert_true(item.preheated);
    assert_int_equal(item.flash_price, 5);
    assert_int_equal(item.pay_window_ms, 70);
    assert_int_equal(item.total, 100);
    assert_int_equal(item.locked, 10);
    assert_int_equal(item.sold, 21);
    assert_int_equal(item.safety, 7);
    assert_int_equal(item.channel_units[0], 60);
    assert_int_equal(item.channel_units[1], 3);
    suite_check_accounting(f, f->one, 20);
    suite_add(f, COMMAND_PREHEAT)->command.preheat = preheat; /* again: the sold unit stays sold */
    suite_must_send(f);
    assert_int_equal(suite_item_of(f, f->one).sold, 21);
    assert_int_equal(suite_item_of(f, f->one).total, 100);
    assert_false(suite_item_of(f, f->many).preheated);
}

static void adjusting_and_moving_units_follows_what_was_really_done(void **state)
{
    struct fixture *f = *state;
    struct queue_record *record = suite_add(f, COMMAND_ADJUST);
    record->command.adjust = (struct command_adjust){ .item = f->one, .channel = 1, .delta = 50 };
    record->outcome.applied = 5;
    record = suite_add(f, COMMAND_ADJUST);
    record->command.adjust = (struct command_adjust){ .item = f->one, .delta = -50 };
    record->outcome.applied = -4;
    record = suite_add(f, COMMAND_MOVE);
    record->command.move =
        (struct command_move){ .item = f->one, .from = 0, .to = CHANNEL_SAFETY, .quantity = 50 };
    record->outcome.applied = 2;
    const uint64_t before = suite_item_of(f, f->one).version;
    suite_must_send(f);
    const struct item item = suite_item_of(f, f->one);
    assert_int_equal(item.total, UNITS + 1);
    assert_int_equal(item.channel_units[0], UNITS - 4 - 2);
    assert_int_equal(item.channel_units[1], 5);
    assert_int_equal(item.safety, 2);
    assert_int_equal(item.version, before + 1);
    record = suite_add(f, COMMAND_ADJUST);
    record->command.adjust = (struct command_adjust){ .item = f->one, .delta = -UNITS - 2 };
    record->outcome.applied = -UNITS - 2; /* more than there is */
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_STOCK);
}

static uint8_t gate_after(struct fixture *f, enum gate_move move)
{
    struct sale sale;
    suite_add(f, COMMAND_GATE)->command.gate =
        (struct command_gate){ .sale = f->sale, .move = (uint8_t)move };
    suite_must_send(f);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    return sale.gate;
}

static void gates_and_schedules_follow_the_log(void **state)
{
    struct fixture *f = *state;
    struct sale sale;
    assert_int_equal(gate_after(f, GATE_MOVE_PAUSE), GATE_PAUSED);
    assert_int_equal(gate_after(f, GATE_MOVE_RESUME), GATE_SCHEDULED);
    assert_int_equal(gate_after(f, GATE_MOVE_OPEN), GATE_OPENED);
    assert_int_equal(gate_after(f, GATE_MOVE_PAUSE), GATE_PAUSED);
    assert_int_equal(gate_after(f, GATE_MOVE_RESUME), GATE_OPENED);
    assert_int_equal(gate_after(f, GATE_MOVE_END), GATE_ENDED);
    suite_add(f, COMMAND_SALE)->command.sale = (struct command_sale){
        .sale = f->sale, .limit_per_user = 2, .start_ms = 5, .end_ms = 6, .eligible_only = true
    };
    struct queue_record *users = suite_add(f, COMMAND_USERS);
    users->command.users = (struct command_users){ .sale = f->sale, .count = 3, .users = { 1, 2, 1 } };
    suite_must_send(f);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    assert_int_equal(sale.start_ms, 5);
    assert_int_equal(sale.end_ms, 6);
    assert_int_equal(sale.limit_per_user, 2);
    assert_true(sale.eligible_only);
}

static void records_that_changed_nothing_only_move_the_position(void **state)
{
    struct fixture *f = *state;
    suite_add_win(f, f->one, 1, 1);
    f->records[0].outcome.answer = ANSWER_SOLD_OUT;
    suite_add(f, COMMAND_ADJUST)->outcome.answer = ANSWER_UNCHANGED;
    suite_must_send(f);
    assert_false(suite_has_order(f, 1));
    assert_int_equal(suite_position_of(f), 2);
    assert_int_equal(ops(f)->apply(f->store, NULL, NULL, 0, &f->refusal), STATUS_OK);
    assert_int_equal(suite_position_of(f), 2);
}

static void only_a_ticket_can_be_rejected(void **state)
{
    struct fixture *f = *state;
    suite_add(f, COMMAND_GATE)->command.gate =
        (struct command_gate){ .sale = f->sale, .move = GATE_MOVE_END };
    f->dispositions[0] = DISPOSE_REJECT;
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.index, 0);
}

static void a_full_batch_over_many_items_is_one_step(void **state)
{
    struct fixture *f = *state;
    struct product product;
    uint32_t count;
    enum { STRIDE = 37, ITEMS = ORDER_BATCH_MAX / (UNITS / 2) }; /* half of each is sold */
    static_assert(ITEMS % STRIDE != 0, "the stride reaches every item");
    item_id items[ITEMS];
    assert_int_equal(ops(f)->products(f->store, 0, &product, 1, &count), STATUS_OK);
    for (int i = 0; i < ITEMS; i++)
        items[i] = suite_add_item(f, 0, product.id);
    for (uint32_t i = 0; i < ORDER_BATCH_MAX; i++)
        suite_add_win(f, items[(i * STRIDE) % ITEMS], 1 + i, 1);
    suite_must_send(f);
    assert_int_equal(suite_position_of(f), ORDER_BATCH_MAX);
    for (int i = 0; i < ITEMS; i++)
        suite_check_accounting(f, items[i], 0);
    for (uint32_t i = 0; i < ORDER_BATCH_MAX; i++)
        suite_add_win(f, items[0], 1 + i, 1); /* more than it has */
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(f->refusal.kind, REFUSAL_STOCK);
    assert_true(f->refusal.index == UNITS - suite_item_of(f, items[0]).sold
        || f->refusal.index == UINT32_MAX);
    assert_int_equal(suite_position_of(f), ORDER_BATCH_MAX);
}

int suite_run_stock(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_preheat_loads_the_stock_once),
        SUITE_RULE(adjusting_and_moving_units_follows_what_was_really_done),
        SUITE_RULE(gates_and_schedules_follow_the_log),
        SUITE_RULE(records_that_changed_nothing_only_move_the_position),
        SUITE_RULE(only_a_ticket_can_be_rejected),
        SUITE_RULE(a_full_batch_over_many_items_is_one_step),
    };
    return cmocka_run_group_tests_name("order store: stock", rules, NULL, NULL);
}
