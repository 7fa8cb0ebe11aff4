/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/server_counts.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static const char before[] = "# HELP stampede_door_total x\n"
                             "stampede_door_total{answer=\"go\"} 5\n"
                             "stampede_door_total{answer=\"sold-out\"} 2\n"
                             "stampede_edge_requests_total 10\n"
                             "stampede_purchases_total{answer=\"won\"} 5\n";
static const char after[] = "stampede_door_total{answer=\"go\"} 9\n"
                            "stampede_door_total{answer=\"sold-out\"} 12\n"
                            "stampede_door_total{answer=\"no-chance\"} 3\n"
                            "stampede_door_total{answer=\"too-popular\"} 4\n"
                            "stampede_door_repeats_total{answer=\"sold-out\"} 1\n"
                            "stampede_purchases_total{answer=\"won\"} 7\n"
                            "stampede_purchases_total{answer=\"sold-out\"} 2\n"
                            "stampede_purchases_total{answer=\"already-bought\"} 1\n"
                            "stampede_edge_requests_total 110\n"
                            "stampede_orders_written_total 2\n";

static void values_are_found_by_whole_names_at_the_beginning_of_a_line(void **state)
{
    (void)state;
    assert_int_equal(metrics_value(after, "stampede_edge_requests_total", ""), 110);
    assert_int_equal(metrics_value(after, "edge_requests_total", ""), 0);
    assert_int_equal(metrics_value(after, "stampede_door_total", "answer=\"sold-out\""), 12);
    assert_int_equal(metrics_value(after, "stampede_door_total", "answer=\"sold\""), 0);
    assert_int_equal(metrics_sum(after, "stampede_door_total"), 28);
    assert_int_equal(metrics_sum(before, "stampede_door"), 0);
}

static void words_are_what_was_told(void **state)
{
    (void)state;
    struct server_counts counts;
    server_counts_read(before, after, &counts);
    assert_int_equal(counts.requests, 100);
    assert_int_equal(counts.purchases, 21);
    assert_int_equal(counts.go, 4);
    assert_int_equal(counts.won, 2);
    assert_int_equal(counts.words[WORD_SOLD_OUT], 10 + 2 - 1); /* one refusal gave way to an older answer */
    assert_int_equal(counts.words[WORD_TOO_POPULAR], 7);
    assert_int_equal(counts.words[WORD_ALREADY_BOUGHT], 1);
    assert_int_equal(counts.orders_written, 2);
}

static void one_request_too_many_is_a_difference(void **state)
{
    (void)state;
    static struct tally tally;
    struct server_counts counts = { .requests = 6, .purchases = 3, .won = 1, .orders_written = 1 };
    counts.report = (struct sale_counts){
        .won = 1, .winners = 1, .orders_paid = 1, .units_taken = 1, .units_held_sold = 1, .units_free = 9
    };
    counts.words[WORD_SOLD_OUT] = 2;
    const struct seen_besides besides = { .own_requests = 2, .winners = 1, .units = 10 };
    struct comparisons comparisons;
    memset(&tally, 0, sizeof tally);
    tally.told[WHO_PEOPLE][STEP_BUY][WORD_WON] = 1;
    tally.told[WHO_BOTS][STEP_BUY][WORD_SOLD_OUT] = 2;
    tally.wins[WHO_PEOPLE] = tally.paid = 1;
    tally.sent = 4;
    comparisons_make(&tally, &counts, &besides, &comparisons);
    for (uint32_t i = 0; i < comparisons.count; i++)
        if (comparisons.rows[i].ours != comparisons.rows[i].theirs)
            print_message("%s\n", comparisons.rows[i].what);
    assert_int_equal(comparisons.different, 0);
    counts.words[WORD_SOLD_OUT]++;
    comparisons_make(&tally, &counts, &besides, &comparisons);
    assert_int_equal(comparisons.different, 1);
    counts.words[WORD_SOLD_OUT]--;
    counts.report.units_free--;
    comparisons_make(&tally, &counts, &besides, &comparisons);
    assert_int_equal(comparisons.different, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_whole_names_at_the_beginning_of_a_line),
        cmocka_unit_test(words_are_what_was_told),
        cmocka_unit_test(one_request_too_many_is_a_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
