/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/places.h"

#include "tests/unit/base/unit.h"

#include <pthread.h>

enum { CAPACITY = 1000, USERS = 700 };

static struct places places;
static struct arena arena;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, places_bytes(CAPACITY, SALES_LIMIT) + 4096), STATUS_OK);
    places_create(&places, &arena, CAPACITY, SALES_LIMIT);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void everybody_is_found_in_each_sale_and_nobody_else(void **state)
{
    (void)state;
    assert_int_equal(places_find(&places, 1, 5), UINT64_MAX);
    for (user_id user = 1; user <= CAPACITY / 2; user++) {
        places_add(&places, 1, user, (uint32_t)user);
        places_add(&places, 2, user, 7);
    }
    assert_true(places_full(&places));
    for (user_id user = 1; user <= CAPACITY / 2; user++) {
        assert_int_equal(places_find(&places, 1, user), 2 * (user - 1));
        assert_int_equal(places.rows[places_find(&places, 1, user)].number, user);
        assert_int_equal(places.rows[places_find(&places, 2, user)].number, 7);
    }
    assert_int_equal(places_find(&places, 3, 5), UINT64_MAX);
    assert_int_equal(places_find(&places, 1, CAPACITY), UINT64_MAX);
}

/* Again and again around the ring: ways to rows stay short and right. */
static void rows_that_are_free_again_are_used_again(void **state)
{
    (void)state;
    uint32_t number = 0;
    user_id user = 0;
    for (sale_id sale = 1; sale <= 40; sale++) {
        const uint64_t first = places.count;
        for (uint32_t i = 0; i < USERS; i++)
            places_add(&places, sale, ++user, i);
        assert_int_equal(places_first(&places, sale), first);
        for (uint32_t i = 0; i < USERS; i++) {
            const user_id back = user - USERS + 1 + i;
            assert_int_equal(places_find(&places, sale, back), first + i);
            assert_true(places_look(&places, sale, back, &number));
            assert_int_equal(number, i);
        }
        assert_false(places_look(&places, sale, user - USERS, &number));
        assert_int_equal(places_trim(&places), 0);
        for (uint64_t i = places.count; i-- > first;)
            places_forget(&places, i);
        assert_false(places_look(&places, sale, user, &number));
        assert_int_equal(places_find(&places, sale, user), UINT64_MAX);
        assert_int_equal(places_first(&places, sale), UINT64_MAX);
        assert_int_equal(places_trim(&places), USERS);
    }
    for (uint64_t i = 0; i < places.slot_count; i++)
        assert_int_equal(places.slots[i], 0);
}

static void add_twice(void)
{
    places_add(&places, 1, 5, 0);
    places_add(&places, 1, 5, 1);
}

static void add_too_many(void)
{
    for (user_id user = 1; user <= CAPACITY + 1; user++)
        places_add(&places, 1, user, 0);
}

static void a_second_place_and_one_too_many_are_bugs(void **state)
{
    (void)state;
    assert_true(unit_stops(add_twice));
    assert_true(unit_stops(add_too_many));
}

static void no_rooms_is_a_table_that_is_always_full(void **state)
{
    struct places none;
    (void)state;
    places_create(&none, &arena, 0, 1);
    assert_true(places_full(&none));
    assert_int_equal(places_find(&none, 1, 1), UINT64_MAX);
}

/* Who finds a row finds it whole, while others are added. */
static void *reader(void *context)
{
    (void)context;
    for (uint32_t seen = 0; seen < USERS;) {
        seen = 0;
        for (user_id user = 1; user <= USERS; user++) {
            const uint64_t row = places_find(&places, 1, user);
            if (row == UINT64_MAX)
                continue;
            assert_int_equal(places.rows[row].number, user * 3);
            seen++;
        }
    }
    return NULL;
}

static void readers_need_no_lock(void **state)
{
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, reader, NULL), 0);
    for (user_id user = 1; user <= USERS; user++)
        places_add(&places, 1, user, (uint32_t)user * 3);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void where_a_user_stands_is_a_secret_of_the_table(void **state)
{
    (void)state;
    struct arena other_arena;
    struct places other;
    uint32_t same = 0;
    assert_int_equal(arena_open(&other_arena, places_bytes(CAPACITY, SALES_LIMIT) + 4096), STATUS_OK);
    places_create(&other, &other_arena, CAPACITY, SALES_LIMIT);
    for (user_id user = 1; user <= USERS; user++) {
        places_add(&places, 1, user, 0);
        places_add(&other, 1, user, 0);
    }
    for (uint64_t slot = 0; slot < places.slot_count; slot++)
        same += places.slots[slot] != 0 && places.slots[slot] == other.slots[slot];
    assert_in_range(same, 0, USERS / 10);
    arena_close(&other_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everybody_is_found_in_each_sale_and_nobody_else, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_that_are_free_again_are_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_place_and_one_too_many_are_bugs, setup, teardown),
        cmocka_unit_test_setup_teardown(no_rooms_is_a_table_that_is_always_full, setup, teardown),
        cmocka_unit_test_setup_teardown(readers_need_no_lock, setup, teardown),
        cmocka_unit_test_setup_teardown(where_a_user_stands_is_a_secret_of_the_table, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
