/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/webhook.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct webhook_endpoint *endpoint_with(const char *secret)
{
    struct webhook_endpoint *endpoint = calloc(1, sizeof *endpoint);
    assert_non_null(endpoint);
    snprintf(endpoint->url, sizeof endpoint->url, "https://shop.example/hook");
    assert_int_equal(webhook_secret_set(endpoint, span_from_string(secret)), STATUS_OK);
    return endpoint;
}

/* The example of the specification's own libraries. */
static void the_signature_is_that_of_the_specification(void **state)
{
    (void)state;
    struct webhook_endpoint *endpoint = endpoint_with("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    char signature[WEBHOOK_SIGNATURE_BYTES];
    webhook_sign(endpoint, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
        SPAN("{\"test\": 2432232314}"), signature);
    assert_string_equal(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    webhook_sign(endpoint, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265331,
        SPAN("{\"test\": 2432232314}"), signature);
    assert_string_not_equal(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    free(endpoint);
}

static void a_secret_is_base64_or_raw_and_long_enough(void **state)
{
    (void)state;
    struct webhook_endpoint *endpoint = endpoint_with("0123456789abcdef01234567");
    assert_int_equal(endpoint->secret_size, 24);
    assert_memory_equal(endpoint->secret, "0123456789abcdef01234567", 24);
    /* 25 bytes with two signs of padding, without it, and with both odd letters */
    static const char *const good[] = { "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
        "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "whsec_++++////++++////++++////++++////" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(webhook_secret_set(endpoint, span_from_string(good[i])), STATUS_OK);
    assert_int_equal(endpoint->secret[0], 0xfb);
    static const char *const bad[] = { "", "whsec_", "0123456789abcdef0123456", "whsec_AAAA",
        "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA!",
        "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA===" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (webhook_secret_set(endpoint, span_from_string(bad[i])) != STATUS_BAD_INPUT)
            fail_msg("taken: %s", bad[i]);
    char long_one[WEBHOOK_SECRET_MAX + 1];
    memset(long_one, 'x', sizeof long_one);
    assert_int_equal(webhook_secret_set(endpoint, span_of(long_one, WEBHOOK_SECRET_MAX)), STATUS_OK);
    assert_int_equal(webhook_secret_set(endpoint, span_of(long_one, sizeof long_one)), STATUS_BAD_INPUT);
    free(endpoint);
}

static void a_request_carries_id_time_and_signature(void **state)
{
    (void)state;
    struct webhook_endpoint *endpoint = endpoint_with("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    struct outgoing_call *call = calloc(1, sizeof *call);
    assert_non_null(call);
    call->body_size = (uint32_t)snprintf(call->body, sizeof call->body, "{\"test\": 2432232314}");
    webhook_request(endpoint, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, call);
    assert_string_equal(call->method, "POST");
    assert_string_equal(call->url, "https://shop.example/hook");
    assert_string_equal(call->headers,
        "Content-Type: application/json\nwebhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek\n"
        "webhook-timestamp: 1614265330\n"
        "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=\n");
    assert_false(call->allow_private);
    free(call);
    free(endpoint);
}

static void only_2xx_is_taken_and_only_410_ends_it(void **state)
{
    (void)state;
    struct outgoing_call *call = calloc(1, sizeof *call);
    assert_non_null(call);
    for (int status = 100; status < 600; status++) {
        call->result = OUTGOING_ANSWERED;
        call->status = status;
        assert_int_equal(webhook_judge(call),
            status / 100 == 2   ? WEBHOOK_TAKEN
                : status == 410 ? WEBHOOK_GONE
                                : WEBHOOK_AGAIN);
        call->result = OUTGOING_FAILED;
        assert_int_equal(webhook_judge(call), WEBHOOK_AGAIN);
    }
    call->result = OUTGOING_ADDRESS_REFUSED;
    assert_int_equal(webhook_judge(call), WEBHOOK_AGAIN);
    free(call);
}

static void it_is_tried_ten_times_at_growing_distances(void **state)
{
    (void)state;
    static const uint64_t plain_s[] = { 5, 30, 120, 600, 1800, 3600, 7200, 14400, 28800 };
    struct random random;
    random_seed(&random, 3);
    for (uint32_t tries = 1; tries <= 9; tries++) {
        bool differs = false;
        uint64_t first = 0, delay_ms;
        for (uint32_t i = 0; i < 50; i++) {
            assert_true(webhook_delay(tries, &random, &delay_ms));
            assert_in_range(delay_ms, plain_s[tries - 1] * 1000, plain_s[tries - 1] * 1200);
            first = i == 0 ? delay_ms : first;
            differs |= delay_ms != first;
        }
        assert_true(differs);
    }
    uint64_t delay_ms;
    assert_false(webhook_delay(10, &random, &delay_ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_signature_is_that_of_the_specification),
        cmocka_unit_test(a_secret_is_base64_or_raw_and_long_enough),
        cmocka_unit_test(a_request_carries_id_time_and_signature),
        cmocka_unit_test(only_2xx_is_taken_and_only_410_ends_it),
        cmocka_unit_test(it_is_tried_ten_times_at_growing_distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
