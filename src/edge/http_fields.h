/* SPDX-License-Identifier: Apache-2.0 */
/* edge/http_fields.h: what each header field means for the request: the parser's rules that are
 * not about bytes. Private to the parser. */
#ifndef STAMPEDE_EDGE_HTTP_FIELDS_H
#define STAMPEDE_EDGE_HTTP_FIELDS_H

#include "edge/http_parse.h"

enum field {
    FIELD_UNKNOWN,
    FIELD_CONTENT_LENGTH, /* these change how the request is read */
    FIELD_TRANSFER_ENCODING,
    FIELD_CONNECTION,
    FIELD_EXPECT,
    FIELD_HOST, /* from here on kept as they are, once */
    FIELD_AUTHORIZATION,
    FIELD_CONTENT_TYPE,
    FIELD_IDEMPOTENCY_KEY,
    FIELD_PASS,
    FIELD_ORIGIN,
    FIELD_IF_NONE_MATCH, /* from here on a second one is ignored */
    FIELD_ACCEPT_ENCODING,
    FIELD_ACCEPT_LANGUAGE,
    FIELD_REQUEST_METHOD,
    FIELD_TRACEPARENT,
    FIELDS,
};
enum { LENGTH_DIGITS_MAX = 19 }; /* they can't overflow 64 bits */

struct parse { /* of one request, while it is read */
    struct http_request *request;
    struct http_refusal *refusal;
    uint64_t content_length;
    bool has_length;
    bool has_expect;
    bool host_is_plain; /* its characters were looked at */
    bool minor_zero;    /* HTTP/1.0 */
};

/* Both answer NULL, for the step to return: refused, or (status 0) the input ended too early. */
__attribute__((cold)) const char *parse_refuse(struct parse *parse, int status, const char *why);
__attribute__((cold)) const char *parse_wait(struct parse *parse);

enum field http_field_find(const char *name, size_t bytes);
/* Keeps the value, or refuses (false). Not for FIELD_UNKNOWN. */
MUST_CHECK bool http_field_take(struct parse *parse, enum field field, struct span value);
/* What only the whole head can tell; false: refused. */
MUST_CHECK static inline bool http_fields_check(struct parse *parse, size_t body_max)
{
    struct http_request *request = parse->request;
    if (request->host.data == NULL && !parse->minor_zero)
        return parse_refuse(parse, 400, "no Host") != NULL;
    if (request->chunked && (parse->has_length || parse->minor_zero))
        return parse_refuse(parse, 400, "Transfer-Encoding with Content-Length or in HTTP/1.0") != NULL;
    if (parse->content_length > body_max)
        return parse_refuse(parse, 413, "body too long") != NULL;
    if (__builtin_expect(parse->has_expect, 0)) {
        if (parse->minor_zero)
            request->expect_continue = false;
        else if (!request->expect_continue)
            return parse_refuse(parse, 417, "no expectation but 100-continue is known here") != NULL;
    }
    if (parse->minor_zero)
        request->keep_alive = false;
    return true;
}

#endif
