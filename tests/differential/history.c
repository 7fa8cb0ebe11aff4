/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/history.c: values are drawn so that each answer of the engine comes up often: few users,
 * keys and units, so that they meet; and now and then a value at a bound, or one that no client could
 * send. */
#include "tests/differential/history.h"

#include <stdio.h>
#include <string.h>

enum {
    LONG_EACH = 120, /* one history of so many */
    LEAP_MAX_MS = 2 * 1000 * 1000,
};

static uint64_t below(struct history *history, uint64_t bound)
{
    return random_below(&history->random, bound);
}

static bool chance(struct history *history, uint32_t percent)
{
    return below(history, 100) < percent;
}

/* One of these. */
#define PICK(history, ...) \
    (((const uint64_t[]){ \
        __VA_ARGS__ })[below((history), sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))])

void history_begin(struct history *history, uint64_t seed)
{
    struct profile *profile = &history->profile;
    history->seed = seed;
    history->step_count = history->command_count = 0;
    random_seed(&history->random, seed);
    *profile = (struct profile){ .items = (uint32_t)below(history, 4) + 1,
        .sales = (uint32_t)below(history, 2) + 1,
        .users = (uint32_t)PICK(history, 3, 12, HISTORY_USERS_MAX),
        .keys = (uint32_t)PICK(history, 4, HISTORY_KEYS_MAX),
        .units = (uint32_t)PICK(history, 2, 10, 100),
        .step_ms = (uint32_t)PICK(history, 1, 50, 5000),
        .batch = (uint32_t)PICK(history, 1, 4, 16, SCRIPT_PURCHASES_MAX),
        /* The smallest: a draw's length before its end must not be before 1970. */
        .start_ms = PICK(history, 2 * DRAW_MAX_MS, 1763315134123, (UINT64_C(1) << 47) - 5000000),
        .lag_max = chance(history, 5) ? 0 : PICK(history, 3, 20, 100000, 100000),
        .commands = (uint32_t)below(history, 600) + 20,
        .operators = chance(history, 10),
        .returns = chance(history, 50),
        .door = chance(history, 40),
        .requests = (uint32_t)PICK(history, 1, 2, 5, SCRIPT_REQUESTS_MAX),
        /* In a server these are real time, so that keys are gone then: longer than a history takes. */
        .window_ms = (uint32_t)PICK(history, 100 * 1000, 3600 * 1000) };
    profile->config = (struct engine_config){ .items_max = (uint32_t)below(history, 4) + 3,
        .sales_max = (uint32_t)below(history, 2) + 2,
        .tickets_max = PICK(history, 4, 40, 400, 2000),
        .places_max = PICK(history, 0, 5, 100) };
    if (seed % LONG_EACH == 0) { /* more keys than are remembered */
        profile->operators = true;
        profile->returns = false;
        profile->config.items_max = 6;
        profile->items = 4;
        profile->sales = profile->batch = 1;
        profile->commands = HISTORY_COMMANDS_MAX - SCRIPT_PURCHASES_MAX;
    }
    for (uint32_t i = 0; i < HISTORY_USERS_MAX; i++)
        profile->user_ids[i] = i == 0 ? UINT64_MAX : i == 1 ? 1 : random_next(&history->random) | 1;
    for (uint32_t i = 0; i < HISTORY_KEYS_MAX; i++)
        profile->key_ids[i] = random_next(&history->random) | 1;
    for (uint32_t i = 0; i < HISTORY_MARKS_MAX; i++)
        profile->mark_ids[i] = random_next(&history->random) | 1;
    history->now_ms = profile->start_ms;
}

static user_id some_user(struct history *history)
{
    return history->profile.user_ids[below(history, history->profile.users)];
}

static uint64_t some_key(struct history *history, uint32_t percent)
{
    if (!chance(history, percent))
        return 0;
    return chance(history, 50) ? history->profile.key_ids[below(history, history->profile.keys)]
                               : random_next(&history->random) | 1;
}

static item_id some_item(struct history *history)
{
    return (item_id)(chance(history, 97) ? below(history, history->profile.items) + 1
                                         : PICK(history, 0, 7, UINT16_MAX));
}

static sale_id some_sale(struct history *history)
{
    return (sale_id)(chance(history, 97) ? below(history, history->profile.sales) + 1
                                         : PICK(history, 0, 3, 99));
}

static channel_index some_channel(struct history *history)
{
    return (channel_index)(chance(history, 95) ? below(history, 2) : PICK(history, 2, 7, 8, 254));
}

static channel_index some_place(struct history *history)
{
    return chance(history, 20) ? CHANNEL_SAFETY : some_channel(history);
}

static uint32_t some_quantity(struct history *history)
{
    return (uint32_t)(chance(history, 95)
            ? below(history, 3) + 1
            : PICK(history, 0, QUANTITY_MAX, QUANTITY_MAX + 1, UINT32_MAX));
}

static uint64_t some_price(struct history *history)
{
    return PICK(history, 0, 9900, 9900, 9900, (UINT64_C(1) << 53) + 1, UINT64_MAX);
}

static void origin_make(struct history *history, struct command_origin *origin)
{
    const uint32_t keyed = history->profile.operators ? 95 : 25;
    if (!chance(history, keyed))
        return;
    const bool fresh = chance(history, history->profile.operators ? 85 : 50);
    origin->key = fresh ? random_next(&history->random) | 1
                        : history->profile.key_ids[below(history, history->profile.keys)];
    origin->request = PICK(history, 0, 5, 5, UINT64_MAX);
    if (chance(history, 10))
        origin->key = origin->request = 0;
    if (origin->key == 0 || chance(history, 50))
        snprintf(origin->actor, sizeof origin->actor, "%s", chance(history, 50) ? "anna" : "by = =");
    for (char *at = origin->actor; *at != 0; at++)
        *at = *at == ' ' ? '=' : *at; /* an actor is one word */
}

static void make_sale(struct history *history, struct command *command)
{
    struct command_sale *sale = &command->sale;
    sale->sale = some_sale(history);
    sale->limit_per_user = (uint32_t)PICK(history, 0, 0, 1, 3, UINT32_MAX);
    sale->start_ms = chance(history, 70) ? history->profile.start_ms + 3 * history->profile.step_ms
                                         : history->now_ms + below(history, 1000);
    sale->end_ms = chance(history, 90) ? sale->start_ms + PICK(history, 100000, 1000000, 1000000)
                                       : sale->start_ms + below(history, 3);
    if (chance(history, 3))
        sale->end_ms = (UINT64_C(1) << 48) - 1;
    sale->eligible_only = chance(history, 20);
    sale->one_open_order = chance(history, 30);
    if (!history->profile.returns)
        return;
    const bool beyond = chance(history, 6);
    sale->cooldown_s = (uint16_t)PICK(history, 0, 1, 1, 1, 2, 30, COOLDOWN_MAX_S);
    sale->return_draw_ms = (uint16_t)PICK(history, 0, 0, 1, 501, DRAW_MAX_MS);
    sale->start_draw_ms = (uint16_t)PICK(history, 0, 0, 700, DRAW_MAX_MS);
    if (beyond && chance(history, 50))
        sale->cooldown_s = COOLDOWN_MAX_S + 1;
    else if (beyond)
        *(chance(history, 50) ? &sale->return_draw_ms : &sale->start_draw_ms) = DRAW_MAX_MS + 1;
}

static void make_preheat(struct history *history, struct command *command)
{
    struct command_preheat *item = &command->preheat;
    item->item = some_item(history);
    item->sale =
        (sale_id)(chance(history, 90) ? item->item % history->profile.sales + 1 : some_sale(history));
    item->unit_price = some_price(history);
    item->limit_per_user = (uint32_t)PICK(history, 0, 1, 1, 2, 5);
    item->pay_window_ms = (uint32_t)PICK(history, 1000, 900000, UINT32_MAX);
    item->safety = (uint32_t)below(history, 3);
    item->locked = (uint32_t)PICK(history, 0, 0, 1);
    item->sold_before = (uint32_t)PICK(history, 0, 0, 2);
    item->total = item->safety + item->locked + item->sold_before;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++) {
        item->channel_units[channel] =
            (uint32_t)(channel < 2 ? below(history, history->profile.units + 1) : chance(history, 10));
        item->total += item->channel_units[channel];
    }
    if (chance(history, 5))
        item->total = (uint32_t)PICK(history, 0, item->total + 1, UNITS_MAX + 1, UINT32_MAX);
    if (chance(history, 2)) { /* as many as there can be */
        item->channel_units[0] += UNITS_MAX - (item->total <= UNITS_MAX ? item->total : 0);
        item->total = UNITS_MAX;
    }
    snprintf(item->currency, sizeof item->currency, "%s", chance(history, 50) ? "CNY" : "");
    item->change = chance(history, 30);
}

static void make_users(struct history *history, struct command *command)
{
    command->users.sale = some_sale(history);
    command->users.count = (uint32_t)below(history, USERS_PER_COMMAND + 1);
    command->users.remove = chance(history, 25);
    for (uint32_t i = 0; i < command->users.count; i++)
        command->users.users[i] = some_user(history);
}

static void make_reserve(struct history *history, struct command *command)
{
    struct command_reserve *reserve = &command->reserve;
    command->type = COMMAND_RESERVE;
    reserve->user = some_user(history);
    reserve->key = some_key(history, 60);
    reserve->item = some_item(history);
    reserve->quantity = some_quantity(history);
    reserve->channel = some_channel(history);
    reserve->flags = (uint8_t)(chance(history, 80) ? 0 : below(history, 8));
    reserve->window_ms = (uint32_t)PICK(history, 0, 60000, UINT32_MAX);
}

/* Now and then a time that is over: nobody accepts such a pass, and its mark is not kept. */
static struct purchase_door some_door(struct history *history)
{
    const struct profile *profile = &history->profile;
    struct purchase_door door = { 0 };
    if (!profile->door || !chance(history, 70))
        return door;
    if (chance(history, 50)) {
        door.mark = profile->mark_ids[below(history, HISTORY_MARKS_MAX)];
        door.mark_until_ms = chance(history, 95)
            ? history->now_ms + PICK(history, 100 * 1000, 1000 * 1000)
            : history->now_ms / 2;
    }
    if (chance(history, 70)) {
        door.requests = profile->requests;
        door.window_ms = chance(history, 95) ? profile->window_ms : 0;
    }
    return door;
}

static ticket_number some_ticket(struct history *history, const struct engine *engine)
{
    return chance(history, 97) ? below(history, engine->tickets.last + 2)
                               : PICK(history, 0, UINT32_MAX, UINT64_MAX);
}

static void make_settle(struct history *history, const struct engine *engine, struct command *command)
{
    struct command_settle *settle = &command->settle;
    settle->ticket = some_ticket(history, engine);
    settle->step = (uint8_t)(chance(history, 98)
            ? PICK(history, SETTLE_SOLD, SETTLE_RETURN, SETTLE_RETURN, SETTLE_WRITE_OFF)
            : PICK(history, SETTLE_STEPS, UINT8_MAX));
    settle->to = some_place(history);
    settle->let_go = settle->step == SETTLE_RETURN ? chance(history, 60) : chance(history, 5);
    settle->waiter_window_ms = (uint32_t)PICK(history, 60000, UINT32_MAX);
    settle->waiter_count = (uint8_t)(chance(history, 50) ? below(history, WAITERS_PER_RETURN + 1) : 0);
    for (uint32_t i = 0; i < settle->waiter_count; i++)
        settle->waiters[i] = (struct waiter){ .user = chance(history, 97) ? some_user(history) : 0,
            .key = some_key(history, 70),
            .quantity = some_quantity(history) };
}

/* Most have the next number of their two shards. */
static void make_transfer(struct history *history, const struct engine *engine, struct command *command)
{
    struct command_transfer *transfer = &command->transfer;
    const struct engine_transfers *transfers = &engine->transfers;
    const uint32_t shard = (uint32_t)below(history, 3);
    const uint32_t last =
        command->type == COMMAND_GIVE ? transfers->given[shard] : transfers->taken[shard];
    *transfer = (struct command_transfer){ .item = some_item(history),
        .quantity = chance(history, 95) ? (uint32_t)below(history, 6)
                                        : (uint32_t)PICK(history, UNITS_MAX, UINT32_MAX),
        .number = chance(history, 90) ? last + 1 : (uint32_t)PICK(history, 0, last, last + 2, UINT32_MAX),
        .channel = some_place(history),
        .shard = (uint8_t)(chance(history, 97) ? shard
                                               : PICK(history, SHARDS_MAX - 1, SHARDS_MAX, UINT8_MAX)) };
}

static void make_stock(struct history *history, const struct engine *engine, struct command *command)
{
    if (command->type == COMMAND_ADJUST) {
        command->adjust.item = some_item(history);
        command->adjust.channel = some_place(history);
        command->adjust.gone = chance(history, 20);
        command->adjust.delta = chance(history, 95)
            ? (int32_t)below(history, 8) - 3
            : (int32_t)(uint32_t)PICK(history, INT32_MAX, (uint32_t)INT32_MIN, UNITS_MAX);
        return;
    }
    if (command->type == COMMAND_GIVE || command->type == COMMAND_TAKE) {
        make_transfer(history, engine, command);
        return;
    }
    command->move.item = some_item(history);
    command->move.from = some_place(history);
    command->move.to = some_place(history);
    command->move.quantity = chance(history, 95) ? (uint32_t)below(history, 4) : UINT32_MAX;
}

static void make_ask(struct history *history, const struct engine *engine, struct command *command)
{
    command->type = (uint8_t)(COMMAND_ASK_MINE + below(history, 4));
    command->ask.item = some_item(history);
    command->ask.user = some_user(history);
    command->ask.sale = some_sale(history);
    command->ask.ticket = some_ticket(history, engine);
    if (command->type != COMMAND_ASK_MINE)
        command->ask.user = 0;
}

static void make_room(struct history *history, struct command *command)
{
    if (command->type == COMMAND_ARRIVE) {
        command->arrive.sale = some_sale(history);
        command->arrive.user = some_user(history);
        return;
    }
    command->admit.sale = some_sale(history);
    command->admit.head = (uint32_t)(chance(history, 90) ? below(history, 20) : UINT32_MAX);
}

/* A command that is alone in its call. */
static void make_single(struct history *history, const struct engine *engine, struct command *command)
{
    static const uint8_t mixed[] = { COMMAND_SETTLE, COMMAND_SETTLE, COMMAND_SETTLE, COMMAND_SETTLE,
        COMMAND_SETTLE, COMMAND_SETTLE, COMMAND_SETTLE, COMMAND_SETTLE, COMMAND_SETTLE, COMMAND_SALE,
        COMMAND_PREHEAT, COMMAND_GATE, COMMAND_USERS, COMMAND_ADJUST, COMMAND_MOVE, COMMAND_ARRIVE,
        COMMAND_ARRIVE, COMMAND_ADMIT, COMMAND_ASK_MINE, COMMAND_ASK_MINE, COMMAND_GIVE, COMMAND_TAKE };
    static const uint8_t operators[] = { COMMAND_GATE, COMMAND_ADJUST, COMMAND_ADJUST, COMMAND_ADJUST,
        COMMAND_ADJUST, COMMAND_ADJUST, COMMAND_ADJUST, COMMAND_MOVE, COMMAND_PREHEAT };
    command->type = history->profile.operators ? operators[below(history, sizeof operators)]
                                               : mixed[below(history, sizeof mixed)];
    if (command->type == COMMAND_SALE)
        make_sale(history, command);
    else if (command->type == COMMAND_PREHEAT)
        make_preheat(history, command);
    else if (command->type == COMMAND_USERS)
        make_users(history, command);
    else if (command->type == COMMAND_SETTLE)
        make_settle(history, engine, command);
    else if (command->type == COMMAND_ADJUST || command->type == COMMAND_MOVE
        || command->type == COMMAND_GIVE || command->type == COMMAND_TAKE)
        make_stock(history, engine, command);
    else if (command->type == COMMAND_ARRIVE || command->type == COMMAND_ADMIT)
        make_room(history, command);
    else if (command->type == COMMAND_GATE)
        command->gate = (struct command_gate){ some_sale(history),
            (uint8_t)(chance(history, 3) ? GATE_MOVES : below(history, GATE_MOVES)) };
    else
        make_ask(history, engine, command);
    if (command->type == COMMAND_GATE && command->gate.move == GATE_MOVE_END && chance(history, 80))
        command->gate.move = GATE_MOVE_REOPEN; /* most sales go on for a while */
    if (command_has_origin(command->type))
        origin_make(history, &command->origin);
}

static struct command *command_new(struct history *history)
{
    struct command *command = &history->commands[history->command_count++];
    memset(command, 0, sizeof *command);
    history->doors[history->command_count - 1] = (struct purchase_door){ 0 };
    return command;
}

/* The first calls make the sales and most of the items. */
static void call_first(struct history *history, struct command *command)
{
    const uint32_t index = history->step_count;
    command->type = index < history->profile.sales ? COMMAND_SALE : COMMAND_PREHEAT;
    if (command->type == COMMAND_SALE) {
        make_sale(history, command);
        command->sale.sale = index + 1;
        command->sale.end_ms = command->sale.start_ms + 1000000;
        return;
    }
    make_preheat(history, command);
    command->preheat.item = index - history->profile.sales + 1;
    command->preheat.sale = command->preheat.item % history->profile.sales + 1;
    command->preheat.change = false;
}

/* Now and then a crowd: all want the same thing, as in a sale. */
static void purchases_make(struct history *history)
{
    const struct command *first = &history->commands[history->command_count];
    const bool crowd = chance(history, 30);
    for (uint64_t left = below(history, history->profile.batch) + 1; left > 0; left--) {
        struct command *command = command_new(history);
        make_reserve(history, command);
        if (crowd && command != first) {
            const struct command_reserve own = command->reserve;
            command->reserve = first->reserve;
            command->reserve.user = own.user;
            command->reserve.key = own.key;
        }
        history->doors[history->command_count - 1] = some_door(history);
    }
}

static void call_make(struct history *history, const struct engine *engine, struct step *step)
{
    const struct profile *profile = &history->profile;
    const struct engine_sale *sale = &engine->sales[below(history, engine->config.sales_max)];
    const uint64_t moment_ms = chance(history, 50) ? sale->start_ms : sale->end_ms;
    history->now_ms += below(history, profile->step_ms + 1);
    if (chance(history, 2) && moment_ms >= history->now_ms && moment_ms < history->now_ms + LEAP_MAX_MS)
        history->now_ms = moment_ms; /* exactly when it begins or ends */
    step->time_ms = chance(history, 95) ? history->now_ms : below(history, history->now_ms) + 1;
    step->first = history->command_count;
    if (history->step_count < profile->sales + profile->items)
        call_first(history, command_new(history));
    else if (chance(history, profile->operators ? 5 : 60))
        purchases_make(history);
    else
        make_single(history, engine, command_new(history));
    step->count = history->command_count - step->first;
}

bool history_next(struct history *history, const struct engine *engine, uint64_t seq)
{
    if (history->command_count >= history->profile.commands
        || history->command_count + SCRIPT_PURCHASES_MAX > HISTORY_COMMANDS_MAX
        || history->step_count == HISTORY_COMMANDS_MAX)
        return false;
    struct step *step = &history->steps[history->step_count];
    *step = (struct step){ .kind = STEP_CALL };
    const uint64_t what = below(history, 1000);
    if (history->step_count <= history->profile.sales || what >= 105)
        call_make(history, engine, step);
    else if (what < 100)
        *step = (struct step){ .kind = STEP_DONE,
            .seq = chance(history, 60) ? seq : below(history, seq + 1),
            .ticket = chance(history, 60) ? engine->tickets.last
                                          : below(history, engine->tickets.last + 1) };
    else
        step->kind = what < 103 ? STEP_REOPEN : STEP_RECLAIM;
    history->step_count++;
    return true;
}
