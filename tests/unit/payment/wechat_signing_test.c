/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/payment/wechat_signing_test.c: what the platform has signed or sealed holds, and nothing
 * else does. */
#include "payment/wechat_signing.h"

#include "payment/provider_json.h"
#include "tests/support/provider_keys.h"
#include "tests/unit/base/unit.h"

#include <string.h>

#define NOW_MS UINT64_C(1794398400000)
enum { NOW_S = 1794398400, ROOM = 4096 };

static struct provider_keys made;
static struct wechat_keys keys;

static const char *opened(const char *platform_serial)
{
    return wechat_keys_open(&keys,
        &(struct wechat_key_files){ .private_key = made.private_file,
            .api_key = made.api_file,
            .platform = made.platform_file,
            .platform_serial = platform_serial });
}

static int group_start(void **state)
{
    (void)state;
    provider_keys_make(&made);
    return opened(KEYS_PLATFORM_SERIAL) == NULL ? 0 : -1;
}

static int group_end(void **state)
{
    (void)state;
    wechat_keys_close(&keys);
    provider_keys_free(&made);
    return 0;
}

/* NULL: it holds. `bit` of the body is turned, if there are so many. */
static const char *checked(uint64_t sent_s, size_t bit)
{
    char room[ROOM], body[] = "{\"code_url\":\"weixin://x\"}";
    struct text head = text_in(room, sizeof room);
    provider_keys_head(&made, sent_s, "n0nce", span_from_string(body), &head);
    if (bit / 8 < sizeof body - 1)
        body[bit / 8] ^= (char)(1u << bit % 8);
    return wechat_signed_check(&keys, text_span(&head), span_of(body, sizeof body - 1), NOW_MS);
}

static void a_signature_holds_for_these_bytes_and_for_minutes(void **state)
{
    (void)state;
    assert_null(checked(NOW_S, SIZE_MAX));
    assert_null(checked(NOW_S - PROVIDER_FRESH_S, SIZE_MAX));
    assert_null(checked(NOW_S + PROVIDER_FRESH_S, SIZE_MAX));
    assert_non_null(checked(NOW_S - PROVIDER_FRESH_S - 1, SIZE_MAX));
    assert_non_null(checked(NOW_S + PROVIDER_FRESH_S + 1, SIZE_MAX));
    for (size_t bit = 0; bit < 25 * 8; bit += 13)
        assert_string_equal(checked(NOW_S, bit), "not signed by WeChat Pay");
    assert_string_equal(wechat_signed_check(&keys, SPAN_NONE, SPAN_NONE, NOW_MS), "not signed");
    memcpy(keys.platform_serial, "X", 1);
    assert_string_equal(checked(NOW_S, SIZE_MAX), "signed with another key of the platform");
    memcpy(keys.platform_serial, KEYS_PLATFORM_SERIAL, 1);
}

static void what_is_sealed_opens_with_its_own_nonce_and_data_only(void **state)
{
    static const struct {
        const char *algorithm, *nonce, *associated;
        bool opens;
    } cases[] = { { "AEAD_AES_256_GCM", "0123456789ab", "transaction", true },
        { "AES_256_GCM", "0123456789ab", "transaction", false },
        { "AEAD_AES_256_GCM", "0123456789ac", "transaction", false },
        { "AEAD_AES_256_GCM", "0123456789ab", "", false } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char room[ROOM];
        struct text body = text_in(room, sizeof room);
        text_format(&body, "{\"resource\":{\"algorithm\":\"%s\",\"nonce\":\"%s\",",
            cases[i].algorithm, cases[i].nonce);
        text_format(&body, "\"associated_data\":\"%s\",\"ciphertext\":\"", cases[i].associated);
        provider_keys_seal(
            &made, SPAN("0123456789ab"), SPAN("transaction"), SPAN("{\"a\":\"b\"}"), &body);
        text_literal(&body, "\"}}");
        json_t *notice = provider_json_read(text_span(&body));
        assert_non_null(notice);
        json_t *inside = wechat_resource_open(&keys, notice);
        assert_int_equal(inside != NULL, cases[i].opens);
        assert_int_equal(provider_json_is(inside, "a", "b"), cases[i].opens);
        json_decref(inside);
        json_decref(notice);
    }
}

static void a_bare_public_key_needs_its_id(void **state)
{
    (void)state;
    wechat_keys_close(&keys);
    assert_string_equal(
        opened(""), "platform_serial must be set: the id of the public key, up to 64 characters");
    wechat_keys_close(&keys);
    assert_null(opened(KEYS_PLATFORM_SERIAL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signature_holds_for_these_bytes_and_for_minutes),
        cmocka_unit_test(what_is_sealed_opens_with_its_own_nonce_and_data_only),
        cmocka_unit_test(a_bare_public_key_needs_its_id),
    };
    return cmocka_run_group_tests(tests, group_start, group_end);
}
