/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/tally.h"

#include "tests/unit/base/unit.h"

static struct tally tally;

static void answers_are_counted_by_who_step_and_word(void **state)
{
    (void)state;
    const struct visitor person = { .kind = VISITOR_HUMAN, .step = STEP_BUY };
    const struct visitor bot = { .kind = VISITOR_HAMMER, .step = STEP_BUY };
    const struct visitor payer = { .kind = VISITOR_HUMAN, .step = STEP_BANK };
    tally_answer(&tally, &person, WORD_WON, 5 * NS_PER_MS);
    tally_answer(&tally, &bot, WORD_TOO_FAST, NS_PER_MS);
    tally_answer(&tally, &bot, WORD_NO_ANSWER, 0);
    tally_answer(&tally, &payer, WORD_SERVED, NS_PER_MS);
    tally_answer(&tally, &payer, WORD_UNAVAILABLE, NS_PER_MS);
    assert_int_equal(tally_told(&tally, STEP_BUY, WORD_WON), 1);
    assert_int_equal(tally_step(&tally, STEP_BUY), 3);
    assert_int_equal(tally_word(&tally, WORD_TOO_FAST), 1);
    assert_int_equal(tally_answers(&tally), 4);
    assert_int_equal(tally.paid, 1);
    assert_int_equal(tally.latency[WHO_BOTS][STEP_BUY].total, 1); /* what has no answer has no time */
    tally_second(&tally, 0);
    assert_int_equal(tally.seconds[0].answered, 4);
    assert_int_equal(tally.seconds[0].refused, 2);
    assert_in_range(tally.seconds[0].p99_us, 5000, 5100);
    assert_int_equal(tally.seconds_count, 1);
}

static void seconds_are_bounded(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2 * PLAN_SECONDS_MAX; i++)
        tally_second(&tally, 1);
    assert_int_equal(tally.seconds_count, sizeof tally.seconds / sizeof *tally.seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_counted_by_who_step_and_word),
        cmocka_unit_test(seconds_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
