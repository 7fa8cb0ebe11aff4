/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine_apply.h"

#include "tests/unit/inventory/engine_kit.h"

static struct kit kit;

static enum answer ask(uint8_t type, user_id user, item_id item, ticket_number ticket)
{
    return kit_do(&kit,
        (struct command){ .type = type, .ask = { .user = user, .item = item, .ticket = ticket } }, 0);
}

static void have_i_bought_this_answers_with_the_latest_ticket(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(ask(COMMAND_ASK_MINE, ANNA, 1, 0), ANSWER_FOUND);
    assert_int_equal(kit.out.quantity, 0);
    assert_int_equal(kit.out.ticket, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 2), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(ask(COMMAND_ASK_MINE, ANNA, 1, 0), ANSWER_FOUND));
    assert_int_equal(kit.out.quantity, 3);
    assert_int_equal(kit.out.ticket, 2);
    assert_int_equal(ask(COMMAND_ASK_MINE, ANNA, 2, 0), ANSWER_UNKNOWN_ITEM);
    assert_int_equal(kit_settle(&kit, 1, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 2, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(ask(COMMAND_ASK_MINE, ANNA, 1, 0), ANSWER_FOUND);
    assert_int_equal(kit.out.ticket, 0);
    kit_stop(&kit);
}

static void a_ticket_tells_whose_it_is_and_its_state(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(ask(COMMAND_ASK_TICKET, 0, 0, 1), ANSWER_UNKNOWN_TICKET);
    assert_int_equal(kit_buy(&kit, BERT, 0, 4), ANSWER_WON);
    assert_int_equal(kit_settle(&kit, 1, SETTLE_SOLD), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(ask(COMMAND_ASK_TICKET, 0, 0, 1), ANSWER_FOUND));
    assert_int_equal(kit.out.user, BERT);
    assert_int_equal(kit.out.item, 1);
    assert_int_equal(kit.out.quantity, 4);
    assert_int_equal(kit.out.detail, TICKET_SOLD);
    assert_int_equal(kit.out.unit_price, PRICE);
    assert_int_equal(kit.out.pay_by_ms, SALE_NOW + PAY_WINDOW);
    assert_int_equal(ask(COMMAND_ASK_TICKET, 0, 0, 0), ANSWER_UNKNOWN_TICKET);
    kit_stop(&kit);
}

static void counts_are_over_all_channels_and_without_safety_stock(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_buy(&kit, BERT, 0, 4), ANSWER_WON);
    assert_int_equal(ask(COMMAND_ASK_COUNTS, 0, 1, 0), ANSWER_FOUND);
    assert_int_equal(kit.out.free, 8);
    assert_int_equal(ask(COMMAND_ASK_COUNTS, 0, 3, 0), ANSWER_UNKNOWN_ITEM);
    kit_stop(&kit);
}

static void a_sale_tells_the_terms_that_it_has_now(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    const struct command later = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = SALE_END + 5, .eligible_only = true } };
    assert_int_equal(kit_do(&kit, later, 0), ANSWER_DONE);
    const struct command ask_sale = { .type = COMMAND_ASK_SALE, .ask = { .sale = 1 } };
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, ask_sale, 0), ANSWER_FOUND));
    assert_int_equal(kit.out.terms.sale, 1);
    assert_int_equal(kit.out.terms.start_ms, SALE_START);
    assert_int_equal(kit.out.terms.end_ms, SALE_END + 5);
    assert_true(kit.out.terms.eligible_only);
    assert_false(kit.out.terms.one_open_order);
    const struct command unknown = { .type = COMMAND_ASK_SALE, .ask = { .sale = 9 } };
    assert_int_equal(kit_do(&kit, unknown, 0), ANSWER_UNKNOWN_SALE);
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(have_i_bought_this_answers_with_the_latest_ticket),
        cmocka_unit_test(a_ticket_tells_whose_it_is_and_its_state),
        cmocka_unit_test(a_sale_tells_the_terms_that_it_has_now),
        cmocka_unit_test(counts_are_over_all_channels_and_without_safety_stock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
