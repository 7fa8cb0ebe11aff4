/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_orders.c: each ticket of the logs against its order, from the highest number down. */
#include "contract/order_state.h"
#include "contract/payment.h"
#include "contract/ticket_number.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ORDERS_PER_READ = 512 };

struct walk {
    struct verify *verify;
    struct item_sums *sums; /* by item */
    struct verify_strays *strays;
    const struct verify_log *log; /* the next ticket downwards: its log, */
    ticket_number expected;       /* and what the engine calls it */
};

/* Its order has left with its sale. Of a ticket that is forgotten nobody knows the sale: how many there must
 * be is known (verify_gone_check). */
static bool order_left(const struct walk *walk, const struct ticket_row *ticket, ticket_number n)
{
    const struct verify *verify = walk->verify;
    if (verify->archive_count == 0 || n >= walk->log->marks_end || walk->log->marks[n] != 0)
        return false;
    if (walk->log->confirm != NULL)
        return verify->sale_archived[part_sale(walk->log->state.part)];
    return ticket == NULL || verify_item_archived(verify, ticket->item);
}

static void order_missing(struct walk *walk, ticket_number n)
{
    struct verify *verify = walk->verify;
    if ((walk->log->marks[n] & MARK_SEEN) != 0)
        return;
    const struct ticket_row *ticket = tickets_get(&walk->log->engine->tickets, n);
    if (order_left(walk, ticket, n)
        || (walk->log->marks[n] == 0 && verify_archives_again(verify) && order_left(walk, ticket, n))) {
        verify->gone++;
        return;
    }
    const uint64_t id = funnel_ticket_id(&verify->keys, verify_log_number(walk->log, n));
    verify->checks[CHECK_ORDERS].looked++;
    if ((walk->log->marks[n] & MARK_DEAD) != 0) {
        if (ticket != NULL)
            walk->sums[ticket->item].excused = true;
        return;
    }
    if (ticket == NULL) {
        verify_fail(verify, CHECK_ORDERS,
            "ticket %016" PRIx64 " (returned, and forgotten since) has no order and no dead letter", id);
        return;
    }
    verify_fail(verify, CHECK_ORDERS,
        "ticket %016" PRIx64 " (%u of item %u, user %016" PRIx64
        ") has no order and no dead letter",
        id, ticket->quantity, ticket->item, ticket->user);
}

/* Only a payment makes the time to pay longer. */
static bool order_was_extended(const struct verify *verify, ticket_number ticket)
{
    struct payment first;
    uint32_t count = 0;
    struct order_store *store = verify->store;
    const enum status status = store->ops->payment->of_order(store, ticket, &first, 1, &count);
    return status != STATUS_OK || count > 0; /* what can't be read is told by others */
}

static const char *order_row_wrong(
    const struct walk *walk, const struct order *order, const struct ticket_row *ticket)
{
    if (ticket == NULL)
        return NULL; /* forgotten */
    if (order->user != ticket->user)
        return "user";
    if (order->item != ticket->item)
        return "item";
    if (order->quantity != ticket->quantity)
        return "quantity";
    if (order->channel != ticket->channel)
        return "channel";
    if (order->unit_price != walk->log->engine->items[ticket->item].unit_price)
        return "unit price";
    if (order->amount != order->unit_price * order->quantity)
        return "amount";
    if (order->pay_by_ms < ticket->pay_by_ms)
        return "pay-by time";
    return order->pay_by_ms > ticket->pay_by_ms && !order_was_extended(walk->verify, order->ticket)
        ? "pay-by time"
        : NULL;
}

/* What an order may be while its ticket is in a state; an open event lets the order be one step
 * ahead. */
static bool order_state_fits(enum order_state order, uint8_t ticket, uint8_t marks)
{
    switch ((enum ticket_state)ticket) {
    case TICKET_HELD:
        return order == ORDER_PENDING || (order == ORDER_PAID && (marks & MARK_OPEN_SOLD) != 0)
            || ((order == ORDER_CLOSED || order == ORDER_REFUNDED)
                && (marks & (MARK_OPEN_RETURN | MARK_OPEN_WRITE_OFF)) != 0);
    case TICKET_SOLD:
        return order == ORDER_PAID
            || (order == ORDER_REFUNDED && (marks & (MARK_OPEN_RETURN | MARK_OPEN_WRITE_OFF)) != 0);
    case TICKET_RETURNED:
        return order == ORDER_CLOSED || order == ORDER_REFUNDED;
    case TICKET_WRITTEN_OFF:
        return order == ORDER_REFUNDED;
    }
    return false;
}

static void order_compare(struct walk *walk, const struct order *order, ticket_number n)
{
    struct verify *verify = walk->verify;
    const struct ticket_row *ticket = tickets_get(&walk->log->engine->tickets, n);
    const uint8_t marks = walk->log->marks[n];
    /* What is forgotten was returned. */
    const uint8_t state = ticket == NULL ? TICKET_RETURNED : ticket->state;
    const uint64_t id = funnel_order_id(&verify->keys, order->ticket);
    const char *wrong = order_row_wrong(walk, order, ticket);
    verify->orders++;
    if (verify_item_archived(verify, order->item)) {
        verify->gone++; /* it has not left yet */
        return;
    }
    verify->checks[CHECK_ORDERS].looked++;
    verify->checks[CHECK_ORDER_STATES].looked++;
    if (wrong != NULL)
        verify_fail(
            verify, CHECK_ORDERS, "order %016" PRIx64 " has another %s than its ticket", id, wrong);
    if ((marks & MARK_DEAD) == 0 && !order_state_fits((enum order_state)order->state, state, marks))
        verify_fail(verify, CHECK_ORDER_STATES, "order %016" PRIx64 " is %s, its ticket is %s", id,
            order->state < ORDER_STATES ? order_state_name((enum order_state)order->state) : "?",
            ticket_state_name((enum ticket_state)state));
    if (marks != 0 && ticket != NULL)
        walk->sums[ticket->item].excused = true;
    if (order->item < ITEMS_LIMIT && (order->state == ORDER_PENDING || order->state == ORDER_PAID))
        walk->sums[order->item].live += order->quantity;
}

/* ---- the walk ---- */

/* The highest ticket of a log that must have its order. */
static ticket_number last_of(const struct verify_log *log)
{
    return log->broken ? 0 : log->engine->tickets.last;
}

/* Tickets above n of this log that the walk has not come to have no order. */
static void walk_to(struct walk *walk, const struct verify_log *log, ticket_number n)
{
    for (;;) {
        while (walk->expected > (walk->log == log ? n : 0))
            order_missing(walk, walk->expected--);
        if (walk->log == log)
            return;
        walk->expected = last_of(--walk->log);
    }
}

static void order_stray(struct walk *walk, const struct order *order, const struct verify_log *log)
{
    const uint64_t id = funnel_order_id(&walk->verify->keys, order->ticket);
    struct verify_strays *strays = walk->strays;
    if (strays->count++ > 0)
        return;
    if (log == NULL)
        snprintf(strays->what, sizeof strays->what,
            "order %016" PRIx64 " has no ticket: there is no log of partition %u", id,
            ticket_part(order->ticket));
    else
        snprintf(strays->what, sizeof strays->what,
            "order %016" PRIx64 " has no ticket in the log (number %" PRIu64
            ", the last one is %" PRIu64 ")",
            id, order->ticket, verify_log_number(log, log->engine->tickets.last));
}

static void order_take(struct walk *walk, const struct order *order)
{
    ticket_number n = 0;
    const uint32_t part = walk->verify->source.partitions ? ticket_part(order->ticket) : PART_EMBEDDED;
    const struct verify_log *of = verify_log_find(walk->verify, part);
    if (of != NULL && of->broken)
        return;
    if (of == NULL || verify_ticket_find(walk->verify, order->ticket, &n) == NULL) {
        order_stray(walk, order, of);
        return;
    }
    if (of->imported != NULL) { /* told numbers are above those of later tickets */
        order_compare(walk, order, n);
        of->marks[n] |= MARK_SEEN;
        return;
    }
    walk_to(walk, of, n);
    walk->expected = n - 1;
    order_compare(walk, order, n);
}

/* Numbers have the partition first and go up with the engine's own within it: downwards by number is
 * downwards by log and ticket. */
static enum status orders_walk(struct walk *walk, struct order *orders)
{
    struct order_store *store = walk->verify->store;
    struct order_filter filter = { .by_ticket = true };
    uint32_t count;
    do {
        const enum status status =
            store->ops->orders_list(store, &filter, orders, ORDERS_PER_READ, &count, &filter.before);
        if (status != STATUS_OK)
            return status;
        for (uint32_t i = 0; i < count; i++)
            order_take(walk, &orders[i]);
    } while (filter.before > 1);
    return STATUS_OK;
}

enum status verify_orders_compare(
    struct verify *verify, struct item_sums *sums, struct verify_strays *strays)
{
    struct walk walk = { .verify = verify, .sums = sums, .strays = strays };
    struct order *orders = calloc(ORDERS_PER_READ, sizeof *orders);
    if (orders == NULL)
        return STATUS_FULL;
    if (verify->log_count > 0) {
        walk.log = &verify->logs[verify->log_count - 1];
        walk.expected = last_of(walk.log);
    }
    const enum status status = orders_walk(&walk, orders);
    if (status == STATUS_OK && walk.log != NULL)
        walk_to(&walk, verify->logs, 0);
    free(orders);
    return status;
}
