/* SPDX-License-Identifier: Apache-2.0 */
/* contract/journal_entry.h: what one transaction of the order store keeps of a partition's log, where there
 * are several machines (contract/cluster_store.h). */
#ifndef STAMPEDE_CONTRACT_JOURNAL_ENTRY_H
#define STAMPEDE_CONTRACT_JOURNAL_ENTRY_H

#include "base/span.h"

enum { JOURNAL_ENTRY_BYTES_MAX = 1 << 20 }; /* a batch of ORDER_BATCH_MAX records has about half */

struct journal_entry {
    uint32_t part, epoch;
    uint64_t first_seq; /* of its first record; the others follow one by one */
    struct span bytes;  /* a batch as in the files of a journal (docs/journal.md) */
};

#endif
