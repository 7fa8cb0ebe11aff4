/* SPDX-License-Identifier: Apache-2.0 */
/* Bookings in the file: one for each user, no more than the cap, and each step once. */
#include "contract/booking.h"
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

static const struct booking_store_ops *ops(const struct place *place)
{
    return place->store->ops->bookings;
}

static struct booking book(struct place *place, user_id user, bool deposit, uint32_t cap, uint8_t wanted)
{
    struct booking booking = {
        .item = place->item, .user = user, .quantity = 1, .booked_ms = 9, .has_deposit = deposit
    };
    uint8_t answer = UINT8_MAX;
    assert_int_equal(ops(place)->book(place->store, &booking, cap, &answer), STATUS_OK);
    assert_int_equal(answer, wanted);
    return booking;
}

static void a_booking_without_a_deposit_stands_in_line_at_once(void **state)
{
    struct place *place = *state;
    struct booking first = book(place, 1, false, 2, BOOK_DONE), got;
    assert_int_equal(first.state, BOOKING_PLACED);
    assert_int_equal(book(place, 1, false, 2, BOOK_THERE).id, first.id);
    book(place, 2, false, 2, BOOK_DONE);
    book(place, 3, false, 2, BOOK_FULL);
    assert_int_equal(place_number(place, "SELECT waiting FROM waitlist_lines"), 2);
    assert_int_equal(place_number(place, "SELECT booked FROM items"), 2);
    assert_int_equal(ops(place)->get(place->store, place->item, 2, &got), STATUS_OK);
    assert_int_equal(got.place_state, PLACE_WAITING);
}

static void a_deposit_comes_first_and_its_booking_stands_in_line_once(void **state)
{
    struct place *place = *state;
    struct booking due = book(place, 1, true, 0, BOOK_DONE);
    assert_int_equal(due.state, BOOKING_DUE);
    assert_int_equal(place_number(place, "SELECT count(*) FROM waitlist"), 0);
    assert_int_equal(ops(place)->place(place->store, &due, 10), STATUS_OK);
    assert_int_equal(ops(place)->place(place->store, &due, 10), STATUS_CONFLICT);
    assert_int_equal(place_number(place, "SELECT count(*) FROM waitlist"), 1);
}

static void who_waits_already_keeps_the_place(void **state)
{
    struct place *place = *state;
    struct waitlist_place row = { .item = place->item, .user = 1, .quantity = 1, .joined_ms = 1 };
    uint8_t answer = JOIN_FULL;
    assert_int_equal(place->store->ops->waitlist->join(place->store, &row, 10, &answer), STATUS_OK);
    assert_int_equal(book(place, 1, false, 0, BOOK_DONE).place, row.id);
    assert_int_equal(place_number(place, "SELECT waiting FROM waitlist_lines"), 1);
}

static void what_is_over_is_over_once_and_makes_room_unless_it_was_bought(void **state)
{
    struct place *place = *state;
    struct booking first = book(place, 1, true, 2, BOOK_DONE),
                   second = book(place, 2, true, 2, BOOK_DONE);
    struct booking rows[4];
    uint32_t count = 0;
    assert_int_equal(ops(place)->finish(place->store, &first, BOOKING_BOUGHT), STATUS_OK);
    book(place, 3, true, 2, BOOK_FULL);
    assert_int_equal(ops(place)->finish(place->store, &second, BOOKING_ENDED), STATUS_OK);
    assert_int_equal(ops(place)->finish(place->store, &second, BOOKING_REFUNDED), STATUS_CONFLICT);
    book(place, 3, true, 2, BOOK_DONE);
    assert_int_equal(ops(place)->list(place->store, 0, true, 0, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ops(place)->list(place->store, place->item, false, 0, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 3);
}

static void keys_of_deposits_are_those_of_bookings_only(void **state)
{
    (void)state;
    assert_int_equal(booking_of_key(booking_key(7)), 7);
    assert_int_equal(booking_of_key(waitlist_key(7)), 0);
    assert_int_equal(waitlist_place_of(booking_key(7)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_booking_without_a_deposit_stands_in_line_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_deposit_comes_first_and_its_booking_stands_in_line_once, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_is_over_is_over_once_and_makes_room_unless_it_was_bought, setup, teardown),
        cmocka_unit_test_setup_teardown(who_waits_already_keeps_the_place, setup, teardown),
        cmocka_unit_test(keys_of_deposits_are_those_of_bookings_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
