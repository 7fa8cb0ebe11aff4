/* SPDX-License-Identifier: Apache-2.0 */
/* edge/evict.h: which connection is closed when places or buffers run out.
 *
 * Places (connections): a request that began more than a second ago and is not whole gives way first,
 * then the longest idle connection. Buffers: the connection whose unfinished request holds a large
 * enough one. In both cases the address with most candidates loses first, and of its connections the
 * oldest. While the table is nearly full, unfinished heads have less time.
 *
 * Only a sample of the table is looked at (EVICT_PROBES), from where the last search ended.
 * Thread: the edge's. */
#ifndef STAMPEDE_EDGE_EVICT_H
#define STAMPEDE_EDGE_EVICT_H

#include "edge/edge_state.h"

/* Closes one connection. False: none of the sample may be closed. */
bool evict_for_place(struct edge *edge);
/* Frees a block of at least this size, never one of `asker`. False: no unfinished request of the
 * sample holds one. */
bool evict_for_buffer(struct edge *edge, const struct connection *asker, size_t bytes);
/* Closes connections whose heads are later than a nearly full table allows. Call it now and then. */
void evict_late_heads(struct edge *edge);

#endif
