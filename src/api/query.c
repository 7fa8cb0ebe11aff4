/* SPDX-License-Identifier: Apache-2.0 */
#include "api/query.h"

#include <stdio.h>

enum { NAME_SHOWN = 40 };

struct span query_value(struct span query, const char *name)
{
    struct span pair;
    const size_t size = strlen(name);
    while (span_take_until(&query, '&', &pair))
        if (pair.size > size && memcmp(pair.data, name, size) == 0 && pair.data[size] == '=')
            return span_of(pair.data + size + 1, pair.size - size - 1);
    return SPAN_NONE;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool query_text(struct span value, char *out, size_t most)
{
    size_t size = 0;
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        if (c == '%') {
            const int high = i + 2 < value.size ? hex_digit(value.data[i + 1]) : -1;
            const int low = high >= 0 ? hex_digit(value.data[i + 2]) : -1;
            if (low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (size == most || c == 0)
            return false;
        out[size++] = c;
    }
    out[size] = 0;
    return true;
}

static bool name_is_known(struct span name, const char *known)
{
    struct span rest = span_from_string(known), one;
    while (span_take_until(&rest, ' ', &one))
        if (span_equal(one, name))
            return true;
    return false;
}

static bool name_comes_again(struct span query, struct span name)
{
    struct span pair, other;
    while (span_take_until(&query, '&', &pair))
        if (span_take_until(&pair, '=', &other) && span_equal(other, name))
            return true;
    return false;
}

bool query_check(struct span query, const char *known, char error[QUERY_ERROR])
{
    struct span pair;
    while (span_take_until(&query, '&', &pair)) {
        struct span value = pair, name;
        if (!span_take_until(&value, '=', &name))
            continue; /* nothing between two '&' */
        const int shown = (int)(name.size < NAME_SHOWN ? name.size : NAME_SHOWN);
        if (!name_is_known(name, known))
            snprintf(error, QUERY_ERROR, "Unknown query parameter: %.*s. %s%s%s", shown, name.data,
                known[0] == 0 ? "None is allowed" : "Allowed are: ", known, ".");
        else if (value.size == 0)
            snprintf(error, QUERY_ERROR, "%.*s has no value.", shown, name.data);
        else if (name_comes_again(query, name))
            snprintf(error, QUERY_ERROR, "%.*s occurs twice.", shown, name.data);
        else
            continue;
        return false;
    }
    return true;
}
