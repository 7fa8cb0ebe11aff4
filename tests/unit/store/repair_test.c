/* SPDX-License-Identifier: Apache-2.0 */
/* What reconciliation mends, row by row. */
#include "contract/reconcile.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define look(place) ((place)->store->ops->reconcile)

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

static void repairs_set_what_the_rows_say_and_refuse_what_needs_a_person(void **state)
{
    struct place *place = *state;
    struct finding finding = { .code = FINDING_SOLD, .item = place->item };
    struct look_order row;
    place_execute(place, "UPDATE items SET sold = sold + 2");
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT sold FROM items"), 5);
    finding = (struct finding){ .code = FINDING_EVENT_MISSING, .ticket = 2, .step = SETTLE_RETURN };
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(look(place)->order(place->store, 2, &row), STATUS_OK);
    assert_int_equal(row.open, 1 << SETTLE_RETURN);
    finding.code = FINDING_EVENT_STALE;
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_CONFLICT);
    assert_int_equal(look(place)->order(place->store, 2, &row), STATUS_OK);
    assert_int_equal(row.confirmed, 1 << SETTLE_RETURN);
    finding = (struct finding){ .code = FINDING_COUNTER, .scope = place->item, .user = 77 };
    place_execute(place, "INSERT INTO user_counters VALUES(1, 77, 4)");
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM user_counters WHERE user_id = 77"), 0);
    finding.code = FINDING_TICKET_DIFFERS;
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_BAD_INPUT);
}

/* Their key would refuse it in one lot, but they are in two. */
static void a_slot_is_not_given_to_a_second_live_order(void **state)
{
    struct place *place = *state;
    const struct finding finding = { .code = FINDING_SLOT, .ticket = 2 };
    place_execute(place,
        "UPDATE orders SET state = 1, reason = 0, slot = 2, lot = 1, user_id ="
        " (SELECT user_id FROM orders WHERE ticket = 1) WHERE ticket = 2");
    place_execute(place, "UPDATE items SET last_lot = 1");
    assert_int_equal(place_number(place, "SELECT slot FROM orders WHERE ticket = 1"), 0);
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_CONFLICT);
    place_execute(place, "UPDATE orders SET user_id = 4711 WHERE ticket = 2");
    assert_int_equal(look(place)->repair(place->store, &finding, 1), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT slot FROM orders WHERE ticket = 2"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(repairs_set_what_the_rows_say_and_refuse_what_needs_a_person,
            place_setup, place_teardown),
        cmocka_unit_test_setup_teardown(
            a_slot_is_not_given_to_a_second_live_order, place_setup, place_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
