/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A good answer takes the challenge's mark in `spent`: of many that send it, one is let in. A
 * picture allows a try or two; each takes a mark of its own (the number of the try) before the answer is
 * looked at, so guessing at one picture ends soon, from wherever it comes. These marks are kept in a
 * set of their own, `tries`: where that is full, the answer is looked at all the same, and what keeps
 * guessing within bounds are the failures, counted by user and by address.
 *
 * Neither outlives the process, so a challenge doesn't either: it names the process that gave it
 * by a random number, and all others refuse it, used or not. No clock has a say in that. Where several
 * gateways share what was spent, the number is theirs together, and `spent` is not looked at
 * (human_judge_shared). Tries at a picture are counted by each of them. */
#include "funnel/human/human.h"

#include "base/address.h"
#include "base/base64.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/ring.h"
#include "base/thread.h"
#include "funnel/human/altcha.h"
#include "funnel/human/picture.h"
#include "funnel/human/picture_pool.h"
#include "funnel/human/puzzle.h"
#include "funnel/human/solution.h"
#include "funnel/human/suspicion.h"
#include "funnel/spent.h"

#define ANSWER_METRIC(answer, text) \
    [answer] = METRIC_ROW(METRIC_COUNTER, "stampede_human_total", "answer=\"" text "\"", \
        "Requests for a pass of a sale with a human check, by how the check went.")
static struct metric answer_metrics[HUMAN_ANSWERS] = {
    ANSWER_METRIC(HUMAN_PASSED, "passed"),
    ANSWER_METRIC(HUMAN_ABSENT, "absent"),
    ANSWER_METRIC(HUMAN_MALFORMED, "malformed"),
    ANSWER_METRIC(HUMAN_FAILED, "failed"),
    ANSWER_METRIC(HUMAN_SPENT, "spent"),
    ANSWER_METRIC(HUMAN_OLD, "old"),
    ANSWER_METRIC(HUMAN_CROWDED, "crowded"),
    ANSWER_METRIC(HUMAN_PENDING, "pending"),
    ANSWER_METRIC(HUMAN_AWAY, "away"),
    ANSWER_METRIC(HUMAN_REFUSED, "refused"),
};
METRIC_TABLE(answer_metrics);

/* ---- how often somebody failed, or passed */

static uint32_t now_s(const struct human_visit *visit)
{
    return (uint32_t)(visit->now_ms / 1000);
}

/* Users and addresses share one table. */
static uint64_t user_place(const struct human *human, const struct human_visit *visit)
{
    uint8_t text[1 + sizeof(user_id)] = { 'u' };
    bytes_put_u64(text + 1, visit->user);
    return hash_siphash(human->keys->spent, text, sizeof text);
}

struct failures {
    uint32_t user, address; /* points */
};
static struct failures failures_of(const struct human *human, const struct human_visit *visit)
{
    return (struct failures){ .user = suspicion_of(
                                  human->failures, user_place(human, visit), now_s(visit)),
        .address = suspicion_of(human->failures, visit->source, now_s(visit)) };
}

static void failure_note(const struct human *human, const struct human_visit *visit)
{
    suspicion_add(human->failures, user_place(human, visit), HUMAN_FAILURE_POINTS, now_s(visit));
    suspicion_add(human->failures, visit->source, HUMAN_FAILURE_POINTS, now_s(visit));
}

bool human_refused(const struct human *human, const struct human_visit *visit)
{
    const struct failures failures = failures_of(human, visit);
    return failures.user >= HUMAN_USER_REFUSED || failures.address >= HUMAN_ADDRESS_REFUSED;
}

static bool pictures_allowed(const struct human *human, const struct human_visit *visit)
{
    const struct failures failures = failures_of(human, visit);
    return failures.user < HUMAN_USER_NO_PICTURES && failures.address < HUMAN_ADDRESS_NO_PICTURES;
}

static uint32_t failure_bits(const struct human *human, const struct human_visit *visit)
{
    const struct failures failures = failures_of(human, visit);
    const uint32_t user = failures.user / HUMAN_USER_POINTS_PER_BIT;
    const uint32_t address = failures.address / HUMAN_ADDRESS_POINTS_PER_BIT;
    const uint32_t bits = user > address ? user : address;
    return bits < HUMAN_FAILURE_BITS_MAX ? bits : HUMAN_FAILURE_BITS_MAX;
}

/* The work grows with the number of passes: it doubles when they have. */
static uint32_t pass_bits(const struct human *human, const struct human_visit *visit)
{
    uint32_t passes = suspicion_of(human->passes, visit->source, now_s(visit)) / HUMAN_PASSES_FREE + 1;
    uint32_t bits = 0;
    while ((passes >>= 1) != 0)
        bits++;
    return bits;
}

/* ---- challenges */

static uint32_t expiry_s(const struct human *human, const struct human_visit *visit)
{
    return now_s(visit) + human->life_s;
}

uint32_t human_work(const struct human *human, const struct human_visit *visit)
{
    const uint32_t bits = failure_bits(human, visit) + pass_bits(human, visit) + visit->pow_boost
        + (visit->asked != HUMAN_POW ? HUMAN_ALTERNATIVE_BITS : 0);
    const uint64_t hashes = (uint64_t)human->pow_hashes << (bits < 31 ? bits : 31);
    return hashes < ALTCHA_HASHES_MAX ? (uint32_t)hashes : ALTCHA_HASHES_MAX;
}

static void pow_challenge(const struct human *human, const struct human_visit *visit, struct text *out)
{
    struct altcha_challenge challenge = { .item = visit->item,
        .user = visit->user,
        .start = human->start,
        .expires_s = expiry_s(human, visit) };
    uint8_t secret[2 * ALTCHA_NONCE_BYTES];
    random_secret(secret, sizeof secret);
    memcpy(challenge.nonce, secret, ALTCHA_NONCE_BYTES);
    memcpy(challenge.salt, secret + ALTCHA_NONCE_BYTES, ALTCHA_NONCE_BYTES);
    altcha_work(human_work(human, visit), &challenge);
    altcha_render(&challenge, human->keys->human, out);
}

static void picture_render(struct text *out, const struct picture *picture)
{
    char bytes[BASE64_STANDARD_CHARS(PICTURE_BYTES_MAX)];
    const size_t chars = base64_standard_encode(picture->png, picture->size, bytes);
    text_literal(out, "\"data:image/png;base64,");
    text_add(out, span_of(bytes, chars));
    text_literal(out, "\"");
}

/* What both pictures have in common; the object stays open. */
static void puzzle_render(const struct human *human, const struct puzzle *puzzle, struct text *out)
{
    char token[PUZZLE_CHARS];
    puzzle_issue(human->keys, puzzle, token);
    const bool picture = puzzle->kind == HUMAN_IMAGE || puzzle->kind == HUMAN_SLIDER;
    invariant(picture || human->outside != NULL);
    const char *kind = !picture       ? human->outside->name
        : puzzle->kind == HUMAN_IMAGE ? "image"
                                      : "slider";
    text_format(out, "{\"kind\":\"%s\",\"token\":\"", kind);
    text_add(out, span_of(token, sizeof token));
    text_format(out,
        "\",\"expires_ms\":%llu,\"tries\":%d,\"alternative\":\"/v1/items/%u/challenge?kind=pow\"",
        (unsigned long long)puzzle->expires_s * 1000,
        puzzle->kind == HUMAN_IMAGE ? HUMAN_CODE_TRIES : 1, puzzle->item);
}

static struct puzzle puzzle_make(const struct human *human, const struct human_visit *visit, uint32_t kind)
{
    struct puzzle puzzle = { .kind = kind,
        .item = visit->item,
        .user = visit->user,
        .expires_s = expiry_s(human, visit),
        .start = human->start };
    random_secret(&puzzle.nonce, sizeof puzzle.nonce);
    return puzzle;
}

static void code_challenge(const struct human *human, const struct human_visit *visit,
    const struct code_picture *picture, struct text *out)
{
    struct puzzle puzzle = puzzle_make(human, visit, HUMAN_IMAGE);
    puzzle.answer = puzzle_code_hash(human->keys, puzzle.nonce, span_from_string(picture->code));
    puzzle_render(human, &puzzle, out);
    text_format(out, ",\"length\":%d,\"image\":", PUZZLE_CODE_CHARS);
    picture_render(out, &picture->picture);
    text_literal(out, "}");
}

static void slider_challenge(const struct human *human, const struct human_visit *visit,
    const struct slider_picture *picture, struct text *out)
{
    struct puzzle puzzle = puzzle_make(human, visit, HUMAN_SLIDER);
    puzzle.answer = puzzle_slider_hash(human->keys, puzzle.nonce, picture->x);
    puzzle_render(human, &puzzle, out);
    text_format(out, ",\"width\":%d,\"height\":%d,\"piece_size\":%d,\"image\":", PICTURE_SLIDER_WIDTH,
        PICTURE_SLIDER_HEIGHT, PICTURE_PIECE_SIZE);
    picture_render(out, &picture->whole);
    text_literal(out, ",\"pieces\":[");
    for (uint32_t i = 0; i < PUZZLE_PIECES; i++) {
        text_string(out, i > 0 ? "," : "");
        picture_render(out, &picture->pieces[i]);
    }
    text_literal(out, "]}");
}

static void outside_challenge(const struct human *human, const struct human_visit *visit, struct text *out)
{
    const struct puzzle puzzle = puzzle_make(human, visit, PUZZLE_OUTSIDE);
    puzzle_render(human, &puzzle, out);
    text_format(out, ",\"site_key\":\"%s\"}", human->outside->site_key); /* needs no escapes: config.c */
}

const char *human_kind_name(const struct human *human, enum human_check asked)
{
    return human->outside != NULL && asked > HUMAN_POW ? human->outside->name : human_check_name(asked);
}

void human_challenge(const struct human *human, const struct human_visit *visit,
    enum human_check kind, struct text *out)
{
    const bool allowed = pictures_allowed(human, visit), pictures = human->pool != NULL && allowed;
    if (kind != HUMAN_POW && human->outside != NULL && allowed) {
        outside_challenge(human, visit, out);
        return;
    }
    if (kind == HUMAN_IMAGE && pictures) {
        const struct code_picture *picture = picture_pool_code(human->pool, human->edge);
        if (picture != NULL) {
            code_challenge(human, visit, picture, out);
            return;
        }
    }
    if (kind == HUMAN_SLIDER && pictures) {
        const struct slider_picture *picture = picture_pool_slider(human->pool, human->edge);
        if (picture != NULL) {
            slider_challenge(human, visit, picture, out);
            return;
        }
    }
    pow_challenge(human, visit, out);
}

/* ---- judging */

/* `what`: 0 for the challenge itself, else the number of a try. */
static uint64_t mark_of(
    const struct human *human, uint32_t kind, const void *nonce, size_t nonce_bytes, uint32_t what)
{
    uint8_t text[ALTCHA_NONCE_BYTES + 3] = { 0 };
    invariant(nonce_bytes <= ALTCHA_NONCE_BYTES);
    memcpy(text, nonce, nonce_bytes);
    text[ALTCHA_NONCE_BYTES] = (uint8_t)kind;
    text[ALTCHA_NONCE_BYTES + 1] = (uint8_t)what;
    return hash_siphash(human->keys->spent, text, sizeof text);
}

static enum human_answer spend(const struct human *human, const struct human_visit *visit,
    uint64_t mark, uint32_t expires_s, struct human_mark *shared)
{
    static const enum human_answer answers[] = {
        [SPENT_FRESH] = HUMAN_PASSED, [SPENT_AGAIN] = HUMAN_SPENT, [SPENT_FULL] = HUMAN_CROWDED
    };
    if (shared != NULL) {
        *shared = (struct human_mark){ mark != 0 ? mark : 1, expires_s };
        return HUMAN_TO_ASK;
    }
    return answers[spent_take(human->spent, mark, expires_s, now_s(visit))];
}

static enum human_answer pow_judge(const struct human *human, const struct human_visit *visit,
    struct span payload, struct human_mark *shared)
{
    struct altcha_challenge challenge;
    switch (altcha_check(
        payload, human->keys->human, visit->item, visit->user, visit->now_ms, &challenge)) {
    case ALTCHA_SOLVED:
        if (challenge.start != human->start)
            return HUMAN_OLD;
        return spend(human, visit, mark_of(human, HUMAN_POW, challenge.nonce, sizeof challenge.nonce, 0),
            challenge.expires_s, shared);
    case ALTCHA_MALFORMED:
        return HUMAN_MALFORMED;
    case ALTCHA_FORGED:
    case ALTCHA_EXPIRED:
    case ALTCHA_FOREIGN:
    case ALTCHA_WRONG:
        break;
    }
    return HUMAN_FAILED;
}

/* False: all tries at this picture were used. */
static bool try_take(
    const struct human *human, const struct human_visit *visit, const struct puzzle *puzzle)
{
    const uint32_t tries = puzzle->kind == HUMAN_IMAGE ? HUMAN_CODE_TRIES : HUMAN_SLIDER_TRIES;
    for (uint32_t i = 1; i <= tries; i++) {
        const uint64_t mark = mark_of(human, puzzle->kind, &puzzle->nonce, sizeof puzzle->nonce, i);
        if (spent_take(human->tries, mark, puzzle->expires_s, now_s(visit)) != SPENT_AGAIN)
            return true; /* SPENT_FULL too: others who fill the set must not keep people out */
    }
    return false;
}

/* ---- a verdict from outside */

enum { MARK_ASKED = 1, MARK_PERSON, MARK_MACHINE, MARK_NONE, MARK_BLAMED };

static uint64_t outside_mark(const struct human *human, const struct puzzle *puzzle, uint32_t what)
{
    return mark_of(human, PUZZLE_OUTSIDE, &puzzle->nonce, sizeof puzzle->nonce, what);
}

static bool question_push(const struct human *human, const struct human_visit *visit,
    const struct puzzle *puzzle, struct span response)
{
    struct human_question *question = ring_reserve(human->outside->questions);
    if (question == NULL)
        return false;
    struct text client = text_in(question->client, sizeof question->client);
    if (visit->client != NULL)
        address_text(&client, visit->client);
    question->client_size = (uint16_t)client.size;
    question->person = outside_mark(human, puzzle, MARK_PERSON);
    question->machine = outside_mark(human, puzzle, MARK_MACHINE);
    question->none = outside_mark(human, puzzle, MARK_NONE);
    question->expires_s = puzzle->expires_s;
    question->response_size = (uint16_t)response.size;
    memcpy(question->response, response.data, response.size);
    ring_commit(human->outside->questions);
    (void)ring_publish(human->outside->questions);
    wake_signal(human->outside->asker);
    return true;
}

/* The first time the question is asked, once; the same sent again hears what came of it. */
static enum human_answer outside_judge(const struct human *human, const struct human_visit *visit,
    const struct puzzle *puzzle, struct span response, struct human_mark *shared)
{
    struct spent *verdicts = human->outside->verdicts;
    const uint64_t asked = outside_mark(human, puzzle, MARK_ASKED);
    const uint64_t blamed = outside_mark(human, puzzle, MARK_BLAMED);
    if (spent_seen(verdicts, outside_mark(human, puzzle, MARK_PERSON)))
        return spend(human, visit, outside_mark(human, puzzle, 0), puzzle->expires_s, shared);
    if (spent_seen(verdicts, outside_mark(human, puzzle, MARK_NONE)))
        return HUMAN_AWAY;
    if (spent_seen(verdicts, outside_mark(human, puzzle, MARK_MACHINE)))
        return spent_take(verdicts, blamed, puzzle->expires_s, now_s(visit)) == SPENT_AGAIN
            ? HUMAN_SPENT
            : HUMAN_FAILED;
    switch (spent_take(verdicts, asked, puzzle->expires_s, now_s(visit))) {
    case SPENT_AGAIN:
        return HUMAN_PENDING;
    case SPENT_FULL:
        return HUMAN_CROWDED;
    case SPENT_FRESH:
        break;
    }
    if (question_push(human, visit, puzzle, response))
        return HUMAN_PENDING;
    spent_give_back(verdicts, asked);
    return HUMAN_CROWDED;
}

/* Whether the kind of the picture, or the service, is what the sale asks for now. */
static bool puzzle_accepted(
    const struct human *human, const struct human_visit *visit, uint32_t kind, unsigned seen)
{
    if (visit->asked <= HUMAN_POW)
        return false;
    if (human->outside != NULL)
        return kind == PUZZLE_OUTSIDE && (seen & SOLUTION_RESPONSE) != 0;
    return kind == visit->asked && (seen & SOLUTION_RESPONSE) == 0;
}

static enum human_answer puzzle_judge(const struct human *human, const struct human_visit *visit,
    const struct solution *solution, struct human_mark *shared)
{
    struct puzzle puzzle;
    const enum puzzle_answer read =
        puzzle_read(human->keys, solution->token, visit->item, visit->user, visit->now_ms, &puzzle);
    if (read != PUZZLE_GOOD)
        return read == PUZZLE_MALFORMED ? HUMAN_MALFORMED : HUMAN_FAILED;
    if (!puzzle_accepted(human, visit, puzzle.kind, solution->seen))
        return HUMAN_FAILED;
    if (puzzle.start != human->start)
        return HUMAN_OLD;
    if (puzzle.kind == PUZZLE_OUTSIDE)
        return solution->response.size > 0 && solution->response.size <= HUMAN_RESPONSE_MAX
            ? outside_judge(human, visit, &puzzle, solution->response, shared)
            : HUMAN_MALFORMED;
    if (!try_take(human, visit, &puzzle))
        return HUMAN_SPENT;
    const bool fits = (solution->seen & SOLUTION_ANSWER) != 0
        ? puzzle_code_fits(human->keys, &puzzle, solution->answer)
        : puzzle_slider_fits(human->keys, &puzzle, solution->x);
    if (!fits)
        return HUMAN_FAILED;
    return spend(human, visit, mark_of(human, puzzle.kind, &puzzle.nonce, sizeof puzzle.nonce, 0),
        puzzle.expires_s, shared);
}

void human_told(const struct human *human, const struct human_visit *visit, enum human_answer answer)
{
    if (answer == HUMAN_PASSED)
        suspicion_add(human->passes, visit->source, 1, now_s(visit));
    if (answer == HUMAN_FAILED) /* a repeated one is worth nothing to anybody, and may be a lost answer */
        failure_note(human, visit);
    metric_add(&answer_metrics[answer], 1);
}

enum human_answer human_judge(const struct human *human, const struct human_visit *visit, struct span body)
{
    return human_judge_shared(human, visit, body, NULL);
}

enum human_answer human_judge_shared(const struct human *human, const struct human_visit *visit,
    struct span body, struct human_mark *mark)
{
    struct solution solution;
    invariant(visit->asked != HUMAN_NONE);
    enum human_answer answer = solution_read(body, &solution);
    if (answer == HUMAN_PASSED && human_refused(human, visit))
        answer = HUMAN_REFUSED;
    else if (answer == HUMAN_PASSED)
        answer = solution.pow.data != NULL ? pow_judge(human, visit, solution.pow, mark)
                                           : puzzle_judge(human, visit, &solution, mark);
    if (answer != HUMAN_TO_ASK)
        human_told(human, visit, answer);
    return answer;
}
