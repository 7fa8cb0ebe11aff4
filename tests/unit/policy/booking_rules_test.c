/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/booking_rules.h"

#include "tests/unit/base/unit.h"

#define NOW_MS UINT64_C(1794355200000)

static enum booking_step step_of(struct booking booking)
{
    return booking_step(&booking, NOW_MS);
}

static void a_booking_stands_in_line_once_its_deposit_is_paid(void **state)
{
    struct booking due = {
        .state = BOOKING_DUE, .has_deposit = true, .deposit = 7, .booked_ms = NOW_MS - 1
    };
    (void)state;
    due.deposit_state = ORDER_NONE;
    assert_int_equal(step_of(due), BOOKING_WAIT);
    due.deposit_state = ORDER_PENDING;
    assert_int_equal(step_of(due), BOOKING_WAIT);
    due.deposit_state = ORDER_PAID;
    assert_int_equal(step_of(due), BOOKING_PUT_IN_LINE);
    due.deposit_state = ORDER_CLOSED;
    assert_int_equal(step_of(due), BOOKING_CLOSE_ENDED);
    due.deposit_state = ORDER_REFUNDED;
    assert_int_equal(step_of(due), BOOKING_CLOSE_REFUNDED);
}

static void a_deposit_that_was_never_won_is_forgotten_after_an_hour(void **state)
{
    struct booking due = { .state = BOOKING_DUE, .has_deposit = true, .booked_ms = NOW_MS - BOOKING_LOST_MS };
    (void)state;
    assert_int_equal(step_of(due), BOOKING_CLOSE_ENDED);
    due.booked_ms++;
    assert_int_equal(step_of(due), BOOKING_WAIT);
}

static void the_deposit_goes_back_when_the_booking_came_to_nothing(void **state)
{
    struct booking placed = { .state = BOOKING_PLACED, .has_deposit = true, .deposit = 7 };
    (void)state;
    for (int place = PLACE_WAITING; place <= PLACE_OFFERED; place++) {
        placed.place_state = (uint8_t)place;
        placed.deposit_state = ORDER_PAID;
        assert_int_equal(step_of(placed), BOOKING_WAIT);
    }
    placed.place_state = PLACE_BOUGHT; /* it is part of the price */
    assert_int_equal(step_of(placed), BOOKING_CLOSE_BOUGHT);
    static const uint8_t over[] = { PLACE_LEFT, PLACE_EXPIRED };
    for (size_t i = 0; i < 2; i++) {
        placed.place_state = over[i];
        placed.deposit_state = ORDER_PAID;
        assert_int_equal(step_of(placed), BOOKING_REFUND);
        placed.deposit_state = ORDER_REFUNDED; /* killed in between: not once more */
        assert_int_equal(step_of(placed), BOOKING_CLOSE_REFUNDED);
        placed.has_deposit = false;
        placed.deposit_state = ORDER_NONE;
        assert_int_equal(step_of(placed), BOOKING_CLOSE_ENDED);
        placed.has_deposit = true;
    }
}

static void the_shop_keeps_a_deposit_by_the_terms_of_the_booking_only(void **state)
{
    static const struct {
        uint8_t terms, place, reason;
        bool offered, kept;
    } rows[] = {
        { DEPOSIT_KEPT_NEVER, PLACE_LEFT, REASON_NONE, false, false },
        { DEPOSIT_KEPT_NEVER, PLACE_EXPIRED, REASON_EXPIRED, true, false },
        { DEPOSIT_KEPT_NEVER, PLACE_LEFT, REASON_CANCELLED, true, false },
        { DEPOSIT_KEPT_UNPAID, PLACE_LEFT, REASON_NONE, false, false }, /* given up before units came */
        { DEPOSIT_KEPT_UNPAID, PLACE_EXPIRED, REASON_EXPIRED, true, true },
        { DEPOSIT_KEPT_UNPAID, PLACE_LEFT, REASON_CANCELLED, true, true },
        { DEPOSIT_KEPT_UNPAID, PLACE_EXPIRED, REASON_REJECTED, true, false }, /* the shop's doing */
        { DEPOSIT_KEPT_GIVEN_UP, PLACE_LEFT, REASON_NONE, false, true },
        { DEPOSIT_KEPT_GIVEN_UP, PLACE_EXPIRED, REASON_EXPIRED, true, true },
        { DEPOSIT_KEPT_GIVEN_UP, PLACE_EXPIRED, REASON_REJECTED, true, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct booking placed = { .state = BOOKING_PLACED,
            .has_deposit = true,
            .deposit = 7,
            .deposit_state = ORDER_PAID,
            .deposit_kept = rows[i].terms,
            .place_state = rows[i].place,
            .ticket = rows[i].offered ? 9 : 0,
            .offer_reason = rows[i].reason };
        assert_int_equal(step_of(placed), rows[i].kept ? BOOKING_CLOSE_ENDED : BOOKING_REFUND);
        placed.deposit_state = ORDER_REFUNDED;
        assert_int_equal(step_of(placed), BOOKING_CLOSE_REFUNDED);
    }
}

static void who_has_no_deposit_any_more_does_not_stay_in_line(void **state)
{
    struct booking placed = { .state = BOOKING_PLACED,
        .has_deposit = true,
        .deposit = 7,
        .deposit_state = ORDER_REFUNDED,
        .place_state = PLACE_WAITING };
    (void)state;
    assert_int_equal(step_of(placed), BOOKING_DISMISS);
    placed.place_state = PLACE_OFFERED;
    assert_int_equal(step_of(placed), BOOKING_CANCEL_ORDER);
    placed.place_state = PLACE_BOUGHT;
    assert_int_equal(step_of(placed), BOOKING_CLOSE_BOUGHT);
}

static void late_money_joins_its_booking_if_that_could_be_made_today(void **state)
{
    struct booking_late late = { .booking = { .id = 1, .state = BOOKING_ENDED },
        .takes_bookings = true,
        .latest = BOOKING_NONE,
        .booked = 2,
        .cap = 3 };
    (void)state;
    late.booking.deposit_state = ORDER_CLOSED;
    assert_true(booking_late_joins(&late));
    late.booked = 3;
    assert_false(booking_late_joins(&late)); /* full */
    late.booking.state = BOOKING_DUE;
    assert_true(booking_late_joins(&late)); /* it counts already */
    late.booking.state = BOOKING_ENDED;
    late.booked = 2;
    late.latest = BOOKING_PLACED;
    assert_false(booking_late_joins(&late)); /* booked again meanwhile */
    late.latest = BOOKING_REFUNDED;
    assert_true(booking_late_joins(&late));
    late.takes_bookings = false;
    assert_false(booking_late_joins(&late));
    late.takes_bookings = true;
    late.booking.deposit_state = ORDER_PAID; /* other money has joined, or it is kept */
    assert_false(booking_late_joins(&late));
    late.booking =
        (struct booking){ .id = 1, .state = BOOKING_REFUNDED, .deposit_state = ORDER_REFUNDED };
    assert_false(booking_late_joins(&late));
}

static void what_is_over_stays_over(void **state)
{
    (void)state;
    for (int over = BOOKING_BOUGHT; over < BOOKING_STATES; over++)
        for (int order = ORDER_NONE; order < ORDER_STATES; order++)
            assert_int_equal(step_of((struct booking){ .state = (uint8_t)over,
                                 .has_deposit = true,
                                 .deposit = 7,
                                 .deposit_state = (uint8_t)order,
                                 .place_state = PLACE_LEFT }),
                BOOKING_WAIT);
}

static void one_for_each_user_and_no_more_than_the_cap(void **state)
{
    (void)state;
    assert_int_equal(book_decide(BOOKING_NONE, 2, 3), BOOK_DONE);
    assert_int_equal(book_decide(BOOKING_NONE, 3, 3), BOOK_FULL);
    assert_int_equal(book_decide(BOOKING_NONE, 3, 0), BOOK_DONE);
    assert_int_equal(book_decide(BOOKING_DUE, 3, 3), BOOK_THERE);
    assert_int_equal(book_decide(BOOKING_PLACED, 0, 3), BOOK_THERE);
    assert_int_equal(book_decide(BOOKING_BOUGHT, 0, 3), BOOK_DONE);
    assert_int_equal(book_decide(BOOKING_REFUNDED, 0, 3), BOOK_DONE);
}

static void a_deposit_is_asked_for_until_half_of_the_hour(void **state)
{
    struct booking due = { .state = BOOKING_DUE, .has_deposit = true, .booked_ms = NOW_MS };
    (void)state;
    assert_true(booking_wants_deposit(&due, NOW_MS + BOOKING_LOST_MS / 2 - 1));
    assert_false(booking_wants_deposit(&due, NOW_MS + BOOKING_LOST_MS / 2));
    due.deposit = 7;
    assert_false(booking_wants_deposit(&due, NOW_MS));
    due = (struct booking){ .state = BOOKING_PLACED, .booked_ms = NOW_MS };
    assert_false(booking_wants_deposit(&due, NOW_MS));
}

static void a_deposit_has_the_key_of_its_booking(void **state)
{
    const struct booking booking = { .id = 9, .user = 3, .quantity = 2 };
    const struct item deposit = { .id = 5, .pay_window_ms = 700 };
    (void)state;
    const struct command command = booking_deposit_command(&booking, &deposit, NOW_MS);
    assert_int_equal(command.type, COMMAND_RESERVE);
    assert_int_equal(command.reserve.key, booking_key(9));
    assert_int_equal(command.reserve.user, 3);
    assert_int_equal(command.reserve.item, 5);
    assert_int_equal(command.reserve.quantity, 2);
    assert_int_equal(command.reserve.flags, RESERVE_OFFER);
    assert_int_equal(command.reserve.window_ms, 700);
}

static void an_answer_that_is_not_final_ends_no_booking(void **state)
{
    (void)state;
    assert_int_equal(booking_deposit_answer(ANSWER_WON), DEPOSIT_BOUGHT);
    assert_int_equal(booking_deposit_answer(ANSWER_REPEATED), DEPOSIT_BOUGHT);
    assert_int_equal(booking_deposit_answer(ANSWER_DECIDING), DEPOSIT_BOUGHT);
    assert_int_equal(booking_deposit_answer(ANSWER_IN_PROGRESS), DEPOSIT_AGAIN);
    assert_int_equal(booking_deposit_answer(ANSWER_UNAVAILABLE), DEPOSIT_AGAIN);
    assert_int_equal(booking_deposit_answer(ANSWER_TOO_POPULAR), DEPOSIT_AGAIN);
    assert_int_equal(booking_deposit_answer(ANSWER_SOLD_OUT), DEPOSIT_REFUSED);
    assert_int_equal(booking_deposit_answer(ANSWER_LIMIT_REACHED), DEPOSIT_REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deposit_is_asked_for_until_half_of_the_hour),
        cmocka_unit_test(a_deposit_has_the_key_of_its_booking),
        cmocka_unit_test(an_answer_that_is_not_final_ends_no_booking),
        cmocka_unit_test(a_booking_stands_in_line_once_its_deposit_is_paid),
        cmocka_unit_test(a_deposit_that_was_never_won_is_forgotten_after_an_hour),
        cmocka_unit_test(the_deposit_goes_back_when_the_booking_came_to_nothing),
        cmocka_unit_test(the_shop_keeps_a_deposit_by_the_terms_of_the_booking_only),
        cmocka_unit_test(who_has_no_deposit_any_more_does_not_stay_in_line),
        cmocka_unit_test(late_money_joins_its_booking_if_that_could_be_made_today),
        cmocka_unit_test(what_is_over_stays_over),
        cmocka_unit_test(one_for_each_user_and_no_more_than_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
