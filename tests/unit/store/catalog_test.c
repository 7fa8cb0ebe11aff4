/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static void the_longest_texts_survive(void **state)
{
    struct place *place = *state;
    static struct product product, got;
    memset(product.name, 'n', NAME_BYTES_MAX);
    memset(product.description, 'd', DESCRIPTION_BYTES_MAX);
    memset(product.images, 'i', IMAGES_BYTES_MAX);
    memcpy(product.currency, "CNY", 4);
    product.list_price = INT64_MAX;
    assert_int_equal(place->store->ops->product_insert(place->store, &product), STATUS_OK);
    assert_int_equal(place->store->ops->product_get(place->store, product.id, &got), STATUS_OK);
    assert_string_equal(got.name, product.name);
    assert_string_equal(got.description, product.description);
    assert_string_equal(got.images, product.images);
    assert_true(got.list_price == INT64_MAX);
}

static void texts_that_do_not_fit_are_cut_not_overrun(void **state)
{
    struct place *place = *state;
    static struct product got;
    place_execute(place, "UPDATE products SET name = printf('%.*c', 5000, 'x'), currency = 'ABC'");
    assert_int_equal(place->store->ops->product_get(place->store, 1, &got), STATUS_OK);
    assert_int_equal(strlen(got.name), NAME_BYTES_MAX);
}

static void ids_stay_below_what_the_engine_can_hold(void **state)
{
    struct place *place = *state;
    place_execute(place, "UPDATE items SET id = 262142");
    struct item item = { .sale = 1, .product = 1, .total = 1 };
    assert_int_equal(place->store->ops->item_insert(place->store, &item), STATUS_OK);
    assert_int_equal(item.id, ITEMS_LIMIT - 1);
    assert_int_equal(place->store->ops->item_insert(place->store, &item), STATUS_REFUSED);
}

/* The ids of sales_due, a page of two at a time. */
static uint32_t due(const struct place *place, uint64_t over_ms, uint64_t start_ms, sale_id *ids)
{
    struct sales_cursor cursor = sales_cursor_after(over_ms);
    struct sale sales[2];
    uint32_t count = 2, found = 0;
    while (count == 2) {
        assert_int_equal(
            place->store->ops->sales_due(place->store, &cursor, start_ms, sales, 2, &count), STATUS_OK);
        for (uint32_t i = 0; i < count; i++)
            ids[found++] = sales[i].id;
    }
    return found;
}

static sale_id sale_make(const struct place *place, uint64_t start_ms, uint64_t end_ms, const char *more)
{
    struct sale sale = { .title = "Sale", .start_ms = start_ms, .end_ms = end_ms };
    char sql[120];
    assert_int_equal(place->store->ops->sale_insert(place->store, &sale), STATUS_OK);
    snprintf(sql, sizeof sql, "UPDATE sales SET %s WHERE id = %u", more, sale.id);
    if (more[0] != 0)
        place_execute(place, sql);
    return sale.id;
}

static void sales_that_are_due_are_those_that_start_or_were_opened_or_want_to_be_preheated(void **state)
{
    struct place *place = *state; /* has a sale that ended at 2 */
    sale_id ids[8];
    const sale_id open = sale_make(place, 50, 300, ""), ended = sale_make(place, 50, 300, "gate = 3"),
                  by_hand = sale_make(place, 900, 1000, "gate = 1"),
                  preheat = sale_make(place, 900, 1000, "preheat_at_ms = 100"),
                  later = sale_make(place, 900, 1000, "preheat_at_ms = 101"),
                  soon = sale_make(place, 100, 200, "gate = 2");
    assert_int_equal(due(place, 99, 100, ids), 4);
    assert_true(ids[0] == soon && ids[1] == open && ids[2] == by_hand && ids[3] == preheat);
    assert_int_equal(due(place, 99, 99, ids), 2);
    assert_true(ids[0] == open && ids[1] == by_hand);
    assert_int_equal(due(place, 200, 101, ids), 4); /* one is over at its end */
    assert_true(ids[0] == open && ids[3] == later);
    assert_true(ended != 0 && due(place, 1000, 5000, ids) == 0);
}

static void sales_are_tallied(void **state)
{
    struct place *place = *state;
    struct sales_tally tally;
    sale_make(place, 50, 300, "gate = 3");
    sale_make(place, 100, 300, "");
    assert_int_equal(place->store->ops->sales_tally(place->store, 99, &tally), STATUS_OK);
    assert_true(tally.ids == 3 && tally.live == 1 && !tally.open);
    assert_int_equal(place->store->ops->sales_tally(place->store, 100, &tally), STATUS_OK);
    assert_true(tally.live == 1 && tally.open);
    assert_int_equal(place->store->ops->sales_tally(place->store, 300, &tally), STATUS_OK);
    assert_true(tally.ids == 3 && tally.live == 0 && !tally.open);
    sale_make(place, 900, 1000, "gate = 1");
    assert_int_equal(place->store->ops->sales_tally(place->store, 300, &tally), STATUS_OK);
    assert_true(tally.ids == 4 && tally.live == 1 && tally.open);
}

/* A folder may hold thousands of them. */
static void sales_that_are_over_cost_nothing(void **state)
{
    struct place *place = *state;
    assert_true(place_plan_has(place,
        "EXPLAIN QUERY PLAN SELECT title FROM sales WHERE gate <> 3 AND (end_ms, id) > (1, 2)"
        " AND (start_ms <= 3 OR gate = 1 OR (preheat_at_ms > 0 AND preheat_at_ms <= 3))"
        " ORDER BY end_ms, id LIMIT 4",
        "SEARCH sales USING INDEX sales_not_ended"));
    assert_true(place_plan_has(place,
        "EXPLAIN QUERY PLAN SELECT count(*), max(start_ms <= 1 OR gate = 1) FROM sales"
        " WHERE gate <> 3 AND end_ms > 1",
        "SEARCH sales USING COVERING INDEX sales_not_ended"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_longest_texts_survive),
        TEST(texts_that_do_not_fit_are_cut_not_overrun),
        TEST(ids_stay_below_what_the_engine_can_hold),
        TEST(sales_that_are_due_are_those_that_start_or_were_opened_or_want_to_be_preheated),
        TEST(sales_are_tallied),
        TEST(sales_that_are_over_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
