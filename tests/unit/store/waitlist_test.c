/* SPDX-License-Identifier: Apache-2.0 */
/* The line in the file: counted along, once per user, and never searched from one end to the other.
 * What it does is in tests/seam/store_suite_waitlist.c. */
#include "contract/waitlist.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>

#include <stdio.h>
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

static void join(struct place *place, user_id user)
{
    struct waitlist_place row = { .item = place->item, .user = user, .quantity = 1, .joined_ms = 1 };
    uint8_t answer = JOIN_FULL;
    assert_int_equal(place->store->ops->waitlist->join(place->store, &row, 1000, &answer), STATUS_OK);
    assert_int_equal(answer, JOIN_DONE);
}

static void the_count_of_a_line_is_that_of_its_places(void **state)
{
    struct place *place = *state;
    bool left = false;
    for (user_id user = 1; user <= 10; user++)
        join(place, user);
    for (user_id user = 1; user <= 10; user += 3)
        assert_int_equal(
            place->store->ops->waitlist->leave(place->store, place->item, user, &left), STATUS_OK);
    join(place, 4);
    assert_int_equal(place_number(place, "SELECT waiting FROM waitlist_lines"), 7);
    assert_int_equal(place_number(place, "SELECT count(*) FROM waitlist WHERE state = 1"), 7);
    assert_int_equal(place_number(place, "SELECT count(*) FROM waitlist"), 11);
}

static void the_file_itself_refuses_a_second_place_and_an_offer_without_a_ticket(void **state)
{
    struct place *place = *state;
    join(place, 1);
    assert_int_not_equal(
        place_try(place, "INSERT INTO waitlist SELECT NULL, item, user_id, 1, 1, 1, 0, 0, 0 FROM waitlist"),
        0);
    assert_int_not_equal(place_try(place, "UPDATE waitlist SET state = 2"), 0);
    assert_int_not_equal(place_try(place, "UPDATE waitlist SET ticket = 5"), 0);
    assert_int_equal(place_number(place, "SELECT waiting FROM waitlist_lines"), 1);
}

/* The statements as waitlist.c has them, as far as they decide the plan. */
static void no_statement_walks_through_all_places(void **state)
{
    static const char *const statements[] = {
        "SELECT 1 FROM waitlist WHERE item = ?1 AND id < ?2 AND state = 1 LIMIT ?3",
        "UPDATE waitlist SET state = 3 WHERE item = ?1 AND user_id = ?2 AND state = 1",
        "SELECT id FROM waitlist WHERE item = ?1 AND quantity <= ?2 AND state = 1 AND named = 0 "
        "AND passed "
        "= 0 ORDER BY id LIMIT ?3",
        "UPDATE waitlist SET passed = 0 WHERE passed = 1",
        "UPDATE waitlist SET passed = 0 WHERE passed = 1 AND user_id = ?1",
        "UPDATE waitlist SET named = 0 WHERE named = ?1 AND named <> 0",
        "SELECT id FROM waitlist WHERE named = ?1 AND named <> 0 ORDER BY id LIMIT ?2",
        "SELECT waitlist.id FROM orders JOIN waitlist ON waitlist.item = orders.item WHERE "
        "orders.ticket = "
        "?1 AND waitlist.quantity <= orders.quantity AND waitlist.state = 1 AND waitlist.named = 0 "
        "AND "
        "waitlist.passed = 0 ORDER BY waitlist.id",
        "SELECT id FROM waitlist WHERE item = ?1 AND user_id = ?2 ORDER BY id DESC LIMIT 1",
    };
    const struct place *place = *state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        char sql[1024];
        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", statements[i]);
        assert_true(place_plan_has(place, sql, "USING"));
        assert_false(place_plan_has(place, sql, "TEMP B-TREE"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_count_of_a_line_is_that_of_its_places, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_file_itself_refuses_a_second_place_and_an_offer_without_a_ticket, setup, teardown),
        cmocka_unit_test_setup_teardown(no_statement_walks_through_all_places, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
