/* SPDX-License-Identifier: Apache-2.0 */
/* journal/copy.h: a copy of a log, up to a point. Every batch is checked on its way as recovery would, so a
 * copy is a whole log; what a crash or a running writer has left after the last good batch is not copied.
 * Thread: one, beside a writer too. Errors: those of journal_scan; `damage` says where. */
#ifndef STAMPEDE_JOURNAL_COPY_H
#define STAMPEDE_JOURNAL_COPY_H

#include "journal/journal.h"

struct journal_copy {
    struct disk *from, *to; /* `to` has no segment yet */
    uint64_t data_id;
    uint64_t until_lsn, until_ms; /* no batch that ends after it, or is of a later time; UINT64_MAX: all */
    bool dense; /* all bytes of the last segment are written, for a journal that is to go on */
    void (*pace)(void *context, uint64_t bytes); /* after each synced part; may be NULL */
    void *context;
    /* What came of it. */
    struct journal_position end;
    uint64_t before_first; /* the LSN before the first that is there; 0: all are */
    uint64_t segments;
    struct journal_damage damage;
};
MUST_CHECK enum status journal_copy(struct journal_copy *copy);

#endif
