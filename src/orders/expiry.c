/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/expiry.h"

#include "base/log.h"
#include "base/metrics.h"
#include "contract/order_state.h"

COUNTER(orders_expired, "stampede_orders_expired_total",
    "Orders that were closed because nobody paid in time.");

void expiry_start(struct expiry *expiry, const struct expiry_config *config)
{
    expiry->config = *config;
    expiry->look_ms = 0;
}

void expiry_look(struct expiry *expiry)
{
    expiry->look_ms = 0;
}

static void expiry_told(struct expiry *expiry, uint32_t count, uint32_t *closed)
{
    const struct expiry_config *config = &expiry->config;
    for (uint32_t i = 0; i < count; i++) {
        const struct order *order = &expiry->after[i];
        if (expiry->answers[i] == MOVE_DONE) {
            ++*closed;
            if (config->changed != NULL)
                config->changed(config->changed_context, order->ticket, order->user);
        } else {
            log_info("orders", "order of ticket %llu is %s: too late to expire",
                (unsigned long long)expiry->moves[i].ticket,
                order_state_name((enum order_state)order->state));
        }
    }
    metric_add(&orders_expired, *closed);
}

enum status expiry_turn(struct expiry *expiry, uint64_t now_ms, uint32_t *closed)
{
    struct order_store *store = expiry->config.store;
    const uint64_t grace_end_ms = expiry->config.started_ms + expiry->config.grace_ms;
    const bool grace = now_ms < grace_end_ms;
    uint32_t count = 0;
    uint64_t next_ms = UINT64_MAX;
    *closed = 0;
    if (now_ms < expiry->look_ms)
        return STATUS_OK;
    enum status status = store->ops->orders_due(store, now_ms,
        grace ? expiry->config.started_ms : 0, expiry->tickets, ORDER_MOVES_MAX, &count, &next_ms);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        expiry->moves[i] = (struct order_move){
            .ticket = expiry->tickets[i], .event = ORDER_EVENT_EXPIRE, .now_ms = now_ms
        };
    if (status == STATUS_OK && count > 0)
        status = store->ops->orders_move(store, expiry->moves, count, expiry->after, expiry->answers);
    if (status != STATUS_OK) {
        expiry->look_ms = now_ms + EXPIRY_AGAIN_MS;
        return status;
    }
    expiry_told(expiry, count, closed);
    if (grace && next_ms > grace_end_ms)
        next_ms = grace_end_ms;
    expiry->look_ms = count == ORDER_MOVES_MAX ? now_ms : next_ms;
    return STATUS_OK;
}
