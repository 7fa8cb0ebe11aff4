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
 *   ADJUST      u32 item (its highest bit: what is taken is gone), u8 channel, i32 delta,
 *               i32 applied                                                                         23
 *   MOVE        u32 item, u8 from, u8 to, u32 quantity, i32 applied                                 24
 *   SETTLE      u64 ticket, u8 step (128 is added if its user let it go), u8 to, u64 user, u32 item,
 *               u32 quantity, i32 applied                                                           40
 *               and with waiters: u32 window, u64 first new ticket, u64 unit price, u64 pay by,
 *               u8 count, count × (u64 user, u64 key, u32 quantity)                       69 + 20 × count
 *               detail: which of them were served, a bit each
 *   ARRIVE      u32 sale, u64 user, u32 number                                                      26
 *   ADMIT       u32 sale, u32 head asked for, u32 head                                              22
 *   RECLAIM     u64 before, u32 from, u32 rows, u32 tickets forgotten, u32 row to go on with        34
 *   ARCHIVE     u32 sale, u8 table, u32 from, u32 rows, u32 rows forgotten, u32 row to go on with    31
 *   SKIP        u32 number, u32 numbers left out                                                    18
 *   GIVE, TAKE  u32 item, u8 channel, u32 quantity, u8 shard, u32 number, i32 applied               28
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
 * bound here.
 *
 * DESIGN. A type's fields stand once, in a table in the order of the bytes; writing and reading both
 * walk it. What a table can't say (lists, what may be missing) follows in a pair of functions. RESERVE
 * is the exception: it is written for each win, so it is written out. */
#include "contract/record.h"

#include "contract/record_fields.h"

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
};
static_assert((int)ANSWERS <= (int)CURRENCY_BIT, "the bits are free");
static_assert(HEAD_BYTES + 9 + 8 * USERS_PER_COMMAND + ORIGIN_BYTES <= RECORD_BYTES_MAX,
    "the longest USERS record fits");
static_assert(HEAD_BYTES + 40 + 4 * CHANNELS_MAX + CURRENCY_BYTES + ORIGIN_BYTES <= RECORD_BYTES_MAX,
    "PREHEAT fits");
static_assert(HEAD_BYTES + 59 + 20 * WAITERS_PER_RETURN <= RECORD_BYTES_MAX, "the longest SETTLE fits");
static_assert(WAITERS_PER_RETURN <= 8, "outcome.detail has a bit for each");
static_assert(USERS_PER_COMMAND < 1 << 7 && SETTLE_STEPS < 1 << 7 && ITEMS_LIMIT <= 1 << 30,
    "the highest bit of a FLAGGED field is free");

/* ---- the tables ----------------------------------------------------------------------------- */

static const struct record_field sale_fields[] = {
    COMMAND(4, sale.sale, SOME),
    COMMAND(4, sale.limit_per_user, ANY),
    COMMAND(8, sale.start_ms, ANY),
    COMMAND(8, sale.end_ms, ANY),
};
static const struct record_field sale_returns[] = {
    COMMAND(4, sale.cooldown_s, COOLDOWN),
    COMMAND(4, sale.return_draw_ms, DRAW),
    COMMAND(4, sale.start_draw_ms, DRAW),
};
static const struct record_field preheat_fields[] = {
    FLAGGED(4, preheat.item, preheat.change, SOME),
    COMMAND(4, preheat.sale, SOME),
    COMMAND(8, preheat.unit_price, ANY),
    COMMAND(4, preheat.limit_per_user, ANY),
    COMMAND(4, preheat.pay_window_ms, ANY),
    COMMAND(4, preheat.total, UNITS),
    COMMAND(4, preheat.locked, UNITS),
    COMMAND(4, preheat.sold_before, UNITS),
    COMMAND(4, preheat.safety, UNITS),
    COMMANDS(4, preheat.channel_units, CHANNELS_MAX, UNITS),
};
static const struct record_field gate_fields[] = {
    COMMAND(4, gate.sale, SOME),
    COMMAND(1, gate.move, GATE_MOVE),
};
static const struct record_field users_fields[] = {
    COMMAND(4, users.sale, SOME),
    OUTCOME(4, applied, CHANGE),
    FLAGGED(1, users.count, users.remove, USERS),
};
static const struct record_field adjust_fields[] = {
    FLAGGED(4, adjust.item, adjust.gone, SOME),
    COMMAND(1, adjust.channel, PLACE),
    COMMAND(4, adjust.delta, DELTA),
    OUTCOME(4, applied, CHANGE),
};
static const struct record_field move_fields[] = {
    COMMAND(4, move.item, SOME),
    COMMAND(1, move.from, PLACE),
    COMMAND(1, move.to, PLACE),
    COMMAND(4, move.quantity, SOME),
    OUTCOME(4, applied, CHANGE),
};
static const struct record_field settle_fields[] = {
    COMMAND(8, settle.ticket, SOME),
    FLAGGED(1, settle.step, settle.let_go, STEP),
    COMMAND(1, settle.to, PLACE),
    OUTCOME(8, user, ANY),
    OUTCOME(4, item, ANY),
    OUTCOME(4, quantity, QUANTITY),
    OUTCOME(4, applied, CHANGE),
};
static const struct record_field settle_waiters[] = {
    COMMAND(4, settle.waiter_window_ms, ANY),
    OUTCOME(8, ticket, ANY),
    OUTCOME(8, unit_price, ANY),
    OUTCOME(8, pay_by_ms, ANY),
    COMMAND(1, settle.waiter_count, WAITERS),
};
static const struct record_field arrive_fields[] = {
    COMMAND(4, arrive.sale, SOME),
    COMMAND(8, arrive.user, SOME),
    OUTCOME(4, number, ANY),
};
static const struct record_field admit_fields[] = {
    COMMAND(4, admit.sale, SOME),
    COMMAND(4, admit.head, ANY),
    OUTCOME(4, number, ANY),
};
static const struct record_field reclaim_fields[] = {
    COMMAND(8, reclaim.before_ms, ANY),
    COMMAND(4, reclaim.from, ANY),
    COMMAND(4, reclaim.rows, ROWS),
    OUTCOME(4, applied, ANY),
    OUTCOME(4, number, ANY),
};
static const struct record_field archive_fields[] = {
    COMMAND(4, archive.sale, SOME),
    COMMAND(1, archive.table, TABLE),
    COMMAND(4, archive.from, ANY),
    COMMAND(4, archive.rows, ROWS),
    OUTCOME(4, applied, ANY),
    OUTCOME(4, number, ANY),
};
static const struct record_field skip_fields[] = {
    COMMAND(4, skip.to, SOME),
    OUTCOME(4, applied, ANY),
};
static const struct record_field transfer_fields[] = {
    COMMAND(4, transfer.item, SOME),
    COMMAND(1, transfer.channel, PLACE),
    COMMAND(4, transfer.quantity, SOME),
    COMMAND(1, transfer.shard, SHARD),
    COMMAND(4, transfer.number, SOME),
    OUTCOME(4, applied, UNITS),
};

/* ---- writing -------------------------------------------------------------------------------- */

static uint8_t *put_reserve(
    uint8_t *at, const struct command_reserve *reserve, const struct outcome *outcome)
{
    invariant(outcome->answer == ANSWER_WON
        && (outcome->user | (uint32_t)outcome->applied | outcome->item | outcome->quantity
               | outcome->number | outcome->detail)
            == 0);
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

static uint8_t *put_sale(uint8_t *at, const struct command *command, const struct outcome *outcome)
{
    const struct command_sale *sale = &command->sale;
    const bool returns = (sale->cooldown_s | sale->return_draw_ms | sale->start_draw_ms) != 0;
    at = put_u8(at,
        (uint8_t)((sale->eligible_only ? SALE_BIT_ELIGIBLE_ONLY : 0)
            | (sale->one_open_order ? SALE_BIT_ONE_OPEN_ORDER : 0) | (returns ? SALE_BIT_RETURNS : 0)));
    return returns ? RECORD_PUT(at, sale_returns, command, outcome) : at;
}

static uint8_t *put_users(uint8_t *at, const struct command *command, const struct outcome *outcome)
{
    (void)outcome;
    invariant(command->users.count <= USERS_PER_COMMAND);
    for (uint32_t i = 0; i < command->users.count; i++)
        at = put_u64(at, command->users.users[i]);
    return at;
}

static uint8_t *put_settle(uint8_t *at, const struct command *command, const struct outcome *outcome)
{
    const struct command_settle *settle = &command->settle;
    invariant(settle->waiter_count <= WAITERS_PER_RETURN && outcome->detail >> settle->waiter_count == 0);
    if (settle->waiter_count == 0)
        return at;
    at = RECORD_PUT(at, settle_waiters, command, outcome);
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
        || type == COMMAND_MOVE || type == COMMAND_RECLAIM || type == COMMAND_GIVE
        || type == COMMAND_TAKE || type == COMMAND_ARCHIVE || type == COMMAND_SKIP);
    invariant((outcome->ticket | outcome->unit_price | outcome->pay_by_ms | outcome->user) == 0);
    invariant(outcome->quantity == 0 && outcome->item == 0);
    invariant(outcome->number == 0 || type == COMMAND_ARRIVE || type == COMMAND_ADMIT
        || type == COMMAND_RECLAIM || type == COMMAND_ARCHIVE);
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

/* ---- reading -------------------------------------------------------------------------------- */

static void take_reserve(struct record_input *in, struct command_reserve *reserve, struct outcome *outcome)
{
    reserve->user = take_u64(in);
    reserve->key = take_u64(in);
    reserve->item = take_u32(in);
    reserve->quantity = take_u32(in);
    reserve->channel = take_u8(in);
    reserve->flags = take_u8(in);
    reserve->pending_from = UINT64_MAX;
    require(in, reserve->user != 0 && reserve->item != 0);
    require(in, reserve->quantity >= 1 && reserve->quantity <= QUANTITY_MAX);
    require(in, reserve->channel < CHANNELS_MAX);
    require(in, (reserve->flags & ~(RESERVE_AFTER_END | RESERVE_OFFER)) == 0);
    outcome->answer = ANSWER_WON;
    outcome->ticket = take_u64(in);
    outcome->unit_price = take_u64(in);
    outcome->pay_by_ms = take_u64(in);
    require(in, outcome->ticket != 0);
    if ((reserve->flags & RESERVE_OFFER) != 0)
        reserve->window_ms = take_u32(in);
}

static void take_sale(struct record_input *in, struct command *command, struct outcome *outcome)
{
    struct command_sale *sale = &command->sale;
    const uint8_t bits = take_u8(in);
    require(in, bits <= (SALE_BIT_ELIGIBLE_ONLY | SALE_BIT_ONE_OPEN_ORDER | SALE_BIT_RETURNS));
    sale->eligible_only = (bits & SALE_BIT_ELIGIBLE_ONLY) != 0;
    sale->one_open_order = (bits & SALE_BIT_ONE_OPEN_ORDER) != 0;
    if ((bits & SALE_BIT_RETURNS) == 0)
        return;
    RECORD_TAKE(in, sale_returns, command, outcome);
    require(in, (sale->cooldown_s | sale->return_draw_ms | sale->start_draw_ms) != 0);
}

static void take_users(struct record_input *in, struct command *command, struct outcome *outcome)
{
    (void)outcome;
    for (uint32_t i = 0; i < command->users.count && !in->bad; i++)
        command->users.users[i] = take_u64(in);
}

static void take_settle(struct record_input *in, struct command *command, struct outcome *outcome)
{
    struct command_settle *settle = &command->settle;
    require(in, !settle->let_go || settle->step == SETTLE_RETURN);
    if (in->left == 0) {
        require(in, outcome->detail == 0);
        return;
    }
    RECORD_TAKE(in, settle_waiters, command, outcome);
    for (uint32_t i = 0; i < settle->waiter_count && !in->bad; i++) {
        settle->waiters[i].user = take_u64(in);
        settle->waiters[i].key = take_u64(in);
        settle->waiters[i].quantity = take_u32(in);
    }
    require(in,
        settle->waiter_count <= WAITERS_PER_RETURN && outcome->detail >> settle->waiter_count == 0);
    require(in, (outcome->ticket == 0) == (outcome->detail == 0)); /* served: there is a ticket */
}

static void take_reclaim(struct record_input *in, struct command *command, struct outcome *outcome)
{
    require(in, command->reclaim.before_ms <= command->time_ms);
    require(in, outcome->applied >= 1 && (uint32_t)outcome->applied <= command->reclaim.rows);
}

static void take_archive(struct record_input *in, struct command *command, struct outcome *outcome)
{
    require(in, outcome->applied >= 1 && (uint32_t)outcome->applied <= command->archive.rows);
}

static void take_skip(struct record_input *in, struct command *command, struct outcome *outcome)
{
    require(in, outcome->applied >= 1 && (uint32_t)outcome->applied <= command->skip.to);
}

static void take_transfer(struct record_input *in, struct command *command, struct outcome *outcome)
{
    require(in, outcome->applied > 0 && (uint32_t)outcome->applied <= command->transfer.quantity);
}

static void take_currency(struct record_input *in, char currency[CURRENCY_BYTES + 1])
{
    for (uint32_t i = 0; i < CURRENCY_BYTES; i++) {
        const uint8_t letter = take_u8(in);
        require(in, letter >= 'A' && letter <= 'Z');
        currency[i] = (char)letter;
    }
}

static void take_origin(struct record_input *in, struct command *command)
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
    memcpy(origin->actor, record_take(in, size), size);
    require(in, strnlen(origin->actor, size) == size);
}

/* ---- the whole record ----------------------------------------------------------------------- */

static const struct shape {
    const struct record_field *fields;
    size_t count;
    /* What follows the fields, if anything does. */
    uint8_t *(*put)(uint8_t *at, const struct command *command, const struct outcome *outcome);
    void (*take)(struct record_input *in, struct command *command, struct outcome *outcome);
} shapes[] = {
    [COMMAND_SALE] = { sale_fields, RECORD_FIELDS(sale_fields), put_sale, take_sale },
    [COMMAND_PREHEAT] = { preheat_fields, RECORD_FIELDS(preheat_fields), NULL, NULL },
    [COMMAND_GATE] = { gate_fields, RECORD_FIELDS(gate_fields), NULL, NULL },
    [COMMAND_USERS] = { users_fields, RECORD_FIELDS(users_fields), put_users, take_users },
    [COMMAND_ADJUST] = { adjust_fields, RECORD_FIELDS(adjust_fields), NULL, NULL },
    [COMMAND_MOVE] = { move_fields, RECORD_FIELDS(move_fields), NULL, NULL },
    [COMMAND_SETTLE] = { settle_fields, RECORD_FIELDS(settle_fields), put_settle, take_settle },
    [COMMAND_ARRIVE] = { arrive_fields, RECORD_FIELDS(arrive_fields), NULL, NULL },
    [COMMAND_ADMIT] = { admit_fields, RECORD_FIELDS(admit_fields), NULL, NULL },
    [COMMAND_RECLAIM] = { reclaim_fields, RECORD_FIELDS(reclaim_fields), NULL, take_reclaim },
    [COMMAND_GIVE] = { transfer_fields, RECORD_FIELDS(transfer_fields), NULL, take_transfer },
    [COMMAND_TAKE] = { transfer_fields, RECORD_FIELDS(transfer_fields), NULL, take_transfer },
    [COMMAND_ARCHIVE] = { archive_fields, RECORD_FIELDS(archive_fields), NULL, take_archive },
    [COMMAND_SKIP] = { skip_fields, RECORD_FIELDS(skip_fields), NULL, take_skip },
};
static_assert(RECORD_FIELDS(shapes) == COMMAND_LOGGED_COUNT, "each type that is logged has its shape");

/* NULL: no such record, or a RESERVE. */
static const struct shape *shape_of(uint8_t type)
{
    return type < RECORD_FIELDS(shapes) && shapes[type].fields != NULL ? &shapes[type] : NULL;
}

/* All but a RESERVE, from its answer on. */
static __attribute__((noinline)) uint8_t *put_shaped(
    uint8_t *at, const struct command *command, const struct outcome *outcome)
{
    const struct shape *shape = shape_of(command->type);
    invariant(shape != NULL); /* else the command is not one that is logged */
    outcome_fits_type(command->type, outcome);
    const bool origin = origin_is_there(command);
    const bool currency = command->type == COMMAND_PREHEAT && command->preheat.currency[0] != 0;
    at = put_u8(
        at, (uint8_t)(outcome->answer | (origin ? ORIGIN_BIT : 0) | (currency ? CURRENCY_BIT : 0)));
    at = put_u8(at, outcome->detail);
    at = record_put_fields(at, shape->fields, shape->count, command, outcome);
    if (shape->put != NULL)
        at = shape->put(at, command, outcome);
    if (currency) {
        memcpy(at, command->preheat.currency, CURRENCY_BYTES);
        at += CURRENCY_BYTES;
    }
    return origin ? put_origin(at, &command->origin) : at;
}

uint32_t record_encode(const struct command *command, const struct outcome *outcome, uint8_t *out)
{
    uint8_t *at = put_u64(out, command->time_ms);
    invariant(outcome->changed && outcome->free == 0);
    at = command->type == COMMAND_RESERVE ? put_reserve(at, &command->reserve, outcome)
                                          : put_shaped(at, command, outcome);
    return (uint32_t)(at - out);
}

static void take_by_type(struct record_input *in, struct command *command, struct outcome *outcome)
{
    if (command->type == COMMAND_RESERVE) {
        take_reserve(in, &command->reserve, outcome);
        return;
    }
    const struct shape *shape = shape_of(command->type);
    if (shape == NULL) {
        in->bad = true;
        return;
    }
    const uint8_t answer = take_u8(in);
    const bool origin = (answer & ORIGIN_BIT) != 0, currency = (answer & CURRENCY_BIT) != 0;
    outcome->answer = answer & (uint8_t) ~(ORIGIN_BIT | CURRENCY_BIT);
    require(in, !currency || command->type == COMMAND_PREHEAT);
    outcome->detail = take_u8(in);
    require(in, outcome->answer > ANSWER_NONE && outcome->answer < ANSWERS_LOGGED);
    require(in, outcome->detail < CONFLICTS || command->type == COMMAND_SETTLE);
    record_take_fields(in, shape->fields, shape->count, command, outcome);
    if (shape->take != NULL)
        shape->take(in, command, outcome);
    if (currency)
        take_currency(in, command->preheat.currency);
    if (origin)
        take_origin(in, command);
}

enum status record_decode(
    uint8_t type, struct span payload, struct command *command, struct outcome *outcome)
{
    struct record_input in = { .at = (const uint8_t *)payload.data, .left = payload.size };
    memset(command, 0, sizeof *command);
    memset(outcome, 0, sizeof *outcome);
    command->type = type;
    command->time_ms = take_u64(&in);
    take_by_type(&in, command, outcome);
    outcome->changed = true;
    return in.bad || in.left != 0 ? STATUS_CORRUPT : STATUS_OK;
}
