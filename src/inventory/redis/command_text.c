/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/command_text.c
 *
 * FORMAT: words with one blank between. Numbers are decimal. Users and keys are 16 hex digits, or 0.
 *   sale SALE LIMIT START END ELIGIBLE-ONLY ONE-OPEN-ORDER START-DRAW RETURN-DRAW COOLDOWN
 *   preheat ITEM SALE PRICE LIMIT WINDOW TOTAL LOCKED SOLD-BEFORE SAFETY UNITS… (8) CURRENCY CHANGE
 *                                                   no currency: -
 *   gate SALE MOVE                                  users SALE REMOVE COUNT USER…
 *   adjust ITEM CHANNEL DELTA GONE                  move ITEM FROM TO QUANTITY
 *   reserve USER KEY ITEM QUANTITY CHANNEL FLAGS WINDOW
 *   settle TICKET STEP TO LET-GO WINDOW COUNT (USER KEY QUANTITY)…
 *   arrive SALE USER                                admit SALE HEAD
 *   give ITEM CHANNEL QUANTITY TO NUMBER            take ITEM CHANNEL QUANTITY FROM NUMBER
 *   ask-mine ITEM USER      ask-ticket TICKET       ask-counts ITEM       ask-sale SALE
 * and the words of a purchase in a call, where the door has questions: … door MARK MARK-UNTIL REQUESTS WINDOW
 * and after sale … move, where an administrator gave the command: by KEY REQUEST [ACTOR]
 *
 * DESIGN. The words of a command stand once, in a table; writing and reading both walk it. Lists follow in
 * a pair of functions. */
#include "inventory/redis/command_text.h"

enum kind { NUMBER, SIGNED, HEX, TIME, FLAG, CURRENCY };

struct word {
    uint16_t at;   /* where it lies in struct command */
    uint8_t width; /* bytes that it has there */
    uint8_t kind;
    uint8_t times; /* so many in a row */
};
#define WORDS(member, count, the_kind) \
    { \
        .at = offsetof(struct command, member), \
        .width = sizeof(((struct command *)0)->member) / (count), .kind = (the_kind), .times = (count) \
    }
#define WORD(member, the_kind) WORDS(member, 1, the_kind)

static const struct word sale_words[] = { WORD(sale.sale, NUMBER), WORD(sale.limit_per_user, NUMBER),
    WORD(sale.start_ms, TIME), WORD(sale.end_ms, TIME), WORD(sale.eligible_only, FLAG),
    WORD(sale.one_open_order, FLAG), WORD(sale.start_draw_ms, NUMBER),
    WORD(sale.return_draw_ms, NUMBER), WORD(sale.cooldown_s, NUMBER) };
static const struct word preheat_words[] = { WORD(preheat.item, NUMBER), WORD(preheat.sale, NUMBER),
    WORD(preheat.unit_price, NUMBER), WORD(preheat.limit_per_user, NUMBER),
    WORD(preheat.pay_window_ms, NUMBER), WORD(preheat.total, NUMBER), WORD(preheat.locked, NUMBER),
    WORD(preheat.sold_before, NUMBER), WORD(preheat.safety, NUMBER),
    WORDS(preheat.channel_units, CHANNELS_MAX, NUMBER), WORD(preheat.currency, CURRENCY),
    WORD(preheat.change, FLAG) };
static const struct word gate_words[] = { WORD(gate.sale, NUMBER), WORD(gate.move, NUMBER) };
static const struct word users_words[] = { WORD(users.sale, NUMBER), WORD(users.remove, FLAG),
    WORD(users.count, NUMBER) };
static const struct word adjust_words[] = { WORD(adjust.item, NUMBER), WORD(adjust.channel, NUMBER),
    WORD(adjust.delta, SIGNED), WORD(adjust.gone, FLAG) };
static const struct word move_words[] = { WORD(move.item, NUMBER), WORD(move.from, NUMBER),
    WORD(move.to, NUMBER), WORD(move.quantity, NUMBER) };
static const struct word reserve_words[] = { WORD(reserve.user, HEX), WORD(reserve.key, HEX),
    WORD(reserve.item, NUMBER), WORD(reserve.quantity, NUMBER), WORD(reserve.channel, NUMBER),
    WORD(reserve.flags, NUMBER), WORD(reserve.window_ms, NUMBER) };
static const struct word settle_words[] = { WORD(settle.ticket, NUMBER), WORD(settle.step, NUMBER),
    WORD(settle.to, NUMBER), WORD(settle.let_go, FLAG), WORD(settle.waiter_window_ms, NUMBER),
    WORD(settle.waiter_count, NUMBER) };
static const struct word arrive_words[] = { WORD(arrive.sale, NUMBER), WORD(arrive.user, HEX) };
static const struct word admit_words[] = { WORD(admit.sale, NUMBER), WORD(admit.head, NUMBER) };
static const struct word transfer_words[] = { WORD(transfer.item, NUMBER),
    WORD(transfer.channel, NUMBER), WORD(transfer.quantity, NUMBER), WORD(transfer.shard, NUMBER),
    WORD(transfer.number, NUMBER) };
static const struct word mine_words[] = { WORD(ask.item, NUMBER), WORD(ask.user, HEX) };
static const struct word ticket_words[] = { WORD(ask.ticket, NUMBER) };
static const struct word counts_words[] = { WORD(ask.item, NUMBER) };
static const struct word terms_words[] = { WORD(ask.sale, NUMBER) };

struct shape {
    const char *name;
    const struct word *words;
    uint8_t count;
    uint8_t type; /* enum command_type */
};
#define SHAPE(the_type, the_name, table) \
    { \
        the_name, table, sizeof(table) / sizeof *(table), the_type \
    }
static const struct shape shapes[] = {
    SHAPE(COMMAND_RESERVE, "reserve", reserve_words),
    SHAPE(COMMAND_SETTLE, "settle", settle_words),
    SHAPE(COMMAND_SALE, "sale", sale_words),
    SHAPE(COMMAND_PREHEAT, "preheat", preheat_words),
    SHAPE(COMMAND_GATE, "gate", gate_words),
    SHAPE(COMMAND_USERS, "users", users_words),
    SHAPE(COMMAND_ADJUST, "adjust", adjust_words),
    SHAPE(COMMAND_MOVE, "move", move_words),
    SHAPE(COMMAND_ARRIVE, "arrive", arrive_words),
    SHAPE(COMMAND_ADMIT, "admit", admit_words),
    SHAPE(COMMAND_GIVE, "give", transfer_words),
    SHAPE(COMMAND_TAKE, "take", transfer_words),
    SHAPE(COMMAND_ASK_MINE, "ask-mine", mine_words),
    SHAPE(COMMAND_ASK_TICKET, "ask-ticket", ticket_words),
    SHAPE(COMMAND_ASK_COUNTS, "ask-counts", counts_words),
    SHAPE(COMMAND_ASK_SALE, "ask-sale", terms_words),
};

/* ---- writing -------------------------------------------------------------------------------- */

/* Members are read and written by width: little-endian, as everywhere in the program. */
static uint64_t member_get(const struct command *command, const struct word *word, uint32_t index)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)command + word->at + (size_t)index * word->width, word->width);
    return value;
}

static void hex_write(struct text *out, uint64_t value)
{
    if (value == 0)
        text_literal(out, "0");
    else
        text_hex64(out, value);
}

static void hex_word(struct text *out, uint64_t value)
{
    text_literal(out, " ");
    hex_write(out, value);
}

static void currency_write(struct text *out, const char *currency)
{
    text_string(out, currency[0] == 0 ? "-" : currency);
}

static void word_write(struct text *out, const struct command *command, const struct word *word)
{
    for (uint32_t i = 0; i < word->times; i++) {
        const uint64_t value = member_get(command, word, i);
        text_literal(out, " ");
        if (word->kind == CURRENCY)
            currency_write(out, command->preheat.currency);
        else if (word->kind == HEX)
            hex_write(out, value);
        else if (word->kind == SIGNED)
            text_i64(out, (int32_t)value);
        else
            text_u64(out, value);
    }
}

static void list_write(struct text *out, const struct command *command)
{
    for (uint32_t i = 0; command->type == COMMAND_USERS && i < command->users.count; i++)
        hex_word(out, command->users.users[i]);
    for (uint32_t i = 0; command->type == COMMAND_SETTLE && i < command->settle.waiter_count; i++) {
        const struct waiter *waiter = &command->settle.waiters[i];
        hex_word(out, waiter->user);
        hex_word(out, waiter->key);
        text_literal(out, " ");
        text_u64(out, waiter->quantity);
    }
}

static void origin_write(struct text *out, const struct command_origin *origin)
{
    if (origin->key == 0 && origin->actor[0] == 0)
        return;
    text_literal(out, " by ");
    hex_write(out, origin->key);
    text_literal(out, " ");
    hex_write(out, origin->request);
    if (origin->actor[0] != 0) {
        text_literal(out, " ");
        text_string(out, origin->actor);
    }
}

static bool is_one_word(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

static bool currency_is_good(struct span currency)
{
    for (size_t i = 0; i < currency.size; i++)
        if (currency.data[i] < 'A' || currency.data[i] > 'Z')
            return false;
    return currency.size == 0 || currency.size == sizeof((struct command_preheat *)0)->currency - 1;
}

static bool command_fits(const struct command *command)
{
    const struct command_preheat *preheat = &command->preheat;
    const struct command_origin *origin = &command->origin;
    const size_t actor_bytes = strnlen(origin->actor, sizeof origin->actor);
    if (command_has_origin(command->type)
        && (actor_bytes > ACTOR_BYTES_MAX || !is_one_word(origin->actor, actor_bytes)))
        return false;
    if (command->type == COMMAND_PREHEAT)
        return currency_is_good(
            span_of(preheat->currency, strnlen(preheat->currency, sizeof preheat->currency)));
    if (command->type == COMMAND_SALE)
        return command->sale.start_ms <= COMMAND_TEXT_TIME_MAX
            && command->sale.end_ms <= COMMAND_TEXT_TIME_MAX;
    return (command->type != COMMAND_USERS || command->users.count <= USERS_PER_COMMAND)
        && (command->type != COMMAND_SETTLE || command->settle.waiter_count <= WAITERS_PER_RETURN);
}

enum status command_text_write(struct text *out, const struct command *command)
{
    const struct shape *shape = NULL;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && shape == NULL; i++)
        shape = shapes[i].type == command->type ? &shapes[i] : NULL;
    if (shape == NULL || !command_fits(command))
        return STATUS_BAD_INPUT;
    text_string(out, shape->name);
    for (uint32_t i = 0; i < shape->count; i++)
        word_write(out, command, &shape->words[i]);
    list_write(out, command);
    if (command_has_origin(command->type))
        origin_write(out, &command->origin);
    return out->overflow ? STATUS_FULL : STATUS_OK;
}

enum status purchase_text_write(struct text *out, const struct command *command,
    const struct purchase_door *door, struct span words[PURCHASE_WORDS])
{
    struct span name, text = text_span(out);
    const size_t before = text.size;
    if (command->type != COMMAND_RESERVE
        || (door != NULL
            && (door->mark_until_ms > COMMAND_TEXT_TIME_MAX || door->requests > SCRIPT_REQUESTS_MAX)))
        return STATUS_BAD_INPUT;
    const enum status status = command_text_write(out, command);
    if (status != STATUS_OK)
        return status;
    if (door != NULL) {
        text_literal(out, " door");
        hex_word(out, door->mark);
        const uint64_t numbers[] = { door->mark_until_ms, door->requests, door->window_ms };
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            text_literal(out, " ");
            text_u64(out, numbers[i]);
        }
    }
    if (out->overflow)
        return STATUS_FULL;
    text = text_span(out);
    words[2] = span_of(text.data + before, text.size - before);
    invariant(span_take_until(&words[2], ' ', &name) && span_take_until(&words[2], ' ', &words[0])
        && span_take_until(&words[2], ' ', &words[1]));
    return STATUS_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool hex_read(struct span word, uint64_t *value)
{
    *value = 0;
    return span_equal(word, SPAN("0")) || (span_to_hex64(word, value) == STATUS_OK && *value != 0);
}

static bool hex_take(struct span *text, uint64_t *value)
{
    struct span word;
    return span_take_until(text, ' ', &word) && hex_read(word, value);
}

static bool number_fits(const struct word *word, uint64_t value)
{
    const uint64_t most = word->kind == FLAG ? 1
        : word->kind == TIME                 ? COMMAND_TEXT_TIME_MAX
                                             : UINT64_MAX >> (64 - 8 * word->width);
    return value <= most;
}

static bool value_read(struct span text, const struct word *word, uint64_t *value)
{
    int64_t number = 0;
    if (word->kind == HEX)
        return hex_read(text, value);
    if (word->kind != SIGNED)
        return span_to_u64(text, value) == STATUS_OK && number_fits(word, *value);
    const bool good =
        span_to_i64(text, &number) == STATUS_OK && number >= INT32_MIN && number <= INT32_MAX;
    *value = (uint64_t)number;
    return good;
}

static bool currency_read(struct span text, char *currency)
{
    if (span_equal(text, SPAN("-")))
        return true;
    if (text.size == 0 || !currency_is_good(text))
        return false;
    memcpy(currency, text.data, text.size);
    return true;
}

static bool word_read(struct span *text, const struct word *word, struct command *command)
{
    for (uint32_t i = 0; i < word->times; i++) {
        struct span part;
        uint64_t value = 0;
        if (!span_take_until(text, ' ', &part))
            return false;
        if (word->kind == CURRENCY) {
            if (!currency_read(part, command->preheat.currency))
                return false;
            continue;
        }
        if (!value_read(part, word, &value))
            return false;
        memcpy((char *)command + word->at + (size_t)i * word->width, &value, word->width);
    }
    return true;
}

static bool users_read(struct span *text, struct command_users *users)
{
    bool good = users->count <= USERS_PER_COMMAND;
    for (uint32_t i = 0; i < users->count && good; i++)
        good = hex_take(text, &users->users[i]);
    return good;
}

static bool waiters_read(struct span *text, struct command_settle *settle)
{
    bool good = settle->waiter_count <= WAITERS_PER_RETURN;
    for (uint32_t i = 0; i < settle->waiter_count && good; i++) {
        struct span word;
        uint64_t user = 0, key = 0;
        good = hex_take(text, &user) && hex_take(text, &key) && span_take_until(text, ' ', &word)
            && span_to_u32(word, &settle->waiters[i].quantity) == STATUS_OK;
        settle->waiters[i].user = user;
        settle->waiters[i].key = key;
    }
    return good;
}

static bool origin_read(struct span text, struct command_origin *origin)
{
    struct span word;
    if (text.size == 0)
        return true;
    if (!span_take_until(&text, ' ', &word) || !span_equal(word, SPAN("by")))
        return false;
    if (!hex_take(&text, &origin->key) || !hex_take(&text, &origin->request)
        || text.size > ACTOR_BYTES_MAX || !is_one_word(text.data, text.size))
        return false;
    if (text.size > 0)
        memcpy(origin->actor, text.data, text.size);
    return origin->key != 0 || text.size > 0;
}

enum status command_text_read(struct span text, struct command *command)
{
    const struct shape *shape = NULL;
    struct span word;
    memset(command, 0, sizeof *command);
    if (text.size == 0 || text.data[text.size - 1] == ' ' || !span_take_until(&text, ' ', &word))
        return STATUS_CORRUPT;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && shape == NULL; i++)
        shape = span_equal(word, span_from_string(shapes[i].name)) ? &shapes[i] : NULL;
    if (shape == NULL)
        return STATUS_CORRUPT;
    command->type = shape->type;
    for (uint32_t i = 0; i < shape->count; i++)
        if (!word_read(&text, &shape->words[i], command))
            return STATUS_CORRUPT;
    if (command->type == COMMAND_RESERVE)
        command->reserve.pending_from = UINT64_MAX;
    bool good = (command->type != COMMAND_USERS || users_read(&text, &command->users))
        && (command->type != COMMAND_SETTLE || waiters_read(&text, &command->settle));
    good = good
        && (command_has_origin(command->type) ? origin_read(text, &command->origin) : text.size == 0);
    return good ? STATUS_OK : STATUS_CORRUPT;
}
