/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/tally.h: what the visitors were told, counted while they play. Thread: one owner. Memory: of
 * the caller, zeroed (some megabytes). */
#ifndef STAMPEDE_REHEARSE_TALLY_H
#define STAMPEDE_REHEARSE_TALLY_H

#include "base/latency.h"
#include "rehearse/plan.h"

enum { WHO_PEOPLE, WHO_BOTS, WHOS };

struct tally_second {
    uint32_t answered, refused, wins, coming, waiting;
    uint32_t p99_us;
};

struct tally {
    uint64_t told[WHOS][STEPS][WORDS];
    struct latency latency[WHOS][STEPS]; /* from the moment that was meant */
    struct latency second;               /* of the second that runs, all of them */
    uint64_t sent;                       /* requests of which a byte left */
    uint64_t wins[WHOS];                 /* different tickets */
    uint64_t paid, cancelled;
    uint64_t unknown_words; /* answers that are none of WORD_LIST */
    uint32_t ended[VISITOR_KINDS][LAYERS];
    uint32_t came, over;
    uint32_t seconds_count;
    struct tally_second seconds[PLAN_SECONDS_MAX + 60];
};

static inline uint32_t tally_who(const struct visitor *visitor)
{
    return visitor->kind == VISITOR_HUMAN || visitor->kind == VISITOR_MEASURE ? WHO_PEOPLE : WHO_BOTS;
}

/* The second that runs. */
struct tally_second *tally_now(struct tally *tally);
void tally_answer(struct tally *tally, const struct visitor *visitor, enum word word, uint64_t took_ns);
/* Closes the second that ran. `waiting`: requests without a connection. */
void tally_second(struct tally *tally, uint32_t waiting);
/* People and bots together. */
uint64_t tally_told(const struct tally *tally, enum step step, enum word word);
uint64_t tally_step(const struct tally *tally, enum step step);
uint64_t tally_word(const struct tally *tally, enum word word); /* of all steps */
uint64_t tally_answers(const struct tally *tally);
/* All of `from` on top. */
void tally_latency_add(struct latency *latency, const struct latency *from);

#endif
