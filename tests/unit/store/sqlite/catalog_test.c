/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/sqlite/place.h"

#include <setjmp.h>
#include <stdarg.h>
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
    place_execute(place, "UPDATE items SET id = 65534");
    struct item item = { .sale = 1, .product = 1, .total = 1 };
    assert_int_equal(place->store->ops->item_insert(place->store, &item), STATUS_OK);
    assert_int_equal(item.id, ITEMS_LIMIT - 1);
    assert_int_equal(place->store->ops->item_insert(place->store, &item), STATUS_REFUSED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_longest_texts_survive),
        TEST(texts_that_do_not_fit_are_cut_not_overrun),
        TEST(ids_stay_below_what_the_engine_can_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
