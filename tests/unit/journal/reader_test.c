/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/reader_test.c: reading behind the writer. */
#include "base/thread.h"
#include "tests/unit/journal/journal_kit.h"

#include <string.h>

struct fixture {
    struct disk *disk;
    struct journal_config config;
    struct journal *journal;
    struct journal_reader *reader;
};

static int setup(void **state)
{
    static struct fixture fixture;
    struct journal_recovery recovery;
    struct kit_log log;
    fixture.disk = memory_disk_open(1);
    fixture.config = kit_config(fixture.disk, 6, 2);
    fixture.journal = kit_open(&fixture.config, &log, &recovery);
    assert_int_equal(journal_reader_open(&fixture.reader, &fixture.config), STATUS_OK);
    *state = &fixture;
    return 0;
}
static int teardown(void **state)
{
    struct fixture *fixture = *state;
    journal_reader_close(fixture->reader);
    journal_reader_close(NULL);
    journal_close(fixture->journal);
    assert_int_equal(memory_disk_open_files(fixture->disk), 0);
    memory_disk_close(fixture->disk);
    return 0;
}

/* Reads all up to `limit`, checks each, answers how many. */
static uint64_t read_all(struct journal_reader *reader, uint64_t limit, struct kit_log *log)
{
    struct journal_record record;
    uint64_t time_ms, count = 0;
    enum status status;
    while ((status = journal_reader_next(reader, limit, &record, &time_ms)) == STATUS_OK) {
        kit_each(log, &record, time_ms);
        count++;
    }
    assert_int_equal(status, STATUS_NOT_FOUND);
    return count;
}

static void a_reader_follows_the_writer_over_segments_and_never_passes_the_limit(void **state)
{
    struct fixture *fixture = *state;
    struct kit_log log = { 0 };
    assert_int_equal(journal_reader_seek(fixture->reader, 0), STATUS_OK);
    assert_int_equal(read_all(fixture->reader, 0, &log), 0);
    for (uint32_t i = 0; i < 40; i++) {
        kit_batch(fixture->journal, 1 + i * 1931 % 8000, KIT_TIME + i);
        uint64_t durable = journal_durable(fixture->journal);
        if (i % 3 == 0) { /* a limit inside a batch is kept too */
            read_all(fixture->reader, durable - 1, &log);
            assert_true(log.last == durable - 1 || durable == 1);
        }
        if (i % 5 != 4)
            read_all(fixture->reader, durable, &log);
    }
    read_all(fixture->reader, journal_durable(fixture->journal), &log);
    assert_int_equal(log.first, 1);
    assert_int_equal(log.last, journal_durable(fixture->journal));
    assert_true(journal_segments_begun(fixture->journal) > 5);
}

static void what_is_written_and_not_durable_is_not_read(void **state)
{
    struct fixture *fixture = *state;
    struct kit_log log = { 0 };
    kit_batch(fixture->journal, 100, KIT_TIME);
    kit_fill(fixture->journal, 2000, KIT_TIME);
    uint64_t durable = journal_durable(fixture->journal);
    assert_int_equal(journal_reader_seek(fixture->reader, 0), STATUS_OK);
    assert_int_equal(read_all(fixture->reader, durable, &log), durable);
    assert_int_equal(journal_write(fixture->journal), STATUS_OK);
    read_all(fixture->reader, journal_durable(fixture->journal), &log);
    assert_int_equal(log.last, journal_durable(fixture->journal));
}

static void seeking_any_position_gives_exactly_what_follows(void **state)
{
    struct fixture *fixture = *state;
    for (uint32_t i = 0; i < 10; i++)
        kit_batch(fixture->journal, 3000, KIT_TIME);
    uint64_t end = journal_durable(fixture->journal);
    for (uint64_t after = 0; after <= end + 1; after++) {
        struct kit_log log = { 0 };
        assert_int_equal(journal_reader_seek(fixture->reader, after), STATUS_OK);
        assert_int_equal(read_all(fixture->reader, end, &log), after > end ? 0 : end - after);
        assert_true(log.count == 0 || log.first == after + 1);
    }
}

static void a_position_that_is_not_kept_is_not_found(void **state)
{
    struct fixture *fixture = *state;
    struct kit_log log = { 0 };
    uint64_t oldest;
    for (uint32_t i = 0; i < 10; i++)
        kit_batch(fixture->journal, 3000, KIT_TIME);
    assert_int_equal(fixture->disk->ops->remove(fixture->disk, KIT_FIRST), STATUS_OK);
    assert_int_equal(journal_oldest(fixture->disk, &oldest), STATUS_OK);
    assert_true(oldest > 0);
    assert_int_equal(journal_reader_seek(fixture->reader, 0), STATUS_NOT_FOUND);
    assert_int_equal(journal_reader_seek(fixture->reader, oldest - 1), STATUS_NOT_FOUND);
    assert_int_equal(journal_reader_seek(fixture->reader, oldest), STATUS_OK);
    read_all(fixture->reader, journal_durable(fixture->journal), &log);
    assert_int_equal(log.first, oldest + 1);
}

static void damage_in_what_was_durable_is_told_every_time(void **state)
{
    struct fixture *fixture = *state;
    struct journal_record record;
    uint64_t time_ms, end;
    kit_batch(fixture->journal, 100, KIT_TIME);
    uint64_t first = journal_durable(fixture->journal);
    kit_batch(fixture->journal, 100, KIT_TIME);
    end = journal_durable(fixture->journal);
    memory_disk_poke(fixture->disk, KIT_FIRST, 2 * JOURNAL_PAGE + BATCH_AT_TIME, "\xff", 1);
    assert_int_equal(journal_reader_seek(fixture->reader, 0), STATUS_OK);
    for (uint64_t lsn = 1; lsn <= first; lsn++)
        assert_int_equal(journal_reader_next(fixture->reader, end, &record, &time_ms), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(journal_reader_next(fixture->reader, end, &record, &time_ms), STATUS_CORRUPT);
        assert_int_equal(journal_reader_damage(fixture->reader)->offset, 2 * JOURNAL_PAGE);
        assert_string_equal(journal_reader_damage(fixture->reader)->segment, KIT_FIRST);
    }
    assert_int_equal(journal_reader_seek(fixture->reader, 0), STATUS_OK);
    static const uint8_t zeros[JOURNAL_PAGE];
    /* Gone is damage too. */
    memory_disk_poke(fixture->disk, KIT_FIRST, 2 * JOURNAL_PAGE, zeros, sizeof zeros);
    for (uint64_t lsn = 1; lsn <= first; lsn++)
        assert_int_equal(journal_reader_next(fixture->reader, end, &record, &time_ms), STATUS_OK);
    assert_int_equal(journal_reader_next(fixture->reader, end, &record, &time_ms), STATUS_CORRUPT);
    assert_int_equal(journal_reader_next(fixture->reader, end, &record, &time_ms), STATUS_CORRUPT);
}

static void a_fault_while_reading_can_be_tried_again(void **state)
{
    struct fixture *fixture = *state;
    for (uint32_t i = 0; i < 10; i++)
        kit_batch(fixture->journal, 3000, KIT_TIME);
    uint64_t end = journal_durable(fixture->journal);
    for (uint64_t k = 1; k < 100; k++) {
        struct kit_log log = { 0 };
        struct journal_record record;
        uint64_t time_ms;
        enum status status;
        assert_int_equal(journal_reader_seek(fixture->reader, 0), STATUS_OK);
        memory_disk_fail(fixture->disk, MEMORY_OPEN | MEMORY_READ, k);
        while ((status = journal_reader_next(fixture->reader, end, &record, &time_ms)) == STATUS_OK)
            kit_each(&log, &record, time_ms);
        bool failed = memory_disk_has_failed(fixture->disk);
        memory_disk_fail(fixture->disk, 0, 0);
        assert_int_equal(status, failed ? STATUS_IO : STATUS_NOT_FOUND);
        read_all(fixture->reader, end, &log);
        assert_int_equal(log.last, end);
        if (!failed)
            return;
    }
    fail();
}

struct follower {
    struct fixture *fixture;
    uint64_t goal;
    struct kit_log log;
};
static void follow(void *context)
{
    struct follower *follower = context;
    while (follower->log.last < follower->goal)
        read_all(follower->fixture->reader, journal_durable(follower->fixture->journal), &follower->log);
}

static void reader_and_writer_can_be_two_threads(void **state)
{
    struct fixture *fixture = *state;
    struct follower follower = { .fixture = fixture, .goal = 2000 };
    struct thread thread = { 0 };
    assert_int_equal(journal_reader_seek(fixture->reader, 0), STATUS_OK);
    assert_int_equal(thread_start(&thread, "reader", follow, &follower), STATUS_OK);
    for (uint32_t i = 0; journal_durable(fixture->journal) < follower.goal; i++)
        kit_batch(fixture->journal, 1 + i * 1931 % 8000, KIT_TIME + i);
    thread_join(&thread);
    assert_true(follower.log.last >= follower.goal);
    assert_int_equal(follower.log.first, 1);
}

#define FIXED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(a_reader_follows_the_writer_over_segments_and_never_passes_the_limit),
        FIXED(what_is_written_and_not_durable_is_not_read),
        FIXED(seeking_any_position_gives_exactly_what_follows),
        FIXED(a_position_that_is_not_kept_is_not_found),
        FIXED(damage_in_what_was_durable_is_told_every_time),
        FIXED(a_fault_while_reading_can_be_tried_again),
        FIXED(reader_and_writer_can_be_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
