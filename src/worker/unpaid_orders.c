/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/unpaid_orders.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "orders/expiry.h"
#include "worker/leadership.h"
#include "worker/order_news.h"
#include "worker/returns.h"
#include "worker/task.h"

enum { AGAIN_MS = 20 };

struct unpaid_orders {
    struct expiry expiry;
    struct returns *returns;
    const struct leadership *leadership;
    uint64_t leads_since_ms;
    struct task *task;
};

static uint64_t unpaid_turn(void *self, uint64_t now_ms)
{
    struct unpaid_orders *unpaid = self;
    uint32_t closed = 0;
    const uint64_t since_ms = leadership_since_ms(unpaid->leadership);
    if (since_ms != unpaid->leads_since_ms) { /* until then nobody may have looked */
        unpaid->leads_since_ms = since_ms;
        unpaid->expiry.config.started_ms = since_ms;
    }
    const enum status status = expiry_turn(&unpaid->expiry, now_ms, &closed);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("worker", "orders can't be closed: %s", status_name(status));
    if (closed > 0)
        returns_look(unpaid->returns);
    /* Units that nobody pays for do not wait for a pause of the wins. */
    unpaid->task->rests = closed < ORDER_MOVES_MAX;
    /* A full page: at once. What can't be closed now stays due. */
    return closed == 0 && unpaid->expiry.look_ms <= now_ms ? now_ms + AGAIN_MS : unpaid->expiry.look_ms;
}

void unpaid_orders_look(struct unpaid_orders *unpaid)
{
    expiry_look(&unpaid->expiry);
    task_wake(unpaid->task);
}

struct unpaid_orders *unpaid_orders_open(
    struct arena *arena, const struct unpaid_orders_config *config, struct task *task)
{
    struct unpaid_orders *unpaid = arena_take(arena, 1, sizeof *unpaid);
    unpaid->returns = config->returns;
    unpaid->leadership = config->leadership;
    unpaid->task = task;
    expiry_start(&unpaid->expiry,
        &(struct expiry_config){ .store = config->store,
            .started_ms = clock_now_ms(),
            .grace_ms = config->grace_ms,
            .changed = order_news_tell,
            .changed_context = config->news });
    *task = (struct task){ .name = "unpaid orders", .self = unpaid, .turn = unpaid_turn, .rests = true };
    return unpaid;
}
