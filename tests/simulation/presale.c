/* SPDX-License-Identifier: Apache-2.0 */
/* Presale: users book an item that has no units, with or without a cap and a deposit, pay the deposit or
 * don't, leave, and units arrive for the line. The product's own code decides and follows
 * (policy/booking_rules.h, orders/booking_follow.h); what must be true of bookings is said here once more.
 * A deposit is an order of the order side whatever its number is (see moves.c). */
#include "policy/booking_rules.h"
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <string.h>

enum { ARRIVE_BELOW = 5, DISMISSED = 1, PERHAPS_DISMISSED = 2 }; /* power may have failed first */

static const struct booking_store_ops *book_ops(const struct world *world)
{
    return world->store->ops->bookings;
}

static void presale_failed(enum status status)
{
    if (status == STATUS_CORRUPT || status == STATUS_REFUSED || status == STATUS_NOT_FOUND)
        violation("bookings", "the store fails: %s", status_name(status));
}

/* Power may fail within what follows; false: it did, and another process has started. */
static void presale_danger(struct world *world)
{
    if (world->store_kind == WORLD_STORE_SQLITE && world_chance(world, 3))
        sim_vfs_crash_in((uint32_t)world_below(world, 12));
}

static bool presale_survived(struct world *world)
{
    sim_vfs_crash_not();
    if (world->store_kind != WORLD_STORE_SQLITE || !sim_vfs_dead())
        return true;
    world_crash(world);
    return false;
}

/* ---- what the shop wants ---- */

static void wish_units(struct world *world, item_id id, uint32_t web)
{
    struct command_preheat *wish = &world->item_wish[id];
    memset(wish->channel_units, 0, sizeof wish->channel_units);
    wish->channel_units[0] = web;
    wish->safety = 0;
    wish->total = wish->locked + wish->sold_before + web;
}

void presale_choose(struct world *world)
{
    world->presale_item = world->deposit_item = 0;
    world->presale_cap = world->balance_ms = 0;
    world->deposit_kept = DEPOSIT_KEPT_NEVER;
    if (world->bursts || !world_chance(world, 50))
        return;
    world->presale_item = (item_id)(1 + world_below(world, world->item_count));
    if (world_chance(world, 70))
        wish_units(world, world->presale_item, 0);
    if (world_chance(world, 60))
        world->presale_cap = 1 + (uint32_t)world_below(world, 6);
    if (world_chance(world, 50))
        world->balance_ms = 300 + (uint32_t)world_below(world, 2000);
    if (world_chance(world, 40))
        return;
    world->deposit_kept = (uint8_t)world_below(world, DEPOSIT_KEPT_TERMS);
    world->deposit_item = ++world->item_count;
    world->item_wish[world->deposit_item] = world->item_wish[world->presale_item];
    struct command_preheat *deposit = &world->item_wish[world->deposit_item];
    deposit->item = world->deposit_item;
    deposit->unit_price = 1 + world_below(world, 99);
    deposit->limit_per_user = world_chance(world, 70) ? 0 : 3;
    wish_units(world, world->deposit_item, 3 + (uint32_t)world_below(world, 12));
}

void presale_catalog(struct world *world)
{
    const struct sold_out_offer offer = { .kind = SOLD_OUT_PRESALE,
        .presale_cap = world->presale_cap,
        .deposit_item = world->deposit_item,
        .balance_ms = world->balance_ms,
        .deposit_kept = world->deposit_kept };
    if (world->presale_item != 0
        && world->store->ops->item_offer(world->store, world->presale_item, &offer) != STATUS_OK)
        violation("bookings", "the item can't offer a presale");
}

/* ---- who books ---- */

static bool key_is_open(const struct world *world, uint64_t key)
{
    for (uint32_t i = 0; i < world->model.open_count; i++) {
        const struct command *command = &world->model.requests[world->model.open[i]].command;
        if (command->type == COMMAND_RESERVE && command->reserve.key == key)
            return true;
    }
    return false;
}

/* As the worker does: one request for a booking's deposit is under way at a time. */
static void deposit_ask(struct world *world, const struct booking *booking)
{
    struct item deposit;
    if (key_is_open(world, booking_key(booking->id))
        || world->store->ops->item_get(world->store, world->deposit_item, &deposit) != STATUS_OK)
        return;
    const struct command command = booking_deposit_command(booking, &deposit, world->now_ms);
    (void)client_ask(world, user_index(booking->user) % CLIENT_PORTS, &command);
}

void presale_told(struct world *world, const struct command *command, const struct outcome *told)
{
    const uint64_t id = command->type == COMMAND_RESERVE ? booking_of_key(command->reserve.key) : 0;
    const struct booking booking = { .id = id, .item = world->presale_item, .user = command->reserve.user };
    if (id == 0 || world->sim_store.away
        || booking_deposit_answer((enum answer)told->answer) != DEPOSIT_REFUSED)
        return;
    const enum status status = book_ops(world)->finish(world->store, &booking, BOOKING_ENDED);
    trace_step("booking refused", id, told->answer, status);
    presale_failed(status);
}

static void booking_told(struct world *world, const struct booking *booking, uint8_t answer)
{
    const uint32_t who = user_index(booking->user);
    if (answer == BOOK_DONE && booking->id <= world->booking_last)
        violation("I13 ids are never used again", "booking %" PRIu64 " is given a second time",
            booking->id);
    if (answer == BOOK_DONE)
        world->booking_last = booking->id;
    world->told_booking[who] = booking->id;
    if (booking->has_deposit != (world->deposit_item != 0))
        violation("bookings", "booking %" PRIu64 " has another deposit than the shop wants", booking->id);
}

static void user_books(struct world *world)
{
    struct booking booking = { .item = world->presale_item,
        .user = world->users[world_below(world, BUYERS)],
        .quantity = world_chance(world, 80) ? 1 : 2,
        .booked_ms = world->now_ms,
        .has_deposit = world->deposit_item != 0,
        .deposit_kept = world->deposit_kept };
    struct board_update view;
    uint8_t answer = BOOK_FULL;
    if (world->place_count == PLACES_MAX
        || !board_read(embedded_board(world->embedded), booking.item, &view)
        || (view.counts.channel_free[WAITLIST_CHANNEL] >= booking.quantity && !world_chance(world, 10)))
        return;
    presale_danger(world);
    const enum status status =
        book_ops(world)->book(world->store, &booking, world->presale_cap, &answer);
    trace_step("book", user_index(booking.user), answer, status);
    presale_failed(status);
    world->place_count += status != STATUS_OK || answer == BOOK_DONE; /* perhaps it is there */
    if (!presale_survived(world) || status != STATUS_OK || answer == BOOK_FULL)
        return;
    booking_told(world, &booking, answer);
    if (booking_wants_deposit(&booking, world->now_ms))
        deposit_ask(world, &booking);
}

static void user_leaves(struct world *world)
{
    const user_id user = world->users[world_below(world, BUYERS)];
    struct booking booking;
    bool left = false;
    if (book_ops(world)->get(world->store, world->presale_item, user, &booking) != STATUS_OK
        || booking.state != BOOKING_PLACED || booking.place_state != PLACE_WAITING)
        return;
    const bool by_shop = world_chance(world, 30);
    presale_danger(world);
    const enum status status = by_shop
        ? book_ops(world)->dismiss(world->store, &booking)
        : world->store->ops->waitlist->leave(world->store, world->presale_item, user, &left);
    trace_step(by_shop ? "dismissed" : "gives up", user_index(user), left, status);
    presale_failed(status);
    const bool sure = presale_survived(world) && status == STATUS_OK;
    if (by_shop)
        world->dismissed[booking.id] = sure ? DISMISSED : PERHAPS_DISMISSED;
}

/* A user pays a deposit or a balance, or cancels its order or has it refunded. */
static void deposit_moves(struct world *world)
{
    static struct booking rows[BOOKINGS_MAX];
    uint32_t count = 0;
    if (book_ops(world)->list(world->store, 0, true, 0, rows, BOOKINGS_MAX, &count) != STATUS_OK
        || count == 0)
        return;
    const struct booking *row = &rows[world_below(world, count)];
    if (row->ticket != 0 && world_order_is_ours(world, row->ticket) && world_chance(world, 50))
        world_move_ticket(world, row->ticket, world_chance(world, 50));
    else if (row->deposit != 0)
        world_move_ticket(world, row->deposit, world_chance(world, 75));
}

static void units_arrive(struct world *world)
{
    const struct command command = { .type = COMMAND_ADJUST,
        .adjust = { .item = world->presale_item,
            .channel = CHANNEL_LINE,
            .delta = 1 + (int32_t)world_below(world, ARRIVE_BELOW) } };
    (void)client_ask(world, 0, &command);
}

/* ---- the task that follows bookings ---- */

static void booking_refunded(void *context, const struct booking *booking)
{
    struct world *world = context;
    if (booking->place_state != PLACE_LEFT && booking->place_state != PLACE_EXPIRED)
        violation("I9 deposits", "that of booking %" PRIu64 " goes back, its place is %u",
            booking->id, booking->place_state);
    world_look(world, booking->deposit);
    stock_pump_look(world->pump);
    cashier_look(&world->cashier);
}

static void booking_cancelled(void *context, const struct booking *booking)
{
    struct world *world = context;
    world_look(world, booking->ticket);
    stock_pump_look(world->pump);
    cashier_look(&world->cashier);
}

/* Bookings whose deposits are paid stand in line in the order of booking. */
static void booking_placed(void *context, const struct booking *booking)
{
    struct world *world = context;
    struct booking now, other;
    waitlist_look(&world->waitlist);
    if (book_ops(world)->get(world->store, booking->item, booking->user, &now) != STATUS_OK
        || now.id != booking->id || now.state != BOOKING_PLACED)
        return;
    for (uint32_t i = 0; i < BUYERS; i++) {
        if (book_ops(world)->get(world->store, booking->item, world->users[i], &other) != STATUS_OK)
            continue;
        if (other.id < now.id && other.state == BOOKING_DUE && other.deposit_state == ORDER_PAID)
            violation("I12 first come first served",
                "booking %" PRIu64 " is in line before booking %" PRIu64 ", which is paid too",
                now.id, other.id);
    }
}

void presale_open(struct world *world)
{
    const struct booking_follow_config follow = { .store = world->store,
        .refunded = booking_refunded,
        .placed = booking_placed,
        .cancelled = booking_cancelled,
        .context = world };
    booking_follow_start(&world->bookings, &follow);
}

void presale_follow(struct world *world)
{
    bool more = false;
    if (world->presale_item == 0 || world->sim_store.away)
        return;
    const enum status status = booking_follow_turn(&world->bookings, world->now_ms, &more);
    presale_failed(status);
}

void world_presale(struct world *world)
{
    const uint64_t what = world_below(world, 100);
    if (world->presale_item == 0 || world->sim_store.away)
        return;
    if (what < 35) {
        user_books(world);
    } else if (what < 42) {
        user_leaves(world);
    } else if (what < 62) {
        deposit_moves(world);
    } else if (what < 68) {
        units_arrive(world);
    } else {
        presale_danger(world);
        presale_follow(world);
        (void)presale_survived(world);
    }
}

/* ---- what must be true ---- */

static uint32_t window_of(const struct world *world, item_id item)
{
    return item == world->presale_item && world->balance_ms != 0 ? world->balance_ms : OFFER_WINDOW_MS;
}

/* What an order gives back goes to the channel that sold it, or to the safety stock if that is asked for. */
static void check_return(const struct world *world, const struct command_settle *settle)
{
    const bool safety = settle->to == CHANNEL_SAFETY && world->by_hand[settle->ticket];
    const item_id item = world->model.tickets[settle->ticket].item;
    if (settle->waiter_count > 0 && settle->waiter_window_ms != window_of(world, item))
        violation("I11 time to pay", "the return of ticket %" PRIu64 " gives %u ms", settle->ticket,
            settle->waiter_window_ms);
    if (settle->step == SETTLE_RETURN && settle->to != world->model.tickets[settle->ticket].channel
        && !safety)
        violation("channels sell their own units", "ticket %" PRIu64 " of channel %u goes back to %u",
            settle->ticket, world->model.tickets[settle->ticket].channel, settle->to);
}

/* An offer of the line: nobody who could have these units stands before this place, and its time to pay is
 * the one that the shop gives. */
void presale_asked(const struct world *world, const struct command *command)
{
    static struct waitlist_place places[BOOKINGS_MAX];
    const struct command_reserve *asked = &command->reserve;
    const uint64_t id = command->type == COMMAND_RESERVE ? waitlist_place_of(asked->key) : 0;
    struct board_update shown;
    uint32_t count = 0;
    if (command->type == COMMAND_SETTLE)
        check_return(world, &command->settle);
    if (id == 0 || !board_read(embedded_board(world->embedded), asked->item, &shown)
        || world->store->ops->waitlist->next(
               world->store, asked->item, UINT32_MAX, places, BOOKINGS_MAX, &count)
            != STATUS_OK)
        return;
    if (asked->window_ms != window_of(world, asked->item))
        violation("I11 time to pay", "place %" PRIu64 " gets %u ms", id, asked->window_ms);
    uint64_t taken = asked->quantity;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < world->waitlist.in_flight; j++)
            if (world->waitlist.asked[j] == places[i].id)
                taken += places[i].quantity, places[i].quantity = 0;
    }
    const uint64_t units = shown.counts.channel_free[asked->channel];
    for (uint32_t i = 0; i < count; i++)
        if (places[i].id < id && places[i].quantity != 0
            && taken - asked->quantity + places[i].quantity <= units)
            violation("I12 first come first served",
                "place %" PRIu64 " of item %u is offered units before place %" PRIu64, id,
                asked->item, places[i].id);
    if (taken > units)
        violation("I2 never oversell", "item %u: %" PRIu64 " units are offered, %" PRIu64 " are there",
            asked->item, taken, units);
}

/* What the terms say, in plain words: the user let the offer go, or gave the booking up before one. */
static bool stays_with_shop(const struct world *world, const struct booking *row)
{
    struct order offered;
    if (world->dismissed[row->id] == DISMISSED)
        return false;
    if (row->ticket == 0)
        return world->deposit_kept == DEPOSIT_KEPT_GIVEN_UP;
    return world->deposit_kept != DEPOSIT_KEPT_NEVER
        && world->store->ops->order_by_ticket(world->store, row->ticket, &offered) == STATUS_OK
        && offered.state == ORDER_CLOSED && offered.reason != REASON_REJECTED;
}

/* What became of the deposit, by the state of its booking. */
static void check_deposit(const struct world *world, const struct booking *row)
{
    const uint8_t is = row->deposit_state;
    const bool by_hand = is == ORDER_REFUNDED && world->by_hand[row->deposit];
    const bool there = !row->has_deposit || is == ORDER_PAID;
    const bool closing =
        by_hand && row->place_state == PLACE_OFFERED && world_payments_live(world, row->ticket);
    const bool gone = row->place_state == PLACE_LEFT || row->place_state == PLACE_EXPIRED;
    const bool kept = row->has_deposit && is == ORDER_PAID && gone && stays_with_shop(world, row);
    const bool perhaps = world->dismissed[row->id] == PERHAPS_DISMISSED;
    const bool good[BOOKING_STATES] = {
        [BOOKING_DUE] = row->has_deposit && (is == ORDER_NONE || is == ORDER_PENDING),
        [BOOKING_PLACED] = (there || closing) && !gone && row->place_state != PLACE_BOUGHT,
        [BOOKING_BOUGHT] = (there || by_hand) && row->place_state == PLACE_BOUGHT,
        [BOOKING_ENDED] = is == ORDER_NONE || is == ORDER_CLOSED || by_hand || kept,
        [BOOKING_REFUNDED] = is == ORDER_REFUNDED
            && ((gone && (perhaps || !stays_with_shop(world, row)))
                || (by_hand && row->place_state != PLACE_OFFERED)),
    };
    if (!good[row->state])
        violation("I9 deposits", "booking %" PRIu64 " is in state %u, its deposit in %u, its place in %u",
            row->id, row->state, is, row->place_state);
    const ticket_number won = world->model.key_ticket[key_index(booking_key(row->id))];
    const struct model_ticket *ticket = &world->model.tickets[row->deposit != 0 ? row->deposit : won];
    if (row->deposit == 0 && won != 0
        && sim_store_verdict(&world->sim_store, &world->model.log[ticket->lsn]) != SIM_REFUSE_UNKNOWN)
        violation("I9 deposits", "ticket %" PRIu64 " is not that of booking %" PRIu64, won, row->id);
    const bool late = world_late_for(world, row->deposit) != 0; /* its money has joined the booking */
    if (row->deposit != 0
        && ((!late && ticket->key != booking_key(row->id)) || ticket->user != row->user
            || ticket->item != world->deposit_item || ticket->quantity != row->quantity))
        violation("I9 deposits", "booking %" PRIu64 " has another one's", row->id);
}

static bool is_deposit(const struct world *world, ticket_number ticket)
{
    const struct model_ticket *row = &world->model.tickets[ticket];
    return ticket != 0 && row->item == world->deposit_item && booking_of_key(row->key) != 0;
}

bool presale_rejects(const struct world *world, ticket_number ticket)
{
    static struct booking rows[BOOKINGS_MAX];
    const struct model_ticket *row = &world->model.tickets[ticket];
    const uint64_t place = waitlist_place_of(row->key);
    uint32_t count = 0;
    if (world->deposit_item == 0)
        return false;
    if (is_deposit(world, world_late_for(world, ticket)))
        return true;
    if (place == 0 || row->item != world->presale_item
        || book_ops(world)->list(world->store, row->item, false, 0, rows, BOOKINGS_MAX, &count) != STATUS_OK)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].place == place)
            return rows[i].state > BOOKING_BOUGHT;
    return false;
}

/* Late money for a deposit is the deposit of a booking, or went back; for a balance it never gets a unit. */
static void check_late(const struct world *world, const struct booking *rows, uint32_t count)
{
    for (ticket_number ticket = 1; ticket <= world->model.ticket_count; ticket++) {
        const uint64_t place =
            waitlist_place_of(world->model.tickets[world_late_for(world, ticket)].key);
        struct order order;
        bool found = false;
        for (uint32_t i = 0; i < count; i++)
            if (place != 0 && rows[i].has_deposit && rows[i].place == place)
                violation("I9 deposits", "late money for a balance has got ticket %" PRIu64, ticket);
        if (!is_deposit(world, world_late_for(world, ticket))
            || world->store->ops->order_by_ticket(world->store, ticket, &order) != STATUS_OK
            || order.state != ORDER_PAID || world_late_waits(world, ticket))
            continue;
        for (uint32_t i = 0; i < count; i++)
            found |= rows[i].deposit == ticket;
        if (!found && !world->by_hand[ticket])
            violation("I9 deposits", "ticket %" PRIu64 " is paid late, and no booking has it", ticket);
    }
}

/* Deposit and balance are the price. */
static void check_price(const struct world *world, const struct booking *row)
{
    const uint64_t deposit = row->deposit == 0 ? 0 : world->item_wish[world->deposit_item].unit_price;
    const uint64_t balance = world->item_wish[world->presale_item].unit_price;
    struct order first = { 0 }, second = { 0 };
    const struct order_store *store = world->store;
    if (row->deposit != 0 && store->ops->order_by_ticket(world->store, row->deposit, &first) != STATUS_OK)
        return;
    if (store->ops->order_by_ticket(world->store, row->ticket, &second) != STATUS_OK
        || (row->deposit != 0 && first.quantity != second.quantity)) /* a place of before was taken over */
        return;
    if (first.amount + second.amount != (deposit + balance) * second.quantity)
        violation("price: deposit and balance", "booking %" PRIu64 ": %" PRIu64 " and %" PRIu64,
            row->id, first.amount, second.amount);
}

void world_check_presale(const struct world *world)
{
    static struct booking rows[BOOKINGS_MAX];
    bool open[SIM_USERS] = { false };
    uint64_t latest[SIM_USERS] = { 0 };
    uint32_t count = 0, booked = 0;
    if (world->presale_item == 0)
        return;
    if (book_ops(world)->list(world->store, world->presale_item, false, 0, rows, BOOKINGS_MAX, &count)
        != STATUS_OK)
        violation("bookings", "they can't be read");
    for (uint32_t i = 0; i < count; i++) {
        const struct booking *row = &rows[i];
        const uint32_t who = user_index(row->user);
        booked += row->state <= BOOKING_BOUGHT;
        if (row->state <= BOOKING_PLACED && open[who])
            violation("bookings", "user %u has two", who);
        open[who] |= row->state <= BOOKING_PLACED;
        latest[who] = row->id;
        check_deposit(world, row);
        if (row->state == BOOKING_BOUGHT)
            check_price(world, row);
    }
    check_late(world, rows, count);
    if (world->presale_cap != 0 && booked > world->presale_cap)
        violation("bookings: the cap", "%u bookings, the shop takes %u", booked, world->presale_cap);
    for (uint32_t who = 0; who < BUYERS; who++)
        if (latest[who] < world->told_booking[who])
            violation("I6 told is recovered", "booking %" PRIu64 " is gone", world->told_booking[who]);
}

/* What neither log nor provider knows is gone: bookings, and that somebody left. The stock of products is to
 * be corrected by hand. */
void presale_restored(struct world *world)
{
    memset(world->told_booking, 0, sizeof world->told_booking);
    memset(world->by_hand, true, sizeof world->by_hand);
    world->pool_known = false;
}
