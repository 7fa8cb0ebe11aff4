/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/answers.h"

#include "api/refusals.h"
#include "base/clock.h"
#include "edge/http_date.h"
#include "edge/http_reply.h"
#include "funnel/door.h"
#include "funnel/keys.h"
#include "funnel/limits.h"

#include <string.h>

#define FROM_DOOR(reason, label, problem, signal) [DOOR_##reason] = PROBLEM_##problem,
static const uint8_t from_door[DOOR_REASONS] = { DOOR_REASON_LIST(FROM_DOOR) };
/* PROBLEM_NONE is how a win is told: each reason but GO must name a problem. */
#define REFUSES(reason, label, problem, signal) \
    &&(DOOR_##reason == DOOR_GO || PROBLEM_##problem != PROBLEM_NONE)
static_assert(true DOOR_REASON_LIST(REFUSES), "funnel/door.h: a refusal without a problem");

/* The answer tells the time from which the user may try again. */
static bool tells_again(enum problem problem)
{
    return problem == PROBLEM_COOLING_DOWN || problem == PROBLEM_NOT_YOUR_MOMENT;
}

struct edge_answer answer_from_door(const struct door_result *result)
{
    struct edge_answer answer = { .kind = from_door[result->reason] };
    invariant(answer.kind != PROBLEM_NONE);
    if (result->reason == DOOR_NOT_STARTED)
        answer.b = result->start_ms;
    if (result->reason == DOOR_SOLD_OUT)
        answer.a = result->free;
    if (result->reason == DOOR_TOO_FAST || result->reason == DOOR_TOO_POPULAR)
        answer.a = result->wait_ms;
    return answer;
}

/* A kind of answer that is neither a win nor a problem: a win is proposed and not kept yet. */
enum { KIND_DECIDING = PROBLEMS };
static_assert(KIND_DECIDING <= UINT8_MAX, "it fits edge_answer.kind");
static_assert(QUANTITY_MAX <= UINT16_MAX, "it fits edge_answer.extra");

struct edge_answer answer_from_outcome(const struct outcome *outcome)
{
    if (outcome->answer == ANSWER_DECIDING)
        return (struct edge_answer){ .kind = KIND_DECIDING,
            .extra = (uint16_t)outcome->quantity,
            .a = outcome->item,
            .b = outcome->ticket };
    if (outcome->answer == ANSWER_WON || outcome->answer == ANSWER_REPEATED)
        return (struct edge_answer){ .kind = PROBLEM_NONE,
            .extra = (uint16_t)outcome->quantity,
            .a = outcome->item,
            .b = outcome->ticket,
            .c = outcome->unit_price,
            .d = outcome->pay_by_ms };
    struct edge_answer answer = { .kind = refusal_problem(outcome->answer) };
    invariant(answer.kind != PROBLEM_NONE);
    if (outcome->answer == ANSWER_SOLD_OUT)
        answer.a = outcome->free;
    else if (outcome->answer == ANSWER_ALREADY_BOUGHT || outcome->answer == ANSWER_LIMIT_REACHED
        || outcome->answer == ANSWER_OPEN_ORDER)
        answer.b = outcome->ticket;
    else if (outcome->answer == ANSWER_TOO_FAST)
        answer.a = outcome->number;
    else if (tells_again(answer.kind))
        answer.b = outcome->again_ms;
    return answer;
}

/* A refusal rendered at start: the bytes, where the date stands, and where a ticket id or the
 * seconds to wait go. */
struct ready {
    char bytes[640];
    uint32_t size;
    uint32_t date;   /* offset of the Date value */
    uint32_t number; /* offset of what is filled in; 0: nothing */
    bool fixed;      /* the date is all that changes, if the answer has no numbers */
};
enum { ENGLISH, CHINESE, LANGUAGES };
static struct ready ready_plain[LANGUAGES][PROBLEMS];  /* sold out: none free */
static struct ready ready_ticket[LANGUAGES][PROBLEMS]; /* with a ticket */

static const char ticket_gap[] = "0000000000000000";

static bool waits(enum problem problem)
{
    return problem_texts[problem].status == 503 || problem == PROBLEM_TOO_FAST;
}

/* With room for the longest wait: a user who is told to come back too early is counted again, and never
 * gets in. */
#define WAIT_LINE "Retry-After: 9999\r\n"
static_assert(LIMITS_WAIT_MAX_MS / 1000 + 5 <= 9999, "the longest wait fits");

/* When to come back: not before `wait_ms`, and up to five seconds later, so that nobody comes back all
 * at once. Always as wide as in WAIT_LINE, with spaces in front. */
static void wait_text(struct text *out, uint32_t wait_ms)
{
    const uint64_t seconds = wait_ms / 1000 + 1 + clock_monotonic_ns() / 1000 % 5;
    for (uint64_t above = 1000; above > seconds; above /= 10)
        text_literal(out, " ");
    text_u64(out, seconds);
}

static const char *detail_in(int language, enum problem problem)
{
    return language == CHINESE ? problem_chinese(problem) : NULL;
}

static void ready_make(struct ready *ready, enum problem problem, int language, struct span more)
{
    struct text out = text_in(ready->bytes, sizeof ready->bytes);
    problem_reply(&out, problem, detail_in(language, problem), more,
        waits(problem) ? SPAN(WAIT_LINE) : SPAN_NONE, false);
    invariant(!out.overflow);
    ready->size = (uint32_t)out.size;
    const char *date = memmem(out.data, out.size, "\r\nDate: ", 8);
    invariant(date != NULL);
    ready->date = (uint32_t)(date + 8 - out.data);
    const char *gap = waits(problem) ? memmem(out.data, out.size, "Retry-After: ", 13)
        : more.size > 0              ? memmem(out.data, out.size, ticket_gap, 16)
                                     : NULL;
    ready->number = gap == NULL ? 0 : (uint32_t)(gap - out.data) + (waits(problem) ? 13 : 0);
    ready->fixed = gap == NULL && problem != PROBLEM_NOT_STARTED && !tells_again(problem);
}

static void ready_won_make(void);

void answers_create(void)
{
    ready_won_make();
    problems_chinese_create();
    for (int i = 0; i < LANGUAGES * PROBLEMS; i++) {
        const int language = i / PROBLEMS;
        const enum problem problem = (enum problem)(i % PROBLEMS);
        if (problem == PROBLEM_NONE)
            continue;
        ready_make(&ready_plain[language][problem], problem, language,
            problem == PROBLEM_SOLD_OUT ? SPAN(",\"free\":0") : SPAN_NONE);
        ready_make(&ready_ticket[language][problem], problem, language,
            SPAN(",\"ticket\":\"0000000000000000\""));
    }
}

static void ready_fill(const struct edge_answer *answer, const struct funnel_keys *keys, char *at)
{
    struct text gap = text_in(at, 16);
    if (waits(answer->kind))
        wait_text(&gap, answer->a);
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

/* The numbers of a win, from where the fixed part of the body ends. */
static void won_numbers(const struct edge_answer *answer, struct text *out)
{
    text_u64(out, answer->a);
    text_literal(out, ",\"quantity\":");
    text_u64(out, answer->extra);
    text_literal(out, ",\"unit_price\":");
    text_u64(out, answer->c);
    text_literal(out, ",\"pay_by_ms\":");
    text_u64(out, answer->d);
    text_literal(out, "}");
}

/* A win, or one that is being decided: that has no order, no price and no time to pay, because there is no
 * order yet and there may never be one. */
static void accepted_render(const struct edge_answer *answer, const struct funnel_keys *keys,
    struct span headers, bool closing, struct text *out)
{
    char body_bytes[256], header_bytes[512];
    struct text body = text_in(body_bytes, sizeof body_bytes);
    struct text head = text_in(header_bytes, sizeof header_bytes);
    const uint64_t ticket = funnel_ticket_id(keys, answer->b);
    const bool won = answer->kind == PROBLEM_NONE;
    text_format(&body, "{\"outcome\":\"%s\",\"ticket\":\"", won ? "won" : "deciding");
    text_hex64(&body, ticket);
    if (won) {
        text_literal(&body, "\",\"order\":\"");
        text_hex64(&body, funnel_order_id(keys, answer->b));
        text_literal(&body, "\",\"item\":");
        won_numbers(answer, &body);
    } else {
        text_format(&body, "\",\"item\":%u,\"quantity\":%u}", answer->a, answer->extra);
    }
    text_literal(&head, "Cache-Control: no-store\r\nLocation: /v1/tickets/");
    text_hex64(&head, ticket);
    text_string(&head, won ? "\r\n" : "\r\nRetry-After: 1\r\n");
    text_add(&head, headers);
    invariant(!body.overflow && !head.overflow);
    http_reply(out, 202, SPAN("application/json"), text_span(&head), text_span(&body), closing);
}

/* A win, rendered at start up to its numbers, with the offsets of what each answer fills in. */
static struct {
    char bytes[512];
    uint32_t size, body; /* the head's size is `body` */
    uint32_t date, length, location, ticket, order;
} ready_won;

static uint32_t offset_after(const char *text, size_t size, const char *mark)
{
    const char *found = memmem(text, size, mark, strlen(mark));
    invariant(found != NULL);
    return (uint32_t)((size_t)(found - text) + strlen(mark));
}

static void ready_won_make(void)
{
    const struct funnel_keys keys = { 0 }; /* any will do: what they make is filled in later */
    struct text out = text_in(ready_won.bytes, sizeof ready_won.bytes);
    accepted_render(&(struct edge_answer){ .b = 1 }, &keys, SPAN_NONE, false, &out);
    invariant(!out.overflow);
    ready_won.date = offset_after(out.data, out.size, "\r\nDate: ");
    ready_won.length = offset_after(out.data, out.size, "\r\nContent-Length: ");
    ready_won.location = offset_after(out.data, out.size, "/v1/tickets/");
    ready_won.body = offset_after(out.data, out.size, "\r\n\r\n");
    ready_won.ticket = offset_after(out.data, out.size, "\"ticket\":\"");
    ready_won.order = offset_after(out.data, out.size, "\"order\":\"");
    ready_won.size = offset_after(out.data, out.size, "\"item\":");
}

static inline void id_put(char *at, uint64_t id)
{
    struct text hex = text_in(at, 16);
    text_hex64(&hex, id);
}

static inline void won_ids(const struct edge_answer *answer, const struct funnel_keys *keys, char *start)
{
    const struct win_ids ids = funnel_win_ids(keys, answer->b);
    id_put(start + ready_won.location, ids.ticket);
    id_put(start + ready_won.ticket, ids.ticket);
    id_put(start + ready_won.order, ids.order);
}

static void won_render(const struct edge_answer *answer, const struct funnel_keys *keys,
    struct span headers, bool closing, struct text *out)
{
    char *start = out->data + out->size;
    if (headers.size > 0 || closing || out->capacity - out->size < 2 * sizeof ready_won.bytes) {
        accepted_render(answer, keys, headers, closing, out);
        return;
    }
    text_add(out, span_of(ready_won.bytes, ready_won.size));
    won_numbers(answer, out);
    memcpy(start + ready_won.date, http_date(), HTTP_DATE_CHARS);
    won_ids(answer, keys, start);
    /* The body has three digits of length whatever its numbers are. */
    const size_t length = (size_t)(out->data + out->size - start) - ready_won.body;
    invariant(length >= 100 && length <= 999);
    struct text digits = text_in(start + ready_won.length, 3);
    text_u64(&digits, length);
}

void answer_render_offers(const struct edge_answer *answer, struct span offers, struct span headers,
    bool closing, struct text *out)
{
    char bytes[512];
    struct text more = text_in(bytes, sizeof bytes);
    text_format(&more, ",\"free\":%u", answer->a);
    text_add(&more, offers);
    invariant(!more.overflow);
    const int language = (answer->flags & ANSWER_CHINESE) != 0 ? CHINESE : ENGLISH;
    problem_reply(out, PROBLEM_SOLD_OUT, detail_in(language, PROBLEM_SOLD_OUT), text_span(&more),
        headers, closing);
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
    } else if (tells_again(problem)) {
        refusal_again_members(answer->b, &more);
        text_format(&head, "Retry-After: %llu\r\n", (unsigned long long)refusal_retry_s(answer->b));
    } else if (problem == PROBLEM_LIMIT_REACHED && answer->a == ANSWER_LIMIT_PERIOD) {
        text_literal(&more, ",\"limit\":\"period\"");
    } else if (answer->b != 0) {
        text_literal(&more, ",\"ticket\":\"");
        text_hex64(&more, funnel_ticket_id(keys, answer->b));
        text_literal(&more, "\"");
    }
    if (waits(problem)) {
        text_literal(&head, "Retry-After: ");
        wait_text(&head, answer->a);
        text_literal(&head, "\r\n");
    }
    text_add(&head, headers);
    const int language = (answer->flags & ANSWER_CHINESE) != 0 ? CHINESE : ENGLISH;
    problem_reply(out, problem, detail_in(language, problem), text_span(&more), text_span(&head), closing);
}

void answer_render(const struct edge_answer *answer, const struct funnel_keys *keys,
    struct span headers, bool closing, struct text *out)
{
    const enum problem problem = answer->kind;
    if (problem == PROBLEM_NONE) {
        won_render(answer, keys, headers, closing, out);
        return;
    }
    if (__builtin_expect((int)problem == KIND_DECIDING, 0)) {
        accepted_render(answer, keys, headers, closing, out);
        return;
    }
    const bool simple = problem != PROBLEM_NOT_STARTED && !tells_again(problem)
        && ((problem != PROBLEM_SOLD_OUT && problem != PROBLEM_LIMIT_REACHED) || answer->a == 0);
    const int language = (answer->flags & ANSWER_CHINESE) != 0 ? CHINESE : ENGLISH;
    if (simple && headers.size == 0 && !closing)
        ready_render(answer->b != 0 ? &ready_ticket[language][problem] : &ready_plain[language][problem],
            answer, keys, out);
    else
        refusal_render(answer, keys, headers, closing, out);
}

/* ---- ready to send: what this thread told last, with the date of its second ---- */

static _Thread_local struct told {
    uint64_t second;
    uint32_t size;
    uint8_t kind; /* PROBLEM_NONE: nothing yet */
    char bytes[sizeof(((struct ready *)0)->bytes)];
} told[LANGUAGES];

/* SPAN_NONE if the answer has more to say than its problem. */
static __attribute__((noinline)) struct span told_refresh(
    struct told *mine, const struct ready *ready, const struct edge_answer *answer)
{
    if (!ready->fixed || (answer->a | answer->b) != 0)
        return SPAN_NONE;
    memcpy(mine->bytes, ready->bytes, ready->size);
    memcpy(mine->bytes + ready->date, http_date(), HTTP_DATE_CHARS);
    mine->kind = answer->kind;
    mine->size = ready->size;
    mine->second = http_date_second();
    return span_of(mine->bytes, mine->size);
}

/* Wins of one item differ in their ids and in the time to pay, which has 13 digits until the year 2286. */
enum { TIME_DIGITS = 13 };
#define TIME_MIN UINT64_C(1000000000000)
static _Thread_local struct told_win {
    uint64_t second, unit_price, pay_by_ms;
    uint32_t item, quantity, size; /* 0: nothing yet */
    char bytes[2 * sizeof ready_won.bytes];
} told_win;

static __attribute__((noinline)) void told_win_refresh(
    struct told_win *mine, const struct edge_answer *answer, const struct funnel_keys *keys)
{
    struct text out = text_in(mine->bytes, sizeof mine->bytes);
    won_render(answer, keys, SPAN_NONE, false, &out);
    invariant(!out.overflow);
    mine->second = http_date_second();
    mine->unit_price = answer->c;
    mine->pay_by_ms = answer->d;
    mine->quantity = answer->extra;
    mine->item = answer->a;
    mine->size = (uint32_t)out.size;
}

static __attribute__((noinline)) struct span win_ready(
    const struct edge_answer *answer, const struct funnel_keys *keys)
{
    struct told_win *mine = &told_win;
    if (__builtin_expect(answer->d - TIME_MIN >= 9 * TIME_MIN, 0))
        return SPAN_NONE;
    if (__builtin_expect(mine->size == 0 || mine->second != http_date_second()
                || mine->unit_price != answer->c || mine->quantity != answer->extra
                || mine->item != answer->a,
            0)) {
        told_win_refresh(mine, answer, keys);
        return span_of(mine->bytes, mine->size);
    }
    won_ids(answer, keys, mine->bytes);
    if (mine->pay_by_ms != answer->d) { /* wins of one batch were decided in one millisecond */
        struct text time = text_in(mine->bytes + mine->size - TIME_DIGITS - 1, TIME_DIGITS);
        text_u64(&time, answer->d);
        mine->pay_by_ms = answer->d;
    }
    return span_of(mine->bytes, mine->size);
}

struct span answer_ready(const struct edge_answer *answer, const struct funnel_keys *keys)
{
    if (answer->kind == PROBLEM_NONE)
        return win_ready(answer, keys);
    const int language = (answer->flags & ANSWER_CHINESE) != 0 ? CHINESE : ENGLISH;
    struct told *mine = &told[language];
    if (__builtin_expect(mine->kind == answer->kind && mine->second == http_date_second()
                && (answer->a | answer->b) == 0,
            1))
        return span_of(mine->bytes, mine->size);
    if (answer->kind == KIND_DECIDING)
        return SPAN_NONE;
    return told_refresh(mine, &ready_plain[language][answer->kind], answer);
}
