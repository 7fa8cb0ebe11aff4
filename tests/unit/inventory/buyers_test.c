/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/buyers.h"

#include "tests/unit/base/unit.h"

enum { CAPACITY = 60 };

static struct arena arena;
static struct buyers buyers;

static int setup(void **state)
{
    (void)state;
    if (arena_open(&arena, buyers_bytes(CAPACITY)) != STATUS_OK)
        return -1;
    buyers_create(&buyers, &arena, CAPACITY);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void scopes_of_one_user_are_apart(void **state)
{
    (void)state;
    buyers_find_or_add(&buyers, buyers_scope_item(3), 9)->used = 1;
    buyers_find_or_add(&buyers, buyers_scope_sale(3), 9)->used = 2;
    buyers_find_or_add(&buyers, buyers_scope_eligible(3), 9)->used = 3;
    assert_int_equal(buyers_find(&buyers, buyers_scope_item(3), 9)->used, 1);
    assert_int_equal(buyers_find(&buyers, buyers_scope_sale(3), 9)->used, 2);
    assert_int_equal(buyers_find(&buyers, buyers_scope_eligible(3), 9)->used, 3);
    assert_null(buyers_find(&buyers, buyers_scope_item(2), 9));
    assert_null(buyers_find(&buyers, buyers_scope_item(3), 8));
    assert_int_equal(buyers.rows_end, 3);
}

static void a_row_is_added_once_and_found_in_a_full_table(void **state)
{
    (void)state;
    for (uint64_t user = 1; user <= CAPACITY; user++) {
        assert_int_equal(buyers_room(&buyers), CAPACITY - user + 1);
        buyers_find_or_add(&buyers, buyers_scope_item(1), user)->used = user & 0xff;
    }
    assert_int_equal(buyers_room(&buyers), 0);
    for (uint64_t user = 1; user <= CAPACITY; user++) {
        assert_int_equal(buyers_find(&buyers, buyers_scope_item(1), user)->used, user);
        assert_ptr_equal(buyers_find_or_add(&buyers, buyers_scope_item(1), user),
            buyers_find(&buyers, buyers_scope_item(1), user));
    }
    assert_null(buyers_find(&buyers, buyers_scope_item(1), CAPACITY + 1));
}

static void a_forgotten_row_is_used_again_and_the_others_are_found(void **state)
{
    (void)state;
    for (uint64_t user = 1; user <= CAPACITY; user++)
        (void)buyers_find_or_add(&buyers, buyers_scope_item(1), user);
    for (uint64_t user = 1; user <= CAPACITY; user += 2)
        buyers_forget(&buyers, buyers_find(&buyers, buyers_scope_item(1), user));
    assert_int_equal(buyers_room(&buyers), CAPACITY / 2);
    assert_null(buyers_check(&buyers));
    for (uint64_t user = 1; user <= CAPACITY; user++)
        assert_int_equal(buyers_find(&buyers, buyers_scope_item(1), user) != NULL, user % 2 == 0);
    struct buyer_row *row = buyers_find_or_add(&buyers, buyers_scope_sale(1), 500);
    assert_true(row < buyers.rows + CAPACITY && row->used == 0 && row->last == 0);
    assert_int_equal(buyers_room(&buyers), CAPACITY / 2 - 1);
    assert_null(buyers_check(&buyers));
}

static void rows_with_a_broken_chain_are_not_restored(void **state)
{
    (void)state;
    assert_true(buyers_restore_row(&buyers, &(struct buyer_row){ .user = 4, .scope = 1 }, 0));
    assert_true(buyers_restore_row(&buyers, &(struct buyer_row){ .user = 0 }, 0));
    assert_false(buyers_restore_end(&buyers, 0));
    assert_false(buyers_restore_end(&buyers, 1));
    assert_false(buyers_restore_end(&buyers, 9));
    assert_true(buyers_restore_end(&buyers, 2));
    assert_ptr_equal(buyers_find_or_add(&buyers, buyers_scope_item(1), 5), &buyers.rows[1]);
}

static void forget_used(void)
{
    struct buyer_row *row = buyers_find_or_add(&buyers, buyers_scope_item(1), 1);
    row->used = 1;
    buyers_forget(&buyers, row);
}

static void forgetting_units_that_count_is_a_bug(void **state)
{
    (void)state;
    assert_true(unit_stops(forget_used));
}

static void overfill(void)
{
    for (uint64_t user = 1; user <= CAPACITY + 1; user++)
        (void)buyers_find_or_add(&buyers, buyers_scope_item(1), user);
}

static void adding_to_a_full_table_is_a_bug(void **state)
{
    (void)state;
    assert_true(unit_stops(overfill));
}

/* Who collects users that fall on one place has collected them for one table only. */
static void where_a_user_stands_is_a_secret_of_the_table(void **state)
{
    (void)state;
    struct arena other_arena;
    struct buyers other;
    uint32_t same = 0;
    assert_int_equal(arena_open(&other_arena, buyers_bytes(CAPACITY)), STATUS_OK);
    buyers_create(&other, &other_arena, CAPACITY);
    for (uint64_t user = 1; user <= CAPACITY / 2; user++) {
        (void)buyers_find_or_add(&buyers, buyers_scope_item(1), user);
        (void)buyers_find_or_add(&other, buyers_scope_item(1), user);
    }
    for (uint64_t slot = 0; slot < buyers.slots.count; slot++)
        same += buyers.slots.at[slot] != 0 && buyers.slots.at[slot] == other.slots.at[slot];
    assert_in_range(same, 0, CAPACITY / 6);
    assert_memory_equal(buyers.rows, other.rows, CAPACITY / 2 * sizeof *buyers.rows);
    arena_close(&other_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scopes_of_one_user_are_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_is_added_once_and_found_in_a_full_table, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_forgotten_row_is_used_again_and_the_others_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_with_a_broken_chain_are_not_restored, setup, teardown),
        cmocka_unit_test_setup_teardown(forgetting_units_that_count_is_a_bug, setup, teardown),
        cmocka_unit_test_setup_teardown(adding_to_a_full_table_is_a_bug, setup, teardown),
        cmocka_unit_test_setup_teardown(where_a_user_stands_is_a_secret_of_the_table, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
