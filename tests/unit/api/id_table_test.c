/* SPDX-License-Identifier: Apache-2.0 */
#include "api/id_table.h"

#include "contract/limits.h"
#include "tests/unit/base/unit.h"

#include <stdlib.h>

static uint32_t *number_make(uint32_t number)
{
    uint32_t *made = malloc(sizeof *made);
    assert_non_null(made);
    *made = number;
    return made;
}

static void put(struct id_table *table, uint64_t version, uint32_t id, uint32_t *what, struct blocks *old)
{
    blocks_add(old, id_table_put(table, version, id, what, old));
}

static uint32_t number_of(const struct id_table *table, uint32_t id)
{
    const uint32_t *number = id_table_find(table, id);
    return number == NULL ? 0 : *number;
}

static void what_was_put_is_found_and_nothing_else(void **state)
{
    const uint32_t ids[] = { 1, ID_CHUNK - 1, ID_CHUNK, 3 * ID_CHUNK + 7, ITEMS_LIMIT - 1 };
    struct id_table table = { 0 };
    struct blocks old = { 0 };
    (void)state;
    assert_null(id_table_find(&table, 1));
    assert_null(id_table_next(&table, 0));
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        put(&table, 1, ids[i], number_make(ids[i]), &old);
    uint32_t after = 0;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_int_equal(number_of(&table, ids[i]), ids[i]);
        assert_null(id_table_find(&table, ids[i] + 1 == ID_CHUNK ? 2 : ids[i] + 1));
        assert_int_equal(*(uint32_t *)id_table_next(&table, after), ids[i]);
        after = ids[i];
    }
    assert_null(id_table_next(&table, after));
    put(&table, 1, ID_CHUNK, NULL, &old);
    put(&table, 1, 70000, NULL, &old); /* was never there */
    assert_null(id_table_find(&table, ID_CHUNK));
    assert_int_equal(*(uint32_t *)id_table_next(&table, ID_CHUNK - 1), 3 * ID_CHUNK + 7);
    blocks_free(&old);
    id_table_free(&table);
}

static void a_version_stays_as_it_was_when_the_next_one_is_made(void **state)
{
    struct id_table first = { 0 };
    struct blocks nothing = { 0 }, old = { 0 };
    (void)state;
    for (uint32_t id = 1; id < 4 * ID_CHUNK; id++)
        put(&first, 1, id, number_make(id), &nothing);
    struct id_table second = first;
    put(&second, 2, 5, number_make(1005), &old);
    put(&second, 2, 6, NULL, &old);
    put(&second, 2, 9 * ID_CHUNK, number_make(1009), &old);
    assert_int_equal(number_of(&first, 5), 5);
    assert_int_equal(number_of(&first, 6), 6);
    assert_int_equal(number_of(&first, 9 * ID_CHUNK), 0);
    assert_int_equal(number_of(&second, 5), 1005);
    assert_int_equal(number_of(&second, 6), 0);
    assert_int_equal(number_of(&second, 9 * ID_CHUNK), 1009);
    /* What did not change is shared. */
    assert_ptr_equal(id_table_find(&first, 7), id_table_find(&second, 7));
    assert_ptr_equal(first.chunks[1], second.chunks[1]);
    assert_ptr_not_equal(first.chunks[0], second.chunks[0]);
    blocks_free(&nothing);
    blocks_free(&old);
    id_table_free(&second);
}

static void a_change_copies_one_chunk_however_many_there_are(void **state)
{
    struct id_table table = { 0 };
    struct blocks nothing = { 0 };
    (void)state;
    for (uint32_t id = 1; id < 65536; id++)
        put(&table, 1, id, number_make(id), &nothing);
    blocks_free(&nothing);
    struct blocks old = { 0 };
    put(&table, 2, 40000, number_make(1), &old);
    assert_int_equal(old.count, 3); /* the list, a chunk, the number */
    put(&table, 2, 40001, number_make(2), &old);
    assert_int_equal(old.count, 4); /* the chunk is this version's own */
    blocks_free(&old);
    id_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_and_nothing_else),
        cmocka_unit_test(a_version_stays_as_it_was_when_the_next_one_is_made),
        cmocka_unit_test(a_change_copies_one_chunk_however_many_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
