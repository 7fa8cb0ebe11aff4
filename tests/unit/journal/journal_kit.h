/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/journal_kit.h: journals for tests. A record's content follows from its LSN,
 * so that whoever reads it can tell whether it is the right one. */
#ifndef STAMPEDE_TESTS_JOURNAL_KIT_H
#define STAMPEDE_TESTS_JOURNAL_KIT_H

#include "journal/format.h"
#include "journal/journal.h"
#include "journal/segment.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/journal/memory_disk.h"

enum { KIT_TIME = 1700000000 };
/* Tests that go through every byte take one of so many where that would take minutes. */
#ifdef __SANITIZE_THREAD__
enum { KIT_STEP = 17 };
#else
enum { KIT_STEP = 1 };
#endif
#define KIT_DATA_ID UINT64_C(0x1122334455667788)
#define KIT_FIRST SEGMENT_PREFIX "0000000000000001"

struct journal_config kit_config(struct disk *disk, uint32_t segment_pages, uint32_t batch_pages);

uint32_t kit_payload(uint64_t lsn, uint8_t payload[JOURNAL_RECORD_MAX]); /* its size */
/* Appends records until the batch has about `bytes` (at least one record), seals; the writer's
 * part is not done. */
void kit_fill(struct journal *journal, uint32_t bytes, uint64_t time_ms);
/* The same, written and durable. Prepares the next segment when one is wanted. */
void kit_batch(struct journal *journal, uint32_t bytes, uint64_t time_ms);

struct kit_log { /* context of kit_each: checks every record */
    uint64_t first, last, count, time_ms;
};
enum status kit_each(void *context, const struct journal_record *record, uint64_t batch_time_ms);

/* Opens from the beginning, expects success. */
struct journal *kit_open(
    const struct journal_config *config, struct kit_log *log, struct journal_recovery *recovery);
/* Scans from the beginning; the status. */
enum status kit_scan(
    const struct journal_config *config, struct kit_log *log, struct journal_recovery *recovery);
/* Opens from the beginning and closes; the status. */
enum status kit_reopen(
    const struct journal_config *config, struct kit_log *log, struct journal_recovery *recovery);

/* Makes the checksum of the batch at `offset` right again after its content was changed. */
void kit_reseal(struct disk *disk, const char *segment, uint64_t offset);
/* Makes the checksum of a segment's header page right again. */
void kit_reseal_header(struct disk *disk, const char *segment);

#endif
