/* SPDX-License-Identifier: Apache-2.0 */
/* Payments of the model store, as docs/orders.md has them: plain arrays, searched from end to end. */
#include "contract/order_state.h"
#include "contract/payment_rules.h"
#include "tests/simulation/model_store_parts.h"

#include <stdio.h>
#include <string.h>

static struct payment *payment_at(const struct model_store *model, uint64_t id)
{
    return id == 0 || id > model->at.payments ? NULL : &model->payments[id - 1];
}

struct payment *model_payment_find(const struct model_store *model, const char *reference)
{
    for (uint32_t i = 0; i < model->at.payments; i++) {
        if (strcmp(model->payments[i].reference, reference) == 0)
            return &model->payments[i];
    }
    return NULL;
}

uint32_t model_payments_live(const struct model_store *model, ticket_number ticket)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < model->at.payments; i++)
        live += model->payments[i].ticket == ticket && payment_is_live(&model->payments[i]);
    return live;
}

static void close_all(struct model_store *model, ticket_number ticket, uint64_t now_ms)
{
    for (uint32_t i = 0; i < model->at.payments; i++) {
        struct payment *payment = &model->payments[i];
        if (payment->ticket != ticket || !payment_is_live(payment) || payment->state == PAYMENT_CLOSING)
            continue;
        model_store_note(model, payment, sizeof *payment);
        payment->state = PAYMENT_CLOSING;
        payment->tries = 0;
        payment->next_ms = payment->closing_ms = now_ms;
    }
}

void model_order_pay(struct model_store *model, struct order *order, uint64_t now_ms)
{
    model_store_note(model, order, sizeof *order);
    order->state = ORDER_PAID;
    order->ending = REASON_NONE;
    order->version++;
    close_all(model, order->ticket, now_ms);
    model_store_event(model, order, SETTLE_SOLD, order->channel);
}

/* Before each operation: nothing moves in memory while it runs, and no batch can be undone. */
static struct model_store *begin(struct order_store *store)
{
    struct model_store *model = model_of(store);
    model_store_undo_forget(model);
    MODEL_ROOM(model, payments, 1);
    MODEL_ROOM(model, refunds, 1);
    MODEL_ROOM(model, events, 1);
    map_reserve(&model->counters, 2);
    map_reserve(&model->slots, 2);
    model->batch++;
    return model;
}

/* ---- start ---- */

static void extend(struct model_store *model, const struct payment_start *start, struct order *order)
{
    uint64_t until_ms;
    if (!payment_start_extends(start, order, &until_ms))
        return;
    order->extended = true;
    order->pay_by_ms = until_ms;
    order->version++;
    for (uint32_t i = 0; i < model->at.payments; i++)
        if (model->payments[i].ticket == order->ticket && payment_is_live(&model->payments[i]))
            model->payments[i].pay_by_ms = until_ms;
}

static const char *currency_of(const struct model_store *model, const struct order *order)
{
    return model->products[model->items[order->item - 1].item.product - 1].currency;
}

static uint8_t start_try(struct model_store *model, const struct payment_start *start,
    struct payment *payment, struct order *after)
{
    static struct payment tried[PAYMENTS_PER_ORDER]; /* large */
    struct order *order = model_store_order(model, start->ticket);
    const struct payment *same = NULL;
    uint32_t count = 0;
    if (order == NULL)
        return START_UNKNOWN;
    for (uint32_t i = 0; i < model->at.payments && count < PAYMENTS_PER_ORDER; i++)
        if (model->payments[i].ticket == start->ticket)
            tried[count++] = model->payments[i];
    *after = *order;
    const enum start_answer answer =
        payment_start_decide(start, order, tried, count, model_details_missing(model, order), &same);
    if (answer == START_REPEATED)
        *payment = *same;
    if (answer != START_DONE)
        return answer;
    if (model_payment_find(model, start->reference) != NULL)
        return START_ANSWERS; /* no answer: the caller's fault */
    extend(model, start, order);
    *after = *order;
    payment_start_make(start, order, currency_of(model, order), payment);
    payment->id = model->at.payments + 1;
    model->payments[model->at.payments++] = *payment;
    return START_DONE;
}

static enum status model_start(struct order_store *store, const struct payment_start *start,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    struct model_store *model = begin(store);
    *answer = start_try(model, start, payment, after);
    return *answer == START_ANSWERS ? STATUS_REFUSED : STATUS_OK;
}

static enum status model_opened(struct order_store *store, uint64_t id, const char *provider_id,
    const char *url, uint64_t next_ms)
{
    struct payment *payment = payment_at(begin(store), id);
    if (payment != NULL)
        payment_opened_apply(payment, provider_id, url, next_ms);
    return STATUS_OK;
}

/* ---- news ---- */

static void close_order_that_waits(struct model_store *model, struct order *order)
{
    enum order_event event;
    if (!order_ending_event(order, model_payments_live(model, order->ticket), &event))
        return;
    model_store_end(model, order, ORDER_CLOSED, order_state_reason(event), SETTLE_RETURN);
    model_store_event(model, order, SETTLE_RETURN, order->channel);
}

static void order_is_paid(struct model_store *model, struct order *order, uint64_t now_ms)
{
    if (order->state == ORDER_PENDING)
        model_order_pay(model, order, now_ms);
    else /* it was paid, and by what is known by now */
        close_all(model, order->ticket, now_ms);
}

static enum status model_learn(struct order_store *store, const struct payment_news *news,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    struct model_store *model = begin(store);
    struct payment *row = model_payment_find(model, news->reference);
    *answer = LEARN_UNKNOWN;
    if (row == NULL || strcmp(row->provider, news->provider) != 0)
        return STATUS_OK;
    struct order *order = model_store_order(model, row->ticket);
    invariant(order != NULL);
    const struct news_verdict verdict =
        payment_news_decide(news, order, model_payer_known(model, order->ticket), PAYER_FREE, row);
    *answer = verdict.answer;
    if (verdict.pays)
        order_is_paid(model, order, news->now_ms);
    if (verdict.refund)
        model_refund_want(model, row, news->currency, (enum refund_why)verdict.why, news->now_ms);
    if (verdict.order_freed)
        close_order_that_waits(model, order);
    *payment = *row;
    *after = *order;
    model_store_undo_forget(model);
    return STATUS_OK;
}

/* ---- the rest ---- */

static enum status model_closing(struct order_store *store, ticket_number ticket,
    enum order_reason reason, uint64_t now_ms, uint32_t *live)
{
    struct model_store *model = begin(store);
    struct order *order = model_store_order(model, ticket);
    *live = model_payments_live(model, ticket);
    close_all(model, ticket, now_ms);
    if (order != NULL && order_ending_is_kept(order, *live, reason)) {
        order->ending = (uint8_t)reason;
        order->version++;
    }
    model_store_undo_forget(model);
    return STATUS_OK;
}

static uint64_t due_ms(const struct payment *payment)
{
    const bool payable = payment->state == PAYMENT_STARTED || payment->state == PAYMENT_OPEN;
    if (!payment_is_live(payment) && payment->use != USE_LATE && !payment_is_unanswered(payment))
        return UINT64_MAX;
    return payable && payment->pay_by_ms < payment->next_ms ? payment->pay_by_ms : payment->next_ms;
}

static enum status model_due(struct order_store *store, uint64_t now_ms, struct payment *payments,
    uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    *next_ms = UINT64_MAX;
    for (uint32_t i = 0; i < model->at.payments; i++) {
        const struct payment *payment = &model->payments[i];
        const uint64_t when_ms = due_ms(payment);
        if (when_ms > now_ms && when_ms < *next_ms)
            *next_ms = when_ms;
        if (when_ms > now_ms)
            continue;
        uint32_t place = *count;
        while (place > 0 && due_ms(&payments[place - 1]) > when_ms)
            place--;
        if (place == max)
            continue;
        *count += *count < max;
        memmove(&payments[place + 1], &payments[place], (*count - place - 1) * sizeof *payments);
        payments[place] = *payment;
    }
    return STATUS_OK;
}

static enum status model_again(struct order_store *store, uint64_t id, uint64_t next_ms)
{
    struct payment *payment = payment_at(begin(store), id);
    if (payment != NULL
        && (payment_is_live(payment) || payment->use == USE_LATE || payment_is_unanswered(payment))) {
        payment->tries++;
        payment->next_ms = next_ms;
    }
    return STATUS_OK;
}

static enum status model_relink(struct order_store *store, uint64_t id, ticket_number ticket,
    uint64_t now_ms, struct order *after, bool *done)
{
    struct model_store *model = begin(store);
    struct payment *payment = payment_at(model, id);
    struct order *order = model_store_order(model, ticket);
    *done = false;
    if (payment == NULL || order == NULL)
        return STATUS_NOT_FOUND;
    bool joins;
    struct booking *booking = model_booking_late(store, payment->ticket, &joins);
    const enum relink_verdict verdict = payment_relink_decide(model_store_order(model, payment->ticket),
        order, model_payer_known(model, ticket), booking != NULL && !joins, PAYER_FREE, payment);
    *done = verdict == RELINK_PAYS || verdict == RELINK_REPEATED;
    if (verdict == RELINK_PAYS)
        order_is_paid(model, order, now_ms);
    if (verdict == RELINK_GIVES_BACK)
        model_refund_want(model, payment, payment->currency, REFUND_OF_LATE, now_ms);
    const struct order_move stray = { .ticket = ticket, .event = ORDER_EVENT_REFUND, .now_ms = now_ms };
    uint8_t answer;
    if (verdict == RELINK_GIVES_BACK && booking != NULL && !joins && order->state == ORDER_PAID) {
        const enum status status = model_orders_move(store, &stray, 1, after, &answer);
        return status;
    }
    if (verdict == RELINK_GIVES_BACK && booking != NULL && order->state == ORDER_PENDING) {
        model_store_end(model, order, ORDER_CLOSED, REASON_REJECTED, SETTLE_RETURN);
        model_store_event(model, order, SETTLE_RETURN, order->channel);
        close_all(model, ticket, now_ms);
    }
    if (joins && booking != NULL && order->state == ORDER_PAID
        && (verdict == RELINK_PAYS || verdict == RELINK_GIVES_BACK)) {
        booking->state = BOOKING_DUE;
        booking->closed_deposit = booking->deposit;
        booking->deposit = ticket;
    }
    *after = *order;
    model_store_undo_forget(model);
    return STATUS_OK;
}

static enum status model_give_back(
    struct order_store *store, uint64_t id, enum refund_why why, uint64_t now_ms)
{
    struct model_store *model = begin(store);
    struct payment *payment = payment_at(model, id);
    if (payment == NULL)
        return STATUS_NOT_FOUND;
    if (payment_give_back_decide(payment))
        model_refund_want(model, payment, payment->currency, why, now_ms);
    return STATUS_OK;
}

static enum status model_get(struct order_store *store, uint64_t id, struct payment *payment)
{
    const struct payment *found = payment_at(model_of(store), id);
    if (found == NULL || found->ticket == 0)
        return STATUS_NOT_FOUND;
    *payment = *found;
    return STATUS_OK;
}

static enum status model_by_reference(
    struct order_store *store, const char *reference, struct payment *payment)
{
    const struct payment *found = model_payment_find(model_of(store), reference);
    if (found == NULL)
        return STATUS_NOT_FOUND;
    *payment = *found;
    return STATUS_OK;
}

static enum status model_of_paid(struct order_store *store, ticket_number ticket, struct payment *payment)
{
    const struct model_store *model = model_of(store);
    for (uint32_t i = 0; i < model->at.payments; i++) {
        const struct payment *at = &model->payments[i];
        if (at->paid_ticket != ticket || (at->use != USE_ORDER && at->use != USE_RELINKED))
            continue;
        *payment = *at;
        return STATUS_OK;
    }
    return STATUS_NOT_FOUND;
}

static enum status model_of_order(struct order_store *store, ticket_number ticket,
    struct payment *payments, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint32_t i = model->at.payments; i > 0 && *count < max; i--)
        if (model->payments[i - 1].ticket == ticket)
            payments[(*count)++] = model->payments[i - 1];
    return STATUS_OK;
}

/* ---- after a restore ---- */

static enum status model_search(
    struct order_store *store, const struct payment_search *list, uint32_t count, uint64_t now_ms)
{
    for (uint32_t i = 0; i < count; i++) {
        struct model_store *model = begin(store);
        const struct order *order = model_store_order(model, list[i].ticket);
        if (order == NULL || model_payment_find(model, list[i].reference) != NULL)
            continue;
        struct payment *payment = &model->payments[model->at.payments++];
        payment_search_make(&list[i], order, currency_of(model, order), now_ms, payment);
        payment->id = model->at.payments;
    }
    return STATUS_OK;
}

static enum status model_search_next(
    struct order_store *store, uint64_t id, const char *provider, uint64_t now_ms)
{
    struct payment *payment = payment_at(begin(store), id);
    if (payment == NULL || !payment->searched
        || (payment->state != PAYMENT_CLOSING && !payment_is_unanswered(payment)))
        return STATUS_OK;
    snprintf(payment->provider, sizeof payment->provider, "%s", provider);
    payment->tries = 0;
    payment->next_ms = payment->closing_ms = now_ms;
    return STATUS_OK;
}

/* A row that nobody finds any more. */
static enum status model_search_end(
    struct order_store *store, uint64_t id, uint64_t now_ms, struct order *after)
{
    struct model_store *model = begin(store);
    struct payment *payment = payment_at(model, id);
    (void)now_ms;
    if (payment == NULL || payment->ticket == 0)
        return STATUS_NOT_FOUND;
    struct order *order = model_store_order(model, payment->ticket);
    if (payment->searched && payment->state != PAYMENT_CAPTURED)
        *payment = (struct payment){ .id = id, .state = PAYMENT_CLOSED };
    close_order_that_waits(model, order);
    *after = *order;
    model_store_undo_forget(model);
    return STATUS_OK;
}

const struct payment_store_ops model_payment_ops = {
    .start = model_start,
    .opened = model_opened,
    .learn = model_learn,
    .closing = model_closing,
    .due = model_due,
    .again = model_again,
    .relink = model_relink,
    .give_back = model_give_back,
    .get = model_get,
    .by_reference = model_by_reference,
    .of_paid = model_of_paid,
    .of_order = model_of_order,
    .refunds_due = model_refunds_due,
    .refund_again = model_refund_again,
    .refund_done = model_refund_done,
    .refunds = model_refunds,
    .refund_of_payment = model_refund_of_payment,
    .refund_of_order = model_refund_of_order,
    .details_set = model_details_set,
    .details = model_details,
    .search = model_search,
    .search_next = model_search_next,
    .search_end = model_search_end,
    .totals = model_money_totals,
    .ask = model_payment_ask,
    .stated = model_stated,
    .unstated = model_unstated,
};
