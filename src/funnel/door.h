/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/door.h: the cheap questions that a purchase must answer before it may bother the
 * inventory. The order is fixed (docs/funnel.md): item, window, wins stopped, ban and rate of the
 * address, session, pass (used once?), ban of the user, body, key, sold out, no chance, early drop,
 * rate of the user, pace of the item, admission. A refusal changes nothing, but rates count it. What
 * goes through is asked again by the inventory, which alone decides. Who may have bought already
 * (buyer filter) is never refused from the sold-out flag on, nor by a sale that has ended or pauses:
 * the inventory knows the ticket and must get the chance to tell it.
 * Thread: any, with keys of its own (funnel/keys.h). Memory: none; no locks. */
#ifndef STAMPEDE_FUNNEL_DOOR_H
#define STAMPEDE_FUNNEL_DOOR_H

#include "base/span.h"
#include "contract/types.h"

struct address;
struct ban_set;
struct board;
struct funnel_keys;
struct item_rules;
struct limits;
struct session_rules;
struct spent;
struct switches;

/* What the door answers, a row each: name; label in stampede_door_total and in reports; the problem
 * that the client is told (PROBLEM_…, api/problems.h); how the anomaly rules count it (WATCH_…,
 * funnel/anomaly/watch.h). Whoever needs one of these facts takes it from here, so that a new reason
 * is one row. A sold-out refusal counts as nothing: that is what a crowd gets. */
#define DOOR_REASON_LIST(X) \
    /* to the inventory */ \
    X(GO, "go", NONE, ASKED) \
    /* no such item, or not preheated */ \
    X(UNKNOWN_ITEM, "unknown-item", UNKNOWN_ITEM, NOTHING) \
    /* with start_ms */ \
    X(NOT_STARTED, "not-started", NOT_STARTED, ASKED) \
    X(ENDED, "ended", ENDED, NOTHING) \
    X(PAUSED, "paused", PAUSED, NOTHING) \
    /* wins are stopped, see board.wins_stopped */ \
    X(UNAVAILABLE, "unavailable", UNAVAILABLE, NOTHING) \
    /* the address or the user */ \
    X(BANNED, "banned", BANNED, NOTHING) \
    /* the address or the user; with wait_ms */ \
    X(TOO_FAST, "too-fast", TOO_FAST, TOO_FAST) \
    /* Authorization is there but is no valid session */ \
    X(SESSION_INVALID, "session-invalid", SESSION_INVALID, FAILED) \
    X(PASS_REQUIRED, "pass-required", PASS_REQUIRED, NOTHING) \
    /* malformed or forged */ \
    X(PASS_INVALID, "pass-invalid", PASS_INVALID, FAILED) \
    /* once is a slow hand, a hundred times is a robot */ \
    X(PASS_EXPIRED, "pass-expired", PASS_EXPIRED, FAILED) \
    /* for another item, or not the session's user */ \
    X(PASS_FOREIGN, "pass-foreign", PASS_FOREIGN, FAILED) \
    /* valid for one request, and used */ \
    X(PASS_SPENT, "pass-spent", PASS_SPENT, FAILED) \
    X(BAD_BODY, "bad-body", BAD_BODY, NOTHING) \
    X(BAD_QUANTITY, "bad-quantity", BAD_QUANTITY, NOTHING) \
    X(BAD_CHANNEL, "bad-channel", BAD_CHANNEL, NOTHING) \
    /* Idempotency-Key is not 1 … KEY_BYTES_MAX visible ASCII characters */ \
    X(BAD_KEY, "bad-key", BAD_KEY, NOTHING) \
    /* the item's limit per user is not one */ \
    X(KEY_REQUIRED, "key-required", KEY_REQUIRED, NOTHING) \
    /* with free */ \
    X(SOLD_OUT, "sold-out", SOLD_OUT, NOTHING) \
    /* those ahead ask for all that is free, and more: come back shortly */ \
    X(NO_CHANCE, "no-chance", TOO_POPULAR, NOTHING) \
    /* early drop, pace, admission, nobody new; with wait_ms, 0 for a drop */ \
    X(TOO_POPULAR, "too-popular", TOO_POPULAR, NOTHING) \
    /* the pass only hears an old answer: the waiting room did not let its user in */ \
    X(NOT_YOUR_TURN, "not-your-turn", NOT_YOUR_TURN, NOTHING)

enum door_reason {
#define DOOR_REASON(reason, label, problem, signal) DOOR_##reason,
    DOOR_REASON_LIST(DOOR_REASON)
#undef DOOR_REASON
        DOOR_REASONS,
};

struct door_channels {
    uint32_t count;
    struct {
        uint8_t size;
        char name[CHANNEL_NAME_MAX];
    } names[CHANNELS_MAX];
};
/* Names: 1 … CHANNEL_NAME_MAX of a–z 0–9 _ -, all different, the first is "web", none is "safety".
 * STATUS_BAD_INPUT otherwise. */
MUST_CHECK enum status door_channels_set(
    struct door_channels *channels, const struct span *names, uint32_t count);
MUST_CHECK enum status door_channels_read(struct door_channels *channels, struct span list); /* "web,app" */
MUST_CHECK bool door_channel_find(
    const struct door_channels *channels, struct span name, channel_index *index);
/* Empty: there is no such channel. */
struct span door_channel_name(const struct door_channels *channels, channel_index index);

struct door {
    const struct board *board;
    const struct funnel_keys *keys; /* turned by this thread */
    const struct door_channels *channels;
    const struct switches *switches;      /* NULL: all off */
    struct limits *limits;                /* NULL: none */
    const struct ban_set *bans;           /* NULL: nobody; of this turn */
    const struct session_rules *sessions; /* NULL: all that we signed; of this turn */
    const struct item_rules *rules;       /* NULL: no sale says anything */
    struct spent *spent; /* shared by all edges: used single-use passes; NULL only where none is issued */
    /* There are other gateways: the inventory is asked whether a pass that is valid once was used, and how
     * often the user has asked (door_asks); `spent` is not. */
    bool shared;
};
struct door_request {
    uint64_t now_ms;
    item_id item;
    const struct address *client;
    /* Header values as they came; absent ones are SPAN_NONE. */
    struct span authorization; /* "Bearer <session>" */
    struct span pass;          /* Stampede-Pass */
    struct span idempotency_key;
    struct span body;
};
struct door_result {
    enum door_reason reason; /* the same as the return value */
    /* A refusal, but the user may have bought: it is told unless the inventory has an old answer
     * (RESERVE_REPEAT). No new win. */
    bool repeat;
    bool deduct_on_payment; /* DOOR_GO: the item's units are taken when payment starts */
    channel_index channel;  /* DOOR_GO, repeat */
    uint32_t quantity;      /* DOOR_GO, repeat */
    uint32_t pass_until_s;  /* DOOR_GO, with pass_mark: when the pass is over */
    user_id user;           /* DOOR_GO and everything after the pass; else 0 */
    uint64_t key;           /* DOOR_GO, repeat: command_reserve.key, 0: none */
    uint64_t pass_mark; /* DOOR_GO: of a pass that this request has used up, or will (door.shared); 0: none */
    uint64_t start_ms; /* DOOR_NOT_STARTED */
    uint32_t free;     /* DOOR_SOLD_OUT: published free units of the channel */
    uint32_t wait_ms;  /* DOOR_TOO_FAST, DOOR_TOO_POPULAR: at least */
};

/* Answers and counts (stampede_door_total). */
MUST_CHECK enum door_reason funnel_door(
    const struct door *door, const struct door_request *in, struct door_result *out);

/* After DOOR_GO of a door that is shared: what the inventory must be asked together with the purchase. False:
 * nothing. */
struct purchase_door;
bool door_asks(const struct door *door, const struct door_result *result, struct purchase_door *questions);

/* DOOR_GO did not lead anywhere after all (no room in the inventory's ring): the pass is good again. */
void door_give_back(const struct door *door, const struct door_result *result);

/* Strips the quotes. False: DOOR_BAD_KEY. */
MUST_CHECK bool door_key_read(struct span header, struct span *key);

const char *door_reason_name(enum door_reason reason); /* as in the metric: "sold-out" */

#endif
