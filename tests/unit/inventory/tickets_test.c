/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/tickets.h"

#include "base/random.h"
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
            .user = i, .key = i << 40, .item = ITEMS_LIMIT - 1, .quantity = 1000, .pay_by_ms = 0xffffffffffffu
        };
        assert_int_equal(tickets_add(&tickets, &row), i);
    }
    assert_true(tickets_full(&tickets));
    assert_null(tickets_get(&tickets, 0));
    assert_null(tickets_get(&tickets, CAPACITY + 1));
    assert_null(tickets_get(&tickets, UINT64_MAX));
    const struct ticket_row *last = tickets_get(&tickets, CAPACITY);
    assert_int_equal(last->user, CAPACITY);
    assert_int_equal(last->item, ITEMS_LIMIT - 1);
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
    for (uint64_t slot = 0; slot < tickets.keys.count; slot++)
        assert_int_equal(tickets.keys.at[slot], 0);
}

static void fill(void)
{
    while (!tickets_full(&tickets))
        tickets_add(&tickets,
            &(struct ticket_row){ .user = tickets.last, .key = UINT64_MAX - tickets.last, .quantity = 1 });
}

static void a_forgotten_ticket_leaves_nothing_but_its_number(void **state)
{
    (void)state;
    fill();
    tickets_forget(&tickets, tickets_get(&tickets, 7));
    assert_null(tickets_get(&tickets, 7));
    assert_int_equal(tickets_find_key(&tickets, UINT64_MAX - 6), 0);
    assert_true(tickets_forgotten(&tickets, 7));
    assert_false(tickets_forgotten(&tickets, 8));
    assert_false(tickets_forgotten(&tickets, 0));
    assert_false(tickets_forgotten(&tickets, CAPACITY + 1));
    assert_false(tickets_full(&tickets));
    assert_int_equal(tickets_used(&tickets), CAPACITY - 1);
    assert_int_equal(tickets_add(&tickets, &(struct ticket_row){ .user = 5, .key = UINT64_MAX - 6 }),
        CAPACITY + 1);
    assert_null(tickets_get(&tickets, 7));
    assert_int_equal(tickets_get(&tickets, CAPACITY + 1)->user, 5);
    assert_int_equal(tickets_find_key(&tickets, UINT64_MAX - 6), CAPACITY + 1);
    assert_true(tickets_full(&tickets));
    assert_null(tickets_check(&tickets));
}

/* Keys that all fall on a few slots, rows that are used many times. */
static void whatever_is_forgotten_the_others_are_found_and_numbers_only_grow(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 5);
    for (uint32_t round = 0; round < 200; round++) {
        fill();
        const ticket_number last = tickets.last;
        for (uint32_t i = 0; i < CAPACITY / 3; i++) {
            const ticket_number number = 1 + random_below(&random, last);
            struct ticket_row *row = tickets_get(&tickets, number);
            if (row != NULL)
                tickets_forget(&tickets, row);
        }
        assert_null(tickets_check(&tickets));
        assert_int_equal(tickets.last, last);
    }
    assert_true(tickets.last > 10 * CAPACITY);
}

static void numbers_that_are_used_up_make_the_table_full(void **state)
{
    (void)state;
    tickets_add(&tickets, &(struct ticket_row){ .user = 1 });
    tickets.last = TICKET_NUMBER_MAX;
    assert_true(tickets_full(&tickets));
}

static void a_restored_table_is_the_same_and_goes_on_alike(void **state)
{
    (void)state;
    struct arena other_arena;
    struct tickets other;
    fill();
    for (ticket_number number = 3; number < 40; number += 5)
        tickets_forget(&tickets, tickets_get(&tickets, number));
    tickets_add(&tickets, &(struct ticket_row){ .user = 6, .key = 9 });
    assert_int_equal(arena_open(&other_arena, tickets_bytes(CAPACITY)), STATUS_OK);
    tickets_create(&other, &other_arena, CAPACITY);
    for (uint64_t i = 0; i < tickets.rows_end; i++) {
        struct ticket_row row = tickets.rows[i];
        row.used = row.moved = 0;
        assert_true(
            tickets_restore_row(&other, &row, (uint32_t)tickets_number(&tickets, &tickets.rows[i])));
    }
    assert_true(tickets_restore_end(&other, tickets.last, tickets.free_head));
    assert_null(tickets_check(&other));
    for (uint32_t i = 0; i < 3; i++) {
        const struct ticket_row row = { .user = i, .key = 100 + i };
        assert_int_equal(tickets_add(&other, &row), tickets_add(&tickets, &row));
    }
    assert_memory_equal(other.rows, tickets.rows, tickets.rows_end * sizeof *tickets.rows);
    assert_int_equal(tickets_find_key(&other, 9), CAPACITY + 1);
    arena_close(&other_arena);
}

static void rows_that_can_not_be_are_not_restored(void **state)
{
    (void)state;
    assert_false(tickets_restore_row(&tickets, &(struct ticket_row){ .state = 9 }, 1));
    assert_false(tickets_restore_row(&tickets, &(struct ticket_row){ .moved = 1 }, 1));
    assert_true(tickets_restore_row(&tickets, &(struct ticket_row){ .user = 4 }, 1));
    assert_true(tickets_restore_row(&tickets, &(struct ticket_row){ .user = 2 }, 0)); /* its own successor */
    assert_false(tickets_restore_end(&tickets, 1, 2));
    assert_false(tickets_restore_end(&tickets, 1, 0)); /* a free row that nobody leads to */
    assert_false(tickets_restore_end(&tickets, 1, 1)); /* not free */
    assert_false(tickets_restore_end(&tickets, 1, 99));
    tickets.rows[1].user = 0;
    assert_false(tickets_restore_end(&tickets, 0, 2)); /* a number that was not given */
    assert_true(tickets_restore_end(&tickets, 1, 2));
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
        cmocka_unit_test_setup_teardown(a_forgotten_ticket_leaves_nothing_but_its_number, setup, teardown),
        cmocka_unit_test_setup_teardown(
            whatever_is_forgotten_the_others_are_found_and_numbers_only_grow, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_that_are_used_up_make_the_table_full, setup, teardown),
        cmocka_unit_test_setup_teardown(a_restored_table_is_the_same_and_goes_on_alike, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_that_can_not_be_are_not_restored, setup, teardown),
        cmocka_unit_test_setup_teardown(adding_to_a_full_table_is_a_bug, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
