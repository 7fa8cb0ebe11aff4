/* SPDX-License-Identifier: Apache-2.0 */
/* edge/body_limit.h: how long a body may be, as the handler's route says (edge.h, body_max). */
#ifndef STAMPEDE_EDGE_BODY_LIMIT_H
#define STAMPEDE_EDGE_BODY_LIMIT_H

#include "edge/edge_state.h"

/* Whether the route accepts a body of this size, announced or received. */
static inline bool body_limit_fits(
    const struct edge *edge, const struct http_request *request, size_t bytes)
{
    return __builtin_expect(bytes <= EDGE_BODY_ANY || edge->handler.body_max == NULL, 1)
        || bytes <= edge->handler.body_max(edge->handler.self, request);
}

/* The same for a request that is not all there: a chunked body may have its frame besides. */
static inline bool body_limit_rest_fits(
    const struct edge *edge, const struct http_request *request, size_t bytes)
{
    const size_t frame = request->head_bytes + (request->chunked ? HTTP_CHUNK_OVERHEAD_MAX : 0);
    return request->head_bytes == 0 || bytes <= frame || body_limit_fits(edge, request, bytes - frame);
}

#endif
