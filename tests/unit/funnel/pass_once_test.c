/* SPDX-License-Identifier: Apache-2.0 */
/* A pass that is good once, at the door. */
#include "funnel/door.h"

#include "base/address.h"
#include "base/arena.h"
#include "contract/board.h"
#include "contract/command.h"
#include "funnel/limits.h"
#include "funnel/spent.h"
#include "funnel/token.h"
#include "tests/unit/base/unit.h"

#include <string.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { NOW_S = 1700000000, ITEM = 2, USER = 77 };

static struct arena arena;
static struct board board;
static struct funnel_keys keys;
static struct door_channels channels;
static struct door door;
static struct board_update item;
static struct door_request in;
static struct door_result out;
static char pass_text[TOKEN_CHARS];

static struct span pass_for(uint32_t nonce, bool once)
{
    const struct pass pass = {
        .user = USER, .item = ITEM, .expires_s = NOW_S + 60, .nonce = nonce, .once = once
    };
    pass_issue(&keys, &pass, pass_text);
    return span_of(pass_text, sizeof pass_text);
}

static int open_door(void **state)
{
    (void)state;
    static const char master[FUNNEL_MASTER_BYTES] = "a door's master secret, 32 bytes";
    static const struct span names[] = { { "web", 3 } };
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    funnel_keys_turn(&keys, NOW_MS);
    assert_int_equal(door_channels_set(&channels, names, 1), STATUS_OK);
    assert_int_equal(arena_open(&arena, board_bytes(4, 1000) + spent_bytes(100) + 4096), STATUS_OK);
    board_create(&board, &arena, 4, 1000);
    board.filter_key = keys.filter;
    door = (struct door){
        .board = &board, .keys = &keys, .channels = &channels, .spent = spent_create(&arena, 100)
    };
    item = (struct board_update){ .item = ITEM,
        .sale = 1,
        .start_ms = NOW_MS - 1000,
        .end_ms = NOW_MS + 1000,
        .gate = GATE_SCHEDULED,
        .limit_per_user = 1,
        .counts = { .free = 10, .channel_free = { 10 } } };
    board_publish(&board, &item);
    in = (struct door_request){ .now_ms = NOW_MS, .item = ITEM };
    return 0;
}

static int close_door(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static enum door_reason ask(void)
{
    memset(&out, 0xff, sizeof out);
    return funnel_door(&door, &in, &out);
}

static void it_goes_once_and_others_go_on(void **state)
{
    (void)state;
    in.pass = pass_for(1, true);
    assert_int_equal(ask(), DOOR_GO);
    assert_true(out.pass_mark != 0);
    assert_int_equal(ask(), DOOR_PASS_SPENT);
    assert_int_equal(ask(), DOOR_PASS_SPENT);
    in.pass = pass_for(2, true);
    assert_int_equal(ask(), DOOR_GO);
}

static void a_full_table_refuses_nobody_and_the_newest_stay_used(void **state)
{
    (void)state;
    for (uint32_t nonce = 1; nonce <= 10 * 1000; nonce++) {
        in.pass = pass_for(nonce, true);
        assert_int_equal(ask(), DOOR_GO);
        assert_int_equal(ask(), DOOR_PASS_SPENT);
    }
    assert_true(spent_forgotten(door.spent) > 0);
}

static void a_pass_of_another_sale_goes_as_often_as_it_likes(void **state)
{
    (void)state;
    in.pass = pass_for(1, false);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ask(), DOOR_GO);
        assert_true(out.pass_mark == 0);
    }
}

static void a_refusal_does_not_use_it_up(void **state)
{
    (void)state;
    in.pass = pass_for(1, true);
    in.body = SPAN("{\"quantity\":0}");
    assert_int_equal(ask(), DOOR_BAD_QUANTITY);
    in.body = SPAN("{\"quantity\":11}");
    assert_int_equal(ask(), DOOR_SOLD_OUT);
    in.body = SPAN_NONE;
    assert_int_equal(ask(), DOOR_GO);
    in.body = SPAN("{\"quantity\":0}");
    assert_int_equal(ask(), DOOR_PASS_SPENT); /* used: told before anything else */
}

static void what_led_nowhere_is_given_back(void **state)
{
    (void)state;
    in.pass = pass_for(1, true);
    assert_int_equal(ask(), DOOR_GO);
    door_give_back(&door, &out);
    assert_int_equal(ask(), DOOR_GO);
    assert_int_equal(ask(), DOOR_PASS_SPENT);
    in.pass = pass_for(1, false);
    assert_int_equal(ask(), DOOR_GO);
    door_give_back(&door, &out); /* nothing to give back */
}

static void who_may_have_bought_hears_of_it_with_the_used_pass(void **state)
{
    (void)state;
    in.pass = pass_for(1, true);
    assert_int_equal(ask(), DOOR_GO);
    assert_int_equal(ask(), DOOR_PASS_SPENT);
    assert_false(out.repeat);
    board_add_buyer(&board, ITEM, USER);
    assert_int_equal(ask(), DOOR_PASS_SPENT);
    assert_true(out.repeat && out.pass_mark == 0); /* an old answer, no new purchase */
}

static void the_once_of_a_pass_is_signed(void **state)
{
    (void)state;
    char once[TOKEN_CHARS], twice[TOKEN_CHARS];
    struct pass pass;
    memcpy(once, pass_for(9, true).data, sizeof once);
    memcpy(twice, pass_for(9, false).data, sizeof twice);
    assert_int_equal(pass_verify(&keys, span_of(once, sizeof once), NOW_MS, &pass), TOKEN_OK);
    assert_true(pass.once && pass.nonce == 9);
    assert_int_equal(pass_verify(&keys, span_of(twice, sizeof twice), NOW_MS, &pass), TOKEN_OK);
    assert_true(!pass.once && pass.nonce == 9);
    memcpy(once, twice, 27); /* the 20 signed bytes and a little, the MAC of the other */
    assert_int_equal(pass_verify(&keys, span_of(once, sizeof once), NOW_MS, &pass), TOKEN_FORGED);
}

/* The inventory is asked together with the purchase: this door's own set does not count. */
static void with_other_gateways_the_mark_goes_with_the_purchase(void **state)
{
    struct purchase_door asked;
    (void)state;
    door.shared = true;
    in.pass = pass_for(1, true);
    assert_int_equal(ask(), DOOR_GO);
    const uint64_t mark = out.pass_mark;
    assert_true(mark != 0);
    assert_true(door_asks(&door, &out, &asked));
    assert_true(asked.mark == mark && asked.requests == 0 && asked.window_ms == 0);
    assert_true(asked.mark_until_ms > (NOW_S + 60) * UINT64_C(1000)); /* longer than anybody accepts it */
    assert_int_equal(ask(), DOOR_GO);
    assert_int_equal(out.pass_mark, mark);
    assert_false(spent_seen(door.spent, mark));
    in.pass = pass_for(2, true);
    assert_int_equal(ask(), DOOR_GO);
    assert_int_not_equal(out.pass_mark, mark);
    in.pass = pass_for(1, false);
    assert_int_equal(ask(), DOOR_GO);
    assert_false(door_asks(&door, &out, &asked)); /* most purchases carry nothing */
}

static void with_other_gateways_the_users_limit_goes_with_the_purchase(void **state)
{
    struct purchase_door asked;
    struct limits_rates rates = { .user_requests = 3, .user_window_ms = 5000 };
    const struct limits_config config = {
        .addresses = 8, .users = 8, .items = 4, .user_requests_max = 3, .rates = rates
    };
    (void)state;
    assert_int_equal(limits_create(&door.limits, &config), STATUS_OK);
    door.shared = true;
    in.client = &(struct address){ .bytes = { 1 } };
    in.pass = pass_for(1, false);
    assert_int_equal(ask(), DOOR_GO);
    assert_true(door_asks(&door, &out, &asked));
    assert_true(asked.mark == 0 && asked.mark_until_ms == 0 && asked.requests == 3
        && asked.window_ms == 5000);
    rates.user_requests = 0; /* switched off */
    limits_set(door.limits, &rates);
    assert_false(door_asks(&door, &out, &asked));
    limits_free(door.limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_goes_once_and_others_go_on, open_door, close_door),
        cmocka_unit_test_setup_teardown(
            a_full_table_refuses_nobody_and_the_newest_stay_used, open_door, close_door),
        cmocka_unit_test_setup_teardown(
            a_pass_of_another_sale_goes_as_often_as_it_likes, open_door, close_door),
        cmocka_unit_test_setup_teardown(a_refusal_does_not_use_it_up, open_door, close_door),
        cmocka_unit_test_setup_teardown(what_led_nowhere_is_given_back, open_door, close_door),
        cmocka_unit_test_setup_teardown(
            who_may_have_bought_hears_of_it_with_the_used_pass, open_door, close_door),
        cmocka_unit_test_setup_teardown(the_once_of_a_pass_is_signed, open_door, close_door),
        cmocka_unit_test_setup_teardown(
            with_other_gateways_the_mark_goes_with_the_purchase, open_door, close_door),
        cmocka_unit_test_setup_teardown(
            with_other_gateways_the_users_limit_goes_with_the_purchase, open_door, close_door),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
