/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "unit.h"

static void an_object_lives_in_its_own_arena(void **state)
{
    (void)state;
    struct table {
        struct arena arena;
        char *rows;
        uint64_t count;
    };
    struct table *table = arena_object(sizeof *table, 1000);
    assert_true(table != NULL && table->rows == NULL && table->count == 0);
    table->rows = arena_take(&table->arena, 10, 100);
    assert_true(table->rows >= (char *)(table + 1));
    table->rows[999] = 1;
    arena_object_free(table);
    arena_object_free(NULL);
    assert_null(arena_object(sizeof *table, SIZE_MAX / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_lives_in_its_own_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
