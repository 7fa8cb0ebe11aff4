/* SPDX-License-Identifier: Apache-2.0 */
/* journal/format.h: where the fields of a batch and of a segment's header page lie. The words
 * around these numbers are at the top of journal.c (batches), segment.c (files) and in
 * docs/journal.md. Private to the journal, its tests and its fuzz target. */
#ifndef STAMPEDE_JOURNAL_FORMAT_H
#define STAMPEDE_JOURNAL_FORMAT_H

#include "base/bytes.h"
#include "base/hash.h"
#include "journal/journal.h"

enum {
    BATCH_MAGIC = 0x54414253, /* "SBAT" */
    BATCH_AT_MAGIC = 0,
    BATCH_AT_CRC = 4, /* over everything from BATCH_AT_BYTES to the end of the last record */
    BATCH_AT_BYTES = 8,
    BATCH_AT_RECORDS = 12,
    BATCH_AT_FIRST_LSN = 16,
    BATCH_AT_TIME = 24,
    BATCH_AT_DATA_ID = 32,
    BATCH_AT_PREVIOUS = 40,
    BATCH_HEADER_BYTES = BATCH_AT_PREVIOUS + HASH_SHA256_BYTES,

    RECORD_AT_BYTES = 0,
    RECORD_AT_TYPE = 2, /* one byte, never 0; the byte after it is 0 */
    RECORD_HEADER_BYTES = 4,

    /* Magic, CRC and version keep their place in every version of the format. */
    SEGMENT_AT_MAGIC = 0,
    SEGMENT_AT_CRC = 8, /* over everything from SEGMENT_AT_VERSION to SEGMENT_HEADER_BYTES */
    SEGMENT_AT_VERSION = 12,
    SEGMENT_AT_DATA_ID = 16,
    SEGMENT_AT_SEGMENT_BYTES = 24,
    SEGMENT_AT_BATCH_BYTES = 32,
    SEGMENT_AT_ALIGN = 36,
    SEGMENT_HEADER_BYTES = 40, /* the rest of the header page is zero */
};
#define SEGMENT_MAGIC UINT64_C(0x3147455345504d53) /* "SMPESEG1" */

static inline uint64_t format_aligned(uint64_t bytes, uint32_t align) /* rounded up; a power of two */
{
    return (bytes + align - 1) & ~(uint64_t)(align - 1);
}

static inline uint64_t format_pages(uint64_t bytes) /* rounded up to whole pages */
{
    return format_aligned(bytes, JOURNAL_PAGE);
}

static inline uint32_t format_batch_crc(const uint8_t *batch, uint32_t bytes)
{
    return hash_crc32c(0, batch + BATCH_AT_BYTES, bytes - BATCH_AT_BYTES);
}

static inline uint32_t format_segment_crc(const uint8_t *page)
{
    return hash_crc32c(0, page + SEGMENT_AT_VERSION, SEGMENT_HEADER_BYTES - SEGMENT_AT_VERSION);
}

static_assert(BATCH_HEADER_BYTES + RECORD_HEADER_BYTES + JOURNAL_RECORD_MAX <= JOURNAL_PAGE,
    "the smallest batch buffer holds a record of any size");
static_assert(JOURNAL_RECORD_MAX <= UINT16_MAX, "a record's length is 16 bits");

#endif
