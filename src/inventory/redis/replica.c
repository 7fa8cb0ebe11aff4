/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/replica.h"

#include "inventory/engine.h"
#include "inventory/redis/confirm.h"

#include <stdlib.h>

/* What has changed and is not shown yet: each number once. */
struct dirty {
    uint32_t *list;
    uint32_t count;
    bool *is_in;
};

struct replica {
    struct replica_config config;
    struct confirm *confirm;
    struct part_state state; /* what is known of the database */
    bool caught_up;          /* with state.seq */
    uint64_t applied;        /* records; also while an entry is being taken */
    uint64_t watched;        /* the record that is told when it is applied; 0: none */
    /* Of the entry that is being taken. */
    struct dirty items, rooms;
    _Atomic uint64_t places; /* rows of the table of places that others may read */
    bool gone;               /* its sale was archived: its log counts no more */
    struct command_transfer gifts[SHARDS_MAX]; /* the last one to each shard */
};

static const struct engine *engine_of(const struct replica *replica)
{
    return confirm_engine(replica->confirm);
}

/* ---- what a record shows on ---- */

static void dirty_add(struct dirty *dirty, uint32_t number)
{
    if (dirty->is_in[number])
        return;
    dirty->is_in[number] = true;
    dirty->list[dirty->count++] = number;
}

static void dirty_add_all(struct replica *replica)
{
    const struct engine *engine = engine_of(replica);
    for (item_id item = 1; item < engine->config.items_max; item++)
        if (engine->items[item].sale != 0)
            dirty_add(&replica->items, item);
}

static void changed_tell(struct replica *replica, ticket_number n, user_id user)
{
    if (replica->config.changed != NULL)
        replica->config.changed(replica->config.context, confirm_number(replica->confirm, n), user);
}

/* The tickets that a record has made. */
static void wins_note(struct replica *replica, const struct command *command, const struct outcome *outcome)
{
    const uint32_t wins = outcome_wins(command, outcome);
    for (uint32_t i = 0; i < wins; i++) {
        const ticket_number n = outcome->ticket + i;
        const struct ticket_row *ticket = tickets_get(&engine_of(replica)->tickets, n);
        invariant(ticket != NULL);
        board_add_buyer(replica->config.board, ticket->item, ticket->user);
        changed_tell(replica, n, ticket->user);
    }
}

static void record_note(void *context, const struct command *command, const struct outcome *outcome)
{
    struct replica *replica = context;
    const item_id item = engine_command_item(command, outcome);
    if (item != 0)
        dirty_add(&replica->items, item);
    if (command->type == COMMAND_SALE || command->type == COMMAND_GATE)
        dirty_add_all(replica);
    if (command->type == COMMAND_PREHEAT)
        replica->config.item(replica->config.context, command->preheat.item, command->preheat.sale);
    if (command->type == COMMAND_GIVE) {
        replica->gifts[command->transfer.shard] = command->transfer;
        replica->gifts[command->transfer.shard].quantity = (uint32_t)outcome->applied;
    }
    if (command->type == COMMAND_SETTLE)
        changed_tell(replica, command->settle.ticket, outcome->user);
    if (command_room(command) != 0)
        dirty_add(&replica->rooms, command_room(command));
    wins_note(replica, command, outcome);
    if (++replica->applied != replica->watched)
        return;
    replica->watched = 0;
    replica->config.reached(replica->config.context, command->time_ms);
}

void replica_watch(struct replica *replica, uint64_t seq)
{
    invariant(seq == 0 || (seq > replica->applied && replica->config.reached != NULL));
    replica->watched = seq;
}

/* The rows first: whoever sees a room's numbers finds their places. */
static void rooms_show(struct replica *replica)
{
    struct dirty *rooms = &replica->rooms;
    atomic_store_explicit(&replica->places, engine_of(replica)->places.count, memory_order_release);
    for (; rooms->count > 0; rooms->count--) {
        const sale_id sale = rooms->list[rooms->count - 1];
        const struct board_room_update room = engine_room_view(engine_of(replica), sale);
        rooms->is_in[sale] = false;
        board_publish_room(replica->config.board, &room);
    }
}

static void dirty_show(struct replica *replica)
{
    const uint64_t at_ms = replica->caught_up ? confirm_time_ms(replica->confirm) : 0;
    struct dirty *items = &replica->items;
    for (uint32_t i = 0; i < items->count; i++) {
        items->is_in[items->list[i]] = false;
        replica->config.show(replica->config.context, items->list[i], at_ms);
    }
    items->count = 0;
    rooms_show(replica);
}

enum status replica_take(struct replica *replica, const struct journal_entry *entry)
{
    const uint64_t before = confirm_seq(replica->confirm);
    const enum status status = confirm_replay(replica->confirm, entry);
    if (entry->epoch > replica->state.epoch)
        replica->state.epoch = entry->epoch;
    dirty_show(replica); /* what was applied before a fault is kept, too */
    atomic_fetch_add_explicit(&replica->config.board->durable_lsn,
        confirm_seq(replica->confirm) - before, memory_order_relaxed);
    return status;
}

void replica_gone(struct replica *replica)
{
    if (!replica->gone)
        atomic_fetch_sub_explicit(&replica->config.board->durable_lsn,
            confirm_seq(replica->confirm), memory_order_relaxed);
    replica->gone = true;
}

void replica_state(struct replica *replica, const struct part_state *state)
{
    replica->state = *state;
    replica->caught_up = true;
}

/* ---- asking ---- */

const char *replica_trouble(const struct replica *replica)
{
    return confirm_trouble(replica->confirm);
}

const struct engine *replica_engine(const struct replica *replica)
{
    return engine_of(replica);
}

uint64_t replica_time_ms(const struct replica *replica)
{
    return confirm_time_ms(replica->confirm);
}

uint32_t replica_part(const struct replica *replica)
{
    return replica->config.part;
}

uint64_t replica_seq(const struct replica *replica)
{
    return confirm_seq(replica->confirm);
}

uint32_t replica_epoch(const struct replica *replica)
{
    return replica->state.epoch;
}

ticket_number replica_number(const struct replica *replica, ticket_number n)
{
    return confirm_number(replica->confirm, n);
}

bool replica_is_ticket(const struct replica *replica, ticket_number n, const struct ticket_claim *claim)
{
    const struct ticket_row *row = n == 0 ? NULL : tickets_get(&engine_of(replica)->tickets, n);
    if (row == NULL || row->user != claim->user)
        return false;
    return claim->item == 0
        || (row->item == claim->item && row->quantity == claim->quantity && row->key == claim->key);
}

/* A ticket that is not kept. Under the present epoch it may still come. When an epoch has been raised, all
 * that the database keeps of those before is in it (decision 0040): what is not there then will never be. */
static enum answer proposal_judge(const struct replica *replica, const struct ticket_parts *parts)
{
    const bool over = parts->epoch < replica->state.epoch && replica->caught_up;
    const bool overtaken = parts->n <= engine_of(replica)->tickets.last;
    return over || overtaken ? ANSWER_VOID : ANSWER_DECIDING;
}

static void ticket_ask(struct replica *replica, const struct command *command, struct outcome *outcome)
{
    struct ticket_parts parts;
    struct command inside = *command;
    const bool any = command->ask.any_epoch;
    ticket_number ticket = command->ask.ticket;
    const bool known = ticket_number_split(ticket, &parts);
    const bool is_whole = parts.epoch != 0 || parts.part == PART_EMBEDDED;
    if (!known || (any ? parts.epoch != 0 : !is_whole)) {
        outcome->answer = ANSWER_UNKNOWN_TICKET;
        return;
    }
    if (any)
        ticket = replica_number(replica, parts.n);
    if (ticket == 0 || replica_number(replica, parts.n) != ticket) {
        outcome->answer = (uint8_t)(any ? ANSWER_UNKNOWN_TICKET : proposal_judge(replica, &parts));
    } else {
        inside.ask.ticket = parts.n;
        confirm_ask(replica->confirm, &inside, outcome);
    }
    outcome->ticket = ticket;
}

void replica_ask(struct replica *replica, const struct command *command, struct outcome *outcome)
{
    *outcome = (struct outcome){ 0 };
    if (command->type == COMMAND_ASK_TICKET) {
        ticket_ask(replica, command, outcome);
        return;
    }
    confirm_ask(replica->confirm, command, outcome);
    if (command->type == COMMAND_ASK_MINE)
        outcome->ticket = replica_number(replica, outcome->ticket);
}

bool replica_item(const struct replica *replica, item_id item, struct board_update *view)
{
    return engine_item_view(engine_of(replica), item, view);
}

bool replica_totals(const struct replica *replica, item_id id, uint32_t *total, uint32_t *locked)
{
    const struct engine *engine = engine_of(replica);
    if (id >= engine->config.items_max || engine->items[id].sale == 0)
        return false;
    *total = engine->items[id].total;
    *locked = engine->items[id].locked;
    return true;
}

uint64_t replica_draw_ms(const struct replica *replica, item_id item, channel_index channel)
{
    return engine_of(replica)->items[item].draw_until_ms[channel];
}

uint32_t replica_given(const struct replica *replica, uint32_t shard)
{
    return engine_of(replica)->transfers.given[shard];
}

uint32_t replica_taken(const struct replica *replica, uint32_t shard)
{
    return engine_of(replica)->transfers.taken[shard];
}

const struct command_transfer *replica_gift(const struct replica *replica, uint32_t shard)
{
    return &replica->gifts[shard];
}

uint32_t replica_units(const struct replica *replica, item_id item)
{
    return engine_of(replica)->items[item].given;
}

struct replica_fill replica_fill(const struct replica *replica)
{
    const struct engine *engine = engine_of(replica);
    const uint64_t buyers = engine->buyers.capacity - buyers_room(&engine->buyers);
    return (struct replica_fill){ .tickets = tickets_used(&engine->tickets),
        .buyers_percent = (uint32_t)(buyers * 100 / engine->buyers.capacity) };
}

/* ---- arrivals: any thread ---- */

bool replica_arrival_find(const struct replica *replica, sale_id sale, user_id user, uint32_t *number)
{
    const struct places *places = &engine_of(replica)->places;
    const uint64_t shown = atomic_load_explicit(&replica->places, memory_order_acquire);
    const uint64_t row = places_find(places, sale, user);
    if (row >= shown)
        return false;
    *number = places_at(places, row)->number;
    return true;
}

/* A cursor is the row. */
uint32_t replica_arrivals(const struct replica *replica, sale_id sale, uint64_t *cursor,
    uint32_t *budget, struct arrival *arrivals, uint32_t max)
{
    const struct places *places = &engine_of(replica)->places;
    const uint64_t shown = atomic_load_explicit(&replica->places, memory_order_acquire);
    uint32_t count = 0;
    for (; *cursor < shown && count<max && * budget> 0; ++*cursor, --*budget) {
        const struct place_row *row = places_at(places, *cursor);
        if (row->sale == sale)
            arrivals[count++] = (struct arrival){ .user = row->user, .number = row->number };
    }
    return count;
}

/* ---- opening ---- */

static bool dirty_open(struct dirty *dirty, uint32_t numbers)
{
    dirty->list = calloc(numbers, sizeof *dirty->list);
    dirty->is_in = calloc(numbers, sizeof *dirty->is_in);
    return dirty->list != NULL && dirty->is_in != NULL;
}

static void dirty_close(struct dirty *dirty)
{
    free(dirty->list);
    free(dirty->is_in);
}

enum status replica_open(struct replica **out, const struct replica_config *config)
{
    struct replica *replica = *out = calloc(1, sizeof *replica);
    if (replica == NULL)
        return STATUS_FULL;
    replica->config = *config;
    replica->state.part = config->part;
    const bool made = dirty_open(&replica->items, config->engine->items_max)
        && dirty_open(&replica->rooms, config->engine->sales_max);
    const struct confirm_config confirm = { .part = config->part,
        .data_id = config->data_id,
        .engine = config->engine,
        .replayed = record_note,
        .context = replica };
    if (!made)
        return STATUS_FULL;
    return confirm_open(&replica->confirm, &confirm);
}

void replica_close(struct replica *replica)
{
    if (replica == NULL)
        return;
    confirm_close(replica->confirm);
    dirty_close(&replica->items);
    dirty_close(&replica->rooms);
    free(replica);
}
