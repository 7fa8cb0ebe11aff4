/* SPDX-License-Identifier: Apache-2.0 */
/* edge/caller_counts.h: how many connections each address has, over all edges, and not more than so
 * many. A bounded table of words (tag of a keyed hash, count), in lines of eight; an address without
 * connections needs no place. There are CALLER_SPARE places for each address that can be connected, so
 * hardly anybody finds none; who does is let in uncounted. Two edges that meet a new address while a
 * place falls free may give it two; it can then reach twice its cap, until one of the two is empty.
 * Thread: any; atomics only. Memory: at create. */
#ifndef STAMPEDE_EDGE_CALLER_COUNTS_H
#define STAMPEDE_EDGE_CALLER_COUNTS_H

#include "base/address.h"

enum { CALLER_SPARE = 4, CALLER_CAP_MAX = 1000000 };
enum caller_answer { CALLER_TOO_MANY, CALLER_COUNTED, CALLER_UNCOUNTED };

struct caller_counts;
/* `callers` at a time; `cap` for each, 1 … CALLER_CAP_MAX. */
MUST_CHECK enum status caller_counts_create(struct caller_counts **counts, uint32_t callers,
    uint32_t cap, uint32_t v6_bits, struct hash_key key);
void caller_counts_free(struct caller_counts *counts); /* accepts NULL */

/* One more. CALLER_TOO_MANY: not counted. */
MUST_CHECK enum caller_answer caller_enter(struct caller_counts *counts, const struct address *caller);
/* One less, with what caller_enter answered. */
void caller_leave(struct caller_counts *counts, const struct address *caller, enum caller_answer entered);

#endif
