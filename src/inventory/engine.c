/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine.h"

#include "inventory/engine_apply.h"

enum status engine_open(struct engine *engine, const struct engine_config *config)
{
    *engine = (struct engine){ .config = *config };
    invariant(config->items_max > 1 && config->items_max <= ITEMS_LIMIT);
    invariant(config->sales_max > 1 && config->sales_max <= SALES_LIMIT);
    /* A buyer has a row per item and, where the sale has a limit or a list, up to two more. */
    const uint64_t buyers_max = config->tickets_max + config->tickets_max / 2 + 16;
    const size_t bytes = config->items_max * sizeof *engine->items
        + config->sales_max * sizeof *engine->sales + tickets_bytes(config->tickets_max)
        + buyers_bytes(buyers_max) + places_bytes(config->places_max, config->sales_max)
        + COMMAND_KEYS_MAX * sizeof *engine->keys.rows + 4096;
    const enum status status = arena_open(&engine->arena, bytes);
    if (status != STATUS_OK)
        return status;
    engine->sales = arena_take(&engine->arena, config->sales_max, sizeof *engine->sales);
    engine->items = arena_take(&engine->arena, config->items_max, sizeof *engine->items);
    tickets_create(&engine->tickets, &engine->arena, config->tickets_max);
    buyers_create(&engine->buyers, &engine->arena, buyers_max);
    places_create(&engine->places, &engine->arena, config->places_max, config->sales_max);
    engine->keys.rows = arena_take(&engine->arena, COMMAND_KEYS_MAX, sizeof *engine->keys.rows);
    return STATUS_OK;
}

void engine_close(struct engine *engine)
{
    arena_close(&engine->arena);
    *engine = (struct engine){ 0 };
}

void engine_touch(const struct engine *engine)
{
    const struct slots *keys = &engine->tickets.keys, *buyers = &engine->buyers.slots;
    const struct places *places = &engine->places;
    arena_touch(keys->at, keys->count * sizeof *keys->at);
    arena_touch(buyers->at, buyers->count * sizeof *buyers->at);
    arena_touch(places->slots, places->slot_count * sizeof *places->slots);
}

typedef void (*apply_function)(
    struct engine *, const struct command *, bool may_change, struct outcome *);

static const apply_function apply_table[] = {
    [COMMAND_SALE] = engine_apply_sale,
    [COMMAND_PREHEAT] = engine_apply_preheat,
    [COMMAND_GATE] = engine_apply_gate,
    [COMMAND_USERS] = engine_apply_users,
    [COMMAND_ADJUST] = engine_apply_adjust,
    [COMMAND_MOVE] = engine_apply_move,
    [COMMAND_RESERVE] = engine_apply_reserve,
    [COMMAND_SETTLE] = engine_apply_settle,
    [COMMAND_ARRIVE] = engine_apply_arrive,
    [COMMAND_ADMIT] = engine_apply_admit,
    [COMMAND_RECLAIM] = engine_apply_reclaim,
    [COMMAND_GIVE] = engine_apply_transfer,
    [COMMAND_TAKE] = engine_apply_transfer,
    [COMMAND_ARCHIVE] = engine_apply_archive,
    [COMMAND_SKIP] = engine_apply_skip,
    [COMMAND_ASK_MINE] = engine_ask_mine,
    [COMMAND_ASK_TICKET] = engine_ask_ticket,
    [COMMAND_ASK_COUNTS] = engine_ask_counts,
    [COMMAND_ASK_SALE] = engine_ask_sale,
};

void engine_apply(
    struct engine *engine, const struct command *command, bool may_change, struct outcome *outcome)
{
    thread_owner_check(engine->owner);
    *outcome = (struct outcome){ 0 };
    invariant(command->type < sizeof apply_table / sizeof *apply_table);
    const apply_function apply = apply_table[command->type];
    invariant(apply != NULL);
    if (!command_has_origin(command->type)) {
        apply(engine, command, may_change, outcome);
    } else if (!engine_keys_repeated(engine, command, outcome)) {
        apply(engine, command, may_change, outcome);
        engine_keys_note(engine, command, outcome);
    }
    invariant(outcome->answer != ANSWER_NONE);
    invariant(!outcome->changed || may_change);
}

struct engine_item *engine_item_find(const struct engine *engine, item_id item)
{
    if (item == 0 || item >= engine->config.items_max || engine->items[item].sale == 0)
        return NULL;
    return &engine->items[item];
}

struct engine_sale *engine_sale_find(const struct engine *engine, sale_id sale)
{
    if (sale == 0 || sale >= engine->config.sales_max || !engine->sales[sale].defined)
        return NULL;
    return &engine->sales[sale];
}

struct engine_item *engine_item_asked(const struct engine *engine, item_id item, struct outcome *outcome)
{
    struct engine_item *found = engine_item_find(engine, item);
    if (found == NULL)
        outcome->answer = ANSWER_UNKNOWN_ITEM;
    return found;
}

struct engine_sale *engine_sale_asked(const struct engine *engine, sale_id sale, struct outcome *outcome)
{
    struct engine_sale *found = engine_sale_find(engine, sale);
    if (found == NULL)
        outcome->answer = ANSWER_UNKNOWN_SALE;
    return found;
}

static uint64_t item_units(const struct engine_item *item)
{
    uint64_t units = (uint64_t)item->safety + item->held + item->sold + item->written_off;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        units += item->free[channel];
    return units;
}

void engine_item_recheck(const struct engine_item *item)
{
    invariant(item_units(item) == item->given);
}

item_id engine_command_item(const struct command *command, const struct outcome *outcome)
{
    switch ((enum command_type)command->type) {
    case COMMAND_PREHEAT:
        return command->preheat.item;
    case COMMAND_ADJUST:
        return command->adjust.item;
    case COMMAND_MOVE:
        return command->move.item;
    case COMMAND_GIVE:
    case COMMAND_TAKE:
        return command->transfer.item;
    case COMMAND_RESERVE:
        return command->reserve.item;
    case COMMAND_SETTLE:
        return outcome->item;
    case COMMAND_ASK_MINE:
    case COMMAND_ASK_COUNTS:
        return command->ask.item;
    case COMMAND_ASK_TICKET:
        return outcome->item;
    case COMMAND_NONE:
    case COMMAND_SALE:
    case COMMAND_GATE:
    case COMMAND_USERS:
    case COMMAND_ARRIVE:
    case COMMAND_ADMIT:
    case COMMAND_RECLAIM:
    case COMMAND_ARCHIVE:
    case COMMAND_SKIP:
    case COMMAND_LOGGED_COUNT:
    case COMMAND_ASK_SALE:
    case COMMAND_ASK_SPEND:
        break;
    }
    return 0;
}

static enum gate sale_gate(const struct engine_sale *sale)
{
    return sale->ended ? GATE_ENDED
        : sale->paused ? GATE_PAUSED
        : sale->opened ? GATE_OPENED
                       : GATE_SCHEDULED;
}

void engine_item_counts(const struct engine *engine, item_id id, struct item_counts *counts)
{
    const struct engine_item *item = engine_item_find(engine, id);
    invariant(item != NULL);
    engine_counts(item, counts);
}

void engine_counts(const struct engine_item *item, struct item_counts *counts)
{
    *counts = (struct item_counts){ .given = item->given,
        .held = item->held,
        .sold = item->sold,
        .safety = item->safety,
        .written_off = item->written_off };
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++) {
        counts->channel_free[channel] = item->free[channel];
        counts->free += item->free[channel];
    }
}

bool engine_item_view(const struct engine *engine, item_id id, struct board_update *view)
{
    const struct engine_item *item = engine_item_find(engine, id);
    if (item == NULL)
        return false;
    const struct engine_sale *sale = &engine->sales[item->sale];
    *view = (struct board_update){ .item = id,
        .sale = item->sale,
        .start_ms = sale->start_ms,
        .end_ms = sale->end_ms,
        .unit_price = item->unit_price,
        .gate = sale_gate(sale),
        .limit_per_user = item->limit_per_user };
    engine_item_counts(engine, id, &view->counts);
    return true;
}

static const char *check_items(const struct engine *engine)
{
    for (item_id id = 1; id < engine->config.items_max; id++) {
        const struct engine_item *item = &engine->items[id];
        if (item->sale == 0)
            continue;
        if (item_units(item) != item->given)
            return "I1: units of an item do not add up to what was given";
        if (item->given > UNITS_MAX || item->held > item->given || item->sold > item->given)
            return "I2: more units held or sold than given";
        for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
            if (item->free[channel] > item->given)
                return "I1: a pool holds more than was given";
    }
    return NULL;
}

/* Recounts held and sold from the tickets into scratch copies of the items. */
static const char *check_tickets(const struct engine *engine, struct engine_item *recount)
{
    for (uint64_t i = 0; i < engine->tickets.rows_end; i++) {
        const struct ticket_row *ticket = &engine->tickets.rows[i];
        if (!ticket->used)
            continue; /* reclaimed */
        if (ticket->quantity == 0 || engine_item_find(engine, ticket->item) == NULL)
            return "a ticket without units or item";
        struct engine_item *item = &recount[ticket->item];
        if (ticket->state == TICKET_HELD)
            item->held += ticket->quantity;
        else if (ticket->state == TICKET_SOLD)
            item->sold += ticket->quantity;
        else if (ticket->state == TICKET_WRITTEN_OFF)
            item->written_off += ticket->quantity;
    }
    for (item_id id = 1; id < engine->config.items_max; id++) {
        const struct engine_item *item = &engine->items[id];
        if (item->held != recount[id].held || item->sold != recount[id].sold
            || item->written_off != recount[id].written_off)
            return "I1: tickets and counts of an item differ";
    }
    return NULL;
}

/* Every row must be explained by live tickets of its scope, and no row may pass its limit. */
static const char *check_buyers(const struct engine *engine)
{
    struct buyers recount;
    struct arena arena;
    if (arena_open(&arena, buyers_bytes(engine->buyers.capacity) + 4096) != STATUS_OK)
        return "no memory to check";
    buyers_create(&recount, &arena, engine->buyers.capacity);
    const char *wrong = NULL;
    for (uint64_t i = 0; i < engine->tickets.rows_end; i++) {
        const struct ticket_row *ticket = &engine->tickets.rows[i];
        if (!ticket->used || ticket->state == TICKET_RETURNED)
            continue;
        buyers_find_or_add(&recount, buyers_scope_item(ticket->item), ticket->user)->used +=
            ticket->quantity;
        const sale_id sale = engine->items[ticket->item].sale;
        if (engine_sale_counts_users(&engine->sales[sale]))
            buyers_find_or_add(&recount, buyers_scope_sale(sale), ticket->user)->used += ticket->quantity;
    }
    for (uint64_t i = 0; i < recount.rows_end && wrong == NULL; i++) {
        const struct buyer_row *counted = &recount.rows[i];
        const struct buyer_row *row = buyers_find(&engine->buyers, counted->scope, counted->user);
        const uint32_t id = buyers_scope_id(counted->scope);
        const uint32_t limit = counted->scope == buyers_scope_item(id)
            ? engine->items[id].limit_per_user
            : engine->sales[id].limit_per_user;
        if (row == NULL || row->used != counted->used)
            wrong = "I4: a user's counter and tickets differ";
        else if (limit != 0 && counted->used > limit)
            wrong = "I4: a user is over the limit";
    }
    for (uint64_t i = 0; i < engine->buyers.rows_end && wrong == NULL; i++) {
        const struct buyer_row *row = &engine->buyers.rows[i];
        if (row->scope == buyers_scope_eligible(buyers_scope_id(row->scope)) || row->used == 0)
            continue;
        if (buyers_find(&recount, row->scope, row->user) == NULL)
            wrong = "I4: a user is counted for units nobody sold";
    }
    arena_close(&arena);
    return wrong;
}

const char *engine_check(const struct engine *engine)
{
    const char *wrong = check_items(engine);
    struct arena arena;
    if (wrong != NULL)
        return wrong;
    if (arena_open(&arena, engine->config.items_max * sizeof(struct engine_item) + 4096) != STATUS_OK)
        return "no memory to check";
    wrong = check_tickets(
        engine, arena_take(&arena, engine->config.items_max, sizeof(struct engine_item)));
    arena_close(&arena);
    if (wrong == NULL)
        wrong = tickets_check(&engine->tickets);
    if (wrong == NULL)
        wrong = buyers_check(&engine->buyers);
    if (wrong == NULL)
        wrong = check_buyers(engine);
    return wrong != NULL ? wrong : engine_check_places(engine);
}

uint64_t engine_digest(const struct engine *engine)
{
    const struct hash_key key = { 0x7374616d70656465u, 0x6469676573740000u };
    uint64_t digest = 0;
    const struct {
        const void *data;
        size_t bytes;
    } parts[] = {
        { engine->sales, engine->config.sales_max * sizeof *engine->sales },
        { engine->items, engine->config.items_max * sizeof *engine->items },
        { engine->tickets.rows, engine->tickets.rows_end * sizeof *engine->tickets.rows },
        { engine->tickets.moved_number, engine->tickets.rows_end * sizeof *engine->tickets.moved_number },
        { &engine->tickets.last, sizeof engine->tickets.last },
        { &engine->tickets.free_head, sizeof engine->tickets.free_head },
        { engine->buyers.rows, engine->buyers.rows_end * sizeof *engine->buyers.rows },
        { engine->buyers.cool_until_s, engine->buyers.rows_end * sizeof *engine->buyers.cool_until_s },
        { &engine->buyers.free_head, sizeof engine->buyers.free_head },
        { &engine->keys.count, sizeof engine->keys.count },
        { engine->keys.rows, engine_keys_kept(engine->keys.count) * sizeof *engine->keys.rows },
        { &engine->transfers, sizeof engine->transfers },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        digest = hash_siphash_pair(key, digest, hash_siphash(key, parts[i].data, parts[i].bytes));
    for (uint64_t i = engine->places.begin; i < engine->places.count; i++) /* wherever the ring begins */
        digest = hash_siphash_pair(key, digest,
            hash_siphash(key, places_at(&engine->places, i), sizeof(struct place_row)));
    return digest;
}
