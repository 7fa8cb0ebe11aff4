#include "wiring/answers.h"

#include "base/clock.h"
#include "edge/http_date.h"
#include "edge/http_reply.h"

#include <string.h>

static const uint8_t from_door[DOOR_REASONS] = {
    [DOOR_UNKNOWN_ITEM] = PROBLEM_UNKNOWN_ITEM,
    [DOOR_NOT_STARTED] = PROBLEM_NOT_STARTED,
    [DOOR_ENDED] = PROBLEM_ENDED,
    [DOOR_PAUSED] = PROBLEM_PAUSED,
    [DOOR_UNAVAILABLE] = PROBLEM_UNAVAILABLE,
    [DOOR_SESSION_INVALID] = PROBLEM_SESSION_INVALID,
    [DOOR_PASS_REQUIRED] = PROBLEM_PASS_REQUIRED,
    [DOOR_PASS_INVALID] = PROBLEM_PASS_INVALID,
    [DOOR_PASS_EXPIRED] = PROBLEM_PASS_EXPIRED,
    [DOOR_PASS_FOREIGN] = PROBLEM_PASS_FOREIGN,
    [DOOR_BAD_BODY] = PROBLEM_BAD_BODY,
    [DOOR_BAD_QUANTITY] = PROBLEM_BAD_QUANTITY,
    [DOOR_BAD_CHANNEL] = PROBLEM_BAD_CHANNEL,
    [DOOR_BAD_KEY] = PROBLEM_BAD_KEY,
    [DOOR_KEY_REQUIRED] = PROBLEM_KEY_REQUIRED,
    [DOOR_SOLD_OUT] = PROBLEM_SOLD_OUT,
};

static const uint8_t from_answer[ANSWERS] = {
    [ANSWER_KEY_REUSED] = PROBLEM_KEY_REUSED,
    [ANSWER_KEY_REQUIRED] = PROBLEM_KEY_REQUIRED,
    [ANSWER_IN_PROGRESS] = PROBLEM_IN_PROGRESS,
    [ANSWER_ALREADY_BOUGHT] = PROBLEM_ALREADY_BOUGHT,
    [ANSWER_LIMIT_REACHED] = PROBLEM_LIMIT_REACHED,
    [ANSWER_SOLD_OUT] = PROBLEM_SOLD_OUT,
    [ANSWER_NOT_STARTED] = PROBLEM_NOT_STARTED,
    [ANSWER_ENDED] = PROBLEM_ENDED,
    [ANSWER_PAUSED] = PROBLEM_PAUSED,
    [ANSWER_NOT_ELIGIBLE] = PROBLEM_NOT_ELIGIBLE,
    [ANSWER_UNKNOWN_ITEM] = PROBLEM_UNKNOWN_ITEM,
    [ANSWER_BAD_QUANTITY] = PROBLEM_BAD_QUANTITY,
    [ANSWER_BAD_CHANNEL] = PROBLEM_BAD_CHANNEL,
    [ANSWER_TOO_POPULAR] = PROBLEM_TOO_POPULAR,
    [ANSWER_UNAVAILABLE] = PROBLEM_UNAVAILABLE,
    [ANSWER_CONFLICT] = PROBLEM_CONFLICT,
    [ANSWER_UNKNOWN_SALE] = PROBLEM_UNKNOWN_SALE,
    [ANSWER_UNKNOWN_TICKET] = PROBLEM_UNKNOWN_ORDER,
};

enum problem problem_from_answer(enum answer answer)
{
    return from_answer[answer];
}

struct edge_answer answer_from_door(const struct door_result *result)
{
    struct edge_answer answer = { .kind = from_door[result->reason] };
    invariant(answer.kind != PROBLEM_NONE);
    if (result->reason == DOOR_NOT_STARTED)
        answer.b = result->start_ms;
    if (result->reason == DOOR_SOLD_OUT)
        answer.a = result->free;
    return answer;
}

struct edge_answer answer_from_outcome(const struct outcome *outcome)
{
    if (outcome->answer == ANSWER_WON || outcome->answer == ANSWER_REPEATED)
        return (struct edge_answer){ .kind = PROBLEM_NONE,
            .extra = (uint16_t)outcome->item,
            .a = outcome->quantity,
            .b = outcome->ticket,
            .c = outcome->unit_price,
            .d = outcome->pay_by_ms };
    struct edge_answer answer = { .kind = from_answer[outcome->answer] };
    invariant(answer.kind != PROBLEM_NONE);
    if (outcome->answer == ANSWER_SOLD_OUT)
        answer.a = outcome->free;
    else if (outcome->answer == ANSWER_ALREADY_BOUGHT || outcome->answer == ANSWER_LIMIT_REACHED)
        answer.b = outcome->ticket;
    return answer;
}

/* A refusal rendered at start: the bytes, where the date stands, and where a ticket id or the
 * seconds to wait go. */
struct ready {
    char bytes[640];
    uint32_t size;
    uint32_t date;   /* offset of the Date value */
    uint32_t number; /* offset of what is filled in; 0: nothing */
};
static struct ready ready_plain[PROBLEMS];  /* sold out: none free */
static struct ready ready_ticket[PROBLEMS]; /* with a ticket */

static const char ticket_gap[] = "0000000000000000";

static bool waits(enum problem problem)
{
    return problem_texts[problem].status == 503;
}

static void ready_make(struct ready *ready, enum problem problem, struct span more)
{
    struct text out = text_in(ready->bytes, sizeof ready->bytes);
    problem_reply(
        &out, problem, NULL, more, waits(problem) ? SPAN("Retry-After: 1\r\n") : SPAN_NONE, false);
    invariant(!out.overflow);
    ready->size = (uint32_t)out.size;
    const char *date = memmem(out.data, out.size, "\r\nDate: ", 8);
    invariant(date != NULL);
    ready->date = (uint32_t)(date + 8 - out.data);
    const char *gap = waits(problem) ? memmem(out.data, out.size, "Retry-After: ", 13)
        : more.size > 0              ? memmem(out.data, out.size, ticket_gap, 16)
                                     : NULL;
    ready->number = gap == NULL ? 0 : (uint32_t)(gap - out.data) + (waits(problem) ? 13 : 0);
}

void answers_create(void)
{
    for (int problem = PROBLEM_NONE + 1; problem < PROBLEMS; problem++) {
        const bool sold_out = problem == PROBLEM_SOLD_OUT;
        ready_make(&ready_plain[problem], (enum problem)problem,
            sold_out ? SPAN(",\"free\":0") : SPAN_NONE);
        ready_make(&ready_ticket[problem], (enum problem)problem,
            SPAN(",\"ticket\":\"0000000000000000\""));
    }
}

static void ready_fill(const struct edge_answer *answer, const struct funnel_keys *keys, char *at)
{
    struct text gap = text_in(at, 16);
    if (waits(answer->kind)) /* one to five seconds, so that nobody comes back all at once */
        text_u64(&gap, 1 + clock_monotonic_ns() / 1000 % 5);
    else
        text_hex64(&gap, funnel_ticket_id(keys, answer->b));
}

static inline void ready_render(const struct ready *ready, const struct edge_answer *answer,
    const struct funnel_keys *keys, struct text *out)
{
    const size_t start = out->size;
    text_add(out, span_of(ready->bytes, ready->size));
    if (__builtin_expect(out->overflow, 0))
        return;
    memcpy(out->data + start + ready->date, http_date(), HTTP_DATE_CHARS);
    if (ready->number != 0)
        ready_fill(answer, keys, out->data + start + ready->number);
}

static void won_render(const struct edge_answer *answer, const struct funnel_keys *keys,
    struct span headers, bool closing, struct text *out)
{
    char body_bytes[256], header_bytes[512];
    struct text body = text_in(body_bytes, sizeof body_bytes);
    struct text head = text_in(header_bytes, sizeof header_bytes);
    const uint64_t ticket = funnel_ticket_id(keys, answer->b);
    text_literal(&body, "{\"outcome\":\"won\",\"ticket\":\"");
    text_hex64(&body, ticket);
    text_literal(&body, "\",\"order\":\"");
    text_hex64(&body, funnel_order_id(keys, answer->b));
    text_literal(&body, "\",\"item\":");
    text_u64(&body, answer->extra);
    text_literal(&body, ",\"quantity\":");
    text_u64(&body, answer->a);
    text_literal(&body, ",\"unit_price\":");
    text_u64(&body, answer->c);
    text_literal(&body, ",\"pay_by_ms\":");
    text_u64(&body, answer->d);
    text_literal(&body, "}");
    text_literal(&head, "Location: /v1/tickets/");
    text_hex64(&head, ticket);
    text_literal(&head, "\r\n");
    text_add(&head, headers);
    invariant(!body.overflow && !head.overflow);
    http_reply(out, 202, SPAN("application/json"), text_span(&head), text_span(&body), closing);
}

static void refusal_render(const struct edge_answer *answer, const struct funnel_keys *keys,
    struct span headers, bool closing, struct text *out)
{
    char more_bytes[64], header_bytes[512];
    struct text more = text_in(more_bytes, sizeof more_bytes);
    struct text head = text_in(header_bytes, sizeof header_bytes);
    const enum problem problem = answer->kind;
    if (problem == PROBLEM_SOLD_OUT) {
        text_literal(&more, ",\"free\":");
        text_u64(&more, answer->a);
    } else if (problem == PROBLEM_NOT_STARTED) {
        text_literal(&more, ",\"start_ms\":");
        text_u64(&more, answer->b);
    } else if (answer->b != 0) {
        text_literal(&more, ",\"ticket\":\"");
        text_hex64(&more, funnel_ticket_id(keys, answer->b));
        text_literal(&more, "\"");
    }
    if (waits(problem)) {
        text_literal(&head, "Retry-After: ");
        text_u64(&head, 1 + clock_monotonic_ns() / 1000 % 5);
        text_literal(&head, "\r\n");
    }
    text_add(&head, headers);
    problem_reply(out, problem, NULL, text_span(&more), text_span(&head), closing);
}

void answer_render(const struct edge_answer *answer, const struct funnel_keys *keys,
    struct span headers, bool closing, struct text *out)
{
    const enum problem problem = answer->kind;
    if (problem == PROBLEM_NONE) {
        won_render(answer, keys, headers, closing, out);
        return;
    }
    const bool simple =
        problem != PROBLEM_NOT_STARTED && (problem != PROBLEM_SOLD_OUT || answer->a == 0);
    if (simple && headers.size == 0 && !closing)
        ready_render(answer->b != 0 ? &ready_ticket[problem] : &ready_plain[problem], answer, keys, out);
    else
        refusal_render(answer, keys, headers, closing, out);
}
