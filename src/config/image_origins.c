/* SPDX-License-Identifier: Apache-2.0 */
#include "config/image_origins.h"

#include <string.h>

/* The length of the next origin; *list is moved to it. */
static size_t origin_next(const char **list)
{
    *list += strspn(*list, ", ");
    return strcspn(*list, ", ");
}

/* https://host or http://host, perhaps with a port; small letters, since browsers compare so. */
static bool origin_is_good(struct span origin)
{
    const size_t scheme = span_starts_with(origin, SPAN("https://")) ? 8
        : span_starts_with(origin, SPAN("http://"))                  ? 7
                                                                     : 0;
    size_t host = 0, port = 0, at = scheme;
    for (; at < origin.size && origin.data[at] != ':'; at++, host++) {
        const char c = origin.data[at];
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.')
            return false;
    }
    const bool has_port = at < origin.size;
    for (at++; at < origin.size; at++, port++)
        if (origin.data[at] < '0' || origin.data[at] > '9')
            return false;
    return scheme > 0 && host > 0 && (!has_port || (port > 0 && port <= 5));
}

const char *image_origins_wrong(const char *list)
{
    for (size_t size; (size = origin_next(&list)) > 0; list += size)
        if (!origin_is_good(span_of(list, size)))
            return "page.image_origins must be origins like https://img.example, separated by "
                   "commas or spaces";
    return NULL;
}

bool image_origins_has(const char *list, struct span address)
{
    for (size_t size; (size = origin_next(&list)) > 0; list += size)
        if (address.size > size && memcmp(address.data, list, size) == 0 && address.data[size] == '/')
            return true;
    return false;
}
