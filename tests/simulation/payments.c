/* SPDX-License-Identifier: Apache-2.0 */
/* Money: users who pay through two providers, news of it in any order, twice, late, with a wrong
 * amount, and the cashier of the product, which closes, asks again, finds units for late money and gives
 * the rest back (providers.c has what it is told). What the providers know outlives every crash; at the
 * end each of their payments must be accounted for. Orders with odd tickets are paid this way (see
 * moves.c), and those of late money. */
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    DRAIN_ROUNDS = 400,
    DRAIN_STEP_MS = 50,
    DRAIN_JUMP_MAX_MS = 2 * 60 * 60 * 1000,
    SOON_MS = 1200, /* what is due so soon is not waited for */
    REFUND_ROWS = 8
};

static const struct payment_store_ops *money(const struct world *world)
{
    return world->store->ops->payment;
}

bool world_payments_live(const struct world *world, ticket_number ticket)
{
    static struct payment list[PAYMENTS_PER_ORDER + 1];
    uint32_t count = 0;
    if (money(world)->of_order(world->store, ticket, list, PAYMENTS_PER_ORDER + 1, &count) != STATUS_OK)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].state == PAYMENT_STARTED || list[i].state == PAYMENT_OPEN
            || list[i].state == PAYMENT_CLOSING)
            return true;
    return false;
}

bool world_payment_started(const struct world *world, ticket_number ticket)
{
    for (uint32_t i = 0; i < world->payment_count; i++)
        if (world->payments[i].ticket == ticket)
            return true;
    return false;
}

/* ---- users ---- */

static void user_starts(struct world *world)
{
    const uint64_t count = world->model.ticket_count;
    if (count == 0 || world->payment_count == SIM_PAYMENTS)
        return;
    const ticket_number ticket = world_below(world, (count + 1) / 2) * 2 + 1;
    const struct model_ticket *bought = &world->model.tickets[ticket];
    struct sim_payment *row = &world->payments[world->payment_count];
    struct payment_start start = {
        .ticket = ticket, .now_ms = world->now_ms, .extend_ms = world_below(world, EXTEND_MAX_MS)
    };
    struct payment payment = { 0 };
    struct order before = { 0 }, after = { 0 };
    uint8_t answer = START_ANSWERS;
    *row = (struct sim_payment){ .ticket = ticket,
        .amount = bought->price * bought->quantity,
        .provider = (uint8_t)world_below(world, 2) };
    snprintf(start.provider, sizeof start.provider, "%s", provider_name(row));
    provider_reference(world, row, start.reference);
    world_look(world, ticket);
    (void)world->store->ops->order_by_ticket(world->store, ticket, &before);
    provider_danger(world);
    const enum status status = money(world)->start(world->store, &start, &payment, &after, &answer);
    world->payment_count += status != STATUS_OK || answer == START_DONE; /* perhaps it is there */
    trace_step("start", ticket, row->provider, status == STATUS_OK ? answer : 100u);
    cashier_look(&world->cashier);
    if (!provider_survived(world, status) || status != STATUS_OK || answer != START_DONE)
        return;
    if (world->moved[ticket] != ORDER_NONE)
        violation("I9 states only move forward",
            "ticket %" PRIu64 " is %u, and a payment of it starts", ticket, world->moved[ticket]);
    if (after.pay_by_ms != before.pay_by_ms && before.pay_by_ms != bought->pay_by_ms)
        violation("I11 time to pay", "ticket %" PRIu64 " gets more again", ticket);
    if (payment.amount != row->amount)
        violation("price: the flash price is charged", "ticket %" PRIu64, ticket);
}

/* At the provider's; we hear of it later. Some pay what was closed. */
static void user_pays(struct world *world)
{
    struct sim_payment *row = &world->payments[world_below(world, world->payment_count)];
    if (!row->is_known || row->is_paid || (row->is_closed && world_chance(world, 70)))
        return;
    row->is_paid = true;
    row->paid = row->amount + world_chance(world, 8);
}

/* ---- news ---- */

/* A callback: right or wrong, new or old. */
static void news_come(struct world *world)
{
    struct sim_payment *row = &world->payments[world_below(world, world->payment_count)];
    struct provider_said said = provider_truth(row);
    const bool forged = world_chance(world, 15);
    if (row->is_away)
        return;
    if (!row->is_paid && !row->is_closed && !forged)
        return;
    if (row->is_closed && row->is_paid && world_chance(world, 30))
        said.word = WORD_CLOSED; /* on its way for long */
    if (forged) {
        said.word = WORD_CAPTURED;
        said.amount = row->amount + (world_chance(world, 50) ? 1 : UINT64_MAX);
        if (row->is_paid && world_chance(world, 30)) {
            said.amount = row->paid;
            memcpy(said.currency, "USD", 4);
        }
    }
    (void)provider_calls_back(world, row, &said);
}

/* ---- the cashier ---- */

static void close_some(struct world *world)
{
    const struct sim_payment *row = &world->payments[world_below(world, world->payment_count)];
    static const enum order_reason reasons[] = { REASON_NONE, REASON_CANCELLED, REASON_CANCELLED };
    uint32_t live = 0;
    const enum status status = money(world)->closing(
        world->store, row->ticket, reasons[world_below(world, 3)], world->now_ms, &live);
    trace_step("closing", row->ticket, live, status);
    cashier_look(&world->cashier);
    (void)provider_survived(world, status);
}

static uint64_t cashier_due_ms(const struct world *world)
{
    const struct cashier *cashier = &world->cashier;
    return cashier->payments_look_ms < cashier->refunds_look_ms ? cashier->payments_look_ms
                                                                : cashier->refunds_look_ms;
}

/* One turn of the cashier. False: the machine went down meanwhile. */
static bool cashier_run(struct world *world)
{
    const enum status status = cashier_turn(&world->cashier, world->now_ms);
    trace_step("cashier", world->cashier.under_way, status, world->now_ms - 1000000);
    return provider_survived(world, status);
}

void world_pay(struct world *world)
{
    const uint64_t what = world_below(world, 100);
    world->payment_danger = true;
    if (world->sim_store.away)
        return;
    if (world->payment_count == 0 || what < 25)
        user_starts(world);
    else if (what < 45)
        user_pays(world);
    else if (what < 62)
        news_come(world);
    else if (what < 70)
        close_some(world);
    else if (what < 80)
        (void)provider_answers(world);
    else if (what < 97 || cashier_due_ms(world) > world->now_ms + SOON_MS)
        (void)cashier_run(world);
    else if (cashier_due_ms(world) > world->now_ms)
        world->now_ms = cashier_due_ms(world);
}

/* ---- after a restore ---- */

static void row_search(struct world *world, struct sim_payment *row)
{
    struct payment payment;
    struct order order;
    struct payment_search search = { .ticket = row->ticket };
    provider_reference(world, row, search.reference);
    snprintf(search.provider, sizeof search.provider, "%s", provider_name(row));
    row->is_away = false;
    const enum status known = money(world)->by_reference(world->store, search.reference, &payment);
    if (known == STATUS_OK && payment.state == PAYMENT_CAPTURED)
        return;
    row->told = false;
    if (world->store->ops->order_by_ticket(world->store, row->ticket, &order) != STATUS_OK)
        return;
    if (money(world)->search(world->store, &search, 1, world->now_ms) != STATUS_OK)
        violation("restore", "payment %s can't be searched for", search.reference);
    row->is_closed = row->is_closed || !row->is_paid; /* it is asked to close it */
    const struct provider_said said = provider_truth(row);
    struct payment_news news = { .kind = row->is_paid ? NEWS_CAPTURED : NEWS_CLOSED,
        .amount = said.amount,
        .asked = true,
        .refunded = row->refunded,
        .now_ms = world->now_ms };
    struct payment after;
    uint8_t answer;
    memcpy(news.provider, search.provider, sizeof news.provider);
    memcpy(news.reference, search.reference, sizeof news.reference);
    memcpy(news.currency, said.currency, sizeof news.currency);
    memcpy(news.provider_id, said.provider_id, sizeof news.provider_id);
    if (money(world)->learn(world->store, &news, &after, &order, &answer) != STATUS_OK)
        violation("restore", "payment %s is found and can't be kept", search.reference);
}

void world_payments_search(struct world *world, bool refunded)
{
    world->payment_danger = false;
    for (uint32_t i = 0; i < world->payment_count; i++)
        if (world->payments[i].refunded == refunded)
            row_search(world, &world->payments[i]);
    cashier_look(&world->cashier);
}

/* ---- accounts ---- */

static void check_refunds(const struct world *world)
{
    static uint8_t seen[SIM_PAYMENTS + SIM_NUMBERS * 2];
    static struct refund list[REFUND_ROWS];
    uint32_t count = REFUND_ROWS;
    memset(seen, 0, sizeof seen);
    for (uint64_t after = 0; count == REFUND_ROWS; after = count == 0 ? 0 : list[count - 1].id) {
        if (money(world)->refunds(world->store, after, REFUND_NONE, list, REFUND_ROWS, &count) != STATUS_OK)
            violation("payments", "refunds can't be read");
        for (uint32_t i = 0; i < count; i++)
            if (list[i].payment < sizeof seen && seen[list[i].payment]++ != 0)
                violation("I9 at most one refund", "payment %" PRIu64 " has two", list[i].payment);
    }
}

void world_check_money(const struct world *world)
{
    struct money_totals sum;
    uint64_t paid = 0;
    if (money(world)->totals(world->store, &sum) != STATUS_OK)
        violation("payments", "totals can't be read");
    for (ticket_number ticket = 1; ticket <= world->model.ticket_count; ticket++) {
        struct order order;
        if (!world_order_is_ours(world, ticket)
            || world->store->ops->order_by_ticket(world->store, ticket, &order) != STATUS_OK)
            continue;
        /* After a restore late money may still have to be linked to it; drained, it is. */
        paid += order.state == ORDER_PAID && !world_payer_lost(world, ticket) ? order.amount : 0;
        /* A rejected one is closed at once, and its payments after it: money that comes meanwhile is late. */
        if (order.state == ORDER_CLOSED && order.reason != REASON_REJECTED
            && world_payments_live(world, ticket))
            violation("I9 no order is closed while a payment is open", "ticket %" PRIu64, ticket);
    }
    check_refunds(world);
    if (sum.paid != paid)
        violation("I9 money", "orders for %" PRIu64 " are paid, the store says %" PRIu64, paid, sum.paid);
    if (sum.captured - sum.refunded - sum.wanted - sum.late != sum.paid)
        violation("I9 money",
            "%" PRIu64 " came, %" PRIu64 " went back, %" PRIu64 " is to go back, %" PRIu64
            " waits, but orders for %" PRIu64 " are paid",
            sum.captured, sum.refunded, sum.wanted, sum.late, sum.paid);
}

/* Everything that a provider has taken is an order or went back. */
static void check_row(const struct world *world, const struct sim_payment *row)
{
    char reference[REFERENCE_BYTES_MAX + 1];
    struct payment payment;
    struct order order = { 0 };
    provider_reference(world, row, reference);
    if (money(world)->by_reference(world->store, reference, &payment) != STATUS_OK) {
        if (row->told)
            violation("payments", "payment %s is gone", reference);
        return; /* a crash took its start: the provider never heard of it */
    }
    if ((payment.state == PAYMENT_CAPTURED) != row->is_paid)
        violation("I9 money", "payment %s is in state %u, paid: %d", reference, payment.state,
            row->is_paid);
    if (!row->is_paid)
        return;
    const bool used = payment.use == USE_ORDER || payment.use == USE_RELINKED;
    if (used && world->store->ops->order_by_ticket(world->store, payment.paid_ticket, &order) != STATUS_OK)
        violation("I9 money", "payment %s has paid an order that is not there", reference);
    const bool has_order = order.state == ORDER_PAID;
    if (payment.use == USE_LATE || has_order == row->refunded)
        violation("I9 money", "payment %s: use %u, order is %u, refunded: %d", reference,
            payment.use, order.state, row->refunded);
}

static bool payments_unanswered(const struct world *world)
{
    struct payment payment;
    char reference[REFERENCE_BYTES_MAX + 1];
    for (uint32_t i = 0; i < world->payment_count; i++) {
        provider_reference(world, &world->payments[i], reference);
        if (money(world)->by_reference(world->store, reference, &payment) == STATUS_OK
            && payment_is_unanswered(&payment))
            return true;
    }
    return false;
}

void world_payments_drain(struct world *world)
{
    struct money_totals sum = { .wanted = 1 };
    bool live = true;
    world->payment_danger = false;
    for (uint32_t round = 0; live || sum.wanted > 0 || sum.late > 0; round++) {
        if (round == DRAIN_ROUNDS)
            violation("I9 money", "no end: live %d, to go back %" PRIu64 ", late %" PRIu64, live,
                sum.wanted, sum.late);
        for (uint32_t i = 0; i < world->payment_count; i++) {
            const struct provider_said said = provider_truth(&world->payments[i]);
            if (world->payments[i].is_paid && !world->payments[i].told && !world->payments[i].is_away)
                (void)provider_calls_back(world, &world->payments[i], &said);
        }
        (void)(provider_answers(world) && cashier_run(world));
        if (sum.late > 0 || round % 16 == 0)
            world_rest(world);
        const uint64_t due_ms = cashier_due_ms(world);
        world->now_ms += DRAIN_STEP_MS;
        if (due_ms > world->now_ms && due_ms < world->now_ms + DRAIN_JUMP_MAX_MS)
            world->now_ms = due_ms;
        live = payments_unanswered(world);
        for (uint32_t i = 0; i < world->payment_count && !live; i++)
            live = world_payments_live(world, world->payments[i].ticket);
        if (money(world)->totals(world->store, &sum) != STATUS_OK)
            violation("payments", "totals can't be read");
    }
    for (uint32_t i = 0; i < world->payment_count; i++)
        check_row(world, &world->payments[i]);
    for (ticket_number ticket = 1; ticket <= world->model.ticket_count; ticket++)
        if (world_order_is_ours(world, ticket) && world_payer_lost(world, ticket))
            violation("I9 money", "ticket %" PRIu64 " is paid, and nobody knows by what", ticket);
}
