/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/stock_pump.h"

#include "base/log.h"
#include "tests/unit/orders/fake_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { PORT_MAX = 1024 };

/* A port that keeps what was flushed and answers when the test says so. */
struct fake_port {
    struct inventory_port port;
    struct inventory_request requests[PORT_MAX];
    uint32_t committed, flushed, room, answered;
    uint8_t answer; /* to the next requests; ANSWER_NONE: none yet */
    struct inventory_answer out;
};

static struct inventory_request *port_reserve(struct inventory_port *handle)
{
    struct fake_port *port = (struct fake_port *)handle;
    return port->committed < port->room ? &port->requests[port->committed] : NULL;
}

static void port_commit(struct inventory_port *handle)
{
    ((struct fake_port *)handle)->committed++;
}

static void port_flush(struct inventory_port *handle)
{
    struct fake_port *port = (struct fake_port *)handle;
    port->flushed = port->committed;
}

static const struct inventory_answer *port_collect(struct inventory_port *handle)
{
    struct fake_port *port = (struct fake_port *)handle;
    if (port->answer == ANSWER_NONE || port->answered == port->flushed)
        return NULL;
    port->out = (struct inventory_answer){ .tag = port->requests[port->answered++].tag,
        .outcome = { .answer = port->answer } };
    return &port->out;
}

static const struct inventory_port_ops port_ops = { port_reserve, port_commit, port_flush, port_collect };

struct fixture {
    struct fake_port port;
    struct fake_store store;
    struct arena arena;
    struct stock_pump *pump;
    struct stock_pump_progress progress;
    uint64_t now_ms;
};

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    log_level_set(LOG_ERROR + 1);
    assert_int_equal(arena_open(&f->arena, 2 * stock_pump_bytes() + 4096), STATUS_OK);
    fake_store_open(&f->store);
    f->port.port.ops = &port_ops;
    f->port.room = PORT_MAX;
    f->now_ms = 1000;
    f->pump = stock_pump_create(&f->arena,
        &(struct stock_pump_config){ .store = &f->store.store, .port = &f->port.port, .flight_max = 8 });
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_close(&f->arena);
    test_free(f);
    return 0;
}

static void add_event(struct fixture *f, uint64_t id)
{
    f->store.events[f->store.event_count++] = (struct stock_event){ .id = id,
        .settle = { .ticket = 100 + id,
            .step = SETTLE_RETURN,
            .to = 2,
            .waiter_count = 1,
            .waiters = { { 7, 9, 3 } } } };
}

/* The record of the oldest open event came back. */
static void confirm_first(struct fixture *f)
{
    f->store.event_count--;
    memmove(f->store.events, f->store.events + 1, f->store.event_count * sizeof f->store.events[0]);
}

static void turn_after(struct fixture *f, uint32_t ms)
{
    f->now_ms += ms;
    assert_int_equal(stock_pump_turn(f->pump, f->now_ms, &f->progress), STATUS_OK);
}

static void a_clock_that_goes_back_does_not_stop_it(void **state)
{
    struct fixture *f = *state;
    f->now_ms = 500000;
    turn_after(f, 0);
    add_event(f, 1);
    f->now_ms = 1000;
    turn_after(f, 0);
    assert_int_equal(f->progress.submitted, 1);
}

static void a_clock_that_goes_back_does_not_hold_up_what_waits_to_be_asked_again(void **state)
{
    struct fixture *f = *state;
    f->now_ms = 500000;
    add_event(f, 1);
    f->port.answer = ANSWER_UNAVAILABLE;
    turn_after(f, 0);
    turn_after(f, 1);
    f->now_ms = 1000;
    turn_after(f, 0);
    assert_int_equal(f->port.flushed, 2);
}

static void an_event_becomes_one_settle_command(void **state)
{
    struct fixture *f = *state;
    add_event(f, 5);
    turn_after(f, 0);
    assert_int_equal(f->port.flushed, 1);
    const struct command *command = &f->port.requests[0].command;
    assert_int_equal(command->type, COMMAND_SETTLE);
    assert_int_equal(command->time_ms, f->now_ms);
    assert_memory_equal(&command->settle, &f->store.events[0].settle, sizeof command->settle);
    for (int i = 0; i < 10; i++)
        turn_after(f, 1000); /* not answered: not asked again, every request gets its answer */
    assert_int_equal(f->port.flushed, 1);
    assert_int_equal(f->progress.open, 1);
}

/* Whoever waits for units to be back asks by the ticket; somebody else's order may have moved since. */
static void a_step_is_open_until_it_is_answered_whoever_else_moves(void **state)
{
    struct fixture *f = *state;
    uint64_t since = stock_pump_looks(f->pump);
    add_event(f, 5);
    assert_true(stock_pump_is_open(f->pump, 105, since)); /* nobody has looked for it yet */
    turn_after(f, 0);
    assert_true(stock_pump_is_open(f->pump, 105, since)); /* asked */
    f->port.answer = ANSWER_DONE;
    turn_after(f, 1);
    assert_false(stock_pump_is_open(f->pump, 105, since));
    confirm_first(f);
    stock_pump_look(f->pump);
    turn_after(f, 1);
    stock_pump_look(f->pump); /* another order moves: nothing is known of that one */
    assert_false(stock_pump_is_open(f->pump, 105, since));
    assert_true(stock_pump_is_open(f->pump, 106, stock_pump_looks(f->pump)));
    /* With as many in flight as may be, an answered one is still known. */
    f->port.answer = ANSWER_NONE;
    since = stock_pump_looks(f->pump);
    for (uint64_t event = 10; event < 30; event++)
        add_event(f, event);
    turn_after(f, 1);
    assert_false(stock_pump_is_open(f->pump, 105, 0));
    assert_true(stock_pump_is_open(f->pump, 129, since)); /* behind the others */
}

static ticket_number settled_ticket;

static void settled(void *context, ticket_number ticket, user_id user)
{
    (void)context;
    (void)user;
    settled_ticket = ticket;
}

static void who_waits_hears_of_an_answer_and_of_a_record_that_was_faster(void **state)
{
    struct fixture *f = *state;
    f->pump = stock_pump_create(&f->arena,
        &(struct stock_pump_config){
            .store = &f->store.store, .port = &f->port.port, .flight_max = 8, .settled = settled });
    add_event(f, 5);
    turn_after(f, 0);
    settled_ticket = 0;
    confirm_first(f); /* the record came back, the answer is not here yet */
    stock_pump_look(f->pump);
    turn_after(f, 1);
    assert_int_equal(settled_ticket, 105);
    add_event(f, 6);
    stock_pump_look(f->pump);
    f->port.answer = ANSWER_DONE;
    turn_after(f, 1);
    turn_after(f, 1);
    assert_int_equal(settled_ticket, 106);
}

static void a_confirmed_event_is_forgotten(void **state)
{
    struct fixture *f = *state;
    add_event(f, 5);
    add_event(f, 6);
    turn_after(f, 0);
    f->port.answer = ANSWER_DONE;
    turn_after(f, STOCK_PUMP_LOOK_MS);
    confirm_first(f);
    confirm_first(f);
    assert_int_equal(f->progress.open, 0);
    for (int i = 0; i < 10; i++)
        turn_after(f, STOCK_PUMP_ROUND_MS);
    assert_int_equal(f->port.flushed, 2);
}

static void an_answer_without_a_record_is_asked_again_later(void **state)
{
    struct fixture *f = *state;
    add_event(f, 5);
    f->port.answer = ANSWER_DONE;
    turn_after(f, 0);
    turn_after(f, STOCK_PUMP_LOOK_MS); /* the first round ends */
    turn_after(f, STOCK_PUMP_ROUND_MS - 1);
    turn_after(f, STOCK_PUMP_LOOK_MS);
    assert_int_equal(f->port.flushed, 1);
    turn_after(f, STOCK_PUMP_LOOK_MS);
    assert_int_equal(f->port.flushed, 2);
}

static void not_now_is_tried_again_soon(void **state)
{
    struct fixture *f = *state;
    add_event(f, 5);
    f->port.answer = ANSWER_UNAVAILABLE;
    turn_after(f, 0);
    turn_after(f, 1);
    turn_after(f, STOCK_PUMP_AGAIN_MS - 1);
    assert_int_equal(f->port.flushed, 1);
    turn_after(f, 1);
    assert_int_equal(f->port.flushed, 2);
    assert_int_equal(f->progress.refused, 0);
}

static void a_refused_event_is_shown_and_tried_slowly(void **state)
{
    struct fixture *f = *state;
    add_event(f, 5);
    f->port.answer = ANSWER_CONFLICT;
    turn_after(f, 0);
    turn_after(f, 1);
    assert_int_equal(f->progress.refused, 1);
    turn_after(f, STOCK_PUMP_REFUSED_MS - 1);
    assert_int_equal(f->port.flushed, 1);
    f->port.answer = ANSWER_DONE;
    turn_after(f, 1);
    assert_int_equal(f->port.flushed, 2);
    turn_after(f, 1);
    assert_int_equal(f->progress.refused, 0);
}

static void at_most_so_many_are_in_flight(void **state)
{
    struct fixture *f = *state;
    for (uint64_t id = 1; id <= 20; id++)
        add_event(f, id);
    turn_after(f, 0);
    turn_after(f, STOCK_PUMP_LOOK_MS);
    assert_int_equal(f->port.flushed, 8);
    assert_int_equal(f->progress.asked, 8);
}

/* The records are on their way behind a backlog of orders: units come back all the same. */
static void answered_events_make_room_before_their_records_come(void **state)
{
    struct fixture *f = *state;
    for (uint64_t id = 1; id <= 20; id++)
        add_event(f, id);
    f->port.answer = ANSWER_DONE;
    for (int i = 0; i < 4; i++)
        turn_after(f, 1);
    assert_int_equal(f->port.flushed, 20);
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(f->port.requests[i].command.settle.ticket, 101 + i);
    turn_after(f, STOCK_PUMP_LOOK_MS);
    assert_int_equal(f->progress.open, 0);
}

static void a_full_port_is_no_loss(void **state)
{
    struct fixture *f = *state;
    for (uint64_t id = 1; id <= 5; id++)
        add_event(f, id);
    f->port.room = 2;
    turn_after(f, 0);
    assert_int_equal(f->port.flushed, 2);
    f->port.room = PORT_MAX;
    turn_after(f, 1);
    assert_int_equal(f->port.flushed, 5);
}

static void a_store_that_is_away_is_said_and_nothing_is_forgotten(void **state)
{
    struct fixture *f = *state;
    add_event(f, 5);
    turn_after(f, 0);
    f->store.events_answer = STATUS_AWAY;
    f->now_ms += STOCK_PUMP_LOOK_MS;
    assert_int_equal(stock_pump_turn(f->pump, f->now_ms, &f->progress), STATUS_AWAY);
    f->store.events_answer = STATUS_OK;
    turn_after(f, STOCK_PUMP_LOOK_MS);
    assert_int_equal(f->progress.open, 1);
    assert_int_equal(f->port.flushed, 1);
}

static void answers_of_others_on_a_shared_port_are_left_alone(void **state)
{
    struct fixture *f = *state;
    const struct inventory_answer other = { .tag = 5, .outcome = { .answer = ANSWER_DONE } };
    const struct inventory_answer late = { .tag = STOCK_PUMP_TAG | 99,
        .outcome = { .answer = ANSWER_DONE } };
    assert_false(stock_pump_answer(f->pump, f->now_ms, &other));
    assert_true(stock_pump_answer(f->pump, f->now_ms, &late));
}

/* Paid and refunded at once: two open events of one ticket. */
static void add_pair(struct fixture *f)
{
    f->store.event_count = 2;
    f->store.events[0] = (struct stock_event){ .id = 1, .settle = { .ticket = 9, .step = SETTLE_SOLD } };
    f->store.events[1] =
        (struct stock_event){ .id = 2, .settle = { .ticket = 9, .step = SETTLE_RETURN } };
}

static void steps_of_a_ticket_go_one_after_the_other(void **state)
{
    struct fixture *f = *state;
    add_pair(f);
    assert_int_equal(stock_pump_turn(f->pump, f->now_ms, &f->progress), STATUS_OK);
    assert_int_equal(f->port.flushed, 1);
    assert_int_equal(f->port.requests[0].command.settle.step, SETTLE_SOLD);
    f->port.answer = ANSWER_DONE;
    assert_int_equal(stock_pump_turn(f->pump, ++f->now_ms, &f->progress), STATUS_OK);
    assert_int_equal(f->port.flushed, 2);
    assert_int_equal(f->port.requests[1].command.settle.step, SETTLE_RETURN);
}

static void a_step_that_its_successor_has_overtaken_is_not_refused(void **state)
{
    struct fixture *f = *state;
    add_pair(f);
    assert_int_equal(stock_pump_turn(f->pump, f->now_ms, &f->progress), STATUS_OK);
    f->port.answer = ANSWER_CONFLICT;
    assert_int_equal(stock_pump_turn(f->pump, ++f->now_ms, &f->progress), STATUS_OK);
    assert_int_equal(f->progress.refused, 0);
    assert_int_equal(f->port.flushed, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_event_becomes_one_settle_command),
        TEST(a_clock_that_goes_back_does_not_stop_it),
        TEST(a_clock_that_goes_back_does_not_hold_up_what_waits_to_be_asked_again),
        TEST(a_step_is_open_until_it_is_answered_whoever_else_moves),
        TEST(who_waits_hears_of_an_answer_and_of_a_record_that_was_faster),
        TEST(a_confirmed_event_is_forgotten),
        TEST(an_answer_without_a_record_is_asked_again_later),
        TEST(not_now_is_tried_again_soon),
        TEST(a_refused_event_is_shown_and_tried_slowly),
        TEST(at_most_so_many_are_in_flight),
        TEST(answered_events_make_room_before_their_records_come),
        TEST(a_full_port_is_no_loss),
        TEST(a_store_that_is_away_is_said_and_nothing_is_forgotten),
        TEST(steps_of_a_ticket_go_one_after_the_other),
        TEST(a_step_that_its_successor_has_overtaken_is_not_refused),
        TEST(answers_of_others_on_a_shared_port_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
