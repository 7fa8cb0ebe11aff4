/* SPDX-License-Identifier: Apache-2.0 */
/* Every order against its ticket, and the tickets that have no order. */
#include "orders/reconcile_parts.h"

static enum status gap_look(struct reconcile *reconcile, ticket_number from, ticket_number to)
{
    for (ticket_number ticket = from; ticket < to && ticket < from + RECONCILE_GAP_MAX; ticket++) {
        bool dead = false;
        const enum status status =
            reconcile_ops(reconcile)->dead(reconcile->config.store, ticket, &dead);
        if (status != STATUS_OK)
            return status;
        if (!dead)
            reconcile_suspect(reconcile, &(struct suspect){ .kind = QUESTION_TICKET, .ticket = ticket });
    }
    return STATUS_OK;
}

enum status reconcile_tickets_read(struct reconcile *reconcile)
{
    uint32_t count = 0;
    reconcile_questions_begin(reconcile);
    enum status status = reconcile_ops(reconcile)->orders(reconcile->config.store,
        reconcile->last_ticket, reconcile->rows.orders, RECONCILE_SLICE, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_order *row = &reconcile->rows.orders[i];
        struct question *question = reconcile_question(reconcile, QUESTION_TICKET);
        question->ticket = row->order.ticket;
        question->row = *row;
        question->has_row = true;
        status = gap_look(reconcile, reconcile->last_ticket + 1, row->order.ticket);
        reconcile->last_ticket = row->order.ticket;
    }
    reconcile->row_count = count;
    reconcile->reached.ticket = reconcile->last_ticket;
    reconcile->rows_end = count < RECONCILE_SLICE;
    if (status == STATUS_OK && reconcile->rows_end)
        status = gap_look(
            reconcile, reconcile->last_ticket + 1, reconcile->last_ticket + RECONCILE_GAP_MAX);
    return status;
}

/* Checks one row of the database by itself. */
static void order_judge_alone(struct reconcile *reconcile, const struct look_order *row)
{
    const struct order *order = &row->order;
    const struct finding seed = { .ticket = order->ticket, .item = order->item, .user = order->user };
    const unsigned long long number = order->ticket;
    if (!reconcile_slot_fits(row))
        reconcile_finding(reconcile, &seed, FINDING_SLOT,
            "order number %llu: slot is %lld, item %u allows %u", number, (long long)row->slot,
            order->item, row->limit_per_user);
    if (order->state == ORDER_PAID && row->payments_paid == 0)
        reconcile_finding(reconcile, &seed, FINDING_PAID_WITHOUT_PAYMENT,
            "order number %llu is paid, but no payment paid it", number);
    if (order->state == ORDER_REFUNDED && row->payments_paid == 0)
        reconcile_finding(reconcile, &seed, FINDING_REFUNDED_WITHOUT_PAYMENT,
            "order number %llu is refunded, but no payment paid it: check that the money was "
            "refunded",
            number);
    if (order->state == ORDER_REFUNDED && row->payments_paid > 0 && !row->refund_there)
        reconcile_finding(reconcile, &seed, FINDING_REFUND_MISSING,
            "order number %llu is refunded, but no refund was requested", number);
}

enum status reconcile_tickets_judge(struct reconcile *reconcile)
{
    for (uint32_t i = 0; i < reconcile->question_count; i++) {
        struct question *question = &reconcile->questions[i];
        uint8_t step;
        reconcile->report.orders++;
        order_judge_alone(reconcile, &question->row);
        if (reconcile_judge_ticket(&question->row, &question->outcome, &step) == FINDING_NONE)
            continue;
        enum status status =
            reconcile_ops(reconcile)->order(reconcile->config.store, question->ticket, &question->row);
        if (status != STATUS_OK && status != STATUS_NOT_FOUND)
            return status;
        if (status == STATUS_NOT_FOUND
            || reconcile_judge_ticket(&question->row, &question->outcome, &step) != FINDING_NONE)
            reconcile_suspect(reconcile,
                &(struct suspect){ .kind = QUESTION_TICKET, .ticket = question->ticket });
    }
    return STATUS_OK;
}
