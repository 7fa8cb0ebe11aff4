/* DESIGN. The hottest code of the server: about 250 instructions for a purchase. Each line is scanned once, 16 bytes at
 * a time. A field name is found by its colon, told by its length and one or two words, and only names that nobody knows
 * are checked byte by byte. A step answers where it stopped, or NULL: then parse.refusal says why, and a status of 0
 * means that the input ended too early. `end` never lies beyond HTTP_HEAD_MAX: what is longer is refused there. It goes
 * along as a parameter so that it stays in a register. */
#include "edge/http_parse.h"

#include "base/bytes.h"
#include "edge/http_chunked.h"
#include "edge/http_scan.h"

#include <stddef.h>

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
enum { FIELD_QUICK_MIN = SCAN_MARGIN + 2 }; /* a name with its colon, a space and one byte more */

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

struct parse {
    struct http_request *request;
    struct http_refusal *refusal;
    uint64_t content_length;
    bool has_length;
    bool has_expect;
    bool minor_zero; /* HTTP/1.0 */
};

static __attribute__((cold, noinline)) const char *refuse(struct parse *parse, int status, const char *why)
{
    *parse->refusal = (struct http_refusal){ .status = status, .why = why };
    return NULL;
}

static __attribute__((cold, noinline)) const char *wait_for_more(struct parse *parse)
{
    parse->refusal->status = 0;
    return NULL;
}

static inline bool is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* ---- request line ---- */

static __attribute__((noinline)) const char *method_slow(struct parse *parse, const char *at, const char *end)
{
    static const struct span known[HTTP_OTHER] = {
        [HTTP_GET] = { "GET", 3 }, [HTTP_HEAD] = { "HEAD", 4 }, [HTTP_POST] = { "POST", 4 },
        [HTTP_PATCH] = { "PATCH", 5 }, [HTTP_PUT] = { "PUT", 3 }, [HTTP_DELETE] = { "DELETE", 6 },
        [HTTP_OPTIONS] = { "OPTIONS", 7 },
    };
    const char *stop = scan_while(at, end, SCAN_TOKEN);
    if (stop - at > HTTP_METHOD_MAX)
        return refuse(parse, 400, "method too long");
    if (stop == end)
        return wait_for_more(parse);
    if (*stop != ' ' || stop == at)
        return refuse(parse, 400, "bad method");
    int method = 0;
    while (method < HTTP_OTHER && !span_equal(known[method], span_of(at, (size_t)(stop - at))))
        method++;
    parse->request->method = (enum http_method)method;
    return stop + 1;
}

static inline uint64_t word_of(const char *eight)
{
    return bytes_get_u64(eight);
}

static inline const char *method_parse(struct parse *parse, const char *at, const char *end)
{
    if (end - at < 8)
        return method_slow(parse, at, end);
    uint64_t word = word_of(at);
    if ((word & 0xffffffffff) == (word_of("POST \0\0\0") & 0xffffffffff)) {
        parse->request->method = HTTP_POST;
        return at + 5;
    }
    if ((word & 0xffffffff) == bytes_get_u32("GET ")) {
        parse->request->method = HTTP_GET;
        return at + 4;
    }
    return method_slow(parse, at, end);
}

/* Up to the space after the target; `query` is where its '?' is, or NULL. */
static inline const char *target_parse(struct parse *parse, const char *at, const char *end, const char **query)
{
    const char *start = at;
    *query = NULL;
    for (at = scan_target(at, end); at < end && *at == '?'; at = scan_target(at + 1, end)) {
        if (*query == NULL)
            *query = at;
    }
    if (__builtin_expect(at - start > HTTP_TARGET_MAX, 0))
        return refuse(parse, 414, "target too long");
    if (at == end)
        return wait_for_more(parse);
    if (*at != ' ' || at == start)
        return refuse(parse, 400, "bad character in the target");
    return at;
}

static __attribute__((noinline)) const char *version_slow(struct parse *parse, const char *at, const char *end)
{
    static const char name[] = "HTTP/";
    for (size_t i = 0; i < sizeof(name) - 1; i++, at++) {
        if (at == end)
            return wait_for_more(parse);
        if (*at != name[i])
            return refuse(parse, 400, "bad request line");
    }
    for (int i = 0; i < 5; i++, at++) {
        if (at == end)
            return wait_for_more(parse);
        bool digit = *at >= '0' && *at <= '9';
        if (i == 0 && digit && *at != '1')
            return refuse(parse, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
        if (i == 0 || i == 2 ? !digit : *at != "_._\r\n"[i])
            return refuse(parse, 400, "bad version");
        if (i == 2)
            parse->minor_zero = *at == '0';
    }
    return at;
}

/* Past the end of the request line. */
static inline const char *version_parse(struct parse *parse, const char *at, const char *end)
{
    if (end - at >= 10 && word_of(at) == word_of("HTTP/1.1") && bytes_get_u16(at + 8) == bytes_get_u16("\r\n"))
        return at + 10;
    return version_slow(parse, at, end);
}

/* http://authority/path: the authority stands in for Host (RFC 9112 §3.2.2), which must be there all the same. */
static __attribute__((noinline)) bool target_absolute(struct parse *parse, struct span target, struct span *authority)
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
    if (request->path.size == 0)
        request->path = SPAN("/");
    return true;
}

/* `authority` is set for the absolute form only. */
static inline const char *line_parse(struct parse *parse, const char *at, const char *end,
    struct span *authority)
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
    if (__builtin_expect(*target == '/', 1))
        return at;
    if (request->method == HTTP_OPTIONS && target_end - target == 1 && *target == '*')
        return at;
    if (!target_absolute(parse, request->path, authority))
        return refuse(parse, 400, "bad target");
    return at;
}

/* ---- fields ---- */

/* Whether the name is the known one (lower case, `bytes` >= 4), ignoring case. Only where the known name has a letter is
 * 0x20 set: elsewhere that would turn a CR into '-'. */
static inline __attribute__((always_inline)) bool name_is(const char *name, const char *known, size_t bytes)
{
    if (bytes < 8) {
        uint32_t first = bytes_get_u32(known), last = bytes_get_u32(known + bytes - 4);
        return (bytes_get_u32(name) | ((first & 0x40404040) >> 1)) == first
            && (bytes_get_u32(name + bytes - 4) | ((last & 0x40404040) >> 1)) == last;
    }
    const uint64_t letters = 0x4040404040404040;
    for (size_t at = 0; at + 8 < bytes; at += 8) {
        uint64_t word = word_of(known + at);
        if ((word_of(name + at) | ((word & letters) >> 1)) != word)
            return false;
    }
    uint64_t last = word_of(known + bytes - 8);
    return (word_of(name + bytes - 8) | ((last & letters) >> 1)) == last;
}
#define NAME_IS(name, literal) name_is((name), (literal), sizeof(literal) - 1)

static inline enum field field_of(const char *name, size_t bytes)
{
    switch (bytes) {
    case 4:
        return NAME_IS(name, "host") ? FIELD_HOST : FIELD_UNKNOWN;
    case 6:
        return NAME_IS(name, "origin") ? FIELD_ORIGIN : NAME_IS(name, "expect") ? FIELD_EXPECT : FIELD_UNKNOWN;
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

static inline bool length_take(struct parse *parse, struct span value)
{
    if (parse->has_length)
        return refuse(parse, 400, "Content-Length twice") != NULL;
    if (value.size == 0 || value.size > 19) /* 19 digits can't overflow 64 bits */
        return refuse(parse, 400, "bad Content-Length") != NULL;
    uint64_t length = 0;
    for (size_t i = 0; i < value.size; i++) {
        unsigned digit = (unsigned)(unsigned char)value.data[i] - '0';
        if (digit > 9)
            return refuse(parse, 400, "bad Content-Length") != NULL;
        length = length * 10 + digit;
    }
    parse->has_length = true;
    parse->content_length = length;
    return true;
}

/* The next element of a comma-separated list without the space around it; empty ones are skipped. */
static bool list_take(struct span *list, struct span *element)
{
    while (span_take_until(list, ',', element)) {
        while (element->size > 0 && is_space(element->data[0]))
            *element = span_of(element->data + 1, element->size - 1);
        while (element->size > 0 && is_space(element->data[element->size - 1]))
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
        return refuse(parse, 400, "Transfer-Encoding twice") != NULL;
    if (count == 0 || !span_equal_ignoring_case(coding, SPAN("chunked")))
        return refuse(parse, 400, "the last transfer coding must be chunked") != NULL;
    if (count > 1)
        return refuse(parse, 501, "no transfer coding but chunked is known here") != NULL;
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

static inline bool field_take(struct parse *parse, enum field field, struct span value)
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
    return refuse(parse, 400, field == FIELD_HOST ? "Host twice" : "a field that must stand alone stands twice") != NULL;
}

/* Why a name is none, or that its colon has not come yet. */
static __attribute__((noinline)) const char *name_check(struct parse *parse, const char *name, const char *colon,
    const char *end)
{
    const char *stop = scan_while(scan_plain(name, colon), colon, SCAN_TOKEN);
    if (stop == colon && colon == end)
        return wait_for_more(parse);
    if (stop == colon && stop > name)
        return stop;
    if (stop == name && is_space(*name))
        return refuse(parse, 400, "a folded header line");
    if (is_space(*stop))
        return refuse(parse, 400, "space in or after a header name");
    return refuse(parse, 400, "bad character in a header name, or no colon");
}

/* `stop` is not the end of a line that is all there: the real end beyond tabs, or why there is none. */
static __attribute__((noinline)) const char *value_check(struct parse *parse, const char *stop, const char *end)
{
    while (stop < end && *stop == '\t')
        stop = scan_value(stop + 1, end);
    if (stop == end || (*stop == '\r' && end - stop < 2))
        return wait_for_more(parse);
    if (stop[0] != '\r' || stop[1] != '\n')
        return refuse(parse, 400, "control character, or CR or LF alone, in a header");
    return stop;
}

static __attribute__((noinline)) struct span trimmed(const char *value, const char *stop)
{
    while (value < stop && is_space(*value))
        value++;
    while (value < stop && is_space(stop[-1]))
        stop--;
    return span_of(value, (size_t)(stop - value));
}

/* One header line, whatever it holds; past its end. */
static __attribute__((noinline)) const char *field_careful(struct parse *parse, const char *at, const char *end)
{
    const char *colon = scan_colon(at, end);
    enum field field = field_of(at, (size_t)(colon - at));
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
    if (__builtin_expect(is_space(*value) || is_space(stop[-1]), 0))
        text = trimmed(value, stop);
    if (field != FIELD_UNKNOWN && !field_take(parse, field, text))
        return NULL;
    return stop + 2;
}

/* The same for the lines that matter for speed: a short name that is known, one space, no tab, all there. Leaves
 * everything else, and every refusal, to field_careful. */
static inline const char *field_parse(struct parse *parse, const char *at, const char *end)
{
    if (end - at < FIELD_QUICK_MIN)
        return field_careful(parse, at, end);
    size_t name_bytes = scan_first_colon(at);
    enum field field = field_of(at, name_bytes);
    if (__builtin_expect(field == FIELD_UNKNOWN, 0))
        return field_careful(parse, at, end);
    const char *value = at + name_bytes + 2;
    const char *stop = scan_value(value, end);
    if (__builtin_expect(stop > end - 2, 0) || bytes_get_u16(stop) != bytes_get_u16("\r\n"))
        return field_careful(parse, at, end);
    if (__builtin_expect(value[-1] != ' ' || (unsigned char)value[0] <= ' ' || stop[-1] == ' ', 0))
        return field_careful(parse, at, end);
    return field_take(parse, field, span_of(value, (size_t)(stop - value))) ? stop + 2 : NULL;
}

/* ---- the whole ---- */

static inline const char *head_parse(struct parse *parse, const char *at, const char *end)
{
    struct span authority = SPAN_NONE;
    if (at < end && *at == '\r') { /* one empty line before a request is let pass (RFC 9112 §2.2) */
        if (end - at < 2)
            return wait_for_more(parse);
        if (at[1] != '\n')
            return refuse(parse, 400, "CR alone");
        at += 2;
    }
    at = line_parse(parse, at, end, &authority);
    for (int fields = 0; at != NULL; fields++) {
        if (__builtin_expect(at > end - 2, 0) && (at == end || *at == '\r'))
            return wait_for_more(parse);
        if (*at == '\r')
            break;
        if (fields == HTTP_HEADERS_MAX)
            return refuse(parse, 431, "too many headers");
        at = field_parse(parse, at, end);
    }
    if (at == NULL)
        return NULL;
    if (at[1] != '\n')
        return refuse(parse, 400, "CR alone");
    struct span host = parse->request->host;
    const char *host_end = host.data + host.size;
    if (host.size > 0 && scan_while(scan_plain(host.data, host_end), host_end, SCAN_HOST) != host_end)
        return refuse(parse, 400, "bad Host");
    if (authority.data != NULL && host.data != NULL)
        parse->request->host = authority;
    return at + 2;
}

/* What only the whole head can tell. */
static inline bool head_check(struct parse *parse, size_t body_max)
{
    struct http_request *request = parse->request;
    if (request->host.data == NULL && !parse->minor_zero)
        return refuse(parse, 400, "no Host") != NULL;
    if (request->chunked && (parse->has_length || parse->minor_zero))
        return refuse(parse, 400, "Transfer-Encoding with Content-Length or in HTTP/1.0") != NULL;
    if (parse->content_length > body_max)
        return refuse(parse, 413, "body too long") != NULL;
    if (__builtin_expect(parse->has_expect, 0)) {
        if (parse->minor_zero)
            request->expect_continue = false;
        else if (!request->expect_continue)
            return refuse(parse, 417, "no expectation but 100-continue is known here") != NULL;
    }
    if (parse->minor_zero)
        request->keep_alive = false;
    return true;
}

static enum http_parse_result body_chunked(struct span input, size_t body_max, struct http_request *request,
    size_t *bytes, struct http_refusal *refusal)
{
    struct span rest = span_of(input.data + request->head_bytes, input.size - request->head_bytes);
    enum http_parse_result result = http_chunked_measure(rest, body_max, bytes, refusal);
    request->body = span_of(rest.data, result == HTTP_PARSE_COMPLETE ? *bytes : 0);
    *bytes += request->head_bytes;
    return result;
}

/* Field by field: the compiler makes a slow string instruction of one assignment of it all. */
static inline void request_clear(struct http_request *request)
{
    request->method = HTTP_OTHER;
    request->path = request->query = request->body = SPAN_NONE;
    request->host = request->authorization = request->content_type = SPAN_NONE;
    request->idempotency_key = request->pass = request->origin = SPAN_NONE;
    request->if_none_match = request->accept_encoding = request->accept_language = SPAN_NONE;
    request->access_control_request_method = request->traceparent = SPAN_NONE;
    request->keep_alive = true;
    request->expect_continue = request->chunked = false;
    request->head_bytes = 0;
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

enum http_parse_result http_parse(struct span input, size_t body_max, struct http_request *request, size_t *bytes,
    struct http_refusal *refusal)
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
            refuse(&parse, 431, "request line and headers too long");
        request_clear(request);
        *bytes = input.size + 1;
        return refusal->status == 0 ? HTTP_PARSE_PARTIAL : HTTP_PARSE_REFUSED;
    }
    if (!head_check(&parse, body_max))
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
