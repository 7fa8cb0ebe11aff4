/* SPDX-License-Identifier: Apache-2.0 */
/* Money: users who pay through two providers, news of it in any order, twice, late, with a wrong
 * amount, and a cashier who closes, asks again, finds units for late money and gives the rest back.
 * A provider may be away for longer than an order waits: then the order is closed without its word.
 * What the providers know outlives every crash; at the end each of their payments must be
 * accounted for. Orders with odd tickets are paid this way (see moves.c). */
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const providers[] = { "alpha", "beta" };
enum { DUE_ROWS = 4, AGAIN_MS = 100, DRAIN_ROUNDS = 400, DRAIN_ROOM = 64, REFUND_ROWS = 8 };

static const struct payment_store_ops *money(const struct world *world)
{
    return world->store->ops->payment;
}

static struct sim_payment *row_of(struct world *world, const char *reference)
{
    const unsigned long index = strtoul(reference + 1, NULL, 10);
    return reference[0] == 'p' && index < world->payment_count ? &world->payments[index] : NULL;
}

static void reference_of(const struct world *world, const struct sim_payment *row,
    char reference[REFERENCE_BYTES_MAX + 1])
{
    snprintf(reference, REFERENCE_BYTES_MAX + 1, "p%u", (unsigned)(row - world->payments));
}

/* The machine may lose its power within what follows. */
static void danger(struct world *world)
{
    if (world->store_kind == WORLD_STORE_SQLITE && world->payment_danger && world_chance(world, 3))
        sim_vfs_crash_in((uint32_t)world_below(world, 12));
}

/* False: it did; this process is gone, and another one has started. */
static bool survived(struct world *world, enum status status)
{
    sim_vfs_crash_not();
    if (status == STATUS_CORRUPT || status == STATUS_REFUSED)
        violation("payments", "the store fails: %s", status_name(status));
    if (world->store_kind != WORLD_STORE_SQLITE || !sim_vfs_dead())
        return true;
    world_crash(world);
    return false;
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
    snprintf(start.provider, sizeof start.provider, "%s", providers[row->provider]);
    reference_of(world, row, start.reference);
    world_look(world, ticket);
    (void)world->store->ops->order_by_ticket(world->store, ticket, &before);
    danger(world);
    const enum status status = money(world)->start(world->store, &start, &payment, &after, &answer);
    world->payment_count += status != STATUS_OK || answer == START_DONE; /* perhaps it is there */
    trace_step("start", ticket, row->provider, status == STATUS_OK ? answer : 100u);
    if (!survived(world, status) || status != STATUS_OK || answer != START_DONE)
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
    if (row->is_paid || (row->is_closed && world_chance(world, 70)))
        return;
    row->is_paid = true;
    row->paid = row->amount + world_chance(world, 8);
}

/* ---- news ---- */

static void check_paid(struct world *world, const struct sim_payment *row,
    const struct payment_news *news, const struct order *after)
{
    if (news->amount != row->amount || strcmp(news->currency, "CNY") != 0)
        violation("I18 amount and currency are checked",
            "ticket %" PRIu64 " is paid with %" PRIu64 " instead of %" PRIu64, row->ticket,
            news->amount, row->amount);
    if (world->moved[row->ticket] != ORDER_NONE || after->state != ORDER_PAID)
        violation("I9 states only move forward", "ticket %" PRIu64 " was %u and is paid",
            row->ticket, world->moved[row->ticket]);
    static struct payment list[PAYMENTS_PER_ORDER + 1];
    uint32_t count = 0;
    if (money(world)->of_order(world->store, row->ticket, list, PAYMENTS_PER_ORDER, &count) != STATUS_OK)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].state == PAYMENT_STARTED || list[i].state == PAYMENT_OPEN)
            violation("I9 nothing is paid twice",
                "ticket %" PRIu64 " is paid, payment %s can still be", row->ticket, list[i].reference);
}

static void check_learned(struct world *world, struct sim_payment *row,
    const struct payment_news *news, const struct order *after, uint8_t answer)
{
    const bool captured = answer == LEARN_PAID || answer == LEARN_LATE || answer == LEARN_REFUND;
    if (captured && !row->is_paid)
        violation("I18 amount and currency are checked",
            "ticket %" PRIu64 " has money that nobody paid", row->ticket);
    if (answer == LEARN_PAID)
        check_paid(world, row, news, after);
    if (answer == LEARN_LATE && world->moved[row->ticket] != ORDER_CLOSED
        && world->moved[row->ticket] != ORDER_REFUNDED)
        violation("I9 states only move forward", "ticket %" PRIu64 " is %u, its money is late",
            row->ticket, world->moved[row->ticket]);
    if (answer == LEARN_CLOSED && row->told)
        violation("I9 money that came stays",
            "ticket %" PRIu64 " has it, and its payment is closed", row->ticket);
    row->told = row->told || captured;
    if (answer != LEARN_UNKNOWN)
        world_look(world, row->ticket);
}

/* False: the machine went down meanwhile. */
static bool news_tell(struct world *world, struct sim_payment *row, struct payment_news news)
{
    struct payment payment = { 0 };
    struct order after = { 0 };
    uint8_t answer = LEARN_ANSWERS;
    news.now_ms = world->now_ms;
    snprintf(news.provider, sizeof news.provider, "%s", providers[row->provider]);
    reference_of(world, row, news.reference);
    if (news.currency[0] == '\0')
        memcpy(news.currency, "CNY", 4);
    world_look(world, row->ticket);
    danger(world);
    const enum status status = money(world)->learn(world->store, &news, &payment, &after, &answer);
    trace_step("learn", row->ticket, news.kind, status == STATUS_OK ? answer : 100u);
    if (!survived(world, status))
        return false;
    if (status == STATUS_OK)
        check_learned(world, row, &news, &after, answer);
    return true;
}

static struct payment_news truth_of(const struct sim_payment *row)
{
    return (struct payment_news){ .kind = row->is_paid ? NEWS_CAPTURED : NEWS_CLOSED,
        .amount = row->is_paid ? row->paid : 0,
        .asked = true };
}

/* A callback: right or wrong, new or old. */
static void news_come(struct world *world)
{
    struct sim_payment *row = &world->payments[world_below(world, world->payment_count)];
    struct payment_news news = truth_of(row);
    const bool forged = world_chance(world, 15);
    if (row->is_away)
        return;
    if (!row->is_paid && !row->is_closed && !forged)
        return;
    news.asked = !forged && world_chance(world, 50);
    if (row->is_closed && row->is_paid && world_chance(world, 30))
        news.kind = NEWS_CLOSED; /* on its way for long */
    if (forged) {
        news.kind = NEWS_CAPTURED;
        news.amount = row->amount + (world_chance(world, 50) ? 1 : UINT64_MAX);
        if (row->is_paid && world_chance(world, 30)) {
            news.amount = row->paid;
            memcpy(news.currency, "USD", 4);
        }
    }
    (void)news_tell(world, row, news);
}

/* ---- the cashier ---- */

static void close_some(struct world *world)
{
    const struct sim_payment *row = &world->payments[world_below(world, world->payment_count)];
    static const enum order_reason reasons[] = { REASON_NONE, REASON_CANCELLED, REASON_CANCELLED };
    uint32_t live = 0;
    danger(world);
    const enum status status = money(world)->closing(
        world->store, row->ticket, reasons[world_below(world, 3)], world->now_ms, &live);
    trace_step("closing", row->ticket, live, status);
    (void)survived(world, status);
}

static bool give_back(struct world *world, uint64_t id)
{
    danger(world);
    const enum status status = money(world)->give_back(world->store, id, REFUND_OF_LATE, world->now_ms);
    trace_step("give back", id, 0, status);
    return survived(world, status);
}

static bool tables_full(const struct world *world)
{
    const struct model *model = &world->model;
    return model->request_count + model->ticket_count + DRAIN_ROOM > SIM_REQUESTS
        || model->lsn + model->ticket_count + DRAIN_ROOM > SIM_LOG;
}

static bool late_relink(struct world *world, uint64_t id, ticket_number ticket)
{
    struct order after = { 0 };
    bool done = false;
    const enum sim_verdict verdict =
        sim_store_verdict(&world->sim_store, &world->model.log[world->model.tickets[ticket].lsn]);
    /* Even ones belong to the clients; and one that the database never takes has no order. */
    if (ticket % 2 == 0 || verdict == SIM_REFUSE_UNKNOWN)
        return give_back(world, id);
    world_look(world, ticket);
    const bool free = world->moved[ticket] == ORDER_NONE;
    danger(world);
    const enum status status =
        money(world)->relink(world->store, id, ticket, world->now_ms, &after, &done);
    trace_step("relink", id, ticket, status == STATUS_OK ? done : 100u);
    if (!survived(world, status))
        return false;
    if (status == STATUS_OK && done && (!free || after.state != ORDER_PAID))
        violation("I9 states only move forward", "late money pays ticket %" PRIu64, ticket);
    if (status == STATUS_OK)
        world_look(world, ticket);
    return true;
}

/* A unit for late money: asked for under a key of its own until there is an answer. */
static bool late_money(struct world *world, struct sim_payment *row, const struct payment *payment)
{
    const struct model_ticket *first = &world->model.tickets[row->ticket];
    if (row->key == 0)
        row->key = client_key(world);
    const ticket_number ticket = row->key == 0 ? 0 : world->model.key_ticket[key_index(row->key)];
    if (ticket != 0)
        return late_relink(world, payment->id, ticket);
    const struct model_request *asked =
        row->request == 0 ? NULL : &world->model.requests[row->request - 1];
    if (asked != NULL && asked->open)
        return true;
    if (row->key == 0 || tables_full(world) || (asked != NULL && asked->answered))
        return give_back(world, payment->id); /* there is none */
    const struct command command = { .type = COMMAND_RESERVE,
        .reserve = { .user = first->user,
            .item = first->item,
            .quantity = first->quantity,
            .channel = first->channel,
            .flags = RESERVE_AFTER_END,
            .key = row->key } };
    const uint32_t request = world->model.request_count + 1;
    if (client_ask(world, user_index(first->user) % CLIENT_PORTS, &command))
        row->request = request;
    return true;
}

/* The provider is asked to close a payment, and what became of it. One that is away says nothing:
 * the order is closed all the same, and only another question brings the truth. */
static bool payment_close(struct world *world, struct sim_payment *row, const struct payment *payment)
{
    const bool unanswered = payment_is_unanswered(payment);
    if (!world->payment_danger || world_chance(world, unanswered ? 50 : 80)) {
        row->is_away = false;
        row->is_closed = row->is_closed || !row->is_paid;
        return news_tell(world, row, truth_of(row));
    }
    row->is_away = !row->told;
    if (!unanswered) {
        const struct payment_news alone = { .kind = NEWS_CLOSED, .ask_ms = world->now_ms + AGAIN_MS };
        return news_tell(world, row, alone);
    }
    danger(world);
    return survived(world, money(world)->again(world->store, payment->id, world->now_ms + AGAIN_MS));
}

/* What the cashier does with a payment that is due. */
static bool payment_serve(struct world *world, const struct payment *payment)
{
    struct sim_payment *row = row_of(world, payment->reference);
    uint32_t live = 0;
    enum status status;
    if (row == NULL)
        violation("payments", "payment %s is due, and nobody started it", payment->reference);
    if (payment->use == USE_LATE)
        return late_money(world, row, payment);
    if (payment->state == PAYMENT_CLOSING || payment->state == PAYMENT_CLOSED)
        return payment_close(world, row, payment);
    danger(world);
    if (payment->pay_by_ms <= world->now_ms)
        status =
            money(world)->closing(world->store, payment->ticket, REASON_EXPIRED, world->now_ms, &live);
    else if (payment->state == PAYMENT_STARTED)
        status = money(world)->opened(
            world->store, payment->id, "theirs", "https://pay.example/", world->now_ms + AGAIN_MS);
    else
        status = money(world)->again(world->store, payment->id, world->now_ms + AGAIN_MS);
    if (!survived(world, status))
        return false;
    return !row->is_paid || news_tell(world, row, truth_of(row));
}

static bool refund_serve(struct world *world, const struct refund *refund)
{
    struct payment payment;
    enum status status = money(world)->get(world->store, refund->payment, &payment);
    if (status != STATUS_OK)
        return true;
    struct sim_payment *row = row_of(world, payment.reference);
    if (row == NULL || refund->amount != row->paid || !row->is_paid)
        violation("I9 refunds", "%" PRIu64 " goes back for payment %s", refund->amount, payment.reference);
    danger(world);
    if (world_chance(world, 30)) {
        status = money(world)->refund_again(
            world->store, refund->id, world->now_ms + AGAIN_MS, "busy", world_chance(world, 30));
    } else {
        row->refunded = true; /* the provider knows the key: asked again it is the same refund */
        status = money(world)->refund_done(world->store, refund->id, "theirs", world->now_ms);
    }
    trace_step("refund", refund->id, row->refunded, status);
    return survived(world, status);
}

/* One turn of the cashier. */
static void cashier_turn(struct world *world)
{
    static struct payment due[DUE_ROWS];
    static struct refund refunds[DUE_ROWS];
    uint32_t count = 0;
    uint64_t next_ms;
    enum status status = money(world)->due(world->store, world->now_ms, due, DUE_ROWS, &count, &next_ms);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        if (!payment_serve(world, &due[i]))
            return;
    status = money(world)->refunds_due(world->store, world->now_ms, refunds, DUE_ROWS, &count, &next_ms);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        if (!refund_serve(world, &refunds[i]))
            return;
}

void world_pay(struct world *world)
{
    const uint64_t what = world_below(world, 100);
    world->payment_danger = true;
    if (world->sim_store.away)
        return;
    if (world->payment_count == 0 || what < 30)
        user_starts(world);
    else if (what < 50)
        user_pays(world);
    else if (what < 72)
        news_come(world);
    else if (what < 80)
        close_some(world);
    else
        cashier_turn(world);
}

/* ---- after a restore ---- */

static void row_search(struct world *world, struct sim_payment *row)
{
    struct payment payment;
    struct order order;
    struct payment_search search = { .ticket = row->ticket };
    reference_of(world, row, search.reference);
    snprintf(search.provider, sizeof search.provider, "%s", providers[row->provider]);
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
    struct payment_news news = truth_of(row);
    news.refunded = row->refunded;
    (void)news_tell(world, row, news);
}

void world_payments_search(struct world *world, bool refunded)
{
    world->payment_danger = false;
    for (uint32_t i = 0; i < world->payment_count; i++)
        if (world->payments[i].refunded == refunded)
            row_search(world, &world->payments[i]);
}

/* ---- accounts ---- */

static void check_refunds(const struct world *world)
{
    static uint8_t seen[SIM_PAYMENTS + SIM_TICKETS * 2];
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
    for (ticket_number ticket = 1; ticket <= world->model.ticket_count; ticket += 2) {
        struct order order;
        if (world->store->ops->order_by_ticket(world->store, ticket, &order) != STATUS_OK)
            continue;
        /* After a restore late money may still have to be linked to it; drained, it is. */
        paid += order.state == ORDER_PAID && !world_payer_lost(world, ticket) ? order.amount : 0;
        if (order.state == ORDER_CLOSED && world_payments_live(world, ticket))
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
    reference_of(world, row, reference);
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
        reference_of(world, &world->payments[i], reference);
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
        for (uint32_t i = 0; i < world->payment_count; i++)
            if (world->payments[i].is_paid && !world->payments[i].told && !world->payments[i].is_away)
                (void)news_tell(world, &world->payments[i], truth_of(&world->payments[i]));
        cashier_turn(world);
        if (sum.late > 0 || round % 16 == 0)
            world_rest(world);
        world->now_ms += AGAIN_MS / 2;
        live = payments_unanswered(world);
        for (uint32_t i = 0; i < world->payment_count && !live; i++)
            live = world_payments_live(world, world->payments[i].ticket);
        if (money(world)->totals(world->store, &sum) != STATUS_OK)
            violation("payments", "totals can't be read");
    }
    for (uint32_t i = 0; i < world->payment_count; i++)
        check_row(world, &world->payments[i]);
    for (ticket_number ticket = 1; ticket <= world->model.ticket_count; ticket += 2)
        if (world_payer_lost(world, ticket))
            violation("I9 money", "ticket %" PRIu64 " is paid, and nobody knows by what", ticket);
}
