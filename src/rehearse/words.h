/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/words.h: the steps of a visit, what a server may answer, and the layer at which a request ends
 * with that answer. Pure. */
#ifndef STAMPEDE_REHEARSE_WORDS_H
#define STAMPEDE_REHEARSE_WORDS_H

#include "base/span.h"

/* name; label in reports. */
#define STEP_LIST(X) \
    X(PAGE, "page") \
    X(SESSION, "session") \
    X(ENTER, "enter room") \
    X(ROOM, "room") \
    X(CHALLENGE, "challenge") \
    X(PASS, "pass") \
    X(BUY, "buy") \
    X(TICKET, "ticket") \
    X(DETAILS, "details") \
    X(PAY, "pay") \
    X(ORDER, "order") \
    X(BANK, "bank") \
    X(CANCEL, "cancel") \
    X(MEASURE, "measure")
enum step {
#define STEP(name, label) STEP_##name,
    STEP_LIST(STEP)
#undef STEP
        STEPS,
};

/* The layers of the funnel, from the outside to the inside. */
#define LAYER_LIST(X) \
    X(EDGE, "edge") \
    X(BAN, "ban") \
    X(ADDRESS, "address limit") \
    X(SESSION, "session") \
    X(HUMAN, "human check") \
    X(ROOM, "waiting room") \
    X(PASS, "pass") \
    X(CLOSED, "not open") \
    X(USER, "user limit") \
    X(DRAW, "draw") \
    X(POPULAR, "too popular") \
    X(SOLD_OUT, "sold out") \
    X(RULES, "rules of the sale") \
    X(WON, "won") \
    X(ORDER, "order") \
    X(PAID, "paid")
enum layer {
#define LAYER(name, label) LAYER_##name,
    LAYER_LIST(LAYER)
#undef LAYER
        LAYERS,
};

/* What was answered: name; the server's word; the layer at which a purchase with it ends. */
#define WORD_LIST(X) \
    X(SERVED, "served", WON) \
    X(WON, "won", WON) \
    X(DECIDING, "deciding", WON) \
    X(NO_ANSWER, "no answer", EDGE) \
    X(OTHER, "another answer", EDGE) \
    X(MALFORMED, "malformed-request", EDGE) \
    X(UNKNOWN_OUTCOME, "outcome-unknown", EDGE) \
    X(UNAVAILABLE, "unavailable", EDGE) \
    X(INTERNAL, "internal", EDGE) \
    X(BANNED, "banned", BAN) \
    X(TOO_FAST, "too-fast", ADDRESS) \
    X(SESSION_REQUIRED, "session-required", SESSION) \
    X(SESSION_INVALID, "session-invalid", SESSION) \
    X(HUMAN_REQUIRED, "human-check-required", HUMAN) \
    X(HUMAN_FAILED, "human-check-failed", HUMAN) \
    X(HUMAN_SPENT, "human-check-spent", HUMAN) \
    X(HUMAN_REFUSED, "human-check-refused", HUMAN) \
    X(NOT_IN_ROOM, "not-in-room", ROOM) \
    X(NOT_YOUR_TURN, "not-your-turn", ROOM) \
    X(PASS_REQUIRED, "pass-required", PASS) \
    X(PASS_INVALID, "pass-invalid", PASS) \
    X(PASS_EXPIRED, "pass-expired", PASS) \
    X(PASS_FOREIGN, "pass-foreign", PASS) \
    X(PASS_SPENT, "pass-spent", PASS) \
    X(NOT_STARTED, "not-started", CLOSED) \
    X(ENDED, "ended", CLOSED) \
    X(PAUSED, "paused", CLOSED) \
    X(NOT_YOUR_MOMENT, "not-your-moment", DRAW) \
    X(TOO_POPULAR, "too-popular", POPULAR) \
    X(SOLD_OUT, "sold-out", SOLD_OUT) \
    X(ALREADY_BOUGHT, "already-bought", RULES) \
    X(LIMIT_REACHED, "limit-reached", RULES) \
    X(IN_PROGRESS, "in-progress", RULES) \
    X(OPEN_ORDER, "open-order", RULES) \
    X(COOLING_DOWN, "cooling-down", RULES) \
    X(NOT_ELIGIBLE, "not-eligible", RULES) \
    X(KEY_REUSED, "key-reused", RULES) \
    X(ALREADY_PAID, "already-paid", ORDER) \
    X(ORDER_CLOSED, "order-closed", ORDER)
enum word {
#define WORD(name, text, layer) WORD_##name,
    WORD_LIST(WORD)
#undef WORD
        WORDS,
};

extern const char *const step_labels[STEPS];
extern const char *const layer_labels[LAYERS];
extern const char *const word_texts[WORDS];

enum layer word_layer(enum word word);
/* The name of a problem, without "/problems/". WORD_OTHER: none of the list. */
enum word word_find(struct span name);

#endif
