/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/json_cursor.h"

static void skip_space(struct json_cursor *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\n' || *in->at == '\r' || *in->at == '\t'))
        in->at++;
}

static bool take(struct json_cursor *in, char wanted)
{
    skip_space(in);
    if (in->bad || in->at == in->end || *in->at != wanted)
        return false;
    in->at++;
    return true;
}

void cursor_fail(struct json_cursor *in)
{
    in->bad = true;
    in->at = in->end;
}

/* Between two members, or before the first; false at the end. */
static bool next(struct json_cursor *in, unsigned *count, char open, char close)
{
    if (*count == 0 && !take(in, open)) {
        cursor_fail(in);
        return false;
    }
    if (take(in, close))
        return false;
    if (*count > 0 && !take(in, ',')) {
        cursor_fail(in);
        return false;
    }
    ++*count;
    return true;
}

bool cursor_field(struct json_cursor *in, unsigned *count, struct span *name)
{
    if (!next(in, count, '{', '}'))
        return false;
    cursor_string(in, name);
    if (!take(in, ':'))
        cursor_fail(in);
    return !in->bad;
}

bool cursor_element(struct json_cursor *in, unsigned *count)
{
    return next(in, count, '[', ']');
}

bool cursor_is_string(struct json_cursor *in)
{
    skip_space(in);
    return in->at < in->end && *in->at == '"';
}

void cursor_string(struct json_cursor *in, struct span *value)
{
    *value = SPAN_NONE;
    if (!take(in, '"')) {
        cursor_fail(in);
        return;
    }
    const char *first = in->at;
    while (in->at < in->end && *in->at >= ' ' && *in->at <= '~' && *in->at != '"' && *in->at != '\\')
        in->at++;
    if (in->at == in->end || *in->at != '"') { /* not take(): a line break is no part of a string */
        cursor_fail(in);
        return;
    }
    *value = span_of(first, (size_t)(in->at - first));
    in->at++;
}

static size_t digits_take(struct json_cursor *in)
{
    const char *first = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9')
        in->at++;
    return (size_t)(in->at - first);
}

void cursor_u32(struct json_cursor *in, uint32_t *value)
{
    skip_space(in);
    const char *first = in->at;
    const size_t digits = digits_take(in);
    *value = 0;
    const bool another = in->at < in->end && (*in->at == '.' || *in->at == 'e' || *in->at == 'E');
    if (another || span_to_u32(span_of(first, digits), value) != STATUS_OK)
        cursor_fail(in);
}

void cursor_number_skip(struct json_cursor *in)
{
    skip_space(in);
    if (in->at < in->end && *in->at == '-')
        in->at++;
    if (digits_take(in) == 0)
        cursor_fail(in);
    if (in->at < in->end && *in->at == '.') {
        in->at++;
        if (digits_take(in) == 0)
            cursor_fail(in);
    }
    if (in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
        in->at++;
        if (in->at < in->end && (*in->at == '+' || *in->at == '-'))
            in->at++;
        if (digits_take(in) == 0)
            cursor_fail(in);
    }
}

bool cursor_done(struct json_cursor *in)
{
    skip_space(in);
    return !in->bad && in->at == in->end;
}
