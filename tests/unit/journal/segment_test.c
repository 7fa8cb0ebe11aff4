/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/segment_test.c: how segment files are named and come into being. */
#include "tests/unit/journal/journal_kit.h"

#include <string.h>

static int disk_setup(void **state)
{
    *state = memory_disk_open(1);
    return 0;
}
static int disk_teardown(void **state)
{
    memory_disk_close(*state);
    return 0;
}

static void a_name_is_the_first_lsn_and_nothing_else_is_a_name(void **state)
{
    static const char *const bad[] = { "segment-0000000000000000", "segment-000000000000000",
        "segment-1", "segment-00000000000000001", "segment-000000000000000G",
        "segment-000000000000000A", "segment-", "next-segment", "snapshot-0000000000000001", "" };
    char name[JOURNAL_NAME_MAX];
    uint64_t lsn = 0;
    (void)state;
    segment_name(1, name);
    assert_string_equal(name, "segment-0000000000000001");
    segment_name(UINT64_MAX, name);
    assert_string_equal(name, "segment-ffffffffffffffff");
    assert_true(segment_name_parse(name, &lsn));
    assert_int_equal(lsn, UINT64_MAX);
    assert_true(segment_name_parse("segment-00000000000000a9", &lsn));
    assert_int_equal(lsn, 0xa9);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(segment_name_parse(bad[i], &lsn));
}

static void make_empty(struct disk *disk, const char *name)
{
    disk_file file;
    assert_int_equal(disk->ops->open(disk, name, DISK_CREATE, &file), STATUS_OK);
    disk->ops->close(disk, file);
}

static void the_list_is_sorted_and_bounded_and_knows_only_segments(void **state)
{
    struct disk *disk = *state;
    uint64_t lsns[3];
    uint32_t count;
    make_empty(disk, "segment-00000000000000ff");
    make_empty(disk, "segment-0000000000000001");
    make_empty(disk, "segment-note.txt");
    make_empty(disk, "snapshot-0000000000000002");
    make_empty(disk, "segment-0000000000000010");
    assert_int_equal(segment_list(disk, lsns, 3, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(lsns[0], 1);
    assert_int_equal(lsns[1], 0x10);
    assert_int_equal(lsns[2], 0xff);
    assert_int_equal(segment_list(disk, lsns, 2, &count), STATUS_FULL);
}

static void a_spare_is_durable_before_it_has_its_name(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct disk *disk = memory_disk_open(seed);
        struct journal_config config = kit_config(disk, 8, 2);
        struct segment spare;
        struct journal_damage damage;
        static uint8_t buffer[2 * JOURNAL_PAGE];
        memory_disk_fail(disk, MEMORY_SYNC_FOLDER, seed % 2);
        enum status status = segment_make_spare(&config, &spare);
        assert_int_equal(status, seed % 2 == 1 ? STATUS_IO : STATUS_OK);
        memory_disk_power_cut(disk);
        memory_disk_fail(disk, 0, 0);
        status = segment_find_spare(&config, buffer, sizeof buffer, &spare, &damage);
        if (seed % 2 == 0)
            assert_int_equal(status, STATUS_OK);
        else
            assert_true(status == STATUS_OK || status == STATUS_NOT_FOUND); /* whole or not at all */
        if (status != STATUS_OK)
            assert_int_equal(segment_make_spare(&config, &spare), STATUS_OK); /* whatever was left behind */
        segment_close(disk, &spare);
        memory_disk_close(disk);
    }
}

static void a_failed_preparation_leaves_nothing_behind(void **state)
{
    static const unsigned calls =
        MEMORY_OPEN | MEMORY_WRITE | MEMORY_SYNC | MEMORY_RENAME | MEMORY_SYNC_FOLDER;
    struct disk *disk = *state;
    struct journal_config config = kit_config(disk, 64, 2);
    struct segment spare;
    uint64_t k = 1;
    for (;; k++) {
        memory_disk_fail(disk, calls, k);
        enum status status = segment_make_spare(&config, &spare);
        if (status == STATUS_OK)
            break;
        assert_int_equal(status, STATUS_IO);
        assert_false(memory_disk_has(disk, SEGMENT_PART_NAME));
        assert_false(memory_disk_has(disk, SEGMENT_SPARE_NAME));
        assert_int_equal(memory_disk_open_files(disk), 0);
    }
    assert_true(k > 5);
    segment_close(disk, &spare);
}

static void a_spare_of_another_size_goes_and_one_with_bytes_in_it_is_damage(void **state)
{
    struct disk *disk = *state;
    struct journal_config config = kit_config(disk, 8, 2), other = kit_config(disk, 9, 2);
    struct segment spare;
    struct journal_damage damage;
    static uint8_t buffer[2 * JOURNAL_PAGE];
    assert_int_equal(
        segment_find_spare(&config, buffer, sizeof buffer, &spare, &damage), STATUS_NOT_FOUND);
    assert_int_equal(segment_make_spare(&config, &spare), STATUS_OK);
    segment_close(disk, &spare);
    assert_int_equal(segment_find_spare(&other, buffer, sizeof buffer, &spare, &damage), STATUS_NOT_FOUND);
    assert_false(memory_disk_has(disk, SEGMENT_SPARE_NAME));
    assert_int_equal(segment_make_spare(&config, &spare), STATUS_OK);
    segment_close(disk, &spare);
    memory_disk_poke(disk, SEGMENT_SPARE_NAME, config.segment_bytes - 1, "x", 1);
    assert_int_equal(segment_find_spare(&config, buffer, sizeof buffer, &spare, &damage), STATUS_CORRUPT);
    assert_string_equal(damage.segment, SEGMENT_SPARE_NAME);
    assert_int_equal(memory_disk_open_files(disk), 0);
}

static void remains_of_a_crash_while_preparing_do_no_harm(void **state)
{
    struct disk *disk = *state;
    struct journal_config config = kit_config(disk, 8, 2);
    struct journal_recovery recovery;
    struct kit_log log;
    make_empty(disk, SEGMENT_PART_NAME);
    struct journal *journal = kit_open(&config, &log, &recovery);
    for (uint32_t i = 0; i < 20; i++)
        kit_batch(journal, 2000, KIT_TIME);
    journal_close(journal);
    if (!memory_disk_has(disk, SEGMENT_PART_NAME))
        make_empty(disk, SEGMENT_PART_NAME);
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
}

#define IN_MEMORY(test) cmocka_unit_test_setup_teardown(test, disk_setup, disk_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_the_first_lsn_and_nothing_else_is_a_name),
        IN_MEMORY(the_list_is_sorted_and_bounded_and_knows_only_segments),
        cmocka_unit_test(a_spare_is_durable_before_it_has_its_name),
        IN_MEMORY(a_failed_preparation_leaves_nothing_behind),
        IN_MEMORY(a_spare_of_another_size_goes_and_one_with_bytes_in_it_is_damage),
        IN_MEMORY(remains_of_a_crash_while_preparing_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
