/* SPDX-License-Identifier: Apache-2.0 */
/* The last phase of a run: what Redis has is compared with the log, and loaded anew where it differs. */
#include "contract/part_checks.h"
#include "tests/unit/orders/reconcile_kit.h"

#include <stdio.h>

enum { WAITS = 3, ASKS_MAX = 8 };

/* An inventory that answers after some turns. */
static struct {
    struct part_checks checks;
    enum part_answer compared, reloaded, rested;
    uint32_t differences;
    uint32_t asks, waits;
    enum part_question asked[ASKS_MAX];
} redis;

static void redis_ask(struct part_checks *checks, uint32_t part, enum part_question question)
{
    assert_ptr_equal(checks, &redis.checks);
    assert_int_equal(part, PART_EMBEDDED);
    assert_true(redis.asks < ASKS_MAX);
    redis.asked[redis.asks++] = question;
    redis.waits = WAITS;
}

static enum part_answer redis_answer(struct part_checks *checks, struct part_differences *found)
{
    const enum part_question question = redis.asked[redis.asks - 1];
    assert_ptr_equal(checks, &redis.checks);
    if (redis.waits > 0 && redis.waits-- > 0)
        return PART_WAIT;
    const enum part_answer answer = question == PART_RELOAD ? redis.reloaded
        : question == PART_REST                             ? redis.rested
                                                            : redis.compared;
    if (answer != PART_DIFFERS)
        return answer;
    *found = (struct part_differences){ .found = redis.differences,
        .count = redis.differences < PART_DIFFERENCES_MAX ? redis.differences : PART_DIFFERENCES_MAX };
    for (uint32_t i = 0; i < found->count; i++)
        snprintf(found->texts[i], sizeof found->texts[i], "partition 32: field %u", i);
    return answer;
}

static int redis_setup(void **state)
{
    static const struct part_checks_ops ops = { .ask = redis_ask, .answer = redis_answer };
    (void)setup(state);
    struct shop *shop = *state;
    memset(&redis, 0, sizeof redis);
    redis.checks.ops = &ops;
    redis.compared = redis.reloaded = redis.rested = PART_EQUAL;
    shop->config.checks = &redis.checks;
    shop->reconcile = reconcile_create(&shop->arena, &shop->config);
    return 0;
}

static void whole_runs_compare_everything_and_recent_ones_what_is_new(void **state)
{
    struct shop *shop = *state;
    finds_nothing(run(shop, false));
    finds_nothing(run_of(shop, false, true));
    assert_int_equal(redis.asks, 2);
    assert_int_equal(redis.asked[0], PART_COMPARE);
    assert_int_equal(redis.asked[1], PART_COMPARE_RECENT);
}

static void a_difference_is_a_finding_and_nothing_is_loaded_unless_asked_for(void **state)
{
    struct shop *shop = *state;
    redis.compared = PART_DIFFERS;
    redis.differences = 1;
    const struct reconcile_report *report = run(shop, false);
    finds_one(report, FINDING_REDIS);
    assert_string_equal(report->findings[0].text, "partition 32: field 0");
    assert_int_equal(redis.asks, 1);
    assert_int_equal(report->repaired, 0);
    finds_one(run_of(shop, false, true), FINDING_REDIS);
    assert_int_equal(redis.asked[1], PART_COMPARE); /* no run was clean yet */
}

static void a_repair_loads_the_partition_anew_once_for_all_its_findings(void **state)
{
    struct shop *shop = *state;
    redis.compared = PART_DIFFERS;
    redis.differences = PART_DIFFERENCES_MAX + 3;
    const struct reconcile_report *report = run(shop, true);
    assert_int_equal(report->found, PART_DIFFERENCES_MAX + 3);
    assert_int_equal(report->repaired, PART_DIFFERENCES_MAX + 3);
    assert_int_equal(report->count, PART_DIFFERENCES_MAX);
    assert_int_equal(redis.asks, 2);
    assert_int_equal(redis.asked[1], PART_RELOAD);
    for (uint32_t i = 0; i < report->count; i++)
        assert_true(report->findings[i].repaired);
    assert_int_equal(shop->told, PART_DIFFERENCES_MAX);
    assert_int_equal(shop->repair_count, 0); /* the database has no part in it */
}

static void what_no_worker_has_loaded_is_not_repaired(void **state)
{
    struct shop *shop = *state;
    redis.compared = PART_DIFFERS;
    redis.differences = 1;
    redis.reloaded = PART_NOT_KNOWN;
    const struct reconcile_report *report = run(shop, true);
    finds_one(report, FINDING_REDIS);
    assert_false(report->findings[0].repaired);
    assert_int_equal(report->repaired, 0);
    assert_int_equal(report->skipped, 0);
}

static void what_cant_be_compared_is_skipped_and_what_is_not_open_is_not(void **state)
{
    struct shop *shop = *state;
    redis.compared = PART_NOT_OPEN;
    finds_nothing(run(shop, false));
    redis.compared = PART_NOT_KNOWN;
    const struct reconcile_report *report = run(shop, false);
    assert_int_equal(report->found, 0);
    assert_int_equal(report->skipped, 1);
}

/* A ticket in question hides sums that follow from it, but not what Redis has. */
static void a_finding_of_a_ticket_does_not_hide_it(void **state)
{
    struct shop *shop = *state;
    redis.compared = PART_DIFFERS;
    redis.differences = 1;
    shop->orders[1].order.user++;
    const struct reconcile_report *report = run(shop, false);
    assert_int_equal(report->found, 2);
    assert_int_equal(report->findings[0].code + report->findings[1].code,
        FINDING_TICKET_DIFFERS + FINDING_REDIS);
}

static void what_is_over_is_put_to_rest_after_a_run_that_found_nothing(void **state)
{
    struct shop *shop = *state;
    redis.compared = PART_OVER;
    finds_nothing(run(shop, false));
    assert_int_equal(redis.asks, 2);
    assert_int_equal(redis.asked[1], PART_REST);
    finds_nothing(run_of(shop, false, true));
    assert_int_equal(redis.asks, 4);
    assert_int_equal(redis.asked[3], PART_REST);
    redis.compared = PART_EQUAL; /* it is not over any more */
    finds_nothing(run(shop, false));
    assert_int_equal(redis.asks, 5);
}

static void after_a_finding_nothing_is_put_to_rest(void **state)
{
    struct shop *shop = *state;
    redis.compared = PART_OVER;
    shop->orders[1].order.user++;
    assert_int_equal(run(shop, false)->found, 1);
    assert_int_equal(redis.asks, 1);
}

static void what_did_not_come_to_rest_is_no_finding_and_not_skipped(void **state)
{
    struct shop *shop = *state;
    redis.compared = PART_OVER;
    redis.rested = PART_NOT_KNOWN;
    finds_nothing(run(shop, false));
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, redis_setup, teardown)
    const struct CMUnitTest tests[] = {
        RULE(whole_runs_compare_everything_and_recent_ones_what_is_new),
        RULE(a_difference_is_a_finding_and_nothing_is_loaded_unless_asked_for),
        RULE(a_repair_loads_the_partition_anew_once_for_all_its_findings),
        RULE(what_no_worker_has_loaded_is_not_repaired),
        RULE(what_cant_be_compared_is_skipped_and_what_is_not_open_is_not),
        RULE(a_finding_of_a_ticket_does_not_hide_it),
        RULE(what_is_over_is_put_to_rest_after_a_run_that_found_nothing),
        RULE(after_a_finding_nothing_is_put_to_rest),
        RULE(what_did_not_come_to_rest_is_no_finding_and_not_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
