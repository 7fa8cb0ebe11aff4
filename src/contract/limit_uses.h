/* SPDX-License-Identifier: Apache-2.0 */
/* contract/limit_uses.h: limits over a period. What a user holds unpaid or has bought counts for period_days
 * from the order on, in every sale of the same group; what a payment identity has paid counts from the
 * payment on. A use is a row of the order's own transaction, and goes when the order is closed or refunded.
 * An order that would pass a limit is closed in the transaction that writes it, or that learns of its money.
 * A use outlives the row of an archived order, and is removed when its period is over.
 * Rules: policy/limit_rules.h. Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_LIMIT_USES_H
#define STAMPEDE_CONTRACT_LIMIT_USES_H

#include "contract/order_store.h"

enum { PERIOD_DAYS_MAX = 366, PERIOD_GROUP_MAX = 1000000000 };

static inline const char *limit_kind_name(uint8_t kind) /* NULL: none */
{
    return kind == LIMIT_PERIOD ? "period" : kind == LIMIT_PAYER ? "payer" : NULL;
}

struct limit_holder {
    uint64_t group; /* limit_scope of policy/limit_rules.h; 0, as a place to go on from: the beginning */
    user_id user;
};

struct limit_store_ops {
    /* Units of a user that count against these limits at this moment. */
    enum status (*used)(struct order_store *, uint64_t group, const struct item_limits *, user_id,
        uint64_t now_ms, uint64_t *units);
    /* Some users with uses, `max` at most, behind *after, which moves: some are told twice, and some whose
     * period is over. *more: there are others. */
    enum status (*holders)(struct order_store *, struct limit_holder *after,
        struct limit_holder *holders, uint32_t max, uint32_t *count, bool *more);
    /* One transaction removes some of the uses whose period is over. *more: there may be others. */
    enum status (*prune)(struct order_store *, uint64_t now_ms, bool *more);
    /* Compares uses with orders, slowly: *wrong, an order without its use, a use without its live order, or
     * a holder with more than the limit; 0: none. */
    enum status (*check)(struct order_store *, uint64_t now_ms, ticket_number *wrong);
};

#endif
