/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/ticket_ranges.h"

#include "contract/ticket_number.h"
#include "tests/unit/base/unit.h"

static struct ticket_ranges ranges;

static ticket_number number(uint32_t part, uint32_t epoch, uint32_t n)
{
    return ticket_number_make(&(struct ticket_parts){ part, epoch, n });
}

/* Partition 0 with three tickets of one machine and two later ones; 32 with two epochs; 33 with one. */
static void shop_make(void)
{
    ranges = (struct ticket_ranges){ 0 };
    assert_true(ticket_ranges_add(&ranges, 1, 3));
    assert_true(ticket_ranges_add(&ranges, number(0, 17, 4), 2));
    assert_true(ticket_ranges_add(&ranges, number(32, 1, 1), 10));
    assert_true(ticket_ranges_add(&ranges, number(32, 3, 11), 1));
    assert_true(ticket_ranges_add(&ranges, number(33, 2, 1), 5));
}

static void told_numbers_and_numbers_of_the_engine_are_found_both_ways(void **state)
{
    (void)state;
    shop_make();
    assert_int_equal(ranges.last, 21);
    assert_int_equal(ranges.count, 5);
    for (ticket_number inside = 1; inside <= 21; inside++)
        assert_int_equal(ticket_ranges_inside(&ranges, ticket_ranges_outside(&ranges, inside)), inside);
    assert_int_equal(ticket_ranges_outside(&ranges, 3), 3);
    assert_int_equal(ticket_ranges_outside(&ranges, 4), number(0, 17, 4));
    assert_int_equal(ticket_ranges_outside(&ranges, 15), number(32, 1, 10));
    assert_int_equal(ticket_ranges_outside(&ranges, 16), number(32, 3, 11));
    assert_int_equal(ticket_ranges_inside(&ranges, number(33, 2, 5)), 21);
}

static void later_tickets_have_one_number_and_no_told_number_is_another_ones(void **state)
{
    (void)state;
    shop_make();
    assert_int_equal(ticket_ranges_outside(&ranges, 22), 22);
    assert_int_equal(ticket_ranges_inside(&ranges, 22), 22);
    assert_int_equal(ticket_ranges_inside(&ranges, TICKET_NUMBER_MAX), TICKET_NUMBER_MAX);
    assert_int_equal(ticket_ranges_inside(&ranges, 4), 0); /* inside it is another one's */
    assert_int_equal(ticket_ranges_inside(&ranges, 21), 0);
    assert_int_equal(ticket_ranges_inside(&ranges, number(32, 1, 11)), 0); /* was void */
    assert_int_equal(ticket_ranges_inside(&ranges, number(33, 2, 6)), 0);
    assert_int_equal(ticket_ranges_inside(&ranges, number(64, 1, 1)), 0);
    assert_int_equal(ticket_ranges_inside(&ranges, 0), 0);
    assert_true(ticket_ranges_knows_part(&ranges, number(33, 2, 6)));
    assert_false(ticket_ranges_knows_part(&ranges, number(34, 2, 6)));
    assert_false(ticket_ranges_knows_part(&ranges, 5));
    assert_int_equal(ticket_ranges_inside(NULL, 7), 7);
    assert_int_equal(ticket_ranges_outside(NULL, 7), 7);
}

static void ranges_that_do_not_ascend_or_are_too_many_are_refused(void **state)
{
    (void)state;
    shop_make();
    assert_false(ticket_ranges_add(&ranges, number(33, 2, 5), 1));
    assert_false(ticket_ranges_add(&ranges, number(33, 2, 7), 0));
    assert_false(ticket_ranges_add(&ranges, number(34, 1, 1), UINT32_MAX - 21));
    assert_true(ticket_ranges_add(&ranges, number(33, 2, 6), 1)); /* goes on: no range of its own */
    assert_int_equal(ranges.count, 5);
    for (uint32_t i = 0; ranges.count < TICKET_RANGES_MAX; i++)
        assert_true(ticket_ranges_add(&ranges, number(40 + i, 1, 1), 1));
    assert_false(ticket_ranges_add(&ranges, number(PART_MAX, 1, 1), 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told_numbers_and_numbers_of_the_engine_are_found_both_ways),
        cmocka_unit_test(later_tickets_have_one_number_and_no_told_number_is_another_ones),
        cmocka_unit_test(ranges_that_do_not_ascend_or_are_too_many_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
