/* SPDX-License-Identifier: Apache-2.0 */
/* journal/pack.h: closed segments lose their padding.
 *
 * A batch that is written alone takes a page of 4096 bytes for about 140. When the next segment is in
 * use, the batches of the closed one are written one after the other into a new file, which takes its
 * name. Records, LSNs and hashes stay as they are; only the place of a batch in its file changes
 * (docs/journal.md).
 *
 * Thread: one packs (upkeep), beside the writer and any number of readers. A reader that has
 * the old file open goes on in it. Memory: an arena during a call.
 * Errors: a segment that can't be packed stays as it is. */
#ifndef STAMPEDE_JOURNAL_PACK_H
#define STAMPEDE_JOURNAL_PACK_H

#include "journal/journal.h"

struct journal_pack {
    bool wanted; /* a closed segment may not have been looked at; the caller sets it after a roll */
    uint64_t after; /* segments up to the one that begins here were looked at */
    /* Of the last call. */
    uint64_t first_lsn; /* of the last segment that was looked at; 0: none was left */
    uint64_t bytes_before, bytes_after; /* bytes_after 0: it stayed as it was */
    struct journal_damage damage;       /* of STATUS_CORRUPT and STATUS_CONFLICT */
};

/* Looks at closed segments that it has not seen, from the oldest to the first that is not packed, and packs
 * that one if it becomes half as large or smaller. `live_lsn`: where the present segment begins
 * (journal_segment_start). STATUS_FULL: no room; the same segment comes again when the caller wants it.
 * STATUS_IO, STATUS_CORRUPT, STATUS_CONFLICT: this one is left as it is; the next call goes on after it. */
MUST_CHECK enum status journal_pack_next(
    struct journal_pack *pack, const struct journal_config *config, uint64_t live_lsn);

/* Removes a segment that nobody needs any more, durably. One that is being packed does not come back.
 * Any thread of the process that packs. */
MUST_CHECK enum status journal_segment_remove(struct disk *disk, uint64_t first_lsn);

#endif
