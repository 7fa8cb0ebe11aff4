/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and figures for the final report of a sale. */
#include "contract/report.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int place_setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    *state = place;
    return 0;
}

static int place_teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static void counts_of_a_sale_add_up_and_the_first_sold_out_counts(void **state)
{
    struct place *place = *state;
    const struct report_store_ops *report = place->store->ops->report;
    struct sale_count counts[3] = { { "door.go", 3 }, { "sold-out", 100 } }, again[4];
    struct sale_figures figures;
    uint32_t count;
    assert_int_equal(report->counts_add(place->store, 1, counts, 2), STATUS_OK);
    counts[1].count = 200;
    assert_int_equal(report->counts_add(place->store, 1, counts, 2), STATUS_OK);
    assert_int_equal(report->counts_add(place->store, 999, counts, 1), STATUS_REFUSED);
    assert_int_equal(report->counts(place->store, 1, again, 4, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(again[0].count, 6);
    assert_int_equal(again[1].count, 100);
    assert_int_equal(report->figures(place->store, 1, &figures), STATUS_OK);
    assert_int_equal(figures.winners, 5);
    assert_int_equal(figures.orders[ORDER_PENDING], 5);
    assert_int_equal(figures.payments, 0);
}

static void the_money_of_a_sale_may_be_more_than_63_bits(void **state)
{
    struct place *place = *state;
    struct sale_figures figures;
    place_execute(
        place, "UPDATE order_sums SET state = 2, amount_high = orders * (1 << 30), amount_low = 0");
    assert_int_equal(place->store->ops->report->figures(place->store, 1, &figures), STATUS_OK);
    assert_int_equal(figures.currencies, 1);
    assert_true(figures.money[0].paid == (uint64_t)5 << 62); /* the rest above 64 bits is lost */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_money_of_a_sale_may_be_more_than_63_bits, place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(
            counts_of_a_sale_add_up_and_the_first_sold_out_counts, place_setup, place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
