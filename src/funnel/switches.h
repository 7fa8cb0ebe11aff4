/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/switches.h: what an operator can turn while a sale runs: more work for visitors, fewer let
 * in, nobody new, an item that answers "sold out" unseen, a layer left out. One struct for all
 * edges, each value an atomic of its own: a reader sees a change with its next request, and no
 * change needs two values at once. Values start as configured and are not kept over a restart.
 * Thread: any reads; one (the worker) writes. Memory: plain data, no pointers. */
#ifndef STAMPEDE_FUNNEL_SWITCHES_H
#define STAMPEDE_FUNNEL_SWITCHES_H

#include "base/status.h"
#include "contract/limits.h"
#include "contract/types.h"

#include <stdatomic.h>

enum switch_name {
    SWITCH_POW_BOOST,       /* bits of work on top of what a sale asks, 0 … POW_BOOST_MAX */
    SWITCH_ADMISSION_PER_S, /* purchases let through in a second, all items together; 0: all */
    SWITCH_ADDRESS_RATE,    /* requests of one address in a second; 0: any */
    SWITCH_ROOM_RATE,       /* people of each waiting room let in in a second at most; 0: none */
    SWITCH_REFUSE_NEW,      /* no new session, pass or place in a waiting room */
    SWITCH_BYPASS_ADDRESS_LIMIT, /* and from here on: a layer is left out */
    SWITCH_BYPASS_USER_LIMIT,
    SWITCH_BYPASS_HUMAN_CHECK,
    SWITCH_BYPASS_WAITING_ROOM,
    SWITCHES,
};
enum { POW_BOOST_MAX = 10, SWITCH_RATE_MAX = 1000 * 1000 };

struct switches {
    _Atomic uint32_t values[SWITCHES];
    _Atomic uint32_t sold_out_count; /* items whose bit is set: mostly none, and then no bit is read */
    _Atomic uint64_t sold_out[ITEMS_LIMIT / 64];
};

static inline uint32_t switch_value(const struct switches *switches, enum switch_name name)
{
    return atomic_load_explicit(&switches->values[name], memory_order_relaxed);
}
/* Answer "sold out" for this item without looking? (The buyer filter's exception is the asker's.) */
static inline bool switch_sold_out(const struct switches *switches, item_id item)
{
    if (__builtin_expect(atomic_load_explicit(&switches->sold_out_count, memory_order_relaxed) == 0, 1))
        return false;
    return item < ITEMS_LIMIT
        && (atomic_load_explicit(&switches->sold_out[item / 64], memory_order_relaxed) >> item % 64 & 1)
        != 0;
}

/* What a switch is called, in the API and in stampede_switch{name=…}, and its highest value. */
struct switch_kind {
    const char *name;
    uint32_t most; /* 1: on or off */
};
extern const struct switch_kind switch_kinds[SWITCHES];

/* The writer's: also shown in the metrics. */
void switch_set(struct switches *switches, enum switch_name name, uint32_t value);
void switch_sold_out_set(struct switches *switches, item_id item, bool on);

#endif
