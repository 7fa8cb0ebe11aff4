/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/remedy.h"

#include "base/status.h"

#include <string.h>

enum kind { UNPAID, PAID, SHIPPED, CLOSED, REFUNDED, KINDS };

/* The table is the specification; an empty cell is a refusal. */
static const bool fits[KINDS][REMEDIES] = {
    [UNPAID] = { [REMEDY_REFUND] = true, [REMEDY_WAIT] = true, [REMEDY_DISMISS] = true },
    [PAID] = {
        [REMEDY_REFUND] = true,
        [REMEDY_WAIT] = true,
        [REMEDY_SUBSTITUTE] = true,
        [REMEDY_SHIP_AT_LOSS] = true,
        [REMEDY_DISMISS] = true,
    },
    [SHIPPED] = { [REMEDY_SHIP_AT_LOSS] = true, [REMEDY_DISMISS] = true },
    [CLOSED] = { [REMEDY_DISMISS] = true },
    [REFUNDED] = { [REMEDY_REFUND] = true, [REMEDY_DISMISS] = true },
};

static enum kind kind_of(const struct remedy_facts *facts)
{
    switch ((enum order_state)facts->order_state) {
    case ORDER_PENDING:
        return UNPAID;
    case ORDER_PAID:
        return facts->shipped ? SHIPPED : PAID;
    case ORDER_REFUNDED:
        return REFUNDED;
    case ORDER_NONE:
    case ORDER_CLOSED:
    case ORDER_STATES:
        break;
    }
    return CLOSED;
}

bool remedy_fits(enum remedy remedy, const struct remedy_facts *facts)
{
    return remedy < REMEDIES && fits[kind_of(facts)][remedy];
}

uint32_t remedy_proposals(const struct remedy_facts *facts, enum remedy out[REMEDIES])
{
    uint32_t count = 0;
    for (enum remedy remedy = REMEDY_REFUND; remedy < REMEDIES; remedy++)
        if (remedy_fits(remedy, facts))
            out[count++] = remedy;
    return count;
}

enum order_event remedy_event(enum remedy remedy, const struct remedy_facts *facts)
{
    if (remedy != REMEDY_REFUND)
        return ORDER_EVENTS;
    return facts->order_state == ORDER_PENDING ? ORDER_EVENT_CANCEL
        : facts->order_state == ORDER_PAID     ? ORDER_EVENT_REFUND
                                               : ORDER_EVENTS;
}

uint32_t remedy_coupon_percent(enum remedy remedy, uint32_t standard)
{
    return remedy == REMEDY_REFUND || remedy == REMEDY_WAIT ? standard : 0;
}

uint64_t remedy_coupon_value(uint64_t amount, uint32_t percent)
{
    invariant(percent <= 100);
    /* In two parts: the product of both could be more than 64 bits. */
    return amount / 100 * percent + (amount % 100 * percent + 99) / 100;
}

uint32_t remedy_orders_enough(const struct order *orders, uint32_t count, uint32_t missing)
{
    uint64_t units = 0;
    uint32_t used = 0;
    while (used < count && units < missing)
        units += orders[used++].quantity;
    return used;
}

enum remedy remedy_find(const char *name)
{
    for (enum remedy remedy = REMEDY_REFUND; remedy < REMEDIES; remedy++)
        if (strcmp(remedy_name(remedy), name) == 0)
            return remedy;
    return REMEDY_NONE;
}
