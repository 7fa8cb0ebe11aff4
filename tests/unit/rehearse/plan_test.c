/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/plan.h"

#include "tests/unit/base/unit.h"

enum { USERS = 20000 };
static struct visitor first[USERS], second[USERS];
static const struct sale_facts facts = { .sale = 1,
    .item_count = 2,
    .items = { 4, 9 },
    .units = { 900, 100 },
    .start_ns = 10 * NS_PER_S,
    .pass_early_ns = 5 * NS_PER_S };

static struct plan_options options_of(uint64_t seed)
{
    return (struct plan_options){
        .seed = seed, .users = USERS, .bots_percent = 20, .late_s = 20, .pays_percent = 75
    };
}

static void the_same_seed_makes_the_same_plan(void **state)
{
    (void)state;
    struct plan_options options = options_of(1);
    plan_make(&options, &facts, first);
    plan_make(&options, &facts, second);
    assert_memory_equal(first, second, sizeof first);
    options = options_of(2);
    plan_make(&options, &facts, second);
    assert_memory_not_equal(first, second, sizeof first);
}

static void shares_are_those_that_were_asked_for(void **state)
{
    (void)state;
    const struct plan_options options = options_of(3);
    uint32_t bots = 0, pays = 0, small = 0, early = 0, people = 0;
    plan_make(&options, &facts, first);
    for (uint32_t i = 0; i < USERS; i++) {
        bots += first[i].kind != VISITOR_HUMAN;
        pays += first[i].mood == MOOD_PAYS;
        small += first[i].item == 1;
        if (first[i].kind == VISITOR_HUMAN) {
            people++;
            early += first[i].due_ns < facts.start_ns;
        }
    }
    assert_in_range(bots, USERS * 19 / 100, USERS * 21 / 100);
    assert_in_range(pays, USERS * 73 / 100, USERS * 77 / 100);
    assert_in_range(small, USERS * 9 / 100, USERS * 11 / 100);
    assert_in_range(early, people * 58 / 100, people * 62 / 100);
}

static void people_have_an_address_each_and_come_within_the_time(void **state)
{
    (void)state;
    const struct plan_options options = options_of(4);
    uint32_t last = 0;
    plan_make(&options, &facts, first);
    for (uint32_t i = 0; i < USERS; i++) {
        assert_true(first[i].due_ns <= facts.start_ns + 20 * NS_PER_S);
        if (first[i].kind != VISITOR_HUMAN)
            continue;
        assert_true(first[i].address > last);
        last = first[i].address;
    }
}

static void a_measure_has_equal_distances(void **state)
{
    (void)state;
    plan_make_measure(11, 1000, first);
    for (uint32_t i = 0; i < 11; i++)
        assert_int_equal(first[i].due_ns, i * NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_makes_the_same_plan),
        cmocka_unit_test(shares_are_those_that_were_asked_for),
        cmocka_unit_test(people_have_an_address_each_and_come_within_the_time),
        cmocka_unit_test(a_measure_has_equal_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
