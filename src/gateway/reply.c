/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/reply.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "api/job.h"
#include "edge/http_reply.h"
#include "gateway/answers.h"
#include "gateway/exchange.h"
#include "gateway/request_shape.h"
#include "gateway/routes_state.h"
#include "gateway/settings.h"

#include <string.h>

enum {
    ORIGIN_LINES_MAX = ORIGIN_BYTES_MAX + 64, /* the lines about the origin */
    OWN_LINES_MAX = 512,                      /* the lines that an answer has besides */
    PROBLEM_BODY_MAX = 4096,
};
static_assert((int)JOB_HEADERS_BYTES <= (int)OWN_LINES_MAX, "the lines of the worker fit");
static_assert(JOB_HEADERS_BYTES + ORIGIN_LINES_MAX + 512 <= JOB_HEAD_BYTES,
    "a head has room for the lines of worker and origin, and for what every head has");

unsigned retry_after_s(struct routes *routes)
{
    return (unsigned)(random_next(&routes->random) % 5 + 1);
}

static void origin_lines(const struct routes *routes, uint8_t cors, struct text *out)
{
    if (cors == 0 || cors > routes->settings->origin_count)
        return;
    text_literal(out, "Access-Control-Allow-Origin: ");
    text_string(out, routes->settings->origins[cors - 1]);
    text_literal(out, "\r\nVary: Origin\r\n");
}

/* Writes the head of an answer: its own lines, and then those about the origin. */
static void head_write(const struct routes *routes, const struct reply_to *to, int status,
    struct span type, struct span own, size_t body_bytes, struct text *out)
{
    char bytes[OWN_LINES_MAX + ORIGIN_LINES_MAX];
    struct text lines = text_in(bytes, sizeof bytes);
    text_add(&lines, own);
    const size_t before = lines.size;
    origin_lines(routes, to->cors, &lines);
    if (lines.size == before && routes->settings->origin_count > 0)
        text_literal(&lines, "Vary: Origin\r\n"); /* a page of another origin gets another answer */
    invariant(!lines.overflow);
    http_reply_head(out, status, type, text_span(&lines), body_bytes, to->closing);
}

/* The whole answer that tells of a problem. */
static void refusal_write(struct routes *routes, const struct reply_to *to,
    const struct problem_answer *answer, struct text *out)
{
    char bytes[PROBLEM_BODY_MAX], lines_bytes[OWN_LINES_MAX];
    struct text body = text_in(bytes, sizeof bytes), lines = text_in(lines_bytes, sizeof lines_bytes);
    const enum problem problem = answer->problem;
    const char *standard = to->chinese ? problem_chinese(problem) : NULL;
    problem_body(&body, problem, answer->detail != NULL ? answer->detail : standard, answer->members);
    text_add(&lines, answer->headers);
    if (problem_texts[problem].status == 503)
        text_format(&lines, "Retry-After: %u\r\n", retry_after_s(routes));
    text_add(&lines, problem_header(problem));
    invariant(!body.overflow && !lines.overflow);
    head_write(routes, to, problem_texts[problem].status, SPAN("application/problem+json"),
        text_span(&lines), body.size, out);
    text_add(out, text_span(&body));
}

/* ---- now ---- */

enum edge_verdict reply_head(
    struct exchange *exchange, int status, struct span type, struct span headers, size_t body_bytes)
{
    head_write(exchange->routes, &exchange->to, status, type, headers, body_bytes, exchange->out);
    return EDGE_REPLIED;
}

enum edge_verdict reply_bytes(
    struct exchange *exchange, int status, struct span type, struct span headers, struct span body)
{
    reply_head(exchange, status, type, headers, body.size);
    text_add(exchange->out, body);
    return EDGE_REPLIED;
}

enum edge_verdict reply_json(struct exchange *exchange, int status, const struct text *body, bool cacheable)
{
    if (body->overflow)
        return reply_problem(exchange, PROBLEM_INTERNAL, NULL);
    /* Shared for a second, unless it is what one user may see. */
    const bool shared = exchange->request->authorization.data == NULL;
    return reply_bytes(exchange, status, SPAN("application/json"),
        !cacheable   ? SPAN("Cache-Control: no-store\r\n")
            : shared ? SPAN("Cache-Control: public, max-age=0, s-maxage=1\r\n")
                     : SPAN("Cache-Control: no-cache\r\n"),
        text_span(body));
}

enum edge_verdict reply_refusal(struct exchange *exchange, const struct problem_answer *answer)
{
    refusal_write(exchange->routes, &exchange->to, answer, exchange->out);
    return EDGE_REPLIED;
}

enum edge_verdict reply_problem(struct exchange *exchange, enum problem problem, const char *detail)
{
    char line[128];
    struct text head = text_in(line, sizeof line);
    if (problem == PROBLEM_METHOD) {
        const char *allow = routes_allow(exchange->request->path);
        if (allow == NULL)
            problem = PROBLEM_NOT_FOUND;
        else
            text_format(&head, "Allow: %s\r\n", allow);
    }
    return reply_refusal(exchange,
        &(struct problem_answer){ .problem = problem, .detail = detail, .headers = text_span(&head) });
}

uint8_t reply_flags(const struct reply_to *to)
{
    return (uint8_t)(to->cors | (to->chinese ? ANSWER_CHINESE : 0));
}

uint8_t exchange_flags(const struct exchange *exchange)
{
    return reply_flags(&exchange->to);
}

enum edge_verdict reply_answer(struct exchange *exchange, struct edge_answer answer)
{
    answer.flags = exchange_flags(exchange);
    reply_render(exchange->routes, &answer, exchange->to.closing, exchange->out);
    return EDGE_REPLIED;
}

enum edge_verdict reply_too_fast(struct exchange *exchange, uint32_t wait_ms)
{
    return reply_answer(exchange, (struct edge_answer){ .kind = PROBLEM_TOO_FAST, .a = wait_ms });
}

void reply_render(struct routes *routes, const struct edge_answer *answer, bool closing, struct text *out)
{
    char bytes[ORIGIN_LINES_MAX];
    struct text lines = text_in(bytes, sizeof bytes);
    origin_lines(routes, answer->flags & ANSWER_ORIGIN, &lines);
    if (__builtin_expect(answer_has_offers(answer), 0)) {
        const struct catalog *catalog = handover_get(routes->shared.catalog);
        const struct catalog_item *item =
            catalog == NULL ? NULL : catalog_item_find(catalog, (item_id)answer->b);
        answer_render_offers(
            answer, item == NULL ? SPAN_NONE : item->offers, text_span(&lines), closing, out);
        return;
    }
    answer_render(answer, &routes->keys, text_span(&lines), closing, out);
}

struct span reply_ready(void *self, const struct edge_answer *answer)
{
    const struct routes *routes = self;
    return (answer->flags & ANSWER_ORIGIN) == 0 ? answer_ready(answer, &routes->keys) : SPAN_NONE;
}

/* ---- later ---- */

void complete_problem(struct routes *routes, const struct reply_to *to, enum problem problem)
{
    complete_refusal(routes, to, &(struct problem_answer){ .problem = problem });
}

void complete_refusal(struct routes *routes, const struct reply_to *to, const struct problem_answer *answer)
{
    char bytes[PROBLEM_BODY_MAX + JOB_HEAD_BYTES];
    struct text out = text_in(bytes, sizeof bytes);
    refusal_write(routes, to, answer, &out);
    invariant(!out.overflow);
    edge_complete_bytes(routes->edge, to->token, text_span(&out));
}

void complete_bytes(struct routes *routes, const struct reply_to *to, int status, struct span type,
    struct span headers, struct span body)
{
    char bytes[COMPLETE_BODY_MAX + JOB_HEAD_BYTES];
    struct text out = text_in(bytes, sizeof bytes);
    head_write(routes, to, status, type, headers, body.size, &out);
    text_add(&out, body);
    invariant(!out.overflow);
    edge_complete_bytes(routes->edge, to->token, text_span(&out));
}

void complete_json(struct routes *routes, const struct reply_to *to, int status, const struct text *body)
{
    invariant(!body->overflow);
    complete_bytes(routes, to, status, SPAN("application/json"),
        SPAN("Cache-Control: no-store\r\n"), text_span(body));
}

/* The head goes right in front of the body, in the space that is kept for it. */
void complete_job(struct routes *routes, const struct job *job)
{
    char bytes[JOB_HEAD_BYTES];
    struct text head = text_in(bytes, sizeof bytes);
    head_write(routes, &job->to, job->status,
        job->type == NULL ? SPAN_NONE : span_from_string(job->type),
        span_of(job->headers, job->headers_size), job->body_size, &head);
    invariant(!head.overflow);
    char *start = job->response + JOB_HEAD_BYTES - head.size;
    memcpy(start, bytes, head.size);
    edge_complete_bytes(routes->edge, job->to.token, span_of(start, head.size + job->body_size));
}

/* Writes a refusal of the edge itself. The reader's language is not known yet. */
void reply_refuse(void *self, int status, const char *why, struct text *out)
{
    char bytes[512], line[32];
    struct text body = text_in(bytes, sizeof bytes), head = text_in(line, sizeof line);
    if (status == 429 || status == 503 || status == 504) { /* too many connections, no answer: passes */
        text_format(&head, "Retry-After: %u\r\n", retry_after_s(self));
        problem_reply(out,
            status == 429       ? PROBLEM_TOO_FAST
                : status == 503 ? PROBLEM_UNAVAILABLE
                                : PROBLEM_OUTCOME_UNKNOWN,
            why, SPAN_NONE, text_span(&head), true);
        return;
    }
    text_literal(&body, "{\"type\":\"/problems/malformed-request\",\"title\":");
    text_json(&body, span_from_string(http_reason(status)));
    text_format(&body, ",\"status\":%d,\"detail\":", status);
    text_json(&body, span_from_string(why));
    text_literal(&body, "}");
    http_reply(out, status, SPAN("application/problem+json"), SPAN_NONE, text_span(&body), true);
}
