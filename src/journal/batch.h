/* SPDX-License-Identifier: Apache-2.0 */
/* journal/batch.h: one batch in memory (docs/journal.md): its header, and what must be right before anybody
 * believes it. Batches stand in the files of one machine's journal, and in rows of the database where there
 * are several machines.
 * Thread: any. Memory: the caller's. */
#ifndef STAMPEDE_JOURNAL_BATCH_H
#define STAMPEDE_JOURNAL_BATCH_H

#include "base/hash.h"
#include "journal/journal.h"

enum { BATCH_RECORDS_AT = 72 }; /* where the first record of a batch is */

struct batch {
    const uint8_t *data; /* valid as long as the bytes that it was read from */
    uint64_t offset;     /* in its segment */
    uint32_t bytes;      /* header and records */
    uint32_t records;
    uint64_t first_lsn, last_lsn, time_ms;
};

/* Makes a batch in `data`: begin, append while there is room, end. */
struct batch_maker {
    uint8_t *data;
    uint32_t size, bytes, records;
};
void batch_begin(struct batch_maker *, uint8_t *data, uint32_t size);
/* False: it has no room, and nothing is changed. `type` is not 0; at most JOURNAL_RECORD_MAX bytes. */
MUST_CHECK bool batch_append(struct batch_maker *, uint8_t type, const void *payload, uint32_t bytes);
/* At least one record. Goes on after *end, which moves behind it. Answers the bytes of the batch. */
uint32_t batch_end(
    struct batch_maker *, uint64_t data_id, uint64_t time_ms, struct journal_position *end);

/* Header fields; the hash, the checksum and the digest come with batch_finish. */
void batch_head_put(uint8_t *data, uint32_t bytes, uint32_t records, uint64_t first_lsn,
    uint64_t time_ms, uint64_t data_id);
void batch_finish(uint8_t *data, uint32_t bytes, const uint8_t previous[HASH_SHA256_BYTES],
    uint8_t digest[HASH_SHA256_BYTES]);

/* What is wrong with the first JOURNAL_PAGE bytes or fewer of a batch that has at most `most` bytes; NULL:
 * magic and length are right, and *bytes is the length. */
const char *batch_head_wrong(const uint8_t *data, uint64_t most, uint32_t *bytes);
bool batch_is_whole(const uint8_t *data, uint32_t bytes); /* its checksum is right */

/* Whether a whole batch goes on after *end, which then moves behind it. `hash_known`: end->hash is what it
 * must carry. STATUS_CONFLICT: it has another data id. STATUS_CORRUPT: it was written on purpose and does not
 * fit. `what` says how. */
MUST_CHECK enum status batch_follow(const uint8_t *data, uint32_t bytes, uint64_t data_id,
    bool hash_known, struct journal_position *end, struct batch *batch, char *what, size_t what_bytes);
/* The record at *cursor (BATCH_RECORDS_AT: the first), which moves behind it. Its lsn is the caller's to
 * fill in. */
void batch_take(const struct batch *batch, uint32_t *cursor, struct journal_record *record);

#endif
