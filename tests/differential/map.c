/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/map.h"

#include "base/hash.h"

#include <stdlib.h>

enum { ROOM_FIRST = 64 };
static char removed[1]; /* the bytes of a row that was taken out */

static bool row_is(const struct map_row *row, struct span field)
{
    return row->bytes != removed && row->field_size == field.size
        && memcmp(row->bytes, field.data, field.size) == 0;
}

/* The field's row, or a free one where it belongs. */
static struct map_row *row_find(const struct map *map, struct span field)
{
    static const struct hash_key key = { 1, 2 };
    size_t at = hash_siphash(key, field.data, field.size) & (map->room - 1);
    while (map->rows[at].bytes != NULL && !row_is(&map->rows[at], field))
        at = (at + 1) & (map->room - 1);
    return &map->rows[at];
}

static void map_grow(struct map *map)
{
    struct map old = *map;
    map->room = old.count * 4 < ROOM_FIRST ? ROOM_FIRST : old.room * (old.count * 2 > old.used ? 2 : 1);
    map->rows = calloc(map->room, sizeof *map->rows);
    map->used = old.count;
    for (size_t i = 0; i < old.room; i++) {
        const struct map_row *row = &old.rows[i];
        if (row->bytes != NULL && row->bytes != removed)
            *row_find(map, span_of(row->bytes, row->field_size)) = *row;
    }
    free(old.rows);
}

void map_put(struct map *map, struct span field, struct span value)
{
    if (map->used * 2 >= map->room)
        map_grow(map);
    struct map_row *row = row_find(map, field);
    const bool is_new = row->bytes == NULL;
    char *bytes = malloc(field.size + value.size + 1);
    invariant(bytes != NULL);
    memcpy(bytes, field.data, field.size);
    if (value.size > 0)
        memcpy(bytes + field.size, value.data, value.size);
    free(row->bytes);
    *row = (struct map_row){ bytes, field.size, value.size };
    map->count += is_new;
    map->used += is_new;
}

bool map_get(const struct map *map, struct span field, struct span *value)
{
    if (map->room == 0)
        return false;
    const struct map_row *row = row_find(map, field);
    if (row->bytes != NULL)
        *value = span_of(row->bytes + row->field_size, row->value_size);
    return row->bytes != NULL;
}

bool map_remove(struct map *map, struct span field)
{
    struct map_row *row = map->room == 0 ? NULL : row_find(map, field);
    if (row == NULL || row->bytes == NULL)
        return false;
    free(row->bytes);
    *row = (struct map_row){ .bytes = removed };
    map->count--;
    return true;
}

void map_clear(struct map *map)
{
    for (size_t i = 0; i < map->room; i++)
        if (map->rows[i].bytes != removed)
            free(map->rows[i].bytes);
    free(map->rows);
    *map = (struct map){ 0 };
}

bool map_next(const struct map *map, size_t *at, struct span *field, struct span *value)
{
    for (; *at < map->room; ++*at) {
        const struct map_row *row = &map->rows[*at];
        if (row->bytes == NULL || row->bytes == removed)
            continue;
        *field = span_of(row->bytes, row->field_size);
        *value = span_of(row->bytes + row->field_size, row->value_size);
        ++*at;
        return true;
    }
    return false;
}
