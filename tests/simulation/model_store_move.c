/* SPDX-License-Identifier: Apache-2.0 */
/* Moves of orders by the order side, as docs/orders.md has them. */
#include "contract/order_state.h"
#include "contract/payment_rules.h"
#include "tests/simulation/model_store_parts.h"

#include <stdio.h>
#include <string.h>

static void payment_by_shop(struct model_store *model, const struct order_move *move)
{
    struct payment *payment = &model->payments[model->at.payments++];
    payment_by_shop_make(move, payment);
    payment->id = model->at.payments;
}

static void move_make(struct model_store *model, const struct order_move *move, struct order *order,
    enum order_state to)
{
    const enum settle_step step = order_move_step(move);
    const channel_index destination = order_move_destination(move, order);
    if (move->event == ORDER_EVENT_PAY) {
        payment_by_shop(model, move);
        if (order->state == ORDER_PENDING)
            model_order_pay(model, order, move->now_ms);
        return;
    }
    const enum order_reason reason =
        to == ORDER_CLOSED ? order_state_reason((enum order_event)move->event) : REASON_NONE;
    model_store_end(model, order, to, reason, step);
    if (move->event == ORDER_EVENT_REFUND)
        model_refund_order(model, move->ticket, move->now_ms);
    model_store_event(model, order, step, destination);
}

static enum move_answer move_try(
    struct model_store *model, const struct order_move *move, struct order *after)
{
    struct order *order = model_store_order(model, move->ticket);
    if (order == NULL)
        return MOVE_UNKNOWN;
    const struct item *item = &model->items[order->item - 1].item;
    const bool pays = move->event == ORDER_EVENT_PAY;
    const struct payment *known = pays ? model_payment_find(model, move->reference) : NULL;
    enum order_state to = ORDER_NONE;
    const bool by_this = known != NULL && known->paid_ticket == move->ticket;
    const struct order_money money = {
        .payer = by_this                             ? PAYER_THIS
            : model_payer_known(model, move->ticket) ? PAYER_OTHER
                                                     : PAYER_NONE,
        .reference_used = known != NULL && !by_this,
        .live = model_payments_live(model, move->ticket),
    };
    const enum move_answer answer =
        order_move_decide(move, order, model->products[item->product - 1].currency, &money, &to);
    if (answer == MOVE_DONE)
        move_make(model, move, order, to);
    *after = *order;
    return answer;
}

enum status model_orders_move(struct order_store *store, const struct order_move *moves,
    uint32_t count, struct order *after, uint8_t *answers)
{
    struct model_store *model = model_of(store);
    invariant(count <= ORDER_MOVES_MAX);
    model_store_undo_forget(model);
    MODEL_ROOM(model, events, count);
    MODEL_ROOM(model, payments, count);
    MODEL_ROOM(model, refunds, count);
    map_reserve(&model->counters, 2 * count);
    map_reserve(&model->slots, count);
    model->batch++;
    model_store_note(model, &model->at, sizeof model->at);
    for (uint32_t i = 0; i < count; i++)
        answers[i] = (uint8_t)move_try(model, &moves[i], &after[i]);
    return STATUS_OK;
}

enum status model_orders_due(struct order_store *store, uint64_t now_ms, uint64_t created_from_ms,
    ticket_number *tickets, uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    const struct model_store *model = model_of(store);
    uint64_t last_ms = 0;
    *count = 0;
    *next_ms = UINT64_MAX;
    /* The earliest deadline that was not listed yet, again and again. */
    for (bool more = true; more;) {
        uint64_t found_ms = UINT64_MAX;
        for (uint32_t i = 0; i < model->at.orders; i++) {
            const struct order *order = &model->orders[i];
            if (order->state != ORDER_PENDING || order->created_ms < created_from_ms)
                continue;
            if (order->pay_by_ms > now_ms && order->pay_by_ms < *next_ms)
                *next_ms = order->pay_by_ms;
            if (order->pay_by_ms <= now_ms && order->pay_by_ms > last_ms
                && order->pay_by_ms < found_ms && model_payments_live(model, order->ticket) == 0)
                found_ms = order->pay_by_ms;
        }
        for (uint32_t i = 0; i < model->at.orders && found_ms != UINT64_MAX; i++) {
            const struct order *order = &model->orders[i];
            if (order->state == ORDER_PENDING && order->created_ms >= created_from_ms
                && order->pay_by_ms == found_ms && *count < max
                && model_payments_live(model, order->ticket) == 0)
                tickets[(*count)++] = order->ticket;
        }
        last_ms = found_ms;
        more = found_ms != UINT64_MAX && *count < max;
    }
    return STATUS_OK;
}
