/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/stock_share.h"

#include "tests/unit/base/unit.h"

static int64_t places(const struct item *item)
{
    int64_t sum = (int64_t)item->locked + item->sold + item->safety;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        sum += item->channel_units[channel];
    return sum;
}

static void an_item_gets_what_it_wants_or_what_there_is(void **state)
{
    struct item item = { .total = 10, .channel_units = { 10 } };
    (void)state;
    assert_int_equal(stock_share(&item, 10), 10);
    assert_int_equal(item.total, 10);
    assert_int_equal(stock_share(&item, 9), 9);
    assert_int_equal(item.total, 9);
    assert_int_equal(item.channel_units[0], 9);
    assert_int_equal(stock_share(&item, 0), 0);
    assert_int_equal(item.total, 0);
    assert_int_equal(places(&item), 0);
}

static void the_web_channel_is_shortened_first_and_locked_units_last(void **state)
{
    const struct item full = { .total = 10, .locked = 1, .safety = 2, .channel_units = { 3, 2, 2 } };
    struct item item = full;
    (void)state;
    assert_int_equal(stock_share(&item, 8), 8);
    assert_int_equal(item.channel_units[0], 1);
    assert_int_equal(item.safety, 2);
    item = full;
    assert_int_equal(stock_share(&item, 6), 6);
    assert_int_equal(item.safety, 1);
    item = full;
    assert_int_equal(stock_share(&item, 4), 4);
    assert_int_equal(item.channel_units[2], 1);
    assert_int_equal(item.channel_units[1], 2);
    item = full;
    assert_int_equal(stock_share(&item, 1), 1);
    assert_int_equal(item.locked, 1);
    assert_int_equal(item.total, 1);
}

static void units_always_add_up_and_never_pass_the_stock(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint32_t random[6];
        for (int k = 0; k < 6; k++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            random[k] = (uint32_t)(seed >> 33) % 20;
        }
        struct item item = { .locked = random[0],
            .safety = random[1],
            .channel_units = { random[2], random[3], 0, 0, 0, 0, 0, random[4] } };
        item.total = (uint32_t)places(&item);
        const uint32_t wanted = item.total, stock = random[5] * 4;
        const uint32_t taken = stock_share(&item, stock);
        assert_true(taken <= stock && taken <= wanted);
        assert_int_equal(taken, wanted < stock ? wanted : stock);
        assert_int_equal(item.total, taken);
        assert_int_equal(places(&item), item.total);
    }
}

static void everything_that_nobody_has_goes_back(void **state)
{
    const struct item_counts counts = {
        .free = 5, .safety = 2, .held = 4, .sold = 3, .channel_free = { 3, 0, 0, 0, 0, 0, 0, 2 }
    };
    struct command commands[STOCK_BACK_MAX];
    (void)state;
    assert_int_equal(stock_back(6, &counts, commands), 3);
    static const channel_index from[] = { 0, CHANNEL_LINE, CHANNEL_SAFETY };
    static const int32_t delta[] = { -3, -2, -2 };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(commands[i].type, COMMAND_ADJUST);
        assert_int_equal(commands[i].adjust.item, 6);
        assert_int_equal(commands[i].adjust.channel, from[i]);
        assert_int_equal(commands[i].adjust.delta, delta[i]);
        assert_false(commands[i].adjust.gone);
    }
    assert_int_equal(stock_back(6, &(struct item_counts){ .sold = 3 }, commands), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_nobody_has_goes_back),
        cmocka_unit_test(an_item_gets_what_it_wants_or_what_there_is),
        cmocka_unit_test(the_web_channel_is_shortened_first_and_locked_units_last),
        cmocka_unit_test(units_always_add_up_and_never_pass_the_stock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
