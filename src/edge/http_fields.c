/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/http_fields.h"

#include "edge/http_scan.h"

static const uint16_t field_place[FIELDS] = {
    [FIELD_HOST] = offsetof(struct http_request, host),
    [FIELD_AUTHORIZATION] = offsetof(struct http_request, authorization),
    [FIELD_CONTENT_TYPE] = offsetof(struct http_request, content_type),
    [FIELD_IDEMPOTENCY_KEY] = offsetof(struct http_request, idempotency_key),
    [FIELD_PASS] = offsetof(struct http_request, pass),
    [FIELD_ORIGIN] = offsetof(struct http_request, origin),
    [FIELD_IF_NONE_MATCH] = offsetof(struct http_request, if_none_match),
    [FIELD_ACCEPT_ENCODING] = offsetof(struct http_request, accept_encoding),
    [FIELD_ACCEPT_LANGUAGE] = offsetof(struct http_request, accept_language),
    [FIELD_REQUEST_METHOD] = offsetof(struct http_request, access_control_request_method),
    [FIELD_TRACEPARENT] = offsetof(struct http_request, traceparent),
};

const char *parse_refuse(struct parse *parse, int status, const char *why)
{
    *parse->refusal = (struct http_refusal){ .status = status, .why = why };
    return NULL;
}

const char *parse_wait(struct parse *parse)
{
    parse->refusal->status = 0;
    return NULL;
}

/* Whether the name of `bytes` (4 at least) is the known one, ignoring case. */
static inline __attribute__((always_inline)) bool name_is(const char *name, const char *known, size_t bytes)
{
    if (bytes < 8) {
        const size_t last_at = bytes - 4;
        uint32_t first = bytes_get_u32(known), last = bytes_get_u32(known + last_at);
        return (bytes_get_u32(name) | ((first & 0x40404040) >> 1)) == first
            && (bytes_get_u32(name + last_at) | ((last & 0x40404040) >> 1)) == last;
    }
    const size_t last_at = bytes - 8;
    for (size_t at = 0; at < last_at; at += 8) {
        if (!word_names(word_of(name + at), known + at, 8))
            return false;
    }
    return word_names(word_of(name + last_at), known + last_at, 8);
}
#define NAME_IS(name, literal) name_is((name), (literal), sizeof(literal) - 1)

enum field http_field_find(const char *name, size_t bytes)
{
    switch (bytes) {
    case 4:
        return NAME_IS(name, "host") ? FIELD_HOST : FIELD_UNKNOWN;
    case 6:
        return NAME_IS(name, "origin") ? FIELD_ORIGIN
            : NAME_IS(name, "expect")  ? FIELD_EXPECT
                                       : FIELD_UNKNOWN;
    case 10:
        return NAME_IS(name, "connection") ? FIELD_CONNECTION : FIELD_UNKNOWN;
    case 11:
        return NAME_IS(name, "traceparent") ? FIELD_TRACEPARENT : FIELD_UNKNOWN;
    case 12:
        return NAME_IS(name, "content-type") ? FIELD_CONTENT_TYPE : FIELD_UNKNOWN;
    case 13:
        return NAME_IS(name, "stampede-pass") ? FIELD_PASS
            : NAME_IS(name, "authorization")  ? FIELD_AUTHORIZATION
            : NAME_IS(name, "if-none-match")  ? FIELD_IF_NONE_MATCH
                                              : FIELD_UNKNOWN;
    case 14:
        return NAME_IS(name, "content-length") ? FIELD_CONTENT_LENGTH : FIELD_UNKNOWN;
    case 15:
        return NAME_IS(name, "idempotency-key") ? FIELD_IDEMPOTENCY_KEY
            : NAME_IS(name, "accept-encoding")  ? FIELD_ACCEPT_ENCODING
            : NAME_IS(name, "accept-language")  ? FIELD_ACCEPT_LANGUAGE
                                                : FIELD_UNKNOWN;
    case 17:
        return NAME_IS(name, "transfer-encoding") ? FIELD_TRANSFER_ENCODING : FIELD_UNKNOWN;
    case 29:
        return NAME_IS(name, "access-control-request-method") ? FIELD_REQUEST_METHOD : FIELD_UNKNOWN;
    default:
        return FIELD_UNKNOWN;
    }
}

static bool length_take(struct parse *parse, struct span value)
{
    if (parse->has_length)
        return parse_refuse(parse, 400, "Content-Length twice") != NULL;
    if (value.size == 0 || value.size > LENGTH_DIGITS_MAX)
        return parse_refuse(parse, 400, "bad Content-Length") != NULL;
    uint64_t length = 0;
    for (size_t i = 0; i < value.size; i++) {
        unsigned digit = (unsigned)(unsigned char)value.data[i] - '0';
        if (digit > 9)
            return parse_refuse(parse, 400, "bad Content-Length") != NULL;
        length = length * 10 + digit;
    }
    parse->has_length = true;
    parse->content_length = length;
    return true;
}

/* The next element of a comma-separated list without the space around it; empty ones are
 * skipped. */
static bool list_take(struct span *list, struct span *element)
{
    while (span_take_until(list, ',', element)) {
        while (element->size > 0 && scan_is_space(element->data[0]))
            *element = span_of(element->data + 1, element->size - 1);
        while (element->size > 0 && scan_is_space(element->data[element->size - 1]))
            element->size--;
        if (element->size > 0)
            return true;
    }
    return false;
}

static bool coding_take(struct parse *parse, struct span value)
{
    struct span coding = SPAN_NONE;
    unsigned count = 0;
    while (list_take(&value, &coding))
        count++;
    if (parse->request->chunked)
        return parse_refuse(parse, 400, "Transfer-Encoding twice") != NULL;
    if (count == 0 || !span_equal_ignoring_case(coding, SPAN("chunked")))
        return parse_refuse(parse, 400, "the last transfer coding must be chunked") != NULL;
    if (count > 1)
        return parse_refuse(parse, 501, "the only supported transfer coding is chunked") != NULL;
    parse->request->chunked = true;
    return true;
}

static bool connection_take(struct parse *parse, struct span value)
{
    struct span option;
    while (list_take(&value, &option)) {
        if (span_equal_ignoring_case(option, SPAN("close")))
            parse->request->keep_alive = false;
    }
    return true;
}

static bool expect_take(struct parse *parse, struct span value)
{
    parse->has_expect = true;
    parse->request->expect_continue = span_equal_ignoring_case(value, SPAN("100-continue"));
    return true;
}

static __attribute__((noinline)) bool framing_take(struct parse *parse, enum field field, struct span value)
{
    if (field == FIELD_TRANSFER_ENCODING)
        return coding_take(parse, value);
    return field == FIELD_CONNECTION ? connection_take(parse, value) : expect_take(parse, value);
}

bool http_field_take(struct parse *parse, enum field field, struct span value)
{
    if (field == FIELD_CONTENT_LENGTH)
        return length_take(parse, value);
    if (field < FIELD_HOST)
        return framing_take(parse, field, value);
    struct span *place = (struct span *)(void *)((char *)parse->request + field_place[field]);
    if (place->data == NULL) {
        *place = value;
        return true;
    }
    if (field >= FIELD_IF_NONE_MATCH)
        return true;
    return parse_refuse(parse, 400,
               field == FIELD_HOST ? "Host twice" : "a header that may occur once occurs twice")
        != NULL;
}

struct span http_header_lines(const struct http_request *request)
{
    /* The parser let only CRLF end a line, and an empty line end the head. */
    const char *line = request->path.data;
    while (line[0] != '\r')
        line++;
    const char *first = line + 2;
    line = first;
    while (line[0] != '\r') {
        while (line[0] != '\n')
            line++;
        line++;
    }
    return span_of(first, (size_t)(line - first));
}
