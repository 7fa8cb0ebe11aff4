/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/visit.h"

#include "rehearse/work.h"

#include <stdlib.h>

enum {
    RETRY_BASE_MS = 700, /* these three as web/purchase.js */
    RETRY_MAX_MS = 8000,
    PATIENCE_S = 60,
    POLLS_MAX = 100,
    POLL_MS = 500,
    ROOM_POLL_MIN_MS = 500,
};

struct visit {
    const struct sale_facts *facts;
    uint64_t seed, now_ns;
    struct visitor *visitor;
    const struct heard *heard;
};

static void next(struct visit *visit, enum step step, uint64_t least_ms, uint64_t most_ms)
{
    visit->visitor->step = (uint8_t)step;
    visit->visitor->tries = 0;
    visit->visitor->due_ns =
        visit->now_ns + plan_between_ns(visit->seed, visit->visitor, least_ms, most_ms);
}

static void end(struct visit *visit)
{
    free(visit->visitor->solution);
    visit->visitor->solution = NULL;
    visit->visitor->over = true;
}

/* The same step again, as the page does it. */
static void again(struct visit *visit)
{
    struct visitor *visitor = visit->visitor;
    const uint64_t backoff = (uint64_t)RETRY_BASE_MS << visitor->tries;
    const uint64_t wait_ms = backoff < RETRY_MAX_MS ? backoff : RETRY_MAX_MS;
    if (visitor->tries++ >= VISIT_TRIES_MAX || visit->heard->retry_after_s > PATIENCE_S) {
        end(visit);
        return;
    }
    visitor->due_ns = visit->now_ns + visit->heard->retry_after_s * NS_PER_S
        + plan_between_ns(visit->seed, visitor, wait_ms / 2, wait_ms * 3 / 2);
}

static bool passes_by(enum word word)
{
    return word == WORD_TOO_FAST || word == WORD_TOO_POPULAR || word == WORD_UNAVAILABLE
        || word == WORD_NOT_YOUR_MOMENT || word == WORD_IN_PROGRESS || word == WORD_NO_ANSWER
        || word == WORD_UNKNOWN_OUTCOME;
}

/* People click when the button is live; machines are there at the very moment. */
static void buy_next(struct visit *visit)
{
    struct visitor *visitor = visit->visitor;
    const bool person = visitor->kind == VISITOR_HUMAN;
    uint64_t click_ns = visit->facts->start_ns
        + plan_between_ns(visit->seed, visitor, person ? 100 : 0, person ? 1500 : 20);
    if (visitor->kind == VISITOR_HAMMER)
        click_ns -= NS_PER_S < click_ns ? NS_PER_S : click_ns;
    next(visit, STEP_BUY, person ? 200 : 0, person ? 2000 : 10);
    if (visitor->due_ns < click_ns)
        visitor->due_ns = click_ns;
}

/* A pass is given pass.early_ms before the start at the earliest. */
static void pass_next(struct visit *visit)
{
    struct visitor *visitor = visit->visitor;
    const struct sale_facts *facts = visit->facts;
    const enum step step =
        facts->human_check && visitor->kind != VISITOR_HAMMER ? STEP_CHALLENGE : STEP_PASS;
    uint64_t open_ns =
        facts->start_ns > facts->pass_early_ns ? facts->start_ns - facts->pass_early_ns : 0;
    next(visit, step, 50, visitor->kind == VISITOR_HUMAN ? 1500 : 200);
    if (visitor->due_ns < open_ns)
        visitor->due_ns = open_ns + plan_draw(visit->seed, visitor, facts->pass_early_ns / 2 + 1);
}

static void refused(struct visit *visit)
{
    if (visit->heard->word == WORD_NOT_STARTED) {
        visit->visitor->due_ns =
            visit->facts->start_ns + plan_between_ns(visit->seed, visit->visitor, 20, 170);
        if (visit->visitor->tries++ >= VISIT_TRIES_MAX)
            end(visit);
        else if (visit->visitor->due_ns < visit->now_ns)
            visit->visitor->due_ns = visit->now_ns + NS_PER_S;
    } else if (passes_by(visit->heard->word)) {
        again(visit);
    } else {
        end(visit);
    }
}

static void session_answered(struct visit *visit)
{
    if (!heard_take(visit->heard, "\"session\":", visit->visitor->session, TOKEN_CHARS))
        refused(visit);
    else if (visit->facts->waiting_room)
        next(visit, STEP_ENTER, 0, 300);
    else
        pass_next(visit);
}

static void room_answered(struct visit *visit)
{
    const struct span state = heard_text(visit->heard, "\"state\":");
    if (visit->heard->word != WORD_SERVED) {
        refused(visit);
        return;
    }
    visit->visitor->in_room = true;
    visit->visitor->last = LAYER_ROOM;
    if (span_equal(state, SPAN("admitted"))) {
        pass_next(visit);
    } else if (span_equal(state, SPAN("sold-out")) || span_equal(state, SPAN("ended"))) {
        visit->visitor->last = LAYER_SOLD_OUT;
        end(visit);
    } else {
        uint64_t poll_ms = heard_number(visit->heard, "\"poll_after_ms\":", 1500);
        poll_ms = poll_ms < ROOM_POLL_MIN_MS ? ROOM_POLL_MIN_MS : poll_ms > 30000 ? 30000 : poll_ms;
        next(visit, STEP_ROOM, poll_ms, poll_ms + poll_ms / 4);
    }
}

static void challenge_answered(struct visit *visit)
{
    if (visit->heard->word != WORD_SERVED) {
        refused(visit);
        return;
    }
    free(visit->visitor->solution);
    visit->visitor->solution = work_solve(visit->heard->body);
    visit->visitor->last = LAYER_HUMAN;
    if (visit->visitor->solution == NULL)
        end(visit); /* not proof of work, or more of it than a rehearsal does */
    else
        next(visit, STEP_PASS, 0, 0);
}

static void pass_answered(struct visit *visit)
{
    free(visit->visitor->solution);
    visit->visitor->solution = NULL;
    if (heard_take(visit->heard, "\"pass\":", visit->visitor->pass, TOKEN_CHARS)) {
        visit->visitor->has_pass = true;
        buy_next(visit);
    } else if (visit->visitor->kind == VISITOR_HAMMER) {
        buy_next(visit); /* without one */
    } else if (visit->facts->human_check && word_layer(visit->heard->word) == LAYER_HUMAN
        && visit->visitor->tries < 2) {
        visit->visitor->tries++;
        visit->visitor->step = STEP_CHALLENGE;
        visit->visitor->due_ns = visit->now_ns + NS_PER_S;
    } else if (visit->facts->human_check && passes_by(visit->heard->word)) {
        visit->visitor->step = STEP_CHALLENGE; /* the old one may be used up */
        again(visit);
    } else {
        refused(visit);
    }
}

static void won(struct visit *visit)
{
    struct visitor *visitor = visit->visitor;
    if (!heard_take(visit->heard, "\"ticket\":", visitor->ticket, ID_CHARS)) {
        end(visit);
        return;
    }
    visitor->polls = 0;
    next(visit, STEP_TICKET, 50, 400);
}

static void buy_answered(struct visit *visit)
{
    struct visitor *visitor = visit->visitor;
    const bool win = visit->heard->word == WORD_WON || visit->heard->word == WORD_DECIDING;
    const uint32_t every_ms = visitor->kind == VISITOR_HAMMER ? HAMMER_EVERY_MS : REPLAY_EVERY_MS;
    const uint32_t most = visitor->kind == VISITOR_HAMMER ? HAMMER_REQUESTS : REPLAY_REQUESTS;
    if (visitor->kind == VISITOR_HAMMER || visitor->kind == VISITOR_REPLAY) {
        visitor->due_ns += every_ms * NS_PER_MS; /* from the moment that was meant */
        if (++visitor->rounds >= most)
            end(visit);
    } else if (win) {
        won(visit);
    } else {
        refused(visit);
    }
}

static void settle_next(struct visit *visit)
{
    struct visitor *visitor = visit->visitor;
    if (visitor->kind == VISITOR_HOARDER)
        next(visit, STEP_CANCEL, 1000, 2000);
    else if (visitor->kind != VISITOR_HUMAN || visitor->mood == MOOD_LEAVES)
        end(visit);
    else if (visitor->mood == MOOD_CANCELS)
        next(visit, STEP_CANCEL, 1000, 4000);
    else
        next(visit, visit->facts->details_required ? STEP_DETAILS : STEP_PAY, 1000, 5000);
}

static void poll(struct visit *visit)
{
    if (visit->visitor->polls++ >= POLLS_MAX)
        end(visit);
    else
        visit->visitor->due_ns =
            visit->now_ns + plan_between_ns(visit->seed, visit->visitor, POLL_MS, 2 * POLL_MS);
}

static void ticket_answered(struct visit *visit)
{
    const struct span state = heard_text(visit->heard, "\"state\":");
    if (visit->heard->word != WORD_SERVED) {
        refused(visit);
    } else if (span_equal(state, SPAN("creating")) || span_equal(state, SPAN("deciding"))) {
        poll(visit);
    } else if (heard_take(visit->heard, "\"order\":", visit->visitor->order, ID_CHARS)) {
        visit->visitor->last = LAYER_ORDER;
        settle_next(visit);
    } else {
        end(visit);
    }
}

/* The bank's page is at …?id=… */
static void pay_answered(struct visit *visit)
{
    struct visitor *visitor = visit->visitor;
    const struct span url = heard_text(visit->heard, "\"url\":");
    if (visit->heard->word != WORD_SERVED) {
        refused(visit);
        return;
    }
    const char *id = url.size > 0 ? memmem(url.data, url.size, "id=", 3) : NULL;
    const size_t size = id != NULL ? (size_t)(url.data + url.size - (id + 3)) : 0;
    if (id == NULL) {
        visitor->step = STEP_ORDER;
        poll(visit);
        return;
    }
    if (size == 0 || size > BANK_CHARS_MAX) {
        end(visit);
        return;
    }
    memcpy(visitor->bank, id + 3, size);
    visitor->bank[size] = 0;
    next(visit, STEP_BANK, 500, 3000);
}

static void cancel_answered(struct visit *visit)
{
    struct visitor *visitor = visit->visitor;
    if (visit->heard->word != WORD_SERVED)
        refused(visit);
    else if (visitor->kind == VISITOR_HOARDER && ++visitor->rounds < HOARDER_ROUNDS)
        next(visit, STEP_BUY, 0, 100);
    else
        end(visit);
}

void visit_answered(const struct sale_facts *facts, uint64_t seed, struct visitor *visitor,
    const struct heard *heard, uint64_t now_ns)
{
    struct visit visit = { facts, seed, now_ns, visitor, heard };
    const bool served = heard->word == WORD_SERVED;
    if (visitor->step == STEP_BUY || !served)
        visitor->last = (uint8_t)word_layer(heard->word);
    switch ((enum step)visitor->step) {
    case STEP_PAGE:
        if (served)
            next(&visit, STEP_SESSION, 300, 3000);
        else
            refused(&visit);
        break;
    case STEP_SESSION:
        session_answered(&visit);
        break;
    case STEP_ENTER:
    case STEP_ROOM:
        room_answered(&visit);
        break;
    case STEP_CHALLENGE:
        challenge_answered(&visit);
        break;
    case STEP_PASS:
        pass_answered(&visit);
        break;
    case STEP_BUY:
        buy_answered(&visit);
        break;
    case STEP_TICKET:
        ticket_answered(&visit);
        break;
    case STEP_DETAILS:
        if (served)
            next(&visit, STEP_PAY, 500, 1500);
        else
            refused(&visit);
        break;
    case STEP_PAY:
    case STEP_ORDER:
        pay_answered(&visit);
        break;
    case STEP_BANK:
        if (served) {
            visitor->last = LAYER_PAID;
            end(&visit);
        } else {
            refused(&visit);
        }
        break;
    case STEP_CANCEL:
        cancel_answered(&visit);
        break;
    case STEP_MEASURE:
    case STEPS:
        end(&visit);
        break;
    }
}
