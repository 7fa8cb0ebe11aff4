/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/push_table.h"

#include "base/random.h"

static uint32_t users_size(uint32_t slots)
{
    uint32_t size = 64;
    while (size < 2 * slots)
        size *= 2;
    return size;
}

size_t push_table_bytes(uint32_t slots)
{
    return sizeof(struct push_socket) * slots + sizeof(uint32_t) * (size_t)users_size(slots) + 256;
}

void push_table_create(struct push_table *table, struct arena *arena, uint32_t slots)
{
    const uint32_t users = users_size(slots);
    *table = (struct push_table){ .slots = slots, .user_mask = users - 1 };
    table->sockets = arena_take(arena, slots, sizeof *table->sockets);
    table->users = arena_take(arena, users, sizeof *table->users);
    random_secret(&table->key, sizeof table->key);
}

static struct push_socket *at(const struct push_table *table, uint32_t slot_and_one)
{
    return slot_and_one == 0 ? NULL : &table->sockets[slot_and_one - 1];
}

static uint32_t number_of(const struct push_table *table, const struct push_socket *socket)
{
    return (uint32_t)(socket - table->sockets) + 1;
}

/* ---- users ---- */

static uint32_t home_of(const struct push_table *table, user_id user)
{
    return (uint32_t)hash_place(table->key, user, 0) & table->user_mask;
}

/* The place of the user, or the free place where it belongs. There are more places than sockets. */
static uint32_t place_of(const struct push_table *table, user_id user)
{
    uint32_t place = home_of(table, user);
    while (table->users[place] != 0 && at(table, table->users[place])->user != user)
        place = (place + 1) & table->user_mask;
    return place;
}

/* Frees a place and moves up the entries behind it, so that a search still finds them. */
static void place_free(struct push_table *table, uint32_t place)
{
    uint32_t hole = place;
    table->users[hole] = 0;
    for (uint32_t i = (hole + 1) & table->user_mask; table->users[i] != 0;
         i = (i + 1) & table->user_mask) {
        const uint32_t home = home_of(table, at(table, table->users[i])->user);
        const uint32_t away = (i - home) & table->user_mask;
        if (away < ((i - hole) & table->user_mask))
            continue;
        table->users[hole] = table->users[i];
        table->users[i] = 0;
        hole = i;
    }
}

struct push_socket *push_table_newest(const struct push_table *table, user_id user)
{
    return at(table, table->users[place_of(table, user)]);
}

struct push_socket *push_table_older(const struct push_table *table, const struct push_socket *socket)
{
    return at(table, socket->next);
}

struct push_socket *push_table_excess(const struct push_table *table, user_id user)
{
    struct push_socket *socket = push_table_newest(table, user);
    for (uint32_t i = 1; socket != NULL && i < PUSH_USER_SOCKETS_MAX; i++)
        socket = push_table_older(table, socket);
    return socket;
}

/* ---- sockets ---- */

struct push_socket *push_table_add(struct push_table *table, uint32_t slot, uint64_t socket, user_id user)
{
    invariant(slot < table->slots && socket != 0 && user != 0);
    struct push_socket *added = &table->sockets[slot];
    invariant(added->socket == 0);
    const uint32_t place = place_of(table, user);
    *added = (struct push_socket){ .socket = socket, .user = user, .next = table->users[place] };
    table->users[place] = slot + 1;
    table->count++;
    if (table->used <= slot)
        table->used = slot + 1;
    return added;
}

struct push_socket *push_table_find(const struct push_table *table, uint32_t slot, uint64_t socket)
{
    if (slot >= table->used || table->sockets[slot].socket != socket)
        return NULL;
    return &table->sockets[slot];
}

/* ---- the line ---- */

static void line_join(struct push_table *table, struct push_socket *socket)
{
    const uint32_t number = number_of(table, socket);
    socket->in_line = true;
    socket->line_next = 0;
    socket->line_previous = table->line_last;
    if (table->line_last != 0)
        at(table, table->line_last)->line_next = number;
    else
        table->line_first = number;
    table->line_last = number;
}

static void line_leave(struct push_table *table, struct push_socket *socket)
{
    if (socket->line_previous != 0)
        at(table, socket->line_previous)->line_next = socket->line_next;
    else
        table->line_first = socket->line_next;
    if (socket->line_next != 0)
        at(table, socket->line_next)->line_previous = socket->line_previous;
    else
        table->line_last = socket->line_previous;
    socket->in_line = false;
}

void push_table_want(
    struct push_table *table, struct push_socket *socket, enum push_need need, ticket_number ticket)
{
    const bool same = socket->need == need && socket->ticket == ticket;
    if (socket->need != PUSH_NOTHING && !same) {
        need = PUSH_STATE;
        ticket = 0;
    }
    socket->need = (uint8_t)need;
    socket->ticket = ticket;
    if (!socket->in_line && !socket->asked)
        line_join(table, socket);
}

struct push_socket *push_table_ask(struct push_table *table)
{
    struct push_socket *socket = at(table, table->line_first);
    if (socket == NULL)
        return NULL;
    line_leave(table, socket);
    socket->asked = true;
    return socket;
}

void push_table_answered(struct push_table *table, struct push_socket *socket)
{
    invariant(socket->asked && !socket->in_line);
    socket->asked = false;
    if (socket->need != PUSH_NOTHING)
        line_join(table, socket);
}

void push_table_remove(struct push_table *table, struct push_socket *socket)
{
    const uint32_t number = number_of(table, socket), place = place_of(table, socket->user);
    if (socket->in_line)
        line_leave(table, socket);
    uint32_t *link = &table->users[place];
    while (*link != number) {
        invariant(*link != 0);
        link = &at(table, *link)->next;
    }
    *link = socket->next;
    if (table->users[place] == 0)
        place_free(table, place);
    *socket = (struct push_socket){ .socket = 0 };
    invariant(table->count > 0);
    table->count--;
}
