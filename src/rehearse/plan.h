/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/plan.h: who comes, when, and what for. The plan is made before the play from a seed: the
 * same seed, the same visitors at the same moments, whatever the server does. Times are ns from the
 * beginning of the play.
 * Pure; thread: one owner. */
#ifndef STAMPEDE_REHEARSE_PLAN_H
#define STAMPEDE_REHEARSE_PLAN_H

#include "rehearse/words.h"

enum {
    PLAN_USERS_MAX = 1000000,
    PLAN_SECONDS_MAX = 900,
    PLAN_ITEMS_MAX = 64,
    TOKEN_CHARS = 48,
    ID_CHARS = 16,
    BANK_CHARS_MAX = 40,
};
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* name; label; of 100 bots so many are of this kind */
#define VISITOR_LIST(X) \
    X(HUMAN, "people", 0) \
    /* few addresses, as fast as they can, and no work done for the human check */ \
    X(HAMMER, "hammer", 25) \
    /* the same pass again and again, from other addresses and in other accounts' names */ \
    X(REPLAY, "replay", 25) \
    /* many accounts behind one address, at the very moment of the start */ \
    X(ACCOUNTS, "many accounts", 25) \
    /* take units, give them back, take again */ \
    X(HOARDER, "hoarder", 25) \
    /* one GET each, to measure a server (`--measure`) */ \
    X(MEASURE, "measure", 0)
enum visitor_kind {
#define VISITOR(name, label, percent) VISITOR_##name,
    VISITOR_LIST(VISITOR)
#undef VISITOR
        VISITOR_KINDS,
};
extern const char *const visitor_labels[VISITOR_KINDS];

/* What a winner does with the order. */
enum mood { MOOD_PAYS, MOOD_CANCELS, MOOD_LEAVES };

struct visitor {
    uint64_t due_ns;  /* of the step that comes */
    uint32_t number;  /* in the plan; the random numbers follow from it */
    uint32_t draws;   /* random numbers used */
    uint32_t address; /* IPv4, host order */
    uint32_t other;   /* replay: whose pass is shown as well */
    uint16_t item;    /* place in sale_facts.items */
    uint8_t kind, step, tries, rounds, mood;
    uint8_t last;  /* enum layer: where the last request ended */
    uint8_t polls; /* looks at an order or a payment that is not ready */
    bool in_room, has_pass, over;
    char session[TOKEN_CHARS], pass[TOKEN_CHARS], ticket[ID_CHARS], order[ID_CHARS];
    char bank[BANK_CHARS_MAX + 1];
    char *solution; /* of the human check, until it is sent; the visitor's own */
};

/* What a visitor knows of the sale. */
struct sale_facts {
    uint32_t sale;
    uint32_t item_count;
    uint32_t items[PLAN_ITEMS_MAX];
    uint32_t units[PLAN_ITEMS_MAX]; /* sellable, for the choice of an item */
    uint64_t start_ns;              /* of the sale, on the clock of the play */
    uint64_t pass_early_ns;
    bool human_check, waiting_room, details_required;
};

struct plan_options {
    uint64_t seed;
    uint32_t users;
    uint32_t bots_percent;
    uint32_t late_s;       /* people come up to so long after the start */
    uint32_t pays_percent; /* of people who win; the rest cancels (a third) or leaves */
};

/* Fills visitors[0 … users). */
void plan_make(
    const struct plan_options *options, const struct sale_facts *facts, struct visitor *visitors);
/* One request each, `rate` a second. */
void plan_make_measure(uint32_t count, double rate, struct visitor *visitors);

/* The visitor's next random number, from 0 to bound − 1; bound > 0. */
uint64_t plan_draw(uint64_t seed, struct visitor *visitor, uint64_t bound);
static inline uint64_t plan_between_ns(
    uint64_t seed, struct visitor *visitor, uint64_t least_ms, uint64_t most_ms)
{
    return least_ms * NS_PER_MS + plan_draw(seed, visitor, (most_ms - least_ms) * NS_PER_MS + 1);
}

#endif
