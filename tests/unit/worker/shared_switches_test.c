/* SPDX-License-Identifier: Apache-2.0 */
/* Switches that stand in a real database, and a process that follows them. */
#include "worker/shared_switches.h"

#include "contract/cluster_store.h"
#include "funnel/switches.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/store/place.h"

static struct place place;
static struct switches switches;

static int setup(void **state)
{
    (void)state;
    place_make(&place);
    for (unsigned name = 0; name < SWITCHES; name++)
        switch_set(&switches, (enum switch_name)name, 0);
    return place_open(&place, NULL) == STATUS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    place_remove(&place);
    for (item_id item = 1; item < 100; item++)
        switch_sold_out_set(&switches, item, false);
    return 0;
}

static bool follow(void)
{
    bool changed = false;
    assert_int_equal(shared_switches_read(place.store, &switches, &changed), STATUS_OK);
    return changed;
}

static void what_nobody_has_turned_stays_as_it_is_configured(void **state)
{
    (void)state;
    switch_set(&switches, SWITCH_ADDRESS_RATE, 20);
    assert_false(follow());
    assert_int_equal(switch_value(&switches, SWITCH_ADDRESS_RATE), 20);
}

static void a_process_follows_what_others_have_turned_and_turned_back(void **state)
{
    (void)state;
    switch_set(&switches, SWITCH_REFUSE_NEW, 1); /* configured so */
    place_execute(&place, "INSERT INTO switches(name, item, value) VALUES('refuse_new', 0, 0)");
    place_execute(&place, "INSERT INTO switches(name, item, value) VALUES('pow_boost', 0, 4)");
    place_execute(&place, "INSERT INTO switches(name, item, value) VALUES('sold_out_items', 7, 1)");
    place_execute(&place, "INSERT INTO switches(name, item, value) VALUES('sold_out_items', 9, 1)");
    assert_true(follow());
    assert_false(follow());
    assert_int_equal(switch_value(&switches, SWITCH_REFUSE_NEW), 0);
    assert_int_equal(switch_value(&switches, SWITCH_POW_BOOST), 4);
    assert_true(switch_sold_out(&switches, 7) && switch_sold_out(&switches, 9)
        && !switch_sold_out(&switches, 8));
    place_execute(&place, "DELETE FROM switches WHERE item = 7");
    place_execute(&place, "UPDATE switches SET value = 0 WHERE name = 'pow_boost'");
    assert_true(follow());
    assert_int_equal(switch_value(&switches, SWITCH_POW_BOOST), 0);
    assert_true(!switch_sold_out(&switches, 7) && switch_sold_out(&switches, 9));
}

static void what_it_does_not_know_and_what_is_too_much_does_no_harm(void **state)
{
    (void)state;
    place_execute(&place, "INSERT INTO switches(name, item, value) VALUES('of a newer version', 0, 1)");
    place_execute(&place, "INSERT INTO switches(name, item, value) VALUES('of a newer version', 5, 1)");
    assert_false(follow());
    assert_false(switch_sold_out(&switches, 5));
    place_execute(&place, "INSERT INTO switches(name, item, value) VALUES('pow_boost', 0, 4000000000)");
    assert_true(follow());
    assert_int_equal(switch_value(&switches, SWITCH_POW_BOOST), POW_BOOST_MAX);
    place_execute(&place, "ALTER TABLE switches RENAME TO gone");
    bool changed = true;
    assert_int_not_equal(shared_switches_read(place.store, &switches, &changed), STATUS_OK);
    assert_false(changed);
    assert_int_equal(switch_value(&switches, SWITCH_POW_BOOST), POW_BOOST_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_nobody_has_turned_stays_as_it_is_configured, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_process_follows_what_others_have_turned_and_turned_back, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_it_does_not_know_and_what_is_too_much_does_no_harm, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
