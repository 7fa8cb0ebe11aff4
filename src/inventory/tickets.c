/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/tickets.h"

#include "base/random.h"

static_assert(ITEMS_LIMIT <= 1 << TICKET_ITEM_BITS, "a row has room for every id");
static_assert(QUANTITY_MAX < 1 << TICKET_QUANTITY_BITS, "and for every quantity");

size_t tickets_bytes(uint64_t capacity)
{
    return capacity * (sizeof(struct ticket_row) + sizeof(uint32_t))
        + 2 * slots_for(capacity) * sizeof(uint32_t) + 256;
}

void tickets_create(struct tickets *tickets, struct arena *arena, uint64_t capacity)
{
    invariant(capacity > 0 && capacity < UINT32_MAX);
    *tickets = (struct tickets){ .capacity = capacity };
    tickets->rows = arena_take(arena, capacity, sizeof *tickets->rows);
    tickets->moved_number = arena_take(arena, capacity, sizeof *tickets->moved_number);
    tickets->keys.count = tickets->numbers.count = slots_for(capacity);
    tickets->keys.at = arena_take(arena, tickets->keys.count, sizeof *tickets->keys.at);
    tickets->numbers.at = arena_take(arena, tickets->numbers.count, sizeof *tickets->numbers.at);
    random_secret(&tickets->place, sizeof tickets->place);
}

/* Keys are keyed hashes already: their high bits are as good as random, nobody outside can
 * choose them. */
static uint64_t key_home(const void *table, uint32_t row)
{
    const struct tickets *tickets = table;
    return slots_home(&tickets->keys, tickets->rows[row].key);
}

static uint64_t number_home(const void *table, uint32_t row)
{
    const struct tickets *tickets = table;
    return slots_home(&tickets->numbers, hash_place(tickets->place, tickets->moved_number[row], 0));
}

static void row_use(struct tickets *tickets, uint64_t at, const struct ticket_row *from, uint32_t number)
{
    struct ticket_row *row = &tickets->rows[at];
    *row = *from;
    row->used = 1;
    row->moved = number != at + 1;
    tickets->keyed += row->key != 0;
    if (row->key != 0)
        slots_put(&tickets->keys, key_home(tickets, (uint32_t)at), at);
    if (row->moved) {
        tickets->moved_number[at] = number;
        slots_put(&tickets->numbers, number_home(tickets, (uint32_t)at), at);
        tickets->moved++;
    }
}

ticket_number tickets_add(struct tickets *tickets, const struct ticket_row *row)
{
    invariant(!tickets_full(tickets));
    uint64_t at = tickets->rows_end;
    ticket_number number = ++tickets->last;
    if (tickets->free_head != 0) {
        at = tickets->free_head - 1;
        tickets->free_head = tickets->rows[at].user;
        tickets->free_count--;
    } else {
        tickets->rows_end++;
    }
    row_use(tickets, at, row, (uint32_t)number);
    return number;
}

/* Its slot among the moved ones, or an empty one. */
static uint64_t number_slot(const struct tickets *tickets, ticket_number number)
{
    uint64_t slot = slots_home(&tickets->numbers, hash_place(tickets->place, number, 0));
    while (tickets->numbers.at[slot] != 0 && tickets->moved_number[tickets->numbers.at[slot] - 1] != number)
        slot = slots_next(&tickets->numbers, slot);
    return slot;
}

struct ticket_row *tickets_get(const struct tickets *tickets, ticket_number number)
{
    if (number == 0 || number > tickets->last)
        return NULL;
    if (__builtin_expect(number <= tickets->rows_end, 1)) {
        struct ticket_row *own = &tickets->rows[number - 1];
        if (__builtin_expect(own->used && !own->moved, 1))
            return own;
    }
    if (tickets->moved == 0)
        return NULL;
    const uint32_t row = tickets->numbers.at[number_slot(tickets, number)];
    return row == 0 ? NULL : &tickets->rows[row - 1];
}

/* The slot of a row with this key, or an empty one. */
static uint64_t key_slot(const struct tickets *tickets, uint64_t key)
{
    uint64_t slot = slots_home(&tickets->keys, key);
    while (tickets->keys.at[slot] != 0 && tickets->rows[tickets->keys.at[slot] - 1].key != key)
        slot = slots_next(&tickets->keys, slot);
    return slot;
}

ticket_number tickets_find_key(const struct tickets *tickets, uint64_t key)
{
    const uint32_t row = tickets->keys.at[key_slot(tickets, key)];
    return row == 0 ? 0 : tickets_number(tickets, &tickets->rows[row - 1]);
}

void tickets_forget(struct tickets *tickets, struct ticket_row *row)
{
    invariant(row->used);
    const uint64_t at = (uint64_t)(row - tickets->rows);
    tickets->keyed -= row->key != 0;
    if (row->key != 0)
        slots_remove(&tickets->keys, key_slot(tickets, row->key), key_home, tickets);
    if (row->moved) {
        slots_remove(&tickets->numbers, number_slot(tickets, tickets->moved_number[at]),
            number_home, tickets);
        tickets->moved_number[at] = 0;
        tickets->moved--;
    }
    *row = (struct ticket_row){ .user = tickets->free_head };
    tickets->free_head = at + 1;
    tickets->free_count++;
}

bool tickets_restore_row(struct tickets *tickets, const struct ticket_row *row, uint32_t number)
{
    if (tickets->rows_end == tickets->capacity || row->state > TICKET_WRITTEN_OFF || row->used
        || row->moved)
        return false;
    const uint64_t at = tickets->rows_end++;
    if (number != 0) {
        row_use(tickets, at, row, number);
    } else {
        tickets->rows[at] = *row;
        tickets->free_count++;
    }
    return true;
}

/* The free rows are a chain through all of them. */
static bool chain_is_whole(const struct tickets *tickets)
{
    uint64_t length = 0;
    for (uint64_t next = tickets->free_head; next != 0; next = tickets->rows[next - 1].user)
        if (next > tickets->rows_end || tickets->rows[next - 1].used || ++length > tickets->free_count)
            return false;
    return length == tickets->free_count;
}

bool tickets_restore_end(struct tickets *tickets, ticket_number last, uint64_t free_head)
{
    tickets->last = last;
    tickets->free_head = free_head;
    return last >= tickets_used(tickets) && last <= TICKET_NUMBER_MAX && chain_is_whole(tickets);
}

const char *tickets_check(const struct tickets *tickets)
{
    uint64_t used = 0, keyed = 0;
    for (uint64_t i = 0; i < tickets->rows_end; i++) {
        const struct ticket_row *row = &tickets->rows[i];
        if (!row->used)
            continue;
        const ticket_number number = tickets_number(tickets, row);
        used++;
        keyed += row->key != 0;
        if (tickets_get(tickets, number) != row)
            return "I13: two tickets have one number, or a ticket can't be found by its own";
        if (row->key != 0 && tickets_find_key(tickets, row->key) != number)
            return "I8: a ticket can't be found by its key";
    }
    return used == tickets_used(tickets) && keyed == tickets->keyed && chain_is_whole(tickets)
        ? NULL
        : "free rows of tickets, or their keys, do not add up";
}
