/* SPDX-License-Identifier: Apache-2.0 */
/* Frames replies: just enough of HTTP/1.1 (status, Content-Length) and RESP (integer or error) to
 * count answers.
 *
 * Memory: reads the caller's bytes, keeps pointers into them in `struct reply`.
 * Errors: REPLY_BROKEN for anything that can't be framed (chunked, no length, other protocol). */
#ifndef BENCH_REPLY_H
#define BENCH_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum reply_state { REPLY_WHOLE, REPLY_MORE, REPLY_BROKEN };
enum { REPLY_STATUS_MAX = 1000, REPLY_RESP_ERROR = 999 };

struct reply {
    uint32_t status; /* HTTP status, or the RESP integer; REPLY_RESP_ERROR for an error */
    size_t bytes;    /* of the whole reply */
    const char *body;
    size_t body_bytes;
};

static inline bool reply_take_number(const char *text, const char *end, size_t *value)
{
    while (text < end && *text == ' ')
        text++;
    if (text == end || *text < '0' || *text > '9')
        return false;
    *value = 0;
    for (int digits = 0; text < end && *text >= '0' && *text <= '9'; text++, digits++) {
        if (digits == 9)
            return false;
        *value = *value * 10 + (size_t)(*text - '0');
    }
    return text < end && (*text == '\r' || *text == '\n');
}

static inline enum reply_state reply_parse_http(const char *text, size_t bytes, struct reply *reply)
{
    static const char length_name[] = "content-length:";
    const size_t length_name_bytes = sizeof(length_name) - 1;
    if (bytes < sizeof("HTTP/1.1 200\r\n"))
        return REPLY_MORE;
    if (memcmp(text, "HTTP/1.1 ", 9) != 0)
        return REPLY_BROKEN;
    reply->status = (uint32_t)(text[9] - '0') * 100 + (uint32_t)(text[10] - '0') * 10
        + (uint32_t)(text[11] - '0');
    if (reply->status >= REPLY_STATUS_MAX)
        return REPLY_BROKEN;

    const char *end = text + bytes;
    const char *line = memchr(text, '\n', bytes);
    size_t body_bytes = SIZE_MAX;
    while (line != NULL && ++line < end) {
        if (*line == '\r') {
            if (line + 1 == end)
                return REPLY_MORE;
            if (line[1] != '\n' || body_bytes == SIZE_MAX)
                return REPLY_BROKEN;
            reply->body = line + 2;
            reply->body_bytes = body_bytes;
            reply->bytes = (size_t)(reply->body - text) + body_bytes;
            return reply->bytes <= bytes ? REPLY_WHOLE : REPLY_MORE;
        }
        const char *next = memchr(line, '\n', (size_t)(end - line));
        if (next == NULL)
            return REPLY_MORE;
        if ((*line | 0x20) == 'c' && (size_t)(next - line) > length_name_bytes
            && strncasecmp(line, length_name, length_name_bytes) == 0
            && !reply_take_number(line + length_name_bytes, next + 1, &body_bytes))
            return REPLY_BROKEN;
        line = next;
    }
    return REPLY_MORE;
}

static inline enum reply_state reply_parse_resp(const char *text, size_t bytes, struct reply *reply)
{
    const char *end = bytes > 0 ? memchr(text, '\n', bytes) : NULL;
    if (end == NULL)
        return REPLY_MORE;
    size_t value = REPLY_RESP_ERROR;
    if (*text == ':' && !reply_take_number(text + 1, end + 1, &value))
        return REPLY_BROKEN;
    if ((*text != ':' && *text != '-') || value >= REPLY_STATUS_MAX)
        return REPLY_BROKEN;
    reply->status = (uint32_t)value;
    reply->bytes = (size_t)(end + 1 - text);
    reply->body = text;
    reply->body_bytes = reply->bytes;
    return REPLY_WHOLE;
}

/* The text of a member of a JSON body, by its name in quotes with the colon; NULL when there is none. */
static inline const char *reply_member(const struct reply *reply, const char *name, size_t *value_bytes)
{
    const char *start = memmem(reply->body, reply->body_bytes, name, strlen(name));
    if (start == NULL)
        return NULL;
    const char *body_end = reply->body + reply->body_bytes;
    for (start += strlen(name); start < body_end && *start == ' ';)
        start++;
    if (start == body_end || *start++ != '"')
        return NULL;
    const char *end = memchr(start, '"', (size_t)(body_end - start));
    if (end == NULL)
        return NULL;
    *value_bytes = (size_t)(end - start);
    return start;
}

#endif
