/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/scan_test.c: damage is found wherever it is, and named. */
#include "tests/unit/journal/journal_kit.h"

#include <stdio.h>
#include <string.h>

enum { BATCHES = 4 };

struct fixture {
    struct disk *disk;
    struct journal_config config;
    uint64_t offsets[BATCHES];
    uint64_t ends[BATCHES]; /* last LSNs */
    uint64_t tail;
};

/* Four durable batches, the third one of two pages. */
static int setup(void **state)
{
    static struct fixture fixture;
    struct journal_recovery recovery;
    struct kit_log log;
    fixture = (struct fixture){ .disk = memory_disk_open(1) };
    fixture.config = kit_config(fixture.disk, 16, 3);
    struct journal *journal = kit_open(&fixture.config, &log, &recovery);
    uint64_t offset = JOURNAL_PAGE;
    for (uint32_t i = 0; i < BATCHES; i++) {
        kit_batch(journal, i == 2 ? 6000 : 1000, KIT_TIME + i);
        fixture.offsets[i] = offset;
        fixture.ends[i] = journal_durable(journal);
        offset += i == 2 ? 2 * JOURNAL_PAGE : JOURNAL_PAGE;
    }
    fixture.tail = offset;
    journal_close(journal);
    *state = &fixture;
    return 0;
}
static int teardown(void **state)
{
    memory_disk_close(((struct fixture *)*state)->disk);
    return 0;
}

static void flip(struct disk *disk, uint64_t at, uint8_t mask)
{
    uint8_t byte;
    memory_disk_peek(disk, KIT_FIRST, at, &byte, 1);
    byte ^= mask;
    memory_disk_poke(disk, KIT_FIRST, at, &byte, 1);
}

static void expect(const struct fixture *fixture, enum status status, uint64_t offset, const char *what)
{
    struct journal_recovery recovery;
    struct kit_log log;
    assert_int_equal(kit_scan(&fixture->config, &log, &recovery), status);
    assert_string_equal(recovery.damage.segment, KIT_FIRST);
    assert_int_equal(recovery.damage.offset, offset);
    if (strstr(recovery.damage.what, what) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", recovery.damage.what, what);
    struct disk *before = memory_disk_copy(fixture->disk, 1);
    assert_int_equal(kit_reopen(&fixture->config, &log, &recovery), status);
    assert_true(memory_disk_equal(before, fixture->disk)); /* a refusal writes nothing */
    memory_disk_close(before);
}

static void a_flipped_bit_in_a_middle_batch_is_damage_at_its_place(void **state)
{
    const struct fixture *fixture = *state;
    for (uint64_t at = fixture->offsets[2]; at < fixture->offsets[3]; at += KIT_STEP) {
        uint8_t mask = (uint8_t)(1 << at % 8);
        flip(fixture->disk, at, mask);
        expect(fixture, STATUS_CORRUPT, fixture->offsets[2], "");
        flip(fixture->disk, at, mask);
    }
}

static void a_flipped_bit_in_the_last_batch_looks_torn_unless_it_is_in_the_padding(void **state)
{
    const struct fixture *fixture = *state;
    struct journal_recovery recovery;
    struct kit_log log;
    uint8_t header[BATCH_HEADER_BYTES];
    memory_disk_peek(fixture->disk, KIT_FIRST, fixture->offsets[3], header, sizeof header);
    uint64_t end = fixture->offsets[3] + bytes_get_u32(header + BATCH_AT_BYTES);
    for (uint64_t at = fixture->offsets[3]; at < end; at += KIT_STEP) {
        flip(fixture->disk, at, 0x40);
        assert_int_equal(kit_scan(&fixture->config, &log, &recovery), STATUS_OK);
        assert_int_equal(log.last, fixture->ends[2]);
        assert_true(recovery.torn_bytes > 0 && recovery.torn_bytes <= JOURNAL_PAGE);
        flip(fixture->disk, at, 0x40);
    }
    for (uint64_t at = end; at < fixture->tail; at += KIT_STEP) {
        flip(fixture->disk, at, 0x40);
        expect(fixture, STATUS_CORRUPT, fixture->offsets[3], "padding");
        flip(fixture->disk, at, 0x40);
    }
}

static void a_bad_end_of_a_segment_that_has_a_successor_is_damage(void **state)
{
    struct fixture *fixture = *state;
    struct journal_recovery recovery;
    struct kit_log log;
    char next[JOURNAL_NAME_MAX];
    struct journal *journal = kit_open(&fixture->config, &log, &recovery);
    uint64_t last_offset = fixture->tail;
    while (journal_segments_begun(journal) == 1) {
        last_offset = fixture->tail;
        kit_batch(journal, 1000, KIT_TIME + 10);
        fixture->tail += JOURNAL_PAGE;
    }
    last_offset -= JOURNAL_PAGE;
    segment_name(journal_segment_start(journal), next);
    journal_close(journal);
    flip(fixture->disk, last_offset + BATCH_HEADER_BYTES, 1);
    expect(fixture, STATUS_CORRUPT, last_offset, "later segment");
    static const uint8_t zeros[JOURNAL_PAGE];
    /* Also if the later one is empty. */
    memory_disk_poke(fixture->disk, next, JOURNAL_PAGE, zeros, sizeof zeros);
    expect(fixture, STATUS_CORRUPT, last_offset, "later segment");
    flip(fixture->disk, last_offset + BATCH_HEADER_BYTES, 1);
    assert_int_equal(kit_reopen(&fixture->config, &log, &recovery), STATUS_OK);
    fixture->config.disk->ops->remove(fixture->disk, next);
    flip(fixture->disk, last_offset + BATCH_HEADER_BYTES, 1);
    assert_int_equal(kit_reopen(&fixture->config, &log, &recovery), STATUS_OK); /* now it is the end: torn */
}

/* Right checksum, wrong content: nobody's crash writes that. */
static void what_passes_the_checksum_and_does_not_fit_is_damage_at_once(void **state)
{
    static const struct {
        uint32_t at;
        uint8_t mask;
        enum status status;
        const char *what;
    } lies[] = {
        { BATCH_AT_FIRST_LSN, 1, STATUS_CORRUPT, "wrong LSN" },
        { BATCH_AT_FIRST_LSN + 7, 0x80, STATUS_CORRUPT, "wrong LSN" },
        { BATCH_AT_TIME + 3, 0x40, STATUS_CORRUPT, "backwards" },
        { BATCH_AT_DATA_ID, 1, STATUS_CONFLICT, "data id" },
        { BATCH_AT_PREVIOUS, 1, STATUS_CORRUPT, "hash of the batch before" },
        { BATCH_AT_PREVIOUS + HASH_SHA256_BYTES - 1, 0x80, STATUS_CORRUPT, "hash of the batch before" },
        { BATCH_AT_RECORDS, 0x20, STATUS_CORRUPT, "add up" },
        { BATCH_AT_RECORDS + 3, 0x80, STATUS_CORRUPT, "add up" },
        { BATCH_HEADER_BYTES + RECORD_AT_BYTES, 1, STATUS_CORRUPT, "add up" },
        { BATCH_HEADER_BYTES + RECORD_AT_BYTES + 1, 0xff, STATUS_CORRUPT, "add up" },
        { BATCH_HEADER_BYTES + RECORD_AT_TYPE + 1, 1, STATUS_CORRUPT, "add up" },
    };
    const struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        for (uint32_t batch = 1; batch < BATCHES; batch++) {
            uint64_t offset = fixture->offsets[batch];
            flip(fixture->disk, offset + lies[i].at, lies[i].mask);
            kit_reseal(fixture->disk, KIT_FIRST, offset);
            expect(fixture, lies[i].status, offset, lies[i].what);
            flip(fixture->disk, offset + lies[i].at, lies[i].mask);
            kit_reseal(fixture->disk, KIT_FIRST, offset);
        }
}

static void a_batch_that_was_changed_and_resealed_breaks_the_chain(void **state)
{
    const struct fixture *fixture = *state;
    flip(fixture->disk, fixture->offsets[1] + BATCH_HEADER_BYTES + RECORD_HEADER_BYTES, 1);
    kit_reseal(fixture->disk, KIT_FIRST, fixture->offsets[1]);
    struct journal_recovery recovery;
    const struct journal_position beginning = { 0 };
    assert_int_equal(journal_scan(&fixture->config, &beginning, NULL, NULL, &recovery), STATUS_CORRUPT);
    assert_int_equal(recovery.damage.offset, fixture->offsets[2]);
    assert_non_null(strstr(recovery.damage.what, "hash"));
}

static void the_chain_holds_from_a_later_segment_on(void **state)
{
    struct fixture *fixture = *state;
    struct journal_recovery recovery;
    struct kit_log log;
    char second[JOURNAL_NAME_MAX];
    uint8_t byte;
    struct journal *journal = kit_open(&fixture->config, &log, &recovery);
    while (journal_segments_begun(journal) == 1)
        kit_batch(journal, 1000, KIT_TIME + 10);
    segment_name(journal_segment_start(journal), second);
    kit_batch(journal, 1000, KIT_TIME + 10);
    journal_close(journal);
    fixture->config.disk->ops->remove(fixture->disk, KIT_FIRST); /* a snapshot has what it had */
    assert_int_equal(journal_scan(&fixture->config, NULL, NULL, NULL, &recovery), STATUS_OK);
    memory_disk_peek(
        fixture->disk, second, JOURNAL_PAGE + BATCH_HEADER_BYTES + RECORD_HEADER_BYTES, &byte, 1);
    byte ^= 1;
    memory_disk_poke(
        fixture->disk, second, JOURNAL_PAGE + BATCH_HEADER_BYTES + RECORD_HEADER_BYTES, &byte, 1);
    kit_reseal(fixture->disk, second, JOURNAL_PAGE);
    assert_int_equal(journal_scan(&fixture->config, NULL, NULL, NULL, &recovery), STATUS_CORRUPT);
    assert_int_equal(recovery.damage.offset, 2 * JOURNAL_PAGE);
    assert_non_null(strstr(recovery.damage.what, "hash"));
}

static void remains_reach_as_far_as_one_batch_and_not_farther(void **state)
{
    const struct fixture *fixture = *state;
    struct journal_recovery recovery;
    struct kit_log log;
    uint64_t reach = fixture->config.batch_bytes;
    flip(fixture->disk, fixture->tail + reach - 1, 1);
    assert_int_equal(kit_scan(&fixture->config, &log, &recovery), STATUS_OK);
    assert_int_equal(recovery.torn_bytes, reach);
    flip(fixture->disk, fixture->tail + reach - 1, 1);
    flip(fixture->disk, fixture->tail + reach, 1);
    expect(fixture, STATUS_CORRUPT, fixture->tail, "farther");
    flip(fixture->disk, fixture->tail + reach, 1);
    flip(fixture->disk, fixture->config.segment_bytes - 1, 0x80);
    expect(fixture, STATUS_CORRUPT, fixture->tail, "farther");
}

static void a_good_batch_behind_a_gap_is_damage(void **state)
{
    const struct fixture *fixture = *state;
    uint8_t page[JOURNAL_PAGE];
    memory_disk_peek(fixture->disk, KIT_FIRST, fixture->offsets[3], page, sizeof page);
    memory_disk_poke(fixture->disk, KIT_FIRST, fixture->tail + JOURNAL_PAGE, page, sizeof page);
    expect(fixture, STATUS_CORRUPT, fixture->tail, "good one follows");
}

static void a_segment_with_a_bad_header_page_is_refused(void **state)
{
    const struct fixture *fixture = *state;
    struct journal_recovery recovery;
    struct kit_log log;
    for (uint64_t at = 0; at < JOURNAL_PAGE; at += KIT_STEP) {
        flip(fixture->disk, at, 2);
        assert_int_equal(kit_reopen(&fixture->config, &log, &recovery), STATUS_CORRUPT);
        assert_string_equal(recovery.damage.segment, KIT_FIRST);
        flip(fixture->disk, at, 2);
    }
    flip(fixture->disk, SEGMENT_AT_VERSION, 2);
    kit_reseal_header(fixture->disk, KIT_FIRST);
    expect(fixture, STATUS_CONFLICT, SEGMENT_AT_VERSION, "version 3");
    flip(fixture->disk, SEGMENT_AT_VERSION, 2);
    flip(fixture->disk, SEGMENT_AT_BATCH_BYTES + 2, 0xff);
    kit_reseal_header(fixture->disk, KIT_FIRST);
    expect(fixture, STATUS_CORRUPT, SEGMENT_AT_SEGMENT_BYTES, "sizes");
}

static void a_journal_of_another_database_is_a_conflict_that_names_both(void **state)
{
    struct fixture *fixture = *state;
    fixture->config.data_id = 0xabcdef;
    expect(fixture, STATUS_CONFLICT, SEGMENT_AT_DATA_ID, "1122334455667788");
    expect(fixture, STATUS_CONFLICT, SEGMENT_AT_DATA_ID, "0000000000abcdef");
}

static void a_file_that_was_cut_or_grew_is_refused(void **state)
{
    const struct fixture *fixture = *state;
    disk_file file;
    static const uint64_t sizes[] = { 0, 1, JOURNAL_PAGE - 1, JOURNAL_PAGE, 5 * JOURNAL_PAGE,
        17 * JOURNAL_PAGE };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct disk *disk = memory_disk_copy(fixture->disk, 1);
        struct journal_config config = fixture->config;
        struct journal_recovery recovery;
        struct kit_log log;
        config.disk = disk;
        assert_int_equal(disk->ops->open(disk, KIT_FIRST, DISK_WRITE, &file), STATUS_OK);
        assert_int_equal(disk->ops->truncate(disk, file, sizes[i]), STATUS_OK);
        disk->ops->close(disk, file);
        assert_int_equal(kit_reopen(&config, &log, &recovery), STATUS_CORRUPT);
        memory_disk_close(disk);
    }
}

#define FIXED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXED(a_flipped_bit_in_a_middle_batch_is_damage_at_its_place),
        FIXED(a_flipped_bit_in_the_last_batch_looks_torn_unless_it_is_in_the_padding),
        FIXED(a_bad_end_of_a_segment_that_has_a_successor_is_damage),
        FIXED(what_passes_the_checksum_and_does_not_fit_is_damage_at_once),
        FIXED(a_batch_that_was_changed_and_resealed_breaks_the_chain),
        FIXED(the_chain_holds_from_a_later_segment_on),
        FIXED(remains_reach_as_far_as_one_batch_and_not_farther),
        FIXED(a_good_batch_behind_a_gap_is_damage),
        FIXED(a_segment_with_a_bad_header_page_is_refused),
        FIXED(a_journal_of_another_database_is_a_conflict_that_names_both),
        FIXED(a_file_that_was_cut_or_grew_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
