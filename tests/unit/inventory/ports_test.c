/* SPDX-License-Identifier: Apache-2.0 */
/* The ports of an inventory: what goes in comes out once, a full port refuses, and each side is woken when
 * there is something for it. */
#include "inventory/ports.h"

#include "tests/unit/base/unit.h"

enum { PORTS = 2, SLOTS = 8, ITEMS = 3 };

static struct {
    struct arena arena;
    struct board board;
    struct ports ports;
    struct wake host, client;
    struct inventory_port *port;
} world;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(
        arena_open(&world.arena, ports_bytes(PORTS, SLOTS) + board_bytes(ITEMS, 10)), STATUS_OK);
    board_create(&world.board, &world.arena, ITEMS, 10);
    ports_create(&world.ports, &world.arena, PORTS, SLOTS, &world.board);
    assert_int_equal(wake_open(&world.host), STATUS_OK);
    assert_int_equal(wake_open(&world.client), STATUS_OK);
    world.ports.host = &world.host;
    world.port = ports_port(&world.ports, 1, &world.client);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    wake_close(&world.host);
    wake_close(&world.client);
    arena_close(&world.arena);
    return 0;
}

static bool ask(uint64_t tag, struct command command)
{
    struct inventory_request *request = world.port->ops->reserve(world.port);
    if (request == NULL)
        return false;
    *request = (struct inventory_request){ .tag = tag, .command = command };
    world.port->ops->commit(world.port);
    return true;
}

static struct command purchase(uint32_t units, uint8_t flags)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .reserve = { .user = 1, .item = 2, .quantity = units, .channel = 3, .flags = flags } };
}

static const struct command look = { .type = COMMAND_ASK_COUNTS, .ask = { .item = 2 } };

/* The host: takes up to `max` requests and answers each with its own tag. Answers how many. */
static uint32_t serve(uint32_t max)
{
    struct ring *requests = &world.ports.list[1].requests;
    uint32_t count = 0;
    for (const struct inventory_request *request;
         count < max && (request = ring_peek(requests)) != NULL;) {
        const struct flow_units flow = flow_of(&request->command);
        const struct inventory_answer answer = { .tag = request->tag };
        ports_answer(&world.ports, 1, &flow, &answer);
        ring_pop(requests);
        count++;
    }
    ring_release(requests);
    return count;
}

static bool is_woken(struct wake *wake)
{
    const bool woken = atomic_load(&wake->pending) != 0;
    wake_clear(wake);
    return woken;
}

static void a_request_is_seen_after_the_flush_and_an_answer_after_the_turn(void **state)
{
    (void)state;
    assert_true(ask(1, look) && ask(2, look));
    assert_true(ports_idle(&world.ports));
    assert_int_equal(serve(SLOTS), 0);
    world.port->ops->flush(world.port);
    assert_false(ports_idle(&world.ports));
    assert_int_equal(serve(SLOTS), 2);
    assert_true(ports_idle(&world.ports));
    assert_null(world.port->ops->collect(world.port));
    ports_show(&world.ports);
    for (uint64_t tag = 1; tag <= 2; tag++)
        assert_int_equal(world.port->ops->collect(world.port)->tag, tag);
    assert_null(world.port->ops->collect(world.port));
}

static void a_port_is_full_until_an_answer_was_taken_and_its_slot_given_back(void **state)
{
    (void)state;
    for (uint64_t tag = 0; tag < SLOTS; tag++)
        assert_true(ask(tag, look));
    assert_false(ask(SLOTS, look));
    world.port->ops->flush(world.port);
    assert_int_equal(serve(SLOTS), SLOTS);
    assert_false(ask(SLOTS, look)); /* the ring of requests has room, that of answers has none */
    ports_show(&world.ports);
    assert_false(ask(SLOTS, look));
    const struct inventory_answer *first = world.port->ops->collect(world.port);
    assert_int_equal(first->tag, 0);
    assert_true(ask(SLOTS, look));
    assert_false(ask(SLOTS + 1, look));
    world.port->ops->flush(world.port);
    assert_int_equal(serve(SLOTS), 1); /* into the slot that was given back */
    ports_show(&world.ports);
    for (uint64_t tag = 1; tag <= SLOTS; tag++)
        assert_int_equal(world.port->ops->collect(world.port)->tag, tag);
    assert_null(world.port->ops->collect(world.port));
    for (uint64_t tag = 0; tag < SLOTS; tag++)
        assert_true(ask(tag, look));
}

static void purchases_count_as_on_their_way_until_they_are_answered(void **state)
{
    (void)state;
    assert_true(ask(1, purchase(2, 0)) && ask(2, purchase(3, 0)));
    assert_true(ask(3, purchase(7, RESERVE_REPEAT)) && ask(4, look)); /* these take nothing */
    assert_int_equal(board_queued(&world.board, 2, 3), 5);
    assert_int_equal(board_queued(&world.board, 1, 3), 0);
    assert_int_equal(board_queued(&world.board, 2, 0), 0);
    world.port->ops->flush(world.port);
    assert_int_equal(serve(1), 1);
    assert_int_equal(board_queued(&world.board, 2, 3), 3);
    assert_int_equal(serve(SLOTS), 3);
    assert_int_equal(board_queued(&world.board, 2, 3), 0);
}

static void each_side_is_woken_when_there_is_something_for_it(void **state)
{
    (void)state;
    world.port->ops->flush(world.port);
    assert_false(is_woken(&world.host)); /* nothing was asked */
    assert_true(ask(1, look));
    world.port->ops->flush(world.port);
    assert_true(is_woken(&world.host));
    assert_int_equal(serve(1), 1);
    assert_false(is_woken(&world.client));
    ports_show(&world.ports);
    assert_true(is_woken(&world.client));
    ports_show(&world.ports);
    assert_false(is_woken(&world.client)); /* once */
    assert_non_null(world.port->ops->collect(world.port));
}

static void a_client_on_the_hosts_thread_wakes_nobody(void **state)
{
    (void)state;
    assert_ptr_equal(ports_port(&world.ports, 1, &world.host), world.port);
    assert_true(ask(1, look));
    world.port->ops->flush(world.port);
    assert_int_equal(serve(1), 1);
    ports_show(&world.ports);
    assert_false(is_woken(&world.host));
    assert_false(is_woken(&world.client));
    assert_non_null(world.port->ops->collect(world.port));
}

static void act_strange_port(void)
{
    (void)ports_port(&world.ports, PORTS, NULL);
}

static void act_answer_too_many(void)
{
    const struct flow_units none = { 0 };
    const struct inventory_answer answer = { 0 };
    for (uint32_t i = 0; i <= SLOTS; i++)
        ports_answer(&world.ports, 0, &none, &answer);
}

static void bugs_stop_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(act_strange_port));
    assert_true(unit_stops(act_answer_too_many));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_request_is_seen_after_the_flush_and_an_answer_after_the_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_port_is_full_until_an_answer_was_taken_and_its_slot_given_back, setup, teardown),
        cmocka_unit_test_setup_teardown(
            purchases_count_as_on_their_way_until_they_are_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(each_side_is_woken_when_there_is_something_for_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_on_the_hosts_thread_wakes_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(bugs_stop_the_program, setup, teardown),
    };
    return cmocka_run_group_tests_name("inventory/ports", tests, NULL, NULL);
}
