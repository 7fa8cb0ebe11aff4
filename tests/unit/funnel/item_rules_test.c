/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/item_rules.h"

#include "tests/unit/base/unit.h"

static struct item_rules rules;

static void check(item_id item, struct item_rule rule)
{
    const struct item_rule read = item_rule_of(&rules, item);
    assert_true(read.known == rule.known && read.waiting_room == rule.waiting_room);
    assert_true(read.deduct_on_payment == rule.deduct_on_payment && read.offers == rule.offers);
    assert_int_equal(read.drop_percent, rule.drop_percent);
    assert_int_equal(read.pace_per_s, rule.pace_per_s);
}

static void what_is_set_is_read_and_touches_no_neighbour(void **state)
{
    static const struct item_rule each[] = {
        { .known = true },
        { .known = true, .waiting_room = true },
        { .known = true, .deduct_on_payment = true },
        { .known = true, .drop_percent = 100 },
        { .known = true, .pace_per_s = UINT32_MAX },
        { .known = true, .offers = true },
        { .known = true, true, true, true, UINT8_MAX, UINT32_MAX },
        { .known = false },
    };
    (void)state;
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++) {
        item_rule_set(&rules, 7, &each[i]);
        check(7, each[i]);
        check(6, (struct item_rule){ .known = false });
        check(8, (struct item_rule){ .known = false });
    }
}

static void of_what_is_not_known_nothing_is_told(void **state)
{
    (void)state;
    const struct item_rule rule = { .known = false, .drop_percent = 50, .pace_per_s = 9 };
    item_rule_set(&rules, ITEMS_LIMIT - 1, &rule);
    check(ITEMS_LIMIT - 1, (struct item_rule){ .known = false });
    check(ITEMS_LIMIT, (struct item_rule){ .known = false });
    check(UINT32_MAX, (struct item_rule){ .known = false });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_set_is_read_and_touches_no_neighbour),
        cmocka_unit_test(of_what_is_not_known_nothing_is_told),
    };
    return cmocka_run_group_tests_name("funnel/item_rules", tests, NULL, NULL);
}
