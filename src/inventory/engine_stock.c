/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_stock.c: units added, removed and moved while the sale runs, and transfers between the
 * shards of a sale on many machines. */
#include "inventory/engine_apply.h"

/* A place where units can lie: a channel's pool or the safety stock; NULL: no such place. */
static uint32_t *place_of(struct engine_item *item, channel_index place)
{
    if (place == CHANNEL_SAFETY)
        return &item->safety;
    return place < CHANNELS_MAX ? &item->free[place] : NULL;
}

/* False: nothing would change, or nothing may. */
static bool stock_may(int64_t applied, bool may_change, struct outcome *outcome)
{
    if (applied != 0)
        return engine_may(may_change, outcome);
    outcome->answer = ANSWER_UNCHANGED;
    return false;
}

static void stock_add(struct engine_item *item, uint32_t *place, int64_t applied, struct outcome *outcome)
{
    *place = (uint32_t)(*place + applied);
    item->given = (uint32_t)(item->given + applied);
    item->total = (uint32_t)(item->total + applied);
    engine_item_recheck(item);
    outcome->applied = (int32_t)applied;
    engine_done(outcome);
}

/* A decrease takes what is free and says how much. */
ENGINE_APPLY(engine_apply_adjust)
{
    struct engine_item *item = engine_item_asked(engine, command->adjust.item, outcome);
    if (item == NULL)
        return;
    uint32_t *place = place_of(item, command->adjust.channel);
    const int64_t delta = command->adjust.delta;
    if (place == NULL) {
        outcome->answer = ANSWER_BAD_CHANNEL;
        return;
    }
    if (delta > 0 && (uint64_t)item->total + (uint64_t)delta > UNITS_MAX) {
        outcome->answer = ANSWER_BAD_QUANTITY;
        return;
    }
    int64_t applied = delta;
    if (delta < 0 && -delta > (int64_t)*place)
        applied = -(int64_t)*place;
    if (!stock_may(applied, may_change, outcome))
        return;
    stock_add(item, place, applied, outcome);
}

ENGINE_APPLY(engine_apply_move)
{
    struct engine_item *item = engine_item_asked(engine, command->move.item, outcome);
    if (item == NULL)
        return;
    uint32_t *from = place_of(item, command->move.from);
    uint32_t *to = place_of(item, command->move.to);
    if (from == NULL || to == NULL || from == to) {
        outcome->answer = ANSWER_BAD_CHANNEL;
        return;
    }
    const uint32_t applied = command->move.quantity < *from ? command->move.quantity : *from;
    if (!stock_may(applied, may_change, outcome))
        return;
    *from -= applied;
    *to += applied;
    engine_item_recheck(item);
    outcome->applied = (int32_t)applied;
    engine_done(outcome);
}

/* The place that a transfer takes from or adds to; NULL: it changes nothing, and the outcome says why. */
static uint32_t *transfer_place(const struct engine *engine, const struct command_transfer *transfer,
    const uint32_t *last, struct engine_item **item, struct outcome *outcome)
{
    *item = engine_item_asked(engine, transfer->item, outcome);
    if (*item == NULL)
        return NULL;
    uint32_t *place = place_of(*item, transfer->channel);
    if (place == NULL)
        outcome->answer = ANSWER_BAD_CHANNEL;
    else if (transfer->shard >= SHARDS_MAX || transfer->number > last[transfer->shard] + 1)
        engine_conflict(outcome, CONFLICT_BAD_MOVE);
    else if (transfer->number <= last[transfer->shard])
        outcome->answer = ANSWER_UNCHANGED; /* it was done */
    else
        return place;
    return NULL;
}

/* GIVE gives what is free, and says how much. */
ENGINE_APPLY(engine_apply_transfer)
{
    const struct command_transfer *transfer = &command->transfer;
    const bool gives = command->type == COMMAND_GIVE;
    uint32_t *last = gives ? engine->transfers.given : engine->transfers.taken;
    struct engine_item *item;
    uint32_t *place = transfer_place(engine, transfer, last, &item, outcome);
    if (place == NULL)
        return;
    const int64_t applied = gives && transfer->quantity > *place ? *place : transfer->quantity;
    if (!gives && item->total + applied > UNITS_MAX) {
        outcome->answer = ANSWER_BAD_QUANTITY;
        return;
    }
    if (!stock_may(applied, may_change, outcome))
        return;
    last[transfer->shard] = transfer->number;
    stock_add(item, place, gives ? -applied : applied, outcome);
    outcome->applied = (int32_t)applied;
}
