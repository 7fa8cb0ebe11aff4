/* SPDX-License-Identifier: Apache-2.0 */
/* Every order against its ticket, and the tickets that have no order. */
#include "orders/reconcile_parts.h"

/* Tickets of a partition that no order has. Their epoch is not known: the inventory is asked by their n. */
static enum status gap_look(struct reconcile *reconcile, uint32_t part, uint32_t from, uint32_t to)
{
    for (uint32_t n = from; n < to && n - from < RECONCILE_GAP_MAX; n++) {
        const struct suspect suspect = { .kind = QUESTION_TICKET,
            .ticket = ticket_number_make(&(struct ticket_parts){ .part = part, .n = n }),
            .by_n = reconcile->config.partitions };
        bool dead = false;
        const enum status status =
            reconcile_ops(reconcile)->dead(reconcile->config.store, suspect.ticket, &dead);
        if (status != STATUS_OK)
            return status;
        if (!dead)
            reconcile_suspect(reconcile, &suspect);
    }
    return STATUS_OK;
}

/* ---- the walk: by partition and number ---- */

static bool part_rests(const struct reconcile *reconcile, const struct reconcile_part *part)
{
    return reconcile->config.partitions && part->clean_seq == part->told_seq;
}

/* A whole run goes through all orders, a recent one begins where the last clean run was in this partition. */
static void part_enter(struct reconcile *reconcile)
{
    const bool recent = reconcile->report.recent;
    struct ticket_parts parts;
    while (recent && reconcile->part_at < reconcile->part_count
        && part_rests(reconcile, &reconcile->parts[reconcile->part_at]))
        reconcile->part_at++;
    reconcile->last_n = 0;
    if (!recent || reconcile->part_at == reconcile->part_count)
        return;
    const struct reconcile_part *part = &reconcile->parts[reconcile->part_at];
    reconcile->last_n = ticket_number_split(part->clean, &parts) ? parts.n : 0;
    reconcile->last_ticket = part->clean > 0 ? part->clean : (ticket_number)part->part << TICKET_PART_AT;
}

/* Behind its last order there may be tickets that have none. Many partitions share the room for suspects. */
static enum status part_leave(struct reconcile *reconcile)
{
    const uint32_t part = reconcile->parts[reconcile->part_at].part, next = reconcile->last_n + 1;
    const uint32_t share = (RECONCILE_GAP_MAX - 1) / reconcile->part_count;
    reconcile->part_at++;
    const enum status status = gap_look(reconcile, part, next, next + (share == 0 ? 1 : share));
    part_enter(reconcile);
    return status;
}

/* *other: the row is of a partition that comes later in a recent run. */
static enum status row_pass(struct reconcile *reconcile, const struct look_order *row, bool *other)
{
    const ticket_number ticket = row->order.ticket;
    const uint32_t of = ticket_part(ticket);
    struct ticket_parts parts;
    enum status status = STATUS_OK;
    *other = reconcile->report.recent && of != reconcile->parts[reconcile->part_at].part;
    if (*other)
        return STATUS_OK;
    while (status == STATUS_OK && reconcile->part_at < reconcile->part_count
        && reconcile->parts[reconcile->part_at].part < of)
        status = part_leave(reconcile);
    reconcile->last_ticket = ticket;
    struct reconcile_part *part = &reconcile->parts[reconcile->part_at];
    if (status != STATUS_OK || reconcile->part_at == reconcile->part_count || part->part != of
        || !ticket_number_split(ticket, &parts))
        return status;
    status = gap_look(reconcile, of, reconcile->last_n + 1, parts.n);
    reconcile->last_n = parts.n;
    part->reached = ticket;
    return status;
}

static enum status rows_pass(struct reconcile *reconcile, uint32_t count)
{
    bool other = false;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct look_order *row = &reconcile->rows.orders[i];
        status = row_pass(reconcile, row, &other);
        if (other)
            break;
        struct question *question = reconcile_question(reconcile, QUESTION_TICKET);
        question->ticket = row->order.ticket;
        question->row = *row;
        question->has_row = true;
        reconcile->row_count++;
    }
    const bool end = other || count < RECONCILE_SLICE;
    do { /* a recent run leaves one partition, a whole one all that are left */
        if (status == STATUS_OK && end && reconcile->part_at < reconcile->part_count)
            status = part_leave(reconcile);
    } while (status == STATUS_OK && end && !reconcile->report.recent
        && reconcile->part_at < reconcile->part_count);
    reconcile->rows_end = end && reconcile->part_at == reconcile->part_count;
    return status;
}

enum status reconcile_tickets_read(struct reconcile *reconcile)
{
    uint32_t count = 0;
    enum status status = STATUS_OK;
    reconcile_questions_begin(reconcile);
    reconcile->row_count = 0;
    if (!reconcile->parts_known) {
        status = reconcile_parts_read(reconcile);
        part_enter(reconcile);
    }
    if (status == STATUS_OK && reconcile->report.recent && reconcile->part_at == reconcile->part_count) {
        reconcile->rows_end = true;
        return STATUS_OK;
    }
    if (status == STATUS_OK)
        status = reconcile_ops(reconcile)->orders(reconcile->config.store, reconcile->last_ticket,
            reconcile->rows.orders, RECONCILE_SLICE, &count);
    return status == STATUS_OK ? rows_pass(reconcile, count) : status;
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
