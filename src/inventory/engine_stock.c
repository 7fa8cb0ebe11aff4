/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_stock.c: units added, removed and moved while the sale runs. */
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
    *place = (uint32_t)(*place + applied);
    item->given = (uint32_t)(item->given + applied);
    item->total = (uint32_t)(item->total + applied);
    engine_item_recheck(item);
    outcome->applied = (int32_t)applied;
    engine_done(outcome);
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
