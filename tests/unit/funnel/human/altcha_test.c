/* SPDX-License-Identifier: Apache-2.0 */
/* The vectors were made and checked with altcha-lib 2; tests/human has it check ours. */
#include "funnel/human/altcha.h"

#include "base/base64.h"
#include "base/random.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW_MS (UINT64_C(1700000000) * 1000)
#define START UINT32_C(4000000000)
enum { NOW_S = 1700000000, ITEM = 7 };
static const user_id USER = 0x00c0ffee12345678;
static const char secret[ALTCHA_SECRET_CHARS + 1] =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

static struct altcha_challenge a_challenge(uint32_t hashes)
{
    struct altcha_challenge challenge = {
        .item = ITEM, .user = USER, .start = START, .expires_s = NOW_S + 120
    };
    for (unsigned i = 0; i < ALTCHA_NONCE_BYTES; i++) {
        challenge.nonce[i] = (uint8_t)(0xa0 + i);
        challenge.salt[i] = (uint8_t)(0x10 + i);
    }
    altcha_work(hashes, &challenge);
    return challenge;
}

static uint32_t solve(const struct altcha_challenge *challenge, uint8_t key[HASH_SHA256_BYTES])
{
    for (uint32_t counter = 0;; counter++) {
        altcha_derive(challenge, counter, key);
        if (altcha_fits(challenge, key))
            return counter;
    }
}

/* {"challenge":…,"solution":…} as JSON; answers its size. */
static size_t payload_json(const struct altcha_challenge *challenge, uint32_t counter,
    const uint8_t key[HASH_SHA256_BYTES], const char *more, char *out, size_t capacity)
{
    struct text text = text_in(out, capacity);
    text_literal(&text, "{\"challenge\":");
    altcha_render(challenge, secret, &text);
    text_format(&text, ",\"solution\":{\"counter\":%u,\"derivedKey\":\"", counter);
    text_hex(&text, span_of(key, HASH_SHA256_BYTES));
    text_literal(&text, "\"");
    text_string(&text, more);
    text_literal(&text, "}}");
    assert_false(text.overflow);
    return text.size;
}

static enum altcha_answer check_json(const char *json, size_t size, uint64_t now_ms)
{
    char base64[2048];
    struct altcha_challenge challenge;
    const size_t chars = base64_standard_encode(json, size, base64);
    return altcha_check(span_of(base64, chars), secret, ITEM, USER, now_ms, &challenge);
}

static void the_challenge_is_what_altcha_lib_signs(void **state)
{
    (void)state;
    char bytes[1024];
    struct text text = text_in(bytes, sizeof bytes);
    const struct altcha_challenge challenge = a_challenge(1000);
    altcha_render(&challenge, secret, &text);
    static const char parameters[] =
        "{\"parameters\":{\"algorithm\":\"SHA-256\",\"cost\":4,\"data\":{\"item\":7,"
        "\"start\":4000000000,\"user\":\"00c0ffee12345678\"},\"expiresAt\":1700000120,"
        "\"keyLength\":32,\"keyPrefix\":"
        "\"00\","
        "\"nonce\":\"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf\",\"salt\":"
        "\"101112131415161718191a1b1c1d1e1f\"},"
        "\"signature\":\"";
    assert_true(span_starts_with(text_span(&text), SPAN(parameters)));
    assert_int_equal(text.size, sizeof parameters - 1 + 64 + 2);
}

static void a_solved_challenge_is_accepted(void **state)
{
    (void)state;
    for (uint32_t hashes = 1; hashes <= 20000; hashes = hashes * 7 + 1) {
        const struct altcha_challenge challenge = a_challenge(hashes);
        uint8_t key[HASH_SHA256_BYTES];
        char json[1024];
        const uint32_t counter = solve(&challenge, key);
        size_t size = payload_json(&challenge, counter, key, ",\"time\":12.5", json, sizeof json);
        assert_int_equal(check_json(json, size, NOW_MS), ALTCHA_SOLVED);
        size = payload_json(&challenge, counter, key, "", json, sizeof json);
        assert_int_equal(check_json(json, size, NOW_MS), ALTCHA_SOLVED);
    }
}

static void work_grows_as_asked_and_checking_stays_cheap(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (uint32_t hashes = 1; hashes < ALTCHA_HASHES_MAX / 2; hashes *= 2) {
        const struct altcha_challenge challenge = a_challenge(hashes);
        const uint64_t work = (uint64_t)challenge.cost << (4 * challenge.digits);
        assert_true(challenge.cost >= 1 && challenge.cost <= ALTCHA_COST_MAX);
        assert_true(challenge.digits >= 1 && challenge.digits <= ALTCHA_DIGITS_MAX);
        assert_true(work >= before && work >= hashes);
        assert_true(hashes < 16 || work < 2 * (uint64_t)hashes);
        before = work;
    }
    const struct altcha_challenge most = a_challenge(UINT32_MAX);
    assert_int_equal(most.cost, ALTCHA_COST_MAX);
    assert_int_equal(most.digits, ALTCHA_DIGITS_MAX);
}

static void another_item_user_time_or_counter_is_refused(void **state)
{
    (void)state;
    struct altcha_challenge challenge = a_challenge(1000), read;
    uint8_t key[HASH_SHA256_BYTES];
    char json[1024], base64[2048];
    const uint32_t counter = solve(&challenge, key);
    size_t size = payload_json(&challenge, counter, key, "", json, sizeof json);
    assert_int_equal(check_json(json, size, NOW_MS + 120 * 1000 - 1), ALTCHA_SOLVED);
    assert_int_equal(check_json(json, size, NOW_MS + 120 * 1000), ALTCHA_EXPIRED);
    const struct span text = span_of(base64, base64_standard_encode(json, size, base64));
    assert_int_equal(altcha_check(text, secret, ITEM + 1, USER, NOW_MS, &read), ALTCHA_FOREIGN);
    assert_int_equal(altcha_check(text, secret, ITEM, USER + 1, NOW_MS, &read), ALTCHA_FOREIGN);
    char other[ALTCHA_SECRET_CHARS];
    memcpy(other, secret, sizeof other);
    other[0] ^= 1;
    assert_int_equal(altcha_check(text, other, ITEM, USER, NOW_MS, &read), ALTCHA_FORGED);
    size = payload_json(&challenge, counter + 1, key, "", json, sizeof json);
    assert_int_equal(check_json(json, size, NOW_MS), ALTCHA_WRONG);
    altcha_derive(&challenge, counter + 1, key); /* a true key, but it has not the prefix */
    if (!altcha_fits(&challenge, key)) {
        size = payload_json(&challenge, counter + 1, key, "", json, sizeof json);
        assert_int_equal(check_json(json, size, NOW_MS), ALTCHA_WRONG);
    }
}

/* An easier copy, a longer life, another's name: everything that is said is signed. */
static void what_was_changed_after_signing_is_forged(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } changes[] = { { "\"cost\":4", "\"cost\":1" }, { "\"keyPrefix\":\"00\"", "\"keyPrefix\":\"0\"" },
        { "1700000120", "1700009120" }, { "\"item\":7", "\"item\":8" },
        { "00c0ffee12345678", "00c0ffee12345679" }, { "a0a1", "a0a2" }, { "1011", "1012" } };
    const struct altcha_challenge challenge = a_challenge(1000);
    uint8_t key[HASH_SHA256_BYTES];
    char json[1024], changed[1024];
    const uint32_t counter = solve(&challenge, key);
    const size_t size = payload_json(&challenge, counter, key, "", json, sizeof json - 1);
    json[size] = 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr(json, changes[i].from);
        assert_non_null(at);
        const int made = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - json), json,
            changes[i].to, at + strlen(changes[i].from));
        assert_int_equal(check_json(changed, (size_t)made, NOW_MS), ALTCHA_FORGED);
    }
}

static void other_shapes_are_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } changes[] = { { "SHA-256", "SHA-512" }, { "\"cost\":4", "\"cost\":1000000" },
        { "\"cost\":4", "\"cost\":4.0" }, { "\"cost\":4", "\"cost\":4,\"cost\":4" },
        { "\"keyPrefix\":\"00\"", "\"keyPrefix\":\"\"" },
        { "\"keyPrefix\":\"00\"", "\"keyPrefix\":\"0f\"" },
        { "\"keyLength\":32", "\"keyLength\":1" }, { "\"counter\":", "\"counter\":-" },
        { "\"item\":7", "\"item\":7,\"more\":1" }, { "\"signature\"", "\"signatures\"" },
        { "}}",
            "}} "
            "x" } };
    const struct altcha_challenge challenge = a_challenge(1000);
    uint8_t key[HASH_SHA256_BYTES];
    char json[1024], changed[1200];
    const uint32_t counter = solve(&challenge, key);
    const size_t size = payload_json(&challenge, counter, key, "", json, sizeof json - 1);
    json[size] = 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr(json, changes[i].from);
        assert_non_null(at);
        const int made = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - json), json,
            changes[i].to, at + strlen(changes[i].from));
        if (check_json(changed, (size_t)made, NOW_MS) != ALTCHA_MALFORMED)
            fail_msg("%s is not malformed", changes[i].to);
    }
    struct altcha_challenge read;
    assert_int_equal(altcha_check(SPAN("!!"), secret, ITEM, USER, NOW_MS, &read), ALTCHA_MALFORMED);
    assert_int_equal(altcha_check(SPAN_NONE, secret, ITEM, USER, NOW_MS, &read), ALTCHA_MALFORMED);
}

/* Bytes flipped at random, by the million where asked for: FORGERIES=1000000. */
static void no_forgery_is_accepted(void **state)
{
    (void)state;
    const char *wanted = getenv("FORGERIES");
    const unsigned long count = wanted != NULL ? strtoul(wanted, NULL, 10) : 100000;
    const struct altcha_challenge challenge = a_challenge(300);
    struct random random;
    uint8_t key[HASH_SHA256_BYTES];
    char json[1024], changed[1024];
    const uint32_t counter = solve(&challenge, key);
    const size_t size = payload_json(&challenge, counter, key, "", json, sizeof json);
    random_seed(&random, 7);
    for (unsigned long i = 0; i < count; i++) {
        memcpy(changed, json, size);
        const uint64_t flips = 1 + random_below(&random, 3);
        for (uint64_t flip = 0; flip < flips; flip++)
            changed[random_below(&random, size)] = (char)(' ' + random_below(&random, 95));
        if (memcmp(changed, json, size) != 0 && check_json(changed, size, NOW_MS) == ALTCHA_SOLVED)
            fail_msg("accepted: %.*s", (int)size, changed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_challenge_is_what_altcha_lib_signs),
        cmocka_unit_test(a_solved_challenge_is_accepted),
        cmocka_unit_test(work_grows_as_asked_and_checking_stays_cheap),
        cmocka_unit_test(another_item_user_time_or_counter_is_refused),
        cmocka_unit_test(what_was_changed_after_signing_is_forged),
        cmocka_unit_test(other_shapes_are_malformed),
        cmocka_unit_test(no_forgery_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
