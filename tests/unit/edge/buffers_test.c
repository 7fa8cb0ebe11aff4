/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/buffers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t bytes[BUFFER_CLASSES] = { 100, 1000, 5000, 9000 };
static const uint32_t count[BUFFER_CLASSES] = { 2, 2, 1, 1 };
static struct arena arena;
static struct buffers buffers;

static int start(void **state)
{
    (void)state;
    if (arena_open(&arena, buffers_arena_bytes(bytes, count)) != STATUS_OK)
        return -1;
    buffers_create(&buffers, &arena, bytes, count);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static void the_smallest_class_that_has_a_block_is_used(void **state)
{
    (void)state;
    struct buffer taken[6];
    static const size_t capacity[6] = { 128, 128, 1024, 1024, 5056, 9024 };
    for (int i = 0; i < 6; i++) {
        assert_true(buffer_take(&buffers, &taken[i], 1));
        assert_int_equal(buffer_capacity(&buffers, &taken[i]), capacity[i]);
        memset(taken[i].data, i, capacity[i]);
    }
    struct buffer none;
    assert_false(buffer_take(&buffers, &none, 1));
    for (int i = 0; i < 6; i++) {
        assert_int_equal(taken[i].data[capacity[i] - 1], i); /* they don't overlap */
        buffer_give(&buffers, &taken[i]);
        assert_null(taken[i].data);
        buffer_give(&buffers, &taken[i]);
    }
    assert_true(buffer_take(&buffers, &none, 9024));
    buffer_give(&buffers, &none);
    assert_false(buffer_take(&buffers, &none, 9025));
}

static void growing_keeps_what_is_inside(void **state)
{
    (void)state;
    struct buffer buffer, blocker, largest;
    assert_true(buffer_take(&buffers, &buffer, 10));
    memcpy(buffer.data, "hello", 5);
    buffer.size = 5;
    assert_true(buffer_grow(&buffers, &buffer, 128, BUFFER_FAVOURED));
    assert_int_equal(buffer_capacity(&buffers, &buffer), 128);
    assert_true(buffer_grow(&buffers, &buffer, 129, BUFFER_FAVOURED));
    assert_int_equal(buffer_capacity(&buffers, &buffer), 1024);
    assert_int_equal(buffer.size, 5);
    assert_memory_equal(buffer.data, "hello", 5);
    assert_true(buffer_take(&buffers, &blocker, 5000));
    assert_true(buffer_take(&buffers, &largest, 9000));
    assert_false(buffer_grow(&buffers, &buffer, 2000, BUFFER_FAVOURED)); /* none left: nothing changes */
    assert_memory_equal(buffer.data, "hello", 5);
    buffer_give(&buffers, &buffer);
    buffer_give(&buffers, &blocker);
    buffer_give(&buffers, &largest);
}

static void requests_leave_blocks_to_favoured_ones(void **state)
{
    (void)state;
    enum { BLOCKS = 16, KEPT = BLOCKS / BUFFER_KEPT_SHARE };
    struct arena own;
    struct buffers many;
    struct buffer taken[BLOCKS] = { { 0 } }, none = { 0 };
    const uint32_t sizes[BUFFER_CLASSES] = { 64, 128, 256, 512 },
                   counts[BUFFER_CLASSES] = { 1, 1, 1, BLOCKS };
    assert_int_equal(arena_open(&own, buffers_arena_bytes(sizes, counts)), STATUS_OK);
    buffers_create(&many, &own, sizes, counts);
    for (int i = 0; i < BLOCKS - KEPT; i++)
        assert_true(buffer_grow(&many, &taken[i], 300, BUFFER_REQUEST));
    assert_false(buffer_grow(&many, &none, 300, BUFFER_REQUEST));
    assert_null(none.data);
    for (int i = BLOCKS - KEPT; i < BLOCKS; i++)
        assert_true(buffer_grow(&many, &taken[i], 300, BUFFER_FAVOURED));
    assert_false(buffer_grow(&many, &none, 300, BUFFER_FAVOURED));
    for (int i = 0; i < KEPT; i++)
        buffer_give(&many, &taken[i]);
    assert_false(buffer_grow(&many, &none, 300, BUFFER_REQUEST));
    buffer_give(&many, &taken[KEPT]);
    assert_true(buffer_grow(&many, &none, 300, BUFFER_REQUEST));
    arena_close(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_class_that_has_a_block_is_used),
        cmocka_unit_test(growing_keeps_what_is_inside),
        cmocka_unit_test(requests_leave_blocks_to_favoured_ones),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
