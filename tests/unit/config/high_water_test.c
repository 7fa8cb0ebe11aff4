/* SPDX-License-Identifier: Apache-2.0 */
#include "config/high_water.h"

#include "tests/unit/journal/memory_disk.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct here {
    struct disk *disk;
    struct place place;
    struct high_water mark;
};

static int setup(void **state)
{
    struct here *here = test_calloc(1, sizeof *here);
    here->disk = memory_disk_open(1);
    place_make(&here->place);
    assert_int_equal(place_open(&here->place, NULL), STATUS_OK);
    *state = here;
    return 0;
}

static int teardown(void **state)
{
    struct here *here = *state;
    place_remove(&here->place);
    memory_disk_close(here->disk);
    test_free(here);
    return 0;
}

static void look(struct here *here, bool *changed, bool *ahead)
{
    assert_int_equal(high_water_look(&here->mark, here->place.store, changed, ahead), STATUS_OK);
}

static uint64_t reserved_of(const struct high_water *mark, const char *name)
{
    for (uint32_t i = 0; i < mark->count; i++)
        if (strcmp(mark->rows[i].used.name, name) == 0)
            return mark->rows[i].reserved;
    fail();
    return 0;
}

static void what_is_written_is_read_and_damage_is_found(void **state)
{
    struct here *here = *state;
    struct high_water back;
    bool changed, ahead;
    assert_int_equal(high_water_read(here->disk, &back), STATUS_NOT_FOUND);
    look(here, &changed, &ahead);
    high_water_reserve(&here->mark, true);
    here->mark.restoring = true;
    assert_int_equal(high_water_write(here->disk, &here->mark), STATUS_OK);
    assert_int_equal(high_water_read(here->disk, &back), STATUS_OK);
    assert_true(back.restoring);
    assert_int_equal(back.count, here->mark.count);
    assert_int_equal(reserved_of(&back, "items"), reserved_of(&here->mark, "items"));
    disk_file file;
    uint64_t size = 0;
    assert_int_equal(here->disk->ops->open(here->disk, "high-water", DISK_WRITE, &file), STATUS_OK);
    assert_int_equal(here->disk->ops->size(here->disk, file, &size), STATUS_OK);
    for (uint64_t at = 0; at < size; at += 7) {
        uint8_t byte = 0, flipped;
        size_t got;
        assert_int_equal(here->disk->ops->read(here->disk, file, at, &byte, 1, &got), STATUS_OK);
        flipped = byte ^ 4;
        assert_int_equal(here->disk->ops->write(here->disk, file, at, &flipped, 1), STATUS_OK);
        assert_int_equal(high_water_read(here->disk, &back), STATUS_CORRUPT);
        assert_int_equal(here->disk->ops->write(here->disk, file, at, &byte, 1), STATUS_OK);
    }
    here->disk->ops->close(here->disk, file);
    assert_int_equal(high_water_read(here->disk, &back), STATUS_OK);
}

static void few_numbers_are_reserved_one_by_one_and_many_in_blocks(void **state)
{
    struct here *here = *state;
    bool changed, ahead;
    place_execute(&here->place, "INSERT INTO sqlite_sequence VALUES('payments', 7)");
    look(here, &changed, &ahead);
    assert_true(changed && ahead); /* nothing was reserved */
    high_water_reserve(&here->mark, true);
    assert_int_equal(reserved_of(&here->mark, "items"), 1);
    assert_int_equal(reserved_of(&here->mark, "payments"), 7 + HIGH_WATER_BLOCK);
    look(here, &changed, &ahead);
    assert_false(changed || ahead);
    place_execute(&here->place, "UPDATE sqlite_sequence SET seq = 7 + 2048 WHERE name = 'payments'");
    look(here, &changed, &ahead);
    assert_true(changed);
    assert_false(ahead);
    place_execute(&here->place, "UPDATE sqlite_sequence SET seq = 7 + 2049 WHERE name = 'payments'");
    look(here, &changed, &ahead);
    assert_true(ahead); /* half of the block is used */
    high_water_reserve(&here->mark, false);
    assert_int_equal(reserved_of(&here->mark, "payments"), 7 + 2049);
    place_execute(&here->place, "UPDATE audit_head SET entries = 9");
    look(here, &changed, &ahead);
    assert_true(changed); /* counted, never reserved */
}

static void an_older_store_is_told_from_a_newer_one(void **state)
{
    struct here *here = *state;
    char what[HIGH_WATER_TEXT];
    bool changed, ahead, older = true;
    assert_int_equal(place_sell(&here->place, 5), STATUS_OK);
    look(here, &changed, &ahead);
    assert_int_equal(high_water_compare(&here->mark, here->place.store, &older, what), STATUS_OK);
    assert_false(older);
    assert_int_equal(place_sell(&here->place, 6), STATUS_OK); /* newer: a crash before the file */
    assert_int_equal(high_water_compare(&here->mark, here->place.store, &older, what), STATUS_OK);
    assert_false(older);
    here->mark.position = 9;
    for (uint32_t i = 0; i < here->mark.count; i++)
        if (strcmp(here->mark.rows[i].used.name, "items") == 0)
            here->mark.rows[i].used.last = 3;
    assert_int_equal(high_water_compare(&here->mark, here->place.store, &older, what), STATUS_OK);
    assert_true(older);
    assert_string_equal(what, "orders up to 2 of 9, items up to 1 of 3");
    assert_int_equal(high_water_raise(&here->mark, here->place.store), STATUS_OK);
    look(here, &changed, &ahead); /* what the restore ends with */
    high_water_reserve(&here->mark, true);
    assert_int_equal(high_water_compare(&here->mark, here->place.store, &older, what), STATUS_OK);
    assert_false(older);
    assert_int_equal(reserved_of(&here->mark, "items"), 3); /* the numbers are not given again */
    high_water_reserve(&here->mark, false);
    assert_int_equal(reserved_of(&here->mark, "items"), 3); /* nor after a clean stop */
}

static void after_a_restore_no_reserved_number_is_given_again(void **state)
{
    struct here *here = *state;
    bool changed, ahead;
    place_execute(&here->place, "INSERT INTO sqlite_sequence VALUES('payments', 7)");
    look(here, &changed, &ahead);
    high_water_reserve(&here->mark, true); /* up to here numbers may have been given and lost */
    assert_int_equal(high_water_raise(&here->mark, here->place.store), STATUS_OK);
    struct high_water raised = { 0 };
    assert_int_equal(high_water_look(&raised, here->place.store, &changed, &ahead), STATUS_OK);
    for (uint32_t i = 0; i < raised.count; i++)
        if (strcmp(raised.rows[i].used.name, "payments") == 0)
            assert_int_equal(raised.rows[i].used.last, 7 + HIGH_WATER_BLOCK);
    assert_true(raised.count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_and_damage_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(
            few_numbers_are_reserved_one_by_one_and_many_in_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(an_older_store_is_told_from_a_newer_one, setup, teardown),
        cmocka_unit_test_setup_teardown(after_a_restore_no_reserved_number_is_given_again, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
