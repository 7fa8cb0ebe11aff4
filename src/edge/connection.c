/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/connection.h"

enum { QUEUE_MASK = EDGE_OVERLAP_MAX - 1, SEQUENCE_MASK = (1 << CONNECTION_SEQUENCE_BITS) - 1 };

size_t connections_arena_bytes(uint32_t count)
{
    return (sizeof(struct connection) + sizeof(uint32_t)) * (size_t)count + 128;
}

void connections_create(
    struct connections *table, struct arena *arena, struct buffers *buffers, uint32_t count)
{
    invariant(count > 0 && count <= CONNECTIONS_LIMIT);
    *table = (struct connections){
        .slots = arena_take(arena, count, sizeof(struct connection)),
        .deadlines = arena_take(arena, count, sizeof(uint32_t)),
        .buffers = buffers,
        .count = count,
        .free = CONNECTION_NONE,
    };
}

struct connection *connection_open(struct connections *table, int fd)
{
    uint32_t index = table->free;
    invariant(fd >= 0);
    if (index != CONNECTION_NONE) {
        table->free = table->slots[index].next_free;
    } else {
        if (table->fresh == table->count)
            return NULL;
        index = table->fresh++;
    }
    struct connection *connection = &table->slots[index];
    uint32_t generation = (connection->generation + 1) & ((1u << CONNECTION_GENERATION_BITS) - 1);
    *connection = (struct connection){
        .fd = fd,
        .index = index,
        .generation = generation == 0 ? 1 : generation,
        .next_free = CONNECTION_NONE,
        .dirty = connection->dirty, /* its slot is in the list once, whoever it was for */
    };
    table->deadlines[index] = 0;
    table->open++;
    return connection;
}

void connection_close(struct connections *table, struct connection *connection)
{
    invariant(connection->fd >= 0);
    connection_forgive(table, connection);
    buffer_give(table->buffers, &connection->in);
    buffer_give(table->buffers, &connection->out);
    connection->fd = -1;
    connection->next_free = table->free;
    table->free = connection->index;
    table->deadlines[connection->index] = 0;
    invariant(table->open > 0);
    table->open--;
}

uint64_t connection_token(const struct connection *connection, uint32_t sequence)
{
    return (uint64_t)connection->generation << 32
        | (uint64_t)connection->index << CONNECTION_SEQUENCE_BITS | (sequence & SEQUENCE_MASK);
}

static struct reply *reply_at(struct connection *connection, uint32_t sequence)
{
    if (connection->queue.data == NULL)
        return &connection->single;
    return (struct reply *)(void *)connection->queue.data + (sequence & QUEUE_MASK);
}

struct connection *connection_find(const struct connections *table, uint64_t token, struct reply **reply)
{
    uint32_t index = (uint32_t)(token >> CONNECTION_SEQUENCE_BITS) & (CONNECTIONS_LIMIT - 1);
    if (index >= table->fresh)
        return NULL;
    struct connection *connection = &table->slots[index];
    if (connection->fd < 0 || connection->generation != (uint32_t)(token >> 32))
        return NULL;
    uint32_t ahead = ((uint32_t)token - connection->sequence_done) & SEQUENCE_MASK;
    if (ahead >= connection_owes(connection))
        return NULL;
    *reply = reply_at(connection, connection->sequence_done + ahead);
    return connection;
}

struct connection *connection_find_websocket(const struct connections *table, uint64_t socket)
{
    const uint32_t index = edge_socket_slot(socket);
    if (index >= table->fresh)
        return NULL;
    struct connection *connection = &table->slots[index];
    const bool same = connection->fd >= 0 && connection->generation == (uint32_t)(socket >> 32);
    return same && connection->phase == PHASE_WEBSOCKET ? connection : NULL;
}

bool connection_may_owe_more(struct connections *table, struct connection *connection)
{
    uint32_t owes = connection_owes(connection);
    if (owes == 0)
        return true;
    if (owes == EDGE_OVERLAP_MAX)
        return false;
    if (connection->queue.data != NULL)
        return true;
    struct buffer queue;
    if (!buffer_take(table->buffers, &queue, EDGE_OVERLAP_MAX * sizeof(struct reply)))
        return false; /* one after another then */
    struct reply first = connection->single;
    connection->queue = queue;
    *reply_at(connection, connection->sequence_done) = first;
    return true;
}

struct reply *connection_owe(struct connection *connection, uint32_t now_ms)
{
    uint32_t owes = connection_owes(connection);
    invariant(owes < EDGE_OVERLAP_MAX && (owes == 0 || connection->queue.data != NULL));
    struct reply *reply = reply_at(connection, connection->sequence_next++);
    reply->state = REPLY_WAITING;
    reply->head_only = false;
    reply->started_ms = now_ms;
    reply->timed = EDGE_NOT_TIMED;
    return reply;
}

struct reply *connection_oldest(struct connection *connection)
{
    invariant(connection_owes(connection) > 0);
    return reply_at(connection, connection->sequence_done);
}

void connection_paid(struct connections *table, struct connection *connection)
{
    struct reply *reply = connection_oldest(connection);
    if (reply->state == REPLY_BYTES)
        buffer_give(table->buffers, &reply->bytes);
    connection->sequence_done++;
    if (connection_owes(connection) == 0)
        buffer_give(table->buffers, &connection->queue);
}

void connection_forgive(struct connections *table, struct connection *connection)
{
    while (connection_owes(connection) > 0)
        connection_paid(table, connection);
}
