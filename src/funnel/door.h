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

#include "contract/board.h"
#include "funnel/bans.h"
#include "funnel/keys.h"
#include "funnel/limits.h"
#include "funnel/session_rules.h"
#include "funnel/spent.h"
#include "funnel/switches.h"

enum door_reason {
    DOOR_GO,           /* to the inventory */
    DOOR_UNKNOWN_ITEM, /* no such item, or not preheated */
    DOOR_NOT_STARTED,  /* with start_ms */
    DOOR_ENDED,
    DOOR_PAUSED,
    DOOR_UNAVAILABLE,     /* wins are stopped, see board.wins_stopped */
    DOOR_BANNED,          /* the address or the user */
    DOOR_TOO_FAST,        /* the address or the user; with wait_ms */
    DOOR_SESSION_INVALID, /* Authorization is there but is no valid session */
    DOOR_PASS_REQUIRED,
    DOOR_PASS_INVALID, /* malformed or forged */
    DOOR_PASS_EXPIRED,
    DOOR_PASS_FOREIGN, /* for another item, or not the session's user */
    DOOR_PASS_SPENT,   /* good once, and used */
    DOOR_BAD_BODY,
    DOOR_BAD_QUANTITY,
    DOOR_BAD_CHANNEL,
    DOOR_BAD_KEY,      /* Idempotency-Key is not 1 … KEY_BYTES_MAX visible ASCII characters */
    DOOR_KEY_REQUIRED, /* the item's limit per user is not one */
    DOOR_SOLD_OUT,     /* with free */
    DOOR_NO_CHANCE,    /* those ahead ask for all that is free, and more: come back shortly */
    DOOR_TOO_POPULAR,  /* early drop, pace, admission, nobody new; with wait_ms, 0 for a drop */
    DOOR_NOT_YOUR_TURN, /* the pass only hears an old answer: its user was not let in by the waiting room */
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
MUST_CHECK bool door_channel_find(
    const struct door_channels *channels, struct span name, channel_index *index);
/* Empty: there are not so many. */
struct span door_channel_name(const struct door_channels *channels, channel_index index);

struct door_sale { /* what an item's sale says of crowds */
    sale_id id;
    uint32_t drop_percent, pace_per_s; /* 0: none */
    bool waiting_room;
};
struct door {
    const struct board *board;
    const struct funnel_keys *keys; /* turned by this thread */
    const struct door_channels *channels;
    const struct switches *switches;      /* NULL: all off */
    struct limits *limits;                /* NULL: none */
    const struct ban_set *bans;           /* NULL: nobody; of this turn */
    const struct session_rules *sessions; /* NULL: all that we signed; of this turn */
    /* Asked only for purchases that everything before lets through. NULL: no sale says anything. */
    struct door_sale (*sale)(const void *context, item_id item);
    const void *context;
    struct spent *spent; /* shared by all edges: passes that are good once; NULL only where none is issued */
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
    channel_index channel; /* DOOR_GO, repeat */
    uint32_t quantity;     /* DOOR_GO, repeat */
    user_id user;          /* DOOR_GO and everything after the pass; else 0 */
    uint64_t key;          /* DOOR_GO, repeat: command_reserve.key, 0: none */
    uint64_t pass_mark;    /* DOOR_GO: of a pass that this request has used up; 0: none */
    uint64_t start_ms;     /* DOOR_NOT_STARTED */
    uint32_t free;         /* DOOR_SOLD_OUT: published free units of the channel */
    uint32_t wait_ms;      /* DOOR_TOO_FAST, DOOR_TOO_POPULAR: at least */
};

/* Answers and counts (stampede_door_total). */
MUST_CHECK enum door_reason funnel_door(
    const struct door *door, const struct door_request *in, struct door_result *out);

/* DOOR_GO did not lead anywhere after all (no room in the inventory's ring): the pass is good again. */
void door_give_back(const struct door *door, const struct door_result *result);

/* Strips the quotes. False: DOOR_BAD_KEY. */
MUST_CHECK bool door_key_read(struct span header, struct span *key);

const char *door_reason_name(enum door_reason reason); /* as in the metric: "sold-out" */
void door_metrics_register(void);                      /* once, at start */

#endif
