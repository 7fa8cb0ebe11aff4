/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/picture_pool.h"

#include "base/thread.h"
#include "tests/unit/base/unit.h"

#include <string.h>

enum { EDGES = 2, SLOTS = 4, TAKEN = 24 };
static struct picture_pool *pool;
static _Atomic bool stop;

static void filler(void *context)
{
    (void)context;
    while (!atomic_load(&stop))
        picture_pool_fill(pool, 1000);
}

static void it_fills_up_to_its_bound_and_gives_each_picture_once(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_open(&arena, picture_pool_bytes(EDGES, SLOTS)), STATUS_OK);
    pool = picture_pool_create(&arena, EDGES, SLOTS);
    assert_null(picture_pool_code(pool, 0));
    assert_null(picture_pool_slider(pool, 1));
    assert_int_equal(picture_pool_fill(pool, 1000), 2 * EDGES * SLOTS);
    assert_int_equal(picture_pool_fill(pool, 1000), 0);
    char before[PUZZLE_CODE_CHARS + 1] = "";
    for (unsigned i = 0; i < SLOTS; i++) {
        const struct code_picture *picture = picture_pool_code(pool, 0);
        assert_non_null(picture);
        assert_int_equal(strlen(picture->code), PUZZLE_CODE_CHARS);
        assert_int_equal(strspn(picture->code, picture_letters), PUZZLE_CODE_CHARS);
        assert_string_not_equal(picture->code, before);
        memcpy(before, picture->code, sizeof before);
    }
    assert_null(picture_pool_code(pool, 0));
    assert_non_null(picture_pool_code(pool, 1));
    arena_close(&arena);
}

static void edges_take_while_the_thread_draws(void **state)
{
    (void)state;
    struct arena arena;
    struct thread thread;
    assert_int_equal(arena_open(&arena, picture_pool_bytes(EDGES, SLOTS)), STATUS_OK);
    pool = picture_pool_create(&arena, EDGES, SLOTS);
    stop = false;
    assert_int_equal(thread_start(&thread, "filler", filler, NULL), STATUS_OK);
    for (unsigned taken = 0; taken < TAKEN;) {
        const struct slider_picture *picture = picture_pool_slider(pool, taken % EDGES);
        if (picture == NULL)
            continue;
        for (int i = 0; i < PUZZLE_PIECES; i++)
            assert_true(picture->x[i] < PICTURE_SLIDER_WIDTH && picture->pieces[i].size > 0);
        assert_true(picture->whole.size > 0);
        taken++;
    }
    atomic_store(&stop, true);
    thread_join(&thread);
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_fills_up_to_its_bound_and_gives_each_picture_once),
        cmocka_unit_test(edges_take_while_the_thread_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
