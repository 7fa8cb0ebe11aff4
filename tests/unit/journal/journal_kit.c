/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/journal_kit.c: see journal_kit.h. */
#include "tests/unit/journal/journal_kit.h"

#include "tests/support/journal_put.h"

struct journal_config kit_config(struct disk *disk, uint32_t segment_pages, uint32_t batch_pages)
{
    return (struct journal_config){ .disk = disk,
        .data_id = KIT_DATA_ID,
        .segment_bytes = (uint64_t)segment_pages * JOURNAL_PAGE,
        .batch_bytes = batch_pages * JOURNAL_PAGE };
}

uint32_t kit_payload(uint64_t lsn, uint8_t payload[JOURNAL_RECORD_MAX])
{
    uint32_t bytes = (uint32_t)(lsn * 7919 % (JOURNAL_RECORD_MAX + 1));
    for (uint32_t i = 0; i < bytes; i++)
        payload[i] = (uint8_t)(lsn * 31 + i * 7 + 1);
    return bytes;
}

static uint8_t kit_type(uint64_t lsn)
{
    return (uint8_t)(1 + lsn % 255);
}

void kit_fill(struct journal *journal, uint32_t bytes, uint64_t time_ms)
{
    uint32_t size = BATCH_HEADER_BYTES;
    uint8_t payload[JOURNAL_RECORD_MAX];
    do {
        uint64_t lsn = journal_appended(journal) + 1;
        uint32_t payload_bytes = kit_payload(lsn, payload);
        assert_true(journal_room(journal) > 0);
        assert_int_equal(journal_put(journal, kit_type(lsn), payload, payload_bytes), lsn);
        size += RECORD_HEADER_BYTES + payload_bytes;
    } while (size + RECORD_HEADER_BYTES + JOURNAL_RECORD_MAX < bytes);
    assert_true(journal_seal(journal, time_ms));
}

void kit_batch(struct journal *journal, uint32_t bytes, uint64_t time_ms)
{
    if (journal_wants_segment(journal))
        assert_int_equal(journal_prepare(journal), STATUS_OK);
    kit_fill(journal, bytes, time_ms);
    assert_int_equal(journal_write(journal), STATUS_OK);
    assert_int_equal(journal_durable(journal), journal_appended(journal));
}

enum status kit_each(void *context, const struct journal_record *record, uint64_t batch_time_ms)
{
    struct kit_log *log = context;
    uint8_t payload[JOURNAL_RECORD_MAX];
    uint32_t bytes = kit_payload(record->lsn, payload);
    if (log->count++ == 0)
        log->first = record->lsn;
    else
        assert_int_equal(record->lsn, log->last + 1);
    assert_true(batch_time_ms >= log->time_ms);
    log->last = record->lsn;
    log->time_ms = batch_time_ms;
    assert_int_equal(record->type, kit_type(record->lsn));
    assert_int_equal(record->payload.size, bytes);
    assert_memory_equal(record->payload.data, payload, bytes);
    return STATUS_OK;
}

struct journal *kit_open(
    const struct journal_config *config, struct kit_log *log, struct journal_recovery *recovery)
{
    const struct journal_position beginning = { 0 };
    struct journal *journal;
    *log = (struct kit_log){ 0 };
    enum status status = journal_open(&journal, config, &beginning, kit_each, log, recovery);
    if (status != STATUS_OK)
        print_error("%s at %s+%llu: %s\n", status_name(status), recovery->damage.segment,
            (unsigned long long)recovery->damage.offset, recovery->damage.what);
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(recovery->end.lsn, log->last);
    assert_int_equal(journal_durable(journal), log->last);
    assert_int_equal(recovery->records, log->count);
    return journal;
}

enum status kit_scan(
    const struct journal_config *config, struct kit_log *log, struct journal_recovery *recovery)
{
    const struct journal_position beginning = { 0 };
    *log = (struct kit_log){ 0 };
    return journal_scan(config, &beginning, kit_each, log, recovery);
}

enum status kit_reopen(
    const struct journal_config *config, struct kit_log *log, struct journal_recovery *recovery)
{
    const struct journal_position beginning = { 0 };
    struct journal *journal;
    *log = (struct kit_log){ 0 };
    enum status status = journal_open(&journal, config, &beginning, kit_each, log, recovery);
    journal_close(journal);
    assert_int_equal(memory_disk_open_files(config->disk), 0);
    return status;
}

void kit_reseal(struct disk *disk, const char *segment, uint64_t offset)
{
    static uint8_t batch[64 * JOURNAL_PAGE];
    uint8_t crc[4];
    memory_disk_peek(disk, segment, offset, batch, BATCH_HEADER_BYTES);
    uint32_t bytes = bytes_get_u32(batch + BATCH_AT_BYTES);
    assert_true(bytes <= sizeof batch);
    memory_disk_peek(disk, segment, offset, batch, bytes);
    bytes_put_u32(crc, format_batch_crc(batch, bytes));
    memory_disk_poke(disk, segment, offset + BATCH_AT_CRC, crc, sizeof crc);
}

void kit_reseal_header(struct disk *disk, const char *segment)
{
    uint8_t page[JOURNAL_PAGE];
    memory_disk_peek(disk, segment, 0, page, sizeof page);
    bytes_put_u32(page + SEGMENT_AT_CRC, format_segment_crc(page));
    memory_disk_poke(disk, segment, 0, page, sizeof page);
}
