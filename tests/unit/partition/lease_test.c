/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/lease.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LONG_MS = 60 * 60 * 1000, NOW_MS = 5000 };

struct fixture {
    struct place place;
    struct lease_asker one, two;
    struct part_lease lease, other; /* of the one, of the other */
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    place_make(&f->place);
    assert_int_equal(place_open(&f->place, NULL), STATUS_OK);
    f->one = (struct lease_asker){ f->place.store, 1, LONG_MS };
    f->two = (struct lease_asker){ f->place.store, 2, LONG_MS };
    part_lease_init(&f->lease, 7);
    part_lease_init(&f->other, 7);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    place_remove(&f->place);
    test_free(f);
    return 0;
}

static void a_lease_is_believed_for_its_time_and_asked_for_before(void **state)
{
    struct fixture *f = *state;
    assert_false(part_lease_is_held(&f->lease, NOW_MS));
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS), LEASE_GOT);
    assert_true(part_lease_is_held(&f->lease, NOW_MS + LONG_MS - 1));
    assert_false(part_lease_is_held(&f->lease, NOW_MS + LONG_MS));
    assert_int_equal(f->lease.due_ms, NOW_MS + LONG_MS / 3);
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS + 10), LEASE_KEPT);
    assert_true(part_lease_is_held(&f->lease, NOW_MS + LONG_MS));
    assert_int_equal(
        place_number(&f->place, "SELECT count(*) FROM leases WHERE name = 'part 7' AND holder = 1"), 1);
}

static void what_somebody_else_has_is_lost_and_asked_for_less_often(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS), LEASE_GOT);
    assert_int_equal(part_lease_ask(&f->other, &f->two, NOW_MS), LEASE_LOST);
    assert_false(part_lease_is_held(&f->other, NOW_MS));
    assert_int_equal(f->other.due_ms, NOW_MS + LONG_MS / 2);
    place_execute(&f->place, "UPDATE leases SET until_ms = 1");
    assert_int_equal(part_lease_ask(&f->other, &f->two, NOW_MS), LEASE_GOT);
    assert_true(part_lease_is_held(&f->lease, NOW_MS)); /* it does not know yet */
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS), LEASE_LOST);
    assert_false(part_lease_is_held(&f->lease, NOW_MS));
}

/* A lease that ran out while nobody wanted it is the same; one that somebody had in between is not. */
static void a_lease_that_somebody_had_in_between_is_a_new_one(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS), LEASE_GOT);
    place_execute(&f->place, "UPDATE leases SET until_ms = 1");
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS + 2 * LONG_MS), LEASE_KEPT);
    place_execute(&f->place, "UPDATE leases SET until_ms = 1");
    assert_int_equal(part_lease_ask(&f->other, &f->two, NOW_MS), LEASE_GOT);
    part_lease_give(&f->other, &f->two);
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS + 3 * LONG_MS), LEASE_GOT);
}

static void a_database_that_cannot_be_asked_changes_nothing(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS), LEASE_GOT);
    place_execute(&f->place, "ALTER TABLE leases RENAME TO gone");
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS + 10), LEASE_NOT_KNOWN);
    assert_true(part_lease_is_held(&f->lease, NOW_MS + LONG_MS - 1));
    assert_false(part_lease_is_held(&f->lease, NOW_MS + LONG_MS)); /* it was not made longer */
    assert_int_equal(f->lease.due_ms, NOW_MS + 10 + LEASE_AGAIN_MS);
    place_execute(&f->place, "ALTER TABLE gone RENAME TO leases");
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS + 20), LEASE_KEPT);
}

static void what_is_given_back_is_free_at_once(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(part_lease_ask(&f->lease, &f->one, NOW_MS), LEASE_GOT);
    part_lease_give(&f->other, &f->two); /* not its own: nothing */
    assert_int_equal(part_lease_ask(&f->other, &f->two, NOW_MS), LEASE_LOST);
    part_lease_give(&f->lease, &f->one);
    assert_false(part_lease_is_held(&f->lease, NOW_MS));
    assert_int_equal(part_lease_ask(&f->other, &f->two, NOW_MS), LEASE_GOT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_lease_is_believed_for_its_time_and_asked_for_before, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_somebody_else_has_is_lost_and_asked_for_less_often, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lease_that_somebody_had_in_between_is_a_new_one, setup, teardown),
        cmocka_unit_test_setup_teardown(a_database_that_cannot_be_asked_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_given_back_is_free_at_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
