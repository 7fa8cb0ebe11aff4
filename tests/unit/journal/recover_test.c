/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/recover_test.c: what a crash leaves is cut, what only damage can leave is
 * refused by name. */
#include "tests/unit/journal/journal_kit.h"

#include <stdio.h>
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

/* Three durable batches of two pages, then one of `pages` in flight. Answers the end of the
 * durable ones. */
static uint64_t three_and_one(const struct journal_config *config, uint32_t pages,
    struct disk **before, uint64_t *offset, uint64_t *sealed)
{
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(config, &log, &recovery);
    for (uint32_t i = 0; i < 3; i++)
        kit_batch(journal, 2 * JOURNAL_PAGE, KIT_TIME + i);
    uint64_t durable = journal_durable(journal);
    *before = memory_disk_copy(config->disk, 2);
    *offset = 7 * JOURNAL_PAGE;
    kit_fill(journal, pages * JOURNAL_PAGE, KIT_TIME + 3);
    *sealed = journal_appended(journal);
    assert_int_equal(journal_write(journal), STATUS_OK);
    journal_close(journal);
    return durable;
}

static void expect_cut(const struct journal_config *config, uint64_t durable, const struct disk *clean)
{
    struct journal_recovery recovery, scanned;
    struct kit_log log;
    assert_int_equal(kit_scan(config, &log, &scanned), STATUS_OK); /* reports, changes nothing */
    assert_int_equal(kit_reopen(config, &log, &recovery), STATUS_OK);
    assert_int_equal(recovery.end.lsn, durable);
    assert_int_equal(log.last, durable);
    assert_int_equal(scanned.torn_bytes, recovery.torn_bytes);
    assert_true(memory_disk_equal(config->disk, clean)); /* not one byte of it is left */
    assert_int_equal(kit_reopen(config, &log, &recovery), STATUS_OK);
    assert_int_equal(recovery.torn_bytes, 0);
}

static void a_batch_cut_at_any_byte_is_cut_off(void **state)
{
    struct journal_config config = kit_config(*state, 16, 3);
    struct disk *before;
    uint64_t offset, sealed;
    uint8_t batch[2 * JOURNAL_PAGE] = { 0 }, torn[2 * JOURNAL_PAGE];
    uint64_t durable = three_and_one(&config, 2, &before, &offset, &sealed);
    memory_disk_peek(*state, KIT_FIRST, offset, batch, sizeof batch);
    uint32_t bytes = bytes_get_u32(batch + BATCH_AT_BYTES);
    assert_true(bytes > JOURNAL_PAGE && bytes <= sizeof batch);
    uint32_t last = bytes;
    while (batch[last - 1] == 0)
        last--;
    for (uint32_t cut = 0; cut < last; cut += KIT_STEP) {
        memset(torn, 0, sizeof torn);
        memcpy(torn, batch, cut);
        memory_disk_poke(*state, KIT_FIRST, offset, torn, sizeof torn);
        expect_cut(&config, durable, before);
    }
    memory_disk_close(before);
}

static void pages_of_a_torn_batch_may_land_in_any_order(void **state)
{
    enum { PAGES = 6 };
    struct journal_config config = kit_config(*state, 16, PAGES);
    struct disk *before;
    uint64_t offset, sealed;
    uint8_t batch[PAGES * JOURNAL_PAGE] = { 0 }, torn[PAGES * JOURNAL_PAGE];
    uint64_t durable = three_and_one(&config, PAGES, &before, &offset, &sealed);
    memory_disk_peek(*state, KIT_FIRST, offset, batch, sizeof batch);
    assert_true(bytes_get_u32(batch + BATCH_AT_BYTES) > (PAGES - 1) * JOURNAL_PAGE);
    for (uint32_t landed = 0; landed + 1 < 1U << PAGES; landed++) {
        memset(torn, 0, sizeof torn);
        for (uint32_t page = 0; page < PAGES; page++)
            if (landed >> page & 1)
                memcpy(torn + page * JOURNAL_PAGE, batch + page * JOURNAL_PAGE, JOURNAL_PAGE);
        memory_disk_poke(*state, KIT_FIRST, offset, torn, sizeof torn);
        expect_cut(&config, durable, before);
    }
    memory_disk_close(before);
}

static void after_any_power_cut_recovery_gives_a_prefix_with_everything_durable(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct disk *disk = memory_disk_open(seed);
        struct journal_config config = kit_config(disk, 9, 1 + (uint32_t)(seed % 4));
        struct journal_recovery recovery;
        struct kit_log log;
        uint64_t durable = 0;
        for (uint32_t run = 0; run < 4; run++) {
            struct journal *journal = kit_open(&config, &log, &recovery); /* kit_each checks each record */
            assert_true(log.last >= durable);
            assert_true(log.count == log.last);
            for (uint32_t i = 0; i < seed % 7; i++)
                kit_batch(journal, (uint32_t)(seed * 797 + i * 2311) % config.batch_bytes, KIT_TIME + i);
            durable = journal_durable(journal);
            if (journal_wants_segment(journal))
                assert_int_equal(journal_prepare(journal), STATUS_OK);
            /* Dies with a batch written and not synced. */
            memory_disk_fail(disk, MEMORY_SYNC | MEMORY_SYNC_FOLDER, 1);
            kit_fill(journal, config.batch_bytes, KIT_TIME + 10);
            assert_int_not_equal(journal_write(journal), STATUS_OK);
            journal_close(journal);
            memory_disk_fail(disk, 0, 0);
            if (seed % 3 != 0)
                memory_disk_power_cut(disk);
        }
        memory_disk_close(disk);
    }
}

static void replaying_twice_gives_the_same(void **state)
{
    struct journal_config config = kit_config(*state, 6, 2);
    struct journal_recovery first, second;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &first);
    for (uint32_t i = 0; i < 10; i++)
        kit_batch(journal, i * 800, KIT_TIME + i);
    journal_close(journal);
    struct disk *before = memory_disk_copy(*state, 3);
    assert_int_equal(kit_scan(&config, &log, &first), STATUS_OK);
    assert_int_equal(kit_reopen(&config, &log, &second), STATUS_OK);
    assert_memory_equal(&first, &second, sizeof first);
    assert_int_equal(kit_scan(&config, &log, &second), STATUS_OK);
    assert_memory_equal(&first, &second, sizeof first);
    assert_true(memory_disk_equal(*state, before));
    memory_disk_close(before);
}

static void the_last_segment_may_be_empty_and_a_spare_is_used_again(void **state)
{
    struct journal_config config = kit_config(*state, 4, 1);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &recovery);
    for (uint32_t i = 0; i < 3; i++)
        kit_batch(journal, 100, KIT_TIME);
    uint64_t durable = journal_durable(journal);
    kit_fill(journal, 100, KIT_TIME);
    memory_disk_fail(*state, MEMORY_WRITE, 1); /* rolls, then can't write */
    assert_int_not_equal(journal_write(journal), STATUS_OK);
    journal_close(journal);
    memory_disk_fail(*state, 0, 0);
    memory_disk_power_cut(*state);
    journal = kit_open(&config, &log, &recovery);
    assert_int_equal(journal_segments_begun(journal), 2);
    assert_int_equal(journal_segment_start(journal), durable + 1);
    assert_int_equal(journal_prepare(journal), STATUS_OK);
    journal_close(journal);
    assert_true(memory_disk_has(*state, SEGMENT_SPARE_NAME));
    journal = kit_open(&config, &log, &recovery);
    assert_false(journal_wants_segment(journal));
    for (uint32_t i = 0; i < 6; i++)
        kit_batch(journal, 100, KIT_TIME);
    journal_close(journal);
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
}

static void a_segment_whose_name_was_not_durable_is_made_so_before_it_is_used(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct disk *disk = memory_disk_open(seed);
        struct journal_config config = kit_config(disk, 4, 1);
        struct journal_recovery recovery;
        struct kit_log log;
        struct journal *journal = kit_open(&config, &log, &recovery);
        for (uint32_t i = 0; i < 3; i++)
            kit_batch(journal, 100, KIT_TIME);
        memory_disk_fail(disk, MEMORY_SYNC_FOLDER, 1); /* renamed, not synced */
        kit_fill(journal, 100, KIT_TIME);
        assert_int_equal(journal_write(journal), STATUS_IO);
        journal_close(journal);
        memory_disk_fail(disk, 0, 0);
        journal = kit_open(&config, &log, &recovery); /* killed, no power cut: the name is there */
        assert_int_equal(journal_segments_begun(journal), 2);
        kit_fill(journal, 100, KIT_TIME);
        assert_int_equal(journal_write(journal), STATUS_OK);
        uint64_t durable = journal_durable(journal);
        journal_close(journal);
        memory_disk_power_cut(disk);
        assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
        assert_int_equal(log.last, durable);
        memory_disk_close(disk);
    }
}

static void sizes_may_change_between_runs(void **state)
{
    struct journal_config config = kit_config(*state, 8, 3);
    struct journal_recovery recovery;
    struct kit_log log;
    for (uint32_t run = 0; run < 8; run++) {
        struct journal *journal = kit_open(&config, &log, &recovery);
        for (uint32_t i = 0; i < 5; i++)
            kit_batch(journal, config.batch_bytes, KIT_TIME);
        if (journal_wants_segment(journal))
            assert_int_equal(journal_prepare(journal), STATUS_OK);
        journal_close(journal);
        config = kit_config(*state, 5 + run * 5 % 7, 1 + run % 4);
    }
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
}

static void recovery_starts_behind_a_snapshot_and_checks_that_it_belongs(void **state)
{
    struct journal_config config = kit_config(*state, 6, 2);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal_position ends[12], from;
    struct journal *journal = kit_open(&config, &log, &recovery);
    for (uint32_t i = 0; i < 12; i++) {
        kit_batch(journal, 5000, KIT_TIME + i);
        journal_end(journal, &ends[i]);
    }
    journal_close(journal);
    for (uint32_t i = 0; i < 12; i++) {
        log = (struct kit_log){ 0 };
        assert_int_equal(journal_open(&journal, &config, &ends[i], kit_each, &log, &recovery), STATUS_OK);
        assert_int_equal(log.count, ends[11].lsn - ends[i].lsn);
        assert_true(log.count == 0 || log.first == ends[i].lsn + 1);
        assert_memory_equal(&recovery.end, &ends[11], sizeof recovery.end);
        journal_close(journal);
    }
    from = ends[5];
    from.hash[3] ^= 1;
    assert_int_equal(journal_open(&journal, &config, &from, kit_each, &log, &recovery), STATUS_CORRUPT);
    assert_non_null(strstr(recovery.damage.what, "snapshot"));
    from = ends[5];
    from.lsn--; /* inside a batch */
    assert_int_equal(journal_open(&journal, &config, &from, kit_each, &log, &recovery), STATUS_CORRUPT);
    from = ends[11];
    from.lsn++; /* beyond the end */
    assert_int_equal(journal_open(&journal, &config, &from, kit_each, &log, &recovery), STATUS_CORRUPT);
    assert_null(journal);

    /* Old segments may go once a snapshot covers them; the one that holds the position may not. */
    uint64_t before_first = 9;
    assert_int_equal(journal_oldest(config.disk, &before_first), STATUS_OK);
    assert_int_equal(before_first, 0);
    assert_int_equal(config.disk->ops->remove(config.disk, KIT_FIRST), STATUS_OK);
    assert_int_equal(journal_oldest(config.disk, &before_first), STATUS_OK);
    assert_true(before_first > 0);
    log = (struct kit_log){ 0 };
    assert_int_equal(journal_open(&journal, &config, &ends[11], kit_each, &log, &recovery), STATUS_OK);
    journal_close(journal);
    assert_int_equal(journal_open(&journal, &config, &ends[0], kit_each, &log, &recovery), STATUS_CORRUPT);
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_CORRUPT);
    assert_string_equal(recovery.damage.segment, KIT_FIRST);
    log = (struct kit_log){ 0 };
    /* All that is kept. */
    assert_int_equal(journal_scan(&config, NULL, kit_each, &log, &recovery), STATUS_OK);
    assert_int_equal(log.first, before_first + 1);
}

static void a_scan_can_stop_behind_any_batch(void **state)
{
    struct journal_config config = kit_config(*state, 6, 2);
    const struct journal_position beginning = { 0 };
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal_position ends[12];
    struct journal *journal = kit_open(&config, &log, &recovery);
    for (uint32_t i = 0; i < 12; i++) {
        kit_batch(journal, 5000, KIT_TIME + i);
        journal_end(journal, &ends[i]);
    }
    for (uint32_t i = 0; i < 12; i++) /* while the writer lives */
        for (uint32_t j = i; j < 12; j++) {
            log = (struct kit_log){ 0 };
            assert_int_equal(
                journal_scan_until(&config, &ends[i], ends[j].lsn, kit_each, &log, &recovery), STATUS_OK);
            assert_memory_equal(&recovery.end, &ends[j], sizeof recovery.end);
            assert_int_equal(log.count, ends[j].lsn - ends[i].lsn);
        }
    log = (struct kit_log){ 0 };
    assert_int_equal(journal_scan_until(&config, &beginning, ends[3].lsn - 1, kit_each, &log, &recovery),
        STATUS_CORRUPT);
    log = (struct kit_log){ 0 };
    assert_int_equal(journal_scan_until(&config, &beginning, ends[11].lsn + 1, kit_each, &log, &recovery),
        STATUS_CORRUPT);
    journal_close(journal);
}

static enum status refuse_third(void *context, const struct journal_record *record, uint64_t batch_time_ms)
{
    (void)context;
    (void)batch_time_ms;
    return record->lsn == 3 ? STATUS_REFUSED : STATUS_OK;
}

static void a_reader_that_refuses_a_record_stops_recovery(void **state)
{
    struct journal_config config = kit_config(*state, 6, 2);
    const struct journal_position beginning = { 0 };
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &recovery);
    kit_batch(journal, 5000, KIT_TIME);
    journal_close(journal);
    assert_int_equal(
        journal_open(&journal, &config, &beginning, refuse_third, NULL, &recovery), STATUS_REFUSED);
    assert_null(journal);
    assert_non_null(strstr(recovery.damage.what, "record 3"));
    assert_int_equal(memory_disk_open_files(*state), 0);
}

static void a_missing_segment_is_named(void **state)
{
    struct journal_config config = kit_config(*state, 4, 1);
    struct journal_recovery recovery;
    struct kit_log log;
    uint64_t starts[5];
    char name[JOURNAL_NAME_MAX];
    struct journal *journal = kit_open(&config, &log, &recovery);
    for (uint32_t i = 0; i < 15; i++) {
        kit_batch(journal, 100, KIT_TIME);
        starts[i / 3] = journal_segment_start(journal);
    }
    journal_close(journal);
    for (uint32_t i = 1; i < 4; i++) {
        struct disk *damaged = memory_disk_copy(*state, 1);
        config.disk = damaged;
        segment_name(starts[i], name);
        assert_int_equal(damaged->ops->remove(damaged, name), STATUS_OK);
        assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_CORRUPT);
        assert_string_equal(recovery.damage.segment, name);
        assert_non_null(strstr(recovery.damage.what, "missing"));
        memory_disk_close(damaged);
    }
}

static void every_fault_while_recovering_is_told_and_the_next_try_succeeds(void **state)
{
    (void)state;
    for (uint64_t k = 1;; k++) {
        struct disk *disk = memory_disk_open(k);
        struct journal_config config = kit_config(disk, 6, 2);
        struct journal_recovery recovery;
        struct kit_log log;
        struct journal *journal = kit_open(&config, &log, &recovery);
        for (uint32_t i = 0; i < 4; i++)
            kit_batch(journal, 5000, KIT_TIME);
        uint64_t durable = journal_durable(journal);
        if (journal_wants_segment(journal))
            assert_int_equal(journal_prepare(journal), STATUS_OK);
        memory_disk_fail(disk, MEMORY_SYNC, 1);
        kit_fill(journal, 5000, KIT_TIME);
        assert_int_equal(journal_write(journal), STATUS_IO);
        journal_close(journal);
        memory_disk_fail(disk, MEMORY_ANY, k);
        enum status status = kit_reopen(&config, &log, &recovery);
        bool failed = memory_disk_has_failed(disk);
        assert_int_equal(status, failed ? STATUS_IO : STATUS_OK);
        memory_disk_fail(disk, 0, 0);
        memory_disk_power_cut(disk);
        assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
        assert_true(log.last >= durable);
        memory_disk_close(disk);
        if (!failed)
            break;
        assert_true(k < 200);
    }
}

#define IN_MEMORY(test) cmocka_unit_test_setup_teardown(test, disk_setup, disk_teardown)

/* A shop that was moved into a folder: a snapshot, and a log that goes on after it. */
static void a_log_may_begin_after_a_snapshot_and_goes_on_with_its_hash(void **state)
{
    struct journal_config config = kit_config(*state, 16, 3);
    struct journal_position from = { .lsn = 100, .time_ms = KIT_TIME, .hash = { 7 } }, other = from;
    struct journal_recovery recovery;
    struct journal *journal = NULL;
    struct kit_log log = { 0 };
    uint64_t before_first = 0;
    assert_int_equal(journal_open(&journal, &config, &from, kit_each, &log, &recovery), STATUS_CORRUPT);
    assert_int_equal(journal_begin(&config, 101), STATUS_OK);
    assert_int_equal(journal_begin(&config, 101), STATUS_OK); /* once more: nothing */
    assert_int_equal(journal_begin(&config, 102), STATUS_CONFLICT);
    assert_int_equal(journal_open(&journal, &config, &from, kit_each, &log, &recovery), STATUS_OK);
    assert_true(recovery.end.lsn == 100 && recovery.end.time_ms == KIT_TIME && recovery.records == 0);
    kit_batch(journal, JOURNAL_PAGE, KIT_TIME - 5);
    const uint64_t end = journal_durable(journal);
    assert_true(end > 100);
    journal_close(journal);
    assert_int_equal(journal_oldest(config.disk, &before_first), STATUS_OK);
    assert_int_equal(before_first, 100);
    assert_int_equal(journal_scan(&config, &from, NULL, NULL, &recovery), STATUS_OK);
    assert_int_equal(recovery.end.lsn, end);
    assert_int_equal(recovery.end.time_ms, KIT_TIME); /* never before the snapshot's */
    other.hash[0]++;
    assert_int_equal(journal_scan(&config, &other, NULL, NULL, &recovery), STATUS_CORRUPT);
    other = from;
    other.lsn--;
    assert_int_equal(journal_scan(&config, &other, NULL, NULL, &recovery), STATUS_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_MEMORY(a_log_may_begin_after_a_snapshot_and_goes_on_with_its_hash),
        IN_MEMORY(a_batch_cut_at_any_byte_is_cut_off),
        IN_MEMORY(pages_of_a_torn_batch_may_land_in_any_order),
        IN_MEMORY(after_any_power_cut_recovery_gives_a_prefix_with_everything_durable),
        IN_MEMORY(replaying_twice_gives_the_same),
        IN_MEMORY(the_last_segment_may_be_empty_and_a_spare_is_used_again),
        IN_MEMORY(a_segment_whose_name_was_not_durable_is_made_so_before_it_is_used),
        IN_MEMORY(sizes_may_change_between_runs),
        IN_MEMORY(recovery_starts_behind_a_snapshot_and_checks_that_it_belongs),
        IN_MEMORY(a_scan_can_stop_behind_any_batch),
        IN_MEMORY(a_reader_that_refuses_a_record_stops_recovery),
        IN_MEMORY(a_missing_segment_is_named),
        IN_MEMORY(every_fault_while_recovering_is_told_and_the_next_try_succeeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
