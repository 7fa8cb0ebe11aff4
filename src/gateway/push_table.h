/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/push_table.h: the push connections of one edge, by connection slot and by user, and the
 * line of those that have to be told something.
 *
 * A socket that is in need stands in the line once, however often something changes meanwhile: what
 * it is told is read when its turn comes. Two orders at once, and it gets them all.
 * Thread: the edge's. Memory: from the arena at create; a slot that was never used costs nothing. */
#ifndef STAMPEDE_GATEWAY_PUSH_TABLE_H
#define STAMPEDE_GATEWAY_PUSH_TABLE_H

#include "base/arena.h"
#include "base/hash.h"
#include "contract/types.h"

#include <stdbool.h>

enum {
    PUSH_USER_SOCKETS_MAX = 8, /* the oldest gives way */
    PUSH_WATCHED_MAX = 8,      /* items that one socket watches */
};

enum push_need { PUSH_NOTHING, PUSH_ORDER, PUSH_STATE };

struct push_socket {
    uint64_t socket; /* edge_socket; 0: the slot is free */
    user_id user;
    ticket_number ticket;              /* PUSH_ORDER: which */
    ticket_number told;                /* the order that was told last, */
    uint64_t told_seen;                /* and which text of it: what the job said */
    uint32_t next;                     /* slot + 1 of an older one of the same user */
    uint32_t line_next, line_previous; /* slot + 1 */
    uint32_t expires_s, issued_s;      /* of the session */
    uint32_t key_mark;                 /* likewise */
    sale_id room;                      /* whose waiting room it follows; 0: none */
    uint64_t room_told;                /* what it was told last of that, in one number */
    uint32_t items_seen;               /* changes of items up to here were told */
    uint8_t watched[PUSH_WATCHED_MAX]; /* places in the table of items */
    uint8_t watched_count;
    channel_index channel; /* of its session */
    uint8_t need;          /* enum push_need */
    uint8_t round;         /* of refreshing all: was visited in this one */
    bool in_line : 1;
    bool asked : 1; /* a job for it is at the worker */
};

struct push_table {
    struct push_socket *sockets; /* by connection slot */
    uint32_t *users;             /* open addressing: slot + 1 of the newest socket; 0: free */
    uint32_t user_mask;
    uint32_t slots, count;
    uint32_t used;                  /* slots from here on were never used */
    uint32_t line_first, line_last; /* slot + 1 */
    struct hash_key key;            /* where users stand */
};

size_t push_table_bytes(uint32_t slots);
void push_table_create(struct push_table *table, struct arena *arena, uint32_t slots);

/* `slot` is the socket's and free. */
struct push_socket *push_table_add(struct push_table *table, uint32_t slot, uint64_t socket, user_id user);
void push_table_remove(struct push_table *table, struct push_socket *socket);
/* NULL: it has gone, or was never a push connection. */
struct push_socket *push_table_find(const struct push_table *table, uint32_t slot, uint64_t socket);
/* From the newest to the oldest of a user. */
struct push_socket *push_table_newest(const struct push_table *table, user_id user);
struct push_socket *push_table_older(const struct push_table *table, const struct push_socket *socket);
/* The oldest of a user that has PUSH_USER_SOCKETS_MAX, else NULL. */
struct push_socket *push_table_excess(const struct push_table *table, user_id user);

void push_table_want(struct push_table *table, struct push_socket *socket, enum push_need need,
    ticket_number ticket);
/* The first of the line, out of it and marked as asked; NULL: nobody stands there. */
struct push_socket *push_table_ask(struct push_table *table);
/* Its job is back; it stands in line again if it wants more. */
void push_table_answered(struct push_table *table, struct push_socket *socket);

#endif
