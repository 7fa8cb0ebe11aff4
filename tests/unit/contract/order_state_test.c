/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/order_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void only_these_moves_exist(void **state)
{
    (void)state;
    static const bool legal[ORDER_STATES][ORDER_STATES] = {
        [ORDER_PENDING] = { [ORDER_PAID] = true, [ORDER_CLOSED] = true },
        [ORDER_PAID] = { [ORDER_REFUNDED] = true },
    };
    for (enum order_state from = 0; from < ORDER_STATES; from++) {
        for (enum order_state to = 0; to < ORDER_STATES; to++)
            assert_int_equal(order_state_move_is_legal(from, to), legal[from][to]);
    }
}

static void paid_beats_the_timer_and_late_money_reopens_nothing(void **state)
{
    (void)state;
    assert_int_equal(order_state_next(ORDER_PENDING, ORDER_EVENT_PAY), ORDER_PAID);
    assert_int_equal(order_state_next(ORDER_PENDING, ORDER_EVENT_EXPIRE), ORDER_CLOSED);
    assert_int_equal(order_state_next(ORDER_PAID, ORDER_EVENT_EXPIRE), ORDER_NONE);
    assert_int_equal(order_state_next(ORDER_PAID, ORDER_EVENT_CANCEL), ORDER_NONE);
    assert_int_equal(order_state_next(ORDER_PAID, ORDER_EVENT_PAY), ORDER_NONE);
    assert_int_equal(order_state_next(ORDER_CLOSED, ORDER_EVENT_PAY), ORDER_NONE);
    assert_int_equal(order_state_next(ORDER_REFUNDED, ORDER_EVENT_REFUND), ORDER_NONE);
    assert_int_equal(order_state_next(ORDER_PENDING, ORDER_EVENT_REFUND), ORDER_NONE);
}

static void a_closing_event_has_its_reason_and_no_other_has(void **state)
{
    (void)state;
    for (enum order_event event = 0; event < ORDER_EVENTS; event++) {
        bool closes = order_state_next(ORDER_PENDING, event) == ORDER_CLOSED;
        assert_int_equal(order_state_reason(event) != REASON_NONE, closes);
    }
    assert_int_equal(order_state_reason(ORDER_EVENT_EXPIRE), REASON_EXPIRED);
    assert_int_equal(order_state_reason(ORDER_EVENT_CANCEL), REASON_CANCELLED);
    assert_int_equal(order_state_reason(ORDER_EVENT_REJECT), REASON_REJECTED);
}

static void a_final_state_holds_no_stock(void **state)
{
    (void)state;
    assert_false(order_state_is_final(ORDER_NONE));
    assert_false(order_state_holds_stock(ORDER_NONE));
    for (enum order_state s = ORDER_PENDING; s < ORDER_STATES; s++)
        assert_int_equal(order_state_is_final(s), !order_state_holds_stock(s));
}

static void states_and_reasons_have_the_names_of_the_api(void **state)
{
    (void)state;
    assert_string_equal(order_state_name(ORDER_NONE), "creating");
    assert_string_equal(order_state_name(ORDER_PENDING), "pending");
    assert_string_equal(order_state_name(ORDER_PAID), "paid");
    assert_string_equal(order_state_name(ORDER_CLOSED), "closed");
    assert_string_equal(order_state_name(ORDER_REFUNDED), "refunded");
    assert_string_equal(ticket_state_name(TICKET_HELD), "held");
    assert_string_equal(ticket_state_name(TICKET_WRITTEN_OFF), "written off");
    assert_null(order_reason_name(REASON_NONE));
    assert_string_equal(order_reason_name(REASON_EXPIRED), "expired");
    assert_string_equal(order_reason_name(REASON_CANCELLED), "cancelled");
    assert_string_equal(order_reason_name(REASON_REJECTED), "rejected");
}

static enum move_answer decide(const struct order_move *move, const struct order *order,
    const char *currency, enum order_payer payer, enum order_state *to)
{
    return order_move_decide(move, order, currency, &(struct order_money){ .payer = payer }, to);
}

static void a_move_is_decided_by_state_time_and_money(void **state)
{
    (void)state;
    struct order order = { .state = ORDER_PENDING, .amount = 10, .pay_by_ms = 100, .channel = 3 };
    struct order_move move = { .event = ORDER_EVENT_PAY, .amount = 10, .currency = "CNY", .now_ms = 500 };
    enum order_state to;
    assert_int_equal(decide(&move, &order, "CNY", PAYER_NONE, &to), MOVE_DONE);
    assert_int_equal(to, ORDER_PAID);
    assert_int_equal(decide(&move, &order, "USD", PAYER_NONE, &to), MOVE_AMOUNT);
    assert_int_equal(order_move_step(&move), SETTLE_SOLD);
    order.state = ORDER_PAID;
    assert_int_equal(decide(&move, &order, "CNY", PAYER_THIS, &to), MOVE_REPEATED);
    assert_int_equal(decide(&move, &order, "CNY", PAYER_OTHER, &to), MOVE_REFUSED);
    assert_int_equal(decide(&move, &order, "CNY", PAYER_NONE, &to), MOVE_DONE);
    assert_int_equal(to, ORDER_PAID); /* by a payment that nobody knew of */
    assert_int_equal(decide(&move, &order, "USD", PAYER_NONE, &to), MOVE_AMOUNT);
    move = (struct order_move){ .event = ORDER_EVENT_REFUND };
    assert_int_equal(decide(&move, &order, "CNY", PAYER_NONE, &to), MOVE_NO_PAYMENT);
    assert_int_equal(decide(&move, &order, "CNY", PAYER_OTHER, &to), MOVE_DONE);
    assert_int_equal(to, ORDER_REFUNDED);
    move = (struct order_move){ .event = ORDER_EVENT_EXPIRE, .now_ms = 99 };
    assert_int_equal(decide(&move, &order, "", PAYER_NONE, &to), MOVE_REFUSED);
    order.state = ORDER_PENDING;
    assert_int_equal(decide(&move, &order, "", PAYER_NONE, &to), MOVE_EARLY);
    move.now_ms = 100;
    assert_int_equal(decide(&move, &order, "", PAYER_NONE, &to), MOVE_DONE);
    assert_int_equal(order_move_step(&move), SETTLE_RETURN);
    assert_int_equal(order_move_destination(&move, &order), 3);
    order.state = ORDER_CLOSED;
    order.reason = REASON_CANCELLED;
    assert_int_equal(decide(&move, &order, "", PAYER_NONE, &to), MOVE_REFUSED);
    move.event = ORDER_EVENT_CANCEL;
    assert_int_equal(decide(&move, &order, "", PAYER_NONE, &to), MOVE_REPEATED);
    move = (struct order_move){ .event = ORDER_EVENT_REFUND, .refund_to = REFUND_TO_WRITE_OFF };
    assert_int_equal(order_move_step(&move), SETTLE_WRITE_OFF);
    move.refund_to = REFUND_TO_SAFETY;
    assert_int_equal(order_move_step(&move), SETTLE_RETURN);
    assert_int_equal(order_move_destination(&move, &order), CHANNEL_SAFETY);
}

static void payments_of_the_order_have_a_say(void **state)
{
    (void)state;
    static const struct {
        enum order_event event;
        struct order_money money;
        enum move_answer answer;
    } rows[] = {
        { ORDER_EVENT_PAY, { PAYER_NONE, false, 0, false }, MOVE_DONE },
        { ORDER_EVENT_PAY, { PAYER_NONE, false, 2, false }, MOVE_DONE }, /* the others are closed then */
        { ORDER_EVENT_PAY, { PAYER_NONE, true, 0, false }, MOVE_REFERENCE_USED },
        { ORDER_EVENT_EXPIRE, { PAYER_NONE, false, 0, false }, MOVE_DONE },
        { ORDER_EVENT_EXPIRE, { PAYER_NONE, false, 1, false }, MOVE_PAYMENT_OPEN },
        { ORDER_EVENT_CANCEL, { PAYER_NONE, false, 0, false }, MOVE_DONE },
        { ORDER_EVENT_CANCEL, { PAYER_NONE, false, 1, false }, MOVE_PAYMENT_OPEN },
        { ORDER_EVENT_CANCEL, { PAYER_NONE, true, 0, false }, MOVE_DONE }, /* it names no payment */
    };
    const struct order order = { .state = ORDER_PENDING, .amount = 10, .pay_by_ms = 100 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct order_move move = {
            .event = (uint8_t)rows[i].event, .amount = 10, .currency = "CNY", .now_ms = 100
        };
        enum order_state to;
        assert_int_equal(order_move_decide(&move, &order, "CNY", &rows[i].money, &to), rows[i].answer);
    }
}

static void an_order_that_is_ending_is_closed_with_its_last_payment_and_by_its_first_reason(void **state)
{
    (void)state;
    static const struct {
        enum order_state state;
        enum order_reason ending;
        uint32_t live;
        bool closed;
        enum order_event event;
    } rows[] = {
        { ORDER_PENDING, REASON_EXPIRED, 0, true, ORDER_EVENT_EXPIRE },
        { ORDER_PENDING, REASON_CANCELLED, 0, true, ORDER_EVENT_CANCEL },
        { ORDER_PENDING, REASON_CANCELLED, 1, false, ORDER_EVENTS },
        { ORDER_PENDING, REASON_NONE, 0, false, ORDER_EVENTS },
        { ORDER_PAID, REASON_CANCELLED, 0, false, ORDER_EVENTS },
        { ORDER_CLOSED, REASON_CANCELLED, 0, false, ORDER_EVENTS },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct order order = { .state = (uint8_t)rows[i].state, .ending = (uint8_t)rows[i].ending };
        enum order_event event;
        const bool closed = order_ending_event(&order, rows[i].live, &event);
        assert_int_equal(closed, rows[i].closed);
        if (closed)
            assert_int_equal(event, rows[i].event);
        const bool open = rows[i].state == ORDER_PENDING && rows[i].ending == REASON_NONE;
        assert_int_equal(order_ending_is_kept(&order, 1, REASON_CANCELLED), open);
        assert_false(order_ending_is_kept(&order, 0, REASON_CANCELLED));
        assert_false(order_ending_is_kept(&order, 1, REASON_NONE));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_these_moves_exist),
        cmocka_unit_test(paid_beats_the_timer_and_late_money_reopens_nothing),
        cmocka_unit_test(a_closing_event_has_its_reason_and_no_other_has),
        cmocka_unit_test(a_final_state_holds_no_stock),
        cmocka_unit_test(a_move_is_decided_by_state_time_and_money),
        cmocka_unit_test(payments_of_the_order_have_a_say),
        cmocka_unit_test(an_order_that_is_ending_is_closed_with_its_last_payment_and_by_its_first_reason),
        cmocka_unit_test(states_and_reasons_have_the_names_of_the_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
