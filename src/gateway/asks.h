/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/asks.h: questions to the inventory whose answer is not the reply yet. Bounded: ASKS_MAX at a time.
 * Thread: the edge's own. Memory: from the arena at create. */
#ifndef STAMPEDE_GATEWAY_ASKS_H
#define STAMPEDE_GATEWAY_ASKS_H

#include "api/reply_to.h"
#include "contract/types.h"
#include "edge/edge.h"

struct arena;
struct asks;
struct command;
struct exchange;
struct outcome;
struct routes;

/* A tag of the inventory is the token of a purchase with its flags above, or this mark and the index of an
 * ask. */
static const uint64_t TAG_ASK = 1ull << 63;

struct ask {
    void (*answered)(struct routes *routes, const struct ask *ask, const struct outcome *outcome);
    struct reply_to to;
    user_id user;
    uint64_t version_seen, wait_until_ms; /* of a view of an order */
    uint64_t start_ms;                    /* of the sale of a waiting room */
    item_id item;
    sale_id room;               /* the sale whose waiting room is entered */
    struct edge_answer instead; /* told when the inventory has no old answer (repeat.c) */
    uint16_t next_free;
};

size_t asks_bytes(void);
struct asks *asks_create(struct arena *arena);
/* Asks the inventory; `answered` gets the answer, unless the request has gone by then. NULL: refused, and
 * told so. */
struct ask *ask_send(struct exchange *exchange, const struct command *command,
    void (*answered)(struct routes *, const struct ask *, const struct outcome *));
/* The same without a refusal; NULL: there is no place. */
struct ask *ask_put(struct routes *routes, const struct reply_to *to, const struct command *command,
    void (*answered)(struct routes *, const struct ask *, const struct outcome *));
void asks_answered(struct routes *routes, uint32_t index, const struct outcome *outcome);

#endif
