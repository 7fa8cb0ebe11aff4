/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/booking_follow.h"

#include "base/log.h"
#include "contract/payment.h"
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

/* One transaction decides once more, refunds the order and ends the booking. */
static enum status deposit_refund(
    struct booking_follow *follow, const struct booking *booking, uint64_t now_ms)
{
    struct order_store *store = follow->config.store;
    uint8_t state = BOOKING_REFUNDED;
    const enum status status = store->ops->bookings->refund(store, booking, now_ms, &state);
    if (status != STATUS_OK)
        return status == STATUS_CONFLICT ? STATUS_OK : status;
    if (state == BOOKING_REFUNDED)
        follow->config.refunded(follow->config.context, booking);
    else
        log_error("orders", "the deposit of booking %llu can't be refunded: a person must check its order",
            (unsigned long long)booking->id);
    return STATUS_OK;
}

/* Its deposit went back, so nobody may pay the rest. Payments that are under way are closed first; if
 * one of them brings money before that, the order is paid. */
static enum status order_cancel(
    struct booking_follow *follow, const struct booking *booking, uint64_t now_ms)
{
    struct order_store *store = follow->config.store;
    const struct order_move move = {
        .ticket = booking->ticket, .event = ORDER_EVENT_CANCEL, .now_ms = now_ms
    };
    struct order after;
    uint8_t answer = MOVE_UNKNOWN;
    uint32_t live = 0;
    enum status status = store->ops->orders_move(store, &move, 1, &after, &answer);
    if (status == STATUS_OK && answer == MOVE_PAYMENT_OPEN)
        status = store->ops->payment->closing(store, booking->ticket, REASON_CANCELLED, now_ms, &live);
    if (status == STATUS_OK)
        follow->config.cancelled(follow->config.context, booking);
    return status;
}

static enum status booking_put_in_line(
    struct booking_follow *follow, const struct booking *booking, uint64_t now_ms)
{
    struct order_store *store = follow->config.store;
    const enum status status = store->ops->bookings->place(store, booking, now_ms);
    follow->config.placed(follow->config.context, booking);
    return status == STATUS_CONFLICT ? STATUS_OK : status;
}

static enum status booking_look(
    struct booking_follow *follow, const struct booking *booking, uint64_t now_ms)
{
    struct order_store *store = follow->config.store;
    switch (booking_step(booking, now_ms)) {
    case BOOKING_PUT_IN_LINE:
        return booking_put_in_line(follow, booking, now_ms);
    case BOOKING_REFUND:
        return deposit_refund(follow, booking, now_ms);
    case BOOKING_DISMISS:
        return store->ops->bookings->dismiss(store, booking);
    case BOOKING_CANCEL_ORDER:
        return order_cancel(follow, booking, now_ms);
    case BOOKING_CLOSE_BOUGHT:
        return booking_finish(follow, booking, BOOKING_BOUGHT);
    case BOOKING_CLOSE_ENDED:
        return booking_finish(follow, booking, BOOKING_ENDED);
    case BOOKING_CLOSE_REFUNDED:
        return booking_finish(follow, booking, BOOKING_REFUNDED);
    case BOOKING_WAIT:
        break;
    }
    return STATUS_OK;
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
