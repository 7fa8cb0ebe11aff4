/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/item_rules.h"

#include "base/status.h"

void item_rule_set(struct item_rules *rules, item_id item, const struct item_rule *rule)
{
    uint64_t word = 0;
    invariant(item < ITEMS_LIMIT);
    if (rule->known)
        word = RULE_KNOWN | (rule->waiting_room ? RULE_WAITING_ROOM : 0)
            | (rule->deduct_on_payment ? RULE_DEDUCT_ON_PAYMENT : 0)
            | (rule->offers ? RULE_OFFERS : 0) | (uint64_t)rule->drop_percent << RULE_DROP_SHIFT
            | (uint64_t)rule->pace_per_s << RULE_PACE_SHIFT;
    /* Most stay as they were, and then the edges keep their cache lines. */
    if (atomic_load_explicit(&rules->words[item], memory_order_relaxed) != word)
        atomic_store_explicit(&rules->words[item], word, memory_order_relaxed);
}
