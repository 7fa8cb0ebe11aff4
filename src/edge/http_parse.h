/* SPDX-License-Identifier: Apache-2.0 */
/* edge/http_parse.h: bytes to a request, strictly. Pure: no allocation, no state, the input is
 * not changed.
 *
 * It reads from left to right and looks only at the bytes up to a limit, so that a request that
 * arrives in pieces gets exactly the answer of the one that arrives whole: PARTIAL until enough
 * is there, then COMPLETE or REFUSED for good. Thread: any. Lifetime: the spans of `request`
 * point into `input`. */
#ifndef STAMPEDE_EDGE_HTTP_PARSE_H
#define STAMPEDE_EDGE_HTTP_PARSE_H

#include "edge/http.h"

enum http_parse_result { HTTP_PARSE_PARTIAL, HTTP_PARSE_COMPLETE, HTTP_PARSE_REFUSED };

struct http_refusal {
    int status;      /* for the answer; the connection closes after it */
    const char *why; /* for a person, a literal */
};

/* COMPLETE: *bytes is the size of the request in `input` (the next one follows); a chunked body
 * is left encoded. PARTIAL: *bytes is the least size of `input` that can change the answer;
 * request->head_bytes > 0 tells that the head is all there and `request` can be read, except for
 * its body. REFUSED: `refusal` says why; nothing else is set. */
MUST_CHECK enum http_parse_result http_parse(struct span input, size_t body_max,
    struct http_request *request, size_t *bytes, struct http_refusal *refusal);

#endif
