/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/solution.h: reads the body of a request for a pass: {"solution":"base64"} for the computer's
 * work, {"solution":{"token":…}} with an answer, places or a response for the other kinds. Strict.
 * Thread: any. Memory: none; spans point into the body. */
#ifndef STAMPEDE_FUNNEL_HUMAN_SOLUTION_H
#define STAMPEDE_FUNNEL_HUMAN_SOLUTION_H

#include "funnel/human/human.h"
#include "funnel/human/puzzle.h"

enum { SOLUTION_TOKEN = 1, SOLUTION_ANSWER = 2, SOLUTION_X = 4, SOLUTION_RESPONSE = 8 };

struct solution {
    struct span pow;                     /* base64; or the token with one of: */
    struct span token, answer, response; /* the answer to a code, the response of a service */
    uint32_t x[PUZZLE_PIECES];           /* where the pieces were put */
    unsigned seen;                       /* SOLUTION_…: the fields of the token's object */
};

/* HUMAN_PASSED: the body can be judged. HUMAN_ABSENT: no solution was sent. HUMAN_MALFORMED. */
MUST_CHECK enum human_answer solution_read(struct span body, struct solution *solution);

#endif
