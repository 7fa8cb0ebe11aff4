/* SPDX-License-Identifier: Apache-2.0 */
/* Refunds, details and sums of the model store. */
#include "contract/payment_rules.h"
#include "tests/simulation/model_store_parts.h"

#include <stdio.h>
#include <string.h>

void model_refund_want(struct model_store *model, const struct payment *payment,
    const char *currency, enum refund_why why, uint64_t now_ms)
{
    for (uint32_t i = 0; i < model->at.refunds; i++)
        invariant(model->refunds[i].payment != payment->id);
    struct refund *refund = &model->refunds[model->at.refunds++];
    refund_make(payment, currency, why, 0, now_ms, refund);
    refund->id = model->at.refunds;
}

static bool has_paid(const struct payment *payment, ticket_number ticket)
{
    return payment->paid_ticket == ticket && (payment->use == USE_ORDER || payment->use == USE_RELINKED);
}

bool model_payer_known(const struct model_store *model, ticket_number ticket)
{
    for (uint32_t i = 0; i < model->at.payments; i++)
        if (has_paid(&model->payments[i], ticket))
            return true;
    return false;
}

void model_refund_order(struct model_store *model, ticket_number ticket, uint64_t now_ms)
{
    for (uint32_t i = 0; i < model->at.payments; i++) {
        const struct payment *payment = &model->payments[i];
        if (has_paid(payment, ticket)) {
            model_refund_want(model, payment, payment->currency, REFUND_OF_ORDER, now_ms);
            return;
        }
    }
}

enum status model_refunds_due(struct order_store *store, uint64_t now_ms, struct refund *refunds,
    uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    *next_ms = UINT64_MAX;
    for (uint32_t i = 0; i < model->at.refunds; i++) {
        const struct refund *refund = &model->refunds[i];
        if (refund->state == REFUND_DONE)
            continue;
        if (refund->next_ms > now_ms && refund->next_ms < *next_ms)
            *next_ms = refund->next_ms;
        if (refund->next_ms > now_ms)
            continue;
        uint32_t place = *count;
        while (place > 0 && refunds[place - 1].next_ms > refund->next_ms)
            place--;
        if (place == max)
            continue;
        *count += *count < max;
        memmove(&refunds[place + 1], &refunds[place], (*count - place - 1) * sizeof *refunds);
        refunds[place] = *refund;
    }
    return STATUS_OK;
}

static struct refund *refund_open(struct order_store *store, uint64_t id)
{
    struct model_store *model = model_of(store);
    model_store_undo_forget(model);
    if (id == 0 || id > model->at.refunds || model->refunds[id - 1].state == REFUND_DONE)
        return NULL;
    return &model->refunds[id - 1];
}

enum status model_refund_again(
    struct order_store *store, uint64_t id, uint64_t next_ms, const char *error, bool stuck)
{
    struct refund *refund = refund_open(store, id);
    if (refund == NULL)
        return STATUS_OK;
    refund->tries++;
    refund->next_ms = next_ms;
    refund->state = stuck ? REFUND_STUCK : REFUND_WANTED;
    snprintf(refund->error, sizeof refund->error, "%s", error);
    return STATUS_OK;
}

enum status model_refund_done(
    struct order_store *store, uint64_t id, const char *provider_id, uint64_t now_ms)
{
    struct refund *refund = refund_open(store, id);
    if (refund == NULL)
        return STATUS_OK;
    refund->state = REFUND_DONE;
    refund->done_ms = now_ms;
    refund->next_ms = 0;
    refund->error[0] = '\0';
    snprintf(refund->provider_id, sizeof refund->provider_id, "%s", provider_id);
    return STATUS_OK;
}

enum status model_refunds(struct order_store *store, uint64_t after, enum refund_state state,
    struct refund *refunds, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    *count = 0;
    for (uint64_t i = after; i < model->at.refunds && *count < max; i++)
        if (state == REFUND_NONE || model->refunds[i].state == state)
            refunds[(*count)++] = model->refunds[i];
    return STATUS_OK;
}

/* That of the payment which paid it first of all, else the newest of its payments. */
enum status model_refund_of_order(struct order_store *store, ticket_number ticket, struct refund *refund)
{
    const struct model_store *model = model_of(store);
    const struct refund *found = NULL;
    for (uint32_t i = 0; i < model->at.refunds; i++) {
        const struct refund *row = &model->refunds[i];
        const struct payment *payment = &model->payments[row->payment - 1];
        const bool better = found == NULL || row->why == REFUND_OF_ORDER || found->why != REFUND_OF_ORDER;
        if ((payment->ticket == ticket || has_paid(payment, ticket)) && better)
            found = row;
    }
    if (found == NULL)
        return STATUS_NOT_FOUND;
    *refund = *found;
    return STATUS_OK;
}

static struct model_details *details_find(const struct model_store *model, ticket_number ticket)
{
    for (uint32_t i = 0; i < model->at.details; i++)
        if (model->details[i].ticket == ticket)
            return &model->details[i];
    return NULL;
}

bool model_details_missing(const struct model_store *model, const struct order *order)
{
    const sale_id sale = model->items[order->item - 1].item.sale;
    return model->sales[sale - 1].sale.details_required && details_find(model, order->ticket) == NULL;
}

static bool details_same(const struct order_details *a, const struct order_details *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->phone, b->phone) == 0
        && strcmp(a->address, b->address) == 0 && strcmp(a->note, b->note) == 0;
}

enum status model_details_set(struct order_store *store, ticket_number ticket,
    const struct order_details *details, uint64_t now_ms, struct order *after)
{
    struct model_store *model = model_of(store);
    (void)now_ms; /* when: nobody asks the model */
    model_store_undo_forget(model);
    MODEL_ROOM(model, details, 1);
    struct order *order = model_store_order(model, ticket);
    struct model_details *row = details_find(model, ticket);
    if (order == NULL)
        return STATUS_NOT_FOUND;
    *after = *order;
    if (order->state != ORDER_PENDING)
        return STATUS_CONFLICT;
    if (row != NULL && details_same(&row->details, details))
        return STATUS_OK;
    if (row == NULL)
        row = &model->details[model->at.details++];
    *row = (struct model_details){ .ticket = ticket, .details = *details };
    order->version++;
    *after = *order;
    return STATUS_OK;
}

enum status model_details(struct order_store *store, ticket_number ticket, struct order_details *details)
{
    const struct model_details *row = details_find(model_of(store), ticket);
    if (row == NULL)
        return STATUS_NOT_FOUND;
    *details = row->details;
    return STATUS_OK;
}

enum status model_money_totals(struct order_store *store, struct money_totals *totals)
{
    const struct model_store *model = model_of(store);
    *totals = (struct money_totals){ 0 };
    for (uint32_t i = 0; i < model->at.payments; i++) {
        const struct payment *payment = &model->payments[i];
        const bool pays = payment->use == USE_ORDER || payment->use == USE_RELINKED;
        const struct order *order = pays ? model_store_order(model, payment->paid_ticket) : NULL;
        totals->captured += payment->captured;
        totals->late += payment->use == USE_LATE ? payment->captured : 0;
        totals->paid += order != NULL && order->state == ORDER_PAID ? order->amount : 0;
    }
    for (uint32_t i = 0; i < model->at.refunds; i++) {
        const struct refund *refund = &model->refunds[i];
        *(refund->state == REFUND_DONE ? &totals->refunded : &totals->wanted) += refund->amount;
    }
    return STATUS_OK;
}
