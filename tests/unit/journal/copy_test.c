/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/copy.h"

#include "journal/pack.h"
#include "tests/unit/journal/journal_kit.h"

struct fixture {
    struct disk *disk, *copy;
    struct journal_config config;
    struct journal *journal;
};

static int setup(void **state)
{
    static struct fixture fixture;
    struct journal_recovery recovery;
    struct kit_log log;
    fixture.disk = memory_disk_open(1);
    fixture.copy = memory_disk_open(2);
    fixture.config = kit_config(fixture.disk, 6, 2);
    fixture.journal = kit_open(&fixture.config, &log, &recovery);
    for (uint32_t i = 0; i < 20; i++)
        kit_batch(fixture.journal, 1 + i * 1931 % 8000, KIT_TIME + i);
    *state = &fixture;
    return 0;
}
static int teardown(void **state)
{
    struct fixture *fixture = *state;
    journal_close(fixture->journal);
    assert_int_equal(memory_disk_open_files(fixture->copy), 0);
    memory_disk_close(fixture->disk);
    memory_disk_close(fixture->copy);
    return 0;
}

static enum status copy_until(struct fixture *fixture, uint64_t until_lsn, uint64_t until_ms,
    bool dense, struct journal_copy *copy)
{
    *copy = (struct journal_copy){ .from = fixture->disk,
        .to = fixture->copy,
        .data_id = KIT_DATA_ID,
        .until_lsn = until_lsn,
        .until_ms = until_ms,
        .dense = dense };
    return journal_copy(copy);
}

/* What can be read of the copy is the log up to `last`, and nothing else. */
static void copy_reads(struct fixture *fixture, uint64_t last)
{
    struct kit_log log = { 0 };
    struct journal_recovery recovery;
    struct journal_config config = fixture->config;
    config.disk = fixture->copy;
    const struct journal_position beginning = { 0 };
    assert_int_equal(journal_scan(&config, &beginning, kit_each, &log, &recovery), STATUS_OK);
    assert_int_equal(log.count, last);
    assert_int_equal(recovery.torn_bytes, 0);
}

static void a_copy_is_the_whole_log(void **state)
{
    struct fixture *fixture = *state;
    struct journal_copy copy;
    assert_int_equal(copy_until(fixture, UINT64_MAX, UINT64_MAX, false, &copy), STATUS_OK);
    assert_int_equal(copy.end.lsn, journal_durable(fixture->journal));
    assert_int_equal(copy.before_first, 0);
    copy_reads(fixture, copy.end.lsn);
}

static void a_copy_ends_with_the_last_batch_before_the_point_and_can_go_on(void **state)
{
    struct fixture *fixture = *state;
    struct journal_copy copy;
    struct journal_recovery recovery;
    struct kit_log log = { 0 };
    struct journal_config config = fixture->config;
    assert_int_equal(copy_until(fixture, UINT64_MAX, KIT_TIME + 11, true, &copy), STATUS_OK);
    assert_int_equal(copy.end.time_ms, KIT_TIME + 11);
    copy_reads(fixture, copy.end.lsn);
    config.disk = fixture->copy;
    struct journal *journal = kit_open(&config, &log, &recovery);
    kit_batch(journal, 100, KIT_TIME + 50);
    assert_true(journal_durable(journal) > copy.end.lsn);
    journal_close(journal);
}

static void a_position_within_a_batch_leaves_the_batch_out(void **state)
{
    struct fixture *fixture = *state;
    struct journal_copy all, copy;
    assert_int_equal(copy_until(fixture, UINT64_MAX, KIT_TIME + 7, false, &all), STATUS_OK);
    memory_disk_close(fixture->copy);
    fixture->copy = memory_disk_open(3);
    assert_int_equal(copy_until(fixture, all.end.lsn + 1, UINT64_MAX, false, &copy), STATUS_OK);
    assert_true(copy.end.lsn == all.end.lsn || copy.end.lsn == all.end.lsn + 1);
    copy_reads(fixture, copy.end.lsn);
}

static void a_damaged_log_is_not_copied(void **state)
{
    struct fixture *fixture = *state;
    struct journal_copy copy;
    disk_file file;
    uint8_t byte = 0;
    size_t got;
    assert_int_equal(fixture->disk->ops->open(fixture->disk, KIT_FIRST, DISK_WRITE, &file), STATUS_OK);
    assert_int_equal(
        fixture->disk->ops->read(fixture->disk, file, JOURNAL_PAGE + 100, &byte, 1, &got), STATUS_OK);
    byte ^= 1;
    assert_int_equal(
        fixture->disk->ops->write(fixture->disk, file, JOURNAL_PAGE + 100, &byte, 1), STATUS_OK);
    fixture->disk->ops->close(fixture->disk, file);
    assert_int_equal(copy_until(fixture, UINT64_MAX, UINT64_MAX, false, &copy), STATUS_CORRUPT);
    assert_string_equal(copy.damage.segment, KIT_FIRST);
}

/* Segments of 6 pages, wins one by one: five batches in each. */
static void packed_setup(struct fixture *fixture)
{
    struct journal_pack pack = { .wanted = true };
    while (pack.wanted)
        assert_int_equal(
            journal_pack_next(&pack, &fixture->config, journal_segment_start(fixture->journal)),
            STATUS_OK);
}

static void a_copy_of_packed_segments_ends_at_any_batch_and_can_go_on(void **state)
{
    struct fixture *fixture = *state;
    for (uint32_t i = 20; i < 40; i++)
        kit_batch(fixture->journal, 1, KIT_TIME + i);
    packed_setup(fixture);
    for (uint32_t i = 0; i < 40; i++) {
        struct journal_copy copy;
        struct journal_recovery recovery;
        struct kit_log log = { 0 };
        struct journal_config config = fixture->config;
        memory_disk_close(fixture->copy);
        config.disk = fixture->copy = memory_disk_open(i);
        assert_int_equal(copy_until(fixture, UINT64_MAX, KIT_TIME + i, i % 2 == 0, &copy), STATUS_OK);
        assert_int_equal(copy.end.time_ms, KIT_TIME + i);
        copy_reads(fixture, copy.end.lsn);
        memory_disk_power_cut(fixture->copy);
        struct journal *journal = kit_open(&config, &log, &recovery);
        assert_int_equal(recovery.end.lsn, copy.end.lsn);
        assert_memory_equal(recovery.end.hash, copy.end.hash, sizeof copy.end.hash);
        for (uint32_t more = 0; more < 7; more++)
            kit_batch(journal, 100, KIT_TIME + 50);
        const uint64_t durable = journal_durable(journal);
        journal_close(journal);
        copy_reads(fixture, durable);
    }
}

/* The first batch of a packed segment is already too late: there is no such segment in the copy. */
static void a_packed_segment_without_a_batch_is_left_out(void **state)
{
    struct fixture *fixture = *state;
    struct journal_copy copy;
    uint64_t first_lsns[16];
    uint32_t count;
    struct journal_recovery recovery;
    struct kit_log log;
    journal_close(fixture->journal);
    memory_disk_close(fixture->disk);
    fixture->config.disk = fixture->disk = memory_disk_open(5);
    fixture->journal = kit_open(&fixture->config, &log, &recovery);
    for (uint32_t i = 0; i < 8; i++)
        kit_batch(fixture->journal, 1, KIT_TIME + i);
    packed_setup(fixture);
    assert_int_equal(copy_until(fixture, UINT64_MAX, KIT_TIME - 1, true, &copy), STATUS_OK);
    assert_int_equal(copy.end.lsn, 0);
    assert_int_equal(segment_list(fixture->copy, first_lsns, 16, &count), STATUS_OK);
    assert_true(count == 0 && copy.segments == 0);
    copy_reads(fixture, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_copy_is_the_whole_log, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_copy_ends_with_the_last_batch_before_the_point_and_can_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(a_position_within_a_batch_leaves_the_batch_out, setup, teardown),
        cmocka_unit_test_setup_teardown(a_damaged_log_is_not_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_copy_of_packed_segments_ends_at_any_batch_and_can_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(a_packed_segment_without_a_batch_is_left_out, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
