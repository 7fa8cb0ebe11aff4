/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/http_reply.h"

#include "edge/http_date.h"

const char *http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        { 100, "Continue" },
        { 101, "Switching Protocols" },
        { 200, "OK" },
        { 201, "Created" },
        { 202, "Accepted" },
        { 204, "No Content" },
        { 301, "Moved Permanently" },
        { 302, "Found" },
        { 303, "See Other" },
        { 304, "Not Modified" },
        { 307, "Temporary Redirect" },
        { 308, "Permanent Redirect" },
        { 400, "Bad Request" },
        { 401, "Unauthorized" },
        { 402, "Payment Required" },
        { 403, "Forbidden" },
        { 404, "Not Found" },
        { 405, "Method Not Allowed" },
        { 406, "Not Acceptable" },
        { 408, "Request Timeout" },
        { 409, "Conflict" },
        { 410, "Gone" },
        { 411, "Length Required" },
        { 412, "Precondition Failed" },
        { 413, "Content Too Large" },
        { 414, "URI Too Long" },
        { 415, "Unsupported Media Type" },
        { 417, "Expectation Failed" },
        { 421, "Misdirected Request" },
        { 422, "Unprocessable Content" },
        { 425, "Too Early" },
        { 426, "Upgrade Required" },
        { 428, "Precondition Required" },
        { 429, "Too Many Requests" },
        { 431, "Request Header Fields Too Large" },
        { 500, "Internal Server Error" },
        { 501, "Not Implemented" },
        { 502, "Bad Gateway" },
        { 503, "Service Unavailable" },
        { 504, "Gateway Timeout" },
        { 505, "HTTP Version Not Supported" },
    };
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status)
            return reasons[i].reason;
    }
    return "Unknown";
}

static bool has_no_body(int status)
{
    return status < 200 || status == 204 || status == 304;
}

void http_reply_head(struct text *out, int status, struct span content_type,
    struct span extra_headers, size_t body_bytes, bool closing)
{
    invariant(status >= 100 && status <= 599);
    text_literal(out, "HTTP/1.1 ");
    text_u64(out, (uint64_t)status);
    text_literal(out, " ");
    text_string(out, http_reason(status));
    text_literal(out, "\r\nDate: ");
    text_add(out, span_of(http_date(), HTTP_DATE_CHARS));
    if (content_type.size > 0) {
        text_literal(out, "\r\nContent-Type: ");
        text_add(out, content_type);
    }
    if (!has_no_body(status)) {
        text_literal(out, "\r\nContent-Length: ");
        text_u64(out, body_bytes);
    }
    if (closing)
        text_literal(out, "\r\nConnection: close");
    if (span_equal(content_type, SPAN("application/problem+json")))
        text_literal(out, "\r\nCache-Control: no-store");
    text_literal(out, "\r\nX-Content-Type-Options: nosniff\r\n");
    if (extra_headers.size > 0)
        text_add(out, extra_headers);
    text_literal(out, "\r\n");
}

void http_reply(struct text *out, int status, struct span content_type, struct span extra_headers,
    struct span body, bool closing)
{
    invariant(body.size == 0 || !has_no_body(status));
    http_reply_head(out, status, content_type, extra_headers, body.size, closing);
    if (body.size > 0)
        text_add(out, body);
}

void http_reply_cut_body(struct text *out, size_t from)
{
    invariant(from <= out->size);
    if (from == out->size)
        return;
    const char *empty_line = memmem(out->data + from, out->size - from, "\r\n\r\n", 4);
    if (empty_line != NULL)
        out->size = (size_t)(empty_line - out->data) + 4;
}
