/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/http_chunked.h"

#include "edge/http_scan.h"

enum { SIZE_DIGITS_MAX = 8 };

struct chunk {
    size_t line_bytes; /* size, extensions and CRLF */
    size_t data_bytes;
};

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    digit = (char)(digit | 0x20);
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static enum http_parse_result refuse(struct http_refusal *refusal, int status, const char *why)
{
    *refusal = (struct http_refusal){ .status = status, .why = why };
    return HTTP_PARSE_REFUSED;
}

/* chunk-size [";" extensions] CRLF */
static enum http_parse_result chunk_line(
    const char *at, const char *end, struct chunk *chunk, struct http_refusal *refusal)
{
    const char *start = at;
    size_t data_bytes = 0;
    bool limited = end - start > HTTP_CHUNK_LINE_MAX;
    if (limited)
        end = start + HTTP_CHUNK_LINE_MAX;
    for (; at < end && hex_value(*at) >= 0; at++) {
        if (at - start == SIZE_DIGITS_MAX)
            return refuse(refusal, 400, "chunk size too long");
        data_bytes = data_bytes << 4 | (unsigned)hex_value(*at);
    }
    if (at < end && (at == start || (*at != ';' && *at != '\r')))
        return refuse(refusal, 400, "bad chunk size");
    while (at < end && (scan_is(*at, SCAN_VALUE) || *at == '\t'))
        at++;
    if (end - at < 2 && (at == end || *at == '\r'))
        return limited ? refuse(refusal, 400, "chunk extensions too long") : HTTP_PARSE_PARTIAL;
    if (at[0] != '\r' || at[1] != '\n')
        return refuse(refusal, 400, "control character, or a lone CR or LF, in a chunk size");
    *chunk = (struct chunk){ .line_bytes = (size_t)(at + 2 - start), .data_bytes = data_bytes };
    return HTTP_PARSE_COMPLETE;
}

/* Trailer lines and the empty line: checked like headers, then forgotten. */
static enum http_parse_result trailers_measure(
    const char *at, const char *end, size_t *bytes, struct http_refusal *refusal)
{
    const char *start = at;
    bool limited = end - start > HTTP_TRAILERS_MAX;
    if (limited)
        end = start + HTTP_TRAILERS_MAX;
    while (at < end) {
        const char *line = at;
        if (*line != '\r') {
            at = scan_while(at, end, SCAN_TOKEN);
            if (at < end && (*at != ':' || at == line))
                return refuse(refusal, 400, "bad trailer name");
        }
        while (at < end && (scan_is(*at, SCAN_VALUE) || *at == '\t'))
            at++;
        if (end - at < 2 && (at == end || *at == '\r'))
            break;
        if (at[0] != '\r' || at[1] != '\n')
            return refuse(refusal, 400, "control character, or a lone CR or LF, in a trailer");
        at += 2;
        if (at == line + 2) {
            *bytes = (size_t)(at - start);
            return HTTP_PARSE_COMPLETE;
        }
    }
    return limited ? refuse(refusal, 431, "trailers too long") : HTTP_PARSE_PARTIAL;
}

enum http_parse_result http_chunked_measure(
    struct span input, size_t body_max, size_t *bytes, struct http_refusal *refusal)
{
    const char *end = input.data + input.size;
    size_t at = 0, data_bytes = 0;
    struct chunk chunk;
    *bytes = input.size + 1;
    for (;;) {
        enum http_parse_result result = chunk_line(input.data + at, end, &chunk, refusal);
        if (result != HTTP_PARSE_COMPLETE)
            return result;
        at += chunk.line_bytes;
        if (chunk.data_bytes == 0)
            break;
        if (chunk.data_bytes > body_max - data_bytes)
            return refuse(refusal, 413, "body too long");
        if (at - data_bytes > HTTP_CHUNK_OVERHEAD_MAX)
            return refuse(refusal, 413, "chunks too small");
        data_bytes += chunk.data_bytes;
        at += chunk.data_bytes;
        size_t there = at < input.size ? input.size - at : 0;
        if ((there > 0 && input.data[at] != '\r') || (there > 1 && input.data[at + 1] != '\n'))
            return refuse(refusal, 400, "chunk is longer than its announced size");
        if (there < 2) {
            *bytes = there == 0 ? at + 1 : at + 2;
            return HTTP_PARSE_PARTIAL;
        }
        at += 2;
    }
    size_t trailer_bytes = 0;
    enum http_parse_result result = trailers_measure(input.data + at, end, &trailer_bytes, refusal);
    if (result == HTTP_PARSE_COMPLETE)
        *bytes = at + trailer_bytes;
    return result;
}

size_t http_chunked_decode(char *encoded, size_t bytes)
{
    size_t at = 0, written = 0;
    struct chunk chunk;
    struct http_refusal refusal;
    for (;;) {
        invariant(chunk_line(encoded + at, encoded + bytes, &chunk, &refusal) == HTTP_PARSE_COMPLETE);
        if (chunk.data_bytes == 0)
            return written;
        at += chunk.line_bytes;
        invariant(chunk.data_bytes + 2 <= bytes - at && written < at);
        memmove(encoded + written, encoded + at, chunk.data_bytes);
        written += chunk.data_bytes;
        at += chunk.data_bytes + 2;
    }
}
