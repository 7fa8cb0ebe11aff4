/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks what: buyers with retries, duplicates and mistakes, and a shop that can't keep its
 * hands off. */
#include "funnel/token.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <stdio.h>

bool client_ask(struct world *world, uint32_t port, const struct command *command)
{
    struct inventory_port *seam = world->ports[port];
    const struct journal *journal = embedded_journal(world->embedded);
    if (world->model.open_count + SIM_PORTS >= SIM_OPEN
        || world->model.request_count + SIM_PORTS >= SIM_REQUESTS)
        return false;
    struct inventory_request *slot = seam->ops->reserve(seam);
    if (slot == NULL)
        return false; /* too popular */
    slot->command = *command;
    slot->tag = model_asked(&world->model, port, command, journal_appended(journal),
        journal_durable(journal), world->engine_ms);
    trace_step("ask", slot->tag, command->type,
        command->type == COMMAND_RESERVE ? command->reserve.item * 10000u + command->reserve.quantity
                                         : 0);
    seam->ops->commit(seam);
    world->commands++;
    return true;
}

void client_collect(struct world *world, uint32_t port)
{
    struct inventory_port *seam = world->ports[port];
    const struct inventory_answer *answer;
    while ((answer = seam->ops->collect(seam)) != NULL) {
        trace_step("told", answer->tag, answer->outcome.answer, answer->outcome.ticket);
        if (world->gave_up_waiting)
            violation("I14 fail-stop", "request %" PRIu64 " was answered after the journal failed",
                answer->tag);
        model_told(&world->model, port, answer, world->engine_ms);
        channels_told(world, &world->model.requests[answer->tag - 1].command, &answer->outcome);
        presale_told(world, &world->model.requests[answer->tag - 1].command, &answer->outcome);
    }
}

static uint32_t port_of(user_id user)
{
    return user_index(user) % CLIENT_PORTS;
}

/* ---- purchases ---- */

static void door_refused(
    const struct world *world, const struct command_reserve *wish, enum door_reason reason)
{
    const uint32_t last =
        wish->item < SIM_ITEMS ? world->model.last[user_index(wish->user)][wish->item] : 0;
    const lsn_t shown = atomic_load(&embedded_board(world->embedded)->durable_lsn);
    const bool about_stock = reason == DOOR_SOLD_OUT || reason == DOOR_ENDED
        || reason == DOOR_PAUSED || reason == DOOR_UNAVAILABLE;
    if (about_stock && last != 0 && world->model.tickets[last].lsn <= shown)
        violation("I8 a flag never hides a win", "user %u has ticket %u of item %u, the door says %s",
            user_index(wish->user), last, wish->item, door_reason_name(reason));
}

bool client_purchase(struct world *world, const struct command_reserve *wish)
{
    static const char *const names[] = { "web", "app", "partner" };
    const struct door door = {
        .board = embedded_board(world->embedded), .keys = &world->keys, .channels = &world->channels
    };
    const struct pass pass = {
        .user = wish->user, .item = wish->item, .expires_s = (uint32_t)(world->now_ms / 1000) + 600
    };
    const struct command command = { .type = COMMAND_RESERVE, .reserve = *wish };
    char token[TOKEN_CHARS], body[64], key[24];
    struct door_result result;
    if (wish->item == 0 || wish->channel >= 3 || wish->flags != 0)
        return client_ask(world, port_of(wish->user), &command); /* was past the door already */
    pass_issue(&world->keys, &pass, token);
    snprintf(body, sizeof body, "{\"quantity\":%u,\"channel\":\"%s\"}", wish->quantity,
        names[wish->channel]);
    snprintf(key, sizeof key, "%" PRIx64, wish->key);
    const struct door_request request = { .now_ms = world->now_ms,
        .item = wish->item,
        .authorization = SPAN_NONE,
        .pass = span_of(token, sizeof token),
        .idempotency_key = wish->key == 0 ? SPAN_NONE : span_from_string(key),
        .body = span_from_string(body) };
    const enum door_reason reason = funnel_door(&door, &request, &result);
    if (reason == DOOR_GO)
        return client_ask(world, port_of(wish->user), &command);
    trace_step("door", reason, wish->item, user_index(wish->user));
    world->door_refusals++;
    if (!result.repeat) {
        door_refused(world, wish, reason);
        return false;
    }
    struct command repeat = command;
    repeat.reserve.flags = RESERVE_REPEAT;
    return client_ask(world, port_of(wish->user), &repeat);
}

void client_burst(struct world *world)
{
    const item_id item = (item_id)(1 + world_below(world, world->item_count));
    trace_step("burst", item, 0, 0);
    for (uint32_t who = 0; who < BUYERS; who++) {
        for (item_id next = 0; next < 3; next++) {
            const struct command command = { .type = COMMAND_RESERVE,
                .reserve = { .user = world->users[who],
                    .item = (item + next - 1) % world->item_count + 1,
                    .quantity = 1,
                    .channel = (channel_index)(who % world->channel_count),
                    .flags = RESERVE_AFTER_END } };
            (void)client_ask(world, port_of(world->users[who]), &command);
        }
    }
    for (uint32_t i = 0; i < CLIENT_PORTS; i++)
        world->ports[i]->ops->flush(world->ports[i]);
    world_turn(world);
}

uint64_t client_key(struct world *world)
{
    if (SIM_PLACE_KEYS + world->key_count + 1 >= SIM_KEYS)
        return 0;
    const uint64_t index = SIM_PLACE_KEYS + ++world->key_count;
    return (world_below(world, UINT64_MAX) & ~(uint64_t)(SIM_KEYS - 1)) | index;
}

static uint32_t quantity_choose(struct world *world)
{
    static const uint32_t odd[] = { 0, QUANTITY_MAX, QUANTITY_MAX + 1, UINT32_MAX, 1u << 31, 7 };
    if (world_chance(world, 4))
        return odd[world_below(world, sizeof odd / sizeof *odd)];
    return world_chance(world, 65) ? 1 : 1 + (uint32_t)world_below(world, 4);
}

static void purchase_new(struct world *world)
{
    struct command_reserve wish = { .user = world->users[world_below(world, BUYERS)],
        .item = (item_id)(1 + world_below(world, world->item_count)),
        .quantity = quantity_choose(world),
        .channel = (channel_index)world_below(world, world->channel_count) };
    if (world_chance(world, 2))
        wish.item = (item_id)world_below(world, SIM_ITEMS + 2);
    if (world_chance(world, 2))
        wish.channel = (channel_index)world_below(world, 256);
    if (world_chance(world, 3))
        wish.flags = RESERVE_AFTER_END;
    else if (world_chance(world, 8))
        wish.flags = RESERVE_REPEAT;
    if (world_chance(world, 70))
        wish.key = client_key(world);
    const struct command command = { .type = COMMAND_RESERVE, .reserve = wish };
    if (world_chance(world, 15))
        (void)client_ask(world, port_of(wish.user), &command); /* the door saw an older board */
    else
        (void)client_purchase(world, &wish);
}

/* A retry, a double click, or the same key with another wish. */
static void purchase_again(struct world *world)
{
    const uint32_t count = world->model.request_count;
    const uint64_t back = world_below(world, count < 60 ? count : 60);
    const struct model_request *old = &world->model.requests[count - 1 - back];
    /* What the pump offers, and a deposit, is under a key that no user knows. */
    if (old->command.type != COMMAND_RESERVE || old->port == PUMP_PORT
        || booking_of_key(old->command.reserve.key) != 0) {
        purchase_new(world);
        return;
    }
    struct command_reserve wish = old->command.reserve;
    if (wish.key != 0 && world_chance(world, 20)) {
        if (world_chance(world, 50))
            wish.quantity = wish.quantity % QUANTITY_MAX + 1;
        else
            wish.item = (item_id)(1 + wish.item % world->item_count);
    }
    const struct command command = { .type = COMMAND_RESERVE, .reserve = wish };
    if (world_chance(world, 40))
        (void)client_ask(world, port_of(wish.user), &command);
    else
        (void)client_purchase(world, &wish);
}

static void question(struct world *world)
{
    static const uint8_t types[] = { COMMAND_ASK_MINE, COMMAND_ASK_TICKET, COMMAND_ASK_COUNTS };
    const struct command command = { .type = types[world_below(world, 3)],
        .ask = { .user = world->users[world_below(world, BUYERS)],
            .item = (item_id)world_below(world, world->item_count + 2),
            .ticket = world_below(world, world->model.ticket_count + 3) } };
    (void)client_ask(world, (uint32_t)world_below(world, CLIENT_PORTS), &command);
}

/* ---- what happens to tickets ---- */

static void settle(struct world *world)
{
    ticket_number number = world_below(world, world->model.ticket_count + 1);
    number -= number % 2; /* the others are moved by the order side */
    if (number != 0 && world_order_is_ours(world, number))
        return;
    if (number == 0)
        number = world_chance(world, 50) ? 0 : SIM_NUMBERS + 1; /* nobody's */
    struct command command = { .type = COMMAND_SETTLE,
        .settle = { .ticket = number,
            .step = world_chance(world, 2) ? SETTLE_STEPS : (uint8_t)world_below(world, SETTLE_STEPS),
            .to = world_chance(world, 10) ? CHANNEL_SAFETY
                                          : (channel_index)world_below(world, world->channel_count) } };
    if (number != 0 && number <= world->model.ticket_count) {
        /* An order that the database will reject is returned by the pump, and by nobody sold. */
        const struct queue_record *record = &world->model.log[world->model.tickets[number].lsn];
        if (sim_store_verdict(&world->sim_store, record) == SIM_REFUSE_LIMIT)
            command.settle.step = SETTLE_RETURN;
    }
    command.settle.let_go = world_chance(world, command.settle.step == SETTLE_RETURN ? 50 : 3);
    if (command.settle.step == SETTLE_RETURN && world_chance(world, 35)) {
        command.settle.waiter_count = (uint8_t)(1 + world_below(world, WAITERS_PER_RETURN));
        command.settle.waiter_window_ms = 1000;
        for (uint32_t i = 0; i < command.settle.waiter_count; i++)
            command.settle.waiters[i] =
                (struct waiter){ .user = world->users[world_below(world, BUYERS)],
                    .key = world_chance(world, 70) ? client_key(world) : 0,
                    .quantity = (uint32_t)world_below(world, 4) };
    }
    (void)client_ask(world, (uint32_t)(number % CLIENT_PORTS), &command);
}

/* ---- the shop ---- */

static bool is_open(const struct world *world, uint8_t type, uint32_t id)
{
    for (uint32_t i = 0; i < world->model.open_count; i++) {
        const struct command *command = &world->model.requests[world->model.open[i]].command;
        if (command->type == type
            && (type == COMMAND_SALE ? command->sale.sale == id : command->preheat.item == id))
            return true;
    }
    return false;
}

void client_setup(struct world *world)
{
    for (sale_id id = 1; id <= world->sale_count; id++) {
        const struct command command = { .type = COMMAND_SALE, .sale = world->sale_wish[id] };
        if (!world->model.sales[id].defined && !is_open(world, COMMAND_SALE, id))
            (void)client_ask(world, 0, &command);
    }
    for (item_id id = 1; id <= world->item_count; id++) {
        if (world->model.items[id].sale != 0 || is_open(world, COMMAND_PREHEAT, id)
            || !pools_draw(world, id))
            continue;
        const struct command command = { .type = COMMAND_PREHEAT, .preheat = world->item_wish[id] };
        (void)client_ask(world, 0, &command);
    }
}

static channel_index place_choose(struct world *world)
{
    if (world_chance(world, 3))
        return (channel_index)world_below(world, 256);
    if (world_chance(world, 6)) /* as units for a presale arrive */
        return CHANNEL_LINE;
    return world_chance(world, 15) ? CHANNEL_SAFETY
                                   : (channel_index)world_below(world, world->channel_count);
}

static struct command stock_command(struct world *world)
{
    struct command command = { .type = world_chance(world, 50) ? COMMAND_ADJUST : COMMAND_MOVE };
    const item_id item = (item_id)(1 + world_below(world, world->item_count));
    if (command.type == COMMAND_MOVE) {
        command.move = (struct command_move){ .item = item,
            .from = place_choose(world),
            .to = place_choose(world),
            .quantity = (uint32_t)world_below(world, 8) };
        return command;
    }
    command.adjust = (struct command_adjust){
        .item = item, .channel = place_choose(world), .delta = (int32_t)world_below(world, 12) - 6
    };
    if (world_chance(world, 6))
        command.adjust.delta = world_chance(world, 50) ? INT32_MIN : INT32_MAX;
    if (world->pooled[item] && command.adjust.delta > 0) /* it gets no more, and the admin API says so */
        command.adjust.delta = -command.adjust.delta;
    command.adjust.gone = world_chance(world, 20);
    return command;
}

static struct command gate_command(struct world *world, sale_id sale)
{
    const uint64_t what = world_below(world, 100);
    const bool paused = world->model.sales[sale].paused;
    const bool late = world->commands > COMMANDS_MIN * 3 / 4;
    const uint8_t move = what < 2 && late ? GATE_MOVE_END
        : what < 6 && late                ? GATE_MOVE_REOPEN
        : what < 20                       ? GATE_MOVE_OPEN
        : paused                          ? GATE_MOVE_RESUME
                                          : GATE_MOVE_PAUSE;
    return (struct command){ .type = COMMAND_GATE,
        .gate = { .sale = sale, .move = what == 99 ? GATE_MOVES : move } };
}

/* As an administrator does it: after the first ticket only the time to pay changes. */
static void terms_wish(struct world *world, struct command_preheat *preheat)
{
    const struct model_item *item = &world->model.items[preheat->item];
    bool sold = false;
    for (uint32_t i = 1; i <= world->model.ticket_count; i++)
        sold |= world->model.tickets[i].item == preheat->item;
    if (!world_chance(world, 30))
        return;
    preheat->change = true;
    preheat->pay_window_ms = item->pay_window_ms + (uint32_t)world_below(world, 2) * 100;
    if (!sold)
        return;
    preheat->unit_price = item->price;
    preheat->limit_per_user = item->limit;
}

static struct command users_command(struct world *world, sale_id sale)
{
    struct command command = { .type = COMMAND_USERS, .users = { .sale = sale } };
    command.users.count = (uint32_t)world_below(world, USERS_PER_COMMAND + 1);
    command.users.remove = world_chance(world, 20);
    for (uint32_t i = 0; i < command.users.count; i++)
        command.users.users[i] = world->users[world_below(world, BUYERS)];
    return command;
}

/* Somebody enters the waiting room. */
static void room_act(struct world *world)
{
    const sale_id sale = (sale_id)(1 + world_below(world, world->sale_count + world_chance(world, 3)));
    struct command command = { .type = COMMAND_ARRIVE,
        .arrive = { .sale = sale, .user = world->users[world_below(world, BUYERS)] } };
    uint32_t port = port_of(command.arrive.user);
    if (world_chance(world, 3)) { /* told again; whom the room admits is in rooms.c */
        const uint32_t head = sale < SIM_SALES ? world->model.sales[sale].head : 0;
        command = (struct command){ .type = COMMAND_ADMIT, .admit = { .sale = sale, .head = head } };
        port = 0;
    }
    (void)client_ask(world, port, &command);
}

/* The table of tickets is gone through: with little or no time to look back, so that it meets everything
 * that a day would hide. */
static void reclaim_act(struct world *world)
{
    struct command command = { .type = COMMAND_RECLAIM,
        .reclaim = { .before_ms = world->engine_ms - world_below(world, 300),
            .from = (uint32_t)world_below(world, world->model.rows_end + 2),
            .rows = 1 + (uint32_t)world_below(world, 60) } };
    if (world_chance(world, 40))
        command.reclaim.from = 0;
    if (world_chance(world, 5))
        command.reclaim.before_ms += 1000000; /* the future */
    if (world_chance(world, 5))
        command.reclaim.rows = world_chance(world, 50) ? 0 : RECLAIM_ROWS_MAX + 1;
    if (world->model.ticket_count + SIM_TICKETS < SIM_NUMBERS)
        (void)client_ask(world, 0, &command);
}

/* Who gave it, and mostly a key. Lists of users have no audit row of their own each, so they stay out. */
static void origin_fill(struct world *world, struct command *command)
{
    if (command->type == COMMAND_USERS)
        return;
    snprintf(command->origin.actor, sizeof command->origin.actor, "shop");
    if (!world_chance(world, 80))
        return;
    command->origin.key = 1 + world_below(world, UINT64_MAX - 1);
    command->origin.request = world_below(world, 1000);
}

static void shop_act(struct world *world)
{
    const sale_id sale = (sale_id)(1 + world_below(world, world->sale_count + world_chance(world, 3)));
    const item_id item = (item_id)(1 + world_below(world, world->item_count));
    struct command command = { 0 };
    const uint64_t what = world_below(world, 100);
    if (what < 12) {
        world_channels_act(world);
        return;
    }
    if (what < 45) {
        command = stock_command(world);
    } else if (what < 60) {
        command = gate_command(world, sale);
    } else if (what < 75) {
        command = users_command(world, sale);
    } else if (what < 90) {
        command = (struct command){ .type = COMMAND_PREHEAT, .preheat = world->item_wish[item] };
        if (world_chance(world, 40)) { /* somebody counted again */
            command.preheat.total++;
            command.preheat.channel_units[0] += world_chance(world, 80);
        } else if (world->model.items[item].sale != 0) { /* or changed the price */
            command.preheat.unit_price += world_chance(world, 30);
            terms_wish(world, &command.preheat);
        }
    } else {
        command = (struct command){ .type = COMMAND_SALE,
            .sale = world->sale_wish[sale < SIM_SALES ? sale : 1] };
        command.sale.sale = sale;
        command.sale.end_ms += world_below(world, 3) * 500;
        if (command.sale.start_ms == 0)
            return; /* a sale that the catalog does not have */
        command.sale.limit_per_user += world_chance(world, 20);
        if (world_chance(world, 20))
            command.sale.cooldown_s = (uint16_t)world_below(world, 3);
        if (world_chance(world, 20))
            command.sale.return_draw_ms = (uint16_t)world_below(world, 300);
        if (world_chance(world, 20))
            command.sale.start_draw_ms = (uint16_t)world_below(world, 300);
    }
    if (command.type == COMMAND_PREHEAT
        && (!world->model.sales[command.preheat.sale].defined
            || (world->pooled[item] && world->model.items[item].sale == 0)))
        return;
    if (command.type == COMMAND_PREHEAT && (item == world->presale_item || item == world->deposit_item))
        command.preheat.unit_price = world->item_wish[item].unit_price; /* bookings were made for it */
    if (world_chance(world, 70))
        origin_fill(world, &command);
    (void)client_ask(world, 0, &command);
}

/* An administrator whose answer did not come, or was not waited for: the sync takes long, or the server
 * has been away. The same key again, now and then with another request. */
static void shop_again(struct world *world)
{
    const uint32_t count = world->model.request_count;
    for (uint32_t back = 1; back <= 60 && back <= count; back++) {
        const struct model_request *old = &world->model.requests[count - back];
        if (!command_has_origin(old->command.type) || old->command.origin.key == 0
            || world_chance(world, 60))
            continue;
        struct command command = old->command;
        command.origin.request += world_chance(world, 10);
        (void)client_ask(world, old->port, &command);
        return;
    }
}

void client_act(struct world *world)
{
    const uint64_t what = world_below(world, 100);
    if (what < 50 || world->model.request_count == 0)
        purchase_new(world);
    else if (what < 74)
        purchase_again(world);
    else if (what < 79)
        question(world);
    else if (what < 84)
        room_act(world);
    else if (what < 90)
        settle(world);
    else if (what < 92)
        shop_again(world);
    else if (what < 95)
        reclaim_act(world);
    else
        shop_act(world);
}
