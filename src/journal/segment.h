/* SPDX-License-Identifier: Apache-2.0 */
/* journal/segment.h: segment files: their names, their header page, and how one comes into being.
 * Thread: the functions keep no state; a struct segment belongs to whoever opened it. */
#ifndef STAMPEDE_JOURNAL_SEGMENT_H
#define STAMPEDE_JOURNAL_SEGMENT_H

#include "journal/journal.h"

#include <assert.h>

#define SEGMENT_PREFIX "segment-"
#define SEGMENT_SPARE_NAME "next-segment"     /* prepared, not in use yet */
#define SEGMENT_PART_NAME "next-segment.part" /* being prepared */
/* A closed segment while it is packed. It must not begin with SEGMENT_PREFIX: such a file would be part
 * of the log, and its syncs would wait for a follower. */
#define SEGMENT_PACKED_NAME "packed-segment.part"

enum {
    SEGMENTS_MAX = 1 << 18, /* files in one journal: 4 years of 30 wins a second, if nothing is archived */
    SEGMENT_PACKED_ALIGN = 8,
};
static_assert((int)SEGMENTS_MAX < (int)DISK_FILES_MAX, "a follower and a backup take them all");

struct segment {
    disk_file file;
    bool is_open;
    uint64_t first_lsn; /* 0: a spare */
    uint64_t bytes;
    uint32_t batch_bytes; /* no batch in this segment is larger, padding included */
    uint32_t align; /* batches begin at multiples of it: JOURNAL_PAGE; SEGMENT_PACKED_ALIGN: it is packed */
};

static inline bool segment_is_packed(const struct segment *segment)
{
    return segment->align == SEGMENT_PACKED_ALIGN;
}

void segment_name(uint64_t first_lsn, char name[JOURNAL_NAME_MAX]);
bool segment_name_parse(const char *name, uint64_t *first_lsn);
/* First LSNs of all segments in the folder, ascending. STATUS_FULL: more than `capacity`. */
MUST_CHECK enum status segment_list(
    struct disk *disk, uint64_t *first_lsns, uint32_t capacity, uint32_t *count);

/* Opens and checks the header page. STATUS_NOT_FOUND: no such file; STATUS_CORRUPT,
 * STATUS_CONFLICT: see damage. */
MUST_CHECK enum status segment_open(struct disk *disk, uint64_t data_id, uint64_t first_lsn,
    enum disk_mode mode, struct segment *segment, struct journal_damage *damage);
/* The same for SEGMENT_PACKED_NAME, to read: what will be the segment that starts at first_lsn. */
MUST_CHECK enum status segment_open_part(struct disk *disk, uint64_t data_id, uint64_t first_lsn,
    struct segment *segment, struct journal_damage *damage);
void segment_close(struct disk *disk, struct segment *segment); /* accepts one that is not open */

/* Writes a new spare (zeros, header page), synced under its name. Leaves nothing behind when it
 * fails. */
MUST_CHECK enum status segment_make_spare(const struct journal_config *config, struct segment *spare);
/* The spare that an earlier run left. STATUS_NOT_FOUND: none, or of another size (then it is
 * removed). Reads all of it through `buffer`: bytes in a spare are damage. */
MUST_CHECK enum status segment_find_spare(const struct journal_config *config, uint8_t *buffer,
    size_t buffer_bytes, struct segment *spare, struct journal_damage *damage);
/* The spare becomes the segment that starts at first_lsn; durable when this returns. */
MUST_CHECK enum status segment_place(struct disk *disk, struct segment *spare, uint64_t first_lsn);

/* Zeros from `from` up to `to`, synced. */
MUST_CHECK enum status segment_write_zeros(struct disk *disk, disk_file file, uint64_t from, uint64_t to);

void segment_header_put(uint8_t page[JOURNAL_PAGE], const struct journal_config *config);
/* `bytes`: of the whole file. `batch_bytes`: as in the segment before it was packed. */
void segment_packed_header_put(
    uint8_t page[JOURNAL_PAGE], uint64_t data_id, uint64_t bytes, uint32_t batch_bytes);

MUST_CHECK enum status segment_remove_file(struct disk *disk, const char *name); /* STATUS_OK: none, too */

/* Fills `damage`; first_lsn 0 names the spare. Answers `status`. */
enum status damage_set(struct journal_damage *damage, enum status status, uint64_t first_lsn,
    uint64_t offset, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
