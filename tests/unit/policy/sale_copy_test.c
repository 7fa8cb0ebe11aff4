/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/sale_copy.h"

#include "tests/unit/base/unit.h"

static void an_item_is_as_before_anything_was_sold(void **state)
{
    struct item item = { .id = 9,
        .total = 10,
        .locked = 1,
        .sold = 4,
        .safety = 2,
        .version = 8,
        .channel_units = { 3, 2 },
        .preheated = true,
        .pooled = true };
    (void)state;
    assert_true(item_renew(&item));
    assert_int_equal(item.channel_units[0], 5);
    assert_int_equal(item.id + item.sold + item.version, 0);
    assert_false(item.preheated || item.pooled);
    item.total = 4;
    assert_false(item_renew(&item));
}

static void a_sale_inherits_its_settings_and_nothing_that_happened(void **state)
{
    struct sale sale = { .id = 3,
        .title = "Tea",
        .limit_per_user = 2,
        .waiting_room = true,
        .published = true,
        .archived = true,
        .gate = GATE_ENDED,
        .beacon_name = "b",
        .terms_lsn = 5,
        .timetable = 4,
        .day_ms = 6 };
    (void)state;
    sale_renew(&sale);
    assert_string_equal(sale.title, "Tea");
    assert_int_equal(sale.limit_per_user, 2);
    assert_true(sale.waiting_room);
    assert_false(sale.published || sale.archived);
    assert_int_equal(sale.gate, GATE_SCHEDULED);
    assert_int_equal(sale.id + sale.timetable, 0);
    assert_int_equal(sale.terms_lsn + sale.day_ms, 0);
    assert_string_equal(sale.beacon_name, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_is_as_before_anything_was_sold),
        cmocka_unit_test(a_sale_inherits_its_settings_and_nothing_that_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
