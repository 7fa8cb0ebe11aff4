/* SPDX-License-Identifier: Apache-2.0 */
/* api/path_pattern.h: paths with numbers in them. In a pattern '#' stands for a decimal number of
 * 32 bits and '@' for the id of an order, anything up to the next '/'; everything else stands for
 * itself. After a '?' follow the query parameters of the route, separated by spaces. */
#ifndef STAMPEDE_API_PATH_PATTERN_H
#define STAMPEDE_API_PATH_PATTERN_H

#include "base/span.h"

#include <stdint.h>

/* The whole path must fit. *id and *order: what stood there; 0: nothing, or not an id. */
bool path_pattern_matches(const char *pattern, struct span path, uint32_t *id, uint64_t *order);
/* The parameters after the '?' (query.h); "": none. */
const char *path_pattern_query(const char *pattern);

#endif
