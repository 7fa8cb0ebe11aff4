/* SPDX-License-Identifier: Apache-2.0 */
/* edge/http_reply.h: response heads and whole responses, written to a text. Thread: any. Errors:
 * out->overflow. */
#ifndef STAMPEDE_EDGE_HTTP_REPLY_H
#define STAMPEDE_EDGE_HTTP_REPLY_H

#include "base/text.h"

const char *http_reason(int status); /* "Not Found"; "Unknown" for codes that nobody here sends */

/* Status line, Date, Content-Type (unless empty), Content-Length (not for 1xx, 204 and 304),
 * Connection: close when closing, Cache-Control: no-store for a problem, X-Content-Type-Options: nosniff,
 * `extra_headers` as they are (whole lines with CRLF, or
 * SPAN_NONE), and the empty line. */
void http_reply_head(struct text *out, int status, struct span content_type,
    struct span extra_headers, size_t body_bytes, bool closing);

/* The head and the body. */
void http_reply(struct text *out, int status, struct span content_type, struct span extra_headers,
    struct span body, bool closing);

/* Cuts the body off the response that begins at out->data + from: what HEAD gets. */
void http_reply_cut_body(struct text *out, size_t from);

#endif
