/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and checks whole requests, and the same requests cut at every byte. */
#ifndef STAMPEDE_TESTS_PARSE_CHECK_H
#define STAMPEDE_TESTS_PARSE_CHECK_H

#include "edge/http_parse.h"

enum { PARSE_BODY_MAX = 1000 };
#define HEAD_WITH(lines) "POST /a HTTP/1.1\r\nHost: t\r\n" lines "\r\n"

struct outcome {
    enum http_parse_result result;
    struct http_request request;
    struct http_refusal refusal;
    size_t bytes;
};

/* Parses a copy that ends where its memory ends, so that ASan sees a read past the end. The copy
 * lives until the next call. */
struct outcome parse_bytes(const char *data, size_t size);
struct outcome parse_text(const char *text);
/* Complete, and the same however it is cut. */
struct outcome accepted(const char *text);
void refused(int status, const char *text);
void refused_bytes(int status, const char *data, size_t size);
void expect_span(struct span span, const char *text); /* NULL: absent */

#endif
