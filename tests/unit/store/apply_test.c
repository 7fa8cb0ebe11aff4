/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a batch when the disk, the lock or the power fails. */
#include "tests/unit/store/place.h"
#include "tests/unit/store/sqlite/fault_vfs.h"

#include "store/sqlite/sqlite.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BATCH = 40, FOLD_BATCHES = PLACE_UNITS / ORDER_BATCH_MAX };

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    fault_plan = (struct fault_plan){ 0 };
    place_make(place);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    fault_plan = (struct fault_plan){ 0 };
    place_remove(*state);
    test_free(*state);
    return 0;
}

/* At every commit: as many orders as the position says, and the item's sold agrees. */
static void check_whole(const struct place *place, int64_t position)
{
    assert_int_equal(place_number(place, "SELECT seq FROM parts"), position);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders"), position);
    assert_int_equal(place_number(place, "SELECT sold FROM items"), position);
    assert_string_equal("ok",
        place_number(place,
            "SELECT count(*) FROM pragma_integrity_check WHERE "
            "integrity_check = 'ok'")
                == 1
            ? "ok"
            : "integrity_check failed");
}

static void every_disk_fault_is_away_and_the_batch_goes_in_later_whole(void **state)
{
    static const int results[] = { SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_READONLY };
    struct place *place = *state;
    struct queue_record records[BATCH];
    uint32_t faults = 0;
    int64_t position = 0;
    assert_int_equal(place_open(place, FAULT_VFS_NAME), STATUS_OK);
    for (size_t kind = 0; kind < sizeof results / sizeof results[0]; kind++) {
        for (uint32_t k = 1;; k++) {
            for (int i = 0; i < BATCH; i++)
                records[i] = place_win(place, place->lsn + 1);
            fault_plan = (struct fault_plan){
                .fail_at = k, .stays = k % 2 == 0, .result = results[kind], .half_written = k % 3 == 0
            };
            enum status status = place_apply(place, records, BATCH);
            const bool struck = fault_plan.calls >= k;
            fault_plan = (struct fault_plan){ 0 };
            if (status != STATUS_OK) {
                faults++;
                assert_true(status == STATUS_AWAY || status == STATUS_UNKNOWN);
                assert_int_equal(place->refusal.kind, REFUSAL_NONE);
                assert_true(place->refusal.text[0] != '\0');
                assert_int_equal(place_number(place, "SELECT seq FROM parts"), position);
                assert_int_equal(place_apply(place, records, BATCH), STATUS_OK);
            }
            position += BATCH;
            check_whole(place, position);
            if (!struck)
                break; /* a batch makes fewer calls than k */
        }
    }
    assert_in_range(faults, 8, 1000);
    place_close(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    check_whole(place, position);
}

static void a_locked_database_is_away_not_refused(void **state)
{
    struct place *place = *state;
    sqlite3 *other;
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(sqlite3_open(place->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    const struct queue_record record = place_win(place, 1);
    assert_int_equal(place_apply(place, &record, 1), STATUS_AWAY);
    assert_true(place->refusal.text[0] != '\0');
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(place_apply(place, &record, 1), STATUS_OK);
    sqlite3_close(other);
    check_whole(place, 1);
}

static size_t file_read_all(const char *path, char **data)
{
    int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    const off_t size = lseek(file, 0, SEEK_END);
    *data = malloc((size_t)size + 1);
    assert_non_null(*data);
    assert_int_equal(pread(file, *data, (size_t)size, 0), size);
    close(file);
    return (size_t)size;
}

static void file_write_all(const char *path, const char *data, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, data, size), (ssize_t)size);
    close(file);
}

/* A power cut leaves any beginning of the log that was not synced: position and orders must be of
 * one moment. */
static void a_log_cut_anywhere_leaves_position_and_orders_of_one_moment(void **state)
{
    struct place *place = *state, after;
    char *database, *log, name[128];
    int64_t seen_min = INT64_MAX, seen_max = 0;
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    for (int i = 0; i < 6; i++)
        assert_int_equal(place_sell(place, (user_id)i + 1), STATUS_OK);
    const size_t database_bytes = file_read_all(place->path, &database);
    snprintf(name, sizeof name, "%s-wal", place->path);
    const size_t log_bytes = file_read_all(name, &log);
    const size_t schema_bytes = log_bytes * 2 / 3; /* the cuts of interest are in the last transactions */
    place_make(&after);
    for (size_t cut = log_bytes; cut > schema_bytes; cut -= cut > 1500 ? 1500 : cut) {
        file_write_all(after.path, database, database_bytes);
        snprintf(name, sizeof name, "%s-wal", after.path);
        file_write_all(name, log, cut);
        if (place_number(&after, "SELECT count(*) FROM sqlite_schema WHERE name = 'parts'") == 0)
            break;
        if (place_number(&after, "SELECT count(*) FROM items") == 0)
            break;
        const int64_t position = place_number(&after, "SELECT seq FROM parts");
        check_whole(&after, position);
        seen_min = position < seen_min ? position : seen_min;
        seen_max = position > seen_max ? position : seen_max;
        snprintf(name, sizeof name, "%s-shm", after.path);
        unlink(name);
    }
    assert_int_equal(seen_max, 6);
    assert_true(seen_min < 6); /* the cuts did cut */
    place_remove(&after);
    free(database);
    free(log);
}

static void the_log_is_folded_back_by_itself(void **state)
{
    struct place *place = *state;
    char name[128], *log;
    static struct queue_record records[ORDER_BATCH_MAX];
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    for (int batch = 0; batch < FOLD_BATCHES; batch++) {
        for (uint32_t i = 0; i < ORDER_BATCH_MAX; i++)
            records[i] = place_win(place, (place->lsn + 1) * 0x9e3779b97f4a7c15u);
        assert_int_equal(place_apply(place, records, ORDER_BATCH_MAX), STATUS_OK);
    }
    snprintf(name, sizeof name, "%s-wal", place->path);
    const size_t bytes = file_read_all(name, &log);
    free(log);
    assert_true(bytes < (size_t)SQLITE_CHECKPOINT_PAGES * 4096 * 2);
    assert_true(file_read_all(place->path, &log) > 1000000); /* it is in the database itself */
    free(log);
    check_whole(place, FOLD_BATCHES * ORDER_BATCH_MAX);
}

static void a_damaged_database_is_corrupt_not_away(void **state)
{
    struct place *place = *state;
    char *data;
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    for (user_id user = 1; user <= 200; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    place_close(place);
    const size_t size = file_read_all(place->path, &data);
    memset(data + 4096, 0x5a, size - 4096);
    file_write_all(place->path, data, size);
    free(data);
    enum status status =
        sqlite_store_open(&place->store, place->path, NULL, place->error, sizeof place->error);
    if (status == STATUS_OK)
        status = place_sell(place, 1000);
    assert_int_equal(status, STATUS_CORRUPT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_disk_fault_is_away_and_the_batch_goes_in_later_whole),
        TEST(a_locked_database_is_away_not_refused),
        TEST(a_log_cut_anywhere_leaves_position_and_orders_of_one_moment),
        TEST(the_log_is_folded_back_by_itself),
        TEST(a_damaged_database_is_corrupt_not_away),
    };
    fault_vfs_register();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
