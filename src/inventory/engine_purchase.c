/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_purchase.c: a purchase, and every later step of its ticket. */
#include "inventory/engine_apply.h"

/* What a user may still take of an item: rows of both scopes, found once and used for check and
 * change. */
struct allowance {
    uint64_t item_slot;         /* buyers_slot */
    struct buyer_row *item_row; /* NULL: nothing bought yet */
    struct buyer_row *sale_row; /* NULL: nothing bought yet, or the sale does not count users */
};

static bool limit_allows(uint32_t limit, const struct buyer_row *row, uint32_t quantity)
{
    const uint64_t used = row == NULL ? 0 : row->used;
    return limit == 0 || used + quantity <= limit;
}

static struct allowance allowance_find(
    const struct engine *engine, const struct engine_item *item, item_id id, user_id user)
{
    struct allowance allowance = { .item_slot =
                                       buyers_slot(&engine->buyers, buyers_scope_item(id), user) };
    allowance.item_row = buyers_at(&engine->buyers, allowance.item_slot);
    if (engine_sale_counts_users(&engine->sales[item->sale]))
        allowance.sale_row = buyers_find(&engine->buyers, buyers_scope_sale(item->sale), user);
    return allowance;
}

/* The same key: the same ticket again, if it asks for the same. */
static void answer_repeated(const struct engine *engine, const struct command_reserve *asked,
    ticket_number number, struct outcome *outcome)
{
    const struct ticket_row *ticket = tickets_get(&engine->tickets, number);
    const bool same = ticket->user == asked->user && ticket->item == asked->item
        && ticket->quantity == asked->quantity && ticket->channel == asked->channel;
    if (!same) {
        outcome->answer = ANSWER_KEY_REUSED;
        return;
    }
    outcome->answer = ANSWER_REPEATED;
    outcome->ticket = number;
    outcome->item = ticket->item;
    outcome->quantity = ticket->quantity;
    outcome->unit_price = engine->items[ticket->item].unit_price;
    outcome->pay_by_ms = ticket->pay_by_ms;
}

static enum answer window_answer(const struct engine_sale *sale, uint64_t now_ms)
{
    if (sale->ended || now_ms >= sale->end_ms)
        return ANSWER_ENDED;
    if (!sale->opened && now_ms < sale->start_ms)
        return ANSWER_NOT_STARTED;
    return sale->paused ? ANSWER_PAUSED : ANSWER_NONE;
}

static bool limit_refuses(const struct engine_item *item, const struct engine_sale *sale,
    const struct allowance *allowance, uint32_t quantity, struct outcome *outcome)
{
    if (limit_allows(item->limit_per_user, allowance->item_row, quantity)
        && limit_allows(sale->limit_per_user, allowance->sale_row, quantity))
        return false;
    const bool has = allowance->item_row != NULL && allowance->item_row->used > 0;
    outcome->answer = has && item->limit_per_user == 1 ? ANSWER_ALREADY_BOUGHT : ANSWER_LIMIT_REACHED;
    outcome->ticket = has ? allowance->item_row->last : 0;
    return true;
}

/* The user's last ticket of the sale, if it is not paid yet; 0: none. No earlier one can be open: each
 * was over before the next was taken. */
static ticket_number open_order(
    const struct engine *engine, const struct engine_sale *sale, const struct allowance *allowance)
{
    if (!sale->one_open_order || allowance->sale_row == NULL)
        return 0;
    const ticket_number last = allowance->sale_row->last;
    const struct ticket_row *ticket = tickets_get(&engine->tickets, last);
    return ticket != NULL && ticket->state == TICKET_HELD ? last : 0;
}

static bool user_is_invited(const struct engine *engine, const struct engine_item *item, user_id user)
{
    if (!engine->sales[item->sale].eligible_only)
        return true;
    const struct buyer_row *row = buyers_find(&engine->buyers, buyers_scope_eligible(item->sale), user);
    return row != NULL && row->used != 0; /* 0: removed from the list */
}

static bool pool_refuses(const struct engine_item *item, channel_index channel, uint32_t quantity)
{
    return item->free[channel] < quantity;
}

/* There are units, but not for this user yet. Late money is not held up: it is paid already. Nor does
 * a waiter draw: the line goes first. */
static bool must_wait(const struct engine *engine, const struct command *command,
    const struct engine_item *item, const struct allowance *allowance, struct outcome *outcome)
{
    const struct command_reserve *asked = &command->reserve;
    const bool offer = (asked->flags & RESERVE_OFFER) != 0;
    if ((asked->flags & RESERVE_AFTER_END) != 0 && !offer)
        return false;
    outcome->again_ms =
        engine_cooling_until_ms(engine, item->sale, allowance->item_row, command->time_ms);
    if (outcome->again_ms != 0) {
        outcome->answer = ANSWER_COOLING_DOWN;
        return true;
    }
    if (!offer)
        outcome->again_ms =
            engine_draw_moment_ms(engine, asked->item, asked->channel, asked->user, command->time_ms);
    if (outcome->again_ms != 0)
        outcome->answer = ANSWER_NOT_YOUR_MOMENT;
    return outcome->again_ms != 0;
}

/* Why this purchase can't be, in the order of the questions; false: nothing is in its way. */
static bool purchase_refused(const struct engine *engine, const struct command *command,
    const struct engine_item *item, const struct allowance *allowance, struct outcome *outcome)
{
    const struct command_reserve *asked = &command->reserve;
    const struct engine_sale *sale = &engine->sales[item->sale];
    if (allowance->item_row != NULL && allowance->item_row->last >= asked->pending_from) {
        outcome->answer = ANSWER_IN_PROGRESS;
        return true;
    }
    /* A user who already has the unit gets that answer even after the end: the first answer may
     * have been lost. */
    if (limit_refuses(item, sale, allowance, asked->quantity, outcome) && outcome->ticket != 0)
        return true;
    const ticket_number open = open_order(engine, sale, allowance);
    if (open != 0) {
        outcome->answer = ANSWER_OPEN_ORDER;
        outcome->ticket = open;
        return true;
    }
    if ((asked->flags & RESERVE_REPEAT) != 0) {
        outcome->answer = ANSWER_NOTHING_TO_REPEAT;
        return true;
    }
    const enum answer window = window_answer(sale, command->time_ms);
    const bool window_counts = (asked->flags & RESERVE_AFTER_END) == 0;
    if (window != ANSWER_NONE && window_counts) {
        outcome->answer = window;
        return true;
    }
    if (!user_is_invited(engine, item, asked->user)) {
        outcome->answer = ANSWER_NOT_ELIGIBLE;
        return true;
    }
    if (outcome->answer != ANSWER_NONE)
        return true; /* the limit, without a ticket to show */
    if (pool_refuses(item, asked->channel, asked->quantity)) {
        outcome->answer = ANSWER_SOLD_OUT;
        outcome->free = item->free[asked->channel];
        return true;
    }
    if (must_wait(engine, command, item, allowance, outcome))
        return true;
    if (engine_full(engine)) {
        outcome->answer = ANSWER_UNAVAILABLE;
        return true;
    }
    return false;
}

struct win {
    user_id user;
    uint64_t slot; /* of what the user has of the item */
    uint64_t key;
    item_id item;
    uint32_t quantity;
    channel_index channel;
    uint64_t pay_by_ms;
};

/* Built into both callers: a win is not written down to be read again. */
static inline __attribute__((always_inline)) ticket_number win_take(
    struct engine *engine, const struct win *win)
{
    struct engine_item *item = &engine->items[win->item];
    const sale_id sale = item->sale;
    struct ticket_row row = {
        .user = win->user, .key = win->key, .channel = win->channel, .state = TICKET_HELD
    };
    ticket_terms(&row, win->item, win->quantity, win->pay_by_ms);
    const ticket_number number = tickets_add(&engine->tickets, &row);
    item->free[win->channel] -= win->quantity;
    item->held += win->quantity;
    struct buyer_row *buyer =
        buyers_at_or_add(&engine->buyers, win->slot, buyers_scope_item(win->item), win->user);
    buyer_use(buyer, win->quantity);
    buyer->last = (uint32_t)number;
    if (engine_sale_counts_users(&engine->sales[sale])) {
        buyer = buyers_find_or_add(&engine->buyers, buyers_scope_sale(sale), win->user);
        buyer_use(buyer, win->quantity);
        buyer->last = (uint32_t)number;
    }
    engine_item_recheck(item);
    return number;
}

ENGINE_APPLY(engine_apply_reserve)
{
    const struct command_reserve *asked = &command->reserve;
    struct engine_item *item = engine_item_asked(engine, asked->item, outcome);
    if (item == NULL)
        return;
    if (asked->quantity < 1 || asked->quantity > QUANTITY_MAX) {
        outcome->answer = ANSWER_BAD_QUANTITY;
        return;
    }
    if (asked->channel >= CHANNELS_MAX) {
        outcome->answer = ANSWER_BAD_CHANNEL;
        return;
    }
    const ticket_number repeated = asked->key == 0 ? 0 : tickets_find_key(&engine->tickets, asked->key);
    if (repeated != 0) {
        answer_repeated(engine, asked, repeated, outcome);
        return;
    }
    const struct allowance allowance = allowance_find(engine, item, asked->item, asked->user);
    if (purchase_refused(engine, command, item, &allowance, outcome))
        return;
    if (!engine_may(may_change, outcome))
        return;
    const struct win win = { .user = asked->user,
        .slot = allowance.item_slot,
        .key = asked->key,
        .item = asked->item,
        .quantity = asked->quantity,
        .channel = asked->channel,
        .pay_by_ms = command->time_ms
            + ((asked->flags & RESERVE_OFFER) != 0 ? asked->window_ms : item->pay_window_ms) };
    outcome->ticket = win_take(engine, &win);
    outcome->answer = ANSWER_WON;
    outcome->changed = true;
    outcome->unit_price = item->unit_price;
    outcome->pay_by_ms = win.pay_by_ms;
}

/* The table of a ticket's life: where each step leads; an empty cell is a refusal. */
static const uint8_t settle_next[4][SETTLE_STEPS] = {
    [TICKET_HELD] = { [SETTLE_SOLD] = TICKET_SOLD, [SETTLE_RETURN] = TICKET_RETURNED },
    [TICKET_SOLD] = { [SETTLE_RETURN] = TICKET_RETURNED, [SETTLE_WRITE_OFF] = TICKET_WRITTEN_OFF },
};
static const uint8_t settle_goal[SETTLE_STEPS] = {
    [SETTLE_SOLD] = TICKET_SOLD,
    [SETTLE_RETURN] = TICKET_RETURNED,
    [SETTLE_WRITE_OFF] = TICKET_WRITTEN_OFF,
};

static void units_move(
    struct engine_item *item, const struct ticket_row *ticket, uint8_t next, channel_index to)
{
    uint32_t *from = ticket->state == TICKET_HELD ? &item->held : &item->sold;
    invariant(*from >= ticket->quantity);
    *from -= ticket->quantity;
    if (next == TICKET_SOLD)
        item->sold += ticket->quantity;
    else if (next == TICKET_WRITTEN_OFF)
        item->written_off += ticket->quantity;
    else if (to == CHANNEL_SAFETY)
        item->safety += ticket->quantity;
    else
        item->free[to] += ticket->quantity;
}

/* A returned unit frees the purchase mark: the user may buy again, after the cool-down if they
 * gave it go. */
static void allowance_give_back(
    struct engine *engine, const struct ticket_row *ticket, bool let_go, uint64_t now_ms)
{
    const sale_id sale = engine->items[ticket->item].sale;
    struct buyer_row *row = buyers_find(&engine->buyers, buyers_scope_item(ticket->item), ticket->user);
    invariant(row != NULL && row->used >= ticket->quantity);
    row->used -= ticket->quantity;
    if (let_go && engine->sales[sale].cooldown_s != 0)
        engine_cool_down(engine, sale, row, now_ms);
    row = buyers_find(&engine->buyers, buyers_scope_sale(sale), ticket->user);
    if (engine_sale_counts_users(&engine->sales[sale]) && row != NULL)
        row->used -= ticket->quantity;
}

/* A user who is over a limit, has an open order, let the item go a short while ago or had this offer already
 * is passed over. */
static bool waiter_may(const struct engine *engine, const struct engine_item *item, item_id id,
    const struct waiter *waiter, uint64_t now_ms)
{
    const struct engine_sale *sale = &engine->sales[item->sale];
    struct outcome limit = { 0 };
    if (waiter->user == 0 || waiter->quantity < 1 || waiter->quantity > QUANTITY_MAX
        || engine_full(engine) || !user_is_invited(engine, item, waiter->user))
        return false;
    if (waiter->key != 0 && tickets_find_key(&engine->tickets, waiter->key) != 0)
        return false;
    const struct allowance allowance = allowance_find(engine, item, id, waiter->user);
    if (limit_refuses(item, sale, &allowance, waiter->quantity, &limit))
        return false;
    return open_order(engine, sale, &allowance) == 0
        && engine_cooling_until_ms(engine, item->sale, allowance.item_row, now_ms) == 0;
}

/* The returned units go to those in line in the same command, so that no walk-in can take them
 * between. Other free units do not: walk-ins see those already. */
static void waiters_serve(struct engine *engine, const struct command *command, item_id id,
    uint32_t returned, struct outcome *outcome)
{
    const struct command_settle *asked = &command->settle;
    const struct engine_item *item = &engine->items[id];
    if (asked->to >= CHANNELS_MAX)
        return;
    for (uint32_t i = 0; i < asked->waiter_count; i++) {
        const struct waiter *waiter = &asked->waiters[i];
        if (waiter->quantity > returned || !waiter_may(engine, item, id, waiter, command->time_ms))
            continue;
        const struct win win = { .user = waiter->user,
            .slot = buyers_slot(&engine->buyers, buyers_scope_item(id), waiter->user),
            .key = waiter->key,
            .item = id,
            .quantity = waiter->quantity,
            .channel = asked->to,
            .pay_by_ms = command->time_ms + asked->waiter_window_ms };
        const ticket_number number = win_take(engine, &win);
        returned -= waiter->quantity;
        outcome->ticket = outcome->ticket == 0 ? number : outcome->ticket;
        outcome->detail |= (uint8_t)(1u << i);
    }
    if (outcome->ticket == 0)
        return;
    outcome->unit_price = item->unit_price;
    outcome->pay_by_ms = command->time_ms + asked->waiter_window_ms;
}

/* What was forgotten was returned: only that step was taken already. */
static void settle_without_row(
    const struct engine *engine, const struct command_settle *asked, struct outcome *outcome)
{
    if (!tickets_forgotten(&engine->tickets, asked->ticket))
        outcome->answer = ANSWER_UNKNOWN_TICKET;
    else if (asked->step == SETTLE_RETURN)
        outcome->answer = ANSWER_UNCHANGED;
    else
        engine_conflict(outcome, CONFLICT_BAD_MOVE);
}

ENGINE_APPLY(engine_apply_settle)
{
    const struct command_settle *asked = &command->settle;
    struct ticket_row *ticket = tickets_get(&engine->tickets, asked->ticket);
    if (ticket == NULL) {
        settle_without_row(engine, asked, outcome);
        return;
    }
    outcome->item = ticket->item;
    outcome->user = ticket->user;
    outcome->quantity = ticket->quantity;
    if (asked->step >= SETTLE_STEPS || (asked->to >= CHANNELS_MAX && asked->to != CHANNEL_SAFETY)
        || asked->waiter_count > WAITERS_PER_RETURN || (asked->let_go && asked->step != SETTLE_RETURN)) {
        engine_conflict(outcome, CONFLICT_BAD_MOVE);
        return;
    }
    const uint8_t next = settle_next[ticket->state][asked->step];
    const bool again = ticket->state == settle_goal[asked->step];
    if (again) {
        outcome->answer = ANSWER_UNCHANGED; /* each step once */
        return;
    }
    if (next == 0) {
        engine_conflict(outcome, CONFLICT_BAD_MOVE);
        return;
    }
    if (!engine_may(may_change, outcome))
        return;
    const item_id id = ticket->item;
    const bool to_empty = asked->step == SETTLE_RETURN && asked->to < CHANNELS_MAX
        && engine->items[id].free[asked->to] == 0;
    const bool let_go = asked->let_go && ticket->state == TICKET_HELD;
    units_move(&engine->items[id], ticket, next, asked->to);
    if (asked->step == SETTLE_RETURN)
        allowance_give_back(engine, ticket, let_go, command->time_ms);
    ticket_move(ticket, next);
    outcome->applied = ticket->quantity;
    engine_item_recheck(&engine->items[id]);
    engine_done(outcome);
    if (asked->step == SETTLE_RETURN)
        waiters_serve(engine, command, id, (uint32_t)outcome->applied, outcome);
    if (to_empty && engine->items[id].free[asked->to] > 0)
        engine_return_draw_begin(engine, id, asked->to, ticket, command->time_ms);
}
