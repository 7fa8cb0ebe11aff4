/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/switches.h"

#include "base/metrics.h"

/* name, as in the API and the metric; highest value */
#define SWITCH_LIST(X) \
    X(POW_BOOST, "pow_boost", POW_BOOST_MAX) \
    X(ADMISSION_PER_S, "admission_per_s", SWITCH_RATE_MAX) \
    X(ADDRESS_RATE, "address_rate", SWITCH_RATE_MAX) \
    X(ROOM_RATE, "room_rate", SWITCH_RATE_MAX) \
    X(REFUSE_NEW, "refuse_new", 1) \
    X(BYPASS_ADDRESS_LIMIT, "bypass_address_limit", 1) \
    X(BYPASS_USER_LIMIT, "bypass_user_limit", 1) \
    X(BYPASS_HUMAN_CHECK, "bypass_human_check", 1) \
    X(BYPASS_WAITING_ROOM, "bypass_waiting_room", 1)

#define SWITCH_KIND(id, text, highest) [SWITCH_##id] = { (text), (highest) },
const struct switch_kind switch_kinds[SWITCHES] = { SWITCH_LIST(SWITCH_KIND) };

#define SWITCH_METRIC(id, text, highest) \
    [SWITCH_##id] = METRIC_ROW(METRIC_GAUGE, "stampede_switch", "name=\"" text "\"", \
        "Present value of each degrade switch; 1 means on."),
static struct metric switch_metrics[SWITCHES] = { SWITCH_LIST(SWITCH_METRIC) };
METRIC_TABLE(switch_metrics);
GAUGE_OF(sold_out_metric, "stampede_switch", "name=\"sold_out_items\"",
    "Present value of each degrade switch; 1 means on.");

void switch_set(struct switches *switches, enum switch_name name, uint32_t value)
{
    invariant((unsigned)name < SWITCHES && value <= switch_kinds[name].most);
    atomic_store_explicit(&switches->values[name], value, memory_order_relaxed);
    metric_set(&switch_metrics[name], value);
}

void switch_sold_out_set(struct switches *switches, item_id item, bool on)
{
    invariant(item > 0 && item < ITEMS_LIMIT);
    _Atomic uint64_t *word = &switches->sold_out[item / 64];
    const uint64_t bit = UINT64_C(1) << item % 64;
    const uint64_t old = atomic_load_explicit(word, memory_order_relaxed); /* one writer */
    const uint64_t wanted = on ? old | bit : old & ~bit;
    const uint32_t count = atomic_load_explicit(&switches->sold_out_count, memory_order_relaxed);
    const uint32_t now = wanted == old ? count : on ? count + 1 : count - 1;
    atomic_store_explicit(word, wanted, memory_order_relaxed);
    atomic_store_explicit(&switches->sold_out_count, now, memory_order_relaxed);
    metric_set(&sold_out_metric, now);
}
