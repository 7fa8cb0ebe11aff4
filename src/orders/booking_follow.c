/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/booking_follow.h"

#include "base/log.h"
#include "policy/booking_rules.h"

void booking_follow_start(struct booking_follow *follow, const struct booking_follow_config *config)
{
    *follow = (struct booking_follow){ .config = *config };
}

static enum status booking_finish(
    struct booking_follow *follow, const struct booking *booking, enum booking_state state)
{
    struct order_store *store = follow->config.store;
    const enum status status = store->ops->bookings->finish(store, booking, state);
    return status == STATUS_CONFLICT ? STATUS_OK : status;
}

/* An order is refunded once, however often it is asked for; the booking follows. */
static enum status deposit_refund(
    struct booking_follow *follow, const struct booking *booking, uint64_t now_ms)
{
    struct order_store *store = follow->config.store;
    const struct order_move move = { .ticket = booking->deposit,
        .event = ORDER_EVENT_REFUND,
        .refund_to = REFUND_TO_STOCK,
        .now_ms = now_ms };
    struct order after;
    uint8_t answer = MOVE_UNKNOWN;
    const enum status status = store->ops->orders_move(store, &move, 1, &after, &answer);
    if (status != STATUS_OK)
        return status;
    if (answer != MOVE_DONE && answer != MOVE_REPEATED) {
        log_error("orders", "the deposit of booking %llu can't be refunded: a person must check its order",
            (unsigned long long)booking->id);
        return booking_finish(follow, booking, BOOKING_ENDED);
    }
    follow->config.refunded(follow->config.context, booking);
    return booking_finish(follow, booking, BOOKING_REFUNDED);
}

static enum status booking_look(
    struct booking_follow *follow, const struct booking *booking, uint64_t now_ms)
{
    static const uint8_t over[] = {
        [BOOKING_CLOSE_BOUGHT] = BOOKING_BOUGHT,
        [BOOKING_CLOSE_ENDED] = BOOKING_ENDED,
        [BOOKING_CLOSE_REFUNDED] = BOOKING_REFUNDED,
    };
    struct order_store *store = follow->config.store;
    const enum booking_step step = booking_step(booking, now_ms);
    if (step == BOOKING_WAIT)
        return STATUS_OK;
    if (step == BOOKING_REFUND)
        return deposit_refund(follow, booking, now_ms);
    if (step != BOOKING_PUT_IN_LINE)
        return booking_finish(follow, booking, over[step]);
    const enum status status = store->ops->bookings->place(store, booking, now_ms);
    follow->config.placed(follow->config.context, booking);
    return status == STATUS_CONFLICT ? STATUS_OK : status;
}

enum status booking_follow_turn(struct booking_follow *follow, uint64_t now_ms, bool *more)
{
    struct order_store *store = follow->config.store;
    uint32_t count = 0;
    enum status status = store->ops->bookings->list(
        store, 0, true, follow->after, follow->rows, BOOKING_FOLLOW_ROWS, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        status = booking_look(follow, &follow->rows[i], now_ms);
        follow->after = follow->rows[i].id;
    }
    *more = status == STATUS_OK && count == BOOKING_FOLLOW_ROWS;
    if (!*more)
        follow->after = 0;
    return status;
}
