/* SPDX-License-Identifier: Apache-2.0 */
/* journal/scan.h: reading batches. The one scanner: recovery, journal_scan and the reader all
 * walk with it, so that what one of them believes, all believe.
 * Thread: a scan belongs to one thread. Memory: from the arena given to scan_start; nothing to
 * free but the file. */
#ifndef STAMPEDE_JOURNAL_SCAN_H
#define STAMPEDE_JOURNAL_SCAN_H

#include "base/arena.h"
#include "journal/batch.h"
#include "journal/segment.h"

enum {
    SCAN_READ_BYTES = 1024 * 1024, /* one read when walking a whole journal */
    SCAN_FOLLOW_BYTES = 64 * 1024, /* one read when following the writer */
    SCAN_ARENA_BYTES = JOURNAL_BATCH_LIMIT + JOURNAL_PAGE, /* costs nothing until touched */
};

struct scan {
    struct disk *disk;
    uint64_t data_id;
    struct segment segment;
    uint64_t offset;             /* where the next batch would start */
    struct journal_position end; /* after the last good batch */
    bool hash_known;             /* end.hash is what the next batch must carry */
    struct journal_damage damage;
    /* A window on the segment, so that small batches don't cost a read each. */
    uint8_t *buffer;
    size_t read_bytes;
    uint64_t window_offset;
    size_t window_bytes;
};

enum scan_found {
    SCAN_BATCH,   /* a good batch that continues the log; the scan stands after it */
    SCAN_NOTHING, /* a zero page (not in a packed segment), or the segment is used up */
    SCAN_BROKEN, /* bytes that are no good batch: torn or damaged (damage says what), scan_tail tells which */
    SCAN_FAULT, /* scan_next's *fault tells: STATUS_IO, STATUS_CORRUPT or STATUS_CONFLICT (see damage) */
};

void scan_start(
    struct scan *scan, const struct journal_config *config, struct arena *arena, size_t read_bytes);
void scan_stop(struct scan *scan); /* accepts a zeroed one */
/* Stands at the first batch of the segment. Says nothing about the log so far: the caller sets
 * end and hash_known. */
MUST_CHECK enum status scan_enter(struct scan *scan, uint64_t first_lsn);
/* The same with the file that a closed segment is packed into (journal/pack.h). */
MUST_CHECK enum status scan_enter_part(struct scan *scan, uint64_t first_lsn);
MUST_CHECK enum scan_found scan_next(struct scan *scan, struct batch *batch, enum status *fault);
/* Judges what stands where the next batch would start. STATUS_OK: zeros (*torn_bytes 0), or what
 * one torn batch can leave (up to its last non-zero byte). STATUS_CORRUPT: a good batch after a
 * bad place, or more than one batch, or a bad place in a packed segment. */
MUST_CHECK enum status scan_tail(struct scan *scan, uint64_t *torn_bytes);
void scan_forget(struct scan *scan); /* the file may have changed: read again */
/* `bytes` of the segment from `offset` on, NULL on a fault. */
MUST_CHECK const uint8_t *scan_bytes(struct scan *scan, uint64_t offset, size_t bytes, enum status *fault);

#endif
