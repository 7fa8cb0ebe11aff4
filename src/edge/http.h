/* SPDX-License-Identifier: Apache-2.0 */
/* edge/http.h: a strict HTTP/1.1 request parser (RFC 9112), without allocation and without state
 * of its own. Refuses what proxies and servers are known to read differently: both
 * Content-Length and Transfer-Encoding, repeated Content-Length, a final coding other than
 * chunked, bare LF or CR, obs-fold, space before the colon, missing or double Host, control
 * characters, over-long anything. Every refusal is a status code for the answer, then the
 * connection closes. */
#ifndef STAMPEDE_EDGE_HTTP_H
#define STAMPEDE_EDGE_HTTP_H

#include "base/address.h"

enum {
    HTTP_HEAD_MAX = 8192,           /* request line + headers: 431 beyond */
    HTTP_TARGET_MAX = 2048,         /* 414 beyond */
    HTTP_HEADERS_MAX = 64,          /* 431 beyond */
    HTTP_BODY_MAX = 65536,          /* 413 beyond */
    HTTP_METHOD_MAX = 32,           /* 400 beyond */
    HTTP_CHUNK_LINE_MAX = 256,      /* a chunk's size and extensions: 400 beyond */
    HTTP_CHUNK_OVERHEAD_MAX = 8192, /* bytes of a chunked body that are not its data: 413 beyond */
    HTTP_TRAILERS_MAX = 1024,       /* 431 beyond */
};
/* No request is longer than this with a body of `body_max`. */
#define HTTP_REQUEST_MAX(body_max) \
    (HTTP_HEAD_MAX + (body_max) + HTTP_CHUNK_OVERHEAD_MAX + HTTP_CHUNK_LINE_MAX + HTTP_TRAILERS_MAX)

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PATCH,
    HTTP_PUT,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_OTHER
};

/* Spans point into the connection's input and live until the handler returns. Absent headers are
 * SPAN_NONE. */
struct http_request {
    enum http_method method;
    struct span path;  /* "/v1/items/1/buy", as sent; percent-encoding is left alone */
    struct span query; /* without '?', or SPAN_NONE */
    struct span body;
    struct span host, authorization, content_type, idempotency_key, pass /* Stampede-Pass */, origin;
    struct span if_none_match, accept_encoding, accept_language, access_control_request_method,
        traceparent;
    bool keep_alive;
    bool expect_continue;
    bool chunked;        /* `body` is still encoded: http_chunked_decode it in place before use */
    uint32_t head_bytes; /* request line and headers with the empty line; 0 while they are not all there */
    /* Not the parser's: who sent it, past trusted proxies. Never NULL in a handler. */
    const struct address *client;
};

/* All header lines of a whole request, "Name: value\r\n" each, as they came: for what is too rare to
 * have a place above. */
struct span http_header_lines(const struct http_request *request);

#endif
