/* SPDX-License-Identifier: Apache-2.0 */
/* The order side: payments, cancellations, refunds and the timer, at any moment, in any order, for
 * any order, right or wrong. Tickets with odd numbers live this way; the others are settled by
 * clients.c through the inventory. */
#include "orders/expiry.h"
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <stdio.h>

struct order_move world_move_choose(struct world *world, ticket_number ticket)
{
    static const uint8_t events[] = { ORDER_EVENT_PAY, ORDER_EVENT_PAY, ORDER_EVENT_EXPIRE,
        ORDER_EVENT_CANCEL, ORDER_EVENT_REFUND };
    struct order_move move = { .ticket = ticket,
        .event = events[world_below(world, sizeof events)],
        .now_ms = world->now_ms,
        .refund_to = (uint8_t)world_below(world, 3),
        .currency = "CNY" };
    const struct model_ticket *row = &world->model.tickets[ticket];
    move.amount = row->price * row->quantity;
    if (world_chance(world, 10))
        move.amount += world_chance(world, 50) ? 1 : UINT64_MAX;
    if (world_chance(world, 5))
        move.currency[0] = 'X';
    snprintf(move.reference, sizeof move.reference, "%" PRIu64 "-%" PRIu64, ticket,
        world_below(world, 10) / 9);
    return move;
}

static void check_unpaid(const struct world *world, ticket_number ticket)
{
    if (world_payments_live(world, ticket))
        violation("I9 no order is closed while a payment is open", "ticket %" PRIu64, ticket);
}

/* What the rules say, in plain words. */
static void check_done(struct world *world, const struct order_move *move, const struct order *after)
{
    const struct model_ticket *ticket = &world->model.tickets[move->ticket];
    const uint8_t before = world->moved[move->ticket];
    const bool known = before != ORDER_NONE;
    uint8_t expected = ORDER_CLOSED;
    if (move->event == ORDER_EVENT_PAY) {
        expected = ORDER_PAID;
        if (move->amount != ticket->price * ticket->quantity || move->currency[0] != 'C')
            violation("I18 amount and currency are checked", "ticket %" PRIu64, move->ticket);
    }
    if (move->event == ORDER_EVENT_REFUND)
        expected = ORDER_REFUNDED;
    if (move->event == ORDER_EVENT_REFUND ? before != ORDER_PAID : known)
        violation("I9 states only move forward", "ticket %" PRIu64 " was %u, event %u is done",
            move->ticket, before, move->event);
    if (move->event == ORDER_EVENT_EXPIRE && world->now_ms < ticket->pay_by_ms)
        violation("I11 no early expiry", "ticket %" PRIu64 " is closed %" PRIu64 " ms early",
            move->ticket, ticket->pay_by_ms - world->now_ms);
    if (move->event == ORDER_EVENT_EXPIRE || move->event == ORDER_EVENT_CANCEL)
        check_unpaid(world, move->ticket);
    if (after->state != expected)
        violation("I9 states only move forward", "ticket %" PRIu64 " is %u after event %u",
            move->ticket, after->state, move->event);
    world->moved[move->ticket] = expected;
}

void world_move_told(
    struct world *world, const struct order_move *move, const struct order *after, uint8_t answer)
{
    if (answer == MOVE_DONE)
        check_done(world, move, after);
    if (answer == MOVE_REFUSED && world->moved[move->ticket] == ORDER_NONE
        && after->state == ORDER_PENDING && move->event != ORDER_EVENT_REFUND)
        violation("I9 states only move forward", "a pending order refuses event %u", move->event);
}

static void move_asked(struct world *world, const struct order_move *move)
{
    if (move->event == ORDER_EVENT_REFUND)
        world->by_hand[move->ticket] = true;
}

static bool move_send(struct world *world, const struct order_move *move)
{
    struct order after = { 0 };
    uint8_t answer = MOVE_ANSWERS;
    struct order_store *store = world->store;
    if (world->sim_store.away)
        return true;
    if (world->store_kind == WORLD_STORE_SQLITE && world_chance(world, 3))
        sim_vfs_crash_in((uint32_t)world_below(world, 12));
    move_asked(world, move);
    const enum status status = store->ops->orders_move(store, move, 1, &after, &answer);
    sim_vfs_crash_not();
    trace_step("move", move->ticket, move->event, status == STATUS_OK ? answer : 100u);
    if (status == STATUS_OK)
        world_move_told(world, move, &after, answer);
    if (status == STATUS_CORRUPT || status == STATUS_REFUSED)
        violation("orders", "the store fails a move: %s", status_name(status));
    return !(world->store_kind == WORLD_STORE_SQLITE && sim_vfs_dead());
}

/* A commit whose answer a crash took is found by looking. */
void world_look(struct world *world, ticket_number ticket)
{
    struct order order;
    if (world->store->ops->order_by_ticket(world->store, ticket, &order) != STATUS_OK)
        return;
    const uint8_t before = world->moved[ticket];
    const bool rejected = order.reason == REASON_REJECTED;
    if (before == order.state || rejected || world_payer_lost(world, ticket))
        return;
    if (before == ORDER_NONE || (before == ORDER_PAID && order.state == ORDER_REFUNDED))
        world->moved[ticket] = order.state == ORDER_PENDING ? ORDER_NONE : order.state;
    else
        violation("I9 states only move forward", "ticket %" PRIu64 " was %u and is %u", ticket,
            before, order.state);
}

void world_move(struct world *world)
{
    const uint64_t count = world->model.ticket_count;
    if (count > 0)
        world_move_ticket(world, world_below(world, (count + 1) / 2) * 2 + 1, false);
}

void world_move_ticket(struct world *world, ticket_number ticket, bool pays)
{
    struct order_move move = world_move_choose(world, ticket);
    if (pays)
        move.event = ORDER_EVENT_PAY;
    if (!world->sim_store.away)
        world_look(world, ticket);
    if (!move_send(world, &move))
        world_crash(world);
}

void world_check_moved(const struct world *world, const struct order *order)
{
    const uint8_t told = world->moved[order->ticket];
    const bool ok = told == ORDER_NONE || told == order->state
        || (told == ORDER_PAID && order->state == ORDER_REFUNDED);
    if (!ok)
        violation("I9 never paid and closed", "ticket %" PRIu64 " was told to be %u and is %u",
            order->ticket, told, order->state);
}

enum { GRACE_MS = 500, LONG_MS = 400000, ROOM = 64 + 4 * PLACES_MAX };

static void expired(void *context, ticket_number ticket, user_id user)
{
    struct world *world = context;
    (void)user;
    if (world->now_ms < world->model.tickets[ticket].pay_by_ms)
        violation("I11 no early expiry", "ticket %" PRIu64, ticket);
    if (world->moved[ticket] != ORDER_NONE)
        violation("I9 states only move forward", "ticket %" PRIu64 " was %u and expires", ticket,
            world->moved[ticket]);
    check_unpaid(world, ticket);
    world->moved[ticket] = ORDER_CLOSED;
}

static uint32_t expiry_run(struct world *world, struct expiry *expiry)
{
    uint32_t closed = 0;
    const enum status status = expiry_turn(expiry, world->now_ms, &closed);
    if (status != STATUS_OK)
        violation("orders", "the timer can't close orders: %s", status_name(status));
    trace_step("expiry", closed, 0, 0);
    return closed;
}

void world_expire(struct world *world)
{
    static struct expiry expiry; /* large */
    struct model *model = &world->model;
    for (ticket_number ticket = 1; ticket <= model->ticket_count; ticket++)
        if (world_order_is_ours(world, ticket))
            world_look(world, ticket);
    if (model->request_count + model->ticket_count + ROOM > SIM_REQUESTS
        || model->lsn + model->ticket_count + ROOM > SIM_LOG
        || model->ticket_count + PLACES_MAX > SIM_TICKETS)
        return; /* the model's tables are nearly full */
    world->now_ms += LONG_MS;
    expiry_start(&expiry,
        &(struct expiry_config){ .store = world->store,
            .started_ms = world->now_ms,
            .grace_ms = GRACE_MS,
            .changed = expired,
            .changed_context = world });
    if (expiry_run(world, &expiry) != 0)
        violation("I11 no early expiry", "an order is closed within the grace");
    world->now_ms += GRACE_MS;
    /* What returns is offered to the line, and nobody pays that either: the line gets shorter. Late
     * money gets its unit or goes back; what it did not want is closed as well. */
    for (uint32_t calm = 0, rounds = 0; calm < 2; rounds++) { /* who cools down is offered a unit later */
        uint32_t closed = 0;
        for (uint32_t more = 1; more > 0; closed += more)
            more = expiry_run(world, &expiry);
        world_payments_drain(world);
        world_rest(world);
        world_check_rest(world);
        calm = closed == 0 ? calm + 1 : 0;
        world->now_ms += LONG_MS + 2 * OFFER_WINDOW_MS;
        expiry_look(&expiry);
        if (rounds > 2 * PLACES_MAX + 4)
            violation("the line", "offers go round in circles");
    }
    for (ticket_number ticket = 1; ticket <= model->ticket_count; ticket++) {
        struct order order;
        if (world->store->ops->order_by_ticket(world->store, ticket, &order) == STATUS_OK
            && (order.state == ORDER_PENDING || model->tickets[ticket].state == TICKET_HELD))
            violation("I5 every order ends", "ticket %" PRIu64 " is never paid and stays", ticket);
    }
}
