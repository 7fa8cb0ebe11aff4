/* SPDX-License-Identifier: Apache-2.0 */
#include "api/sale_meters.h"

#include "tests/unit/base/unit.h"

enum { ITEMS = 100, EDGES = 2 };

static struct arena arena;

static int open_meters(void **state)
{
    assert_int_equal(arena_open(&arena, sale_meters_bytes(ITEMS, EDGES)), STATUS_OK);
    *state = sale_meters_create(&arena, ITEMS, EDGES);
    return 0;
}

static int close_meters(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void each_sale_counts_what_its_own_items_were_answered(void **state)
{
    struct sale_meters *meters = *state;
    sale_meters_assign(meters, 5, 1);
    sale_meters_assign(meters, 6, 1);
    sale_meters_assign(meters, 7, 2);
    sale_meter_count(meters, 0, 5, DOOR_GO);
    sale_meter_count(meters, 1, 6, DOOR_GO);
    sale_meter_count(meters, 1, 7, DOOR_SOLD_OUT);
    sale_meter_count(meters, 0, 7, DOOR_REASONS + ANSWER_WON);
    assert_int_equal(sale_meters_read(meters, 1, DOOR_GO), 2);
    assert_int_equal(sale_meters_read(meters, 2, DOOR_GO), 0);
    assert_int_equal(sale_meters_read(meters, 2, DOOR_SOLD_OUT), 1);
    assert_int_equal(sale_meters_read(meters, 2, DOOR_REASONS + ANSWER_WON), 1);
}

static void items_without_a_meter_are_counted_nowhere(void **state)
{
    struct sale_meters *meters = *state;
    sale_meters_assign(meters, ITEMS, 1); /* beyond the table */
    sale_meter_count(meters, 0, 9, DOOR_GO);
    sale_meter_count(meters, 0, ITEMS, DOOR_GO);
    sale_meter_count(meters, 0, UINT32_MAX, DOOR_GO);
    for (uint32_t meter = 1; meter <= SALE_METERS; meter++)
        assert_int_equal(sale_meters_read(meters, meter, DOOR_GO), 0);
}

static void a_released_meter_counts_no_more(void **state)
{
    struct sale_meters *meters = *state;
    sale_meters_assign(meters, 5, SALE_METERS);
    sale_meters_assign(meters, 7, 2);
    sale_meters_release(meters, SALE_METERS);
    sale_meter_count(meters, 0, 5, METER_LAYERS - 1);
    sale_meter_count(meters, 0, 7, METER_LAYERS - 1);
    assert_int_equal(sale_meters_read(meters, SALE_METERS, METER_LAYERS - 1), 0);
    assert_int_equal(sale_meters_read(meters, 2, METER_LAYERS - 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            each_sale_counts_what_its_own_items_were_answered, open_meters, close_meters),
        cmocka_unit_test_setup_teardown(
            items_without_a_meter_are_counted_nowhere, open_meters, close_meters),
        cmocka_unit_test_setup_teardown(a_released_meter_counts_no_more, open_meters, close_meters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
