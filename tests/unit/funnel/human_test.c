/* The whole check without a network: human, puzzle, suspicion, picture_pool and json_cursor together. */
#include "funnel/human.h"

#include "base/base64.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { NOW_S = 1700000000, ITEM = 7, SLOTS = 4, LIFE_S = 120, HASHES = 64 };
static const user_id USER = 42;

static struct arena arena;
static struct funnel_keys keys, foreign_keys;
static struct human human;
static char body[HUMAN_CHALLENGE_BYTES_MAX], challenge[HUMAN_CHALLENGE_BYTES_MAX];

static int open_all(void **state)
{
    (void)state;
    static const char master[FUNNEL_MASTER_BYTES] = "another master secret, 32 bytes";
    static const char other[FUNNEL_MASTER_BYTES] = "somebody else's secret, 32 bytes";
    assert_int_equal(funnel_keys_derive(&keys, master, sizeof master), STATUS_OK);
    assert_int_equal(funnel_keys_derive(&foreign_keys, other, sizeof other), STATUS_OK);
    assert_int_equal(
        arena_open(&arena, spent_bytes(100000) + suspicion_bytes() + picture_pool_bytes(1, SLOTS) + 4096),
        STATUS_OK);
    human = (struct human){ .keys = &keys,
        .spent = spent_create(&arena, 100000),
        .suspicion = suspicion_create(&arena),
        .pool = picture_pool_create(&arena, 1, SLOTS),
        .pow_hashes = HASHES,
        .life_s = LIFE_S };
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static struct human_visit visit_for(enum human_check asked)
{
    return (struct human_visit){ .asked = asked, .item = ITEM, .user = USER, .source = 5, .now_ms = NOW_MS };
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

static struct span slider_body(struct span token, uint32_t x, const char *track)
{
    const int size =
        snprintf(body, sizeof body, "{\"solution\":{\"token\":\"%.*s\",\"x\":%u,\"track\":%s}}",
            (int)token.size, token.data, x, track);
    return span_of(body, (size_t)size);
}

static void work_is_accepted_once(void **state)
{
    (void)state;
    const struct human_visit visit = visit_for(HUMAN_POW);
    challenge_get(&visit, HUMAN_POW);
    const struct span sent = pow_body();
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
    assert_int_equal(suspicion_of(human.suspicion, visit.source, NOW_S), 0);
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

static void a_piece_fits_within_the_tolerance_and_with_a_track(void **state)
{
    (void)state;
    static const char good[] = "[[0,0],[60,40],[150,110],[260,150]]";
    const struct human_visit visit = visit_for(HUMAN_SLIDER);
    struct puzzle puzzle = { .kind = HUMAN_SLIDER, .item = ITEM, .user = USER, .expires_s = NOW_S + 9 };
    char token[PUZZLE_CHARS];
    static const struct {
        int off;
        const char *track;
        enum human_answer wanted;
    } cases[] = { { 0, good, HUMAN_PASSED }, { PUZZLE_TOLERANCE, good, HUMAN_PASSED },
        { -PUZZLE_TOLERANCE, good, HUMAN_PASSED }, { PUZZLE_TOLERANCE + 1, good, HUMAN_FAILED },
        { -PUZZLE_TOLERANCE - 1, good, HUMAN_FAILED }, { 0, "[]", HUMAN_FAILED },
        { 0, "[[0,0],[1,40],[2,110],[3,150]]", HUMAN_FAILED },          /* too fast */
        { 0, "[[0,150],[100,150],[200,150],[300,150]]", HUMAN_FAILED }, /* never moved */
        { 0, "[[0,0],[60,40],[150,110],[260,151]]", HUMAN_FAILED },     /* ends elsewhere */
        { 0, "[[0,0],[90,40],[50,110],[260,150]]", HUMAN_FAILED },      /* back in time */
        { 0, "[[0,0],[60,40],[150],[260,150]]", HUMAN_MALFORMED },
        { 0, "[[0,0],[60,40,1],[150,110],[260,150]]", HUMAN_MALFORMED } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        puzzle.nonce = 100 + i;
        puzzle.answer = puzzle_slider_hash(&keys, puzzle.nonce, (uint32_t)(150 + cases[i].off));
        puzzle_issue(&keys, &puzzle, token);
        const struct span text = span_of(token, sizeof token);
        const enum human_answer answer =
            human_judge(&human, &visit, slider_body(text, 150, cases[i].track));
        if (answer != cases[i].wanted)
            fail_msg("case %zu: %d", i, answer);
        if (answer == HUMAN_PASSED)
            assert_int_equal(human_judge(&human, &visit, slider_body(text, 150, good)), HUMAN_SPENT);
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
    for (uint32_t x = 0; x < PICTURE_SLIDER_WIDTH; x++)
        fitting += puzzle_slider_fits(&keys, &puzzle, x);
    assert_int_equal(fitting, 2 * PUZZLE_TOLERANCE + 1);
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
        "{\"solution\":{\"token\":\"x\",\"answer\":\"y\",\"x\":1,\"track\":[]}}",
        "{\"solution\":\"AAAA\"} x" };
    assert_int_equal(human_judge(&human, &visit, SPAN_NONE), HUMAN_ABSENT);
    assert_int_equal(human_judge(&human, &visit, SPAN("{}")), HUMAN_ABSENT);
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        if (human_judge(&human, &visit, span_from_string(nonsense[i])) != HUMAN_MALFORMED)
            fail_msg("%s", nonsense[i]);
    memset(body, ' ', HUMAN_BODY_BYTES_MAX + 1);
    assert_int_equal(
        human_judge(&human, &visit, span_of(body, HUMAN_BODY_BYTES_MAX + 1)), HUMAN_MALFORMED);
}

static void failures_make_the_next_challenge_dearer_and_fade(void **state)
{
    (void)state;
    struct human_visit visit = visit_for(HUMAN_POW);
    visit.source = 1234;
    assert_int_equal(human_work(&human, &visit), HASHES);
    challenge_get(&visit, HUMAN_POW);
    struct human_visit wrong = visit;
    wrong.item++;
    for (int i = 0; i < 4; i++)
        assert_int_equal(human_judge(&human, &wrong, pow_body()), HUMAN_FAILED);
    assert_int_equal(human_work(&human, &visit), HASHES * 4);
    visit.now_ms += SUSPICION_HALF_S * 1000;
    assert_int_equal(human_work(&human, &visit), HASHES * 2);
    visit.now_ms += 20 * SUSPICION_HALF_S * 1000;
    assert_int_equal(human_work(&human, &visit), HASHES);
    visit.pow_boost = 3;
    assert_int_equal(human_work(&human, &visit), HASHES * 8);
    visit.asked = HUMAN_IMAGE;
    assert_int_equal(human_work(&human, &visit), HASHES * 8 << HUMAN_ALTERNATIVE_BITS);
    visit.pow_boost = 60;
    assert_int_equal(human_work(&human, &visit), ALTCHA_HASHES_MAX);
    for (int i = 0; i < 1000; i++)
        suspicion_add(human.suspicion, 9, NOW_S);
    assert_int_equal(suspicion_of(human.suspicion, 9, NOW_S), SUSPICION_MAX);
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
        puzzle.answer = puzzle_slider_hash(i % 5 == 0 ? &foreign_keys : &keys, puzzle.nonce, 150);
        switch (i % 5) {
        case 0: /* signed by somebody else */
            puzzle_issue(&foreign_keys, &puzzle, token);
            sent = slider_body(span_of(token, sizeof token), 150, "[[0,0],[90,50],[150,110],[260,150]]");
            break;
        case 1: /* a bit turned */
            puzzle_issue(&keys, &puzzle, token);
            token[random_below(&random, PUZZLE_CHARS - 1)] ^= 1;
            sent = slider_body(span_of(token, sizeof token), 150, "[[0,0],[90,50],[150,110],[260,150]]");
            break;
        case 2: /* expired */
            puzzle.expires_s = NOW_S - (uint32_t)random_below(&random, 100000);
            puzzle_issue(&keys, &puzzle, token);
            sent = slider_body(span_of(token, sizeof token), 150, "[[0,0],[90,50],[150,110],[260,150]]");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_accepted_once),
        cmocka_unit_test(work_of_another_user_item_or_time_fails),
        cmocka_unit_test(what_another_process_gave_out_is_old_and_nobody_is_blamed),
        cmocka_unit_test(an_old_picture_is_refused_and_its_tries_are_left_alone),
        cmocka_unit_test(a_code_is_read_in_any_case_and_once),
        cmocka_unit_test(guessing_at_one_picture_ends_after_a_few_tries),
        cmocka_unit_test(a_piece_fits_within_the_tolerance_and_with_a_track),
        cmocka_unit_test(pictures_come_with_a_token_for_who_asked),
        cmocka_unit_test(the_sale_says_which_kinds_count),
        cmocka_unit_test(nothing_sent_and_nonsense_differ),
        cmocka_unit_test(failures_make_the_next_challenge_dearer_and_fade),
        cmocka_unit_test(an_empty_pool_gives_work_instead),
        cmocka_unit_test(of_many_bad_solutions_none_is_accepted),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
