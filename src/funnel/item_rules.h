/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/item_rules.h: what the sale of an item tells the door, by item id. One table for all edges, a word
 * for each item: a reader sees a change with its next request, and never half of one.
 * Thread: any reads; one (the worker) writes, with the catalog. Memory: plain data, no pointers; pages of ids
 * that are not used stay untouched. */
#ifndef STAMPEDE_FUNNEL_ITEM_RULES_H
#define STAMPEDE_FUNNEL_ITEM_RULES_H

#include "contract/limits.h"
#include "contract/types.h"

#include <stdatomic.h>

struct item_rule {
    bool known;             /* false: the item is not public (yet), and nothing else is set */
    bool waiting_room;      /* of its sale */
    bool deduct_on_payment; /* units are taken when payment starts, not by a purchase */
    bool offers;            /* something else, when it is sold out (api/catalog.h) */
    uint8_t drop_percent;   /* 0: none */
    uint32_t pace_per_s;    /* 0: none */
};

struct item_rules {
    _Atomic uint64_t words[ITEMS_LIMIT]; /* 0: not known */
};

/* A word: four flags, percent in the second byte, pace in the upper half. */
enum {
    RULE_KNOWN = 1,
    RULE_WAITING_ROOM = 2,
    RULE_DEDUCT_ON_PAYMENT = 4,
    RULE_OFFERS = 8,
    RULE_DROP_SHIFT = 8,
    RULE_PACE_SHIFT = 32,
};

static inline struct item_rule item_rule_of(const struct item_rules *rules, item_id item)
{
    const uint64_t word =
        item < ITEMS_LIMIT ? atomic_load_explicit(&rules->words[item], memory_order_relaxed) : 0;
    return (struct item_rule){ .known = (word & RULE_KNOWN) != 0,
        .waiting_room = (word & RULE_WAITING_ROOM) != 0,
        .deduct_on_payment = (word & RULE_DEDUCT_ON_PAYMENT) != 0,
        .offers = (word & RULE_OFFERS) != 0,
        .drop_percent = (uint8_t)(word >> RULE_DROP_SHIFT),
        .pace_per_s = (uint32_t)(word >> RULE_PACE_SHIFT) };
}

/* The writer's. */
void item_rule_set(struct item_rules *rules, item_id item, const struct item_rule *rule);

#endif
