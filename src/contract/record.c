/* SPDX-License-Identifier: Apache-2.0 */
/* contract/record.c: the byte form of a logged command with its outcome.
 *
 * FORMAT (little-endian, no padding; the record's type is the command's type and travels beside
 * the payload)
 *   every one   u64 time, then
 *   RESERVE     u64 user, u64 key, u32 item, u32 quantity, u8 channel, u8 flags,
 *               u64 ticket, u64 unit price, u64 pay by                                              58 bytes
 *               and if the flags have RESERVE_OFFER: u32 window                                     62
 *   others      u8 answer (with ORIGIN_BIT: an origin follows at the end), u8 detail, then
 *   SALE        u32 sale, u32 limit, u64 start, u64 end, u8 bits: 1 eligible only, 2 one open order,
 *               4 terms of returns follow                                                           35
 *               and if they do (they are not all 0): u32 cool-down s, u32 return draw ms, u32 start
 *               draw ms                                                                             47
 *   PREHEAT     u32 item (with CHANGE_BIT: it changes the terms), u32 sale, u64 unit price, u32 limit,
 *               u32 pay window, u32 total, u32 locked,
 *               u32 sold before, u32 safety, CHANNELS_MAX × u32 units                               82
 *               and if the answer has CURRENCY_BIT: 3 letters of its currency                       85
 *   GATE        u32 sale, u8 move                                                                   15
 *   USERS       u32 sale, i32 applied, u8 count (128 is added if they are removed),
 *               count × u64 user                                                          19 + 8 × count
 *   ADJUST      u32 item, u8 channel, i32 delta, i32 applied                                        23
 *   MOVE        u32 item, u8 from, u8 to, u32 quantity, i32 applied                                 24
 *   SETTLE      u64 ticket, u8 step (128 is added if its user let it go), u8 to, u64 user, u32 item,
 *               u32 quantity, i32 applied                                                           40
 *               and with waiters: u32 window, u64 first new ticket, u64 unit price, u64 pay by,
 *               u8 count, count × (u64 user, u64 key, u32 quantity)                       69 + 20 × count
 *               detail: who of them was served, a bit each
 *   ARRIVE      u32 sale, u64 user, u32 number                                                      26
 *   ADMIT       u32 sale, u32 head asked for, u32 head                                              22
 *   RECLAIM     u64 before, u32 from, u32 rows, u32 tickets forgotten, u32 row to go on with        34
 *
 *   origin      of SALE, PREHEAT, GATE, USERS, ADJUST and MOVE, when an administrator gave the command:
 *               u64 key, u64 request, u8 size, size × u8 actor                              17 + size more
 *
 * Which outcome fields a type carries is the list above; a RESERVE is only logged when it was
 * WON, so its answer is not written. All other outcome fields must be 0 in what is logged
 * (encode insists, so that replay, which compares whole outcomes, can't be the first to find
 * out), `changed` is true. command.reserve.pending_from is not logged: decode gives UINT64_MAX,
 * nothing pending.
 *
 * Decode refuses what the engine would never have logged, and nothing else: a record that was
 * written must be readable, or the server could not start again. So a value that the engine cuts
 * down itself (a decrease beyond what is free, the quantity of a move or of a waiter) has no
 * bound here. */
#include "contract/record.h"

#include "base/bytes.h"

#include <string.h>

enum {
    HEAD_BYTES = 10, /* time, answer, detail */
    ORIGIN_BIT = 0x80,
    CURRENCY_BIT = 0x40, /* of PREHEAT */
    CURRENCY_BYTES = 3,
    ORIGIN_BYTES = 17 + ACTOR_BYTES_MAX,
    SALE_BIT_ELIGIBLE_ONLY = 1,
    SALE_BIT_ONE_OPEN_ORDER = 2,
    SALE_BIT_RETURNS = 4,
    STEP_BIT_LET_GO = 0x80,
    USERS_BIT_REMOVE = 0x80,
};
static const uint32_t CHANGE_BIT = 1u << 31; /* of the item of PREHEAT */
static_assert((int)ANSWERS <= (int)CURRENCY_BIT, "the bits are free");
static_assert(HEAD_BYTES + 9 + 8 * USERS_PER_COMMAND + ORIGIN_BYTES <= RECORD_BYTES_MAX,
    "the longest USERS record fits");
static_assert(HEAD_BYTES + 40 + 4 * CHANNELS_MAX + CURRENCY_BYTES + ORIGIN_BYTES <= RECORD_BYTES_MAX,
    "PREHEAT fits");
static_assert(HEAD_BYTES + 59 + 20 * WAITERS_PER_RETURN <= RECORD_BYTES_MAX, "the longest SETTLE fits");
static_assert(WAITERS_PER_RETURN <= 8, "outcome.detail has a bit for each");
static_assert((int)USERS_PER_COMMAND < (int)USERS_BIT_REMOVE, "the count fits its field");
static_assert(ITEMS_LIMIT <= 1 << 30, "no item has the bit");

/* ---- writing -------------------------------------------------------------------------------- */

static inline uint8_t *put_u8(uint8_t *at, uint8_t value)
{
    *at = value;
    return at + 1;
}
static inline uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    bytes_put_u32(at, value);
    return at + 4;
}
static inline uint8_t *put_u64(uint8_t *at, uint64_t value)
{
    bytes_put_u64(at, value);
    return at + 8;
}
static inline uint8_t *put_i32(uint8_t *at, int32_t value)
{
    return put_u32(at, (uint32_t)value);
}

static uint8_t *put_reserve(
    uint8_t *at, const struct command_reserve *reserve, const struct outcome *outcome)
{
    invariant(outcome->answer == ANSWER_WON && outcome->detail == 0 && outcome->applied == 0);
    invariant(outcome->user == 0 && outcome->item == 0 && outcome->quantity == 0 && outcome->number == 0);
    at = put_u64(at, reserve->user);
    at = put_u64(at, reserve->key);
    at = put_u32(at, reserve->item);
    at = put_u32(at, reserve->quantity);
    at = put_u8(at, reserve->channel);
    at = put_u8(at, reserve->flags);
    at = put_u64(at, outcome->ticket);
    at = put_u64(at, outcome->unit_price);
    at = put_u64(at, outcome->pay_by_ms);
    return (reserve->flags & RESERVE_OFFER) == 0 ? at : put_u32(at, reserve->window_ms);
}

static uint8_t *put_sale(uint8_t *at, const struct command_sale *sale)
{
    at = put_u32(at, sale->sale);
    at = put_u32(at, sale->limit_per_user);
    at = put_u64(at, sale->start_ms);
    at = put_u64(at, sale->end_ms);
    const bool returns = (sale->cooldown_s | sale->return_draw_ms | sale->start_draw_ms) != 0;
    at = put_u8(at,
        (uint8_t)((sale->eligible_only ? SALE_BIT_ELIGIBLE_ONLY : 0)
            | (sale->one_open_order ? SALE_BIT_ONE_OPEN_ORDER : 0) | (returns ? SALE_BIT_RETURNS : 0)));
    if (!returns)
        return at;
    at = put_u32(at, sale->cooldown_s);
    at = put_u32(at, sale->return_draw_ms);
    return put_u32(at, sale->start_draw_ms);
}

static uint8_t *put_preheat(uint8_t *at, const struct command_preheat *preheat)
{
    at = put_u32(at, preheat->item | (preheat->change ? CHANGE_BIT : 0));
    at = put_u32(at, preheat->sale);
    at = put_u64(at, preheat->unit_price);
    at = put_u32(at, preheat->limit_per_user);
    at = put_u32(at, preheat->pay_window_ms);
    at = put_u32(at, preheat->total);
    at = put_u32(at, preheat->locked);
    at = put_u32(at, preheat->sold_before);
    at = put_u32(at, preheat->safety);
    for (uint32_t i = 0; i < CHANNELS_MAX; i++)
        at = put_u32(at, preheat->channel_units[i]);
    if (preheat->currency[0] == 0)
        return at;
    memcpy(at, preheat->currency, CURRENCY_BYTES);
    return at + CURRENCY_BYTES;
}

static uint8_t *put_users(uint8_t *at, const struct command_users *users, const struct outcome *outcome)
{
    invariant(users->count <= USERS_PER_COMMAND);
    at = put_u32(at, users->sale);
    at = put_i32(at, outcome->applied);
    at = put_u8(at, (uint8_t)(users->count | (users->remove ? USERS_BIT_REMOVE : 0)));
    for (uint32_t i = 0; i < users->count; i++)
        at = put_u64(at, users->users[i]);
    return at;
}

static uint8_t *put_settle(uint8_t *at, const struct command_settle *settle, const struct outcome *outcome)
{
    at = put_u64(at, settle->ticket);
    at = put_u8(at, (uint8_t)(settle->step | (settle->let_go ? STEP_BIT_LET_GO : 0)));
    at = put_u8(at, settle->to);
    at = put_u64(at, outcome->user);
    at = put_u32(at, outcome->item);
    at = put_u32(at, outcome->quantity);
    at = put_i32(at, outcome->applied);
    invariant(settle->waiter_count <= WAITERS_PER_RETURN && outcome->detail >> settle->waiter_count == 0);
    if (settle->waiter_count == 0)
        return at;
    at = put_u32(at, settle->waiter_window_ms);
    at = put_u64(at, outcome->ticket);
    at = put_u64(at, outcome->unit_price);
    at = put_u64(at, outcome->pay_by_ms);
    at = put_u8(at, settle->waiter_count);
    for (uint32_t i = 0; i < settle->waiter_count; i++) {
        at = put_u64(at, settle->waiters[i].user);
        at = put_u64(at, settle->waiters[i].key);
        at = put_u32(at, settle->waiters[i].quantity);
    }
    return at;
}

static void outcome_fits_type(uint8_t type, const struct outcome *outcome)
{
    if (type == COMMAND_SETTLE) {
        invariant(outcome->number == 0);
        return;
    }
    invariant(outcome->applied == 0 || type == COMMAND_USERS || type == COMMAND_ADJUST
        || type == COMMAND_MOVE || type == COMMAND_RECLAIM);
    invariant((outcome->ticket | outcome->unit_price | outcome->pay_by_ms | outcome->user) == 0);
    invariant(outcome->quantity == 0 && outcome->item == 0);
    invariant(outcome->number == 0 || type == COMMAND_ARRIVE || type == COMMAND_ADMIT
        || type == COMMAND_RECLAIM);
}

static bool origin_is_there(const struct command *command)
{
    return command_has_origin(command->type)
        && (command->origin.key != 0 || command->origin.actor[0] != 0);
}

static uint8_t *put_origin(uint8_t *at, const struct command_origin *origin)
{
    const size_t size = strnlen(origin->actor, ACTOR_BYTES_MAX);
    invariant(origin->key != 0 || origin->request == 0);
    at = put_u64(at, origin->key);
    at = put_u64(at, origin->request);
    at = put_u8(at, (uint8_t)size);
    memcpy(at, origin->actor, size);
    return at + size;
}

uint32_t record_encode(const struct command *command, const struct outcome *outcome, uint8_t *out)
{
    uint8_t *at = put_u64(out, command->time_ms);
    invariant(outcome->changed && outcome->free == 0);
    if (command->type == COMMAND_RESERVE)
        return (uint32_t)(put_reserve(at, &command->reserve, outcome) - out);
    outcome_fits_type(command->type, outcome);
    const bool origin = origin_is_there(command);
    const bool currency = command->type == COMMAND_PREHEAT && command->preheat.currency[0] != 0;
    at = put_u8(
        at, (uint8_t)(outcome->answer | (origin ? ORIGIN_BIT : 0) | (currency ? CURRENCY_BIT : 0)));
    at = put_u8(at, outcome->detail);
    switch ((enum command_type)command->type) {
    case COMMAND_SALE:
        at = put_sale(at, &command->sale);
        break;
    case COMMAND_PREHEAT:
        at = put_preheat(at, &command->preheat);
        break;
    case COMMAND_GATE:
        at = put_u32(at, command->gate.sale);
        at = put_u8(at, command->gate.move);
        break;
    case COMMAND_USERS:
        at = put_users(at, &command->users, outcome);
        break;
    case COMMAND_ADJUST:
        at = put_u32(at, command->adjust.item);
        at = put_u8(at, command->adjust.channel);
        at = put_i32(at, command->adjust.delta);
        at = put_i32(at, outcome->applied);
        break;
    case COMMAND_MOVE:
        at = put_u32(at, command->move.item);
        at = put_u8(at, command->move.from);
        at = put_u8(at, command->move.to);
        at = put_u32(at, command->move.quantity);
        at = put_i32(at, outcome->applied);
        break;
    case COMMAND_SETTLE:
        at = put_settle(at, &command->settle, outcome);
        break;
    case COMMAND_ARRIVE:
        at = put_u32(at, command->arrive.sale);
        at = put_u64(at, command->arrive.user);
        at = put_u32(at, outcome->number);
        break;
    case COMMAND_ADMIT:
        at = put_u32(at, command->admit.sale);
        at = put_u32(at, command->admit.head);
        at = put_u32(at, outcome->number);
        break;
    case COMMAND_RECLAIM:
        at = put_u64(at, command->reclaim.before_ms);
        at = put_u32(at, command->reclaim.from);
        at = put_u32(at, command->reclaim.rows);
        at = put_i32(at, outcome->applied);
        at = put_u32(at, outcome->number);
        break;
    case COMMAND_RESERVE:
    case COMMAND_NONE:
    case COMMAND_LOGGED_COUNT:
    case COMMAND_ASK_MINE:
    case COMMAND_ASK_TICKET:
    case COMMAND_ASK_COUNTS:
    case COMMAND_ASK_SALE:
        invariant(!"a command that is not logged");
    }
    if (origin)
        at = put_origin(at, &command->origin);
    return (uint32_t)(at - out);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Reads from the front; a read past the end or a value out of range makes `bad`, which is
 * checked once at the end. */
struct input {
    const uint8_t *at;
    size_t left;
    bool bad;
};

static const uint8_t *take(struct input *in, size_t bytes)
{
    static const uint8_t nothing[8];
    if (in->left < bytes) {
        in->bad = true;
        return nothing;
    }
    const uint8_t *at = in->at;
    in->at += bytes;
    in->left -= bytes;
    return at;
}

static void require(struct input *in, bool condition)
{
    in->bad |= !condition;
}

static uint8_t take_u8(struct input *in)
{
    return *take(in, 1);
}
static uint32_t take_u32(struct input *in)
{
    return bytes_get_u32(take(in, 4));
}
static uint64_t take_u64(struct input *in)
{
    return bytes_get_u64(take(in, 8));
}

static uint64_t take_some(struct input *in) /* an id: never 0 */
{
    uint64_t value = take_u64(in);
    require(in, value != 0);
    return value;
}
static uint32_t take_id(struct input *in)
{
    uint32_t value = take_u32(in);
    require(in, value != 0);
    return value;
}
static uint32_t take_units(struct input *in)
{
    uint32_t value = take_u32(in);
    require(in, value <= UNITS_MAX);
    return value;
}
static int32_t take_change(struct input *in)
{
    int32_t value = (int32_t)take_u32(in);
    require(in, value >= -UNITS_MAX && value <= UNITS_MAX);
    return value;
}
static uint8_t take_place(struct input *in) /* a channel or the safety stock */
{
    uint8_t value = take_u8(in);
    require(in, value < CHANNELS_MAX || value == CHANNEL_SAFETY);
    return value;
}

static void take_reserve(struct input *in, struct command_reserve *reserve, struct outcome *outcome)
{
    reserve->user = take_some(in);
    reserve->key = take_u64(in);
    reserve->item = take_id(in);
    reserve->quantity = take_u32(in);
    reserve->channel = take_u8(in);
    reserve->flags = take_u8(in);
    reserve->pending_from = UINT64_MAX;
    require(in, reserve->quantity >= 1 && reserve->quantity <= QUANTITY_MAX);
    require(in, reserve->channel < CHANNELS_MAX);
    require(in, (reserve->flags & ~(RESERVE_AFTER_END | RESERVE_OFFER)) == 0);
    outcome->answer = ANSWER_WON;
    outcome->ticket = take_some(in);
    outcome->unit_price = take_u64(in);
    outcome->pay_by_ms = take_u64(in);
    if ((reserve->flags & RESERVE_OFFER) != 0)
        reserve->window_ms = take_u32(in);
}

static void take_sale(struct input *in, struct command_sale *sale)
{
    sale->sale = take_id(in);
    sale->limit_per_user = take_u32(in);
    sale->start_ms = take_u64(in);
    sale->end_ms = take_u64(in);
    const uint8_t bits = take_u8(in);
    require(in, bits <= (SALE_BIT_ELIGIBLE_ONLY | SALE_BIT_ONE_OPEN_ORDER | SALE_BIT_RETURNS));
    sale->eligible_only = (bits & SALE_BIT_ELIGIBLE_ONLY) != 0;
    sale->one_open_order = (bits & SALE_BIT_ONE_OPEN_ORDER) != 0;
    if ((bits & SALE_BIT_RETURNS) == 0)
        return;
    const uint32_t cooldown_s = take_u32(in), return_ms = take_u32(in), start_ms = take_u32(in);
    require(in, (cooldown_s | return_ms | start_ms) != 0);
    require(in, cooldown_s <= COOLDOWN_MAX_S && return_ms <= DRAW_MAX_MS && start_ms <= DRAW_MAX_MS);
    sale->cooldown_s = (uint16_t)cooldown_s;
    sale->return_draw_ms = (uint16_t)return_ms;
    sale->start_draw_ms = (uint16_t)start_ms;
}

static void take_preheat(struct input *in, struct command_preheat *preheat)
{
    const uint32_t item = take_u32(in);
    preheat->item = item & ~CHANGE_BIT;
    preheat->change = (item & CHANGE_BIT) != 0;
    require(in, preheat->item != 0);
    preheat->sale = take_id(in);
    preheat->unit_price = take_u64(in);
    preheat->limit_per_user = take_u32(in);
    preheat->pay_window_ms = take_u32(in);
    preheat->total = take_units(in);
    preheat->locked = take_units(in);
    preheat->sold_before = take_units(in);
    preheat->safety = take_units(in);
    for (uint32_t i = 0; i < CHANNELS_MAX; i++)
        preheat->channel_units[i] = take_units(in);
}

static void take_currency(struct input *in, char currency[CURRENCY_BYTES + 1])
{
    for (uint32_t i = 0; i < CURRENCY_BYTES; i++) {
        const uint8_t letter = take_u8(in);
        require(in, letter >= 'A' && letter <= 'Z');
        currency[i] = (char)letter;
    }
}

static void take_users(struct input *in, struct command_users *users, struct outcome *outcome)
{
    users->sale = take_id(in);
    outcome->applied = take_change(in);
    const uint8_t bits = take_u8(in), count = bits & (USERS_BIT_REMOVE - 1);
    users->remove = (bits & USERS_BIT_REMOVE) != 0;
    require(in, count >= 1 && count <= USERS_PER_COMMAND);
    for (uint32_t i = 0; i < count && !in->bad; i++)
        users->users[i] = take_u64(in);
    users->count = count;
}

static void take_settle(struct input *in, struct command_settle *settle, struct outcome *outcome)
{
    settle->ticket = take_some(in);
    const uint8_t step = take_u8(in);
    settle->step = step & (STEP_BIT_LET_GO - 1);
    settle->let_go = (step & STEP_BIT_LET_GO) != 0;
    settle->to = take_place(in);
    require(in, settle->step < SETTLE_STEPS);
    require(in, !settle->let_go || settle->step == SETTLE_RETURN);
    outcome->user = take_u64(in);
    outcome->item = take_u32(in);
    outcome->quantity = take_u32(in);
    outcome->applied = take_change(in);
    require(in, outcome->quantity <= QUANTITY_MAX);
    if (in->left == 0) {
        require(in, outcome->detail == 0);
        return;
    }
    settle->waiter_window_ms = take_u32(in);
    outcome->ticket = take_u64(in);
    outcome->unit_price = take_u64(in);
    outcome->pay_by_ms = take_u64(in);
    settle->waiter_count = take_u8(in);
    require(in, settle->waiter_count >= 1 && settle->waiter_count <= WAITERS_PER_RETURN);
    for (uint32_t i = 0; i < settle->waiter_count && !in->bad; i++) {
        settle->waiters[i].user = take_u64(in);
        settle->waiters[i].key = take_u64(in);
        settle->waiters[i].quantity = take_u32(in);
    }
    require(in,
        settle->waiter_count <= WAITERS_PER_RETURN && outcome->detail >> settle->waiter_count == 0);
    require(in, (outcome->ticket == 0) == (outcome->detail == 0)); /* served: there is a ticket */
}

static void take_reclaim(struct input *in, struct command *command, struct outcome *outcome)
{
    struct command_reclaim *reclaim = &command->reclaim;
    reclaim->before_ms = take_u64(in);
    reclaim->from = take_u32(in);
    reclaim->rows = take_u32(in);
    outcome->applied = (int32_t)take_u32(in);
    outcome->number = take_u32(in);
    require(in, reclaim->before_ms <= command->time_ms);
    require(in, reclaim->rows >= 1 && reclaim->rows <= RECLAIM_ROWS_MAX);
    require(in, outcome->applied >= 1 && (uint32_t)outcome->applied <= reclaim->rows);
}

static void take_origin(struct input *in, struct command *command)
{
    struct command_origin *origin = &command->origin;
    require(in, command_has_origin(command->type));
    origin->key = take_u64(in);
    origin->request = take_u64(in);
    const uint8_t size = take_u8(in);
    require(in, size <= ACTOR_BYTES_MAX && in->left == size);
    require(in, origin->key != 0 || (origin->request == 0 && size > 0));
    if (in->bad)
        return;
    memcpy(origin->actor, take(in, size), size);
    require(in, strnlen(origin->actor, size) == size);
}

static void take_by_type(struct input *in, struct command *command, struct outcome *outcome)
{
    if (command->type == COMMAND_RESERVE) {
        take_reserve(in, &command->reserve, outcome);
        return;
    }
    const uint8_t answer = take_u8(in);
    const bool origin = (answer & ORIGIN_BIT) != 0, currency = (answer & CURRENCY_BIT) != 0;
    outcome->answer = answer & (uint8_t) ~(ORIGIN_BIT | CURRENCY_BIT);
    require(in, !currency || command->type == COMMAND_PREHEAT);
    outcome->detail = take_u8(in);
    require(in, outcome->answer > ANSWER_NONE && outcome->answer < ANSWERS);
    require(in, outcome->detail < CONFLICTS || command->type == COMMAND_SETTLE);
    switch ((enum command_type)command->type) {
    case COMMAND_SALE:
        take_sale(in, &command->sale);
        break;
    case COMMAND_PREHEAT:
        take_preheat(in, &command->preheat);
        if (currency)
            take_currency(in, command->preheat.currency);
        break;
    case COMMAND_GATE:
        command->gate.sale = take_id(in);
        command->gate.move = take_u8(in);
        require(in, command->gate.move < GATE_MOVES);
        break;
    case COMMAND_USERS:
        take_users(in, &command->users, outcome);
        break;
    case COMMAND_ADJUST:
        command->adjust.item = take_id(in);
        command->adjust.channel = take_place(in);
        command->adjust.delta = (int32_t)take_u32(in);
        require(in, command->adjust.delta != 0 && command->adjust.delta <= UNITS_MAX);
        outcome->applied = take_change(in);
        break;
    case COMMAND_MOVE:
        command->move.item = take_id(in);
        command->move.from = take_place(in);
        command->move.to = take_place(in);
        command->move.quantity = take_u32(in);
        require(in, command->move.quantity >= 1);
        outcome->applied = take_change(in);
        break;
    case COMMAND_SETTLE:
        take_settle(in, &command->settle, outcome);
        break;
    case COMMAND_ARRIVE:
        command->arrive.sale = take_id(in);
        command->arrive.user = take_some(in);
        outcome->number = take_u32(in);
        break;
    case COMMAND_ADMIT:
        command->admit.sale = take_id(in);
        command->admit.head = take_u32(in);
        outcome->number = take_u32(in);
        break;
    case COMMAND_RECLAIM:
        take_reclaim(in, command, outcome);
        break;
    case COMMAND_RESERVE:
    case COMMAND_NONE:
    case COMMAND_LOGGED_COUNT:
    case COMMAND_ASK_MINE:
    case COMMAND_ASK_TICKET:
    case COMMAND_ASK_COUNTS:
    case COMMAND_ASK_SALE:
    default:
        in->bad = true;
    }
    if (origin)
        take_origin(in, command);
}

enum status record_decode(
    uint8_t type, struct span payload, struct command *command, struct outcome *outcome)
{
    struct input in = { .at = (const uint8_t *)payload.data, .left = payload.size };
    memset(command, 0, sizeof *command);
    memset(outcome, 0, sizeof *outcome);
    command->type = type;
    command->time_ms = take_u64(&in);
    take_by_type(&in, command, outcome);
    outcome->changed = true;
    return in.bad || in.left != 0 ? STATUS_CORRUPT : STATUS_OK;
}
