/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/buyers.h"

#include "base/random.h"

static_assert(sizeof(struct buyer_row) == 24, "the memory budget of a buyer counts on it");
static_assert(ITEMS_LIMIT <= 1 << 16 && SALES_LIMIT <= 1 << 16, "scopes keep ids in 16 bits");

static uint64_t slots_for(uint64_t capacity)
{
    return capacity + capacity / 3 + 8;
}

size_t buyers_bytes(uint64_t capacity)
{
    return capacity * sizeof(struct buyer_row) + slots_for(capacity) * sizeof(uint32_t) + 128;
}

void buyers_create(struct buyers *buyers, struct arena *arena, uint64_t capacity)
{
    invariant(capacity > 0 && capacity < UINT32_MAX);
    *buyers = (struct buyers){ .capacity = capacity, .slot_count = slots_for(capacity) };
    buyers->rows = arena_take(arena, capacity, sizeof *buyers->rows);
    buyers->slots = arena_take(arena, buyers->slot_count, sizeof *buyers->slots);
    random_secret(&buyers->key, sizeof buyers->key);
}

static uint64_t slot_of(const struct buyers *buyers, uint32_t scope, user_id user)
{
    const uint64_t hash = hash_place(buyers->key, user, scope);
    return (uint64_t)(((unsigned __int128)hash * buyers->slot_count) >> 64);
}

/* The slot that holds the row, or the empty one where it belongs. */
static uint64_t slot_find(const struct buyers *buyers, uint32_t scope, user_id user)
{
    uint64_t slot = slot_of(buyers, scope, user);
    while (buyers->slots[slot] != 0) {
        const struct buyer_row *row = &buyers->rows[buyers->slots[slot] - 1];
        if (row->user == user && row->scope == scope)
            break;
        slot = slot + 1 == buyers->slot_count ? 0 : slot + 1;
    }
    return slot;
}

struct buyer_row *buyers_find(const struct buyers *buyers, uint32_t scope, user_id user)
{
    const uint32_t row = buyers->slots[slot_find(buyers, scope, user)];
    return row == 0 ? NULL : &buyers->rows[row - 1];
}

struct buyer_row *buyers_find_or_add(struct buyers *buyers, uint32_t scope, user_id user)
{
    const uint64_t slot = slot_find(buyers, scope, user);
    if (buyers->slots[slot] == 0) {
        invariant(buyers_room(buyers) > 0);
        buyers->rows[buyers->count] = (struct buyer_row){ .user = user, .scope = scope };
        buyers->slots[slot] = (uint32_t)++buyers->count;
    }
    return &buyers->rows[buyers->slots[slot] - 1];
}
