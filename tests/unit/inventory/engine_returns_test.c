/* SPDX-License-Identifier: Apache-2.0 */
/* What a return leaves behind: a cool-down for who let go, a draw for the others. */
#include "inventory/engine_apply.h"

#include "base/random.h"
#include "tests/unit/inventory/engine_kit.h"

enum { COOLDOWN_S = 3, DRAW_MS = 1000, NOW = 10000, END = 100 * 1000 * 1000 };

static struct kit kit;

static void terms(uint16_t cooldown_s, uint16_t draw_ms)
{
    const struct command command = { .type = COMMAND_SALE,
        .sale = { .sale = 1,
            .start_ms = SALE_START,
            .end_ms = END,
            .cooldown_s = cooldown_s,
            .return_draw_ms = draw_ms } };
    assert_int_equal(kit_do(&kit, command, 0), ANSWER_DONE);
}

/* Item 1 has 10 units in channel 0 and a limit of one. */
static void ready(uint16_t cooldown_s, uint16_t draw_ms)
{
    kit_start(&kit, 4096);
    terms(cooldown_s, draw_ms);
    assert_int_equal(kit_preheat(&kit, 1, 1), ANSWER_DONE);
}

static enum answer buy(user_id user, uint8_t flags, uint64_t now_ms)
{
    const struct command command = { .type = COMMAND_RESERVE,
        .reserve = { .user = user, .item = 1, .quantity = 1, .flags = flags, .window_ms = 60 } };
    return kit_do(&kit, command, now_ms);
}

static struct command back(ticket_number ticket, bool let_go)
{
    return (struct command){ .type = COMMAND_SETTLE,
        .settle = { .ticket = ticket, .step = SETTLE_RETURN, .let_go = let_go } };
}

static ticket_number won(user_id user, uint64_t now_ms)
{
    assert_int_equal(buy(user, 0, now_ms), ANSWER_WON);
    return kit.out.ticket;
}

static void who_lets_go_waits_twice_as_long_each_time_up_to_a_bound(void **state)
{
    (void)state;
    uint64_t now_ms = NOW + 1; /* a part of a second counts as a whole one */
    ready(COOLDOWN_S, 0);
    for (uint32_t times = 0; times < BUYER_RETURNS_MAX + 3; times++) {
        const uint32_t doublings = times < COOLDOWN_DOUBLINGS_MAX ? times : COOLDOWN_DOUBLINGS_MAX;
        const uint64_t until_ms =
            (now_ms + 999) / 1000 * 1000 + ((uint64_t)COOLDOWN_S << doublings) * 1000;
        assert_int_equal(kit_do(&kit, back(won(ANNA, now_ms), true), now_ms), ANSWER_DONE);
        kit_expect_same(&kit, assert_int_equal(buy(ANNA, 0, until_ms - 1), ANSWER_COOLING_DOWN));
        assert_int_equal(kit.out.again_ms, until_ms);
        assert_int_equal(buy(BERT, 0, now_ms), times == 0 ? ANSWER_WON : ANSWER_ALREADY_BOUGHT);
        now_ms = until_ms;
    }
    assert_int_equal(buy(ANNA, 0, now_ms), ANSWER_WON);
    kit_stop(&kit);
}

static void rejections_refunds_and_sales_without_the_term_cool_nobody_down(void **state)
{
    (void)state;
    ready(COOLDOWN_S, 0);
    assert_int_equal(kit_do(&kit, back(won(ANNA, NOW), false), NOW), ANSWER_DONE);
    const ticket_number sold = won(ANNA, NOW);
    assert_int_equal(kit_settle(&kit, sold, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, back(sold, true), NOW), ANSWER_DONE); /* it was paid: a refund */
    const ticket_number let_go = won(ANNA, NOW);
    assert_int_equal(kit_do(&kit, back(let_go, true), NOW), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, back(let_go, true), NOW + 9000), ANSWER_UNCHANGED);
    assert_int_equal(buy(ANNA, 0, NOW), ANSWER_COOLING_DOWN);
    assert_int_equal(kit.out.again_ms, NOW + COOLDOWN_S * 1000);
    terms(0, 0); /* the shop takes it back: all are free at once */
    assert_int_equal(kit_do(&kit, back(won(ANNA, NOW), true), NOW), ANSWER_DONE);
    assert_int_equal(buy(ANNA, 0, NOW), ANSWER_WON);
    kit_stop(&kit);
}

static void only_a_return_can_be_let_go(void **state)
{
    (void)state;
    ready(COOLDOWN_S, 0);
    struct command command = back(won(ANNA, NOW), true);
    command.settle.step = SETTLE_SOLD;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, NOW), ANSWER_CONFLICT));
    kit_stop(&kit);
}

static void late_money_does_not_wait_but_a_place_in_line_does(void **state)
{
    (void)state;
    ready(COOLDOWN_S, DRAW_MS);
    assert_int_equal(kit_do(&kit, back(won(ANNA, NOW), true), NOW), ANSWER_DONE);
    kit_expect_same(&kit,
        assert_int_equal(buy(ANNA, RESERVE_AFTER_END | RESERVE_OFFER, NOW), ANSWER_COOLING_DOWN));
    struct command command = back(won(BERT, NOW), false);
    command.settle.waiter_count = 2;
    command.settle.waiters[0] = (struct waiter){ ANNA, 1, 1 };
    command.settle.waiters[1] = (struct waiter){ CLEO, 2, 1 };
    assert_int_equal(kit_do(&kit, command, NOW), ANSWER_DONE);
    assert_int_equal(kit.out.detail, 2); /* passed over, and the next one served */
    assert_int_equal(buy(ANNA, RESERVE_AFTER_END, NOW), ANSWER_WON);
    kit_stop(&kit);
}

/* All ten units are with users from 100 on. */
static void sell_out(uint64_t now_ms)
{
    for (user_id user = 100; user < 110; user++)
        won(user, now_ms);
}

static void returned_units_are_drawn_for_and_every_moment_is_in_the_second_half(void **state)
{
    (void)state;
    struct random random;
    uint32_t early = 0;
    random_seed(&random, 8);
    ready(0, DRAW_MS);
    sell_out(NOW);
    assert_int_equal(kit_do(&kit, back(1, true), NOW), ANSWER_DONE);
    for (uint32_t i = 0; i < 1000; i++) {
        const user_id user = random_next(&random) | 1;
        kit_expect_same(&kit, assert_int_equal(buy(user, 0, NOW + DRAW_MS / 2), ANSWER_NOT_YOUR_MOMENT));
        const uint64_t moment_ms = kit.out.again_ms;
        assert_in_range(moment_ms, NOW + DRAW_MS / 2 + 1, NOW + DRAW_MS);
        early += moment_ms <= NOW + DRAW_MS * 3 / 4;
        kit_expect_same(&kit, assert_int_equal(buy(user, 0, moment_ms - 1), ANSWER_NOT_YOUR_MOMENT));
        assert_int_equal(kit.out.again_ms, moment_ms); /* asking more often does not move it */
    }
    assert_in_range(early, 440, 560);
    assert_int_equal(buy(ANNA, 0, NOW + DRAW_MS / 2), ANSWER_NOT_YOUR_MOMENT);
    assert_int_equal(buy(ANNA, 0, kit.out.again_ms), ANSWER_WON);
    assert_int_equal(buy(BERT, 0, NOW + DRAW_MS / 2), ANSWER_SOLD_OUT);
    kit_stop(&kit);
}

static void each_draw_has_moments_of_its_own(void **state)
{
    (void)state;
    uint32_t same = 0;
    ready(0, DRAW_MS);
    sell_out(NOW);
    assert_int_equal(kit_do(&kit, back(1, true), NOW), ANSWER_DONE);
    uint64_t first[50];
    for (user_id user = 1; user <= 50; user++) {
        assert_int_equal(buy(user, 0, NOW), ANSWER_NOT_YOUR_MOMENT);
        first[user - 1] = kit.out.again_ms - NOW;
    }
    won(100, NOW + DRAW_MS); /* the pool is empty again */
    const uint64_t later_ms = NOW + 5 * DRAW_MS;
    assert_int_equal(kit_do(&kit, back(2, true), later_ms), ANSWER_DONE);
    for (user_id user = 1; user <= 50; user++) {
        assert_int_equal(buy(user, 0, later_ms), ANSWER_NOT_YOUR_MOMENT);
        same += kit.out.again_ms - later_ms == first[user - 1];
    }
    assert_in_range(same, 0, 5);
    assert_int_equal(buy(1, 0, later_ms + DRAW_MS), ANSWER_WON);
    kit_stop(&kit);
}

static void there_is_no_draw_while_units_are_free_or_for_another_channel(void **state)
{
    (void)state;
    ready(0, DRAW_MS);
    assert_int_equal(kit_do(&kit, back(won(ANNA, NOW), true), NOW), ANSWER_DONE);
    won(BERT, NOW); /* nine were free */
    struct command other = { .type = COMMAND_RESERVE,
        .reserve = { .user = CLEO, .item = 1, .quantity = 1, .channel = 1 } };
    for (user_id user = 100; user < 109; user++)
        won(user, NOW);
    assert_int_equal(kit_do(&kit, back(kit.out.ticket, true), NOW), ANSWER_DONE);
    assert_int_equal(buy(ANNA, 0, NOW), ANSWER_NOT_YOUR_MOMENT);
    assert_int_equal(kit_do(&kit, other, NOW), ANSWER_WON);
    kit_stop(&kit);
}

/* At the start, and when the shop opens early: nobody before the middle, then each at his moment. */
static void the_first_units_are_drawn_for_whenever_the_sale_opens(void **state)
{
    (void)state;
    enum { EARLY = SALE_START - 500 };
    const struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = END, .start_draw_ms = DRAW_MS } };
    const struct command open = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_OPEN } };
    for (uint32_t by_hand = 0; by_hand < 2; by_hand++) {
        const uint64_t opens_ms = by_hand ? EARLY : SALE_START;
        kit_start(&kit, 64);
        assert_int_equal(kit_do(&kit, sale, 5), ANSWER_DONE);
        assert_int_equal(kit_preheat(&kit, 1, 1), ANSWER_DONE);
        if (by_hand)
            assert_int_equal(kit_do(&kit, open, EARLY), ANSWER_DONE);
        assert_int_equal(
            buy(ANNA, 0, opens_ms - 1), by_hand ? ANSWER_NOT_YOUR_MOMENT : ANSWER_NOT_STARTED);
        kit_expect_same(&kit, assert_int_equal(buy(ANNA, 0, opens_ms), ANSWER_NOT_YOUR_MOMENT));
        const uint64_t moment_ms = kit.out.again_ms;
        assert_in_range(moment_ms, opens_ms + DRAW_MS / 2 + 1, opens_ms + DRAW_MS);
        kit_expect_same(&kit, assert_int_equal(buy(ANNA, 0, moment_ms - 1), ANSWER_NOT_YOUR_MOMENT));
        assert_int_equal(buy(ANNA, 0, moment_ms), ANSWER_WON);
        if (!by_hand) /* opening what is open draws nothing again */
            assert_int_equal(kit_do(&kit, open, opens_ms + DRAW_MS), ANSWER_DONE);
        assert_int_equal(buy(BERT, 0, opens_ms + DRAW_MS), ANSWER_WON);
        kit_stop(&kit);
    }
}

static void who_asks_for_an_old_answer_hears_it_or_nothing(void **state)
{
    (void)state;
    ready(0, 0);
    kit_expect_same(&kit, assert_int_equal(buy(ANNA, RESERVE_REPEAT, NOW), ANSWER_NOTHING_TO_REPEAT));
    struct command command = { .type = COMMAND_RESERVE,
        .reserve = { .user = ANNA, .key = 77, .item = 1, .quantity = 1 } };
    assert_int_equal(kit_do(&kit, command, NOW), ANSWER_WON);
    const ticket_number ticket = kit.out.ticket;
    kit_expect_same(&kit, assert_int_equal(buy(ANNA, RESERVE_REPEAT, NOW), ANSWER_ALREADY_BOUGHT));
    assert_int_equal(kit.out.ticket, ticket);
    command.reserve.flags = RESERVE_REPEAT;
    command.reserve.pending_from = ticket; /* it is still being written: the key's answer waits for it */
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, NOW), ANSWER_REPEATED));
    command.reserve.key = 0;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, NOW), ANSWER_IN_PROGRESS));
    assert_int_equal(kit_do(&kit, back(ticket, true), NOW), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(buy(ANNA, RESERVE_REPEAT, NOW), ANSWER_NOTHING_TO_REPEAT));
    command.reserve.key = 77;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, END), ANSWER_REPEATED));
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_lets_go_waits_twice_as_long_each_time_up_to_a_bound),
        cmocka_unit_test(rejections_refunds_and_sales_without_the_term_cool_nobody_down),
        cmocka_unit_test(only_a_return_can_be_let_go),
        cmocka_unit_test(late_money_does_not_wait_but_a_place_in_line_does),
        cmocka_unit_test(returned_units_are_drawn_for_and_every_moment_is_in_the_second_half),
        cmocka_unit_test(each_draw_has_moments_of_its_own),
        cmocka_unit_test(there_is_no_draw_while_units_are_free_or_for_another_channel),
        cmocka_unit_test(the_first_units_are_drawn_for_whenever_the_sale_opens),
        cmocka_unit_test(who_asks_for_an_old_answer_hears_it_or_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
