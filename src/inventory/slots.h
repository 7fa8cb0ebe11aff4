/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/slots.h: the index of a table: rows found by a hash, in an array of slots with linear
 * probing. A slot holds a row's index plus one; 0: empty.
 * Thread: the table's. Memory: the table's; never more than three quarters of the slots are used. */
#ifndef STAMPEDE_INVENTORY_SLOTS_H
#define STAMPEDE_INVENTORY_SLOTS_H

#include <stdint.h>

struct slots {
    uint32_t *at;
    uint64_t count;
};

static inline uint64_t slots_for(uint64_t rows)
{
    return rows + rows / 3 + 8;
}
/* Where a hash belongs. Its high bits decide. */
static inline uint64_t slots_home(const struct slots *slots, uint64_t hash)
{
    return (uint64_t)(((unsigned __int128)hash * slots->count) >> 64);
}
static inline uint64_t slots_next(const struct slots *slots, uint64_t slot)
{
    return slot + 1 == slots->count ? 0 : slot + 1;
}
static inline void slots_put(struct slots *slots, uint64_t home, uint64_t row)
{
    while (slots->at[home] != 0)
        home = slots_next(slots, home);
    slots->at[home] = (uint32_t)(row + 1);
}
static inline void slots_expect(const struct slots *slots, uint64_t home) /* a prefetch */
{
    __builtin_prefetch(&slots->at[home], 1);
}
/* Empties a slot, and moves those after it up so that each is still found from its home. `home_of`
 * answers where the row in a slot belongs. */
void slots_remove(struct slots *slots, uint64_t slot,
    uint64_t (*home_of)(const void *table, uint32_t row), const void *table);

#endif
