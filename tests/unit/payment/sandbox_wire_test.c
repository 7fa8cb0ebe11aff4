/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/sandbox_wire.h"

#include "payment/provider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW_MS UINT64_C(1794715993000)

static const struct sandbox_secret secret = { { 1, 2, 3 } }, other = { { 1, 2, 4 } };
static const struct sandbox_signed what = { SPAN("POST"), SPAN("/v1/payments/sandbox/callback"),
    SPAN("{\"amount\":1}") };

static bool good_at(const char *signature, uint64_t now_ms)
{
    return sandbox_signature_good(&secret, now_ms, &what, span_from_string(signature));
}

static void a_signature_is_good_for_what_it_was_made_for_only(void **state)
{
    char signature[SANDBOX_SIGNATURE_BYTES];
    (void)state;
    sandbox_sign(&secret, NOW_MS, &what, signature);
    const struct span header = span_from_string(signature);
    struct sandbox_signed changed = what;
    assert_true(good_at(signature, NOW_MS));
    assert_false(sandbox_signature_good(&other, NOW_MS, &what, header));
    changed.method = SPAN("GET");
    assert_false(sandbox_signature_good(&secret, NOW_MS, &changed, header));
    changed = what;
    changed.path = SPAN("/v1/payments/sandbox/callbacks");
    assert_false(sandbox_signature_good(&secret, NOW_MS, &changed, header));
    changed = what;
    changed.body = SPAN("{\"amount\":2}");
    assert_false(sandbox_signature_good(&secret, NOW_MS, &changed, header));
    changed.body = SPAN_NONE;
    assert_false(sandbox_signature_good(&secret, NOW_MS, &changed, header));
}

static void every_flipped_bit_and_every_cut_is_noticed(void **state)
{
    char signature[SANDBOX_SIGNATURE_BYTES];
    (void)state;
    sandbox_sign(&secret, NOW_MS, &what, signature);
    const size_t size = strlen(signature);
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            signature[at] = (char)(signature[at] ^ (1 << bit));
            assert_false(sandbox_signature_good(&secret, NOW_MS, &what, span_of(signature, size)));
            signature[at] = (char)(signature[at] ^ (1 << bit));
        }
        assert_false(sandbox_signature_good(&secret, NOW_MS, &what, span_of(signature, at)));
    }
    assert_true(good_at(signature, NOW_MS));
    signature[size] = '0';
    assert_false(sandbox_signature_good(&secret, NOW_MS, &what, span_of(signature, size + 1)));
    assert_false(sandbox_signature_good(&secret, NOW_MS, &what, SPAN_NONE));
    assert_false(good_at("t=,v1=", NOW_MS));
    assert_false(good_at("v1=,t=1", NOW_MS));
    assert_false(good_at("t=99999999999999999999999,v1=00", NOW_MS));
}

static void a_signature_is_fresh_for_so_long_and_not_a_second_longer(void **state)
{
    char signature[SANDBOX_SIGNATURE_BYTES];
    const uint64_t fresh_ms = PROVIDER_FRESH_S * 1000ULL;
    (void)state;
    sandbox_sign(&secret, NOW_MS, &what, signature);
    assert_true(good_at(signature, NOW_MS + fresh_ms));
    assert_false(good_at(signature, NOW_MS + fresh_ms + 1000));
    assert_true(good_at(signature, NOW_MS - fresh_ms));
    assert_false(good_at(signature, NOW_MS - fresh_ms - 1000));
}

static struct sandbox_message full_message(void)
{
    struct sandbox_message message = { .state = "captured",
        .id = "sb_1",
        .reference = "0123456789abcdef-1",
        .key = "k-1",
        .title = "\"手机\" \\ 1",
        .notify_url = "https://shop/notify",
        .return_url = "https://shop/back",
        .url = "https://bank/pay",
        .currency = "CNY",
        .amount = 999,
        .expires_ms = INT64_MAX };
    return message;
}

static void what_is_written_is_read(void **state)
{
    struct sandbox_message message = full_message(), read, empty = { 0 };
    char bytes[2048];
    struct text out = text_in(bytes, sizeof bytes);
    (void)state;
    sandbox_message_write(&message, &out);
    assert_false(out.overflow);
    assert_true(sandbox_message_read(text_span(&out), &read));
    assert_memory_equal(&read, &message, sizeof read);
    out = text_in(bytes, sizeof bytes);
    sandbox_message_write(&empty, &out);
    assert_true(span_equal(text_span(&out), SPAN("{}")));
    assert_true(sandbox_message_read(text_span(&out), &read));
    assert_memory_equal(&read, &empty, sizeof read);
}

static void an_amount_of_nothing_is_said(void **state)
{
    const struct sandbox_message message = { .reference = "r-1", .currency = "CNY" };
    char bytes[256];
    struct text out = text_in(bytes, sizeof bytes);
    (void)state;
    sandbox_message_write(&message, &out);
    assert_true(span_equal(
        text_span(&out), SPAN("{\"reference\":\"r-1\",\"currency\":\"CNY\",\"amount\":0}")));
}

static void what_is_no_message_is_refused(void **state)
{
    static const char *const wrong[] = { "", "null", "[]", "1", "{", "{}x", "{\"amount\":-1}",
        "{\"amount\":1.5}", "{\"amount\":\"1\"}", "{\"amount\":99999999999999999999}",
        "{\"state\":1}", "{\"state\":\"0123456789ab\"}", "{\"currency\":\"CNYY\"}",
        "{\"id\":\"a\\u0000b\"}", "{\"amount\":1,\"amount\":2}" };
    struct sandbox_message message;
    char long_reference[REFERENCE_BYTES_MAX + 32];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(sandbox_message_read(span_from_string(wrong[i]), &message));
    snprintf(long_reference, sizeof long_reference, "{\"reference\":\"%0*d\"}", REFERENCE_BYTES_MAX, 1);
    assert_true(sandbox_message_read(span_from_string(long_reference), &message));
    snprintf(long_reference, sizeof long_reference, "{\"reference\":\"%0*d\"}",
        REFERENCE_BYTES_MAX + 1, 1);
    assert_false(sandbox_message_read(span_from_string(long_reference), &message));
}

static void the_path_is_what_follows_the_host(void **state)
{
    (void)state;
    assert_true(span_equal(sandbox_path_of("http://127.0.0.1:8080/a/b?c"), SPAN("/a/b?c")));
    assert_true(span_equal(sandbox_path_of("https://shop"), SPAN("/")));
    assert_true(span_equal(sandbox_path_of("nothing"), SPAN("/")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signature_is_good_for_what_it_was_made_for_only),
        cmocka_unit_test(every_flipped_bit_and_every_cut_is_noticed),
        cmocka_unit_test(a_signature_is_fresh_for_so_long_and_not_a_second_longer),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(an_amount_of_nothing_is_said),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(the_path_is_what_follows_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
