/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/heard.h"

#include <strings.h>

static const char version[] = "HTTP/1.1 ";
enum { VERSION_BYTES = sizeof version - 1, STATUS_DIGITS = 3, LENGTH_DIGITS_MAX = 9 };

static bool field_is(struct span line, const char *name, struct span *value)
{
    const size_t size = strlen(name);
    if (line.size <= size || line.data[size] != ':' || strncasecmp(line.data, name, size) != 0)
        return false;
    *value = span_of(line.data + size + 1, line.size - size - 1);
    while (value->size > 0 && value->data[0] == ' ')
        *value = span_of(value->data + 1, value->size - 1);
    return true;
}

static bool line_take(struct heard *heard, struct span line, bool *length_seen)
{
    struct span value;
    uint64_t number = 0;
    if (field_is(line, "content-length", &value)) {
        if (*length_seen || value.size > LENGTH_DIGITS_MAX || span_to_u64(value, &number) != STATUS_OK)
            return false;
        heard->body_bytes = (size_t)number;
        *length_seen = true;
    } else if (field_is(line, "retry-after", &value)) {
        if (value.size <= LENGTH_DIGITS_MAX && span_to_u64(value, &number) == STATUS_OK)
            heard->retry_after_s = (uint32_t)number;
    } else if (field_is(line, "connection", &value)) {
        heard->closes = value.size == 5 && strncasecmp(value.data, "close", 5) == 0;
    } else if (field_is(line, "transfer-encoding", &value)) {
        return false; /* Stampede never does */
    }
    return true;
}

static bool status_take(struct heard *heard, struct span line)
{
    uint32_t status = 0;
    if (line.size < VERSION_BYTES + STATUS_DIGITS || memcmp(line.data, version, VERSION_BYTES) != 0)
        return false;
    for (size_t i = VERSION_BYTES; i < VERSION_BYTES + STATUS_DIGITS; i++) {
        if (line.data[i] < '0' || line.data[i] > '9')
            return false;
        status = 10 * status + (uint32_t)(line.data[i] - '0');
    }
    heard->status = status;
    return status >= 100;
}

static enum word word_of(const struct heard *heard)
{
    const struct span type = heard_text(heard, "\"type\":");
    const struct span prefix = SPAN("/problems/");
    if (heard->status >= 200 && heard->status < 300) {
        const struct span outcome = heard_text(heard, "\"outcome\":");
        if (span_equal(outcome, SPAN("won")))
            return WORD_WON;
        return span_equal(outcome, SPAN("deciding")) ? WORD_DECIDING : WORD_SERVED;
    }
    if (type.size <= prefix.size || memcmp(type.data, prefix.data, prefix.size) != 0)
        return WORD_OTHER;
    return word_find(span_of(type.data + prefix.size, type.size - prefix.size));
}

enum heard_state heard_parse(struct span bytes, size_t capacity, struct heard *heard)
{
    const char *end = bytes.size > 0 ? memmem(bytes.data, bytes.size, "\r\n\r\n", 4) : NULL;
    bool length_seen = false, first = true;
    if (end == NULL)
        return bytes.size < capacity ? HEARD_MORE : HEARD_BROKEN;
    *heard = (struct heard){ .head_bytes = (size_t)(end - bytes.data) + 4 };
    for (const char *at = bytes.data; at < end + 2;) {
        const char *stop = memmem(at, (size_t)(end + 2 - at), "\r\n", 2);
        if (stop == NULL)
            return HEARD_BROKEN;
        const struct span line = span_of(at, (size_t)(stop - at));
        if (first ? !status_take(heard, line) : !line_take(heard, line, &length_seen))
            return HEARD_BROKEN;
        first = false;
        at = stop + 2;
    }
    if (!length_seen && heard->status != 204)
        return HEARD_BROKEN;
    const size_t there = bytes.size - heard->head_bytes;
    if (there < heard->body_bytes && bytes.size < capacity)
        return HEARD_MORE;
    heard->body =
        span_of(bytes.data + heard->head_bytes, there < heard->body_bytes ? there : heard->body_bytes);
    heard->word = word_of(heard);
    return HEARD_WHOLE;
}

static const char *value_find(const struct heard *heard, const char *name, const char **end)
{
    const char *at =
        heard->body.size > 0 ? memmem(heard->body.data, heard->body.size, name, strlen(name)) : NULL;
    *end = heard->body.data + heard->body.size;
    if (at == NULL)
        return NULL;
    at += strlen(name);
    while (at < *end && *at == ' ')
        at++;
    return at < *end ? at : NULL;
}

struct span heard_text(const struct heard *heard, const char *name)
{
    const char *end, *at = value_find(heard, name, &end);
    if (at == NULL || *at++ != '"')
        return SPAN_NONE;
    const char *quote = at < end ? memchr(at, '"', (size_t)(end - at)) : NULL;
    return quote == NULL ? SPAN_NONE : span_of(at, (size_t)(quote - at));
}

bool heard_take(const struct heard *heard, const char *name, char *out, size_t size)
{
    const struct span text = heard_text(heard, name);
    if (text.size != size)
        return false;
    memcpy(out, text.data, size);
    return true;
}

uint64_t heard_number(const struct heard *heard, const char *name, uint64_t missing)
{
    const char *end, *at = value_find(heard, name, &end);
    uint64_t value = 0;
    size_t digits = 0;
    if (at == NULL)
        return missing;
    while (at + digits < end && digits < 18 && at[digits] >= '0' && at[digits] <= '9')
        value = 10 * value + (uint64_t)(at[digits++] - '0');
    return digits > 0 ? value : missing;
}
