/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/server_name.h"

static bool is_wildcard(struct span pattern)
{
    return span_starts_with(pattern, SPAN("*."));
}

bool server_name_matches(struct span pattern, struct span name)
{
    if (!is_wildcard(pattern))
        return name.size > 0 && span_equal_ignoring_case(pattern, name);
    const char *dot = name.size == 0 ? NULL : memchr(name.data, '.', name.size);
    if (dot == NULL || dot == name.data)
        return false;
    const size_t label = (size_t)(dot - name.data);
    return span_equal_ignoring_case(
        span_of(pattern.data + 1, pattern.size - 1), span_of(dot, name.size - label));
}

static bool names_hold(const struct server_names *names, struct span name, bool wildcards)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const struct span pattern = span_from_string(names->list[i]);
        if (is_wildcard(pattern) == wildcards && server_name_matches(pattern, name))
            return true;
    }
    return false;
}

uint32_t server_name_choose(
    const struct server_names *const *certificates, uint32_t count, struct span name)
{
    for (int wildcards = 0; wildcards <= 1; wildcards++)
        for (uint32_t i = 0; i < count; i++)
            if (names_hold(certificates[i], name, wildcards != 0))
                return i;
    return 0;
}
