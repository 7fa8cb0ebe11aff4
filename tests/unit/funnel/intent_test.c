/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/intent.h"

#include "tests/unit/base/unit.h"

enum { EXPIRES_S = 1794716893 };
#define NOW_MS ((EXPIRES_S - UINT64_C(1)) * 1000)

static const uint8_t master[FUNNEL_MASTER_BYTES] = "a master secret of 32 bytes.....";
static const struct intent wish = { .user = 0xfedcba9876543210,
    .item = 4000000001,
    .quantity = 1000,
    .channel = 7,
    .expires_s = EXPIRES_S,
    .nonce = 0x0123456789abcdef };

static struct funnel_keys keys_of(uint8_t first)
{
    struct funnel_keys keys;
    uint8_t secret[FUNNEL_MASTER_BYTES];
    memcpy(secret, master, sizeof secret);
    secret[0] ^= first;
    assert_int_equal(funnel_keys_derive(&keys, secret, sizeof secret), STATUS_OK);
    return keys;
}

static void what_was_wished_is_read_back(void **state)
{
    const struct funnel_keys keys = keys_of(0);
    char text[INTENT_CHARS];
    struct intent read;
    (void)state;
    intent_issue(&keys, &wish, text);
    assert_true(intent_verify(&keys, span_of(text, sizeof text), NOW_MS, &read));
    assert_int_equal(read.user, wish.user);
    assert_int_equal(read.item, wish.item);
    assert_int_equal(read.quantity, wish.quantity);
    assert_int_equal(read.channel, wish.channel);
    assert_int_equal(read.expires_s, wish.expires_s);
    assert_int_equal(read.nonce, wish.nonce);
}

static void it_is_signed_with_a_key_of_its_own(void **state)
{
    struct funnel_keys keys = keys_of(0);
    char text[INTENT_CHARS];
    struct intent read;
    (void)state;
    intent_issue(&keys, &wish, text);
    keys.root[0] ^= 1; /* what all keys come from signs nothing itself */
    assert_true(intent_verify(&keys, span_of(text, sizeof text), NOW_MS, &read));
    keys.intent[0] ^= 1;
    assert_false(intent_verify(&keys, span_of(text, sizeof text), NOW_MS, &read));
}

static void it_expires_on_the_second(void **state)
{
    const struct funnel_keys keys = keys_of(0);
    char text[INTENT_CHARS];
    struct intent read;
    (void)state;
    intent_issue(&keys, &wish, text);
    assert_true(intent_verify(&keys, span_of(text, sizeof text), EXPIRES_S * UINT64_C(1000) - 1, &read));
    assert_false(intent_verify(&keys, span_of(text, sizeof text), EXPIRES_S * UINT64_C(1000), &read));
}

static void another_character_length_or_secret_is_refused(void **state)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= ";
    const struct funnel_keys keys = keys_of(0), others = keys_of(1);
    char text[INTENT_CHARS + 1] = { 0 };
    struct intent read;
    (void)state;
    intent_issue(&keys, &wish, text);
    assert_false(intent_verify(&others, span_of(text, INTENT_CHARS), NOW_MS, &read));
    for (size_t at = 0; at < INTENT_CHARS; at++) {
        const char right = text[at];
        for (size_t i = 0; i < sizeof alphabet - 1; i++) {
            text[at] = alphabet[i];
            assert_true(alphabet[i] == right
                || !intent_verify(&keys, span_of(text, INTENT_CHARS), NOW_MS, &read));
        }
        text[at] = right;
        assert_false(intent_verify(&keys, span_of(text, at), NOW_MS, &read));
    }
    text[INTENT_CHARS] = 'A';
    assert_false(intent_verify(&keys, span_of(text, INTENT_CHARS + 1), NOW_MS, &read));
    assert_false(intent_verify(&keys, SPAN_NONE, NOW_MS, &read));
}

static void one_intent_is_one_purchase(void **state)
{
    const struct funnel_keys keys = keys_of(0);
    struct intent other = wish;
    (void)state;
    assert_true(intent_key(&keys, &wish) != 0);
    assert_int_equal(intent_key(&keys, &wish), intent_key(&keys, &other));
    other.nonce++;
    assert_true(intent_key(&keys, &wish) != intent_key(&keys, &other));
    other = wish;
    other.user++;
    assert_true(intent_key(&keys, &wish) != intent_key(&keys, &other));
}

static void its_key_is_none_that_a_user_can_send(void **state)
{
    const struct funnel_keys keys = keys_of(0);
    char text[INTENT_CHARS];
    struct intent read;
    const struct span old = SPAN("intent-0123456789abcdef");
    (void)state;
    intent_issue(&keys, &wish, text);
    assert_true(intent_verify(&keys, span_of(text, sizeof text), NOW_MS, &read));
    assert_true(intent_key(&keys, &read) != funnel_key_hash(&keys, wish.user, old));
    read.version = 0; /* one that was issued before keeps the key that the journal has */
    assert_true(intent_key(&keys, &read) == funnel_key_hash(&keys, wish.user, old));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_wished_is_read_back),
        cmocka_unit_test(it_is_signed_with_a_key_of_its_own),
        cmocka_unit_test(it_expires_on_the_second),
        cmocka_unit_test(another_character_length_or_secret_is_refused),
        cmocka_unit_test(one_intent_is_one_purchase),
        cmocka_unit_test(its_key_is_none_that_a_user_can_send),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
