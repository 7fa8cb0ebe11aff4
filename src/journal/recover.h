/* SPDX-License-Identifier: Apache-2.0 */
/* journal/recover.h: what journal_open does before the first append. */
#ifndef STAMPEDE_JOURNAL_RECOVER_H
#define STAMPEDE_JOURNAL_RECOVER_H

#include "journal/segment.h"

struct recovered {
    struct segment present; /* open for writing */
    uint64_t offset;        /* where its next batch goes */
    struct segment spare;   /* open if an earlier run left one */
    uint32_t segments;      /* in the folder */
};

/* Walks the log, cuts a torn tail, makes what it believed durable, finds or makes the segment to
 * write to. On failure nothing stays open. */
MUST_CHECK enum status recover_journal(const struct journal_config *config,
    const struct journal_position *from, journal_each each, void *context,
    struct journal_recovery *recovery, struct recovered *recovered);

void recover_check_config(const struct journal_config *config); /* a configuration that can't work is a bug */

#endif
