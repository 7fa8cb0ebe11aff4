/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "unit.h"

#include <string.h>
#include <sys/mman.h>

static void taken_memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_open(&arena, 4096), STATUS_OK);
    char *before = NULL;
    for (size_t bytes = 1; bytes <= 65; bytes += 16) {
        char *at = arena_take(&arena, bytes, 1);
        assert_int_equal((uintptr_t)at % 64, 0);
        assert_true(before == NULL || at >= before + bytes - 16);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(at[i], 0);
        memset(at, 0xff, bytes);
        before = at;
    }
    arena_close(&arena);
}

static void the_last_byte_can_be_taken(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_open(&arena, 100), STATUS_OK);
    char *first = arena_take(&arena, 1, 64);
    char *last = arena_take(&arena, 2, 18);
    assert_ptr_equal(last, first + 64);
    last[35] = 1;
    assert_non_null(arena_take(&arena, 0, 8));
    arena_close(&arena);
}

static void take_one_past(void)
{
    struct arena arena;
    if (arena_open(&arena, 128) == STATUS_OK) {
        arena_take(&arena, 1, 65);
        arena_take(&arena, 1, 1);
    }
}
static void take_what_overflows(void)
{
    struct arena arena;
    if (arena_open(&arena, 128) == STATUS_OK)
        arena_take(&arena, SIZE_MAX / 2 + 1, 2);
}
static void take_from_closed(void)
{
    struct arena arena = { 0 };
    arena_take(&arena, 0, 0);
}

static void taking_more_than_there_is_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(take_one_past));
    assert_true(unit_stops(take_what_overflows));
    assert_true(unit_stops(take_from_closed));
}

static void what_the_system_cant_give_is_a_fault_and_closing_it_is_harmless(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_open(&arena, SIZE_MAX), STATUS_FULL);
    arena_close(&arena);
    assert_int_equal(arena_open(&arena, SIZE_MAX / 2), STATUS_FULL);
    arena_close(&arena);
    arena_close(&arena);
    arena = (struct arena){ 0 };
    arena_close(&arena);
}

static void generous_bounds_cost_nothing_until_touched(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_open(&arena, (size_t)1 << 38), STATUS_OK);
    char *at = arena_take(&arena, 1, (size_t)1 << 38);
    at[((size_t)1 << 38) - 1] = 1;
    arena_close(&arena);
    assert_int_equal(arena_open(&arena, 0), STATUS_OK);
    arena_close(&arena);
}

enum { PAGE = 4096, PAGES = 2000, FIRST = 3, LAST = 1501 };

static void touched_memory_has_its_pages_and_nothing_beside_it_has(void **state)
{
    (void)state;
    struct arena arena;
    unsigned char in_memory[PAGES + 1];
    assert_int_equal(arena_open(&arena, (size_t)PAGES * PAGE), STATUS_OK);
    char *at = arena_take(&arena, PAGES, PAGE);
    at[FIRST * PAGE] = 'x';
    arena_touch(at + FIRST * PAGE - 1, (size_t)(LAST - FIRST) * PAGE + 2);
    assert_int_equal(mincore(at, (size_t)PAGES * PAGE, in_memory), 0);
    for (int page = 0; page < PAGES; page++)
        assert_int_equal(in_memory[page] & 1, page >= FIRST && page < LAST);
    assert_int_equal(at[FIRST * PAGE], 'x');
    arena_touch(at, 0);
    arena_touch(at + 1, PAGE);
    assert_int_equal(mincore(at, PAGE, in_memory), 0);
    assert_int_equal(in_memory[0] & 1, 0);
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(the_last_byte_can_be_taken),
        cmocka_unit_test(taking_more_than_there_is_stops_the_program),
        cmocka_unit_test(what_the_system_cant_give_is_a_fault_and_closing_it_is_harmless),
        cmocka_unit_test(generous_bounds_cost_nothing_until_touched),
        cmocka_unit_test(touched_memory_has_its_pages_and_nothing_beside_it_has),
    };
    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
