/* SPDX-License-Identifier: Apache-2.0 */
/* What the crowd still has to ask: every user's purchases in random order, and requests that are due
 * at once or at a later time.
 *
 * Memory: sized at the start from the number of users; `waiting` has room for every purchase twice
 * plus one request per connection, which is more than can be due. Thread: one owner. */
#ifndef BENCH_CROWD_PLAN_H
#define BENCH_CROWD_PLAN_H

#include "base/random.h"
#include "crowd_options.h"

#include <string.h>

enum ask_kind { ASK_FIRST, ASK_TWIN, ASK_RETRY, ASK_LATER, ASK_AGAIN };
static const char ask_letters[] = "ftrla"; /* as in the log */

struct purchase {
    uint32_t user;    /* line of the passes */
    uint8_t number;   /* of this user's purchases */
    uint8_t pending;  /* requests that wait or are in flight */
    uint8_t persists; /* times that "sold out" was not taken for an answer */
    bool keyed;
    bool final; /* an answer came that will not change */
    bool won;
    bool doubtful; /* an answer was lost: who heard "sold out" from another request may yet have won */
    bool later_asked;
    uint16_t quantity;
};

struct ask {
    uint64_t due_ns;
    uint32_t purchase;
    enum ask_kind kind;
};

struct plan {
    struct purchase *purchases;
    uint32_t count, next; /* purchases[next …] were never asked for */
    uint32_t open;        /* begun and without a final answer */
    uint32_t again_next;
    struct ask *waiting; /* a heap, earliest first */
    uint32_t waiting_count, waiting_room;
};

static inline uint32_t *plan_users_shuffled(uint32_t users, struct random *random)
{
    uint32_t *order = calloc(users, sizeof(*order));
    if (order == NULL)
        crowd_wrong("out of memory");
    for (uint32_t i = 0; i < users; i++)
        order[i] = i;
    for (uint32_t i = users; i > 1; i--) {
        uint32_t other = (uint32_t)random_below(random, i);
        uint32_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    return order;
}

/* Users come in random order; all purchases of one follow each other and so run side by side. */
static inline void plan_create(
    struct plan *plan, const struct crowd_options *options, uint32_t users, struct random *random)
{
    const size_t most = (size_t)users * options->purchases_max;
    *plan = (struct plan){ .waiting_room = (uint32_t)(2 * most) + options->connections + 16 };
    plan->purchases = calloc(most, sizeof(*plan->purchases));
    plan->waiting = calloc(plan->waiting_room, sizeof(*plan->waiting));
    if (plan->purchases == NULL || plan->waiting == NULL)
        crowd_wrong("out of memory");
    uint32_t *order = plan_users_shuffled(users, random);
    for (uint32_t i = 0; i < users; i++) {
        uint8_t own = (uint8_t)(1 + random_below(random, options->purchases_max));
        bool keyed = random_below(random, 100) >= options->keyless_percent;
        for (uint8_t number = 0; number < own; number++) {
            uint16_t quantity = (uint16_t)(1 + random_below(random, options->quantity_max));
            plan->purchases[plan->count++] = (struct purchase){
                .user = order[i], .number = number, .quantity = quantity, .keyed = keyed
            };
        }
    }
    free(order);
}

static inline void plan_free(struct plan *plan)
{
    free(plan->purchases);
    free(plan->waiting);
}

static inline void plan_ask(struct plan *plan, uint32_t purchase, enum ask_kind kind, uint64_t due_ns)
{
    if (plan->waiting_count == plan->waiting_room)
        crowd_wrong("more requests wait than there can be");
    uint32_t at = plan->waiting_count++;
    while (at > 0 && plan->waiting[(at - 1) / 2].due_ns > due_ns) {
        plan->waiting[at] = plan->waiting[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    plan->waiting[at] = (struct ask){ .due_ns = due_ns, .purchase = purchase, .kind = kind };
    plan->purchases[purchase].pending++;
}

/* Takes the earliest request that is due. The purchase stays pending. */
static inline bool plan_due(struct plan *plan, uint64_t now, struct ask *ask)
{
    if (plan->waiting_count == 0 || plan->waiting[0].due_ns > now)
        return false;
    *ask = plan->waiting[0];
    const struct ask last = plan->waiting[--plan->waiting_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < plan->waiting_count
            && plan->waiting[child + 1].due_ns < plan->waiting[child].due_ns)
            child++;
        if (child >= plan->waiting_count || plan->waiting[child].due_ns >= last.due_ns)
            break;
        plan->waiting[at] = plan->waiting[child];
        at = child;
    }
    plan->waiting[at] = last;
    return true;
}

/* A purchase that was never asked for. */
static inline bool plan_begin(struct plan *plan, struct ask *ask)
{
    if (plan->next == plan->count)
        return false;
    *ask = (struct ask){ .purchase = plan->next++, .kind = ASK_FIRST };
    plan->purchases[ask->purchase].pending++;
    plan->open++;
    return true;
}

/* The next win that was told, or that may have been lost with its answer, once more. */
static inline bool plan_again(struct plan *plan, struct ask *ask)
{
    while (plan->again_next < plan->count && !plan->purchases[plan->again_next].won
        && !plan->purchases[plan->again_next].doubtful)
        plan->again_next++;
    if (plan->again_next == plan->count)
        return false;
    *ask = (struct ask){ .purchase = plan->again_next++, .kind = ASK_AGAIN };
    plan->purchases[ask->purchase].pending++;
    return true;
}

#endif
