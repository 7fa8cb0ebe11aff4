/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/provider_news.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static const struct hash_key key = { 1, 2 }, other_key = { 1, 3 };

static void what_was_said_becomes_news(void **state)
{
    const struct provider_said said = {
        .word = WORD_CAPTURED, .reference = "r1", .provider_id = "p1", .amount = 5, .currency = "CNY"
    };
    const struct payment_news news = provider_news(key, "stripe", &said, 9);
    (void)state;
    assert_int_equal(news.kind, NEWS_CAPTURED);
    assert_int_equal(news.amount, 5);
    assert_int_equal(news.now_ms, 9);
    assert_string_equal(news.provider, "stripe");
    assert_string_equal(news.reference, "r1");
    assert_string_equal(news.provider_id, "p1");
    assert_string_equal(news.currency, "CNY");
    assert_false(news.asked);
    assert_int_equal(provider_news(key, "stripe", &(struct provider_said){ .word = WORD_CLOSED }, 9).kind,
        NEWS_CLOSED);
}

static uint64_t payer_of(struct hash_key with, const char *provider, const char *payer)
{
    struct provider_said said = { .word = WORD_CAPTURED };
    snprintf(said.payer, sizeof said.payer, "%s", payer);
    return provider_news(with, provider, &said, 1).payer;
}

static void a_payer_is_a_hash_of_key_provider_and_name(void **state)
{
    (void)state;
    const uint64_t hash = payer_of(key, "stripe", "card-1");
    assert_int_equal(payer_of(key, "stripe", "card-1"), hash);
    assert_int_not_equal(hash, 0);
    assert_int_not_equal(payer_of(key, "stripe", "card-2"), hash);
    assert_int_not_equal(payer_of(key, "alipay", "card-1"), hash);
    assert_int_not_equal(payer_of(other_key, "stripe", "card-1"), hash);
    assert_int_equal(payer_of(key, "stripe", ""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said_becomes_news),
        cmocka_unit_test(a_payer_is_a_hash_of_key_provider_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
