/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/journal_test.c: the writer. */
#include "base/thread.h"
#include "tests/support/journal_put.h"
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

static void a_new_journal_is_empty_and_its_first_record_is_number_one(void **state)
{
    struct journal_config config = kit_config(*state, 16, 4);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal_position end;
    struct journal *journal = kit_open(&config, &log, &recovery);
    assert_int_equal(log.count, 0);
    assert_int_equal(journal_appended(journal), 0);
    assert_int_equal(journal_segments_begun(journal), 1);
    assert_int_equal(journal_segment_start(journal), 1);
    assert_true(memory_disk_has(*state, KIT_FIRST));
    assert_int_equal(memory_disk_size(*state, KIT_FIRST), config.segment_bytes);
    assert_int_equal(journal_put(journal, 1, "x", 1), 1);
    assert_int_equal(journal_put(journal, 1, "y", 1), 2);
    assert_int_equal(journal_appended(journal), 2);
    assert_int_equal(journal_durable(journal), 0);
    journal_end(journal, &end);
    assert_int_equal(end.lsn, 0);
    journal_close(journal);
    journal_close(NULL);
}

static void nothing_is_durable_before_it_is_written_and_what_was_not_sealed_is_gone(void **state)
{
    struct journal_config config = kit_config(*state, 16, 4);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &recovery);
    assert_false(journal_seal(journal, KIT_TIME)); /* nothing to seal */
    assert_int_equal(journal_write(journal), STATUS_OK);
    kit_fill(journal, 1000, KIT_TIME);
    uint64_t sealed = journal_appended(journal);
    assert_true(journal_writing(journal));
    assert_int_equal(journal_durable(journal), 0);
    journal_put(journal, 1, "later", 5);
    assert_false(journal_seal(journal, KIT_TIME)); /* one in flight */
    assert_int_equal(journal_write(journal), STATUS_OK);
    assert_false(journal_writing(journal));
    assert_int_equal(journal_durable(journal), sealed);
    journal_close(journal);
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
    assert_int_equal(log.last, sealed);
}

static void records_of_every_size_come_back_as_they_were(void **state)
{
    struct journal_config config = kit_config(*state, 64, 16);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &recovery);
    for (uint32_t i = 0; i < 12; i++) /* LSN × 7919 mod 257 goes through all sizes from 0 to the largest */
        kit_batch(journal, 1 + i * 1500, KIT_TIME + i);
    uint64_t last = journal_durable(journal);
    struct journal_position end;
    assert_true(last > JOURNAL_RECORD_MAX + 1);
    journal_end(journal, &end);
    journal_close(journal);
    journal = kit_open(&config, &log, &recovery);
    assert_int_equal(log.first, 1);
    assert_int_equal(log.last, last);
    assert_int_equal(recovery.torn_bytes, 0);
    assert_int_equal(recovery.batches, 12);
    assert_memory_equal(&recovery.end, &end, sizeof end);
    assert_int_equal(journal_put(journal, 1, "", 0), last + 1);
    journal_close(journal);
}

static void room_is_what_fits_and_not_one_more(void **state)
{
    struct journal_config config = kit_config(*state, 3, 1);
    struct journal_recovery recovery;
    struct kit_log log;
    const uint8_t largest[JOURNAL_RECORD_MAX] = { 1 };
    struct journal *journal = kit_open(&config, &log, &recovery);
    uint32_t room = journal_room(journal);
    assert_int_equal(
        room, (JOURNAL_PAGE - BATCH_HEADER_BYTES) / (RECORD_HEADER_BYTES + JOURNAL_RECORD_MAX));
    for (uint32_t i = 0; i < room; i++) {
        assert_int_equal(journal_room(journal), room - i);
        journal_put(journal, 1, largest, sizeof largest);
    }
    assert_int_equal(journal_room(journal), 0);
    assert_true(journal_seal(journal, KIT_TIME));
    assert_int_equal(journal_room(journal), room); /* the other buffer */
    assert_int_equal(journal_write(journal), STATUS_OK);
    kit_fill(journal, JOURNAL_PAGE, KIT_TIME);
    assert_int_equal(journal_write(journal), STATUS_OK);
    assert_int_equal(journal_room(journal), 0); /* the segment is used up and there is no other */
    assert_int_equal(journal_prepare(journal), STATUS_OK);
    assert_int_equal(journal_room(journal), room);
    journal_close(journal);
}

static struct journal *full_journal;
static void append_beyond_room(void)
{
    journal_put(full_journal, 1, "x", 1);
}
static void append_too_long(void)
{
    static const uint8_t payload[JOURNAL_RECORD_MAX + 1];
    journal_put(full_journal, 1, payload, sizeof payload);
}
static void append_without_type(void)
{
    journal_put(full_journal, 0, "x", 1);
}

static void appending_what_can_not_be_written_is_a_bug_that_stops(void **state)
{
    struct journal_config config = kit_config(*state, 2, 1);
    struct journal_recovery recovery;
    struct kit_log log;
    full_journal = kit_open(&config, &log, &recovery);
    assert_true(unit_stops(append_too_long));
    assert_true(unit_stops(append_without_type));
    kit_fill(full_journal, 100, KIT_TIME);
    assert_int_equal(journal_write(full_journal), STATUS_OK);
    assert_int_equal(journal_room(full_journal), 0);
    assert_true(unit_stops(append_beyond_room));
    journal_close(full_journal);
}

static void a_batch_that_does_not_fit_goes_to_the_next_segment(void **state)
{
    struct journal_config config = kit_config(*state, 6, 3);
    struct journal_recovery recovery;
    struct kit_log log;
    char name[JOURNAL_NAME_MAX];
    struct journal *journal = kit_open(&config, &log, &recovery);
    assert_int_equal(journal_prepare(journal), STATUS_OK);
    assert_false(journal_wants_segment(journal));
    kit_batch(journal, 3 * JOURNAL_PAGE, KIT_TIME); /* pages 1…3 of 5 */
    assert_int_equal(journal_segments_begun(journal), 1);
    uint64_t before = journal_durable(journal);
    kit_fill(journal, 3 * JOURNAL_PAGE, KIT_TIME);
    /* Taken, but not yet in place: no other may come beside it. */
    assert_false(journal_wants_segment(journal));
    assert_int_equal(journal_prepare(journal), STATUS_OK);
    assert_int_equal(journal_write(journal), STATUS_OK);
    assert_true(journal_wants_segment(journal));
    assert_int_equal(journal_segments_begun(journal), 2);
    assert_int_equal(journal_segment_start(journal), before + 1);
    segment_name(before + 1, name);
    assert_true(memory_disk_has(*state, name));
    assert_false(memory_disk_has(*state, SEGMENT_SPARE_NAME));
    for (uint32_t i = 0; i < 20; i++)
        kit_batch(journal, 1 + (i * 977) % (3 * JOURNAL_PAGE), KIT_TIME);
    uint64_t last = journal_durable(journal), segments = journal_segments_begun(journal);
    assert_true(segments > 5);
    journal_close(journal);
    journal = kit_open(&config, &log, &recovery);
    assert_int_equal(log.last, last);
    assert_int_equal(journal_segments_begun(journal), segments);
    journal_close(journal);
}

static void time_in_the_log_never_runs_backwards(void **state)
{
    struct journal_config config = kit_config(*state, 16, 2);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &recovery);
    kit_batch(journal, 100, KIT_TIME);
    kit_batch(journal, 100, KIT_TIME - 1);
    journal_close(journal);
    journal = kit_open(&config, &log, &recovery);
    assert_int_equal(recovery.end.time_ms, KIT_TIME);
    kit_batch(journal, 100, 5); /* also over a restart */
    journal_close(journal);
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
    assert_int_equal(recovery.end.time_ms, KIT_TIME);
}

static void a_full_disk_takes_the_room_away_and_room_comes_back_with_space(void **state)
{
    struct journal_config config = kit_config(*state, 4, 1);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &recovery);
    memory_disk_capacity(*state, config.segment_bytes + 2 * JOURNAL_PAGE);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(journal_prepare(journal), STATUS_FULL);
        assert_false(memory_disk_has(*state, SEGMENT_PART_NAME)); /* what it took is given back */
        assert_true(journal_room(journal) > 0);                   /* the present segment goes on */
        kit_fill(journal, 100, KIT_TIME);
        assert_int_equal(journal_write(journal), STATUS_OK);
    }
    assert_int_equal(journal_room(journal), 0);
    assert_false(journal_failed(journal));
    assert_int_equal(journal_prepare(journal), STATUS_FULL);
    assert_int_equal(journal_room(journal), 0);
    memory_disk_capacity(*state, UINT64_MAX);
    assert_int_equal(journal_prepare(journal), STATUS_OK);
    assert_true(journal_room(journal) > 0);
    kit_fill(journal, 100, KIT_TIME);
    assert_int_equal(journal_write(journal), STATUS_OK);
    assert_int_equal(journal_segments_begun(journal), 2);
    journal_close(journal);
}

/* One fault at the k-th call, for every k: the journal stops for good, nothing is called durable
 * that is not, and what was durable survives both ways of dying. */
static bool one_fault(unsigned calls, uint64_t k, bool power_cut)
{
    struct disk *disk = memory_disk_open(k);
    struct journal_config config = kit_config(disk, 5, 2);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &recovery);
    memory_disk_fail(disk, calls, k);
    for (uint32_t i = 0; i < 12 && !journal_failed(journal); i++) {
        while (journal_wants_segment(journal) && journal_prepare(journal) != STATUS_OK)
            assert_true(memory_disk_has_failed(disk)); /* preparing may fail and try again */
        uint64_t durable = journal_durable(journal);
        kit_fill(journal, 1 + (i * 1237) % (2 * JOURNAL_PAGE), KIT_TIME + i);
        if (journal_write(journal) != STATUS_OK)
            assert_int_equal(journal_durable(journal), durable);
    }
    bool failed = memory_disk_has_failed(disk);
    uint64_t durable = journal_durable(journal);
    if (journal_failed(journal)) {
        assert_int_equal(journal_write(journal), STATUS_IO); /* fail-stop: never again */
        assert_int_equal(journal_room(journal), 0);
        assert_false(journal_wants_segment(journal));
        journal_put(journal, 1, "x", 1);
        assert_false(journal_seal(journal, KIT_TIME));
    }
    journal_close(journal);
    assert_int_equal(memory_disk_open_files(disk), 0);
    memory_disk_fail(disk, 0, 0);
    if (power_cut)
        memory_disk_power_cut(disk);
    journal = kit_open(&config, &log, &recovery);
    assert_true(log.last >= durable);
    kit_batch(journal, 100, KIT_TIME + 100);
    durable = journal_durable(journal);
    journal_close(journal);
    memory_disk_power_cut(disk); /* what was believed after a failed sync must really be on the disk now */
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
    assert_int_equal(log.last, durable);
    memory_disk_close(disk);
    return failed;
}

static void any_one_fault_is_final_and_loses_nothing_durable(void **state)
{
    static const unsigned calls[] = { MEMORY_WRITE, MEMORY_SYNC, MEMORY_RENAME, MEMORY_SYNC_FOLDER,
        MEMORY_ANY };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        uint64_t k = 1;
        while (one_fault(calls[i], k, true) && one_fault(calls[i], k, false))
            k++;
        assert_true(k > 3);
    }
}

struct pair {
    struct journal *journal;
    struct wake work, done;
    _Atomic bool stop;
};

static void writer_thread(void *context)
{
    struct pair *pair = context;
    while (!atomic_load(&pair->stop)) {
        wake_wait(&pair->work, 10);
        assert_int_equal(journal_write(pair->journal), STATUS_OK);
        if (journal_wants_segment(pair->journal))
            assert_int_equal(journal_prepare(pair->journal), STATUS_OK);
        wake_signal(&pair->done);
    }
}

static void owner_and_writer_can_be_two_threads(void **state)
{
    enum { RECORDS = 20000 };
    struct journal_config config = kit_config(*state, 64, 8);
    struct journal_recovery recovery;
    struct kit_log log;
    struct thread thread = { 0 };
    struct pair pair = { .journal = kit_open(&config, &log, &recovery) };
    uint8_t payload[JOURNAL_RECORD_MAX];
    assert_int_equal(wake_open(&pair.work), STATUS_OK);
    assert_int_equal(wake_open(&pair.done), STATUS_OK);
    assert_int_equal(thread_start(&thread, "writer", writer_thread, &pair), STATUS_OK);
    while (journal_durable(pair.journal) < RECORDS) {
        for (uint32_t room = journal_room(pair.journal); room > 0; room--) {
            uint64_t lsn = journal_appended(pair.journal) + 1;
            journal_put(pair.journal, (uint8_t)(1 + lsn % 255), payload, kit_payload(lsn, payload));
        }
        if (journal_seal(pair.journal, KIT_TIME))
            wake_signal(&pair.work);
        else
            wake_wait(&pair.done, 10);
    }
    atomic_store(&pair.stop, true);
    wake_signal(&pair.work);
    thread_join(&thread);
    uint64_t durable = journal_durable(pair.journal);
    journal_close(pair.journal);
    wake_close(&pair.work);
    wake_close(&pair.done);
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
    assert_true(log.last >= durable);
}

/* Nothing of a longer batch before it, in either buffer: recovery looks at the padding of each batch. */
static void behind_a_batch_there_are_zeros_whatever_was_in_the_buffer_before(void **state)
{
    static const uint32_t pages[] = { 4, 4, 1, 2, 3, 1, 1, 1, 4, 2, 2, 3, 1, 4, 1, 1 };
    struct journal_config config = kit_config(*state, 64, 4);
    struct journal_recovery recovery;
    struct kit_log log;
    struct journal *journal = kit_open(&config, &log, &recovery);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        kit_batch(journal, pages[i] * JOURNAL_PAGE, KIT_TIME);
        kit_batch(journal, 1, KIT_TIME); /* one record */
        kit_batch(journal, pages[i] * JOURNAL_PAGE / 2, KIT_TIME);
    }
    const uint64_t last = journal_durable(journal);
    journal_close(journal);
    assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
    assert_int_equal(log.last, last);
}

/* The worked example of docs/journal.md. If this fails, old journals can't be read any more:
 * raise JOURNAL_VERSION. */
static void the_bytes_on_the_disk_are_those_of_the_documentation(void **state)
{
    static const char header_hex[] =
        "534d50455345473103fb27a201000000887766554433221100400000000000000010000000100000";
    static const char batch_hex[] =
        "53424154bf67c393540000000200000001000000000000000068e5cf8b0100008877665544332211"
        "00000000000000000000000000000000000000000000000000000000000000000300070061626301000900ff";
    struct journal_config config = kit_config(*state, 4, 1);
    struct journal_recovery recovery;
    struct kit_log log;
    uint8_t page[JOURNAL_PAGE];
    char hex[256];
    struct journal *journal = kit_open(&config, &log, &recovery);
    journal_put(journal, 7, "abc", 3);
    journal_put(journal, 9, "\xff", 1);
    assert_true(journal_seal(journal, UINT64_C(1700000000000)));
    assert_int_equal(journal_write(journal), STATUS_OK);
    journal_close(journal);
    memory_disk_peek(*state, KIT_FIRST, 0, page, sizeof page);
    for (uint32_t i = 0; i < SEGMENT_HEADER_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", page[i]);
    assert_string_equal(hex, header_hex);
    memory_disk_peek(*state, KIT_FIRST, JOURNAL_PAGE, page, sizeof page);
    uint32_t bytes = bytes_get_u32(page + BATCH_AT_BYTES);
    assert_int_equal(bytes, BATCH_HEADER_BYTES + 2 * RECORD_HEADER_BYTES + 4);
    for (uint32_t i = 0; i < bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", page[i]);
    assert_string_equal(hex, batch_hex);
    for (uint32_t i = bytes; i < JOURNAL_PAGE; i++)
        assert_int_equal(page[i], 0);
}

#define IN_MEMORY(test) cmocka_unit_test_setup_teardown(test, disk_setup, disk_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_MEMORY(a_new_journal_is_empty_and_its_first_record_is_number_one),
        IN_MEMORY(nothing_is_durable_before_it_is_written_and_what_was_not_sealed_is_gone),
        IN_MEMORY(records_of_every_size_come_back_as_they_were),
        IN_MEMORY(room_is_what_fits_and_not_one_more),
        IN_MEMORY(appending_what_can_not_be_written_is_a_bug_that_stops),
        IN_MEMORY(a_batch_that_does_not_fit_goes_to_the_next_segment),
        IN_MEMORY(time_in_the_log_never_runs_backwards),
        IN_MEMORY(a_full_disk_takes_the_room_away_and_room_comes_back_with_space),
        IN_MEMORY(any_one_fault_is_final_and_loses_nothing_durable),
        IN_MEMORY(owner_and_writer_can_be_two_threads),
        IN_MEMORY(behind_a_batch_there_are_zeros_whatever_was_in_the_buffer_before),
        IN_MEMORY(the_bytes_on_the_disk_are_those_of_the_documentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
