/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. The hottest code of the server. Each kind of line has two ways: the careful one knows
 * all the rules and makes all the refusals; the quick one takes the lines of a usual purchase,
 * and hands everything else to the careful one. Both scan 16 bytes at a time. A step answers
 * where it stopped, or NULL: then parse.refusal says why, and a status of 0 means that the input
 * ended too early. `end` never lies beyond HTTP_HEAD_MAX: what is longer is refused there. It
 * goes along as a parameter so that it stays in a register. */
#include "edge/http_parse.h"

#include "base/bytes.h"
#include "edge/http_chunked.h"
#include "edge/http_fields.h"
#include "edge/http_scan.h"

#include <assert.h>
#include <stddef.h>

enum {
    LINE_QUICK_MIN = 8,
    FIELD_QUICK_MIN = SCAN_MARGIN + 2
}; /* bytes that the quick ways may read unasked */

/* ---- request line ---- */

static const char *method_parse(struct parse *parse, const char *at, const char *end)
{
    static const struct span known[HTTP_OTHER] = {
        [HTTP_GET] = { "GET", 3 },
        [HTTP_HEAD] = { "HEAD", 4 },
        [HTTP_POST] = { "POST", 4 },
        [HTTP_PATCH] = { "PATCH", 5 },
        [HTTP_PUT] = { "PUT", 3 },
        [HTTP_DELETE] = { "DELETE", 6 },
        [HTTP_OPTIONS] = { "OPTIONS", 7 },
    };
    const char *stop = scan_while(at, end, SCAN_TOKEN);
    if (stop - at > HTTP_METHOD_MAX)
        return parse_refuse(parse, 400, "method too long");
    if (stop == end)
        return parse_wait(parse);
    if (*stop != ' ' || stop == at)
        return parse_refuse(parse, 400, "bad method");
    int method = 0;
    while (method < HTTP_OTHER && !span_equal(known[method], span_of(at, (size_t)(stop - at))))
        method++;
    parse->request->method = (enum http_method)method;
    return stop + 1;
}

/* Up to the space after the target; `query` is where its '?' is, or NULL. */
static const char *target_parse(struct parse *parse, const char *at, const char *end, const char **query)
{
    const char *start = at;
    *query = NULL;
    for (at = scan_target(at, end); at < end && *at == '?'; at = scan_target(at + 1, end)) {
        if (*query == NULL)
            *query = at;
    }
    if (__builtin_expect(at - start > HTTP_TARGET_MAX, 0))
        return parse_refuse(parse, 414, "target too long");
    if (at == end)
        return parse_wait(parse);
    if (*at != ' ' || at == start)
        return parse_refuse(parse, 400, "bad character in the target");
    return at;
}

/* Past the end of the request line. */
static const char *version_parse(struct parse *parse, const char *at, const char *end)
{
    static const char name[] = "HTTP/";
    for (size_t i = 0; i < sizeof(name) - 1; i++, at++) {
        if (at == end)
            return parse_wait(parse);
        if (*at != name[i])
            return parse_refuse(parse, 400, "bad request line");
    }
    for (int i = 0; i < 5; i++, at++) {
        if (at == end)
            return parse_wait(parse);
        bool digit = *at >= '0' && *at <= '9';
        if (digit && ((i == 0 && *at != '1') || (i == 2 && *at > '1')))
            return parse_refuse(parse, 505, "only HTTP/1.1 and HTTP/1.0 are supported");
        if (i == 0 || i == 2 ? !digit : *at != "_._\r\n"[i])
            return parse_refuse(parse, 400, "bad version");
        if (i == 2)
            parse->minor_zero = *at == '0';
    }
    return at;
}

/* http://authority/path: the authority stands in for Host (RFC 9112 §3.2.2), which must be there
 * all the same. */
static bool target_absolute(struct parse *parse, struct span target, struct span *authority)
{
    struct http_request *request = parse->request;
    size_t scheme = 0;
    if (target.size > 7 && span_equal_ignoring_case(span_of(target.data, 7), SPAN("http://")))
        scheme = 7;
    else if (target.size > 8 && span_equal_ignoring_case(span_of(target.data, 8), SPAN("https://")))
        scheme = 8;
    if (scheme == 0)
        return false;
    const char *start = target.data + scheme;
    const char *stop = scan_while(start, target.data + target.size, SCAN_HOST);
    if (stop == start || (stop < target.data + target.size && *stop != '/'))
        return false;
    *authority = span_of(start, (size_t)(stop - start));
    request->path = span_of(stop, (size_t)(target.data + target.size - stop));
    if (request->path.size == 0) /* a '/' of the request: http_header_lines goes on from there */
        request->path = span_of(start - 1, 1);
    return true;
}

/* The request line, whatever it holds; past its end. `authority` is set for the absolute form
 * only. */
static __attribute__((noinline)) const char *line_careful(
    struct parse *parse, const char *at, const char *end, struct span *authority)
{
    const char *query;
    struct http_request *request = parse->request;
    at = method_parse(parse, at, end);
    if (at == NULL)
        return NULL;
    const char *target = at;
    at = target_parse(parse, at, end, &query);
    if (at == NULL)
        return NULL;
    const char *target_end = at;
    at = version_parse(parse, at + 1, end);
    if (at == NULL)
        return NULL;
    const char *path_end = query == NULL ? target_end : query;
    request->path = span_of(target, (size_t)(path_end - target));
    if (query != NULL)
        request->query = span_of(query + 1, (size_t)(target_end - query - 1));
    if (*target == '/')
        return at;
    if (request->method == HTTP_OPTIONS && target_end - target == 1 && *target == '*')
        return at;
    if (!target_absolute(parse, request->path, authority))
        return parse_refuse(parse, 400, "bad target");
    return at;
}

/* The same for POST and GET of a path without a query, all there. */
static inline __attribute__((always_inline)) const char *line_parse(
    struct parse *parse, const char *at, const char *end, struct span *authority)
{
    struct http_request *request = parse->request;
    uint64_t word = end - at < LINE_QUICK_MIN ? 0 : word_of(at);
    bool post = word_starts(word, "POST /\0\0", 6);
    if (!post && !word_starts(word, "GET /\0\0\0", 5))
        return line_careful(parse, at, end, authority);
    const char *target = at + (post ? 5 : 4);
    const char *stop = scan_target(target, end);
    if (stop > end - 11 || stop - target > HTTP_TARGET_MAX || word_of(stop) != word_of(" HTTP/1.")
        || bytes_get_u32(stop + 7) != bytes_get_u32(".1\r\n"))
        return line_careful(parse, at, end, authority);
    request->method = post ? HTTP_POST : HTTP_GET;
    request->path = span_of(target, (size_t)(stop - target));
    return stop + 11;
}

/* ---- fields ---- */

/* Why a name is none, or that its colon has not come yet. */
static __attribute__((noinline)) const char *name_check(
    struct parse *parse, const char *name, const char *colon, const char *end)
{
    const char *stop =
        colon - name < SCAN_MARGIN ? scan_plain_short(name, colon, end) : scan_plain(name, colon);
    stop = scan_while(stop, colon, SCAN_TOKEN);
    if (stop == colon && colon == end)
        return parse_wait(parse);
    if (stop == colon && stop > name)
        return stop;
    if (stop == name && scan_is_space(*name))
        return parse_refuse(parse, 400, "a folded header line");
    if (scan_is_space(*stop))
        return parse_refuse(parse, 400, "space in or after a header name");
    return parse_refuse(parse, 400, "bad character in a header name, or no colon");
}

/* `stop` is not the end of a line that is all there: the real end beyond tabs, or why there is
 * none. */
static __attribute__((noinline)) const char *value_check(
    struct parse *parse, const char *stop, const char *end)
{
    while (stop < end && *stop == '\t')
        stop = scan_value(stop + 1, end);
    if (stop == end || (*stop == '\r' && end - stop < 2))
        return parse_wait(parse);
    if (stop[0] != '\r' || stop[1] != '\n')
        return parse_refuse(parse, 400, "control character, or a lone CR or LF, in a header");
    return stop;
}

static __attribute__((noinline)) struct span trimmed(const char *value, const char *stop)
{
    while (value < stop && scan_is_space(*value))
        value++;
    while (value < stop && scan_is_space(stop[-1]))
        stop--;
    return span_of(value, (size_t)(stop - value));
}

/* One header line, whatever it holds; past its end. */
static __attribute__((noinline)) const char *field_careful(
    struct parse *parse, const char *at, const char *end)
{
    const char *colon = scan_colon(at, end);
    enum field field = http_field_find(at, (size_t)(colon - at));
    if (field == FIELD_UNKNOWN || colon == end) {
        if (name_check(parse, at, colon, end) == NULL)
            return NULL;
    }
    const char *value = colon + 1;
    if (value < end && *value == ' ')
        value++;
    const char *stop = scan_value(value, end);
    if (__builtin_expect(end - stop < 2 || bytes_get_u16(stop) != bytes_get_u16("\r\n"), 0)) {
        stop = value_check(parse, stop, end);
        if (stop == NULL)
            return NULL;
    }
    struct span text = span_of(value, (size_t)(stop - value));
    if (__builtin_expect(scan_is_space(*value) || scan_is_space(stop[-1]), 0))
        text = trimmed(value, stop);
    if (field != FIELD_UNKNOWN && !http_field_take(parse, field, text))
        return NULL;
    return stop + 2;
}

static inline bool line_ends(const char *at)
{
    return bytes_get_u16(at) == bytes_get_u16("\r\n");
}

/* The steps below are for lines that a purchase consists of, written as usual and all there. They go past
 * the line, or answer NULL and leave everything else, and every refusal, to field_careful. */

/* "Host: " is before `value`. Looks at its characters once, for the line and for the whole. */
static inline const char *host_quick(struct parse *parse, const char *value, const char *end)
{
    struct span *host = &parse->request->host;
    const char *stop = scan_plain(value, end);
    if (stop > end - 2 || !line_ends(stop) || stop == value || host->data != NULL)
        return NULL;
    *host = span_of(value, (size_t)(stop - value));
    parse->host_is_plain = true;
    return stop + 2;
}

/* "Content-Length: " is before `at`; a purchase has a body of one or two digits, if any. */
static inline const char *length_quick(struct parse *parse, const char *at, const char *end)
{
    unsigned length = 0, digit;
    const char *last = end - 3; /* of a digit with its CRLF */
    for (int digits = 0; digits < 2 && at <= last; digits++) {
        if ((digit = (unsigned)(unsigned char)*at++ - '0') > 9)
            break;
        length = length * 10 + digit;
        if (!line_ends(at))
            continue;
        if (parse->has_length)
            break;
        parse->has_length = true;
        parse->content_length = length;
        return at + 2;
    }
    return NULL;
}

static inline const char *value_quick(struct span *place, const char *value, const char *end)
{
    const char *stop =
        end - value >= SCAN_LONG + 2 && line_ends(value + SCAN_LONG) && scan_is_visible(value)
        ? value + SCAN_LONG
        : scan_value(value, end);
    if (stop > end - 2 || !line_ends(stop) || place->data != NULL || (unsigned char)*value <= ' '
        || stop[-1] == ' ')
        return NULL;
    *place = span_of(value, (size_t)(stop - value));
    return stop + 2;
}

static inline __attribute__((always_inline)) const char *field_quick(
    struct parse *parse, const char *at, const char *end)
{
    if (end - at < FIELD_QUICK_MIN)
        return NULL;
    uint64_t first = word_of(at), second = word_of(at + 8);
    if (word_names(first, "host: \0\0", 6))
        return host_quick(parse, at + 6, end);
    if (word_names(first, "stampede", 8) && word_names(second, "-pass: \0", 7))
        return value_quick(&parse->request->pass, at + 15, end);
    if (word_names(first, "content-", 8) && word_names(second, "length: ", 8))
        return length_quick(parse, at + 16, end);
    if (word_names(first, "idempote", 8) && word_names(second, "ncy-key:", 8) && at[16] == ' ')
        return value_quick(&parse->request->idempotency_key, at + 17, end);
    return NULL;
}

static inline __attribute__((always_inline)) const char *field_parse(
    struct parse *parse, const char *at, const char *end)
{
    const char *next = field_quick(parse, at, end);
    return __builtin_expect(next != NULL, 1) ? next : field_careful(parse, at, end);
}

/* ---- the whole ---- */

static __attribute__((noinline)) bool host_is_fine(struct span host)
{
    const char *end = host.data + host.size;
    const char *stop = scan_plain(host.data, end);
    return __builtin_expect(stop == end, 1) || scan_while(stop, end, SCAN_HOST) == end;
}

static inline __attribute__((always_inline)) const char *head_parse(
    struct parse *parse, const char *at, const char *end)
{
    struct span authority = SPAN_NONE;
    if (at < end && *at == '\r') { /* one empty line before a request is let pass (RFC 9112 §2.2) */
        if (end - at < 2)
            return parse_wait(parse);
        if (at[1] != '\n')
            return parse_refuse(parse, 400, "CR alone");
        at += 2;
    }
    at = line_parse(parse, at, end, &authority);
    for (int fields = 0; at != NULL; fields++) {
        if (__builtin_expect(at > end - 2, 0) && (at == end || *at == '\r'))
            return parse_wait(parse);
        if (*at == '\r')
            break;
        if (fields == HTTP_HEADERS_MAX)
            return parse_refuse(parse, 431, "too many headers");
        at = field_parse(parse, at, end);
    }
    if (at == NULL)
        return NULL;
    if (at[1] != '\n')
        return parse_refuse(parse, 400, "CR alone");
    struct span host = parse->request->host;
    if (!parse->host_is_plain && host.size > 0 && !host_is_fine(host))
        return parse_refuse(parse, 400, "bad Host");
    if (authority.data != NULL && host.data != NULL)
        parse->request->host = authority;
    return at + 2;
}

static enum http_parse_result body_chunked(struct span input, size_t body_max,
    struct http_request *request, size_t *bytes, struct http_refusal *refusal)
{
    struct span rest = span_of(input.data + request->head_bytes, input.size - request->head_bytes);
    enum http_parse_result result = http_chunked_measure(rest, body_max, bytes, refusal);
    request->body = span_of(rest.data, result == HTTP_PARSE_COMPLETE ? *bytes : 0);
    *bytes += request->head_bytes;
    return result;
}

/* Sixteen bytes at a time: of a memset of this size the compiler makes a slow string
 * instruction. */
static inline void request_clear(struct http_request *request)
{
    typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));
    static_assert(offsetof(struct http_request, client) % sizeof(pair) == 0, "nothing is left over");
    pair *pairs = (pair *)(void *)request;
#pragma GCC unroll 32
    for (size_t i = 0; i < offsetof(struct http_request, client) / sizeof(pair); i++)
        pairs[i] = (pair){ 0, 0 };
    request->client = NULL;
    request->keep_alive = true;
}

/* No request is complete in so few bytes; they are moved to where a scan may read before them. */
static __attribute__((noinline)) const char *head_parse_short(struct parse *parse, struct span input)
{
    char room[2 * SCAN_MARGIN] = { 0 };
    invariant(input.size < SCAN_MARGIN);
    memcpy(room + SCAN_MARGIN, input.data, input.size);
    const char *at = head_parse(parse, room + SCAN_MARGIN, room + SCAN_MARGIN + input.size);
    invariant(at == NULL);
    return NULL;
}

enum http_parse_result http_parse(struct span input, size_t body_max, struct http_request *request,
    size_t *bytes, struct http_refusal *refusal)
{
    size_t visible = input.size < HTTP_HEAD_MAX ? input.size : HTTP_HEAD_MAX;
    request_clear(request);
    if (input.size == 0) {
        *bytes = 1;
        return HTTP_PARSE_PARTIAL;
    }
    struct parse parse = { .request = request, .refusal = refusal };
    const char *at = visible < SCAN_MARGIN ? head_parse_short(&parse, input)
                                           : head_parse(&parse, input.data, input.data + visible);
    if (__builtin_expect(at == NULL, 0)) {
        if (refusal->status == 0 && visible == HTTP_HEAD_MAX)
            parse_refuse(&parse, 431, "request line and headers too long");
        request_clear(request);
        *bytes = input.size + 1;
        return refusal->status == 0 ? HTTP_PARSE_PARTIAL : HTTP_PARSE_REFUSED;
    }
    if (!http_fields_check(&parse, body_max))
        return HTTP_PARSE_REFUSED;
    request->head_bytes = (uint32_t)(at - input.data);
    if (__builtin_expect(request->chunked, 0))
        return body_chunked(input, body_max, request, bytes, refusal);
    *bytes = request->head_bytes + parse.content_length;
    if (*bytes > input.size)
        return HTTP_PARSE_PARTIAL;
    request->body = span_of(at, parse.content_length);
    return HTTP_PARSE_COMPLETE;
}
