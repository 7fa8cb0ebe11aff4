/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/expiry.h"

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ORDERS = 600, GRACE_MS = 60 };

/* Orders by index; ticket = index + 1. */
struct fake {
    struct order_store store;
    struct order orders[ORDERS];
    uint32_t count, looks, changed;
    enum status answer;
    bool paid_between; /* somebody pays after the list was made */
};

static enum status fake_due(struct order_store *handle, uint64_t now_ms, uint64_t created_from_ms,
    ticket_number *tickets, uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    struct fake *fake = (struct fake *)handle;
    fake->looks++;
    *count = 0;
    *next_ms = UINT64_MAX;
    for (uint32_t i = 0; i < fake->count; i++) {
        const struct order *order = &fake->orders[i];
        if (order->state != ORDER_PENDING || order->created_ms < created_from_ms)
            continue;
        if (order->pay_by_ms > now_ms)
            *next_ms = order->pay_by_ms < *next_ms ? order->pay_by_ms : *next_ms;
        else if (*count < max)
            tickets[(*count)++] = order->ticket;
    }
    return fake->answer;
}

static enum status fake_move(struct order_store *handle, const struct order_move *moves,
    uint32_t count, struct order *after, uint8_t *answers)
{
    struct fake *fake = (struct fake *)handle;
    assert_true(count <= ORDER_MOVES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct order *order = &fake->orders[moves[i].ticket - 1];
        assert_int_equal(moves[i].event, ORDER_EVENT_EXPIRE);
        assert_true(moves[i].now_ms >= order->pay_by_ms);
        if (fake->paid_between)
            order->state = ORDER_PAID;
        answers[i] = order->state == ORDER_PENDING ? MOVE_DONE : MOVE_REFUSED;
        order->state = answers[i] == MOVE_DONE ? ORDER_CLOSED : order->state;
        after[i] = *order;
    }
    return fake->answer;
}

static void count_changed(void *context, ticket_number ticket, user_id user)
{
    struct fake *fake = context;
    assert_int_equal(user, fake->orders[ticket - 1].user);
    assert_int_equal(fake->orders[ticket - 1].state, ORDER_CLOSED);
    fake->changed++;
}

static struct fake fake;
static struct expiry expiry;

static int setup(void **state)
{
    static const struct order_store_ops ops = { .orders_due = fake_due, .orders_move = fake_move };
    (void)state;
    log_level_set((enum log_level)(LOG_ERROR + 1));
    fake = (struct fake){ .store = { &ops } };
    expiry_start(&expiry,
        &(struct expiry_config){ .store = &fake.store,
            .started_ms = 1000,
            .grace_ms = GRACE_MS,
            .changed = count_changed,
            .changed_context = &fake });
    return 0;
}

static void add(uint64_t created_ms, uint64_t pay_by_ms)
{
    fake.orders[fake.count] = (struct order){
        .ticket = fake.count + 1, .state = ORDER_PENDING, .created_ms = created_ms, .pay_by_ms = pay_by_ms
    };
    fake.count++;
}

static uint32_t closed_at(uint64_t now_ms)
{
    uint32_t closed = 99;
    assert_int_equal(expiry_turn(&expiry, now_ms, &closed), STATUS_OK);
    return closed;
}

static void an_order_closes_at_its_deadline_and_idle_turns_ask_nothing(void **state)
{
    (void)state;
    add(1001, 1010);
    assert_int_equal(closed_at(1005), 0);
    assert_int_equal(fake.looks, 1);
    assert_int_equal(closed_at(1009), 0);
    assert_int_equal(fake.looks, 1); /* the next deadline is known */
    assert_int_equal(closed_at(1010), 1);
    assert_int_equal(fake.changed, 1);
    assert_int_equal(closed_at(1011), 0);
}

static void orders_that_were_written_meanwhile_are_seen(void **state)
{
    (void)state;
    assert_int_equal(closed_at(1005), 0);
    add(1004, 1006);
    assert_int_equal(closed_at(1007), 0); /* nobody said so */
    expiry_look(&expiry);
    assert_int_equal(closed_at(1007), 1);
}

static void older_orders_get_a_grace_and_new_ones_none(void **state)
{
    (void)state;
    add(500, 900);
    add(1001, 1002);
    assert_int_equal(closed_at(1000 + GRACE_MS - 1), 1);
    assert_int_equal(fake.orders[0].state, ORDER_PENDING);
    assert_int_equal(closed_at(1000 + GRACE_MS), 1);
    assert_int_equal(fake.orders[0].state, ORDER_CLOSED);
}

static void a_turn_closes_a_bounded_number_and_goes_on(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ORDERS; i++)
        add(1001, 1002);
    assert_int_equal(closed_at(1100), ORDER_MOVES_MAX);
    assert_int_equal(closed_at(1100), ORDER_MOVES_MAX);
    assert_int_equal(closed_at(1100), ORDERS - 2 * ORDER_MOVES_MAX);
    assert_int_equal(closed_at(1100), 0);
}

static void who_paid_in_between_has_paid(void **state)
{
    (void)state;
    add(1001, 1002);
    fake.paid_between = true;
    assert_int_equal(closed_at(1100), 0);
    assert_int_equal(fake.changed, 0);
    assert_int_equal(fake.orders[0].state, ORDER_PAID);
}

static void a_store_that_is_away_is_tried_again_later(void **state)
{
    (void)state;
    uint32_t closed;
    add(1001, 1002);
    fake.answer = STATUS_AWAY;
    assert_int_equal(expiry_turn(&expiry, 1100, &closed), STATUS_AWAY);
    fake.orders[0].state = ORDER_PENDING;
    fake.answer = STATUS_OK;
    assert_int_equal(closed_at(1100 + EXPIRY_AGAIN_MS - 1), 0);
    assert_int_equal(closed_at(1100 + EXPIRY_AGAIN_MS), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_order_closes_at_its_deadline_and_idle_turns_ask_nothing, setup),
        cmocka_unit_test_setup(orders_that_were_written_meanwhile_are_seen, setup),
        cmocka_unit_test_setup(older_orders_get_a_grace_and_new_ones_none, setup),
        cmocka_unit_test_setup(a_turn_closes_a_bounded_number_and_goes_on, setup),
        cmocka_unit_test_setup(who_paid_in_between_has_paid, setup),
        cmocka_unit_test_setup(a_store_that_is_away_is_tried_again_later, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
