/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/pack_test.c: a packed segment says what it said before, and a crash at any moment leaves
 * the old file or the new one. */
#include "journal/pack.h"

#include "journal/scan.h"
#include "tests/support/journal_put.h"
#include "tests/unit/journal/journal_kit.h"

#include <string.h>

enum { SEGMENT_PAGES = 8, BATCH_PAGES = 2, BATCHES = 40, ENDS_MAX = 64 };

struct fixture {
    struct disk *disk;
    struct journal_config config;
    struct journal *journal;
    struct journal_pack pack;
    struct journal_position ends[ENDS_MAX]; /* after each batch */
    uint32_t batches;
};

static void batch_add(struct fixture *fixture, uint32_t bytes)
{
    assert_true(fixture->batches < ENDS_MAX);
    kit_batch(fixture->journal, bytes, KIT_TIME + fixture->batches);
    journal_end(fixture->journal, &fixture->ends[fixture->batches++]);
}

/* Wins that come one by one: a record in a batch, a batch in a page. */
static int setup(void **state)
{
    static struct fixture fixture;
    struct journal_recovery recovery;
    struct kit_log log;
    fixture = (struct fixture){ .disk = memory_disk_open(1) };
    fixture.config = kit_config(fixture.disk, SEGMENT_PAGES, BATCH_PAGES);
    fixture.journal = kit_open(&fixture.config, &log, &recovery);
    for (uint32_t i = 0; i < BATCHES; i++)
        batch_add(&fixture, 1);
    *state = &fixture;
    return 0;
}
static int teardown(void **state)
{
    struct fixture *fixture = *state;
    journal_close(fixture->journal);
    assert_int_equal(memory_disk_open_files(fixture->disk), 0);
    memory_disk_close(fixture->disk);
    return 0;
}

static enum status pack_one(struct fixture *fixture)
{
    return journal_pack_next(&fixture->pack, &fixture->config, journal_segment_start(fixture->journal));
}

/* Packs until nothing is left; answers how many became smaller. */
static uint32_t pack_all(struct fixture *fixture)
{
    uint32_t packed = 0;
    fixture->pack.wanted = true;
    while (fixture->pack.wanted) {
        assert_int_equal(pack_one(fixture), STATUS_OK);
        packed += fixture->pack.bytes_after > 0;
    }
    return packed;
}

static uint32_t segments_of(const struct fixture *fixture, uint64_t first_lsns[ENDS_MAX])
{
    uint32_t count;
    assert_int_equal(segment_list(fixture->disk, first_lsns, ENDS_MAX, &count), STATUS_OK);
    return count;
}

/* All records are there, in order, and the chain ends with the same hash; from every position, too. */
static void log_is_whole(const struct fixture *fixture, struct disk *disk)
{
    struct journal_config config = fixture->config;
    struct journal_recovery recovery;
    struct kit_log log;
    const struct journal_position *end = &fixture->ends[fixture->batches - 1];
    config.disk = disk;
    assert_int_equal(kit_scan(&config, &log, &recovery), STATUS_OK);
    assert_int_equal(log.count, end->lsn);
    assert_int_equal(recovery.batches, fixture->batches);
    assert_memory_equal(recovery.end.hash, end->hash, sizeof end->hash);
    for (uint32_t i = 0; i < fixture->batches; i++) {
        log = (struct kit_log){ 0 };
        assert_int_equal(journal_scan(&config, &fixture->ends[i], kit_each, &log, &recovery), STATUS_OK);
        assert_int_equal(log.count, end->lsn - fixture->ends[i].lsn);
    }
}

static void packing_changes_the_size_and_nothing_that_is_said(void **state)
{
    struct fixture *fixture = *state;
    uint64_t first_lsns[ENDS_MAX];
    const uint32_t count = segments_of(fixture, first_lsns);
    assert_int_equal(count, (BATCHES + SEGMENT_PAGES - 2) / (SEGMENT_PAGES - 1));
    assert_int_equal(pack_all(fixture), count - 1);
    for (uint32_t i = 0; i < count; i++) {
        char name[JOURNAL_NAME_MAX];
        uint64_t bytes = JOURNAL_PAGE;
        segment_name(first_lsns[i], name);
        if (i + 1 == count) { /* the live one */
            assert_int_equal(memory_disk_size(fixture->disk, name), SEGMENT_PAGES * JOURNAL_PAGE);
            break;
        }
        for (uint64_t lsn = first_lsns[i]; lsn < first_lsns[i + 1]; lsn++) {
            uint8_t payload[JOURNAL_RECORD_MAX];
            bytes += (BATCH_HEADER_BYTES + RECORD_HEADER_BYTES + kit_payload(lsn, payload) + 7) / 8 * 8;
        }
        assert_int_equal(memory_disk_size(fixture->disk, name), bytes);
    }
    log_is_whole(fixture, fixture->disk);
    assert_int_equal(pack_all(fixture), 0);
    fixture->pack = (struct journal_pack){ 0 }; /* another start */
    assert_int_equal(pack_all(fixture), 0);
}

static void one_call_packs_the_oldest_that_is_closed(void **state)
{
    struct fixture *fixture = *state;
    uint64_t first_lsns[ENDS_MAX];
    const uint32_t count = segments_of(fixture, first_lsns);
    for (uint32_t i = 0; i + 1 < count; i++) {
        assert_int_equal(pack_one(fixture), STATUS_OK);
        assert_int_equal(fixture->pack.first_lsn, first_lsns[i]);
        assert_int_equal(fixture->pack.bytes_before, SEGMENT_PAGES * JOURNAL_PAGE);
        assert_true(fixture->pack.wanted);
        log_is_whole(fixture, fixture->disk);
    }
    assert_int_equal(pack_one(fixture), STATUS_OK);
    assert_int_equal(fixture->pack.first_lsn, 0);
    assert_false(fixture->pack.wanted);
    for (uint32_t i = 0; i < SEGMENT_PAGES; i++)
        batch_add(fixture, 1);
    assert_int_equal(pack_all(fixture), 1);
    assert_int_equal(fixture->pack.after, first_lsns[count - 1]);
    log_is_whole(fixture, fixture->disk);
}

static void segments_that_are_packed_are_passed_over_in_one_call(void **state)
{
    struct fixture *fixture = *state;
    uint64_t first_lsns[ENDS_MAX];
    const uint32_t count = segments_of(fixture, first_lsns);
    assert_true(count > 4);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(pack_one(fixture), STATUS_OK);
    fixture->pack = (struct journal_pack){ 0 }; /* another start */
    assert_int_equal(pack_one(fixture), STATUS_OK);
    assert_int_equal(fixture->pack.first_lsn, first_lsns[3]);
    assert_int_equal(fixture->pack.after, first_lsns[3]);
    assert_int_equal(fixture->pack.bytes_before, SEGMENT_PAGES * JOURNAL_PAGE);
    assert_true(fixture->pack.bytes_after > 0);
    assert_true(fixture->pack.wanted); /* there may be more */
    (void)pack_all(fixture);
    fixture->pack = (struct journal_pack){ .wanted = true };
    assert_int_equal(pack_one(fixture), STATUS_OK);
    assert_int_equal(fixture->pack.after, first_lsns[count - 2]);
    assert_int_equal(fixture->pack.bytes_after, 0);
    assert_false(fixture->pack.wanted);
    log_is_whole(fixture, fixture->disk);
}

/* docs/journal.md, worked example. */
static void the_header_of_a_packed_segment_is_as_documented(void **state)
{
    static const uint8_t expected[SEGMENT_HEADER_BYTES] = { 'S', 'M', 'P', 'E', 'S', 'E', 'G', '1',
        0xb9, 0xa3, 0x39, 0xf3, 2, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x58,
        0x10, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 8, 0, 0, 0 };
    uint8_t page[JOURNAL_PAGE];
    (void)state;
    segment_packed_header_put(page, KIT_DATA_ID, JOURNAL_PAGE + 88, JOURNAL_PAGE);
    assert_memory_equal(page, expected, sizeof expected);
}

static void batch_of(struct journal *journal, uint32_t bytes, uint64_t time_ms)
{
    uint8_t payload[JOURNAL_RECORD_MAX] = { 1 };
    if (journal_wants_segment(journal))
        assert_int_equal(journal_prepare(journal), STATUS_OK);
    for (uint32_t left = bytes - BATCH_HEADER_BYTES; left > 0;) {
        const uint32_t part = left < sizeof payload + 4 ? left : (uint32_t)sizeof payload + 4;
        (void)journal_put(journal, 7, payload, part - RECORD_HEADER_BYTES);
        left -= part;
    }
    assert_true(journal_seal(journal, time_ms));
    assert_int_equal(journal_write(journal), STATUS_OK);
}

static void a_segment_that_stays_larger_than_half_is_left_alone(void **state)
{
    static const struct {
        uint32_t second;
        bool packed;
    } cases[] = { { 2048, true }, { 2049, false } };
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct disk *disk = memory_disk_open(1);
        const struct journal_config config = kit_config(disk, 4, 2);
        const struct journal_position beginning = { 0 };
        struct journal_recovery recovery;
        struct journal_pack pack = { 0 };
        struct journal *journal;
        assert_int_equal(journal_open(&journal, &config, &beginning, NULL, NULL, &recovery), STATUS_OK);
        batch_of(journal, 2048, KIT_TIME);
        batch_of(journal, cases[i].second, KIT_TIME);
        batch_of(journal, JOURNAL_PAGE + 100, KIT_TIME); /* does not fit any more */
        assert_int_equal(journal_pack_next(&pack, &config, journal_segment_start(journal)), STATUS_OK);
        assert_int_equal(pack.first_lsn, 1);
        assert_int_equal(memory_disk_size(disk, KIT_FIRST),
            cases[i].packed ? 2 * JOURNAL_PAGE : 4 * JOURNAL_PAGE);
        assert_int_equal(pack.bytes_after, cases[i].packed ? 2 * JOURNAL_PAGE : 0);
        assert_false(memory_disk_has(disk, SEGMENT_PACKED_NAME));
        journal_close(journal);
        memory_disk_close(disk);
    }
}

/* The k-th call fails, for every k; then the power is cut. */
static void a_fault_at_any_call_leaves_the_old_file_or_the_new_one(void **state)
{
    struct fixture *fixture = *state;
    bool failed = true;
    uint32_t old = 0, new = 0;
    for (uint64_t k = 1; failed; k++) {
        struct disk *disk = memory_disk_copy(fixture->disk, k);
        struct journal_config config = fixture->config;
        struct journal_pack pack = { 0 };
        struct journal_recovery recovery;
        struct kit_log log;
        config.disk = disk;
        memory_disk_fail(disk, MEMORY_ANY, k);
        const enum status status =
            journal_pack_next(&pack, &config, journal_segment_start(fixture->journal));
        failed = memory_disk_has_failed(disk);
        memory_disk_fail(disk, MEMORY_ANY, 0);
        assert_int_equal(status, failed ? STATUS_IO : STATUS_OK);
        assert_false(memory_disk_has(disk, SEGMENT_PACKED_NAME));
        log_is_whole(fixture, disk);
        memory_disk_power_cut(disk);
        log_is_whole(fixture, disk);
        assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
        assert_int_equal(log.count, BATCHES);
        if (memory_disk_size(disk, KIT_FIRST) == SEGMENT_PAGES * JOURNAL_PAGE)
            old++;
        else
            new ++;
        /* It goes on with the next one. */
        assert_int_equal(pack.after, 1);
        assert_int_equal(journal_pack_next(&pack, &config, UINT64_MAX), STATUS_OK);
        assert_true(pack.bytes_after > 0);
        memory_disk_close(disk);
    }
    assert_true(old >= 8 && new >= 1);
}

/* The process dies at each call. What it has not synced may be lost or stay. */
static enum status (*real_write)(struct disk *, disk_file, uint64_t, const void *, size_t);
static enum status (*real_sync)(struct disk *, disk_file);
static enum status (*real_rename)(struct disk *, const char *, const char *);
static enum status (*real_sync_folder)(struct disk *);
static enum status (*real_remove)(struct disk *, const char *);
static struct disk_ops hooked;
static uint64_t calls_left;

static bool is_dead(void)
{
    if (calls_left > 0)
        calls_left--;
    return calls_left == 0;
}
static enum status dying_write(
    struct disk *disk, disk_file file, uint64_t offset, const void *data, size_t bytes)
{
    return is_dead() ? STATUS_IO : real_write(disk, file, offset, data, bytes);
}
static enum status dying_sync(struct disk *disk, disk_file file)
{
    return is_dead() ? STATUS_IO : real_sync(disk, file);
}
static enum status dying_rename(struct disk *disk, const char *from, const char *to)
{
    return is_dead() ? STATUS_IO : real_rename(disk, from, to);
}
static enum status dying_sync_folder(struct disk *disk)
{
    return is_dead() ? STATUS_IO : real_sync_folder(disk);
}
static enum status dying_remove(struct disk *disk, const char *name)
{
    return calls_left == 0 ? STATUS_IO : real_remove(disk, name);
}

static void hooks_set(const struct disk *disk)
{
    hooked = *disk->ops;
    real_write = hooked.write;
    real_sync = hooked.sync;
    real_rename = hooked.rename;
    real_sync_folder = hooked.sync_folder;
    real_remove = hooked.remove;
}

static void a_crash_at_any_call_leaves_the_old_file_or_the_new_one_and_no_part(void **state)
{
    struct fixture *fixture = *state;
    const struct disk_ops *ops = fixture->disk->ops;
    hooks_set(fixture->disk);
    hooked.write = dying_write;
    hooked.sync = dying_sync;
    hooked.rename = dying_rename;
    hooked.sync_folder = dying_sync_folder;
    hooked.remove = dying_remove;
    bool left = false;
    for (uint64_t seed = 0; seed < 64; seed++) {
        struct disk *disk = memory_disk_copy(fixture->disk, seed);
        struct journal_config config = fixture->config;
        struct journal_pack pack = { 0 };
        struct journal_recovery recovery;
        struct kit_log log;
        config.disk = disk;
        disk->ops = &hooked;
        calls_left = 1 + seed % 6;
        (void)!journal_pack_next(&pack, &config, journal_segment_start(fixture->journal));
        disk->ops = ops;
        left |= memory_disk_has(disk, SEGMENT_PACKED_NAME);
        if (seed % 4 != 0)
            memory_disk_power_cut(disk);
        log_is_whole(fixture, disk);
        assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_OK);
        assert_int_equal(log.count, BATCHES);
        assert_false(memory_disk_has(disk, SEGMENT_PACKED_NAME));
        memory_disk_close(disk);
    }
    assert_true(left);
}

/* archive/prune.c removes the segment while it is packed. */
static enum status removing_write(
    struct disk *disk, disk_file file, uint64_t offset, const void *data, size_t bytes)
{
    if (memory_disk_has(disk, KIT_FIRST))
        assert_int_equal(journal_segment_remove(disk, 1), STATUS_OK);
    return real_write(disk, file, offset, data, bytes);
}

static void a_segment_that_is_removed_meanwhile_does_not_come_back(void **state)
{
    struct fixture *fixture = *state;
    const struct disk_ops *ops = fixture->disk->ops;
    hooks_set(fixture->disk);
    hooked.write = removing_write;
    fixture->disk->ops = &hooked;
    assert_int_equal(pack_one(fixture), STATUS_OK);
    fixture->disk->ops = ops;
    assert_int_equal(fixture->pack.bytes_after, 0);
    assert_false(memory_disk_has(fixture->disk, KIT_FIRST));
    assert_false(memory_disk_has(fixture->disk, SEGMENT_PACKED_NAME));
    assert_int_equal(journal_segment_remove(fixture->disk, 1), STATUS_NOT_FOUND);
    assert_true(pack_all(fixture) > 0);
}

/* It asks for one record at a time, so it reads the file again for each. */
static void a_reader_goes_on_in_the_file_that_it_has_and_a_new_one_reads_the_same(void **state)
{
    const struct fixture *fixture = *state;
    for (uint64_t stop = 1; stop < BATCHES; stop++) {
        struct fixture fresh = *fixture;
        struct journal_reader *reader;
        struct journal_record record;
        struct kit_log log = { 0 };
        uint64_t time_ms;
        fresh.disk = fresh.config.disk = memory_disk_copy(fixture->disk, stop);
        assert_int_equal(journal_reader_open(&reader, &fresh.config), STATUS_OK);
        assert_int_equal(journal_reader_seek(reader, 0), STATUS_OK);
        for (uint64_t lsn = 1; lsn <= BATCHES; lsn++) {
            if (lsn == stop)
                assert_true(pack_all(&fresh) > 0);
            assert_int_equal(journal_reader_next(reader, lsn, &record, &time_ms), STATUS_OK);
            kit_each(&log, &record, time_ms);
        }
        assert_int_equal(journal_reader_next(reader, BATCHES, &record, &time_ms), STATUS_NOT_FOUND);
        assert_int_equal(journal_reader_seek(reader, stop), STATUS_OK);
        assert_int_equal(journal_reader_next(reader, BATCHES, &record, &time_ms), STATUS_OK);
        assert_int_equal(record.lsn, stop + 1);
        journal_reader_close(reader);
        memory_disk_close(fresh.disk);
    }
}

static void a_damaged_segment_is_not_packed_and_the_next_ones_are(void **state)
{
    struct fixture *fixture = *state;
    uint8_t byte, after;
    memory_disk_peek(fixture->disk, KIT_FIRST, 3 * JOURNAL_PAGE + 80, &byte, 1);
    byte ^= 1;
    memory_disk_poke(fixture->disk, KIT_FIRST, 3 * JOURNAL_PAGE + 80, &byte, 1);
    assert_int_equal(pack_one(fixture), STATUS_CORRUPT);
    assert_string_equal(fixture->pack.damage.segment, KIT_FIRST);
    assert_int_equal(fixture->pack.damage.offset, 3 * JOURNAL_PAGE);
    assert_int_equal(memory_disk_size(fixture->disk, KIT_FIRST), SEGMENT_PAGES * JOURNAL_PAGE);
    memory_disk_peek(fixture->disk, KIT_FIRST, 3 * JOURNAL_PAGE + 80, &after, 1);
    assert_int_equal(after, byte);
    assert_false(memory_disk_has(fixture->disk, SEGMENT_PACKED_NAME));
    assert_true(pack_all(fixture) > 0);
}

static void without_room_the_same_segment_comes_again(void **state)
{
    struct fixture *fixture = *state;
    memory_disk_capacity(fixture->disk, 1);
    fixture->pack.wanted = true;
    assert_int_equal(pack_one(fixture), STATUS_FULL);
    assert_false(fixture->pack.wanted);
    assert_false(memory_disk_has(fixture->disk, SEGMENT_PACKED_NAME));
    log_is_whole(fixture, fixture->disk);
    memory_disk_capacity(fixture->disk, UINT64_MAX);
    assert_int_equal(pack_one(fixture), STATUS_OK);
    assert_int_equal(fixture->pack.first_lsn, 1);
    assert_true(fixture->pack.bytes_after > 0);
}

/* Also where it is the last one: no byte of it can be torn. */
static void every_changed_byte_of_a_packed_segment_is_found_and_nothing_is_cut(void **state)
{
    struct fixture *fixture = *state;
    uint64_t first_lsns[ENDS_MAX];
    struct journal_recovery recovery;
    struct kit_log log;
    (void)pack_all(fixture);
    for (uint32_t count = segments_of(fixture, first_lsns); count > 1; count--)
        assert_int_equal(journal_segment_remove(fixture->disk, first_lsns[count - 1]), STATUS_OK);
    const uint64_t bytes = memory_disk_size(fixture->disk, KIT_FIRST);
    for (uint64_t at = 0; at < bytes;
         at += at >= SEGMENT_HEADER_BYTES && at < JOURNAL_PAGE ? 97 : KIT_STEP) {
        uint8_t byte, changed;
        memory_disk_peek(fixture->disk, KIT_FIRST, at, &byte, 1);
        changed = byte ^ 0x20;
        memory_disk_poke(fixture->disk, KIT_FIRST, at, &changed, 1);
        const enum status status = kit_scan(&fixture->config, &log, &recovery);
        assert_true(status == STATUS_CORRUPT || status == STATUS_CONFLICT);
        memory_disk_poke(fixture->disk, KIT_FIRST, at, &byte, 1);
    }
    assert_int_equal(kit_scan(&fixture->config, &log, &recovery), STATUS_OK);
    assert_int_equal(log.count, first_lsns[1] - 1);
    assert_int_equal(recovery.torn_bytes, 0);
}

static void a_packed_segment_of_another_size_or_with_more_behind_it_is_damage(void **state)
{
    struct fixture *fixture = *state;
    struct journal_recovery recovery;
    struct kit_log log;
    (void)pack_all(fixture);
    const uint64_t bytes = memory_disk_size(fixture->disk, KIT_FIRST);
    for (uint64_t size = 0; size <= bytes + 2 * JOURNAL_PAGE; size += 24) {
        uint8_t field[8];
        struct disk *disk = memory_disk_copy(fixture->disk, 7);
        struct journal_config config = fixture->config;
        disk_file file;
        config.disk = disk;
        assert_int_equal(disk->ops->open(disk, KIT_FIRST, DISK_WRITE, &file), STATUS_OK);
        assert_int_equal(disk->ops->truncate(disk, file, size), STATUS_OK);
        disk->ops->close(disk, file);
        if (size != bytes)
            assert_int_equal(kit_scan(&config, &log, &recovery), STATUS_CORRUPT);
        if (size >= JOURNAL_PAGE && size != bytes) { /* also if its header agrees */
            bytes_put_u64(field, size);
            memory_disk_poke(disk, KIT_FIRST, SEGMENT_AT_SEGMENT_BYTES, field, sizeof field);
            kit_reseal_header(disk, KIT_FIRST);
            assert_int_equal(kit_scan(&config, &log, &recovery), STATUS_CORRUPT);
        }
        memory_disk_close(disk);
    }
}

#define WITH_JOURNAL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_JOURNAL(packing_changes_the_size_and_nothing_that_is_said),
        WITH_JOURNAL(one_call_packs_the_oldest_that_is_closed),
        WITH_JOURNAL(segments_that_are_packed_are_passed_over_in_one_call),
        cmocka_unit_test(the_header_of_a_packed_segment_is_as_documented),
        cmocka_unit_test(a_segment_that_stays_larger_than_half_is_left_alone),
        WITH_JOURNAL(a_fault_at_any_call_leaves_the_old_file_or_the_new_one),
        WITH_JOURNAL(a_crash_at_any_call_leaves_the_old_file_or_the_new_one_and_no_part),
        WITH_JOURNAL(a_segment_that_is_removed_meanwhile_does_not_come_back),
        WITH_JOURNAL(a_reader_goes_on_in_the_file_that_it_has_and_a_new_one_reads_the_same),
        WITH_JOURNAL(a_damaged_segment_is_not_packed_and_the_next_ones_are),
        WITH_JOURNAL(without_room_the_same_segment_comes_again),
        WITH_JOURNAL(every_changed_byte_of_a_packed_segment_is_found_and_nothing_is_cut),
        WITH_JOURNAL(a_packed_segment_of_another_size_or_with_more_behind_it_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
