/* SPDX-License-Identifier: Apache-2.0 */
#include "base/latency.h"

#include "unit.h"

static void a_value_comes_out_at_most_a_64th_above_what_went_in(void **state)
{
    (void)state;
    for (uint64_t ns = 1; ns < UINT64_C(1) << 50; ns += ns / 3 + 1) {
        static struct latency latency;
        latency_clear(&latency);
        latency_add(&latency, ns);
        latency_add(&latency, UINT64_C(1) << 60); /* so that the slot answers, not the greatest value */
        const uint64_t out = latency_quantile_ns(&latency, 500);
        assert_true(out >= ns && out <= ns + ns / 64 + 1);
    }
}

static void quantiles_count_values_and_an_empty_one_answers_zero(void **state)
{
    (void)state;
    static struct latency latency;
    latency_clear(&latency);
    assert_int_equal(latency_quantile_ns(&latency, 990), 0);
    for (uint64_t i = 1; i <= 1000; i++)
        latency_add(&latency, i);
    assert_in_range(latency_quantile_ns(&latency, 500), 500, 508);
    assert_in_range(latency_quantile_ns(&latency, 999), 999, 1000);
    assert_int_equal(latency_quantile_ns(&latency, 1000), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_comes_out_at_most_a_64th_above_what_went_in),
        cmocka_unit_test(quantiles_count_values_and_an_empty_one_answers_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
