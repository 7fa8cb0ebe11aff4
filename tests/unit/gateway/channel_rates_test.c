/* SPDX-License-Identifier: Apache-2.0 */
/* Each key of a channel has a bucket of its own. */
#include "gateway/channel_rates.h"

#include "tests/unit/base/unit.h"

enum { NOW_MS = 1000 * 1000, PER_S = 50 };

static void a_key_may_ask_a_seconds_worth_at_once_and_then_at_its_rate(void **state)
{
    static struct channel_rates rates;
    (void)state;
    channel_rates_set(&rates, PER_S);
    for (int i = 0; i < PER_S; i++)
        assert_int_equal(channel_rates_ask(&rates, 0, NOW_MS), 0);
    assert_in_range(channel_rates_ask(&rates, 0, NOW_MS), 1, 21);
    assert_int_equal(channel_rates_ask(&rates, 0, NOW_MS + 20), 0);
    assert_true(channel_rates_ask(&rates, 0, NOW_MS + 20) > 0);
    uint32_t let_in = 0;
    for (uint64_t ms = 1; ms <= 10000; ms++)
        let_in += channel_rates_ask(&rates, 0, NOW_MS + 20 + ms) == 0;
    assert_in_range(let_in, 10 * PER_S - 1, 10 * PER_S + 1);
}

static void one_key_takes_nothing_from_another(void **state)
{
    static struct channel_rates rates;
    (void)state;
    channel_rates_set(&rates, 1);
    assert_int_equal(channel_rates_ask(&rates, 3, NOW_MS), 0);
    for (int i = 0; i < 1000; i++)
        assert_true(channel_rates_ask(&rates, 3, NOW_MS) > 0);
    assert_int_equal(channel_rates_ask(&rates, 4, NOW_MS), 0);
    assert_int_equal(channel_rates_ask(&rates, ADMIN_KEYS_MAX - 1, NOW_MS), 0);
    assert_int_equal(channel_rates_ask(&rates, 3, NOW_MS + 1000), 0);
}

static void a_clock_that_was_set_back_locks_nobody_out(void **state)
{
    static struct channel_rates rates;
    (void)state;
    channel_rates_set(&rates, 1);
    assert_int_equal(channel_rates_ask(&rates, 0, NOW_MS), 0);
    assert_int_equal(channel_rates_ask(&rates, 0, NOW_MS - 100 * 1000), 0);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        cmocka_unit_test(a_key_may_ask_a_seconds_worth_at_once_and_then_at_its_rate),
        cmocka_unit_test(one_key_takes_nothing_from_another),
        cmocka_unit_test(a_clock_that_was_set_back_locks_nobody_out),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
