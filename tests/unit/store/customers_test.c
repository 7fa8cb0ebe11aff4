/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/customers.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

static struct customer customer(user_id user, const char *sealed)
{
    struct customer made = { .user = user, .bytes = (uint32_t)strlen(sealed) };
    memcpy(made.sealed, sealed, made.bytes);
    return made;
}

static void a_name_is_kept_once_and_found_by_its_user(void **state)
{
    struct place *place = *state;
    const struct customer_store_ops *ops = place->store->ops->customers;
    const struct customer first[] = { customer(7, "seven"), customer(UINT64_MAX, "largest") };
    const struct customer again = customer(7, "another");
    struct customer found;
    assert_int_equal(ops->get(place->store, 7, &found), STATUS_NOT_FOUND);
    assert_int_equal(ops->put(place->store, first, 2, 1000), STATUS_OK);
    assert_int_equal(ops->put(place->store, &again, 1, 2000), STATUS_OK);
    assert_int_equal(ops->get(place->store, 7, &found), STATUS_OK);
    assert_int_equal(found.bytes, 5);
    assert_memory_equal(found.sealed, "seven", 5);
    assert_int_equal(ops->get(place->store, UINT64_MAX, &found), STATUS_OK);
    assert_memory_equal(found.sealed, "largest", 7);
    assert_int_equal(place_number(place, "SELECT count(*) FROM customers"), 2);
}

static void a_batch_that_fails_leaves_nothing(void **state)
{
    struct place *place = *state;
    const struct customer_store_ops *ops = place->store->ops->customers;
    const struct customer rows[] = { customer(1, "a"), customer(2, "b") };
    place_execute(place,
        "CREATE TRIGGER broken BEFORE INSERT ON customers WHEN NEW.user_id = 2 BEGIN SELECT "
        "RAISE(ABORT, 'no'); "
        "END");
    assert_int_not_equal(ops->put(place->store, rows, 2, 1), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM customers"), 0);
}

static void an_order_of_an_offer_is_told_from_others(void **state)
{
    struct place *place = *state;
    const struct customer_store_ops *ops = place->store->ops->customers;
    bool offered = true;
    assert_int_equal(place_sell(place, 1), STATUS_OK);
    assert_int_equal(ops->was_offered(place->store, 1, &offered), STATUS_OK);
    assert_false(offered);
    place_execute(place,
        "INSERT INTO waitlist(item, user_id, quantity, joined_ms, state, ticket, named, passed)"
        " VALUES(1, 1, 1, 1, 2, 1, 0, 0)");
    assert_int_equal(ops->was_offered(place->store, 1, &offered), STATUS_OK);
    assert_true(offered);
    assert_true(place_plan_has(place,
        "EXPLAIN QUERY PLAN SELECT 1 FROM waitlist WHERE state = 2 AND ticket = 5",
        "waitlist_by_ticket"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_name_is_kept_once_and_found_by_its_user),
        TEST(a_batch_that_fails_leaves_nothing),
        TEST(an_order_of_an_offer_is_told_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
