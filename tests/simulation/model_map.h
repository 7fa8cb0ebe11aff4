/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/model_map.h: a hash map from three numbers to one, for the model store. A value
 * of 0 means "not there"; nothing is ever removed, so an entry stays where it is until the map
 * grows. */
#ifndef STAMPEDE_TESTS_MODEL_MAP_H
#define STAMPEDE_TESTS_MODEL_MAP_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct map_entry {
    uint64_t a, b, c, value;
    bool used;
};
struct model_map {
    struct map_entry *entries;
    uint64_t slots, used; /* slots: a power of two */
};

static inline struct map_entry *map_at(const struct model_map *map, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t hash = (a * 0x9e3779b97f4a7c15u) ^ (b * 0xc2b2ae3d27d4eb4fu) ^ (c * 0x165667b19e3779f9u);
    hash ^= hash >> 29;
    for (uint64_t slot = hash & (map->slots - 1);; slot = (slot + 1) & (map->slots - 1)) {
        struct map_entry *entry = &map->entries[slot];
        if (!entry->used || (entry->a == a && entry->b == b && entry->c == c))
            return entry;
    }
}

/* Room for `more` keys without moving anything. */
static inline void map_reserve(struct model_map *map, uint64_t more)
{
    if ((map->used + more) * 2 <= map->slots)
        return;
    struct model_map grown = { .slots = map->slots == 0 ? 64 : map->slots, .used = map->used };
    while ((map->used + more) * 2 > grown.slots)
        grown.slots *= 2;
    grown.entries = calloc(grown.slots, sizeof grown.entries[0]);
    invariant(grown.entries != NULL);
    for (uint64_t i = 0; i < map->slots; i++) {
        const struct map_entry *old = &map->entries[i];
        if (old->used)
            *map_at(&grown, old->a, old->b, old->c) = *old;
    }
    free(map->entries);
    *map = grown;
}

#endif
