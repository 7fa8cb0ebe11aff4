/* SPDX-License-Identifier: Apache-2.0 */
/* Runs over what has changed since the last run that found nothing wrong. Every change of an order's state
 * has a stock event, and events have ascending ids: so orders with higher tickets and orders with later
 * events are all that can have changed by us. What somebody else changed is found by a whole run. */
#include "orders/reconcile_parts.h"

#include <string.h>

enum status reconcile_moved_read(struct reconcile *reconcile)
{
    uint32_t count = 0;
    reconcile_questions_begin(reconcile);
    const enum status status = reconcile_ops(reconcile)->moved(
        reconcile->config.store, reconcile->event, reconcile->rows.moved, RECONCILE_SLICE, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_moved *moved = &reconcile->rows.moved[i];
        struct question *question = reconcile_question(reconcile, QUESTION_TICKET);
        question->ticket = moved->row.order.ticket;
        question->row = moved->row;
        question->has_row = true;
        reconcile->event = moved->event;
    }
    reconcile->row_count = count;
    reconcile->rows_end = count < RECONCILE_SLICE;
    return status;
}

static enum status user_ask(struct reconcile *reconcile, const struct look_order *row)
{
    struct order_store *store = reconcile->config.store;
    const struct order *order = &row->order;
    struct look_counter counters[2];
    uint32_t count = 0;
    struct question *question = reconcile_question(reconcile, QUESTION_MARK);
    reconcile->changed[order->item / 64] |= (uint64_t)1 << order->item % 64;
    enum status status =
        reconcile_ops(reconcile)->user(store, order->item, order->user, &question->user);
    if (status == STATUS_OK)
        status =
            reconcile_ops(reconcile)->counters_of(store, order->item, order->user, counters, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        reconcile_counter_check(reconcile, &counters[i]);
    return status;
}

enum status reconcile_users_ask(struct reconcile *reconcile)
{
    const bool moved = reconcile->phase == PHASE_MOVED;
    enum status status = STATUS_OK;
    reconcile_questions_begin(reconcile);
    for (uint32_t i = 0; i < reconcile->row_count && status == STATUS_OK; i++)
        status =
            user_ask(reconcile, moved ? &reconcile->rows.moved[i].row : &reconcile->rows.orders[i]);
    return status;
}

enum status reconcile_changed_next(struct reconcile *reconcile, bool *there)
{
    uint32_t count = 0;
    for (item_id id = reconcile->item.item.id + 1; id < ITEMS_LIMIT; id++) {
        if ((reconcile->changed[id / 64] >> id % 64 & 1) == 0)
            continue;
        const enum status status = reconcile_ops(reconcile)->items(
            reconcile->config.store, LOOK_NOW, id - 1, &reconcile->item, 1, &count);
        *there = count == 1;
        reconcile->sum =
            (struct look_user){ .item = reconcile->item.item.id, .live = reconcile->item.live };
        return status;
    }
    *there = false;
    return STATUS_OK;
}

void reconcile_recent_begin(struct reconcile *reconcile)
{
    const struct reconcile_clean *clean = &reconcile->clean;
    reconcile->users_asked = false;
    reconcile->unsure = 0;
    memset(reconcile->changed, 0, sizeof reconcile->changed);
    if (reconcile->report.recent) {
        memcpy(reconcile->changed, reconcile->unrested, sizeof reconcile->changed);
        reconcile->event = clean->event;
        reconcile->payment = clean->payment;
    }
    memset(reconcile->unrested, 0, sizeof reconcile->unrested);
    reconcile->reached = (struct reconcile_clean){ 0 };
    reconcile->reached.known =
        reconcile_ops(reconcile)->moved_last(reconcile->config.store, &reconcile->reached.event)
        == STATUS_OK;
}

/* What waits for a provider or a person is found again by every run, and holds up none. */
static bool finding_waits(const struct finding *finding)
{
    return finding->code == FINDING_REFUND_STUCK || finding->code == FINDING_UNANSWERED;
}

void reconcile_clean_take(struct reconcile *reconcile)
{
    const struct reconcile_report *report = &reconcile->report;
    bool clean = report->state == RECONCILE_DONE && reconcile->unsure == 0
        && report->found == report->count && reconcile->reached.known && !reconcile->parts_too_many;
    for (uint32_t i = 0; i < report->count && clean; i++)
        clean = finding_waits(&report->findings[i]);
    if (clean) {
        reconcile->clean = reconcile->reached;
        reconcile_parts_clean(reconcile);
    } else if (report->recent) { /* it is looked at again, all of it */
        for (uint32_t i = 0; i < ITEM_WORDS; i++)
            reconcile->unrested[i] |= reconcile->changed[i];
    }
}
