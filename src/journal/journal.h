/* SPDX-License-Identifier: Apache-2.0 */
/* journal/journal.h: the durable log. Knows nothing of sales: a record is a type and some bytes.
 *
 * Format (docs/journal.md): segment files `segment-<first lsn, 16 hex>` of one size, prepared
 * ahead as `next-segment`: written full of zeros, synced, renamed, folder synced. A segment
 * starts with a header page. Then batches, each starting on a 4096-byte page so that writing one
 * never touches a page that holds another. A batch has a header (magic, bytes, record count,
 * CRC32C, first LSN, time, data id, SHA-256 of the batch before) and records (length, type,
 * payload); a record's LSN is the first LSN plus its index. A segment that is closed may be packed
 * (journal/pack.h): the same batches without the padding. Everybody reads both forms; only the page form is
 * written to.
 *
 * One sync in flight: records are appended to the filling buffer while the sealed one is
 * written. So after a crash at most one batch can be torn: nothing valid can follow it. Recovery
 * cuts it (zero, sync, say so); anything valid after a bad batch is damage: STATUS_CORRUPT and
 * where.
 *
 * Threads: the owner (inventory) appends, seals and acknowledges. Exactly one other thread calls
 * journal_write (or the owner itself, in tests). Any one thread calls journal_prepare. Between
 * them: atomics, no locks.
 * Errors: ENOSPC can only come from journal_prepare: then journal_room becomes 0 when the
 * present segment is used up, and comes back by itself. Any error in journal_write is final:
 * journal_failed() is true from then on, nothing more is written, a sync is never tried again. */
#ifndef STAMPEDE_JOURNAL_JOURNAL_H
#define STAMPEDE_JOURNAL_JOURNAL_H

#include "base/disk.h"
#include "base/hash.h"
#include "base/span.h"

enum {
    JOURNAL_PAGE = 4096,
    JOURNAL_VERSION = 1,
    JOURNAL_VERSION_PACKED = 2,      /* of a closed segment without padding (journal/pack.h) */
    JOURNAL_RECORD_MAX = 256,        /* payload bytes of one record */
    JOURNAL_BATCH_MAX = 1024 * 1024, /* default for batch_bytes: one batch with its header and padding */
    JOURNAL_BATCH_LIMIT = 4 * 1024 * 1024, /* the largest batch_bytes there can be */
    JOURNAL_NAME_MAX = 32,
};

struct journal_config {
    struct disk *disk;
    uint64_t data_id;       /* ties the journal to its database */
    uint64_t segment_bytes; /* a multiple of the page; tests use small ones; default 64 MiB */
    /* A multiple of the page, at most segment_bytes − one page and JOURNAL_BATCH_LIMIT. */
    uint32_t batch_bytes;
};
/* The sizes may change between runs: each segment carries its own, and new ones get the new
 * sizes. */

/* Where the log stands: everything up to and including `lsn` is in, and `hash` is the hash of
 * the last batch. */
struct journal_position {
    uint64_t lsn;
    uint64_t time_ms; /* time of the last batch; time in the log never runs backwards */
    uint8_t hash[HASH_SHA256_BYTES];
};

struct journal_record {
    uint64_t lsn;
    uint8_t type;        /* never 0 */
    struct span payload; /* valid until the next call */
};

struct journal_damage {
    char segment[JOURNAL_NAME_MAX];
    uint64_t offset;
    char what[120];
};

struct journal; /* the writer */

/* Recovery and opening are one: scans from `from` (a snapshot's position, which must be the end
 * of a batch that is still kept, with its hash, or the record before the first one that is kept;
 * lsn 0: from the beginning; NULL: from the oldest that is kept), gives every record after it to
 * `each` (NULL: nobody; it may refuse with a status: recovery stops with it), cuts a torn tail,
 * makes all that it gave durable, and is then
 * ready to append. A folder without segments is a new journal: the first segment is prepared.
 * `damage` is filled on STATUS_CORRUPT; on STATUS_CONFLICT the data id or the version differs
 * and damage->what says so. records, batches and bytes count what was given; torn_bytes: what
 * was cut (0: clean end). */
struct journal_recovery {
    struct journal_position end;
    uint64_t records, batches, bytes, torn_bytes;
    struct journal_damage damage;
};
typedef enum status (*journal_each)(
    void *context, const struct journal_record *record, uint64_t batch_time_ms);
MUST_CHECK enum status journal_open(struct journal **journal, const struct journal_config *config,
    const struct journal_position *from, journal_each each, void *context,
    struct journal_recovery *recovery);
void journal_close(struct journal *journal); /* accepts NULL; does not write what was not sealed */

/* A folder without segments gets one whose first record will be this one: it goes on after a snapshot of
 * the record before. Nothing if it is there. */
MUST_CHECK enum status journal_begin(const struct journal_config *config, uint64_t first_lsn);

/* Read-only pass over a folder (verify): the same scan, changes nothing; a torn tail is
 * reported, not cut. */
MUST_CHECK enum status journal_scan(const struct journal_config *config,
    const struct journal_position *from, journal_each each, void *context,
    struct journal_recovery *recovery);

/* The same, up to and including the batch that ends at `until`: for complete segments after a
 * live writer. STATUS_CORRUPT: no batch ends there. */
MUST_CHECK enum status journal_scan_until(const struct journal_config *config,
    const struct journal_position *from, uint64_t until, journal_each each, void *context,
    struct journal_recovery *recovery);

/* Owner thread. */
/* Records of the largest size that may be appended now. */
uint32_t journal_room(const struct journal *journal);
/* Where the payload of the next record goes, of at most so many bytes. Only if there is room; what is written
 * there must be appended. */
uint8_t *journal_payload(struct journal *journal, uint32_t bytes_max);
/* Its bytes are there: answers the LSN of the record. The type is not 0. */
uint64_t journal_append(struct journal *journal, uint8_t type, uint32_t bytes);
/* True: a batch is ready, someone must journal_write. False: nothing to seal, one is in flight, or
 * the journal has failed. A time before that of the previous batch becomes that one's. */
bool journal_seal(struct journal *journal, uint64_t time_ms);
uint64_t journal_durable(const struct journal *journal);  /* any thread: last durable LSN */
uint64_t journal_appended(const struct journal *journal); /* last LSN handed out */
bool journal_writing(const struct journal *journal);      /* sealed and not yet durable */
void journal_end(const struct journal *journal, struct journal_position *end); /* when nothing is in flight */

/* Writer thread: writes and syncs the sealed batch. */
MUST_CHECK enum status journal_write(struct journal *journal);
bool journal_failed(const struct journal *journal); /* any thread */

/* Any one thread: makes the next segment if there is none. STATUS_FULL: disk full, call again
 * later. */
MUST_CHECK enum status journal_prepare(struct journal *journal);
bool journal_wants_segment(const struct journal *journal); /* any thread */
/* Any thread: counts segments that were begun; grows by one at each roll (time for a snapshot). */
uint64_t journal_segments_begun(const struct journal *journal);
/* The LSN at which the present segment starts: segments before it are complete. Any thread. */
uint64_t journal_segment_start(const struct journal *journal);

/* Reading after the writer, from another thread, up to the durable end (given by the caller). */
struct journal_reader;
MUST_CHECK enum status journal_reader_open(
    struct journal_reader **reader, const struct journal_config *config);
void journal_reader_close(struct journal_reader *reader);
/* STATUS_NOT_FOUND: records right after `after` are not kept any more. */
MUST_CHECK enum status journal_reader_seek(struct journal_reader *reader, uint64_t after);
/* STATUS_OK with a record; STATUS_NOT_FOUND: nothing up to `limit`; STATUS_CORRUPT: damage (again
 * at every call); STATUS_IO: may be tried again. */
MUST_CHECK enum status journal_reader_next(struct journal_reader *reader, uint64_t limit,
    struct journal_record *record, uint64_t *batch_time_ms);
/* After STATUS_CORRUPT or STATUS_CONFLICT from seek or next: where and what. Valid until the
 * next call. */
const struct journal_damage *journal_reader_damage(const struct journal_reader *reader);
/* LSN before the first one that is kept (0: all are kept). */
MUST_CHECK enum status journal_oldest(struct disk *disk, uint64_t *before_first);

#endif
