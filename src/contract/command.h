/* SPDX-License-Identifier: Apache-2.0 */
/* contract/command.h: what can be asked of the inventory, and what it answers. A command carries
 * everything that decides its outcome, time included. COMMAND_ASK_… only look. The others, when
 * they change anything (outcome.changed), are logged with their outcome; replay applies the
 * command and asserts the outcome. contract/record.h is the byte form. */
#ifndef STAMPEDE_CONTRACT_COMMAND_H
#define STAMPEDE_CONTRACT_COMMAND_H

#include "contract/types.h"

#include <stddef.h>

/* What can be logged, a row each: name; what the admin API calls it. Journals hold the numbers: new
 * rows go to the end. */
#define COMMAND_LOGGED_LIST(X) \
    X(NONE, "none") \
    /* define a sale, or move its schedule */ \
    X(SALE, "sale") \
    /* define an item and load its units */ \
    X(PREHEAT, "preheat") \
    /* open now, pause, resume, end */ \
    X(GATE, "gate") \
    /* load eligible users of a sale */ \
    X(USERS, "users") \
    /* add or remove units */ \
    X(ADJUST, "adjust") \
    /* units between channels or safety stock */ \
    X(MOVE, "move") \
    /* a purchase */ \
    X(RESERVE, "reserve") \
    /* one step of a ticket: sold, returned (to a waiter at once), written off */ \
    X(SETTLE, "settle") \
    /* a user enters the waiting room of a sale */ \
    X(ARRIVE, "arrive") \
    /* from the start on: the draw, and how many may go in */ \
    X(ADMIT, "admit") \
    /* forget returned tickets of sales that ended long ago */ \
    X(RECLAIM, "reclaim") \
    /* many machines: units leave for another shard of the sale, and come from one */ \
    X(GIVE, "give") \
    X(TAKE, "take") \
    /* forget the tickets and counters of a sale that was archived */ \
    X(ARCHIVE, "archive") \
    /* numbers of tickets that a lost copy of this log may have told are left out */ \
    X(SKIP, "skip")

enum command_type {
#define COMMAND(command, name) COMMAND_##command,
    COMMAND_LOGGED_LIST(COMMAND)
#undef COMMAND
        COMMAND_LOGGED_COUNT,

    COMMAND_ASK_MINE = 64, /* has this user bought this item */
    COMMAND_ASK_TICKET,    /* whose is this ticket, and in what state */
    COMMAND_ASK_COUNTS,
    COMMAND_ASK_SALE, /* the terms of a sale, as they are now */
    /* On many machines only: uses up what may be used once (struct command_spend). DONE: it was fresh, and to
     * this one only; UNCHANGED: it was used before; UNAVAILABLE: nobody knows. */
    COMMAND_ASK_SPEND,
};

enum gate_move {
    GATE_MOVE_OPEN,
    GATE_MOVE_PAUSE,
    GATE_MOVE_RESUME,
    GATE_MOVE_END,
    GATE_MOVE_REOPEN, /* takes an end back, and a pause before it, while the window lasts */
    GATE_MOVES
};

enum ticket_state { TICKET_HELD, TICKET_SOLD, TICKET_RETURNED, TICKET_WRITTEN_OFF };
enum settle_step {
    SETTLE_SOLD,      /* held → sold */
    SETTLE_RETURN,    /* held → returned, sold → returned */
    SETTLE_WRITE_OFF, /* sold → written off */
    SETTLE_STEPS,
};

enum reserve_flag {
    RESERVE_AFTER_END = 1, /* late money, a waiter: the window of the sale does not count */
    RESERVE_OFFER = 2, /* for a waiter: the key is that of the place, with a window to pay of its own */
    /* Only to hear an old answer: of the key, or of the user's own ticket. Never wins, never logged. */
    RESERVE_REPEAT = 4,
};

struct command_sale {
    sale_id sale;
    uint32_t limit_per_user; /* units over all items; 0: none */
    uint64_t start_ms, end_ms;
    bool eligible_only;  /* only users loaded by COMMAND_USERS may buy */
    bool one_open_order; /* a user whose last ticket of the sale is held can't take another one */
    /* How long a draw decides instead of who asks first: from the opening on, and
     * when some come back to an empty pool (engine_returns.c). 0: not. */
    uint16_t start_draw_ms, return_draw_ms;
    /* How long a user who gives an order up can't buy that item, twice as long each time (up to
     * 2^COOLDOWN_DOUBLINGS_MAX); 0: at once. */
    uint16_t cooldown_s;
};
static_assert(sizeof(struct command_sale) == 32, "an answer carries it in place of a ticket");
struct command_preheat {
    item_id item;
    sale_id sale;
    uint64_t unit_price;     /* the flash price, minor units */
    uint32_t limit_per_user; /* units; 0: none */
    uint32_t pay_window_ms;
    uint32_t total, locked, sold_before;  /* sellable = total − locked − sold_before */
    uint32_t safety;                      /* part of sellable kept back */
    uint32_t channel_units[CHANNELS_MAX]; /* Σ + safety = sellable */
    char currency[4]; /* of the price, for whoever reads the log; "": not told. Decides nothing. */
    /* The item is preheated: its price, limit and time to pay become these, the rest counts for
     * nothing. Price and limit only while nobody has a unit. */
    bool change;
};
struct command_gate {
    sale_id sale;
    uint8_t move; /* enum gate_move */
};
struct command_users {
    sale_id sale;
    uint32_t count;
    bool remove; /* from the list, not into it */
    user_id users[USERS_PER_COMMAND];
};
struct command_adjust {
    item_id item;
    channel_index channel; /* or CHANNEL_SAFETY */
    int32_t delta;
    /* What is taken has left the shop: sold elsewhere, exchanged or damaged. It is no product's any more. */
    bool gone;
};
struct command_move {
    item_id item;
    channel_index from, to;
    uint32_t quantity;
};
/* What the doors (funnel/door.h) of all gateways must ask together, in the purchase's own call. These are the
 * gateways' questions: no record has them, and the engine does not know them. */
struct purchase_door {
    uint64_t mark;          /* of a pass that is valid once; 0: none */
    uint64_t mark_until_ms; /* so long the mark is remembered: until nobody accepts the pass any more */
    uint32_t requests;      /* at most so many of the user in any window_ms; 0: no limit */
    uint32_t window_ms;
};
struct command_reserve {
    user_id user;
    uint64_t key;               /* keyed hash of the Idempotency-Key and the user; 0: none */
    ticket_number pending_from; /* not logged: tickets from this number on are not durable yet */
    item_id item;
    uint32_t quantity;
    channel_index channel;
    uint8_t flags;      /* enum reserve_flag */
    bool asks_door;     /* not logged: `door` has questions; one machine asks its own tables */
    uint32_t window_ms; /* RESERVE_OFFER: time to pay; else the item's is used */
    struct purchase_door door; /* not logged; means nothing without asks_door, and need not be set */
};
static_assert(offsetof(struct command_reserve, door) == 40, "a request of one machine is one cache line");
struct waiter {
    user_id user;
    uint64_t key; /* of the place in line */
    uint32_t quantity;
} __attribute__((packed, aligned(4)));
struct command_settle {
    ticket_number ticket;
    uint8_t step;     /* enum settle_step */
    channel_index to; /* returned units go here: a channel or CHANNEL_SAFETY */
    bool let_go; /* a return of a held ticket by its user's doing: cancelled, or not paid in time */
    uint8_t waiter_count;
    uint32_t waiter_window_ms; /* their time to pay */
    /* In the order of the line. In the same command the returned units, and no others, are
     * reserved for them; users who can't have them are skipped. */
    struct waiter waiters[WAITERS_PER_RETURN];
};
struct command_arrive {
    sale_id sale;
    user_id user;
};
struct command_admit {
    sale_id sale;
    uint32_t head; /* places below this may go in; it never moves back */
};
/* Rows `from` … `from` + `rows` − 1 of the table of tickets are looked at. A ticket there is forgotten
 * when it is returned, and its sale ended and its time to pay was over by `before_ms`. Its key is
 * forgotten with it; its number is never given again. */
struct command_reclaim {
    uint64_t before_ms; /* not in the future */
    uint32_t from, rows;
};
/* Rows `from` … `from` + `rows` − 1 of a table are looked at. What belongs to the sale is forgotten, with its
 * keys. Sold and written-off units leave the counts of their item together with their ticket. One ticket
 * that is held refuses the whole command. */
enum archive_table { ARCHIVE_TICKETS, ARCHIVE_BUYERS, ARCHIVE_PLACES, ARCHIVE_TABLES };
struct command_archive {
    sale_id sale; /* its end_ms has passed */
    uint32_t from, rows;
    uint8_t table; /* enum archive_table */
};
struct command_skip {
    uint32_t to; /* the next ticket gets a number above this */
};
/* GIVE and TAKE. Transfers from one shard to another are numbered from 1, and each is done once at both
 * ends: a number that is not the next one changes nothing. A TAKE is asked for when its GIVE is kept. */
struct command_transfer {
    item_id item;
    uint32_t quantity; /* GIVE: at most; TAKE: what was given */
    uint32_t number;
    channel_index channel; /* or CHANNEL_SAFETY */
    uint8_t shard;         /* GIVE: to this one; TAKE: from this one */
};
struct command_ask {
    user_id user;
    item_id item;
    sale_id sale;
    ticket_number ticket;
    bool any_epoch; /* ASK_TICKET: of a partition's ticket only n is known (contract/ticket_number.h) */
};
struct command_spend {
    uint64_t mark;     /* a keyed hash of what is used up; never 0 */
    uint64_t until_ms; /* from then on nobody accepts it, and the mark may be forgotten */
};

/* Who gave a command. It travels in the log with the command: for the audit, and so that a request
 * that is repeated is not carried out twice. All zero: the server itself. */
struct command_origin {
    uint64_t key;     /* keyed hash of actor, Idempotency-Key and part of the request; 0: none */
    uint64_t request; /* keyed hash of the request: the same key with another one is refused */
    char actor[ACTOR_BYTES_MAX + 1]; /* the name of the admin key, padded with zeros */
};
/* Only commands of administrators carry one; for the others it means nothing. */
static inline bool command_has_origin(uint8_t type)
{
    return type >= COMMAND_SALE && type <= COMMAND_MOVE;
}

struct command {
    uint64_t time_ms; /* server time */
    uint8_t type;     /* enum command_type */
    union {
        struct command_sale sale;
        struct command_preheat preheat;
        struct command_gate gate;
        struct command_users users;
        struct command_adjust adjust;
        struct command_move move;
        struct command_reserve reserve;
        struct command_settle settle;
        struct command_arrive arrive;
        struct command_admit admit;
        struct command_reclaim reclaim;
        struct command_archive archive;
        struct command_skip skip;
        struct command_transfer transfer;
        struct command_ask ask;
        struct command_spend spend;
    };
    struct command_origin origin; /* see command_has_origin */
};

/* What the inventory answers, a row each: name; label in stampede_purchases_total and in reports, ""
 * for what is no answer to a purchase; the problem that a client is told (PROBLEM_…,
 * api/problems.h), NONE if it is no refusal. Journals hold the numbers: new rows go to the end. */
#define ANSWER_LIST(X) \
    X(NONE, "", NONE) \
    /* purchases */ \
    X(WON, "won", NONE) \
    /* same key, same body: the same ticket again */ \
    X(REPEATED, "repeated", NONE) \
    /* same key, other body */ \
    X(KEY_REUSED, "key-reused", KEY_REUSED) \
    /* a number that nothing gives */ \
    X(UNUSED_4, "", INTERNAL) \
    /* another purchase of this user and item is not durable yet */ \
    X(IN_PROGRESS, "in-progress", IN_PROGRESS) \
    /* the limit is one unit and it is taken; with the ticket */ \
    X(ALREADY_BOUGHT, "already-bought", ALREADY_BOUGHT) \
    /* per item or per sale; with the user's last ticket of the item, if any */ \
    X(LIMIT_REACHED, "limit-reached", LIMIT_REACHED) \
    /* with what is free */ \
    X(SOLD_OUT, "sold-out", SOLD_OUT) \
    X(NOT_STARTED, "not-started", NOT_STARTED) \
    X(ENDED, "ended", ENDED) \
    X(PAUSED, "paused", PAUSED) \
    X(NOT_ELIGIBLE, "not-eligible", NOT_ELIGIBLE) \
    /* also: not preheated */ \
    X(UNKNOWN_ITEM, "", UNKNOWN_ITEM) \
    X(BAD_QUANTITY, "", BAD_QUANTITY) \
    X(BAD_CHANNEL, "", BAD_CHANNEL) \
    /* refused without a decision: a bounded queue is full */ \
    X(TOO_POPULAR, "too-popular", TOO_POPULAR) \
    /* wins are stopped: disk full, orders lag, engine full */ \
    X(UNAVAILABLE, "unavailable", UNAVAILABLE) \
    /* control */ \
    X(DONE, "", NONE) \
    /* it was so already */ \
    X(UNCHANGED, "", NONE) \
    /* refused: see enum conflict in outcome.detail */ \
    X(CONFLICT, "", CONFLICT) \
    X(UNKNOWN_SALE, "", UNKNOWN_SALE) \
    X(UNKNOWN_TICKET, "", UNKNOWN_ORDER) \
    /* COMMAND_ASK_… */ \
    X(FOUND, "", NONE) \
    /* a purchase: another one of this sale is not paid yet; with its ticket */ \
    X(OPEN_ORDER, "open-order", OPEN_ORDER) \
    /* a purchase: the user let this item go a short while ago; with again_ms */ \
    X(COOLING_DOWN, "cooling-down", COOLING_DOWN) \
    /* a purchase: there is a draw, the user's moment is at again_ms */ \
    X(NOT_YOUR_MOMENT, "not-your-moment", NOT_YOUR_MOMENT) \
    /* RESERVE_REPEAT: there is no old answer */ \
    X(NOTHING_TO_REPEAT, "nothing-to-repeat", NONE) \
    /* ASK_TICKET: it was returned, and COMMAND_RECLAIM took its row */ \
    X(FORGOTTEN, "", UNKNOWN_ORDER) \
    /* On many machines only, and never logged: */ \
    /* a purchase, ASK_TICKET: proposed, and not kept by the database yet; with the ticket */ \
    X(DECIDING, "deciding", NONE) \
    /* ASK_TICKET: it was proposed, and is not kept: there is no order and never will be */ \
    X(VOID, "", NONE) \
    /* a purchase: its pass is valid once, and was used at some gateway */ \
    X(PASS_SPENT, "pass-spent", PASS_SPENT) \
    /* a purchase: the user asks too often, at all gateways together; outcome.number has the wait in ms */ \
    X(TOO_FAST, "too-fast", TOO_FAST)

enum answer {
#define ANSWER(answer, label, problem) ANSWER_##answer,
    ANSWER_LIST(ANSWER)
#undef ANSWER
        ANSWERS,
    ANSWERS_LOGGED = ANSWER_DECIDING, /* records have those before */
};
static_assert(ANSWER_WON == 1 && ANSWER_DONE == 18 && ANSWER_NOTHING_TO_REPEAT == 27,
    "journals hold these numbers");

enum conflict {
    CONFLICT_NONE,
    CONFLICT_OTHER_TOTAL,  /* preheated with another total: adjust instead */
    CONFLICT_BAD_SPLIT,    /* channels + safety ≠ sellable, or sellable below 0 */
    CONFLICT_ALREADY_OPEN, /* the schedule of a sale that opened can't move its start */
    CONFLICT_ENDED,
    CONFLICT_BAD_WINDOW,    /* end not after start */
    CONFLICT_NOT_PREHEATED, /* a sale without a preheated item can't open */
    CONFLICT_BAD_MOVE,      /* this gate or ticket can't make this move */
    CONFLICT_FULL,          /* a table is full */
    CONFLICT_OTHER_LIMIT, /* the limit of a sale that has items can't change between none and some, nor
                             can "one open order" */
    CONFLICT_OTHER_TERMS, /* preheated with another price, limit or time to pay */
    CONFLICT_HAS_BUYERS,  /* price and limit stay as they are once somebody has a unit */
    CONFLICTS,
};

struct outcome {
    /* The log position that the answer saw: of its own record, if it changed anything. It is durable
     * when the answer is given. 0: the answer tells nothing of the log. Filled by the inventory, not
     * by the engine, and not logged. */
    lsn_t lsn;
    union {
        struct {
            ticket_number ticket; /* WON, REPEATED, ALREADY_BOUGHT, …; SETTLE with waiters: the ticket of
                                     the first one served, the others follow */
            uint64_t unit_price; /* WON, REPEATED */
            union {
                uint64_t pay_by_ms; /* WON */
                /* COOLING_DOWN, RETURN_DRAW, ASK_MINE (0: now): when a purchase may go through */
                uint64_t again_ms;
            };
            user_id user; /* ASK_TICKET, SETTLE: whose */
        };
        struct command_sale terms; /* ASK_SALE */
    };
    int32_t applied; /* ADJUST: what was really added or removed; MOVE, SETTLE, GIVE, TAKE: units moved;
                          RECLAIM: tickets forgotten; ARCHIVE: rows; SKIP: numbers left out */
    uint32_t quantity; /* ASK_MINE, ASK_TICKET, SETTLE */
    uint32_t free;     /* SOLD_OUT: what was free in the channel */
    item_id item;      /* ASK_TICKET, SETTLE, REPEATED */
    uint32_t number; /* ARRIVE: the user's arrival number, from 0; ADMIT: the head; RECLAIM, ARCHIVE: the row
                          to go on with, 0: there are no more; TOO_FAST: the wait in ms, at least */
    uint8_t answer; /* enum answer */
    uint8_t detail; /* enum conflict; ASK_TICKET: enum ticket_state; SETTLE: the waiters served, a bit each */
    bool changed;  /* this command changed state and must be logged */
    bool repeated; /* the key was used before: this is the first outcome again, nothing changed */
};

/* The sale whose waiting room a command is about; 0: none. */
static inline sale_id command_room(const struct command *command)
{
    if (command->type == COMMAND_ARRIVE)
        return command->arrive.sale;
    return command->type == COMMAND_ADMIT ? command->admit.sale : 0;
}

/* The ticket that a SETTLE made for its waiter at `index`; 0: passed over. */
static inline ticket_number outcome_waiter_ticket(const struct outcome *outcome, uint32_t index)
{
    const uint32_t bit = 1u << index;
    if ((outcome->detail & bit) == 0)
        return 0;
    return outcome->ticket + (uint32_t)__builtin_popcount(outcome->detail & (bit - 1));
}

/* How many tickets a logged command made; they count from outcome->ticket. */
static inline uint32_t outcome_wins(const struct command *command, const struct outcome *outcome)
{
    if (command->type == COMMAND_SETTLE)
        return (uint32_t)__builtin_popcount(outcome->detail);
    return command->type == COMMAND_RESERVE;
}

#endif
