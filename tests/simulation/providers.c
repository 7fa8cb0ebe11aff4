/* SPDX-License-Identifier: Apache-2.0 */
/* Two payment providers, and what the cashier of the product has of the world: it asks them, hears them
 * at once or later, and asks the inventory for units. A provider may be away for longer than an order
 * waits: then the order is closed without its word. Each of the cashier's steps in the store may lose
 * its power, and whatever the store answers is held against what the providers know. */
#include "contract/waitlist.h"
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "alpha", "beta" };
enum {
    QUERY_MS = 100,
    CLOSE_WAIT_MS = 300,
    LATE_WAIT_MS = 3000,
    TABLE_ROOM = 64,
};
static const uint64_t ASK_MS = (uint64_t)1 << 50; /* for ever */

const char *provider_name(const struct sim_payment *row)
{
    return names[row->provider];
}

static struct sim_payment *row_of(struct world *world, const char *reference)
{
    const unsigned long index = strtoul(reference + 1, NULL, 10);
    if (reference[0] != 'p' || index >= world->payment_count)
        violation("payments", "payment %s: nobody started it", reference);
    return &world->payments[index];
}

void provider_reference(const struct world *world, const struct sim_payment *row,
    char reference[REFERENCE_BYTES_MAX + 1])
{
    snprintf(reference, REFERENCE_BYTES_MAX + 1, "p%u", (unsigned)(row - world->payments));
}

struct provider_said provider_truth(const struct sim_payment *row)
{
    struct provider_said said = { .word = WORD_OPEN, .currency = "CNY", .amount = row->paid };
    if (row->is_paid)
        said.word = WORD_CAPTURED;
    else if (!row->is_known)
        said.word = WORD_UNKNOWN;
    else if (row->is_closed)
        said.word = WORD_CLOSED;
    return said;
}

bool world_order_is_ours(const struct world *world, ticket_number ticket)
{
    const uint64_t key = world->model.tickets[ticket].key;
    const bool booked = world->deposit_item != 0
        && world->model.tickets[ticket].item == world->presale_item && waitlist_place_of(key) != 0;
    if (booking_of_key(key) != 0 || booked)
        return true;
    for (uint32_t i = 0; i < world->payment_count && key != 0 && ticket % 2 == 0; i++)
        if (world->payments[i].key == key)
            return true;
    return ticket % 2 == 1;
}

/* ---- power ---- */

static bool is_dead(const struct world *world)
{
    return world->store_kind == WORLD_STORE_SQLITE && sim_vfs_dead();
}

void provider_danger(struct world *world)
{
    if (world->store_kind == WORLD_STORE_SQLITE && world->payment_danger && world_chance(world, 3))
        sim_vfs_crash_in((uint32_t)world_below(world, 12));
}

bool provider_survived(struct world *world, enum status status)
{
    sim_vfs_crash_not();
    if (status == STATUS_CORRUPT || status == STATUS_REFUSED)
        violation("payments", "the store fails: %s", status_name(status));
    if (!is_dead(world))
        return true;
    world_crash(world);
    return false;
}

/* ---- the store, watched ---- */

static struct world *watched; /* the store's operations have no room for it */
static struct payment_store_ops watched_money;
static struct order_store_ops watched_ops;
static const struct payment_store_ops *inner;

static enum status ends(enum status status)
{
    sim_vfs_crash_not();
    return status;
}

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
    if (inner->of_order(world->store, row->ticket, list, PAYMENTS_PER_ORDER, &count) != STATUS_OK)
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
    /* Rejected: nobody's move. A deposit whose booking was over was closed when its late money was linked. */
    const bool rejected = after->state == ORDER_CLOSED && after->reason == REASON_REJECTED;
    if (answer == LEARN_LATE && !rejected && world->moved[row->ticket] != ORDER_CLOSED
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

static enum status watched_learn(struct order_store *store, const struct payment_news *news,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    static struct payment before; /* large */
    struct sim_payment *row = row_of(watched, news->reference);
    world_look(watched, row->ticket);
    const bool known = inner->by_reference(store, news->reference, &before) == STATUS_OK;
    provider_danger(watched);
    const enum status status = ends(inner->learn(store, news, payment, after, answer));
    trace_step("learn", row->ticket, news->kind, status == STATUS_OK ? *answer : 100u);
    if (status != STATUS_OK || *answer == LEARN_UNKNOWN)
        return status;
    check_learned(watched, row, news, after, *answer);
    if (known && before.provider_id[0] != 0 && payment->provider_id[0] == 0)
        violation("I9 refunds", "the provider's name of payment %s is lost", news->reference);
    return status;
}

static enum status watched_relink(struct order_store *store, uint64_t id, ticket_number ticket,
    uint64_t now_ms, struct order *after, bool *done)
{
    world_look(watched, ticket);
    const bool free = watched->moved[ticket] == ORDER_NONE;
    provider_danger(watched);
    const enum status status = ends(inner->relink(store, id, ticket, now_ms, after, done));
    trace_step("relink", id, ticket, status == STATUS_OK ? *done : 100u);
    if (status == STATUS_OK && *done && (!free || after->state != ORDER_PAID))
        violation("I9 states only move forward", "late money pays ticket %" PRIu64, ticket);
    static struct payment payment; /* large */
    if (status == STATUS_OK && *done && inner->get(store, id, &payment) == STATUS_OK
        && payment.captured != after->amount)
        violation("I18 amount and currency are checked",
            "late money of %" PRIu64 " pays ticket %" PRIu64 " of %" PRIu64, payment.captured,
            ticket, after->amount);
    if (status == STATUS_OK)
        world_look(watched, ticket);
    return status;
}

static enum status watched_opened(struct order_store *store, uint64_t id, const char *provider_id,
    const char *url, uint64_t next_ms)
{
    provider_danger(watched);
    return ends(inner->opened(store, id, provider_id, url, next_ms));
}

static enum status watched_closing(struct order_store *store, ticket_number ticket,
    enum order_reason reason, uint64_t now_ms, uint32_t *live)
{
    provider_danger(watched);
    return ends(inner->closing(store, ticket, reason, now_ms, live));
}

static enum status watched_again(struct order_store *store, uint64_t id, uint64_t next_ms)
{
    provider_danger(watched);
    return ends(inner->again(store, id, next_ms));
}

static enum status watched_give_back(
    struct order_store *store, uint64_t id, enum refund_why why, uint64_t now_ms)
{
    provider_danger(watched);
    const enum status status = ends(inner->give_back(store, id, why, now_ms));
    trace_step("give back", id, why, status);
    return status;
}

static enum status watched_refund_again(
    struct order_store *store, uint64_t id, uint64_t next_ms, const char *error, bool stuck)
{
    provider_danger(watched);
    return ends(inner->refund_again(store, id, next_ms, error, stuck));
}

static enum status watched_refund_done(
    struct order_store *store, uint64_t id, const char *provider_id, uint64_t now_ms)
{
    provider_danger(watched);
    const enum status status = ends(inner->refund_done(store, id, provider_id, now_ms));
    trace_step("refund done", id, 0, status);
    return status;
}

void providers_store(struct world *world)
{
    watched = world;
    inner = world->store->ops->payment;
    watched_money = *inner;
    watched_money.learn = watched_learn;
    watched_money.relink = watched_relink;
    watched_money.opened = watched_opened;
    watched_money.closing = watched_closing;
    watched_money.again = watched_again;
    watched_money.give_back = watched_give_back;
    watched_money.refund_again = watched_refund_again;
    watched_money.refund_done = watched_refund_done;
    watched_ops = *world->store->ops;
    watched_ops.payment = &watched_money;
    world->store->ops = &watched_ops;
}

/* ---- the providers ---- */

static void created(struct sim_payment *row, struct provider_said *said)
{
    row->is_known = true;
    *said = provider_truth(row);
    snprintf(said->provider_id, sizeof said->provider_id, "theirs");
    snprintf(said->url, sizeof said->url, "https://pay.example/");
}

static void closed(struct sim_payment *row, struct provider_said *said)
{
    row->is_closed = row->is_known && !row->is_paid ? true : row->is_closed;
    *said = provider_truth(row);
}

static void refunded(struct world *world, struct sim_payment *row, const struct provider_task *task,
    struct provider_said *said)
{
    if (task->refund->amount != row->paid || !row->is_paid)
        violation("I9 refunds", "%" PRIu64 " goes back for payment %s", task->refund->amount,
            task->payment->reference);
    said->word = WORD_REFUNDED;
    if (world_chance(world, 20))
        said->word = world_chance(world, 30) ? WORD_REFUSED : WORD_REFUND_PENDING;
    else
        row->refunded = true; /* the provider knows the key: asked again it is the same refund */
    snprintf(said->provider_id, sizeof said->provider_id, "theirs");
}

static struct provider_said provider_does(
    struct world *world, struct sim_payment *row, const struct provider_task *task)
{
    struct provider_said said = { .word = WORD_AGAIN };
    switch (task->act) {
    case PROVIDER_CREATE:
        if (world_chance(world, 3))
            said.word = WORD_REFUSED;
        else
            created(row, &said);
        break;
    case PROVIDER_QUERY:
        said = provider_truth(row);
        break;
    case PROVIDER_CLOSE:
        closed(row, &said);
        break;
    case PROVIDER_REFUND:
        refunded(world, row, task, &said);
        break;
    case PROVIDER_REFUND_QUERY:
        said.word = row->refunded ? WORD_REFUNDED : WORD_UNKNOWN;
        break;
    case PROVIDER_ACTS:
        break;
    }
    if (said.word == WORD_CAPTURED && world_chance(world, 50))
        snprintf(said.provider_id, sizeof said.provider_id, "theirs");
    return said;
}

static bool provider_ask(void *context, uint32_t flight, const struct provider_task *task)
{
    struct world *world = context;
    struct sim_payment *row = row_of(world, task->payment->reference);
    struct provider_said said = { .word = WORD_AGAIN, .error = "away" };
    if (is_dead(world) || (world->payment_danger && world_chance(world, 5)))
        return false; /* the machine has lost its power, or there is no room now */
    const bool reached = !world->payment_danger || world_chance(world, 70);
    trace_step("asked", row->ticket, task->act, reached);
    if (reached || world_chance(world, 30)) { /* it may have done it, and only the answer is lost */
        const struct provider_said done = provider_does(world, row, task);
        said = reached ? done : said;
    }
    row->is_away = !reached && !row->told;
    invariant(flight < SIM_CALLS && !world->calls[flight].used);
    if (world_chance(world, 60))
        cashier_said(&world->cashier, flight, &said, world->now_ms);
    else
        world->calls[flight] = (struct sim_call){ .used = true, .said = said };
    return true;
}

bool provider_answers(struct world *world)
{
    for (uint32_t i = 0; i < SIM_CALLS; i++) {
        const struct provider_said said = world->calls[i].said;
        if (!world->calls[i].used)
            continue;
        world->calls[i].used = false;
        cashier_said(&world->cashier, i, &said, world->now_ms);
        if (!provider_survived(world, STATUS_OK))
            return false;
    }
    return true;
}

bool provider_calls_back(
    struct world *world, const struct sim_payment *row, const struct provider_said *told)
{
    struct provider_said said = *told;
    uint8_t answer = LEARN_ANSWERS;
    provider_reference(world, row, said.reference);
    const enum status status =
        cashier_news(&world->cashier, provider_name(row), &said, world->now_ms, &answer);
    return provider_survived(world, status);
}

/* ---- what the cashier asks of us ---- */

static bool tables_full(const struct world *world)
{
    const struct model *model = &world->model;
    return model->request_count + model->ticket_count + TABLE_ROOM > SIM_REQUESTS
        || model->lsn + model->ticket_count + TABLE_ROOM > SIM_LOG
        || model->open_count + SIM_PORTS >= SIM_OPEN;
}

static enum status late_unit(void *context, const struct payment *payment,
    const struct order *order, struct outcome *outcome)
{
    struct world *world = context;
    struct sim_payment *row = row_of(world, payment->reference);
    if (row->key == 0)
        row->key = client_key(world);
    if (row->key == 0 || tables_full(world) || is_dead(world))
        return STATUS_AWAY;
    return late_money_unit(&world->late, payment, order, world->now_ms, outcome);
}

/* It is about to ask: nobody who waits could have what is free. */
static uint64_t late_key(void *context, const struct payment *payment, user_id user)
{
    struct world *world = context;
    const struct order_store *store = world->store;
    struct board_update shown = { 0 };
    struct waitlist_place first;
    struct order order;
    uint32_t count = 0;
    (void)user;
    if (store->ops->order_by_ticket(world->store, payment->ticket, &order) == STATUS_OK
        && order.channel == WAITLIST_CHANNEL
        && board_read(embedded_board(world->embedded), order.item, &shown)
        && store->ops->waitlist->next(world->store, order.item,
               shown.counts.channel_free[WAITLIST_CHANNEL], &first, 1, &count)
            == STATUS_OK
        && count > 0)
        violation("the line", "late money asks for item %u, and user %u waits for it", order.item,
            user_index(first.user));
    return row_of(world, payment->reference)->key;
}

static void order_changed(void *context, const struct order *order)
{
    struct world *world = context;
    (void)order;
    stock_pump_look(world->pump);
}

static void payment_opened(void *context, const struct payment *payment, const char *error)
{
    struct world *world = context;
    if (error == NULL && !row_of(world, payment->reference)->is_known)
        violation("payments", "payment %s is open, and its provider has no such", payment->reference);
}

static void refund_stuck(void *context, const struct refund *refund)
{
    (void)context;
    trace_step("stuck", refund->id, 0, 0);
}

void providers_open(struct world *world)
{
    const struct late_money_config late = { .store = world->store,
        .port = &world->pump_port.port,
        .board = embedded_board(world->embedded),
        .key = late_key,
        .context = world };
    const struct cashier_config cashier = { .store = world->store,
        .calls_max = SIM_CALLS,
        .query_ms = QUERY_MS,
        .close_wait_ms = CLOSE_WAIT_MS,
        .ask_ms = ASK_MS,
        .late_wait_ms = LATE_WAIT_MS,
        .ask = provider_ask,
        .unit = late_unit,
        .changed = order_changed,
        .opened = payment_opened,
        .stuck = refund_stuck,
        .context = world };
    late_money_start(&world->late, &late);
    cashier_start(&world->cashier, &cashier);
    for (uint32_t i = 0; i < SIM_CALLS; i++)
        world->calls[i].used = false;
}

ticket_number world_late_for(const struct world *world, ticket_number ticket)
{
    for (uint32_t i = 0; i < world->payment_count; i++) {
        const struct sim_payment *row = &world->payments[i];
        if (row->key != 0 && world->model.tickets[ticket].key == row->key)
            return row->ticket;
    }
    return 0;
}
