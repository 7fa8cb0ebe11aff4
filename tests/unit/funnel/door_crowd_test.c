/* SPDX-License-Identifier: Apache-2.0 */
/* What the door says to crowds: bans, rates, early drop, pace, admission (door.c; the rest is in
 * door_test.c). */
#include "tests/unit/funnel/door_kit.h"

static struct item_rules items;

static void rule_set(struct item_rule rule)
{
    item_rule_set(&items, ITEM, &rule);
}

static void crowd_open(const struct limits_rates *rates)
{
    const struct limits_config config = { .addresses = 64,
        .users = 64,
        .items = ITEMS,
        .user_requests_max = 12,
        .v6_bits = ADDRESS_GROUP_BITS,
        .key = { 1, 2 },
        .rates = *rates };
    static const struct address client = { .bytes = { 0x20, 0x01 } };
    assert_int_equal(limits_create(&door.limits, &config), STATUS_OK);
    door.rules = &items;
    in.client = &client;
    rule_set((struct item_rule){ .known = true });
}

static void crowd_close(void)
{
    limits_free(door.limits);
    door.limits = NULL;
    door.rules = NULL;
    door.bans = NULL;
}

static void an_address_is_too_fast_before_its_session_is_looked_at(void **state)
{
    (void)state;
    crowd_open(&(struct limits_rates){ .address_per_s = 1, .address_burst = 2 });
    assert_int_equal(ask(), DOOR_GO);
    in.authorization = SPAN("Bearer forged");
    assert_int_equal(ask(), DOOR_SESSION_INVALID);
    assert_int_equal(ask(), DOOR_TOO_FAST);
    assert_int_equal(out.wait_ms, 1000);
    board_add_buyer(&board, ITEM, USER); /* nobody knows yet who it is */
    assert_int_equal(ask(), DOOR_TOO_FAST);
    in.item = ITEMS - 1; /* and an item that is not there needs no counting */
    assert_int_equal(ask(), DOOR_UNKNOWN_ITEM);
    crowd_close();
}

static void a_user_is_too_fast_after_everything_that_is_wrong_and_a_buyer_too(void **state)
{
    (void)state;
    crowd_open(&(struct limits_rates){ .user_requests = 2, .user_window_ms = 1000 });
    assert_int_equal(ask(), DOOR_GO);
    assert_int_equal(ask(), DOOR_GO);
    assert_int_equal(ask(), DOOR_TOO_FAST);
    assert_in_range(out.wait_ms, 1, 1000);
    in.body = SPAN("{");
    assert_int_equal(ask(), DOOR_BAD_BODY);
    in.body = SPAN_NONE;
    item.counts.channel_free[0] = 0;
    board_publish(&board, &item);
    assert_int_equal(ask(), DOOR_SOLD_OUT);
    item.counts.channel_free[0] = 7;
    board_publish(&board, &item);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_again(), DOOR_TOO_FAST);
    crowd_close();
}

static void pace_and_admission_let_the_rest_come_back_and_buyers_too(void **state)
{
    (void)state;
    crowd_open(&(struct limits_rates){ .admission_per_s = 1 });
    assert_int_equal(ask(), DOOR_GO);
    assert_int_equal(ask(), DOOR_TOO_POPULAR);
    assert_int_equal(out.wait_ms, 1000);
    rule_set((struct item_rule){ .known = true, .pace_per_s = 2 });
    in.now_ms = NOW_MS + 900;
    assert_int_equal(ask(), DOOR_TOO_POPULAR); /* let by the pace, not by admission */
    assert_int_equal(out.wait_ms, 100);
    assert_int_equal(ask(), DOOR_TOO_POPULAR);
    assert_int_equal(out.wait_ms, 500);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_again(), DOOR_TOO_POPULAR);
    crowd_close();
}

static void who_is_dropped_hears_the_same_each_time_and_a_buyer_may_hear_of_it(void **state)
{
    (void)state;
    crowd_open(&(struct limits_rates){ .user_requests = 2, .user_window_ms = 1000 });
    rule_set((struct item_rule){ .known = true, .drop_percent = 100 });
    for (int i = 0; i < 5; i++) /* not counted as fast: the drop comes first */
        assert_int_equal(ask(), DOOR_TOO_POPULAR);
    assert_int_equal(out.wait_ms, 0);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_again(), DOOR_TOO_POPULAR);
    crowd_close();
}

static void bans_come_before_rates_by_address_and_after_the_pass_by_user(void **state)
{
    struct ban_entry ban = { .kind = BAN_ADDRESS, .block = { .bits = ADDRESS_BITS }, .until_ms = END_MS };
    struct ban_set *bans;
    (void)state;
    crowd_open(&(struct limits_rates){ .address_per_s = 1, .address_burst = 1 });
    ban.block.first = *in.client;
    assert_int_equal(ban_set_build(&bans, &ban, 1, NOW_MS), STATUS_OK);
    door.bans = bans;
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(), DOOR_BANNED);
    ban_set_free(bans);
    ban = (struct ban_entry){ .kind = BAN_USER, .user = USER, .until_ms = END_MS };
    assert_int_equal(ban_set_build(&bans, &ban, 1, NOW_MS), STATUS_OK);
    door.bans = bans;
    assert_int_equal(ask(), DOOR_BANNED);
    in.pass = SPAN_NONE;
    in.now_ms += 1000 - 1;
    assert_int_equal(ask(), DOOR_TOO_FAST);
    ban_set_free(bans);
    crowd_close();
}

static void nobody_buys_by_rules_that_are_not_known_but_a_buyer_hears_of_it(void **state)
{
    (void)state;
    crowd_open(&(struct limits_rates){ .admission_per_s = 1 });
    rule_set((struct item_rule){ .known = false });
    assert_int_equal(ask(), DOOR_UNAVAILABLE);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask_again(), DOOR_UNAVAILABLE);
    item.counts.channel_free[0] = 0; /* what can be told without them is told */
    board_publish(&board, &item);
    assert_int_equal(ask_again(), DOOR_SOLD_OUT);
    crowd_close();
}

static void the_door_says_when_units_are_taken_on_payment(void **state)
{
    (void)state;
    crowd_open(&(struct limits_rates){ .admission_per_s = 0 });
    assert_int_equal(ask(), DOOR_GO);
    assert_false(out.deduct_on_payment);
    rule_set((struct item_rule){ .known = true, .deduct_on_payment = true });
    assert_int_equal(ask(), DOOR_GO);
    assert_true(out.deduct_on_payment);
    crowd_close();
}

static void a_pass_for_old_answers_waits_for_the_room_where_there_is_one(void **state)
{
    (void)state;
    char token[TOKEN_CHARS];
    const struct pass pass = { .user = USER, .item = ITEM, .expires_s = NOW_S + 60, .repeat_only = true };
    crowd_open(&(struct limits_rates){ .admission_per_s = 0 });
    pass_issue(&keys, &pass, token);
    in.pass = span_of(token, sizeof token);
    assert_int_equal(ask(), DOOR_TOO_POPULAR);
    rule_set((struct item_rule){ .known = true, .waiting_room = true });
    assert_int_equal(ask(), DOOR_NOT_YOUR_TURN);
    door.rules = NULL;
    assert_int_equal(ask(), DOOR_TOO_POPULAR);
    crowd_close();
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_door, close_door)
    const struct CMUnitTest rules[] = {
        RULE(an_address_is_too_fast_before_its_session_is_looked_at),
        RULE(a_user_is_too_fast_after_everything_that_is_wrong_and_a_buyer_too),
        RULE(pace_and_admission_let_the_rest_come_back_and_buyers_too),
        RULE(who_is_dropped_hears_the_same_each_time_and_a_buyer_may_hear_of_it),
        RULE(bans_come_before_rates_by_address_and_after_the_pass_by_user),
        RULE(nobody_buys_by_rules_that_are_not_known_but_a_buyer_hears_of_it),
        RULE(the_door_says_when_units_are_taken_on_payment),
        RULE(a_pass_for_old_answers_waits_for_the_room_where_there_is_one),
    };
    return cmocka_run_group_tests_name("funnel/door_crowd", rules, NULL, NULL);
}
