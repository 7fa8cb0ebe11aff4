/* SPDX-License-Identifier: Apache-2.0 */
/* The outbox: a row for each change of an order, in its transaction, and only when asked for. */
#include "contract/outbox.h"

#include "base/clock.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { ROWS = 32 };

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    clock_start(0);
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

static const struct outbox_store_ops *outbox(struct place *place)
{
    return place->store->ops->outbox;
}

static enum move_answer moved(struct place *place, ticket_number ticket, enum order_event event)
{
    struct order after;
    uint8_t answer = MOVE_ANSWERS;
    assert_int_equal(place->store->ops->order_by_ticket(place->store, ticket, &after), STATUS_OK);
    struct order_move move = { .ticket = ticket,
        .event = (uint8_t)event,
        .now_ms = 77,
        .amount = after.amount,
        .currency = "CNY",
        .reference = "bank" };
    assert_int_equal(place->store->ops->orders_move(place->store, &move, 1, &after, &answer), STATUS_OK);
    return (enum move_answer)answer;
}

static uint32_t listed(struct place *place, enum outbox_state state, struct outbox_event *events)
{
    uint32_t count;
    assert_int_equal(outbox(place)->list(place->store, state, 0, 0, events, ROWS, &count), STATUS_OK);
    return count;
}

static void nothing_is_written_unless_it_is_turned_on(void **state)
{
    struct place *place = *state;
    struct outbox_event events[ROWS];
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    assert_int_equal(moved(place, 1, ORDER_EVENT_PAY), MOVE_DONE);
    assert_int_equal(listed(place, OUTBOX_ANY, events), 0);
}

static void each_change_of_an_order_is_one_row_with_its_version(void **state)
{
    struct place *place = *state;
    struct outbox_event events[ROWS];
    outbox(place)->turn_on(place->store);
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    assert_int_equal(moved(place, 1, ORDER_EVENT_PAY), MOVE_DONE);
    assert_int_equal(moved(place, 1, ORDER_EVENT_PAY), MOVE_REPEATED);
    assert_int_equal(moved(place, 1, ORDER_EVENT_CANCEL), MOVE_REFUSED);
    assert_int_equal(moved(place, 1, ORDER_EVENT_REFUND), MOVE_DONE);
    assert_int_equal(place_sell(place, 6), STATUS_OK);
    assert_int_equal(moved(place, 2, ORDER_EVENT_CANCEL), MOVE_DONE);
    static const struct {
        ticket_number ticket;
        enum order_state to;
        uint64_t version;
    } wanted[] = { { 1, ORDER_PENDING, 1 }, { 1, ORDER_PAID, 2 }, { 1, ORDER_REFUNDED, 3 },
        { 2, ORDER_PENDING, 1 }, { 2, ORDER_CLOSED, 2 } };
    assert_int_equal(listed(place, OUTBOX_WAITING, events), sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(events[i].id, i + 1);
        assert_int_equal(events[i].ticket, wanted[i].ticket);
        assert_int_equal(events[i].order_state, wanted[i].to);
        assert_int_equal(events[i].version, wanted[i].version);
        assert_int_equal(events[i].state, OUTBOX_WAITING);
        assert_int_equal(events[i].tries, 0);
    }
}

/* The second order of one user is refused by the unique key: then neither is there. */
static void a_batch_that_is_rolled_back_leaves_no_row(void **state)
{
    struct place *place = *state;
    struct outbox_event events[ROWS];
    outbox(place)->turn_on(place->store);
    const struct queue_record records[] = { place_win(place, 5), place_win(place, 5) };
    assert_int_equal(place_apply(place, records, 2), STATUS_REFUSED);
    assert_int_equal(listed(place, OUTBOX_ANY, events), 0);
    const uint8_t dispositions[] = { DISPOSE_APPLY, DISPOSE_REJECT };
    assert_int_equal(
        place->store->ops->apply(place->store, records, dispositions, 2, &place->refusal), STATUS_OK);
    assert_int_equal(listed(place, OUTBOX_ANY, events), 2);
    assert_int_equal(events[0].order_state, ORDER_PENDING);
    assert_int_equal(events[1].order_state, ORDER_CLOSED); /* rejected from the start */
}

static struct outbox_result result_of(uint64_t id, enum outbox_state to, uint64_t next_ms)
{
    return (struct outbox_result){
        .id = id, .state = (uint8_t)to, .next_ms = next_ms, .http_status = 500, .error = "why"
    };
}

static void what_is_due_comes_longest_first_and_ends_when_it_is_settled(void **state)
{
    struct place *place = *state;
    struct outbox_event events[ROWS];
    uint32_t count;
    uint64_t next_ms, waiting;
    outbox(place)->turn_on(place->store);
    for (user_id user = 1; user <= 3; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    const uint64_t now_ms = clock_now_ms() + 1000;
    const struct outbox_result results[] = { result_of(1, OUTBOX_WAITING, now_ms + 50),
        result_of(2, OUTBOX_DELIVERED, 0) };
    assert_int_equal(outbox(place)->settle(place->store, results, 2), STATUS_OK);
    assert_int_equal(outbox(place)->due(place->store, now_ms, events, ROWS, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(events[0].id, 3);
    assert_int_equal(next_ms, now_ms + 50);
    assert_int_equal(
        outbox(place)->due(place->store, now_ms + 50, events, ROWS, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(events[0].id, 3);
    assert_int_equal(events[1].id, 1);
    assert_int_equal(events[1].tries, 1);
    assert_int_equal(events[1].http_status, 500);
    assert_string_equal(events[1].error, "why");
    assert_true(next_ms == UINT64_MAX);
    assert_int_equal(
        outbox(place)->due(place->store, now_ms + 50, events, 1, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(outbox(place)->count(place->store, OUTBOX_WAITING, &waiting), STATUS_OK);
    assert_int_equal(waiting, 2);
    /* What is delivered stays so, whatever a late answer says. */
    const struct outbox_result late = result_of(2, OUTBOX_FAILED, 0);
    assert_int_equal(outbox(place)->settle(place->store, &late, 1), STATUS_OK);
    assert_int_equal(listed(place, OUTBOX_FAILED, events), 0);
    assert_int_equal(listed(place, OUTBOX_DELIVERED, events), 1);
}

static void a_replay_brings_back_what_was_over(void **state)
{
    struct place *place = *state;
    struct outbox_event events[ROWS];
    uint32_t count;
    outbox(place)->turn_on(place->store);
    for (user_id user = 1; user <= 3; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    const struct outbox_result results[] = { result_of(1, OUTBOX_FAILED, 0),
        result_of(2, OUTBOX_DELIVERED, 0) };
    assert_int_equal(outbox(place)->settle(place->store, results, 2), STATUS_OK);
    uint64_t failed;
    assert_int_equal(outbox(place)->count(place->store, OUTBOX_FAILED, &failed), STATUS_OK);
    assert_int_equal(failed, 1);
    assert_int_equal(outbox(place)->replay(place->store, 1, 5), STATUS_OK);
    assert_int_equal(outbox(place)->count(place->store, OUTBOX_FAILED, &failed), STATUS_OK);
    assert_int_equal(failed, 0);
    assert_int_equal(outbox(place)->replay(place->store, 9, 5), STATUS_NOT_FOUND);
    assert_int_equal(listed(place, OUTBOX_WAITING, events), 2);
    assert_int_equal(events[0].tries, 0);
    assert_int_equal(events[0].next_ms, 5);
    assert_int_equal(
        outbox(place)->replay_from(place->store, clock_now_ms() + 60000, 6, &count), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(outbox(place)->replay_from(place->store, 0, 6, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(listed(place, OUTBOX_WAITING, events), 3);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(nothing_is_written_unless_it_is_turned_on),
        IN_PLACE(each_change_of_an_order_is_one_row_with_its_version),
        IN_PLACE(a_batch_that_is_rolled_back_leaves_no_row),
        IN_PLACE(what_is_due_comes_longest_first_and_ends_when_it_is_settled),
        IN_PLACE(a_replay_brings_back_what_was_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
