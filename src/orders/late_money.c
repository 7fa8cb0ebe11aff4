/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/late_money.h"

#include "contract/waitlist.h"

void late_money_start(struct late_money *late, const struct late_money_config *config)
{
    *late = (struct late_money){ .config = *config };
}

static struct late_ask *ask_of(struct late_money *late, uint64_t payment)
{
    for (uint32_t i = 0; i < LATE_ASKS_MAX; i++)
        if (late->asks[i].payment == payment)
            return &late->asks[i];
    return NULL;
}

/* An answer that nobody has fetched is forgotten before one that is on its way: asked again, the same
 * key finds the same ticket. */
static struct late_ask *ask_place(struct late_money *late)
{
    struct late_ask *place = ask_of(late, 0);
    for (uint32_t i = 0; i < LATE_ASKS_MAX && place == NULL; i++)
        if (late->asks[i].answered)
            place = &late->asks[i];
    return place;
}

/* Free units belong to those who wait, first. */
static enum status others_wait(struct late_money *late, const struct order *order, bool *wait)
{
    struct order_store *store = late->config.store;
    struct waitlist_place first;
    struct board_update shown;
    uint32_t count = 0;
    *wait = false;
    if (order->channel != WAITLIST_CHANNEL || !board_read(late->config.board, order->item, &shown))
        return STATUS_OK;
    const uint32_t free = shown.counts.channel_free[WAITLIST_CHANNEL];
    if (free == 0)
        return STATUS_OK;
    const enum status status = store->ops->waitlist->next(store, order->item, free, &first, 1, &count);
    *wait = count > 0;
    return status;
}

static enum status unit_ask(struct late_money *late, const struct payment *payment,
    const struct order *order, uint64_t now_ms)
{
    struct inventory_port *port = late->config.port;
    struct late_ask *place = ask_place(late);
    struct inventory_request *request = place == NULL ? NULL : port->ops->reserve(port);
    if (request == NULL)
        return STATUS_AWAY;
    *request = (struct inventory_request){ .tag = LATE_MONEY_TAG | payment->id,
        .command = { .type = COMMAND_RESERVE,
            .time_ms = now_ms,
            .reserve = { .user = order->user,
                .key = late->config.key(late->config.context, payment, order->user),
                .item = order->item,
                .quantity = order->quantity,
                .channel = order->channel,
                .flags = RESERVE_AFTER_END } } };
    port->ops->commit(port);
    port->ops->flush(port);
    *place = (struct late_ask){ .payment = payment->id };
    return STATUS_BUSY;
}

enum status late_money_unit(struct late_money *late, const struct payment *payment,
    const struct order *order, uint64_t now_ms, struct outcome *outcome)
{
    struct late_ask *ask = ask_of(late, payment->id);
    bool wait;
    if (ask != NULL && !ask->answered)
        return STATUS_BUSY;
    if (ask != NULL) {
        *outcome = ask->outcome;
        *ask = (struct late_ask){ 0 };
        return STATUS_OK;
    }
    const enum status status = others_wait(late, order, &wait);
    if (status != STATUS_OK)
        return status;
    return wait ? STATUS_AWAY : unit_ask(late, payment, order, now_ms);
}

bool late_money_answer(struct late_money *late, const struct inventory_answer *answer)
{
    if ((answer->tag & LATE_MONEY_TAG) == 0)
        return false;
    struct late_ask *ask = ask_of(late, answer->tag & ~LATE_MONEY_TAG);
    if (ask != NULL) {
        ask->answered = true;
        ask->outcome = answer->outcome;
    }
    return true;
}
