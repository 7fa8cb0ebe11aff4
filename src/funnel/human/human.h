/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/human.h: asks a visitor for a sign of being one before a pass is given, and judges the answer.
 * Kinds: the computer's work (altcha.h), a code to read, a piece to move (puzzle.h). Where a picture is
 * asked for, the work is always accepted instead, at a higher price, for those who can't see it.
 * Everything but what was spent is in the challenge itself, signed: no memory while a user thinks.
 * Thread: any, with keys of its own; the tables are shared. Memory: none. */
#ifndef STAMPEDE_FUNNEL_HUMAN_HUMAN_H
#define STAMPEDE_FUNNEL_HUMAN_HUMAN_H

#include "base/text.h"
#include "contract/types.h"

struct address;
struct funnel_keys;
struct picture_pool;
struct ring;
struct spent;
struct suspicion;
struct wake;

enum {
    HUMAN_BODY_BYTES_MAX = 4096, /* of POST …/pass */
    HUMAN_CODE_TRIES = 2,        /* answers to one picture that are looked at */
    HUMAN_SLIDER_TRIES = 1,
    HUMAN_ALTERNATIVE_BITS = 4, /* the work instead of a picture is 16 times as much */
    /* Points for failures: they fade by half each HUMAN_FAILURES_HALF_S. */
    HUMAN_FAILURES_HALF_S = 60,
    HUMAN_FAILURE_POINTS = 10,
    HUMAN_USER_POINTS_PER_BIT = 10,    /* how many points of a user double the work */
    HUMAN_ADDRESS_POINTS_PER_BIT = 20, /* an address may be many people */
    HUMAN_FAILURE_BITS_MAX = 6,
    HUMAN_USER_NO_PICTURES = 30, /* from here on there is work instead of pictures */
    HUMAN_ADDRESS_NO_PICTURES = 200,
    HUMAN_USER_REFUSED = 80, /* and from here on nothing, until they have faded */
    HUMAN_ADDRESS_REFUSED = 600,
    /* Passes that an address took: the work grows with their number. */
    HUMAN_PASSES_HALF_S = 600,
    HUMAN_PASSES_FREE = 8,
    HUMAN_REFUSED_RETRY_S = 60,
    HUMAN_CHALLENGE_BYTES_MAX = 48 * 1024,
};

/* Where a service outside gives the verdict instead of a picture. An edge puts the question into its
 * ring, once for each challenge; whoever asks the service notes the verdict as a mark. */
enum { HUMAN_RESPONSE_MAX = 3072, HUMAN_CLIENT_MAX = 64 };
struct human_question {
    uint64_t person, machine, none; /* the mark to take in `verdicts` */
    uint32_t expires_s;
    uint16_t response_size, client_size;
    char response[HUMAN_RESPONSE_MAX]; /* of the service's widget */
    char client[HUMAN_CLIENT_MAX];     /* the visitor's address as text */
};
struct human_outside {
    const char *name; /* of the service, which is also the kind's */
    const char *site_key;
    struct spent *verdicts; /* shared */
    struct ring *questions; /* struct human_question; this edge's */
    struct wake *asker;
};

struct human {
    const struct funnel_keys *keys;
    struct spent *spent; /* challenges that were solved */
    struct spent *tries; /* answers to pictures; apart, so that wrong ones never fill the other */
    struct suspicion *failures;          /* of addresses and users */
    struct suspicion *passes;            /* of addresses */
    struct picture_pool *pool;           /* NULL: no pictures, the work only */
    const struct human_outside *outside; /* NULL: none; else it stands in for pictures */
    uint32_t edge;                       /* whose shelf of the pool */
    uint32_t pow_hashes;                 /* that solving takes, without any suspicion */
    uint32_t life_s;                     /* of a challenge */
    /* Which processes accept a challenge: a number of this one, or of all that share used marks. */
    uint32_t start;
};
struct human_visit {
    enum human_check asked; /* by the sale; not HUMAN_NONE */
    item_id item;
    user_id user;
    uint64_t source;    /* whose failures and passes count: a hash of the address */
    uint32_t pow_boost; /* doublings for everybody, from the switch */
    uint64_t now_ms;
    const struct address *client; /* for a service outside */
};

enum human_answer {
    HUMAN_PASSED,
    HUMAN_ABSENT,    /* no solution was sent */
    HUMAN_MALFORMED, /* the body is none that we know */
    HUMAN_FAILED,    /* wrong, forged, expired, another's, or not of a kind the sale accepts */
    HUMAN_SPENT,     /* good, but used before */
    HUMAN_OLD,       /* of another process: get a new one, and no harm done */
    HUMAN_CROWDED,   /* good, but there is no room to note that it is used: come back */
    HUMAN_PENDING,   /* the service outside is being asked: send the same again */
    HUMAN_AWAY,      /* the service outside gave no verdict */
    HUMAN_REFUSED,   /* too many failures of the user or the address: not looked at */
    HUMAN_ANSWERS,
    HUMAN_TO_ASK = HUMAN_ANSWERS, /* human_judge_shared only: good, and perhaps used before */
};

/* Whether the user or the address has failed so often that nothing is given or looked at for now. */
bool human_refused(const struct human *human, const struct human_visit *visit);
/* A challenge of this kind as JSON; the work when there is no picture, or after failures. */
void human_challenge(const struct human *human, const struct human_visit *visit,
    enum human_check kind, struct text *out);
/* Judges the body of a request for a pass, spends the challenge, and counts (stampede_human_total). */
MUST_CHECK enum human_answer human_judge(
    const struct human *human, const struct human_visit *visit, struct span body);
/* The same where other gateways accept the challenge too. HUMAN_TO_ASK: *mark must be used up over all of
 * them, and what came of it is told to human_told. All other answers are told already. */
struct human_mark {
    uint64_t mark;
    uint32_t expires_s;
};
MUST_CHECK enum human_answer human_judge_shared(const struct human *human,
    const struct human_visit *visit, struct span body, struct human_mark *mark);
/* Of the visit only who and when counts. */
void human_told(const struct human *human, const struct human_visit *visit, enum human_answer answer);

/* The name of what is asked for: the service's where one stands in for pictures. */
const char *human_kind_name(const struct human *human, enum human_check asked);
/* How many hashes the next challenge takes. */
uint32_t human_work(const struct human *human, const struct human_visit *visit);

#endif
