/* SPDX-License-Identifier: Apache-2.0 */
/* Units of a product are in its stock or in one item. */
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

static struct item item_make(struct place *place, uint32_t total)
{
    struct item item = { .sale = 1, .product = 1, .total = total, .channel_units = { total } };
    assert_int_equal(place->store->ops->item_insert(place->store, &item), STATUS_OK);
    return item;
}

static int64_t stock(const struct place *place)
{
    return place_number(place, "SELECT stock FROM products");
}

static void items_take_what_they_want_or_what_there_is_and_once(void **state)
{
    struct place *place = *state;
    struct item first = item_make(place, 7), second = item_make(place, 7), third = item_make(place, 7);
    assert_int_equal(place->store->ops->item_draw(place->store, &first), STATUS_OK);
    assert_false(first.pooled); /* the product has no stock of its own */
    assert_int_equal(place->store->ops->product_stock(place->store, 1, 10), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(place->store->ops->item_draw(place->store, &first), STATUS_OK);
        assert_true(first.pooled);
        assert_int_equal(first.total, 7);
        assert_int_equal(stock(place), 3);
    }
    assert_int_equal(place->store->ops->item_draw(place->store, &second), STATUS_OK);
    assert_int_equal(second.total, 3);
    assert_int_equal(second.channel_units[0], 3);
    assert_int_equal(place->store->ops->item_draw(place->store, &third), STATUS_OK);
    assert_int_equal(third.total, 0);
    assert_int_equal(stock(place), 0);
    assert_int_equal(place_number(place, "SELECT sum(total) FROM items WHERE pooled = 1"), 10);
}

static void an_item_that_is_preheated_takes_nothing(void **state)
{
    struct place *place = *state;
    struct item item = item_make(place, 5);
    assert_int_equal(place->store->ops->product_stock(place->store, 1, 10), STATUS_OK);
    place_execute(place, "UPDATE items SET preheated = 1");
    assert_int_equal(place->store->ops->item_draw(place->store, &item), STATUS_OK);
    assert_int_equal(stock(place), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            items_take_what_they_want_or_what_there_is_and_once, setup, teardown),
        cmocka_unit_test_setup_teardown(an_item_that_is_preheated_takes_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
