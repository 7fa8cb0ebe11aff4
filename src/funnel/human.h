/* funnel/human.h: asks a visitor for a sign of being one before a pass is given, and judges the answer.
 * Kinds: the computer's work (altcha.h), a code to read, a piece to move (puzzle.h). Where a picture is
 * asked for, the work is always accepted instead, at a higher price, for those who can't see it.
 * Everything but what was spent is in the challenge itself, signed: no memory while a user thinks.
 * Thread: any, with keys of its own; `spent` and `suspicion` are shared. Memory: none. */
#ifndef STAMPEDE_FUNNEL_HUMAN_H
#define STAMPEDE_FUNNEL_HUMAN_H

#include "funnel/altcha.h"
#include "funnel/keys.h"
#include "funnel/picture_pool.h"
#include "funnel/spent.h"
#include "funnel/suspicion.h"

enum {
    HUMAN_BODY_BYTES_MAX = 4096, /* of POST …/pass */
    HUMAN_CODE_TRIES = 3,        /* answers to one picture that are looked at */
    HUMAN_SLIDER_TRIES = 2,
    HUMAN_ALTERNATIVE_BITS = 2,   /* the work instead of a picture is four times as much */
    HUMAN_SUSPICION_PER_BIT = 20, /* so much suspicion doubles the work */
    HUMAN_CHALLENGE_BYTES_MAX = 48 * 1024,
};

struct human {
    const struct funnel_keys *keys;
    struct spent *spent;
    struct suspicion *suspicion;
    struct picture_pool *pool; /* NULL: no pictures, the work only */
    uint32_t edge;             /* whose shelf of the pool */
    uint32_t pow_hashes;       /* that solving takes, without any suspicion */
    uint32_t life_s;           /* of a challenge */
    uint32_t start;            /* a random number of this process, the same for all its edges */
};
struct human_visit {
    enum human_check asked; /* by the sale; not HUMAN_NONE */
    item_id item;
    user_id user;
    uint64_t source;    /* whose failures count: a hash of the address */
    uint32_t pow_boost; /* doublings for everybody, from the switch */
    uint64_t now_ms;
};

enum human_answer {
    HUMAN_PASSED,
    HUMAN_ABSENT,    /* no solution was sent */
    HUMAN_MALFORMED, /* the body is none that we know */
    HUMAN_FAILED,    /* wrong, forged, expired, another's, or not of a kind the sale accepts */
    HUMAN_SPENT,     /* good, but used before */
    HUMAN_OLD,       /* of another process: get a new one, and no harm done */
    HUMAN_CROWDED,   /* good, but there is no room to note that it is used: come back */
    HUMAN_ANSWERS,
};

/* A challenge of this kind as JSON; the work when there is no picture. */
void human_challenge(const struct human *human, const struct human_visit *visit,
    enum human_check kind, struct text *out);
/* Judges the body of a request for a pass, spends the challenge, and counts (stampede_human_total). */
MUST_CHECK enum human_answer human_judge(
    const struct human *human, const struct human_visit *visit, struct span body);

/* Whether the sale accepts the kind: what it asks for, and the work. */
static inline bool human_accepts(enum human_check asked, enum human_check kind)
{
    return asked != HUMAN_NONE && (kind == asked || kind == HUMAN_POW);
}
/* How many hashes the next challenge takes. */
uint32_t human_work(const struct human *human, const struct human_visit *visit);
void human_metrics_register(void); /* once, at start */

#endif
