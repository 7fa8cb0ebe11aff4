/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/findings.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static struct tally tally;
static struct findings findings;

static void tally_fill(void)
{
    memset(&tally, 0, sizeof tally);
    tally.told[WHO_PEOPLE][STEP_PAGE][WORD_SERVED] = 900;
    tally.told[WHO_PEOPLE][STEP_BUY][WORD_WON] = 10;
    tally.told[WHO_PEOPLE][STEP_BUY][WORD_SOLD_OUT] = 50;
    tally.told[WHO_BOTS][STEP_BUY][WORD_TOO_FAST] = 40;
    tally.wins[WHO_PEOPLE] = 10;
    tally.paid = 4;
    tally.ended[VISITOR_HUMAN][LAYER_SOLD_OUT] = 50;
    tally.ended[VISITOR_HAMMER][LAYER_PASS] = 50;
    latency_add(&tally.latency[WHO_PEOPLE][STEP_BUY], 20 * NS_PER_MS);
}

static const struct server_counts counts = {
    .purchases = 100, .go = 10, .orders_written = 10, .refused_user = 15, .report = { .units_held_sold = 10 }
};
static const struct measured standard = { .users = 100,
    .units = 10,
    .expect_users = 1000,
    .machine_cores = 2,
    .p99_goal_ms = 100,
    .human_check = "none",
    .peak_requests_per_s = 500,
    .cpu_s = 0.1 };
static const struct comparisons same = { .count = 9 };

static void requests_end_at_their_layer_and_the_server_tells_the_limits_apart(void **state)
{
    (void)state;
    tally_fill();
    findings_make(&tally, &counts, &same, &standard, &findings);
    assert_int_equal(findings.all_requests, 1000);
    assert_int_equal(findings.requests[LAYER_USER], 15);
    assert_int_equal(findings.requests[LAYER_ADDRESS], 25);
    assert_int_equal(findings.requests[LAYER_SOLD_OUT], 50);
    assert_int_equal(findings.requests[LAYER_WON], 10);
    assert_int_equal(findings.requests[LAYER_ORDER], 10);
    assert_int_equal(findings.requests[LAYER_PAID], 4);
    assert_float_equal(findings.stopped_before_buy, 0.5, 1e-9);
    assert_float_equal(findings.refused_before_stock, 0.9, 1e-9);
    assert_float_equal(findings.refused_before_store, 0.99, 1e-9);
}

static void machines_follow_from_processor_time(void **state)
{
    (void)state;
    tally_fill();
    findings_make(&tally, &counts, &same, &standard, &findings);
    assert_float_equal(findings.cpu_us_per_request, 100, 1e-6);
    assert_float_equal(findings.expect_per_s, 5000, 1e-6);
    assert_true(findings.cores > 0.83 && findings.cores < 0.84); /* 5,000 × 100 µs at 60 % of a core */
    assert_float_equal(findings.machines, 1, 1e-9);
}

static void it_holds_only_if_everything_does(void **state)
{
    (void)state;
    tally_fill();
    findings_make(&tally, &counts, &same, &standard, &findings);
    assert_true(findings.held);
    assert_int_equal(findings.advice_count, 0);
    const struct comparisons different = { .count = 9, .different = 1 };
    findings_make(&tally, &counts, &different, &standard, &findings);
    assert_false(findings.held);
    tally.told[WHO_PEOPLE][STEP_BUY][WORD_NO_ANSWER] = 1;
    findings_make(&tally, &counts, &same, &standard, &findings);
    assert_false(findings.held);
    tally_fill();
    struct measured paced = standard;
    paced.pace_per_s = 100;
    paced.peak_orders_per_s = 121;
    findings_make(&tally, &counts, &same, &paced, &findings);
    assert_false(findings.held);
    paced.peak_orders_per_s = 120;
    findings_make(&tally, &counts, &same, &paced, &findings);
    assert_true(findings.held);
}

static bool advised(const char *setting)
{
    for (uint32_t i = 0; i < findings.advice_count; i++)
        if (strstr(findings.advice[i], setting) != NULL)
            return true;
    return false;
}

static void advice_names_the_setting_with_the_figure_that_says_so(void **state)
{
    (void)state;
    tally_fill();
    tally.wins[WHO_BOTS] = 10;
    tally.told[WHO_PEOPLE][STEP_BUY][WORD_TOO_FAST] = 100;
    latency_add(&tally.latency[WHO_PEOPLE][STEP_BUY], 200 * NS_PER_MS);
    findings_make(&tally, &counts, &same, &standard, &findings);
    assert_true(advised("human_check"));
    assert_true(advised("waiting_room"));
    assert_true(advised("bots won 50 %"));
    assert_true(advised("limits.address_per_s"));
    assert_true(advised("more or faster cores"));
    assert_false(advised("pass.life_s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_end_at_their_layer_and_the_server_tells_the_limits_apart),
        cmocka_unit_test(machines_follow_from_processor_time),
        cmocka_unit_test(it_holds_only_if_everything_does),
        cmocka_unit_test(advice_names_the_setting_with_the_figure_that_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
