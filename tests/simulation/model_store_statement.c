/* SPDX-License-Identifier: Apache-2.0 */
/* What providers' statements say, in the model store. */
#include "tests/simulation/model_store_parts.h"

#include <stdio.h>
#include <string.h>

enum status model_payment_ask(struct order_store *store, uint64_t id, uint64_t now_ms)
{
    struct model_store *model = model_of(store);
    model_store_undo_forget(model);
    if (id > 0 && id <= model->at.payments && model->payments[id - 1].state != PAYMENT_CAPTURED)
        model->payments[id - 1].next_ms = now_ms;
    return STATUS_OK;
}

enum status model_stated(struct order_store *store, const uint64_t *payments,
    uint32_t payment_count, const uint64_t *refunds, uint32_t refund_count, uint64_t now_ms)
{
    struct model_store *model = model_of(store);
    model_store_undo_forget(model);
    for (uint32_t i = 0; i < payment_count; i++)
        if (model->payments[payments[i] - 1].stated_ms == 0)
            model->payments[payments[i] - 1].stated_ms = now_ms;
    for (uint32_t i = 0; i < refund_count; i++)
        if (model->refunds[refunds[i] - 1].stated_ms == 0)
            model->refunds[refunds[i] - 1].stated_ms = now_ms;
    return STATUS_OK;
}

static bool is_missing(
    const struct unstated_query *query, const char *provider, uint64_t stated_ms, uint64_t time_ms)
{
    return stated_ms == 0 && strcmp(provider, query->provider) == 0 && time_ms >= query->from_ms
        && time_ms <= query->to_ms;
}

enum status model_unstated(struct order_store *store, const struct unstated_query *query,
    struct statement_missing *rows, uint32_t max, uint32_t *count)
{
    const struct model_store *model = model_of(store);
    const uint64_t last = query->refunds ? model->at.refunds : model->at.payments;
    *count = 0;
    for (uint64_t i = query->after; i < last && *count < max; i++) {
        const struct refund *refund = query->refunds ? &model->refunds[i] : NULL;
        const struct payment *payment = &model->payments[refund == NULL ? i : refund->payment - 1];
        const bool there = refund == NULL ? payment->state == PAYMENT_CAPTURED
                && is_missing(query, payment->provider, payment->stated_ms, payment->captured_ms)
                                          : refund->state == REFUND_DONE
                && is_missing(query, refund->provider, refund->stated_ms, refund->done_ms);
        if (!there)
            continue;
        struct statement_missing *row = &rows[(*count)++];
        *row = (struct statement_missing){ .id = i + 1,
            .ticket = payment->ticket,
            .amount = refund == NULL ? payment->captured : refund->amount,
            .time_ms = refund == NULL ? payment->captured_ms : refund->done_ms };
        snprintf(row->reference, sizeof row->reference, "%s", payment->reference);
        snprintf(row->currency, sizeof row->currency, "%s",
            refund == NULL ? payment->currency : refund->currency);
    }
    return STATUS_OK;
}

enum status model_refund_of_payment(struct order_store *store, uint64_t payment, struct refund *refund)
{
    const struct model_store *model = model_of(store);
    for (uint32_t i = 0; i < model->at.refunds; i++) {
        if (model->refunds[i].payment != payment)
            continue;
        *refund = model->refunds[i];
        return STATUS_OK;
    }
    return STATUS_NOT_FOUND;
}
