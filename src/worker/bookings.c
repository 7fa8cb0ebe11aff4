/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/bookings.h"

#include "base/arena.h"
#include "base/log.h"
#include "policy/booking_rules.h"
#include "worker/money.h"
#include "worker/order_news.h"
#include "worker/returns.h"
#include "worker/task.h"

enum { PAGE_ROWS = 128, PAGE_MS = 100, LOOK_MS = 500 };

struct bookings {
    struct bookings_config config;
    uint64_t after; /* of the round that is under way */
    struct booking rows[PAGE_ROWS];
};

static enum status booking_finish(
    struct bookings *self, const struct booking *booking, enum booking_state state)
{
    struct order_store *store = self->config.store;
    const enum status status = store->ops->bookings->finish(store, booking, state);
    return status == STATUS_CONFLICT ? STATUS_OK : status;
}

/* An order is refunded once, however often it is asked for; the booking follows. */
static enum status deposit_refund(struct bookings *self, const struct booking *booking, uint64_t now_ms)
{
    struct order_store *store = self->config.store;
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
        log_error("worker", "the deposit of booking %llu can't be refunded: a person must check its order",
            (unsigned long long)booking->id);
        return booking_finish(self, booking, BOOKING_ENDED);
    }
    order_news_tell(self->config.news, booking->deposit, booking->user);
    money_look(self->config.money);
    returns_look(self->config.returns);
    return booking_finish(self, booking, BOOKING_REFUNDED);
}

static enum status booking_follow(struct bookings *self, const struct booking *booking, uint64_t now_ms)
{
    static const uint8_t over[] = {
        [BOOKING_CLOSE_BOUGHT] = BOOKING_BOUGHT,
        [BOOKING_CLOSE_ENDED] = BOOKING_ENDED,
        [BOOKING_CLOSE_REFUNDED] = BOOKING_REFUNDED,
    };
    struct order_store *store = self->config.store;
    const enum booking_step step = booking_step(booking, now_ms);
    if (step == BOOKING_WAIT)
        return STATUS_OK;
    if (step == BOOKING_REFUND)
        return deposit_refund(self, booking, now_ms);
    if (step != BOOKING_PUT_IN_LINE)
        return booking_finish(self, booking, over[step]);
    const enum status status = store->ops->bookings->place(store, booking, now_ms);
    returns_look_line(self->config.returns);
    return status == STATUS_CONFLICT ? STATUS_OK : status;
}

static uint64_t bookings_turn(void *context, uint64_t now_ms)
{
    struct bookings *self = context;
    struct order_store *store = self->config.store;
    uint32_t count = 0;
    enum status status =
        store->ops->bookings->list(store, 0, true, self->after, self->rows, PAGE_ROWS, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        status = booking_follow(self, &self->rows[i], now_ms);
        self->after = self->rows[i].id;
    }
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("worker", "bookings can't be followed: %s", status_name(status));
    if (status == STATUS_OK && count == PAGE_ROWS)
        return now_ms + PAGE_MS;
    self->after = 0;
    return now_ms + LOOK_MS;
}

void bookings_open(struct arena *arena, const struct bookings_config *config, struct task *task)
{
    struct bookings *self = arena_take(arena, 1, sizeof *self);
    self->config = *config;
    *task = (struct task){ .name = "bookings", .self = self, .turn = bookings_turn, .rests = true };
}
