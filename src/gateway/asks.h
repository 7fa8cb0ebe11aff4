/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/asks.h: questions to the inventory whose answer is not the reply yet. Bounded: ASKS_MAX at a time.
 * Thread: the edge's own. Memory: from the arena at create. */
#ifndef STAMPEDE_GATEWAY_ASKS_H
#define STAMPEDE_GATEWAY_ASKS_H

#include "api/reply_to.h"
#include "base/address.h"
#include "contract/types.h"
#include "edge/edge.h"
#include "funnel/intent.h"
#include "funnel/token.h"
#include "gateway/waits.h"

struct arena;
struct asks;
struct command;
struct exchange;
struct outcome;
struct routes;

/* A tag of the inventory is the token of a purchase with its flags above, or this mark and the index of an
 * ask. */
static const uint64_t TAG_ASK = 1ull << 63;
enum { TAG_FLAGS_SHIFT = 58 }; /* five bits: edge_answer.flags (answers.h) */
static const uint64_t TAG_TOKEN = (1ull << TAG_FLAGS_SHIFT) - 1;
static_assert(64 - TAG_FLAGS_SHIFT == EDGE_TOKEN_SPARE_BITS, "marks fit the spare bits");
static inline uint64_t purchase_tag(uint64_t token, uint8_t flags)
{
    return token | (uint64_t)flags << TAG_FLAGS_SHIFT;
}

struct ask {
    void (*answered)(struct routes *routes, const struct ask *ask, const struct outcome *outcome);
    struct reply_to to;
    user_id user;
    union {
        struct {                /* a view of an order */
            struct wait view;   /* what it waits for */
            uint64_t news_seen; /* news that the edge had heard when it asked */
        };
        struct { /* what is given if something was fresh (COMMAND_ASK_SPEND) */
            union {
                struct pass pass;
                struct session session;
            };
            uint64_t source; /* human_visit.source */
            struct address client;
        };
        struct intent intent; /* that is given if the door of all gateways agrees */
    };
    uint64_t start_ms; /* of the sale of a waiting room */
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
