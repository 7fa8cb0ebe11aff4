/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/slots.h"

/* From `from` to `to`, going round. */
static uint64_t distance(const struct slots *slots, uint64_t from, uint64_t to)
{
    return to >= from ? to - from : to + slots->count - from;
}

void slots_remove(struct slots *slots, uint64_t slot,
    uint64_t (*home_of)(const void *table, uint32_t row), const void *table)
{
    uint64_t hole = slot;
    for (uint64_t next = slots_next(slots, hole); slots->at[next] != 0; next = slots_next(slots, next)) {
        const uint64_t home = home_of(table, slots->at[next] - 1);
        if (distance(slots, home, next) < distance(slots, hole, next))
            continue; /* it belongs after the hole */
        slots->at[hole] = slots->at[next];
        hole = next;
    }
    slots->at[hole] = 0;
}
