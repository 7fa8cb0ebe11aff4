/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/bookings.h"

#include "base/arena.h"
#include "base/log.h"
#include "orders/booking_follow.h"
#include "worker/money.h"
#include "worker/order_news.h"
#include "worker/returns.h"
#include "worker/task.h"

enum { PAGE_MS = 100, LOOK_MS = 500 };

struct bookings {
    struct bookings_config config;
    struct booking_follow follow;
};

static void booking_refunded(void *context, const struct booking *booking)
{
    const struct bookings *self = context;
    order_news_tell(self->config.news, booking->deposit, booking->user);
    money_look(self->config.money);
    returns_look(self->config.returns);
}

static void booking_placed(void *context, const struct booking *booking)
{
    const struct bookings *self = context;
    (void)booking;
    returns_look_line(self->config.returns);
}

static void booking_cancelled(void *context, const struct booking *booking)
{
    const struct bookings *self = context;
    order_news_tell(self->config.news, booking->ticket, booking->user);
    money_look(self->config.money);
    returns_look(self->config.returns);
}

static uint64_t bookings_turn(void *context, uint64_t now_ms)
{
    struct bookings *self = context;
    bool more = false;
    const enum status status = booking_follow_turn(&self->follow, now_ms, &more);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("worker", "bookings can't be followed: %s", status_name(status));
    return now_ms + (more ? PAGE_MS : LOOK_MS);
}

void bookings_open(struct arena *arena, const struct bookings_config *config, struct task *task)
{
    struct bookings *self = arena_take(arena, 1, sizeof *self);
    self->config = *config;
    const struct booking_follow_config follow = { .store = config->store,
        .refunded = booking_refunded,
        .placed = booking_placed,
        .cancelled = booking_cancelled,
        .context = self };
    booking_follow_start(&self->follow, &follow);
    *task = (struct task){ .name = "bookings", .self = self, .turn = bookings_turn, .rests = true };
}
