/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of reconciliation, one by one: what an order with its events allows its ticket to be. */
#include "orders/reconcile.h"

#include "tests/unit/base/unit.h"

enum {
    SOLD_BIT = 1 << SETTLE_SOLD,
    RETURN_BIT = 1 << SETTLE_RETURN,
    OFF_BIT = 1 << SETTLE_WRITE_OFF
};

static struct look_order row_of(enum order_state state, uint8_t open, uint8_t confirmed)
{
    return (struct look_order){ .order = { .ticket = 7,
                                    .user = 1,
                                    .item = 2,
                                    .quantity = 3,
                                    .state = (uint8_t)state,
                                    .unit_price = 10,
                                    .amount = 30 },
        .open = open,
        .confirmed = confirmed };
}

static struct outcome ticket_of(enum ticket_state state)
{
    struct outcome ticket = { .answer = ANSWER_FOUND, .user = 1, .item = 2, .quantity = 3 };
    ticket.unit_price = 10;
    ticket.detail = (uint8_t)state;
    return ticket;
}

static void an_order_with_its_open_events_allows_these_states_and_no_other(void **unused)
{
    static const struct {
        enum order_state order;
        uint8_t open, confirmed;
        enum ticket_state ticket;
        enum finding_code code;
        uint8_t step;
    } cases[] = {
        { ORDER_PENDING, 0, 0, TICKET_HELD, FINDING_NONE, 0 },
        { ORDER_PENDING, 0, 0, TICKET_SOLD, FINDING_STATE_DIFFERS, 0 },
        { ORDER_PENDING, 0, 0, TICKET_RETURNED, FINDING_STATE_DIFFERS, 0 },
        { ORDER_PAID, 0, SOLD_BIT, TICKET_SOLD, FINDING_NONE, 0 },
        { ORDER_PAID, SOLD_BIT, 0, TICKET_HELD, FINDING_NONE, SETTLE_SOLD },
        { ORDER_PAID, SOLD_BIT, 0, TICKET_SOLD, FINDING_EVENT_STALE, SETTLE_SOLD },
        { ORDER_PAID, 0, 0, TICKET_HELD, FINDING_EVENT_MISSING, SETTLE_SOLD },
        { ORDER_PAID, 0, SOLD_BIT, TICKET_HELD, FINDING_EVENT_EARLY, SETTLE_SOLD },
        { ORDER_PAID, 0, SOLD_BIT, TICKET_RETURNED, FINDING_STATE_DIFFERS, 0 },
        { ORDER_CLOSED, 0, RETURN_BIT, TICKET_RETURNED, FINDING_NONE, 0 },
        { ORDER_CLOSED, RETURN_BIT, 0, TICKET_HELD, FINDING_NONE, SETTLE_RETURN },
        { ORDER_CLOSED, 0, 0, TICKET_HELD, FINDING_EVENT_MISSING, SETTLE_RETURN },
        { ORDER_CLOSED, 0, RETURN_BIT, TICKET_HELD, FINDING_EVENT_EARLY, SETTLE_RETURN },
        { ORDER_CLOSED, RETURN_BIT, 0, TICKET_SOLD, FINDING_STATE_DIFFERS, 0 },
        { ORDER_REFUNDED, 0, SOLD_BIT | RETURN_BIT, TICKET_RETURNED, FINDING_NONE, 0 },
        { ORDER_REFUNDED, RETURN_BIT, SOLD_BIT, TICKET_SOLD, FINDING_NONE, SETTLE_RETURN },
        { ORDER_REFUNDED, RETURN_BIT | SOLD_BIT, 0, TICKET_HELD, FINDING_NONE, SETTLE_RETURN },
        { ORDER_REFUNDED, 0, SOLD_BIT, TICKET_SOLD, FINDING_EVENT_MISSING, SETTLE_RETURN },
        { ORDER_REFUNDED, 0, SOLD_BIT | OFF_BIT, TICKET_WRITTEN_OFF, FINDING_NONE, 0 },
        { ORDER_REFUNDED, OFF_BIT, SOLD_BIT, TICKET_SOLD, FINDING_NONE, SETTLE_WRITE_OFF },
        { ORDER_REFUNDED, OFF_BIT, SOLD_BIT, TICKET_HELD, FINDING_EVENT_EARLY, SETTLE_SOLD },
        { ORDER_REFUNDED, 0, SOLD_BIT | OFF_BIT, TICKET_RETURNED, FINDING_STATE_DIFFERS, 0 },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct look_order row = row_of(cases[i].order, cases[i].open, cases[i].confirmed);
        const struct outcome ticket = ticket_of(cases[i].ticket);
        uint8_t step = 9;
        if (reconcile_judge_ticket(&row, &ticket, &step) != cases[i].code
            || (cases[i].code != FINDING_NONE && step != cases[i].step))
            fail_msg("case %zu", i);
    }
}

static void what_the_ticket_was_made_with_must_be_in_the_order(void **unused)
{
    struct outcome ticket = ticket_of(TICKET_HELD);
    const struct look_order row = row_of(ORDER_PENDING, 0, 0);
    uint8_t step;
    (void)unused;
    assert_int_equal(reconcile_judge_ticket(NULL, &ticket, &step), FINDING_TICKET_WITHOUT_ORDER);
    ticket.answer = ANSWER_UNKNOWN_TICKET;
    assert_int_equal(reconcile_judge_ticket(NULL, &ticket, &step), FINDING_NONE);
    assert_int_equal(reconcile_judge_ticket(&row, &ticket, &step), FINDING_ORDER_WITHOUT_TICKET);
    ticket.answer = ANSWER_FORGOTTEN; /* it was returned */
    assert_int_equal(reconcile_judge_ticket(NULL, &ticket, &step), FINDING_TICKET_WITHOUT_ORDER);
    assert_int_equal(reconcile_judge_ticket(&row, &ticket, &step), FINDING_STATE_DIFFERS);
    const struct look_order closed = row_of(ORDER_CLOSED, 0, RETURN_BIT);
    assert_int_equal(reconcile_judge_ticket(&closed, &ticket, &step), FINDING_NONE);
    const struct look_order stale = row_of(ORDER_CLOSED, RETURN_BIT, 0);
    assert_int_equal(reconcile_judge_ticket(&stale, &ticket, &step), FINDING_EVENT_STALE);
    ticket = ticket_of(TICKET_HELD);
    ticket.user = 2;
    assert_int_equal(reconcile_judge_ticket(&row, &ticket, &step), FINDING_TICKET_DIFFERS);
    ticket = ticket_of(TICKET_HELD);
    ticket.unit_price = 11;
    assert_int_equal(reconcile_judge_ticket(&row, &ticket, &step), FINDING_PRICE);
}

static void slots_marks_and_counts_fit_or_not(void **unused)
{
    struct look_order row = row_of(ORDER_PENDING, 0, 0);
    struct look_user user = { .counted = 2, .on_way = 1, .dead = 1 };
    (void)unused;
    row.has_slot = true;
    row.limit_per_user = 1;
    assert_true(reconcile_slot_fits(&row));
    row.slot = 7;
    assert_false(reconcile_slot_fits(&row));
    row.limit_per_user = 3;
    assert_true(reconcile_slot_fits(&row));
    row.order.state = ORDER_CLOSED;
    assert_false(reconcile_slot_fits(&row));
    row.has_slot = false;
    assert_true(reconcile_slot_fits(&row));
    assert_false(reconcile_mark_fits(&user, 2));
    assert_true(reconcile_mark_fits(&user, 3));
    assert_true(reconcile_mark_fits(&user, 4));
    assert_false(reconcile_mark_fits(&user, 5));

    struct look_item item = { .item = { .total = 12, .locked = 3, .safety = 1, .channel_units = { 8 } },
        .sold_before = 2,
        .written_off = 2 };
    const struct look_user sum = { .live = 3, .channel_live = { 3 } };
    struct item_counts counts = {
        .given = 9, .held = 1, .sold = 2, .safety = 1, .written_off = 2, .channel_free = { 5 }
    };
    assert_int_equal(reconcile_judge_item(&item, &sum, true, &counts), FINDING_NONE);
    counts.held = 2;
    assert_int_equal(reconcile_judge_item(&item, &sum, true, &counts), FINDING_COUNTS);
    item.dead_units = 1;
    assert_int_equal(reconcile_judge_item(&item, &sum, true, &counts), FINDING_NONE);
    item.item.total++;
    assert_int_equal(reconcile_judge_item(&item, &sum, true, &counts), FINDING_UNITS);
}

static void every_code_has_a_name_of_its_own(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < FINDINGS; i++) {
        assert_non_null(finding_name((enum finding_code)i));
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(
                finding_name((enum finding_code)i), finding_name((enum finding_code)j));
    }
    assert_true(finding_is_of_ticket(FINDING_TICKET_DIFFERS));
    assert_false(finding_repairable(FINDING_TICKET_DIFFERS));
    assert_true(finding_repairable(FINDING_SOLD));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_with_its_open_events_allows_these_states_and_no_other),
        cmocka_unit_test(what_the_ticket_was_made_with_must_be_in_the_order),
        cmocka_unit_test(slots_marks_and_counts_fit_or_not),
        cmocka_unit_test(every_code_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
