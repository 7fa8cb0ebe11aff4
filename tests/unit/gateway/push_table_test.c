/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/push_table.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

enum { SLOTS = 300 };

static struct arena arena;
static struct push_table table;

static int setup(void **state)
{
    (void)state;
    if (arena_open(&arena, push_table_bytes(SLOTS)) != STATUS_OK)
        return 1;
    push_table_create(&table, &arena, SLOTS);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static struct push_socket *added(uint32_t slot, user_id user)
{
    return push_table_add(&table, slot, 1000 + slot, user);
}

static void a_socket_is_found_by_slot_and_name_only(void **state)
{
    (void)state;
    struct push_socket *socket = added(7, 42);
    assert_ptr_equal(push_table_find(&table, 7, 1007), socket);
    assert_null(push_table_find(&table, 7, 1008)); /* an older or newer one of the slot */
    assert_null(push_table_find(&table, 8, 1007));
    assert_null(push_table_find(&table, SLOTS + 5, 1007));
    push_table_remove(&table, socket);
    assert_null(push_table_find(&table, 7, 1007));
    assert_null(push_table_newest(&table, 42));
    assert_int_equal(table.count, 0);
}

static void sockets_of_a_user_go_from_new_to_old_and_the_oldest_is_one_too_many(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PUSH_USER_SOCKETS_MAX; i++) {
        assert_null(push_table_excess(&table, 42));
        added(i, 42);
    }
    added(50, 43);
    assert_int_equal(push_table_excess(&table, 42)->socket, 1000);
    push_table_remove(&table, &table.sockets[3]); /* in the middle */
    assert_null(push_table_excess(&table, 42));
    const uint64_t wanted[] = { 1007, 1006, 1005, 1004, 1002, 1001, 1000 };
    struct push_socket *socket = push_table_newest(&table, 42);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(socket->socket, wanted[i]);
        socket = push_table_older(&table, socket);
    }
    assert_null(socket);
    push_table_remove(&table, &table.sockets[7]); /* the head */
    assert_int_equal(push_table_newest(&table, 42)->socket, 1006);
}

/* Users that share a home: what is behind a removed one is still found. */
static void users_come_and_go_and_all_others_are_found(void **state)
{
    static user_id users[SLOTS];
    struct random random;
    (void)state;
    random_seed(&random, 1);
    for (int step = 0; step < 20000; step++) {
        const uint32_t slot = (uint32_t)(random_next(&random) % SLOTS);
        if (users[slot] != 0) {
            push_table_remove(&table, &table.sockets[slot]);
            users[slot] = 0;
        } else {
            users[slot] = 1 + slot + (random_next(&random) % 4) * (table.user_mask + 1) * 3;
            added(slot, users[slot]);
        }
        const uint32_t other = (uint32_t)(random_next(&random) % SLOTS);
        bool found = false;
        for (struct push_socket *at = users[other] == 0 ? NULL : push_table_newest(&table, users[other]);
             at != NULL; at = push_table_older(&table, at))
            found |= at == &table.sockets[other];
        assert_int_equal(found, users[other] != 0);
    }
}

static void the_line_is_fair_and_holds_each_once(void **state)
{
    (void)state;
    struct push_socket *a = added(1, 1), *b = added(2, 2), *c = added(3, 3);
    push_table_want(&table, a, PUSH_ORDER, 10);
    push_table_want(&table, b, PUSH_ORDER, 20);
    push_table_want(&table, a, PUSH_ORDER, 10);
    push_table_want(&table, c, PUSH_STATE, 0);
    push_table_remove(&table, b);
    assert_ptr_equal(push_table_ask(&table), a);
    assert_int_equal(a->need, PUSH_ORDER);
    assert_int_equal(a->ticket, 10);
    assert_ptr_equal(push_table_ask(&table), c);
    assert_null(push_table_ask(&table));
}

static void changes_while_a_job_is_under_way_end_in_one_more(void **state)
{
    (void)state;
    struct push_socket *socket = added(1, 1);
    push_table_want(&table, socket, PUSH_ORDER, 10);
    assert_ptr_equal(push_table_ask(&table), socket);
    socket->need = PUSH_NOTHING;
    for (int i = 0; i < 5; i++)
        push_table_want(&table, socket, PUSH_ORDER, 10);
    assert_null(push_table_ask(&table)); /* not before the first is back */
    push_table_answered(&table, socket);
    assert_ptr_equal(push_table_ask(&table), socket);
    assert_int_equal(socket->ticket, 10);
    socket->need = PUSH_NOTHING;
    push_table_answered(&table, socket);
    assert_null(push_table_ask(&table));
}

static void two_orders_at_once_are_a_state(void **state)
{
    (void)state;
    struct push_socket *socket = added(1, 1);
    push_table_want(&table, socket, PUSH_ORDER, 10);
    push_table_want(&table, socket, PUSH_ORDER, 11);
    assert_int_equal(socket->need, PUSH_STATE);
    push_table_want(&table, socket, PUSH_ORDER, 10);
    assert_int_equal(socket->need, PUSH_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_socket_is_found_by_slot_and_name_only, setup, teardown),
        cmocka_unit_test_setup_teardown(
            sockets_of_a_user_go_from_new_to_old_and_the_oldest_is_one_too_many, setup, teardown),
        cmocka_unit_test_setup_teardown(users_come_and_go_and_all_others_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(the_line_is_fair_and_holds_each_once, setup, teardown),
        cmocka_unit_test_setup_teardown(changes_while_a_job_is_under_way_end_in_one_more, setup, teardown),
        cmocka_unit_test_setup_teardown(two_orders_at_once_are_a_state, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
