/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/waitlist_rules.h"

bool waitlist_take(uint32_t *left, uint32_t quantity)
{
    if (quantity > *left)
        return false;
    *left -= quantity;
    return true;
}

bool waitlist_gets(enum settle_step step, channel_index destination)
{
    return step == SETTLE_RETURN && destination == WAITLIST_CHANNEL;
}

enum join_answer waitlist_join_decide(enum place_state latest, uint32_t waiting, uint32_t line_max)
{
    if (latest == PLACE_WAITING)
        return JOIN_THERE;
    return waiting < line_max ? JOIN_DONE : JOIN_FULL;
}

enum place_state waitlist_place_state(
    enum place_state stored, enum order_state order, enum order_reason reason)
{
    if (stored != PLACE_OFFERED)
        return stored;
    if (order == ORDER_PAID || order == ORDER_REFUNDED)
        return PLACE_BOUGHT;
    if (order == ORDER_CLOSED)
        return reason == REASON_CANCELLED ? PLACE_LEFT : PLACE_EXPIRED;
    return PLACE_OFFERED;
}

struct waiter_verdict waitlist_waiter_verdict(const struct queue_record *record, uint32_t index)
{
    return (struct waiter_verdict){ .place = waitlist_place_of(record->command.settle.waiters[index].key),
        .ticket = outcome_waiter_ticket(&record->outcome, index) };
}
