/* SPDX-License-Identifier: Apache-2.0 */
/* The whole check without a network: human, puzzle, suspicion, picture_pool and json_cursor together. */
#include "funnel/human/human.h"

#include "base/arena.h"
#include "base/base64.h"
#include "base/hash.h"
#include "base/random.h"
#include "funnel/human/altcha.h"
#include "funnel/human/picture.h"
#include "funnel/human/picture_pool.h"
#include "funnel/human/puzzle.h"
#include "funnel/human/suspicion.h"
#include "funnel/keys.h"
#include "funnel/spent.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { NOW_S = 1700000000, ITEM = 7, SLOTS = 4, LIFE_S = 120, HASHES = 64 };
static const user_id USER = 42;

static struct arena arena, memory; /* memory: of failures and passes */
static struct funnel_keys keys, foreign_keys;
static struct human human;
static char body[HUMAN_CHALLENGE_BYTES_MAX], challenge[HUMAN_CHALLENGE_BYTES_MAX];

/* Nobody has failed or passed yet. */
static int forget(void **state)
{
    (void)state;
    arena_close(&memory);
    assert_int_equal(arena_open(&memory, 2 * suspicion_bytes() + 4096), STATUS_OK);
    human.failures = suspicion_create(&memory, HUMAN_FAILURES_HALF_S);
    human.passes = suspicion_create(&memory, HUMAN_PASSES_HALF_S);
    return 0;
}

static int open_all(void **state)
{
    (void)state;
    static const char master[FUNNEL_MASTER_BYTES] = "another master secret, 32 bytes";
    static const char other[FUNNEL_MASTER_BYTES] = "somebody else's secret, 32 bytes";
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    assert_int_equal(funnel_keys_derive(&foreign_keys, other, sizeof other), STATUS_OK);
    assert_int_equal(
        arena_open(&arena, 2 * spent_bytes(100000) + picture_pool_bytes(1, SLOTS) + 8192), STATUS_OK);
    human = (struct human){ .keys = &keys,
        .spent = spent_create(&arena, 100000),
        .tries = spent_create(&arena, 100000),
        .pool = picture_pool_create(&arena, 1, SLOTS),
        .pow_hashes = HASHES,
        .life_s = LIFE_S };
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    arena_close(&memory);
    arena_close(&arena);
    return 0;
}

static struct human_visit visit_for(enum human_check asked)
{
    return (struct human_visit){ .asked = asked, .item = ITEM, .user = USER, .source = 5, .now_ms = NOW_MS };
}

/* Of somebody who has no failures yet. */
static struct human_visit fresh_visit(enum human_check asked)
{
    static uint64_t next = 1000;
    struct human_visit visit = visit_for(asked);
    visit.user = next;
    visit.source = next;
    next += 100;
    return visit;
}

static struct span challenge_get(const struct human_visit *visit, enum human_check kind)
{
    struct text text = text_in(challenge, sizeof challenge - 1);
    human_challenge(&human, visit, kind, &text);
    assert_false(text.overflow);
    challenge[text.size] = 0;
    return text_span(&text);
}

static uint32_t number_after(const char *name)
{
    const char *at = strstr(challenge, name);
    assert_non_null(at);
    return (uint32_t)strtoul(at + strlen(name), NULL, 10);
}

static void hex_after(const char *name, uint8_t *bytes, size_t size)
{
    const char *at = strstr(challenge, name) + strlen(name);
    for (size_t i = 0; i < size; i++) {
        const char digits[3] = { at[2 * i], at[2 * i + 1], 0 };
        bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

/* Solves the challenge in `challenge`; the body to send is then in `body`. */
static struct span pow_body(void)
{
    struct altcha_challenge read = { .cost = number_after("\"cost\":") };
    char json[1024], base64[2048];
    uint8_t key[HASH_SHA256_BYTES];
    const char *prefix = strstr(challenge, "\"keyPrefix\":\"") + strlen("\"keyPrefix\":\"");
    read.digits = (uint32_t)strspn(prefix, "0");
    hex_after("\"nonce\":\"", read.nonce, sizeof read.nonce);
    hex_after("\"salt\":\"", read.salt, sizeof read.salt);
    uint32_t counter = 0;
    for (;; counter++) {
        altcha_derive(&read, counter, key);
        if (altcha_fits(&read, key))
            break;
    }
    struct text text = text_in(json, sizeof json);
    text_format(&text, "{\"challenge\":%s,\"solution\":{\"counter\":%u,\"derivedKey\":\"",
        challenge, counter);
    text_hex(&text, span_of(key, sizeof key));
    text_literal(&text, "\",\"time\":3.1}}");
    assert_false(text.overflow);
    const size_t chars = base64_standard_encode(json, text.size, base64);
    const int size = snprintf(body, sizeof body, "{\"solution\":\"%.*s\"}", (int)chars, base64);
    return span_of(body, (size_t)size);
}

static struct span token_in_challenge(void)
{
    const char *at = strstr(challenge, "\"token\":\"");
    assert_non_null(at);
    return span_of(at + strlen("\"token\":\""), PUZZLE_CHARS);
}

static struct span code_body(struct span token, const char *answer)
{
    const int size = snprintf(body, sizeof body,
        "{\"solution\":{\"token\":\"%.*s\",\"answer\":\"%s\"}}", (int)token.size, token.data, answer);
    return span_of(body, (size_t)size);
}

static struct span slider_body(struct span token, const char *places)
{
    const int size = snprintf(body, sizeof body, "{\"solution\":{\"token\":\"%.*s\",\"x\":%s}}",
        (int)token.size, token.data, places);
    return span_of(body, (size_t)size);
}

static void work_is_accepted_once(void **state)
{
    (void)state;
    const struct human_visit visit = visit_for(HUMAN_POW);
    challenge_get(&visit, HUMAN_POW);
    const struct span sent = pow_body();
    struct human_mark mark = { 0 },
                      again = { 0 }; /* where gateways share, another one says whether it is fresh */
    assert_int_equal(human_judge_shared(&human, &visit, sent, &mark), HUMAN_TO_ASK);
    assert_int_equal(human_judge_shared(&human, &visit, sent, &again), HUMAN_TO_ASK);
    assert_true(mark.mark != 0 && mark.mark == again.mark && mark.expires_s == NOW_S + LIFE_S);
    assert_int_equal(human_judge(&human, &visit, sent), HUMAN_PASSED);
    assert_int_equal(human_judge(&human, &visit, sent), HUMAN_SPENT);
    assert_int_equal(human_judge(&human, &visit, sent), HUMAN_SPENT);
}

static void work_of_another_user_item_or_time_fails(void **state)
{
    (void)state;
    const struct human_visit visit = visit_for(HUMAN_POW);
    challenge_get(&visit, HUMAN_POW);
    const struct span sent = pow_body();
    struct human_visit other = visit;
    other.user++;
    assert_int_equal(human_judge(&human, &other, sent), HUMAN_FAILED);
    other = visit;
    other.item++;
    assert_int_equal(human_judge(&human, &other, sent), HUMAN_FAILED);
    other = visit;
    other.now_ms += LIFE_S * 1000;
    assert_int_equal(human_judge(&human, &other, sent), HUMAN_FAILED);
    struct human elsewhere = human;
    elsewhere.keys = &foreign_keys;
    assert_int_equal(human_judge(&elsewhere, &visit, sent), HUMAN_FAILED);
    assert_int_equal(human_judge(&human, &visit, sent), HUMAN_PASSED); /* no refusal used it up */
}

/* Two processes, one after the other, with nothing in common but the keys. */
static void what_another_process_gave_out_is_old_and_nobody_is_blamed(void **state)
{
    struct human after = human;
    struct human_visit visit = visit_for(HUMAN_POW);
    (void)state;
    after.start = human.start + 1;
    visit.source = 77;
    challenge_get(&visit, HUMAN_POW);
    const struct span sent = pow_body();
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(human_judge(&after, &visit, sent), HUMAN_OLD);
    assert_int_equal(suspicion_of(human.failures, visit.source, NOW_S), 0);
    visit.user++; /* blamed all the same: forged, foreign and wrong ones of other processes */
    assert_int_equal(human_judge(&after, &visit, sent), HUMAN_FAILED);
    visit.user--;
    assert_int_equal(human_judge(&human, &visit, sent), HUMAN_PASSED); /* it was not used up */
    assert_int_equal(human_judge(&after, &visit, sent), HUMAN_OLD);    /* nor is it fresh there */
}

static void an_old_picture_is_refused_and_its_tries_are_left_alone(void **state)
{
    struct human after = human;
    const struct human_visit visit = visit_for(HUMAN_IMAGE);
    char token[PUZZLE_CHARS];
    struct puzzle puzzle = {
        .kind = HUMAN_IMAGE, .item = ITEM, .user = USER, .expires_s = NOW_S + LIFE_S, .nonce = 991
    };
    (void)state;
    puzzle.start = human.start;
    puzzle.answer = puzzle_code_hash(&keys, puzzle.nonce, SPAN("ACDEF"));
    puzzle_issue(&keys, &puzzle, token);
    const struct span text = span_of(token, sizeof token);
    after.start = human.start + 1;
    for (uint32_t i = 0; i < 2 * HUMAN_CODE_TRIES; i++)
        assert_int_equal(human_judge(&after, &visit, code_body(text, "AAAAA")), HUMAN_OLD);
    assert_int_equal(human_judge(&human, &visit, code_body(text, "ACDEF")), HUMAN_PASSED);
}

static void a_code_is_read_in_any_case_and_once(void **state)
{
    (void)state;
    const struct human_visit visit = visit_for(HUMAN_IMAGE);
    picture_pool_fill(human.pool, 1000);
    const struct code_picture *shown = picture_pool_code(human.pool, 0);
    assert_non_null(shown);
    struct puzzle puzzle = {
        .kind = HUMAN_IMAGE, .item = ITEM, .user = USER, .expires_s = NOW_S + 9, .nonce = 1
    };
    puzzle.answer = puzzle_code_hash(&keys, puzzle.nonce, span_from_string(shown->code));
    char token[PUZZLE_CHARS], lower[PUZZLE_CODE_CHARS + 1];
    puzzle_issue(&keys, &puzzle, token);
    for (unsigned i = 0; i <= PUZZLE_CODE_CHARS; i++)
        lower[i] = (char)(shown->code[i] >= 'A' ? shown->code[i] + 'a' - 'A' : shown->code[i]);
    const struct span text = span_of(token, sizeof token);
    assert_int_equal(human_judge(&human, &visit, code_body(text, "!!!!!")), HUMAN_FAILED);
    assert_int_equal(human_judge(&human, &visit, code_body(text, lower)), HUMAN_PASSED);
    assert_int_equal(human_judge(&human, &visit, code_body(text, shown->code)), HUMAN_SPENT);
    struct human_visit other = visit;
    other.user++;
    assert_int_equal(human_judge(&human, &other, code_body(text, shown->code)), HUMAN_FAILED);
}

static void guessing_at_one_picture_ends_after_a_few_tries(void **state)
{
    (void)state;
    const struct human_visit visit = visit_for(HUMAN_IMAGE);
    struct puzzle puzzle = {
        .kind = HUMAN_IMAGE, .item = ITEM, .user = USER, .expires_s = NOW_S + 9, .nonce = 2
    };
    char token[PUZZLE_CHARS];
    puzzle.answer = puzzle_code_hash(&keys, puzzle.nonce, SPAN("ACDEF"));
    puzzle_issue(&keys, &puzzle, token);
    const struct span text = span_of(token, sizeof token);
    for (int i = 0; i < HUMAN_CODE_TRIES; i++)
        assert_int_equal(human_judge(&human, &visit, code_body(text, "AAAAA")), HUMAN_FAILED);
    assert_int_equal(human_judge(&human, &visit, code_body(text, "ACDEF")), HUMAN_SPENT);
}

static void pieces_fit_within_the_tolerance_at_the_only_try(void **state)
{
    (void)state;
    const struct human_visit visit = fresh_visit(HUMAN_SLIDER);
    struct puzzle puzzle = { .kind = HUMAN_SLIDER, .item = ITEM, .expires_s = NOW_S + 9 };
    char token[PUZZLE_CHARS];
    static const struct {
        const char *places;
        enum human_answer wanted, again;
    } cases[] = { { "[150,40]", HUMAN_PASSED, HUMAN_SPENT },
        { "[157,33]", HUMAN_PASSED, HUMAN_SPENT }, { "[158,40]", HUMAN_FAILED, HUMAN_SPENT },
        { "[150,32]", HUMAN_FAILED, HUMAN_SPENT }, { "[40,150]", HUMAN_FAILED, HUMAN_SPENT },
        { "[150]", HUMAN_MALFORMED, HUMAN_PASSED }, { "[]", HUMAN_MALFORMED, HUMAN_PASSED },
        { "[150,40,40]", HUMAN_MALFORMED, HUMAN_PASSED }, { "150", HUMAN_MALFORMED, HUMAN_PASSED } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct human_visit other = visit;
        other.user += i;
        other.source += i;
        puzzle.user = other.user;
        puzzle.nonce = 100 + i;
        puzzle.answer = puzzle_slider_hash(&keys, puzzle.nonce, (const uint32_t[]){ 150, 40 });
        puzzle_issue(&keys, &puzzle, token);
        const struct span text = span_of(token, sizeof token);
        const enum human_answer answer =
            human_judge(&human, &other, slider_body(text, cases[i].places));
        const enum human_answer again = human_judge(&human, &other, slider_body(text, "[150,40]"));
        if (answer != cases[i].wanted || again != cases[i].again)
            fail_msg("case %zu: %d, then %d", i, answer, again);
    }
}

static void pictures_come_with_a_token_for_who_asked(void **state)
{
    (void)state;
    const struct human_visit visit = visit_for(HUMAN_SLIDER);
    struct puzzle puzzle;
    picture_pool_fill(human.pool, 1000);
    challenge_get(&visit, HUMAN_IMAGE);
    assert_non_null(strstr(challenge, "\"image\":\"data:image/png;base64,iVBOR"));
    assert_int_equal(puzzle_read(&keys, token_in_challenge(), ITEM, USER, NOW_MS, &puzzle), PUZZLE_GOOD);
    assert_int_equal(puzzle.kind, HUMAN_IMAGE);
    challenge_get(&visit, HUMAN_SLIDER);
    assert_int_equal(puzzle_read(&keys, token_in_challenge(), ITEM, USER, NOW_MS, &puzzle), PUZZLE_GOOD);
    assert_int_equal(puzzle.kind, HUMAN_SLIDER);
    uint32_t fitting = 0;
    for (uint32_t at = 0; at < PICTURE_SLIDER_WIDTH * PICTURE_SLIDER_WIDTH; at++)
        fitting += puzzle_slider_fits(&keys, &puzzle,
            (const uint32_t[]){ at % PICTURE_SLIDER_WIDTH, at / PICTURE_SLIDER_WIDTH });
    assert_int_equal(fitting, (2 * PUZZLE_TOLERANCE + 1) * (2 * PUZZLE_TOLERANCE + 1));
    /* How often a guess without looking is right. */
    assert_true(fitting * 100 < PICTURE_SLIDER_WIDTH * PICTURE_SLIDER_WIDTH);
}

static void the_sale_says_which_kinds_count(void **state)
{
    (void)state;
    struct human_visit visit = visit_for(HUMAN_IMAGE);
    challenge_get(&visit, HUMAN_POW); /* the work instead of the picture */
    assert_int_equal(human_judge(&human, &visit, pow_body()), HUMAN_PASSED);
    visit.asked = HUMAN_POW;
    struct puzzle puzzle = {
        .kind = HUMAN_IMAGE, .item = ITEM, .user = USER, .expires_s = NOW_S + 9, .nonce = 3
    };
    char token[PUZZLE_CHARS];
    puzzle.answer = puzzle_code_hash(&keys, puzzle.nonce, SPAN("ACDEF"));
    puzzle_issue(&keys, &puzzle, token);
    assert_int_equal(human_judge(&human, &visit, code_body(span_of(token, sizeof token), "ACDEF")),
        HUMAN_FAILED);
    visit.asked = HUMAN_SLIDER;
    assert_int_equal(human_judge(&human, &visit, code_body(span_of(token, sizeof token), "ACDEF")),
        HUMAN_FAILED);
}

static void nothing_sent_and_nonsense_differ(void **state)
{
    (void)state;
    const struct human_visit visit = visit_for(HUMAN_POW);
    static const char *const nonsense[] = { "x", "{", "[]", "{\"solution\":1}", "{\"solution\":{}}",
        "{\"solution\":\"\"}", "{\"solution\":\"AAAA\",\"solution\":\"AAAA\"}", "{\"answer\":\"x\"}",
        "{\"solution\":{\"token\":\"x\"}}", "{\"solution\":{\"token\":\"x\",\"answer\":\"y\"}}",
        "{\"solution\":{\"token\":\"x\",\"answer\":\"y\",\"x\":[1,2]}}", "{\"solution\":\"AAAA\"} x" };
    assert_int_equal(human_judge(&human, &visit, SPAN_NONE), HUMAN_ABSENT);
    assert_int_equal(human_judge(&human, &visit, SPAN("{}")), HUMAN_ABSENT);
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        if (human_judge(&human, &visit, span_from_string(nonsense[i])) != HUMAN_MALFORMED)
            fail_msg("%s", nonsense[i]);
    memset(body, ' ', HUMAN_BODY_BYTES_MAX + 1);
    assert_int_equal(
        human_judge(&human, &visit, span_of(body, HUMAN_BODY_BYTES_MAX + 1)), HUMAN_MALFORMED);
}

/* Fails `times` times with a picture of its own each time. */
static void fail_codes(const struct human_visit *visit, uint32_t times)
{
    static uint64_t nonce = 50000;
    char token[PUZZLE_CHARS];
    for (uint32_t i = 0; i < times; i++) {
        struct puzzle puzzle = { .kind = HUMAN_IMAGE,
            .item = visit->item,
            .user = visit->user,
            .expires_s = (uint32_t)(visit->now_ms / 1000) + 9,
            .nonce = nonce++ };
        puzzle_issue(&keys, &puzzle, token);
        assert_int_equal(human_judge(&human, visit, code_body(span_of(token, sizeof token), "AAAAA")),
            HUMAN_FAILED);
    }
}

static void each_failure_of_a_user_doubles_the_work_and_fades(void **state)
{
    (void)state;
    struct human_visit visit = fresh_visit(HUMAN_IMAGE);
    const uint32_t first = HASHES << HUMAN_ALTERNATIVE_BITS;
    assert_int_equal(human_work(&human, &visit), first);
    fail_codes(&visit, 2);
    assert_int_equal(human_work(&human, &visit), first * 4);
    struct human_visit elsewhere = visit; /* the same user, from another address */
    elsewhere.source++;
    assert_int_equal(human_work(&human, &elsewhere), first * 4);
    struct human_visit neighbour = visit; /* somebody else, from the same address */
    neighbour.user++;
    assert_int_equal(human_work(&human, &neighbour), first * 2);
    visit.now_ms += HUMAN_FAILURES_HALF_S * 1000;
    assert_int_equal(human_work(&human, &visit), first * 2);
    visit.now_ms += 20 * HUMAN_FAILURES_HALF_S * 1000;
    assert_int_equal(human_work(&human, &visit), first);
    visit.asked = HUMAN_POW;
    assert_int_equal(human_work(&human, &visit), HASHES);
    visit.pow_boost = 3;
    assert_int_equal(human_work(&human, &visit), HASHES * 8);
    visit.pow_boost = 60;
    assert_int_equal(human_work(&human, &visit), ALTCHA_HASHES_MAX);
}

static bool gets_a_picture(const struct human_visit *visit)
{
    picture_pool_fill(human.pool, 1000);
    challenge_get(visit, HUMAN_IMAGE);
    return strstr(challenge, "\"token\"") != NULL;
}

static void who_fails_twice_gets_another_picture_then_work_then_nothing_for_a_while(void **state)
{
    (void)state;
    struct human_visit visit = fresh_visit(HUMAN_IMAGE);
    fail_codes(&visit, 2);
    assert_true(gets_a_picture(&visit));
    fail_codes(&visit, 1);
    assert_false(gets_a_picture(&visit));
    assert_int_equal(human_judge(&human, &visit, pow_body()), HUMAN_PASSED); /* the work still counts */
    fail_codes(&visit, HUMAN_USER_REFUSED / HUMAN_FAILURE_POINTS - 3);
    assert_true(human_refused(&human, &visit));
    challenge_get(&visit, HUMAN_POW);
    assert_int_equal(human_judge(&human, &visit, pow_body()), HUMAN_REFUSED);
    visit.now_ms += HUMAN_REFUSED_RETRY_S * 1000;
    assert_false(human_refused(&human, &visit));
    assert_int_equal(human_judge(&human, &visit, pow_body()), HUMAN_PASSED); /* it was not used up */
    visit.now_ms += 2 * HUMAN_FAILURES_HALF_S * 1000;
    assert_true(gets_a_picture(&visit));
}

static void many_users_that_fail_at_one_address_close_it_and_no_other(void **state)
{
    (void)state;
    const struct human_visit first = fresh_visit(HUMAN_IMAGE);
    struct human_visit visit = first, far = first;
    far.source++;
    for (uint32_t points = 0; points < HUMAN_ADDRESS_REFUSED; points += HUMAN_FAILURE_POINTS) {
        assert_false(human_refused(&human, &visit));
        assert_int_equal(gets_a_picture(&visit), points < HUMAN_ADDRESS_NO_PICTURES);
        fail_codes(&visit, 1);
        visit.user++;
    }
    assert_true(human_refused(&human, &visit));
    far.user = visit.user;
    assert_false(human_refused(&human, &far));
    assert_true(gets_a_picture(&far));
}

static void the_work_grows_with_the_passes_that_an_address_took(void **state)
{
    (void)state;
    const struct human_visit first = fresh_visit(HUMAN_POW);
    struct human_visit visit = first;
    for (uint32_t passes = 0; passes < 7 * HUMAN_PASSES_FREE; passes++) {
        const uint32_t wanted = passes < HUMAN_PASSES_FREE ? 1
            : passes < 3 * HUMAN_PASSES_FREE               ? 2
                                                           : 4;
        assert_int_equal(human_work(&human, &visit), HASHES * wanted);
        challenge_get(&visit, HUMAN_POW);
        assert_int_equal(human_judge(&human, &visit, pow_body()), HUMAN_PASSED);
        visit.user++; /* other users don't help */
    }
    assert_int_equal(human_work(&human, &visit), HASHES * 8);
    visit.now_ms += HUMAN_PASSES_HALF_S * 1000;
    assert_int_equal(human_work(&human, &visit), HASHES * 4);
    visit.source++;
    assert_int_equal(human_work(&human, &visit), HASHES);
}

/* Small sets, filled by wrong answers of others: people go on, and nothing is let in twice. */
static void wrong_answers_never_fill_the_place_of_solved_ones(void **state)
{
    (void)state;
    enum { OTHERS = 3000, PEOPLE = 20 };
    struct arena small;
    struct human crowded = human;
    char token[PUZZLE_CHARS];
    assert_int_equal(arena_open(&small, 2 * spent_bytes(100) + 4096), STATUS_OK);
    crowded.spent = spent_create(&small, 100);
    crowded.tries = spent_create(&small, 100);
    struct human_visit visit = fresh_visit(HUMAN_IMAGE);
    for (uint32_t i = 0; i < OTHERS + PEOPLE; i++) {
        struct puzzle puzzle = {
            .kind = HUMAN_IMAGE, .item = ITEM, .user = ++visit.user, .expires_s = NOW_S + 99, .nonce = i + 1
        };
        visit.source++;
        puzzle.answer = puzzle_code_hash(&keys, puzzle.nonce, SPAN("ACDEF"));
        puzzle_issue(&keys, &puzzle, token);
        const struct span text = span_of(token, sizeof token);
        const enum human_answer wanted = i < OTHERS ? HUMAN_FAILED : HUMAN_PASSED;
        assert_int_equal(
            human_judge(&crowded, &visit, code_body(text, i < OTHERS ? "AAAAA" : "ACDEF")), wanted);
        if (i >= OTHERS)
            assert_int_equal(human_judge(&crowded, &visit, code_body(text, "ACDEF")), HUMAN_SPENT);
    }
    arena_close(&small);
}

static void an_empty_pool_gives_work_instead(void **state)
{
    (void)state;
    const struct human_visit visit = visit_for(HUMAN_SLIDER);
    while (picture_pool_slider(human.pool, 0) != NULL) {
    }
    challenge_get(&visit, HUMAN_SLIDER);
    assert_non_null(strstr(challenge, "\"parameters\""));
    assert_true(picture_pool_fill(human.pool, 1000) > 0);
    assert_int_equal(picture_pool_fill(human.pool, 1000), 0); /* full: bounded */
    challenge_get(&visit, HUMAN_SLIDER);
    assert_non_null(strstr(challenge, "\"kind\":\"slider\""));
    assert_non_null(strstr(challenge, "\"alternative\":\"/v1/items/7/challenge?kind=pow\""));
    struct human bare = human;
    bare.pool = NULL;
    struct text text = text_in(challenge, sizeof challenge - 1);
    human_challenge(&bare, &visit, HUMAN_IMAGE, &text);
    assert_true(span_starts_with(text_span(&text), SPAN("{\"parameters\"")));
}

/* Forged, expired, replayed and foreign ones by the million where asked for: FORGERIES=1000000. */
static void of_many_bad_solutions_none_is_accepted(void **state)
{
    (void)state;
    const char *wanted = getenv("FORGERIES");
    const unsigned long count = wanted != NULL ? strtoul(wanted, NULL, 10) : 100000;
    const struct human_visit visit = visit_for(HUMAN_SLIDER);
    struct random random;
    char good[2048], token[PUZZLE_CHARS];
    random_seed(&random, 11);
    challenge_get(&visit, HUMAN_POW);
    const struct span solved = pow_body();
    memcpy(good, solved.data, solved.size);
    assert_int_equal(human_judge(&human, &visit, span_of(good, solved.size)), HUMAN_PASSED);
    for (unsigned long i = 0; i < count; i++) {
        struct human_visit other = visit;
        struct puzzle puzzle = { .kind = HUMAN_SLIDER,
            .item = ITEM,
            .user = USER,
            .expires_s = NOW_S + 9,
            .nonce = random_next(&random) };
        struct span sent = span_of(good, solved.size);
        if (i % 7 == 0)
            forget(NULL); /* who fails so often is refused, and that is another rule */
        puzzle.answer = puzzle_slider_hash(
            i % 5 == 0 ? &foreign_keys : &keys, puzzle.nonce, (const uint32_t[]){ 150, 40 });
        switch (i % 5) {
        case 0: /* signed by somebody else */
            puzzle_issue(&foreign_keys, &puzzle, token);
            sent = slider_body(span_of(token, sizeof token), "[150,40]");
            break;
        case 1: /* a bit turned */
            puzzle_issue(&keys, &puzzle, token);
            token[random_below(&random, PUZZLE_CHARS - 1)] ^= 1;
            sent = slider_body(span_of(token, sizeof token), "[150,40]");
            break;
        case 2: /* expired */
            puzzle.expires_s = NOW_S - (uint32_t)random_below(&random, 100000);
            puzzle_issue(&keys, &puzzle, token);
            sent = slider_body(span_of(token, sizeof token), "[150,40]");
            break;
        case 3: /* replayed, by its user */
            break;
        default: /* replayed by others, for others */
            other.user += 1 + random_below(&random, 1000);
            other.item += (uint32_t)random_below(&random, 2);
            break;
        }
        if (human_judge(&human, &other, sent) == HUMAN_PASSED)
            fail_msg("number %lu was accepted", i);
    }
}

#define RULE(test) cmocka_unit_test_setup(test, forget)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(work_is_accepted_once),
        RULE(work_of_another_user_item_or_time_fails),
        RULE(what_another_process_gave_out_is_old_and_nobody_is_blamed),
        RULE(an_old_picture_is_refused_and_its_tries_are_left_alone),
        RULE(a_code_is_read_in_any_case_and_once),
        RULE(guessing_at_one_picture_ends_after_a_few_tries),
        RULE(pieces_fit_within_the_tolerance_at_the_only_try),
        RULE(pictures_come_with_a_token_for_who_asked),
        RULE(the_sale_says_which_kinds_count),
        RULE(nothing_sent_and_nonsense_differ),
        RULE(each_failure_of_a_user_doubles_the_work_and_fades),
        RULE(who_fails_twice_gets_another_picture_then_work_then_nothing_for_a_while),
        RULE(many_users_that_fail_at_one_address_close_it_and_no_other),
        RULE(the_work_grows_with_the_passes_that_an_address_took),
        RULE(wrong_answers_never_fill_the_place_of_solved_ones),
        RULE(an_empty_pool_gives_work_instead),
        RULE(of_many_bad_solutions_none_is_accepted),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
