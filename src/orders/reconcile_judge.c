/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of reconciliation that can be told from rows alone. */
#include "orders/reconcile.h"

static const struct {
    const char *name;
    bool repairable, of_ticket;
} kinds[FINDINGS] = {
    [FINDING_NONE] = { "none", false, false },
    [FINDING_TICKET_WITHOUT_ORDER] = { "ticket-without-order", false, true },
    [FINDING_ORDER_WITHOUT_TICKET] = { "order-without-ticket", false, true },
    [FINDING_STATE_DIFFERS] = { "state-differs", false, true },
    [FINDING_EVENT_MISSING] = { "stock-event-missing", true, false },
    [FINDING_EVENT_EARLY] = { "stock-event-confirmed-early", true, false },
    [FINDING_EVENT_STALE] = { "stock-event-left-open", true, false },
    [FINDING_TICKET_DIFFERS] = { "ticket-differs", false, true },
    [FINDING_PRICE] = { "price-differs", false, false },
    [FINDING_SLOT] = { "slot-wrong", true, false },
    [FINDING_SOLD] = { "sold-differs", true, false },
    [FINDING_COUNTER] = { "user-counter-differs", true, false },
    [FINDING_MARK] = { "buyer-mark-differs", false, false },
    [FINDING_COUNTS] = { "counts-differ", false, false },
    [FINDING_UNITS] = { "units-differ", true, false },
    [FINDING_SALE] = { "sale-differs", true, false },
    [FINDING_PAID_WITHOUT_PAYMENT] = { "paid-without-payment", false, false },
    [FINDING_PAYMENT_WITHOUT_ORDER] = { "payment-without-paid-order", false, false },
    [FINDING_MONEY_UNUSED] = { "money-without-use", true, false },
    [FINDING_REFUND_MISSING] = { "refund-missing", true, false },
    [FINDING_PAYMENT_LIVE] = { "payment-outlives-order", true, false },
    [FINDING_MONEY_TOTAL] = { "money-differs", false, false },
    [FINDING_REFUND_STUCK] = { "refund-stuck", false, false },
    [FINDING_REFUNDED_WITHOUT_PAYMENT] = { "refunded-without-payment", false, false },
    [FINDING_SUMS] = { "sums-differ", true, false },
    [FINDING_REDIS] = { "redis-differs", true, false },
    [FINDING_LIMIT_USE] = { "limit-use-differs", true, false },
    [FINDING_UNANSWERED] = { "payment-unanswered", false, false },
};

const char *finding_name(enum finding_code code)
{
    return kinds[code].name;
}

bool finding_repairable(enum finding_code code)
{
    return kinds[code].repairable;
}

bool finding_is_of_ticket(enum finding_code code)
{
    return kinds[code].of_ticket;
}

static bool has(uint8_t events, enum settle_step step)
{
    return (events & (1u << step)) != 0;
}

/* The inventory has not taken the step: then its event must be open. */
static enum finding_code step_waits(const struct look_order *row, enum settle_step want, uint8_t *step)
{
    *step = (uint8_t)want;
    if (has(row->open, want))
        return FINDING_NONE;
    return has(row->confirmed, want) ? FINDING_EVENT_EARLY : FINDING_EVENT_MISSING;
}

/* The inventory is where the order is: then no event of it is open for long. */
static enum finding_code step_done(const struct look_order *row, uint8_t *step)
{
    for (uint32_t i = 0; i < SETTLE_STEPS; i++) {
        if (has(row->open, (enum settle_step)i)) {
            *step = (uint8_t)i;
            return FINDING_EVENT_STALE;
        }
    }
    return FINDING_NONE;
}

static enum finding_code judge_over(const struct look_order *row, uint8_t state, uint8_t *step)
{
    const bool refunded = row->order.state == ORDER_REFUNDED;
    const bool off = refunded && has(row->open | row->confirmed, SETTLE_WRITE_OFF);
    if (state == (off ? TICKET_WRITTEN_OFF : TICKET_RETURNED))
        return step_done(row, step);
    if (state == TICKET_HELD && off && !has(row->open, SETTLE_SOLD))
        return step_waits(row, SETTLE_SOLD, step); /* only what is sold can be written off */
    if (state == TICKET_HELD || (state == TICKET_SOLD && refunded))
        return step_waits(row, off ? SETTLE_WRITE_OFF : SETTLE_RETURN, step);
    return FINDING_STATE_DIFFERS;
}

static enum finding_code judge_state(const struct look_order *row, uint8_t state, uint8_t *step)
{
    switch ((enum order_state)row->order.state) {
    case ORDER_PENDING:
        return state == TICKET_HELD ? step_done(row, step) : FINDING_STATE_DIFFERS;
    case ORDER_PAID:
        if (state == TICKET_SOLD)
            return step_done(row, step);
        return state == TICKET_HELD ? step_waits(row, SETTLE_SOLD, step) : FINDING_STATE_DIFFERS;
    case ORDER_CLOSED:
    case ORDER_REFUNDED:
        return judge_over(row, state, step);
    case ORDER_NONE:
    case ORDER_STATES:
        break;
    }
    return FINDING_STATE_DIFFERS;
}

enum finding_code reconcile_judge_ticket(
    const struct look_order *row, const struct outcome *ticket, uint8_t *step)
{
    const bool known = ticket->answer == ANSWER_FOUND, forgotten = ticket->answer == ANSWER_FORGOTTEN;
    *step = 0;
    if (row == NULL)
        return known || forgotten ? FINDING_TICKET_WITHOUT_ORDER : FINDING_NONE;
    const struct order *order = &row->order;
    if (forgotten) /* only what was returned is */
        return judge_state(row, TICKET_RETURNED, step);
    if (!known)
        return FINDING_ORDER_WITHOUT_TICKET;
    if (order->user != ticket->user || order->item != ticket->item || order->quantity != ticket->quantity)
        return FINDING_TICKET_DIFFERS;
    if (order->unit_price != ticket->unit_price || order->amount != order->unit_price * order->quantity)
        return FINDING_PRICE;
    return judge_state(row, ticket->detail, step);
}

bool reconcile_slot_fits(const struct look_order *row)
{
    const bool live = row->order.state == ORDER_PENDING || row->order.state == ORDER_PAID;
    if (!live)
        return !row->has_slot;
    return row->has_slot && row->slot == (row->limit_per_user == 1 ? 0 : row->order.ticket);
}

bool reconcile_mark_fits(const struct look_user *user, uint64_t marked)
{
    const uint64_t least = user->counted + user->dead;
    return marked >= least && marked <= least + user->on_way;
}

enum finding_code reconcile_judge_item(const struct look_item *item, const struct look_user *sum,
    bool channels, const struct item_counts *counts)
{
    if ((uint64_t)counts->held + counts->sold != sum->live + item->dead_units)
        return FINDING_COUNTS;
    const int64_t given =
        (int64_t)item->item.total - item->item.locked + item->written_off - item->sold_before;
    if (given != counts->given || item->item.safety != counts->safety)
        return FINDING_UNITS;
    for (uint32_t i = 0; channels && i < CHANNELS_MAX && item->dead_units == 0; i++) {
        if (item->item.channel_units[i] != counts->channel_free[i] + sum->channel_live[i])
            return FINDING_UNITS;
    }
    return FINDING_NONE;
}
