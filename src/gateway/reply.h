/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/reply.h: writes the answers of an edge. All HTTP heads but those of purchases (answers.h) and of
 * static files are written here.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_REPLY_H
#define STAMPEDE_GATEWAY_REPLY_H

#include "api/problems.h"
#include "edge/edge.h"

struct exchange;
struct job;
struct reply_to;
struct routes;

enum {
    COMPLETE_BODY_MAX = 3072, /* the longest JSON that complete_json takes */
};

/* Answers now: into the exchange's text. */
enum edge_verdict reply_bytes(
    struct exchange *exchange, int status, struct span type, struct span headers, struct span body);
/* The head of an answer whose body the edge sends from elsewhere. */
enum edge_verdict reply_head(struct exchange *exchange, int status, struct span type,
    struct span headers, size_t body_bytes);
enum edge_verdict reply_json(
    struct exchange *exchange, int status, const struct text *body, bool cacheable);
/* `detail` NULL: the standard one in the reader's language. */
enum edge_verdict reply_problem(struct exchange *exchange, enum problem problem, const char *detail);
/* A problem with further members (beginning with a comma) and further header lines. */
struct problem_answer {
    enum problem problem;
    const char *detail;
    struct span members, headers;
};
enum edge_verdict reply_refusal(struct exchange *exchange, const struct problem_answer *answer);
/* An answer of a purchase; its flags are set here. */
enum edge_verdict reply_answer(struct exchange *exchange, struct edge_answer answer);
enum edge_verdict reply_too_fast(struct exchange *exchange, uint32_t wait_ms);
uint8_t exchange_flags(const struct exchange *exchange); /* edge_answer.flags */
uint8_t reply_flags(const struct reply_to *to);          /* the same */

/* Answers a request that was deferred. */
void complete_problem(struct routes *routes, const struct reply_to *to, enum problem problem);
void complete_refusal(
    struct routes *routes, const struct reply_to *to, const struct problem_answer *answer);
void complete_bytes(struct routes *routes, const struct reply_to *to, int status, struct span type,
    struct span headers, struct span body); /* of COMPLETE_BODY_MAX at most */
void complete_json(struct routes *routes, const struct reply_to *to, int status, const struct text *body);
void complete_job(struct routes *routes, const struct job *job); /* with what the worker said */

/* An answer of a purchase, with the lines for its origin. */
void reply_render(
    struct routes *routes, const struct edge_answer *answer, bool closing, struct text *out);
struct span reply_ready(void *self, const struct edge_answer *answer); /* edge_handler.ready; self: routes */
/* edge_handler.refuse; self: routes. */
void reply_refuse(void *self, int status, const char *why, struct text *out);
/* Seconds for Retry-After: one to five, not the same for everybody. */
unsigned retry_after_s(struct routes *routes);

#endif
