/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/tickets.h"

#include "tests/unit/base/unit.h"

enum { CAPACITY = 100 };

static struct arena arena;
static struct tickets tickets;

static int setup(void **state)
{
    (void)state;
    if (arena_open(&arena, tickets_bytes(CAPACITY)) != STATUS_OK)
        return -1;
    tickets_create(&tickets, &arena, CAPACITY);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void numbers_count_from_one_and_rows_stay_what_they_were(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= CAPACITY; i++) {
        assert_false(tickets_full(&tickets));
        const struct ticket_row row = {
            .user = i, .key = i << 40, .item = 65535, .quantity = 1000, .pay_by_ms = 0xffffffffffffu
        };
        assert_int_equal(tickets_add(&tickets, &row), i);
    }
    assert_true(tickets_full(&tickets));
    assert_null(tickets_get(&tickets, 0));
    assert_null(tickets_get(&tickets, CAPACITY + 1));
    assert_null(tickets_get(&tickets, UINT64_MAX));
    const struct ticket_row *last = tickets_get(&tickets, CAPACITY);
    assert_int_equal(last->user, CAPACITY);
    assert_int_equal(last->item, 65535);
    assert_int_equal(last->quantity, 1000);
    assert_int_equal(last->pay_by_ms, 0xffffffffffffu);
}

static void keys_are_found_in_a_full_table_also_where_they_collide(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= CAPACITY; i++) /* nearly all in the same few slots, wrapping at the end */
        tickets_add(&tickets, &(struct ticket_row){ .user = 1, .key = UINT64_MAX - i });
    for (uint64_t i = 1; i <= CAPACITY; i++)
        assert_int_equal(tickets_find_key(&tickets, UINT64_MAX - i), i);
    assert_int_equal(tickets_find_key(&tickets, UINT64_MAX), 0);
    assert_int_equal(tickets_find_key(&tickets, 12345), 0);
}

static void a_ticket_without_a_key_is_not_in_the_index(void **state)
{
    (void)state;
    tickets_add(&tickets, &(struct ticket_row){ .user = 1 });
    for (uint64_t slot = 0; slot < tickets.key_slot_count; slot++)
        assert_int_equal(tickets.key_slots[slot], 0);
}

static void overfill(void)
{
    for (uint64_t i = 0; i <= CAPACITY; i++)
        tickets_add(&tickets, &(struct ticket_row){ .user = 1 });
}

static void adding_to_a_full_table_is_a_bug(void **state)
{
    (void)state;
    assert_true(unit_stops(overfill));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            numbers_count_from_one_and_rows_stay_what_they_were, setup, teardown),
        cmocka_unit_test_setup_teardown(
            keys_are_found_in_a_full_table_also_where_they_collide, setup, teardown),
        cmocka_unit_test_setup_teardown(a_ticket_without_a_key_is_not_in_the_index, setup, teardown),
        cmocka_unit_test_setup_teardown(adding_to_a_full_table_is_a_bug, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
