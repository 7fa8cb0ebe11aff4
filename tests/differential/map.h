/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/map.h: texts by text, as a hash of Redis has them. */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_MAP_H
#define STAMPEDE_TESTS_DIFFERENTIAL_MAP_H

#include "base/span.h"

struct map_row {
    char *bytes; /* field and value; NULL: the row is free */
    size_t field_size, value_size;
};
struct map {
    struct map_row *rows;
    size_t room, count, used; /* `used` has removed rows too */
};

void map_put(struct map *map, struct span field, struct span value);
bool map_get(const struct map *map, struct span field, struct span *value);
bool map_remove(struct map *map, struct span field);
void map_clear(struct map *map); /* and gives its memory back */
/* The next row from *at on; false: there is none. */
bool map_next(const struct map *map, size_t *at, struct span *field, struct span *value);

#endif
