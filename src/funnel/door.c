/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. Questions in the order of docs/funnel.md; each is a small function that answers DOOR_GO
 * or a reason, and the first reason ends it. Cheap checks before expensive ones: the board is a
 * few loads, a token one MAC, the filter one hash. The pass comes before the sold-out flag on
 * purpose: without a pass nobody learns even that much. Users who may have bought are refused like
 * everybody, but with a note that the inventory may have an old answer: a win whose answer was
 * lost can be told again, and nothing new is won that way. */
#include "funnel/door.h"

#include "base/bytes.h"
#include "base/metrics.h"
#include "contract/board.h"
#include "contract/command.h"
#include "funnel/bans.h"
#include "funnel/drop.h"
#include "funnel/item_rules.h"
#include "funnel/limits.h"
#include "funnel/purchase_body.h"
#include "funnel/session_rules.h"
#include "funnel/spent.h"
#include "funnel/switches.h"
#include "funnel/token.h"

#define REASON_NAME(reason, label, problem, signal) [DOOR_##reason] = (label),
static const char *const reason_names[DOOR_REASONS] = { DOOR_REASON_LIST(REASON_NAME) };

#define REASON_METRIC(reason, label, problem, signal) \
    [DOOR_##reason] = METRIC_ROW(METRIC_COUNTER, "stampede_door_total", "answer=\"" label "\"", \
        "Purchases by what the door answered."),
static struct metric reason_metrics[DOOR_REASONS] = { DOOR_REASON_LIST(REASON_METRIC) };
METRIC_TABLE(reason_metrics);

const char *door_reason_name(enum door_reason reason)
{
    invariant((unsigned)reason < DOOR_REASONS);
    return reason_names[reason];
}

/* The clock that forgets the mark of a pass may be so far from ours. */
enum { MARK_MARGIN_S = 60 };

static bool channel_name_fits(struct span name)
{
    if (name.size == 0 || name.size > CHANNEL_NAME_MAX || span_equal(name, SPAN("safety")))
        return false;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return true;
}

enum status door_channels_set(struct door_channels *channels, const struct span *names, uint32_t count)
{
    *channels = (struct door_channels){ .count = 0 };
    if (count == 0 || count > CHANNELS_MAX || !span_equal(names[0], SPAN("web")))
        return STATUS_BAD_INPUT;
    for (uint32_t i = 0; i < count; i++) {
        channel_index taken;
        if (!channel_name_fits(names[i]) || door_channel_find(channels, names[i], &taken))
            return STATUS_BAD_INPUT;
        memcpy(channels->names[i].name, names[i].data, names[i].size);
        channels->names[i].size = (uint8_t)names[i].size;
        channels->count = i + 1;
    }
    return STATUS_OK;
}

enum status door_channels_read(struct door_channels *channels, struct span list)
{
    struct span names[CHANNELS_MAX];
    uint32_t count = 0;
    while (count < CHANNELS_MAX && span_take_until(&list, ',', &names[count]))
        count++;
    return list.size > 0 ? STATUS_BAD_INPUT : door_channels_set(channels, names, count);
}

struct span door_channel_name(const struct door_channels *channels, channel_index index)
{
    return span_of(channels->names[index].name, channels->names[index].size);
}

bool door_channel_find(const struct door_channels *channels, struct span name, channel_index *index)
{
    for (uint32_t i = 0; i < channels->count; i++) {
        if (span_equal(span_of(channels->names[i].name, channels->names[i].size), name)) {
            *index = (channel_index)i;
            return true;
        }
    }
    return false;
}

/* Eight characters at once: is each one visible ASCII and no quote? Looks at the top bit of each
 * byte. */
static inline bool key_word_fits(uint64_t word)
{
    const uint64_t each = 0x0101010101010101;
    uint64_t quotes = word ^ each * '"';
    uint64_t below = (word - each * '!') & ~word; /* a space or less */
    uint64_t quote = (quotes - each) & ~quotes;
    return ((word | below | (word + each) /* 127 */ | quote) & each * 0x80) == 0;
}

bool door_key_read(struct span header, struct span *key)
{
    if (header.size >= 2 && header.data[0] == '"' && header.data[header.size - 1] == '"')
        header = span_of(header.data + 1, header.size - 2);
    if (header.size == 0 || header.size > KEY_BYTES_MAX)
        return false;
    *key = header;
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= header.size; at += sizeof(uint64_t)) {
        if (!key_word_fits(bytes_get_u64(header.data + at)))
            return false;
    }
    uint64_t rest = 0x2121212121212121; /* the last few characters, filled up with '!' */
    memcpy(&rest, header.data + at, header.size - at);
    return key_word_fits(rest);
}

/* The part of board_read that every purchase needs, by the same protocol (contract/board.c). Free
 * units are read later and alone: fresher, and they need not fit the schedule. */
struct window {
    uint64_t start_ms, end_ms;
    uint32_t sale, gate, limit_per_user;
};

static bool window_read(const struct board *board, item_id id, struct window *window)
{
    if (id == 0 || id >= board->item_count)
        return false;
    const struct board_item *item = &board->items[id];
    uint32_t before = atomic_load_explicit(&item->sequence, memory_order_acquire);
    window->sale = atomic_load_explicit(&item->sale, memory_order_acquire);
    window->start_ms = atomic_load_explicit(&item->start_ms, memory_order_acquire);
    window->end_ms = atomic_load_explicit(&item->end_ms, memory_order_acquire);
    window->gate = atomic_load_explicit(&item->gate, memory_order_acquire);
    window->limit_per_user = atomic_load_explicit(&item->limit_per_user, memory_order_acquire);
    uint32_t after = atomic_load_explicit(&item->sequence, memory_order_relaxed);
    if (__builtin_expect((before & 1) != 0 || before != after, 0)) {
        struct board_update copy; /* just being written: retry with the seqlock reader */
        bool there = board_read(board, id, &copy);
        *window = (struct window){ copy.start_ms, copy.end_ms, copy.sale, (uint32_t)copy.gate,
            copy.limit_per_user };
        return there;
    }
    return window->sale != 0;
}

static enum door_reason window_ask(const struct window *item, uint64_t now_ms, struct door_result *out)
{
    if (item->gate == GATE_ENDED || now_ms >= item->end_ms)
        return DOOR_ENDED;
    if (item->gate == GATE_PAUSED)
        return DOOR_PAUSED;
    if (item->gate == GATE_SCHEDULED && now_ms < item->start_ms) {
        out->start_ms = item->start_ms;
        return DOOR_NOT_STARTED;
    }
    return DOOR_GO;
}

/* The address: is it banned, is it too fast? Its bucket is built in here. */
static inline __attribute__((flatten)) enum door_reason address_ask(
    const struct door *door, const struct door_request *in, struct door_result *out)
{
    if (__builtin_expect(ban_set_address_at(door->bans, in->client, in->now_ms), 0))
        return DOOR_BANNED;
    if (door->limits == NULL)
        return DOOR_GO;
    out->wait_ms = limits_address(door->limits, in->client, in->now_ms);
    return __builtin_expect(out->wait_ms == 0, 1) ? DOOR_GO : DOOR_TOO_FAST;
}

/* Whose session it is; 0: not a valid one. */
static __attribute__((noinline)) user_id session_ask(
    const struct door *door, struct span authorization, uint64_t now_ms)
{
    struct span token;
    struct session session;
    if (!token_bearer(authorization, &token))
        return 0;
    if (session_verify(door->keys, token, now_ms, &session) != TOKEN_OK)
        return 0;
    const bool counts = door->sessions == NULL || session_counts(door->sessions, door->bans, &session);
    return counts ? session.user : 0;
}

/* Session, if there is one, and pass: who is it? The check of the pass is built in here. */
static inline __attribute__((flatten)) enum door_reason user_ask(
    const struct door *door, const struct door_request *in, struct pass *pass)
{
    user_id user = 0;
    if (in->authorization.data != NULL && (user = session_ask(door, in->authorization, in->now_ms)) == 0)
        return DOOR_SESSION_INVALID;
    if (in->pass.data == NULL)
        return DOOR_PASS_REQUIRED;
    switch (pass_verify(door->keys, in->pass, in->now_ms, pass)) {
    case TOKEN_OK:
        break;
    case TOKEN_MALFORMED:
    case TOKEN_FORGED:
        return DOOR_PASS_INVALID;
    case TOKEN_EXPIRED:
        return DOOR_PASS_EXPIRED;
    }
    if (pass->item != in->item || (user != 0 && user != pass->user))
        return DOOR_PASS_FOREIGN;
    return DOOR_GO;
}

/* Body: how much? From where is the session's to say; a body that names another channel is refused. */
static enum door_reason wish_ask(
    const struct door *door, struct span text, channel_index channel, struct door_result *out)
{
    static const uint8_t reasons[] = {
        [BODY_MALFORMED] = DOOR_BAD_BODY,
        [BODY_BAD_QUANTITY] = DOOR_BAD_QUANTITY,
        [BODY_BAD_CHANNEL] = DOOR_BAD_CHANNEL,
    };
    channel_index named = channel;
    struct purchase_body body;
    const enum body_answer read = purchase_body_read(text, &body);
    if (read != BODY_OK)
        return (enum door_reason)reasons[read];
    out->quantity = body.quantity;
    out->channel = channel;
    if (body.channel.data != NULL
        && (!door_channel_find(door->channels, body.channel, &named) || named != channel))
        return DOOR_BAD_CHANNEL;
    return DOOR_GO;
}

static enum door_reason key_ask(struct span header, uint32_t limit_per_user, struct span *key)
{
    if (header.data == NULL)
        return limit_per_user == 1 ? DOOR_GO : DOOR_KEY_REQUIRED;
    return door_key_read(header, key) ? DOOR_GO : DOOR_BAD_KEY;
}

/* Keys need no filter of their own: the ticket that a key repeats has the same user and item. */
static bool may_know_a_win(const struct door *door, item_id item, user_id user)
{
    return board_may_have_bought(door->board, item, user);
}

static uint64_t pass_mark(const struct door *door, const struct pass *pass)
{
    const uint64_t mark =
        hash_siphash_pair(door->keys->spent, pass->user, (uint64_t)pass->item << 32 | pass->nonce);
    return mark != 0 ? mark : 1;
}

/* What stands against a pass that is not good for any purchase. Only looks, because a refusal further on
 * must not use it up. */
static __attribute__((noinline, cold)) enum door_reason pass_look(
    const struct door *door, const struct pass *pass)
{
    if (pass->repeat_only) {
        const bool room = door->rules != NULL && item_rule_of(door->rules, pass->item).waiting_room;
        return room ? DOOR_NOT_YOUR_TURN : DOOR_TOO_POPULAR;
    }
    if (!pass->once || door->shared)
        return DOOR_GO;
    invariant(door->spent != NULL);
    return spent_seen(door->spent, pass_mark(door, pass)) ? DOOR_PASS_SPENT : DOOR_GO;
}

/* Everything else is good: the pass is used up now, by one request of all that carry it. */
static __attribute__((noinline, cold)) enum door_reason pass_once_take(
    const struct door *door, const struct pass *pass, uint64_t now_ms, struct door_result *out)
{
    const uint64_t mark = pass_mark(door, pass);
    if (door->shared) {
        out->pass_mark = mark;
        out->pass_until_s = pass->expires_s;
        return DOOR_GO;
    }
    switch (spent_take(door->spent, mark, pass->expires_s, (uint32_t)(now_ms / 1000))) {
    case SPENT_FRESH:
        out->pass_mark = mark;
        return DOOR_GO;
    case SPENT_AGAIN:
        return DOOR_PASS_SPENT;
    case SPENT_FULL:
        break;
    }
    return DOOR_UNAVAILABLE;
}

void door_give_back(const struct door *door, const struct door_result *result)
{
    if (result->pass_mark != 0 && !door->shared)
        spent_give_back(door->spent, result->pass_mark);
}

bool door_asks(const struct door *door, const struct door_result *result, struct purchase_door *questions)
{
    struct limits_rates rates = { 0 };
    if (door->limits != NULL)
        limits_get(door->limits, &rates);
    const bool limited = rates.user_requests != 0 && rates.user_window_ms != 0;
    *questions = (struct purchase_door){ .mark = result->pass_mark,
        .mark_until_ms = result->pass_mark == 0 ? 0 : (result->pass_until_s + MARK_MARGIN_S) * 1000ull,
        .requests = limited ? rates.user_requests : 0,
        .window_ms = limited ? rates.user_window_ms : 0 };
    return limited || result->pass_mark != 0;
}

static bool wins_stopped(const struct board *board)
{
    return atomic_load_explicit(&board->wins_stopped, memory_order_relaxed) != WINS_RUNNING;
}

/* Some of those ahead will be refused, so a few more than the free units are let in. */
enum { NO_CHANCE_SLACK = 64 };

/* Free units first, then the queue: in this order no unit counts as taken twice (board.h). */
static enum door_reason stock_ask(const struct door *door, item_id item, struct door_result *out)
{
    const struct board_item *shown = &door->board->items[item];
    if (__builtin_expect(door->switches == NULL || !switch_sold_out(door->switches, item), 1))
        out->free = atomic_load_explicit(&shown->channel_free[out->channel], memory_order_acquire);
    if (out->free < out->quantity)
        return DOOR_SOLD_OUT;
    return board_queued(door->board, item, out->channel) >= out->free + NO_CHANCE_SLACK ? DOOR_NO_CHANCE
                                                                                        : DOOR_GO;
}

/* There are units, and everything is in order; may this one go on now? */
static enum door_reason crowd_ask(const struct door *door, const struct door_request *in,
    sale_id sale, user_id user, struct door_result *out)
{
    struct item_rule rule = { .known = true };
    if (door->rules != NULL)
        rule = item_rule_of(door->rules, in->item);
    if (!rule.known)
        return DOOR_UNAVAILABLE; /* just started: what its sale wants is not known yet */
    out->deduct_on_payment = rule.deduct_on_payment;
    if (rule.drop_percent != 0 && drop_hits(door->keys, sale, user, rule.drop_percent))
        return DOOR_TOO_POPULAR;
    if (door->limits == NULL)
        return DOOR_GO;
    if ((out->wait_ms = limits_user(door->limits, user, in->now_ms)) != 0)
        return DOOR_TOO_FAST;
    if ((out->wait_ms = limits_item(door->limits, in->item, rule.pace_per_s, in->now_ms)) != 0)
        return DOOR_TOO_POPULAR;
    if ((out->wait_ms = limits_admission(door->limits, in->now_ms)) != 0)
        return DOOR_TOO_POPULAR;
    return DOOR_GO;
}

static enum door_reason ask(
    const struct door *door, const struct door_request *in, struct door_result *out)
{
    struct window item;
    if (!window_read(door->board, in->item, &item))
        return DOOR_UNKNOWN_ITEM;
    /* Closed for purchases, but users who may have won still get their earlier answer. */
    enum door_reason closed = window_ask(&item, in->now_ms, out);
    if (closed == DOOR_GO && wins_stopped(door->board))
        closed = DOOR_UNAVAILABLE;
    if (closed == DOOR_NOT_STARTED || (closed != DOOR_GO && in->pass.data == NULL))
        return closed;

    struct pass pass = { .user = 0 };
    enum door_reason reason = address_ask(door, in, out);
    if (reason != DOOR_GO)
        return reason;
    reason = user_ask(door, in, &pass);
    const user_id user = pass.user;
    if (closed != DOOR_GO && (reason != DOOR_GO || !may_know_a_win(door, in->item, user)))
        return closed;
    if (reason != DOOR_GO)
        return reason;
    out->user = user;
    if (__builtin_expect(ban_set_user_at(door->bans, user, in->now_ms), 0))
        return DOOR_BANNED;
    /* From here on a refusal still lets an old answer be heard. */
    enum door_reason refused = closed;
    if (__builtin_expect(pass.once || pass.repeat_only, 0) && refused == DOOR_GO) {
        refused = pass_look(door, &pass);
        if (refused != DOOR_GO && !may_know_a_win(door, in->item, user))
            return refused;
    }

    if ((reason = wish_ask(door, in->body, pass.channel, out)) != DOOR_GO)
        return reason;
    struct span key = SPAN_NONE;
    if ((reason = key_ask(in->idempotency_key, item.limit_per_user, &key)) != DOOR_GO)
        return reason;

    if (refused == DOOR_GO)
        refused = stock_ask(door, in->item, out);
    if (refused == DOOR_GO)
        refused = crowd_ask(door, in, item.sale, user, out);
    if (refused == DOOR_GO && __builtin_expect(pass.once, 0))
        refused = pass_once_take(door, &pass, in->now_ms, out);
    out->repeat = refused != DOOR_GO && may_know_a_win(door, in->item, user);
    if (key.data != NULL && (refused == DOOR_GO || out->repeat))
        out->key = funnel_key_hash(door->keys, user, key);
    return refused;
}

enum door_reason funnel_door(
    const struct door *door, const struct door_request *in, struct door_result *out)
{
    *out = (struct door_result){ .reason = DOOR_GO };
    out->reason = ask(door, in, out);
    metric_add(&reason_metrics[out->reason], 1);
    invariant(out->reason != DOOR_GO || (out->user != 0 && out->quantity > 0));
    return out->reason;
}
