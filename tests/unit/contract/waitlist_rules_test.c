/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/waitlist_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void places_get_what_fits_in_order_and_nobody_gets_a_part(void **state)
{
    (void)state;
    static const struct {
        uint32_t units;
        uint32_t wants[5];
        bool gets[5];
        uint32_t left;
    } rows[] = {
        { 1, { 1, 1, 1, 1, 1 }, { true, false, false, false, false }, 0 },
        { 3, { 1, 1, 1, 1, 1 }, { true, true, true, false, false }, 0 },
        { 3, { 2, 2, 1, 1, 1 }, { true, false, true, false, false }, 0 },
        { 3, { 4, 3, 1, 1, 1 }, { false, true, false, false, false }, 0 },
        { 4, { 3, 2, 2, 2, 3 }, { true, false, false, false, false }, 1 },
        { 0, { 1, 2, 3, 4, 5 }, { false, false, false, false, false }, 0 },
        { UINT32_MAX, { UINT32_MAX, 1, 1, 1, 1 }, { true, false, false, false, false }, 0 },
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        uint32_t left = rows[row].units;
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(waitlist_take(&left, rows[row].wants[i]), rows[row].gets[i]);
        assert_int_equal(left, rows[row].left);
    }
}

static void only_units_that_come_back_to_the_web_are_for_the_line(void **state)
{
    (void)state;
    for (enum settle_step step = 0; step < SETTLE_STEPS; step++)
        for (int channel = 0; channel < CHANNELS_MAX; channel++)
            assert_int_equal(
                waitlist_gets(step, (channel_index)channel), step == SETTLE_RETURN && channel == 0);
    assert_false(waitlist_gets(SETTLE_RETURN, CHANNEL_SAFETY));
}

static void a_user_waits_once_in_a_line_of_bounded_length(void **state)
{
    (void)state;
    assert_int_equal(waitlist_join_decide(PLACE_NONE, 0, 1), JOIN_DONE);
    assert_int_equal(waitlist_join_decide(PLACE_NONE, 1, 1), JOIN_FULL);
    assert_int_equal(waitlist_join_decide(PLACE_NONE, 2, 1), JOIN_FULL);
    assert_int_equal(waitlist_join_decide(PLACE_WAITING, 1, 1), JOIN_THERE);
    assert_int_equal(waitlist_join_decide(PLACE_WAITING, 0, 5), JOIN_THERE);
    assert_int_equal(waitlist_join_decide(PLACE_OFFERED, 0, 5), JOIN_DONE); /* for another one */
    assert_int_equal(waitlist_join_decide(PLACE_LEFT, 0, 5), JOIN_DONE);
    assert_int_equal(waitlist_join_decide(PLACE_LEFT, 5, 5), JOIN_FULL);
}

static void an_offer_is_what_became_of_its_order(void **state)
{
    (void)state;
    static const struct {
        enum place_state stored;
        enum order_state order;
        enum order_reason reason;
        enum place_state shown;
    } rows[] = {
        { PLACE_WAITING, ORDER_NONE, REASON_NONE, PLACE_WAITING },
        { PLACE_LEFT, ORDER_NONE, REASON_NONE, PLACE_LEFT },
        { PLACE_OFFERED, ORDER_NONE, REASON_NONE, PLACE_OFFERED },
        { PLACE_OFFERED, ORDER_PENDING, REASON_NONE, PLACE_OFFERED },
        { PLACE_OFFERED, ORDER_PAID, REASON_NONE, PLACE_BOUGHT },
        { PLACE_OFFERED, ORDER_REFUNDED, REASON_NONE, PLACE_BOUGHT },
        { PLACE_OFFERED, ORDER_CLOSED, REASON_CANCELLED, PLACE_LEFT },
        { PLACE_OFFERED, ORDER_CLOSED, REASON_EXPIRED, PLACE_EXPIRED },
        { PLACE_OFFERED, ORDER_CLOSED, REASON_REJECTED, PLACE_EXPIRED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            waitlist_place_state(rows[i].stored, rows[i].order, rows[i].reason), rows[i].shown);
}

static void a_waiter_is_offered_his_ticket_or_passed_over(void **state)
{
    (void)state;
    struct queue_record record = {
        .command = { .type = COMMAND_SETTLE,
            .settle = { .waiter_count = 3,
                .waiters = { { .key = waitlist_key(7), .quantity = 1 },
                    { .key = 99, .quantity = 1 }, { .key = waitlist_key(8), .quantity = 1 } } } },
        .outcome = { .ticket = 40, .detail = 5 }
    };
    const struct waiter_verdict first = waitlist_waiter_verdict(&record, 0);
    assert_int_equal(first.place, 7);
    assert_int_equal(first.ticket, 40);
    assert_int_equal(waitlist_waiter_verdict(&record, 1).place, 0); /* a user's own key */
    assert_int_equal(waitlist_waiter_verdict(&record, 1).ticket, 0);
    assert_int_equal(waitlist_waiter_verdict(&record, 2).place, 8);
    assert_int_equal(waitlist_waiter_verdict(&record, 2).ticket, 41);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_get_what_fits_in_order_and_nobody_gets_a_part),
        cmocka_unit_test(only_units_that_come_back_to_the_web_are_for_the_line),
        cmocka_unit_test(a_user_waits_once_in_a_line_of_bounded_length),
        cmocka_unit_test(an_offer_is_what_became_of_its_order),
        cmocka_unit_test(a_waiter_is_offered_his_ticket_or_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
