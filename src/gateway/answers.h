/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/answers.h: the answer to a purchase: first a compact edge_answer, then, when the connection
 * can send it, bytes. Refusals without numbers are rendered once at start; a reply is then one copy, or none
 * (answer_ready). */
#ifndef STAMPEDE_GATEWAY_ANSWERS_H
#define STAMPEDE_GATEWAY_ANSWERS_H

#include "api/problems.h"
#include "edge/edge.h"

struct door_result;
struct funnel_keys;
struct outcome;

void answers_create(void); /* once, at start */

/* edge_answer.flags: which origin may read it (0: none), and in which language it is told. */
enum { ANSWER_ORIGIN = 0x0f, ANSWER_CHINESE = 0x10 };
/* edge_answer.a of PROBLEM_LIMIT_REACHED: it is the limit over a period. */
enum { ANSWER_LIMIT_PERIOD = 1 };

/* edge_answer.kind is an enum problem (PROBLEM_NONE: won), or one above for a win that is not decided
 * yet; the numbers are the answer's own. */
struct edge_answer answer_from_door(const struct door_result *result);
struct edge_answer answer_from_outcome(const struct outcome *outcome);

/* In the language of answer->flags. `headers`: further header lines (CORS), or empty. */
void answer_render(const struct edge_answer *answer, const struct funnel_keys *keys,
    struct span headers, bool closing, struct text *out);
/* The same bytes without `headers`, on a connection that stays open, where a thread has them ready but
 * for the date and the numbers; good until its next call. Empty: render it. */
struct span answer_ready(const struct edge_answer *answer, const struct funnel_keys *keys);

/* Sold out, and the item `b` offers something else. */
static inline bool answer_has_offers(const struct edge_answer *answer)
{
    return answer->kind == PROBLEM_SOLD_OUT && answer->b != 0;
}
/* `offers`: further members, beginning with a comma. */
void answer_render_offers(const struct edge_answer *answer, struct span offers, struct span headers,
    bool closing, struct text *out);

#endif
