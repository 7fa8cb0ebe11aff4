/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/inventory/snapshot_files_test.c: which snapshots are there, and which ones go. */
#include "inventory/snapshot_files.h"

#include "inventory/snapshot.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/journal/memory_disk.h"

#include <string.h>

static struct disk *disk;

static int setup(void **state)
{
    (void)state;
    disk = memory_disk_open(1);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    memory_disk_close(disk);
    return 0;
}

static void file_make(const char *name)
{
    disk_file file;
    assert_int_equal(disk->ops->open(disk, name, DISK_CREATE, &file), STATUS_OK);
    disk->ops->close(disk, file);
}

static void snapshot_make(uint64_t lsn)
{
    char name[DISK_NAME_MAX];
    snapshot_name(name, lsn);
    file_make(name);
}

static void a_name_tells_the_position_in_the_log(void **state)
{
    (void)state;
    char name[DISK_NAME_MAX];
    snapshot_name(name, 0x1f);
    assert_string_equal(name, "snapshot-000000000000001f");
}

static void the_list_is_newest_first_and_knows_only_snapshots(void **state)
{
    (void)state;
    struct snapshot_list list;
    static const uint64_t made[] = { 7, UINT64_MAX, 1, 300 };
    for (uint32_t i = 0; i < 4; i++)
        snapshot_make(made[i]);
    file_make("snapshot-1");
    file_make("snapshot-00000000000000zz");
    file_make("snapshot.tmp");
    assert_int_equal(snapshots_list(disk, &list), STATUS_OK);
    assert_int_equal(list.count, 4);
    static const uint64_t sorted[] = { UINT64_MAX, 300, 7, 1 };
    assert_memory_equal(list.lsns, sorted, sizeof sorted);
}

static void of_too_many_the_newest_are_listed(void **state)
{
    (void)state;
    struct snapshot_list list;
    for (uint64_t i = 0; i < SNAPSHOTS_LISTED_MAX + 4; i++)
        snapshot_make(1 + i * 7 % (SNAPSHOTS_LISTED_MAX + 4));
    assert_int_equal(snapshots_list(disk, &list), STATUS_OK);
    assert_int_equal(list.count, SNAPSHOTS_LISTED_MAX);
    for (uint32_t i = 0; i < SNAPSHOTS_LISTED_MAX; i++)
        assert_int_equal(list.lsns[i], SNAPSHOTS_LISTED_MAX + 4 - i);
}

static void the_newest_are_kept_and_older_ones_go(void **state)
{
    (void)state;
    char name[DISK_NAME_MAX];
    for (uint64_t lsn = 1; lsn <= 5; lsn++)
        snapshot_make(lsn);
    assert_int_equal(snapshots_remove_old(disk), STATUS_OK);
    for (uint64_t lsn = 1; lsn <= 5; lsn++) {
        snapshot_name(name, lsn);
        assert_int_equal(memory_disk_has(disk, name), lsn > 5 - SNAPSHOTS_KEPT);
    }
}

static void one_is_due_when_the_log_has_grown_by_a_quarter_of_the_rows(void **state)
{
    (void)state;
    assert_false(snapshot_is_due(0, 0, false));
    assert_true(snapshot_is_due(1, 0, false));
    assert_false(snapshot_is_due(999, 4000, false));
    assert_true(snapshot_is_due(1000, 4000, false));
}

static void while_many_purchases_come_it_waits_until_a_start_would_replay_for_seconds(void **state)
{
    const uint64_t seconds = 4 * 1024 * 1024;
    (void)state;
    assert_false(snapshot_is_due(1, 0, true));
    assert_false(snapshot_is_due(seconds - 1, 0, true));
    assert_true(snapshot_is_due(seconds, 0, true));
    assert_true(snapshot_is_due(4 * seconds, seconds, true));
    assert_false(snapshot_is_due(4 * seconds - 1, seconds, true));
    assert_true(snapshot_is_due(4 * seconds - 1, seconds, false));
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_name_tells_the_position_in_the_log),
        RULE(the_list_is_newest_first_and_knows_only_snapshots),
        RULE(of_too_many_the_newest_are_listed),
        RULE(the_newest_are_kept_and_older_ones_go),
        RULE(one_is_due_when_the_log_has_grown_by_a_quarter_of_the_rows),
        RULE(while_many_purchases_come_it_waits_until_a_start_would_replay_for_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
