/* SPDX-License-Identifier: Apache-2.0 */
/* What the door says to crowds: bans, rates, early drop, pace, admission (door.c; the rest is in
 * door_test.c). */
#include "tests/unit/funnel/door_kit.h"

static struct door_sale shaped;
static struct door_sale shaped_sale(const void *context, item_id id)
{
    assert_ptr_equal(context, &door);
    assert_int_equal(id, ITEM);
    return shaped;
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
    door.sale = shaped_sale;
    door.context = &door;
    in.client = &client;
    shaped = (struct door_sale){ .id = 1 };
}

static void crowd_close(void)
{
    limits_free(door.limits);
    door.limits = NULL;
    door.sale = NULL;
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
    shaped.pace_per_s = 2;
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
    shaped.drop_percent = 100;
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
    uint64_t next_ms;
    (void)state;
    crowd_open(&(struct limits_rates){ .address_per_s = 1, .address_burst = 1 });
    ban.block.first = *in.client;
    assert_int_equal(ban_set_build(&bans, &ban, 1, NOW_MS, &next_ms), STATUS_OK);
    door.bans = bans;
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(), DOOR_BANNED);
    ban_set_free(bans);
    ban = (struct ban_entry){ .kind = BAN_USER, .user = USER, .until_ms = END_MS };
    assert_int_equal(ban_set_build(&bans, &ban, 1, NOW_MS, &next_ms), STATUS_OK);
    door.bans = bans;
    assert_int_equal(ask(), DOOR_BANNED);
    in.pass = SPAN_NONE;
    in.now_ms += 1000 - 1;
    assert_int_equal(ask(), DOOR_TOO_FAST);
    ban_set_free(bans);
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
    };
    return cmocka_run_group_tests_name("funnel/door_crowd", rules, NULL, NULL);
}
