/* SPDX-License-Identifier: Apache-2.0 */
/* edge/http_chunked.h: bodies with Transfer-Encoding: chunked (RFC 9112 §7.1), strictly: no
 * space around sizes, bounded extensions and trailers, which are checked and ignored. Thread:
 * any. */
#ifndef STAMPEDE_EDGE_HTTP_CHUNKED_H
#define STAMPEDE_EDGE_HTTP_CHUNKED_H

#include "edge/http_parse.h"

/* Walks over the encoded body at the start of `input` without changing it. COMPLETE: *bytes is
 * its encoded size with trailers. PARTIAL: the least size of `input` that can change the answer. */
MUST_CHECK enum http_parse_result http_chunked_measure(
    struct span input, size_t body_max, size_t *bytes, struct http_refusal *refusal);

/* Moves the data of an encoded body that was measured COMPLETE together, in place; answers its
 * size. */
size_t http_chunked_decode(char *encoded, size_t bytes);

#endif
