/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/verify.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#define LAST_SNAPSHOT "journal/snapshot-0000000000000010"

static void a_damaged_snapshot_is_named(void **state)
{
    (void)state;
    folder_flip(&sold_folder, LAST_SNAPSHOT, 200);
    const char *text = sold_verified(VERIFY_FAILED);
    assert_says(text, "snapshot-0000000000000010: is damaged");
}

/* The file as a bug would have written it: other numbers, right checksum. */
static void snapshot_change(long offset, uint32_t value)
{
    char path[160];
    uint8_t bytes[65536];
    snprintf(path, sizeof path, "%s/%s", sold_folder.path, LAST_SNAPSHOT);
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_in_range(size, 300, sizeof bytes - 1);
    bytes_put_u32(bytes + offset, value);
    bytes_put_u32(bytes + size - 4, hash_crc32c(0, bytes, size - 4));
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void a_snapshot_that_holds_other_counts_is_found_with_the_item(void **state)
{
    (void)state;
    enum { HEADER = 136, SALE = 57, HELD_IN_ITEM = 28 };
    snapshot_change(HEADER + SALE + HELD_IN_ITEM, 9);
    assert_says(sold_verified(VERIFY_FAILED), "snapshot-0000000000000010: item 1 differs from the replay");
}

static void a_snapshot_of_another_position_than_its_name_is_found(void **state)
{
    (void)state;
    snapshot_change(32, 15);
    assert_says(sold_verified(VERIFY_FAILED), "says it was taken at position 15");
}

static void a_snapshot_of_another_log_is_found_by_its_hash(void **state)
{
    (void)state;
    snapshot_change(48, 12345);
    assert_says(sold_verified(VERIFY_FAILED), "is not the one the snapshot was taken after");
}

static void a_snapshot_of_another_folder_is_found(void **state)
{
    (void)state;
    snapshot_change(24, 12345);
    assert_says(sold_verified(VERIFY_FAILED), "belongs to another data folder");
}

static void snapshots_made_at_rolls_equal_the_replay(void **state)
{
    (void)state;
    folder_start(&sold_folder);
    sold_folder.now_ms = FOLDER_START_MS + 10000;
    for (uint32_t i = 0; i < 80; i++) { /* a segment holds 63 batches */
        const struct command add = { .type = COMMAND_ADJUST,
            .adjust = { .item = 2, .delta = i % 2 == 0 ? 1 : -1 } };
        assert_int_equal(folder_send(&sold_folder, &add).answer, ANSWER_DONE);
    }
    folder_write_orders(&sold_folder);
    folder_stop(&sold_folder, true);
    const char *text = sold_verified(VERIFY_HOLDS);
    assert_says(text, "2 segments");
    assert_says(text, "ok      snapshots equal the replay");
}

static void without_its_oldest_segment_the_log_is_replayed_from_a_snapshot(void **state)
{
    snapshots_made_at_rolls_equal_the_replay(state);
    char path[160];
    glob_t found;
    snprintf(path, sizeof path, "%s/journal/segment-0000000000000001", sold_folder.path);
    assert_int_equal(unlink(path), 0);
    const char *text = sold_verified(VERIFY_HOLDS);
    assert_says(text, "older segments are gone: replayed from the snapshot at position ");
    snprintf(path, sizeof path, "%s/journal/snapshot-*", sold_folder.path);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        assert_int_equal(unlink(found.gl_pathv[i]), 0);
    globfree(&found);
    assert_says(sold_verified(VERIFY_DAMAGED), "no snapshot to begin with is readable");
}

/* More numbers than rows, and only the snapshot knows the first of them. */
static void rows_that_were_reclaimed_are_replayed_from_a_snapshot(void **state)
{
    (void)state;
    const struct command late = { .type = COMMAND_RESERVE,
        .reserve = { .user = 77, .item = 2, .quantity = 1, .flags = RESERVE_AFTER_END } };
    folder_start(&sold_folder);
    sold_folder.now_ms = FOLDER_START_MS + 7200000;
    for (uint32_t i = 0; i < 80; i++) {
        sold_folder.now_ms += 1000000;
        assert_int_equal(folder_reclaim(&sold_folder), 1);
        const ticket_number ticket = folder_send(&sold_folder, &late).ticket;
        assert_int_equal(ticket, 12 + i);
        folder_settle(&sold_folder, ticket, SETTLE_RETURN);
    }
    folder_write_orders(&sold_folder);
    folder_stop(&sold_folder, true);
    (void)sold_verified(VERIFY_HOLDS);
    char path[160];
    snprintf(path, sizeof path, "%s/journal/segment-0000000000000001", sold_folder.path);
    assert_int_equal(unlink(path), 0);
    assert_says(sold_verified(VERIFY_HOLDS), "replayed from the snapshot at position ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_damaged_snapshot_is_named, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_snapshot_that_holds_other_counts_is_found_with_the_item, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_snapshot_of_another_position_than_its_name_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_snapshot_of_another_log_is_found_by_its_hash, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(a_snapshot_of_another_folder_is_found, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(snapshots_made_at_rolls_equal_the_replay, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            rows_that_were_reclaimed_are_replayed_from_a_snapshot, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            without_its_oldest_segment_the_log_is_replayed_from_a_snapshot, sold_make, sold_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
