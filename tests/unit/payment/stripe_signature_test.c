/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/payment/stripe_signature_test.c: only what Stripe has signed just now is believed. */
#include "payment/stripe_signature.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t signed_s = 1700000000;
static const char body_text[] = "{\"id\":\"evt_1\",\"type\":\"x\"}";
/* Made with another program over "1700000000." and the body, with the secret whsec_test_secret. */
static const char signature[] = "a34e97da3c9edb915597aaf737ee3e4eff58b6d6e5e83864aa97d0e43674e3a2";

/* NULL: it is genuine. */
static const char *judged(const char *head, struct span body, uint64_t now_s)
{
    static char room[STRIPE_SIGNED_MAX];
    const struct provider_callback callback = {
        .head = span_from_string(head), .body = body, .now_ms = now_s * 1000 + 999
    };
    return stripe_signature_check(SPAN("whsec_test_secret"), &callback, room);
}

static void a_genuine_signature_holds_within_its_time(void **state)
{
    (void)state;
    const struct span body = span_of(body_text, sizeof body_text - 1);
    char head[512];
    snprintf(head, sizeof head,
        "Host: x\r\nStripe-Signature: t=1700000000,v1=%s,v0=abc\r\nA: b\r\n", signature);
    assert_null(judged(head, body, signed_s));
    assert_null(judged(head, body, signed_s + PROVIDER_FRESH_S));
    assert_null(judged(head, body, signed_s - PROVIDER_FRESH_S));
    assert_non_null(judged(head, body, signed_s + PROVIDER_FRESH_S + 1));
    assert_non_null(judged(head, body, signed_s - PROVIDER_FRESH_S - 1));
    /* While a secret is changed there are two signatures. */
    snprintf(head, sizeof head, "Stripe-Signature: t=1700000000,v1=%064d,v1=%s", 0, signature);
    assert_null(judged(head, body, signed_s));
    snprintf(head, sizeof head, "Stripe-Signature: t=1700000000,v1=%s,v1=%064d", signature, 0);
    assert_null(judged(head, body, signed_s));
}

static void a_signature_header_that_is_not_one_is_refused(void **state)
{
    (void)state;
    const struct span body = span_of(body_text, sizeof body_text - 1);
    static const char *const forms[] = { "", "Stripe-Signature: ", "Stripe-Signature: t=1700000000",
        "Stripe-Signature: v1=%s", "Stripe-Signature: t=1700000000,v0=%s",
        "Stripe-Signature: t=1700000000,t=1700000000,v1=%s", "Stripe-Signature: t=01700000000,v1=%s",
        "Stripe-Signature: t=,v1=%s", "Stripe-Signature: t=+1700000000,v1=%s",
        "Stripe-Signature: t=1700000000,v1=%sa", "X-Stripe-Signature: t=1700000000,v1=%s" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char head[256];
        const char *at = strstr(forms[i], "%s");
        const size_t before = at == NULL ? strlen(forms[i]) : (size_t)(at - forms[i]);
        snprintf(head, sizeof head, "%.*s%s%s", (int)before, forms[i], at == NULL ? "" : signature,
            at == NULL ? "" : at + 2);
        if (judged(head, body, signed_s) == NULL)
            fail_msg("accepted: %s", head);
    }
}

static void ten_thousand_forged_and_stale_callbacks_are_all_refused(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 7);
    for (uint32_t i = 0; i < 10000; i++) {
        char head[256], body[sizeof body_text];
        memcpy(body, body_text, sizeof body_text);
        uint64_t now_s = signed_s;
        int size = snprintf(head, sizeof head, "Stripe-Signature: t=%u,v1=%s", 1700000000u, signature);
        if (i % 4 == 0) /* a bit of the body */
            body[random_below(&random, sizeof body - 1)] ^= (char)(1u << random_below(&random, 8));
        else if (i % 4 == 1) /* a bit of time or signature */
            head[(size_t)size - 1 - random_below(&random, 64 + 4 + 10)] ^=
                (char)(1u << random_below(&random, 7));
        else if (i % 4 == 2) /* replayed later */
            now_s += PROVIDER_FRESH_S + 1 + random_below(&random, 1000000);
        else /* signed with another key */
            for (int at = size - 64; at < size; at++)
                head[at] = "0123456789abcdef"[random_below(&random, 16)];
        if (judged(head, span_of(body, sizeof body - 1), now_s) == NULL)
            fail_msg("%u was accepted: %s %s", i, head, body);
    }
}

static void every_single_bit_of_body_and_signature_counts(void **state)
{
    (void)state;
    char head[256], body[sizeof body_text];
    const int size = snprintf(head, sizeof head, "Stripe-Signature: t=1700000000,v1=%s", signature);
    memcpy(body, body_text, sizeof body_text);
    for (size_t bit = 0; bit < (sizeof body - 1) * 8; bit++) {
        body[bit / 8] ^= (char)(1u << bit % 8);
        assert_non_null(judged(head, span_of(body, sizeof body - 1), signed_s));
        body[bit / 8] ^= (char)(1u << bit % 8);
    }
    for (size_t bit = 0; bit < 64 * 8; bit++) {
        char *at = &head[(size_t)size - 64 + bit / 8];
        *at ^= (char)(1u << bit % 8);
        assert_non_null(judged(head, span_of(body, sizeof body - 1), signed_s));
        *at ^= (char)(1u << bit % 8);
    }
    assert_null(judged(head, span_of(body, sizeof body - 1), signed_s));
}

static void a_body_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char *body = calloc(1, STRIPE_CALLBACK_MAX + 1);
    assert_non_null(body);
    char head[256];
    snprintf(head, sizeof head, "Stripe-Signature: t=1700000000,v1=%s", signature);
    assert_string_equal(
        judged(head, span_of(body, STRIPE_CALLBACK_MAX + 1), signed_s), "the body is too long");
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_genuine_signature_holds_within_its_time),
        cmocka_unit_test(a_signature_header_that_is_not_one_is_refused),
        cmocka_unit_test(ten_thousand_forged_and_stale_callbacks_are_all_refused),
        cmocka_unit_test(every_single_bit_of_body_and_signature_counts),
        cmocka_unit_test(a_body_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
