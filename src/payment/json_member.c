/* SPDX-License-Identifier: Apache-2.0 */
/* payment/json_member.c: finds a member by skipping the values before it. */
#include "payment/json_member.h"

static size_t space_skip(struct span text, size_t at)
{
    while (at < text.size && strchr(" \t\r\n", text.data[at]) != NULL && text.data[at] != '\0')
        at++;
    return at;
}

/* `at` is a quote; answers where the string is over, past its other quote. */
static size_t string_skip(struct span text, size_t at)
{
    for (at++; at < text.size && text.data[at] != '"'; at++) {
        if (text.data[at] == '\\')
            at++;
    }
    return at < text.size ? at + 1 : text.size;
}

/* Where the value is over: at the comma or brace after it. */
static size_t value_skip(struct span text, size_t at)
{
    size_t depth = 0;
    while (at < text.size) {
        const char c = text.data[at];
        if (c == '"') {
            at = string_skip(text, at);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}'))
            return at;
        if (c == '{' || c == '[')
            depth++;
        if ((c == '}' || c == ']') && depth > 0)
            depth--;
        at++;
    }
    return at;
}

bool json_member_cut(struct span text, const char *name, struct span *value)
{
    size_t at = space_skip(text, 0) + 1;
    while (at < text.size) {
        const size_t start = space_skip(text, at);
        const size_t end = string_skip(text, start);
        const size_t from = space_skip(text, space_skip(text, end) + 1);
        const size_t until = value_skip(text, from);
        if (until >= text.size)
            return false;
        if (end - start >= 2
            && span_equal(span_of(text.data + start + 1, end - start - 2), span_from_string(name))) {
            *value = span_of(text.data + from, until - from);
            while (value->size > 0 && strchr(" \t\r\n", value->data[value->size - 1]) != NULL)
                value->size--;
            return true;
        }
        at = until + 1;
    }
    return false;
}
