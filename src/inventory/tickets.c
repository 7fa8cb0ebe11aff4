/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/tickets.h"

static_assert(sizeof(struct ticket_row) == 28, "the memory budget of a buyer counts on it");
static_assert(ITEMS_LIMIT <= 1 << 16, "item ids are kept in 16 bits");
static_assert(QUANTITY_MAX <= UINT16_MAX, "quantities are kept in 16 bits");

static uint64_t slots_for(uint64_t capacity)
{
    return capacity + capacity / 3 + 8;
}

size_t tickets_bytes(uint64_t capacity)
{
    return capacity * sizeof(struct ticket_row) + slots_for(capacity) * sizeof(uint32_t) + 128;
}

void tickets_create(struct tickets *tickets, struct arena *arena, uint64_t capacity)
{
    invariant(capacity > 0 && capacity < UINT32_MAX);
    *tickets = (struct tickets){ .capacity = capacity, .key_slot_count = slots_for(capacity) };
    tickets->rows = arena_take(arena, capacity, sizeof *tickets->rows);
    tickets->key_slots = arena_take(arena, tickets->key_slot_count, sizeof *tickets->key_slots);
}

/* Keys are keyed hashes already: their high bits are as good as random, nobody outside can
 * choose them. */
static uint64_t key_slot(const struct tickets *tickets, uint64_t key)
{
    return (uint64_t)(((unsigned __int128)key * tickets->key_slot_count) >> 64);
}

ticket_number tickets_add(struct tickets *tickets, const struct ticket_row *row)
{
    invariant(!tickets_full(tickets));
    tickets->rows[tickets->count] = *row;
    const ticket_number number = ++tickets->count;
    if (row->key != 0) {
        uint64_t slot = key_slot(tickets, row->key);
        while (tickets->key_slots[slot] != 0)
            slot = slot + 1 == tickets->key_slot_count ? 0 : slot + 1;
        tickets->key_slots[slot] = (uint32_t)number;
    }
    return number;
}

struct ticket_row *tickets_get(const struct tickets *tickets, ticket_number number)
{
    return number == 0 || number > tickets->count ? NULL : &tickets->rows[number - 1];
}

ticket_number tickets_find_key(const struct tickets *tickets, uint64_t key)
{
    uint64_t slot = key_slot(tickets, key);
    while (tickets->key_slots[slot] != 0) {
        const ticket_number number = tickets->key_slots[slot];
        if (tickets->rows[number - 1].key == key)
            return number;
        slot = slot + 1 == tickets->key_slot_count ? 0 : slot + 1;
    }
    return 0;
}
