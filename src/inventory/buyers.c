/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/buyers.h"

#include "base/random.h"

static_assert(sizeof(struct buyer_row) == 20, "the memory budget of a buyer counts on it");
static_assert(ITEMS_LIMIT <= 1 << BUYER_SCOPE_ID_BITS && SALES_LIMIT <= 1 << BUYER_SCOPE_ID_BITS,
    "a scope has room for every id");

size_t buyers_bytes(uint64_t capacity)
{
    return capacity * (sizeof(struct buyer_row) + sizeof(uint32_t))
        + slots_for(capacity) * sizeof(uint32_t) + 192;
}

void buyers_create(struct buyers *buyers, struct arena *arena, uint64_t capacity)
{
    invariant(capacity > 0 && capacity < UINT32_MAX);
    *buyers = (struct buyers){ .capacity = capacity };
    buyers->rows = arena_take(arena, capacity, sizeof *buyers->rows);
    buyers->cool_until_s = arena_take(arena, capacity, sizeof *buyers->cool_until_s);
    buyers->slots.count = slots_for(capacity);
    buyers->slots.at = arena_take(arena, buyers->slots.count, sizeof *buyers->slots.at);
    random_secret(&buyers->key, sizeof buyers->key);
}

static uint64_t home_of(const void *table, uint32_t row)
{
    const struct buyers *buyers = table;
    return slots_home(
        &buyers->slots, hash_place(buyers->key, buyers->rows[row].user, buyers->rows[row].scope));
}

uint64_t buyers_slot(const struct buyers *buyers, uint32_t scope, user_id user)
{
    uint64_t slot = slots_home(&buyers->slots, hash_place(buyers->key, user, scope));
    while (buyers->slots.at[slot] != 0) {
        const struct buyer_row *row = &buyers->rows[buyers->slots.at[slot] - 1];
        if (row->user == user && row->scope == scope)
            break;
        slot = slots_next(&buyers->slots, slot);
    }
    return slot;
}

struct buyer_row *buyers_find(const struct buyers *buyers, uint32_t scope, user_id user)
{
    return buyers_at(buyers, buyers_slot(buyers, scope, user));
}

struct buyer_row *buyers_at_or_add(struct buyers *buyers, uint64_t slot, uint32_t scope, user_id user)
{
    if (buyers->slots.at[slot] != 0)
        return &buyers->rows[buyers->slots.at[slot] - 1];
    invariant(buyers_room(buyers) > 0);
    uint64_t at = buyers->rows_end;
    if (buyers->free_head != 0) {
        at = buyers->free_head - 1;
        buyers->free_head = buyers->rows[at].user;
        buyers->free_count--;
    } else {
        buyers->rows_end++;
    }
    buyers->rows[at] = (struct buyer_row){ .user = user, .scope = scope };
    buyers->slots.at[slot] = (uint32_t)(at + 1);
    return &buyers->rows[at];
}

struct buyer_row *buyers_find_or_add(struct buyers *buyers, uint32_t scope, user_id user)
{
    return buyers_at_or_add(buyers, buyers_slot(buyers, scope, user), scope, user);
}

void buyers_forget(struct buyers *buyers, struct buyer_row *row)
{
    invariant(row->scope != 0 && row->used == 0);
    const uint64_t at = (uint64_t)(row - buyers->rows);
    slots_remove(&buyers->slots, buyers_slot(buyers, row->scope, row->user), home_of, buyers);
    if (row->returns != 0)
        buyers->cool_until_s[at] = 0;
    *row = (struct buyer_row){ .user = buyers->free_head };
    buyers->free_head = at + 1;
    buyers->free_count++;
}

bool buyers_restore_row(struct buyers *buyers, const struct buyer_row *row, uint32_t cool_until_s)
{
    if (buyers->rows_end == buyers->capacity)
        return false;
    const uint64_t at = buyers->rows_end++;
    buyers->rows[at] = *row;
    if (row->returns != 0)
        buyers->cool_until_s[at] = cool_until_s;
    if (row->scope != 0)
        slots_put(&buyers->slots, home_of(buyers, (uint32_t)at), at);
    else
        buyers->free_count++;
    return true;
}

/* The free rows are a chain through all of them. */
static bool chain_is_whole(const struct buyers *buyers)
{
    uint64_t length = 0;
    for (uint64_t next = buyers->free_head; next != 0; next = buyers->rows[next - 1].user)
        if (next > buyers->rows_end || buyers->rows[next - 1].scope != 0 || ++length > buyers->free_count)
            return false;
    return length == buyers->free_count;
}

bool buyers_restore_end(struct buyers *buyers, uint64_t free_head)
{
    buyers->free_head = free_head;
    return chain_is_whole(buyers);
}

const char *buyers_check(const struct buyers *buyers)
{
    for (uint64_t i = 0; i < buyers->rows_end; i++) {
        const struct buyer_row *row = &buyers->rows[i];
        if (row->scope != 0 && buyers_find(buyers, row->scope, row->user) != row)
            return "I4: a user has two counters, or one that can't be found";
    }
    return chain_is_whole(buyers) ? NULL : "free rows of users do not add up";
}
