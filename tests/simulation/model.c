/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/model.h"
#include "tests/simulation/trace.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

void model_reset(struct model *model, uint32_t tickets_max)
{
    memset(model, 0, offsetof(struct model, tickets));
    model->tickets_max = tickets_max;
    model->buyers_max = tickets_max + tickets_max / 2 + 16;
}

/* ---- the rules: reserve ---- */

static enum answer window_rule(const struct model_sale *sale, uint64_t now_ms)
{
    if (sale->ended || now_ms >= sale->end_ms)
        return ANSWER_ENDED;
    if (now_ms < sale->start_ms && !sale->opened)
        return ANSWER_NOT_STARTED;
    return sale->paused ? ANSWER_PAUSED : ANSWER_NONE;
}

static bool over_limit(const struct model *model, user_id user, item_id item, uint32_t quantity)
{
    const struct model_item *its = &model->items[item];
    const uint32_t who = user_index(user);
    const uint32_t sale_limit = model->sales[its->sale].limit;
    return (its->limit != 0 && (uint64_t)model->used[who][item] + quantity > its->limit)
        || (sale_limit != 0 && (uint64_t)model->used_sale[who][its->sale] + quantity > sale_limit);
}

/* The user's ticket of this sale that is not paid yet, where only one may be; 0: none. */
static ticket_number open_order(const struct model *model, user_id user, sale_id sale)
{
    if (!model->sales[sale].one_open_order)
        return 0;
    ticket_number number = model->newest[user_index(user)];
    for (; number != 0; number = model->tickets[number].before) {
        const struct model_ticket *ticket = &model->tickets[number];
        if (model->items[ticket->item].sale == sale && ticket->state == TICKET_HELD)
            break;
    }
    return number;
}

static bool tables_full(const struct model *model)
{
    return model_tickets_kept(model) == model->tickets_max || model->buyers_max - model->buyers < 2;
}

static void expect_repeated(
    const struct model *model, const struct command_reserve *asked, struct outcome *out)
{
    const struct model_ticket *ticket = &model->tickets[model->key_ticket[key_index(asked->key)]];
    if (ticket->user != asked->user || ticket->item != asked->item
        || ticket->quantity != asked->quantity || ticket->channel != asked->channel) {
        out->answer = ANSWER_KEY_REUSED;
        return;
    }
    out->answer = ANSWER_REPEATED;
    out->ticket = model->key_ticket[key_index(asked->key)];
    out->item = ticket->item;
    out->quantity = ticket->quantity;
    out->unit_price = ticket->price;
    out->pay_by_ms = ticket->pay_by_ms;
}

/* Late money waits for nothing, a waiter does not draw. */
static bool expect_wait(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_reserve *asked = &command->reserve;
    const bool offer = (asked->flags & RESERVE_OFFER) != 0;
    const bool late = (asked->flags & RESERVE_AFTER_END) != 0 && !offer;
    const uint64_t cool = model_cooling_until(model, asked->user, asked->item, command->time_ms);
    const uint64_t moment =
        model_draw_moment(model, asked->user, asked->item, asked->channel, command->time_ms);
    if (late || (cool == 0 && (moment == 0 || offer)))
        return false;
    out->answer = cool != 0 ? ANSWER_COOLING_DOWN : ANSWER_NOT_YOUR_MOMENT;
    out->again_ms = cool != 0 ? cool : moment;
    return true;
}

static void expect_reserve(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_reserve *asked = &command->reserve;
    if (asked->item == 0 || asked->item >= SIM_ITEMS || model->items[asked->item].sale == 0) {
        out->answer = ANSWER_UNKNOWN_ITEM;
        return;
    }
    const struct model_item *item = &model->items[asked->item];
    const struct model_sale *sale = &model->sales[item->sale];
    const uint32_t who = user_index(asked->user);
    if (asked->quantity < 1 || asked->quantity > QUANTITY_MAX) {
        out->answer = ANSWER_BAD_QUANTITY;
        return;
    }
    if (asked->channel >= CHANNELS_MAX) {
        out->answer = ANSWER_BAD_CHANNEL;
        return;
    }
    if (asked->key != 0 && model->key_ticket[key_index(asked->key)] != 0) {
        expect_repeated(model, asked, out);
        return;
    }
    const bool over = over_limit(model, asked->user, asked->item, asked->quantity);
    const bool has = model->used[who][asked->item] > 0;
    const enum answer window =
        (asked->flags & RESERVE_AFTER_END) != 0 ? ANSWER_NONE : window_rule(sale, command->time_ms);
    if (over && has) { /* may have lost the answer: hears it whatever the window says */
        out->answer = item->limit == 1 ? ANSWER_ALREADY_BOUGHT : ANSWER_LIMIT_REACHED;
        out->ticket = model->last[who][asked->item];
    } else if (open_order(model, asked->user, item->sale) != 0) {
        out->answer = ANSWER_OPEN_ORDER;
        out->ticket = open_order(model, asked->user, item->sale);
    } else if ((asked->flags & RESERVE_REPEAT) != 0) {
        out->answer = ANSWER_NOTHING_TO_REPEAT;
    } else if (window != ANSWER_NONE) {
        out->answer = (uint8_t)window;
    } else if (sale->eligible_only && !model_invited(model, who, item->sale)) {
        out->answer = ANSWER_NOT_ELIGIBLE;
    } else if (over) {
        out->answer = ANSWER_LIMIT_REACHED;
    } else if (item->free[asked->channel] < asked->quantity) {
        out->answer = ANSWER_SOLD_OUT;
        out->free = item->free[asked->channel];
    } else if (expect_wait(model, command, out)) {
        return;
    } else if (tables_full(model)) {
        out->answer = ANSWER_UNAVAILABLE;
    } else {
        out->answer = ANSWER_WON;
        out->changed = true;
        out->ticket = model->ticket_count + 1;
        out->unit_price = item->price;
        out->pay_by_ms = command->time_ms
            + ((asked->flags & RESERVE_OFFER) != 0 ? asked->window_ms : item->pay_window_ms);
    }
}

/* ---- the rules: settle ---- */

/* The settle has been folded: what it returned is free, its giver may buy again. */
static bool waiter_served(const struct model *model, const struct waiter *waiter, item_id item,
    uint32_t returned, uint64_t now_ms)
{
    const sale_id sale = model->items[item].sale;
    if (waiter->user == 0 || waiter->quantity < 1 || waiter->quantity > returned || tables_full(model))
        return false;
    if (waiter->key != 0 && model->key_ticket[key_index(waiter->key)] != 0)
        return false;
    if (model->sales[sale].eligible_only && !model_invited(model, user_index(waiter->user), sale))
        return false;
    return !over_limit(model, waiter->user, item, waiter->quantity)
        && open_order(model, waiter->user, sale) == 0
        && model_cooling_until(model, waiter->user, item, now_ms) == 0;
}

/* Fair and slow: on a copy of the model, one after the other, in the order of the line. */
static void expect_waiters(const struct model *model, const struct command *command, struct outcome *out)
{
    static struct model copy; /* large */
    struct queue_record record = { .at.seq = model->lsn, .command = *command, .outcome = *out };
    const struct command_settle *asked = &command->settle;
    uint32_t returned = out->quantity;
    if (asked->waiter_count == 0 || asked->to >= CHANNELS_MAX)
        return;
    memcpy(&copy, model,
        offsetof(struct model, tickets) + (model->ticket_count + 1) * sizeof *model->tickets);
    model_fold_settle(&copy, &record);
    for (uint32_t i = 0; i < asked->waiter_count; i++) {
        if (!waiter_served(&copy, &asked->waiters[i], out->item, returned, command->time_ms))
            continue;
        returned -= asked->waiters[i].quantity;
        out->ticket = out->ticket == 0 ? copy.ticket_count + 1 : out->ticket;
        out->detail |= (uint8_t)(1u << i);
        out->unit_price = model->items[out->item].price;
        out->pay_by_ms = command->time_ms + asked->waiter_window_ms;
        model_fold_waiter(&copy, &record, i);
    }
}

static void expect_settle(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_settle *asked = &command->settle;
    if (asked->ticket == 0 || asked->ticket > model->ticket_count) {
        out->answer = ANSWER_UNKNOWN_TICKET;
        return;
    }
    const struct model_ticket *ticket = &model->tickets[asked->ticket];
    if (ticket->forgotten) { /* it was returned */
        const bool again = asked->step == SETTLE_RETURN;
        out->answer = again ? ANSWER_UNCHANGED : ANSWER_CONFLICT;
        out->detail = again ? CONFLICT_NONE : CONFLICT_BAD_MOVE;
        return;
    }
    out->item = ticket->item;
    out->user = ticket->user;
    out->quantity = ticket->quantity;
    out->answer = ANSWER_CONFLICT;
    out->detail = CONFLICT_BAD_MOVE;
    if (asked->step >= SETTLE_STEPS || (asked->to >= CHANNELS_MAX && asked->to != CHANNEL_SAFETY)
        || asked->waiter_count > WAITERS_PER_RETURN || (asked->let_go && asked->step != SETTLE_RETURN))
        return;
    const bool held = ticket->state == TICKET_HELD, sold = ticket->state == TICKET_SOLD;
    const bool unchanged = (asked->step == SETTLE_SOLD && sold)
        || (asked->step == SETTLE_RETURN && ticket->state == TICKET_RETURNED)
        || (asked->step == SETTLE_WRITE_OFF && ticket->state == TICKET_WRITTEN_OFF);
    const bool legal = (asked->step == SETTLE_SOLD && held)
        || (asked->step == SETTLE_RETURN && (held || sold))
        || (asked->step == SETTLE_WRITE_OFF && sold);
    if (!unchanged && !legal)
        return;
    out->answer = unchanged ? ANSWER_UNCHANGED : ANSWER_DONE;
    out->detail = 0;
    out->changed = legal;
    if (!legal)
        return;
    out->applied = (int32_t)ticket->quantity;
    if (asked->step == SETTLE_RETURN)
        expect_waiters(model, command, out);
}

/* ---- the rules: control ---- */

static void conflict(struct outcome *out, enum conflict why)
{
    out->answer = ANSWER_CONFLICT;
    out->detail = (uint8_t)why;
}

static void done(struct outcome *out, int32_t applied)
{
    out->answer = ANSWER_DONE;
    out->changed = true;
    out->applied = applied;
}

static void expect_sale(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_sale *asked = &command->sale;
    if (asked->sale == 0 || asked->sale >= SIM_SALES) {
        conflict(out, CONFLICT_FULL);
        return;
    }
    const struct model_sale *sale = &model->sales[asked->sale];
    const uint64_t now_ms = command->time_ms;
    if (asked->end_ms <= asked->start_ms || asked->cooldown_s > COOLDOWN_MAX_S
        || asked->return_draw_ms > DRAW_MAX_MS || asked->start_draw_ms > DRAW_MAX_MS) {
        conflict(out, CONFLICT_BAD_WINDOW);
    } else if (!sale->defined) {
        done(out, 0);
    } else if (sale->start_ms == asked->start_ms && sale->end_ms == asked->end_ms
        && sale->limit == asked->limit_per_user && sale->eligible_only == asked->eligible_only
        && sale->one_open_order == asked->one_open_order && sale->cooldown_s == asked->cooldown_s
        && sale->return_draw_ms == asked->return_draw_ms && sale->start_draw_ms == asked->start_draw_ms) {
        out->answer = ANSWER_UNCHANGED;
    } else if (sale->ended || now_ms >= sale->end_ms) {
        conflict(out, CONFLICT_ENDED);
    } else if (asked->start_ms != sale->start_ms && (sale->opened || now_ms >= sale->start_ms)) {
        conflict(out, CONFLICT_ALREADY_OPEN);
    } else if (sale->items > 0
        && ((asked->limit_per_user == 0) != (sale->limit == 0) || asked->limit_per_user < sale->limit
            || asked->one_open_order != sale->one_open_order)) {
        conflict(out, CONFLICT_OTHER_LIMIT);
    } else {
        done(out, 0);
    }
}

static void expect_terms(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_preheat *asked = &command->preheat;
    const struct model_item *item = &model->items[asked->item];
    const struct model_sale *sale = &model->sales[asked->sale];
    const bool deal = item->price != asked->unit_price || item->limit != asked->limit_per_user;
    if (item->sale != asked->sale)
        conflict(out, CONFLICT_NOT_PREHEATED);
    else if (!deal && item->pay_window_ms == asked->pay_window_ms)
        out->answer = ANSWER_UNCHANGED;
    else if (deal && item->held + item->sold + item->written_off != 0)
        conflict(out, CONFLICT_HAS_BUYERS);
    else if (sale->ended || command->time_ms >= sale->end_ms)
        conflict(out, CONFLICT_ENDED);
    else
        done(out, 0);
}

static void expect_preheat(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_preheat *asked = &command->preheat;
    if (asked->sale == 0 || asked->sale >= SIM_SALES || !model->sales[asked->sale].defined) {
        out->answer = ANSWER_UNKNOWN_SALE;
        return;
    }
    if (asked->item == 0 || asked->item >= SIM_ITEMS) {
        conflict(out, CONFLICT_FULL);
        return;
    }
    const struct model_item *item = &model->items[asked->item];
    const struct model_sale *sale = &model->sales[asked->sale];
    uint64_t units = (uint64_t)asked->safety + asked->locked + asked->sold_before;
    for (uint32_t i = 0; i < CHANNELS_MAX; i++)
        units += asked->channel_units[i];
    const bool same =
        item->sale == asked->sale && item->total == asked->total && item->locked == asked->locked;
    if (asked->change) {
        expect_terms(model, command, out);
        return;
    }
    if (same && item->price == asked->unit_price && item->limit == asked->limit_per_user
        && item->pay_window_ms == asked->pay_window_ms)
        out->answer = ANSWER_UNCHANGED;
    else if (item->sale != 0)
        conflict(out, same ? CONFLICT_OTHER_TERMS : CONFLICT_OTHER_TOTAL);
    else if (units != asked->total || asked->total > UNITS_MAX)
        conflict(out, CONFLICT_BAD_SPLIT);
    else if (sale->ended || command->time_ms >= sale->end_ms)
        conflict(out, CONFLICT_ENDED);
    else
        done(out, 0);
}

static void expect_gate(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_gate *asked = &command->gate;
    if (asked->sale == 0 || asked->sale >= SIM_SALES || !model->sales[asked->sale].defined) {
        out->answer = ANSWER_UNKNOWN_SALE;
        return;
    }
    const struct model_sale *sale = &model->sales[asked->sale];
    const bool past = command->time_ms >= sale->end_ms;
    bool there[GATE_MOVES];
    there[GATE_MOVE_OPEN] = sale->opened && !sale->paused && !sale->ended;
    there[GATE_MOVE_PAUSE] = sale->paused && !sale->ended;
    there[GATE_MOVE_RESUME] = !sale->paused && !sale->ended;
    there[GATE_MOVE_END] = sale->ended;
    there[GATE_MOVE_REOPEN] = !sale->ended;
    if (asked->move >= GATE_MOVES)
        conflict(out, CONFLICT_BAD_MOVE);
    else if (there[asked->move])
        out->answer = ANSWER_UNCHANGED;
    else if ((sale->ended && asked->move != GATE_MOVE_REOPEN) || (past && asked->move != GATE_MOVE_END))
        conflict(out, CONFLICT_ENDED);
    else if (asked->move == GATE_MOVE_OPEN && sale->items == 0)
        conflict(out, CONFLICT_NOT_PREHEATED);
    else if (asked->move == GATE_MOVE_OPEN && sale->paused)
        conflict(out, CONFLICT_BAD_MOVE);
    else
        done(out, 0);
}

static void expect_users(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_users *asked = &command->users;
    int32_t fresh = 0;
    if (asked->sale == 0 || asked->sale >= SIM_SALES || !model->sales[asked->sale].defined) {
        out->answer = ANSWER_UNKNOWN_SALE;
        return;
    }
    uint32_t rows = 0;
    for (uint32_t i = 0; i < asked->count; i++) {
        const uint32_t who = user_index(asked->users[i]);
        rows += !model->eligible[who][asked->sale];
        fresh += model_invited(model, who, asked->sale) == asked->remove;
    }
    if (fresh == 0)
        out->answer = ANSWER_UNCHANGED;
    else if (!asked->remove && model->buyers_max - model->buyers < rows)
        conflict(out, CONFLICT_FULL);
    else
        done(out, fresh);
}

static const uint32_t *place(const struct model_item *item, channel_index channel)
{
    return channel == CHANNEL_SAFETY ? &item->safety
        : channel < CHANNELS_MAX     ? &item->free[channel]
                                     : NULL;
}

static void expect_stock(const struct model *model, const struct command *command, struct outcome *out)
{
    const bool moves = command->type == COMMAND_MOVE;
    const item_id id = moves ? command->move.item : command->adjust.item;
    if (id == 0 || id >= SIM_ITEMS || model->items[id].sale == 0) {
        out->answer = ANSWER_UNKNOWN_ITEM;
        return;
    }
    const struct model_item *item = &model->items[id];
    const uint32_t *from = place(item, moves ? command->move.from : command->adjust.channel);
    const uint32_t *to = moves ? place(item, command->move.to) : NULL;
    if (from == NULL || (moves && (to == NULL || to == from))) {
        out->answer = ANSWER_BAD_CHANNEL;
        return;
    }
    int64_t units = moves ? (int64_t)command->move.quantity : command->adjust.delta;
    if (!moves && units > 0 && (uint64_t)item->total + (uint64_t)units > UNITS_MAX) {
        out->answer = ANSWER_BAD_QUANTITY;
        return;
    }
    if (moves && units > *from)
        units = *from; /* takes what is there */
    if (!moves && units < -(int64_t)*from)
        units = -(int64_t)*from;
    if (units == 0)
        out->answer = ANSWER_UNCHANGED;
    else
        done(out, (int32_t)units);
}

static bool room_started(const struct model_sale *sale, uint64_t now_ms)
{
    return sale->opened || now_ms >= sale->start_ms;
}

static void expect_arrive(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_arrive *asked = &command->arrive;
    const bool known = asked->sale < SIM_SALES && model->sales[asked->sale].defined;
    if (!known) {
        out->answer = ANSWER_UNKNOWN_SALE;
        return;
    }
    const struct model_sale *sale = &model->sales[asked->sale];
    const uint32_t place = model->place[user_index(asked->user)][asked->sale];
    if (place != 0) {
        out->answer = ANSWER_UNCHANGED;
        out->number = place - 1;
    } else if (sale->ended || command->time_ms >= sale->end_ms) {
        out->answer = ANSWER_ENDED;
    } else if (model->places == SIM_PLACES) {
        out->answer = ANSWER_UNAVAILABLE;
    } else {
        done(out, 0);
        out->number = sale->arrived;
    }
}

static void expect_admit(const struct model *model, const struct command *command, struct outcome *out)
{
    const struct command_admit *asked = &command->admit;
    if (asked->sale >= SIM_SALES || !model->sales[asked->sale].defined) {
        out->answer = ANSWER_UNKNOWN_SALE;
        return;
    }
    const struct model_sale *sale = &model->sales[asked->sale];
    const uint32_t head = asked->head < sale->arrived ? asked->head : sale->arrived;
    if (!room_started(sale, command->time_ms)) {
        out->answer = ANSWER_NOT_STARTED;
        return;
    }
    out->number = head > sale->head ? head : sale->head;
    if (sale->draw_done && head <= sale->head)
        out->answer = ANSWER_UNCHANGED;
    else
        done(out, 0);
}

void model_fold_room(struct model *model, const struct queue_record *record)
{
    const struct command *command = &record->command;
    const bool arrives = command->type == COMMAND_ARRIVE;
    struct model_sale *sale = &model->sales[arrives ? command->arrive.sale : command->admit.sale];
    if (!sale->draw_done && room_started(sale, command->time_ms)) {
        sale->draw_done = true;
        sale->drawn = sale->arrived;
    }
    if (arrives) {
        model->place[user_index(command->arrive.user)][command->arrive.sale] = ++sale->arrived;
        model->places++;
    } else {
        sale->head = record->outcome.number;
    }
}

void model_told_place(
    const struct model *model, const struct model_request *request, const struct outcome *told)
{
    const struct command_arrive *asked = &request->command.arrive;
    if ((told->answer == ANSWER_DONE || told->answer == ANSWER_UNCHANGED)
        && model->place[user_index(asked->user)][asked->sale] != told->number + 1)
        violation("I12 first come, first served",
            "user %" PRIu64 " was told number %u of sale %u, which the log does not say",
            asked->user, told->number, asked->sale);
}

bool model_same_outcome(const struct outcome *a, const struct outcome *b)
{
    return a->ticket == b->ticket && a->unit_price == b->unit_price && a->pay_by_ms == b->pay_by_ms
        && a->user == b->user && a->applied == b->applied && a->quantity == b->quantity
        && a->free == b->free && a->item == b->item && a->answer == b->answer
        && a->detail == b->detail && a->changed == b->changed && a->number == b->number;
}

void model_expect(const struct model *model, const struct command *command, struct outcome *outcome)
{
    *outcome = (struct outcome){ 0 };
    if (model_expect_key(model, command, outcome))
        return;
    switch ((enum command_type)command->type) {
    case COMMAND_SALE:
        expect_sale(model, command, outcome);
        break;
    case COMMAND_PREHEAT:
        expect_preheat(model, command, outcome);
        break;
    case COMMAND_GATE:
        expect_gate(model, command, outcome);
        break;
    case COMMAND_USERS:
        expect_users(model, command, outcome);
        break;
    case COMMAND_ADJUST:
    case COMMAND_MOVE:
        expect_stock(model, command, outcome);
        break;
    case COMMAND_RESERVE:
        expect_reserve(model, command, outcome);
        break;
    case COMMAND_SETTLE:
        expect_settle(model, command, outcome);
        break;
    case COMMAND_ARRIVE:
        expect_arrive(model, command, outcome);
        break;
    case COMMAND_ADMIT:
        expect_admit(model, command, outcome);
        break;
    case COMMAND_RECLAIM:
        model_expect_reclaim(model, command, outcome);
        break;
    case COMMAND_NONE:
    case COMMAND_LOGGED_COUNT:
    case COMMAND_ASK_MINE:
    case COMMAND_ASK_TICKET:
    case COMMAND_ASK_COUNTS:
    case COMMAND_ASK_SALE:
    case COMMAND_ASK_SPEND: /* of many machines only, as these: */
    case COMMAND_GIVE:
    case COMMAND_TAKE:
    case COMMAND_ARCHIVE: /* of long after, and these of restores: not in the simulator */
    case COMMAND_SKIP:
        break;
    }
}
