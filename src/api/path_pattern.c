/* SPDX-License-Identifier: Apache-2.0 */
#include "api/path_pattern.h"

bool path_pattern_matches(const char *pattern, struct span path, uint32_t *id, uint64_t *order)
{
    *id = 0;
    *order = 0;
    while (*pattern != 0 && *pattern != '?' && path.size > 0) {
        if (*pattern == '#') {
            if (!span_take_u32(&path, id))
                return false;
        } else if (*pattern == '@') {
            size_t chars = 0;
            while (chars < path.size && path.data[chars] != '/')
                chars++;
            if (span_to_hex64(span_of(path.data, chars), order) != STATUS_OK)
                *order = 0;
            path = span_of(path.data + chars, path.size - chars);
        } else {
            if (*pattern != *path.data)
                return false;
            path = span_of(path.data + 1, path.size - 1);
        }
        pattern++;
    }
    return (*pattern == 0 || *pattern == '?') && path.size == 0;
}

const char *path_pattern_query(const char *pattern)
{
    const char *mark = strchr(pattern, '?');
    return mark == NULL ? "" : mark + 1;
}
