/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_setup.c: sales, items and gates: everything that happens before and around
 * the selling. */
#include "inventory/engine_apply.h"

static bool sale_started(const struct engine_sale *sale, uint64_t now_ms)
{
    return sale->opened || now_ms >= sale->start_ms;
}

/* May an existing sale take these new terms? */
static enum conflict sale_change_conflict(
    const struct engine_sale *sale, const struct command_sale *asked, uint64_t now_ms)
{
    if (sale->ended || now_ms >= sale->end_ms)
        return CONFLICT_ENDED;
    if (asked->start_ms != sale->start_ms && sale_started(sale, now_ms))
        return CONFLICT_ALREADY_OPEN;
    if (sale->items > 0 && (asked->limit_per_user == 0) != (sale->limit_per_user == 0))
        return CONFLICT_OTHER_LIMIT; /* nobody counted, or everybody would have to be recounted */
    if (sale->items > 0 && asked->one_open_order != sale->one_open_order)
        return CONFLICT_OTHER_LIMIT; /* some may have two open orders already */
    if (asked->limit_per_user != 0 && asked->limit_per_user < sale->limit_per_user && sale->items > 0)
        return CONFLICT_OTHER_LIMIT; /* some may be over the new limit already */
    return CONFLICT_NONE;
}

ENGINE_APPLY(engine_apply_sale)
{
    const struct command_sale *asked = &command->sale;
    if (asked->sale == 0 || asked->sale >= engine->config.sales_max) {
        engine_conflict(outcome, CONFLICT_FULL);
        return;
    }
    struct engine_sale *sale = &engine->sales[asked->sale];
    if (asked->end_ms <= asked->start_ms || asked->cooldown_s > COOLDOWN_MAX_S
        || asked->return_draw_ms > DRAW_MAX_MS || asked->start_draw_ms > DRAW_MAX_MS) {
        engine_conflict(outcome, CONFLICT_BAD_WINDOW);
        return;
    }
    if (sale->defined) {
        if (sale->start_ms == asked->start_ms && sale->end_ms == asked->end_ms
            && sale->limit_per_user == asked->limit_per_user
            && sale->eligible_only == asked->eligible_only && sale->one_open_order == asked->one_open_order
            && sale->cooldown_s == asked->cooldown_s && sale->return_draw_ms == asked->return_draw_ms
            && sale->start_draw_ms == asked->start_draw_ms) {
            outcome->answer = ANSWER_UNCHANGED;
            return;
        }
        if (engine_conflicts(outcome, sale_change_conflict(sale, asked, command->time_ms)))
            return;
    }
    if (!engine_may(may_change, outcome))
        return;
    sale->defined = true;
    sale->start_ms = asked->start_ms;
    sale->end_ms = asked->end_ms;
    sale->limit_per_user = asked->limit_per_user;
    sale->eligible_only = asked->eligible_only;
    sale->one_open_order = asked->one_open_order;
    sale->cooldown_s = asked->cooldown_s;
    sale->return_draw_ms = asked->return_draw_ms;
    sale->start_draw_ms = asked->start_draw_ms;
    if (sale->start_draw_ms != 0 && sale->draw_seed == 0)
        sale->draw_seed = engine_draw_seed(asked->sale, command->time_ms, asked->start_ms);
    engine_done(outcome);
}

static bool preheat_adds_up(const struct command_preheat *asked)
{
    if (asked->total > UNITS_MAX || (uint64_t)asked->locked + asked->sold_before > asked->total)
        return false;
    uint64_t units = asked->safety;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        units += asked->channel_units[channel];
    return units == asked->total - asked->locked - asked->sold_before;
}

static void item_fill(struct engine_item *item, const struct command_preheat *asked)
{
    *item = (struct engine_item){ .sale = asked->sale,
        .limit_per_user = asked->limit_per_user,
        .unit_price = asked->unit_price,
        .pay_window_ms = asked->pay_window_ms,
        .total = asked->total,
        .locked = asked->locked,
        .given = asked->total - asked->locked - asked->sold_before,
        .safety = asked->safety };
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        item->free[channel] = asked->channel_units[channel];
    engine_item_recheck(item);
}

/* Idempotent: the same again changes nothing, also while selling. Another total is refused: adjust
 * instead. Another price, limit or time to pay is refused, too: buyers have seen the first. */
static enum conflict item_change_conflict(
    const struct engine_item *item, const struct command_preheat *asked)
{
    if (item->sale != asked->sale || item->total != asked->total || item->locked != asked->locked)
        return CONFLICT_OTHER_TOTAL;
    const bool same = item->unit_price == asked->unit_price
        && item->limit_per_user == asked->limit_per_user && item->pay_window_ms == asked->pay_window_ms;
    return same ? CONFLICT_NONE : CONFLICT_OTHER_TERMS;
}

/* A user who has a unit keeps the price and the limit of that win. Returned units leave no mark
 * here; whoever asks has looked for orders. */
static void terms_change(const struct engine_sale *sale, struct engine_item *item,
    const struct command *command, bool may_change, struct outcome *outcome)
{
    const struct command_preheat *asked = &command->preheat;
    const bool deal =
        item->unit_price != asked->unit_price || item->limit_per_user != asked->limit_per_user;
    if (item->sale != asked->sale)
        engine_conflict(outcome, CONFLICT_NOT_PREHEATED);
    else if (!deal && item->pay_window_ms == asked->pay_window_ms)
        outcome->answer = ANSWER_UNCHANGED;
    else if (deal && (item->held | item->sold | item->written_off) != 0)
        engine_conflict(outcome, CONFLICT_HAS_BUYERS);
    else if (sale->ended || command->time_ms >= sale->end_ms)
        engine_conflict(outcome, CONFLICT_ENDED);
    else if (engine_may(may_change, outcome)) {
        item->unit_price = asked->unit_price;
        item->limit_per_user = asked->limit_per_user;
        item->pay_window_ms = asked->pay_window_ms;
        engine_done(outcome);
    }
}

ENGINE_APPLY(engine_apply_preheat)
{
    const struct command_preheat *asked = &command->preheat;
    struct engine_sale *sale = engine_sale_asked(engine, asked->sale, outcome);
    if (sale == NULL)
        return;
    if (asked->item == 0 || asked->item >= engine->config.items_max) {
        engine_conflict(outcome, CONFLICT_FULL);
        return;
    }
    struct engine_item *item = &engine->items[asked->item];
    const bool known = item->sale != 0;
    if (asked->change) {
        terms_change(sale, item, command, may_change, outcome);
        return;
    }
    if (known) {
        if (!engine_conflicts(outcome, item_change_conflict(item, asked)))
            outcome->answer = ANSWER_UNCHANGED;
        return;
    }
    if (!preheat_adds_up(asked)) {
        engine_conflict(outcome, CONFLICT_BAD_SPLIT);
        return;
    }
    if (sale->ended || command->time_ms >= sale->end_ms) {
        engine_conflict(outcome, CONFLICT_ENDED);
        return;
    }
    if (!engine_may(may_change, outcome))
        return;
    item_fill(item, asked);
    if (!known)
        sale->items++;
    engine_done(outcome);
}

/* What a gate move makes of the sale's flags. Resuming goes back to what was before the pause. */
static enum conflict gate_conflict(const struct engine_sale *sale, enum gate_move move, uint64_t now_ms)
{
    if ((sale->ended && move != GATE_MOVE_REOPEN) || (now_ms >= sale->end_ms && move != GATE_MOVE_END))
        return CONFLICT_ENDED;
    if (move == GATE_MOVE_OPEN && sale->items == 0)
        return CONFLICT_NOT_PREHEATED;
    if (move == GATE_MOVE_OPEN && sale->paused)
        return CONFLICT_BAD_MOVE; /* resume is the word for that */
    return CONFLICT_NONE;
}

static bool gate_is_there(const struct engine_sale *sale, enum gate_move move)
{
    switch (move) {
    case GATE_MOVE_OPEN:
        return sale->opened && !sale->paused && !sale->ended;
    case GATE_MOVE_PAUSE:
        return sale->paused && !sale->ended;
    case GATE_MOVE_RESUME:
        return !sale->paused && !sale->ended;
    case GATE_MOVE_END:
        return sale->ended;
    case GATE_MOVE_REOPEN:
        return !sale->ended;
    case GATE_MOVES:
        break;
    }
    return false;
}

ENGINE_APPLY(engine_apply_gate)
{
    struct engine_sale *sale = engine_sale_asked(engine, command->gate.sale, outcome);
    const enum gate_move move = command->gate.move;
    if (sale == NULL)
        return;
    if (move >= GATE_MOVES) {
        engine_conflict(outcome, CONFLICT_BAD_MOVE);
        return;
    }
    if (gate_is_there(sale, move)) {
        outcome->answer = ANSWER_UNCHANGED;
        return;
    }
    if (engine_conflicts(outcome, gate_conflict(sale, move, command->time_ms)))
        return;
    if (!engine_may(may_change, outcome))
        return;
    if (move == GATE_MOVE_OPEN) {
        sale->opened = true;
        sale->opened_ms = sale->start_draw_ms != 0 ? command->time_ms : 0;
    } else if (move == GATE_MOVE_END)
        sale->ended = true;
    else
        sale->paused = move == GATE_MOVE_PAUSE;
    if (move == GATE_MOVE_REOPEN)
        sale->ended = false;
    engine_done(outcome);
}

ENGINE_APPLY(engine_apply_users)
{
    const struct command_users *asked = &command->users;
    if (engine_sale_asked(engine, asked->sale, outcome) == NULL)
        return;
    invariant(asked->count <= USERS_PER_COMMAND);
    const uint32_t scope = buyers_scope_eligible(asked->sale);
    uint32_t changes = 0, rows = 0;
    for (uint32_t i = 0; i < asked->count; i++) {
        const struct buyer_row *row = buyers_find(&engine->buyers, scope, asked->users[i]);
        rows += row == NULL;
        changes += (row != NULL && row->used != 0) == asked->remove;
    }
    if (changes == 0) {
        outcome->answer = ANSWER_UNCHANGED;
        return;
    }
    if (!asked->remove && buyers_room(&engine->buyers) < rows) {
        engine_conflict(outcome, CONFLICT_FULL);
        return;
    }
    if (!engine_may(may_change, outcome))
        return;
    for (uint32_t i = 0; i < asked->count; i++)
        if (!asked->remove || buyers_find(&engine->buyers, scope, asked->users[i]) != NULL)
            buyers_find_or_add(&engine->buyers, scope, asked->users[i])->used = !asked->remove;
    outcome->applied = (int32_t)changes;
    engine_done(outcome);
}
