/* SPDX-License-Identifier: Apache-2.0 */
/* Moves as rows: payments, events, the index of what is due. */
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

static struct order order_of(struct place *place, ticket_number ticket)
{
    struct order order = { 0 };
    assert_int_equal(place->store->ops->order_by_ticket(place->store, ticket, &order), STATUS_OK);
    return order;
}

static struct order_move pay(struct place *place, ticket_number ticket, const char *reference)
{
    struct order_move move = { .ticket = ticket,
        .event = ORDER_EVENT_PAY,
        .now_ms = 77,
        .amount = order_of(place, ticket).amount,
        .currency = "CNY" };
    snprintf(move.reference, sizeof move.reference, "%s", reference);
    return move;
}

static enum move_answer made(struct place *place, struct order_move move)
{
    struct order after;
    uint8_t answer = MOVE_ANSWERS;
    assert_int_equal(place->store->ops->orders_move(place->store, &move, 1, &after, &answer), STATUS_OK);
    return (enum move_answer)answer;
}

static void a_payment_is_kept_once_with_what_it_was(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    assert_int_equal(made(place, pay(place, 1, "bank 1")), MOVE_DONE);
    assert_int_equal(made(place, pay(place, 1, "bank 1")), MOVE_REPEATED);
    assert_int_equal(place_number(place, "SELECT count(*) FROM payments"), 1);
    assert_int_equal(place_number(place,
                         "SELECT count(*) FROM payments JOIN orders USING(ticket)"
                         " WHERE reference = 'bank 1' AND payments.amount = orders.amount"
                         " AND currency = 'CNY' AND captured_ms = 77 AND used_for = 1"),
        1);
    assert_int_equal(place_number(place, "SELECT count(*) FROM stock_events WHERE step = 0"), 1);
}

static void a_refusal_leaves_no_row_behind(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    struct order_move wrong = pay(place, 1, "bank 1");
    wrong.amount++;
    assert_int_equal(made(place, wrong), MOVE_AMOUNT);
    assert_int_equal(place_number(place, "SELECT count(*) FROM payments"), 0);
    assert_int_equal(place_number(place, "SELECT count(*) FROM stock_events"), 0);
    assert_int_equal(place_number(place, "SELECT version FROM orders"), 1);
}

static void what_is_due_is_found_by_its_own_index(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_number(place,
                         "SELECT count(*) FROM sqlite_schema WHERE name = 'orders_pending'"
                         " AND sql LIKE '%WHERE state = 1%'"),
        1);
    ticket_number due[2];
    uint32_t count = 9;
    uint64_t next_ms = 0;
    assert_int_equal(
        place->store->ops->orders_due(place->store, 1, 0, due, 2, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_true(next_ms == UINT64_MAX);
}

/* The table is gone: nothing is done. */
static void a_store_that_can_not_keep_the_payment_pays_nothing(void **state)
{
    struct place *place = *state;
    struct order after;
    uint8_t answer;
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    const struct order_move move = pay(place, 1, "bank 1");
    place_execute(place, "CREATE TABLE other(x)"); /* the store prepares its statements again */
    assert_int_equal(place->store->ops->orders_move(place->store, &move, 1, &after, &answer), STATUS_OK);
    assert_int_equal(answer, MOVE_DONE);
    place_execute(place, "DROP TABLE payments");
    assert_int_equal(place_sell(place, 6), STATUS_OK);
    const struct order_move second = pay(place, 2, "bank 2");
    assert_int_not_equal(
        place->store->ops->orders_move(place->store, &second, 1, &after, &answer), STATUS_OK);
    assert_int_equal(order_of(place, 2).state, ORDER_PENDING);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_payment_is_kept_once_with_what_it_was),
        TEST(a_refusal_leaves_no_row_behind),
        TEST(what_is_due_is_found_by_its_own_index),
        TEST(a_store_that_can_not_keep_the_payment_pays_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
