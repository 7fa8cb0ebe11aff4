/* SPDX-License-Identifier: Apache-2.0 */
/* Against the platform's own key, without its server: tests/e2e/payments/providers_test.py has that. */
#include "payment/wechat.h"

#include "tests/support/provider_keys.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>

#define NOW_MS UINT64_C(1794398400000) /* 2026-11-11 20:00:00 there */
enum { ROOM = 16 * 1024, NOW_S = 1794398400 };

static struct provider_keys keys;
static struct provider *wechat;
static struct outgoing_call call;
static struct provider_said said;
static struct payment payment = { .reference = "0123456789abcdef-1", .amount = 123405, .currency = "CNY" };
static struct refund refund = { .key = "0123456789abcdef-r1", .amount = 5, .currency = "CNY" };

static struct provider_task task_of(enum provider_act act)
{
    return (struct provider_task){ .act = act,
        .payment = &payment,
        .refund = &refund,
        .title = "Shoes",
        .notify_url = "https://shop.example/n",
        .now_ms = NOW_MS,
        .expires_ms = NOW_MS + 1000 };
}

static int group_start(void **state)
{
    (void)state;
    provider_keys_make(&keys);
    wechat = provider_keys_open(&keys, "wechat", "native");
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    wechat_provider.close(wechat);
    provider_keys_free(&keys);
    return 0;
}

static enum provider_word answer_read(enum provider_act act, int status, const char *body)
{
    const struct provider_task task = task_of(act);
    struct text head = text_in(call.reply_headers, sizeof call.reply_headers);
    provider_keys_head(&keys, NOW_S, "n0nce", span_from_string(body), &head);
    call.reply_headers_size = (uint32_t)head.size;
    call.result = OUTGOING_ANSWERED;
    call.status = status;
    call.reply_size = (uint32_t)strlen(body);
    memcpy(call.reply, body, strlen(body) + 1);
    wechat_provider.read(wechat, &task, &call, &said);
    return said.word;
}

/* The value of name="…" in the Authorization header. */
static struct span authorization(const char *name)
{
    const char *at = strstr(call.headers, name);
    assert_non_null(at);
    at += strlen(name) + 2;
    return span_of(at, (size_t)(strchr(at, '"') - at));
}

static void the_request_is_signed_over_method_path_time_nonce_and_body(void **state)
{
    static const struct {
        enum provider_act act;
        const char *method, *path, *body;
    } asks[] = {
        { PROVIDER_CREATE, "POST", "/v3/pay/transactions/native",
            "{\"mchid\":\"1900000001\",\"appid\":\"wx1\",\"description\":\"Shoes\",\"out_trade_"
            "no\":"
            "\"0123456789abcdef-1\",\"notify_url\":\"https://shop.example/n\",\"time_expire\":"
            "\"2026-11-11T20:00:01+08:00\",\"amount\":{\"total\":123405,\"currency\":\"CNY\"}}" },
        { PROVIDER_QUERY, "GET",
            "/v3/pay/transactions/out-trade-no/0123456789abcdef-1?mchid=1900000001", "" },
        { PROVIDER_CLOSE, "POST", "/v3/pay/transactions/out-trade-no/0123456789abcdef-1/close",
            "{\"mchid\":\"1900000001\"}" },
        { PROVIDER_REFUND, "POST", "/v3/refund/domestic/refunds",
            "{\"out_trade_no\":\"0123456789abcdef-1\",\"out_refund_no\":\"0123456789abcdef-r1\","
            "\"amount\":"
            "{\"refund\":5,\"total\":123405,\"currency\":\"CNY\"}}" },
        { PROVIDER_REFUND_QUERY, "GET", "/v3/refund/domestic/refunds/0123456789abcdef-r1", "" },
    };
    char before[64] = "", plain[2048];
    (void)state;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        const struct provider_task task = task_of(asks[i].act);
        memset(&call, 0, sizeof call);
        assert_true(wechat_provider.ask(wechat, &task, &call, &said));
        assert_string_equal(call.method, asks[i].method);
        assert_string_equal(call.url + strlen("https://api.mch.weixin.qq.com"), asks[i].path);
        assert_true(span_equal(span_of(call.body, call.body_size), span_from_string(asks[i].body)));
        const struct span nonce = authorization("nonce_str");
        assert_int_equal(nonce.size, 32);
        assert_memory_not_equal(nonce.data, before, 32);
        memcpy(before, nonce.data, 32);
        const int size = snprintf(plain, sizeof plain, "%s\n%s\n1794398400\n%.32s\n%s\n",
            asks[i].method, asks[i].path, nonce.data, asks[i].body);
        assert_true(sign_holds(keys.shop, span_of(plain, (size_t)size), authorization("signature")));
    }
}

static void references_that_wechat_would_not_take_are_refused_before_a_call(void **state)
{
    struct provider_task task = task_of(PROVIDER_CREATE);
    struct payment other = payment;
    (void)state;
    task.payment = &other;
    for (size_t i = 0; i < 4; i++) {
        static const char *const wrong[] = { "", "a/../b", "a?b", "012345678901234567890123456789012" };
        snprintf(other.reference, sizeof other.reference, "%s", wrong[i]);
        assert_false(wechat_provider.ask(wechat, &task, &call, &said));
        assert_int_equal(said.word, WORD_REFUSED);
    }
}

static void each_answer_has_its_word(void **state)
{
#define IDS "\"mchid\":\"1900000001\",\"appid\":\"wx1\",\"out_trade_no\":\"0123456789abcdef-1\""
#define REFUND \
    "{\"out_refund_no\":\"0123456789abcdef-r1\",\"out_trade_no\":\"0123456789abcdef-1\"," \
    "\"amount\":"
    static const struct {
        enum provider_act act;
        int status;
        const char *body;
        enum provider_word word;
    } answers[] = {
        { PROVIDER_CREATE, 200, "{\"code_url\":\"weixin://x\"}", WORD_OPEN },
        { PROVIDER_CREATE, 200, "{}", WORD_FORGED },
        { PROVIDER_CREATE, 200, "", WORD_FORGED },
        { PROVIDER_CREATE, 400, "{\"code\":\"ORDER_CLOSED\"}", WORD_CLOSED },
        { PROVIDER_CREATE, 400, "{\"code\":\"ORDERPAID\"}", WORD_AGAIN },
        { PROVIDER_CREATE, 403, "{\"code\":\"NO_AUTH\"}", WORD_REFUSED },
        { PROVIDER_QUERY, 404, "{\"code\":\"ORDER_NOT_EXIST\"}", WORD_UNKNOWN },
        { PROVIDER_QUERY, 500, "{\"code\":\"SYSTEM_ERROR\"}", WORD_AGAIN },
        { PROVIDER_QUERY, 429, "{\"code\":\"FREQUENCY_LIMITED\"}", WORD_AGAIN },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"NOTPAY\"}", WORD_OPEN },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"USERPAYING\"}", WORD_OPEN },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"CLOSED\"}", WORD_CLOSED },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"REFUND\"}", WORD_CLOSED },
        { PROVIDER_QUERY, 200,
            "{" IDS ",\"trade_state\":\"SUCCESS\",\"amount\":{\"total\":123405}}", WORD_CAPTURED },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"SUCCESS\",\"amount\":{\"total\":1.5}}",
            WORD_FORGED },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"SUCCESS\",\"amount\":{\"total\":-1}}",
            WORD_FORGED },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"SUCCESS\",\"amount\":{\"total\":\"1\"}}",
            WORD_FORGED },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"SUCCESS\"}", WORD_FORGED },
        { PROVIDER_QUERY, 200, "{" IDS ",\"trade_state\":\"SUCCESS\",\"trade_state\":\"CLOSED\"}",
            WORD_FORGED },
        { PROVIDER_QUERY, 200, "{\"mchid\":\"1\",\"appid\":\"wx1\",\"trade_state\":\"CLOSED\"}",
            WORD_FORGED },
        { PROVIDER_CLOSE, 204, "", WORD_CLOSED },
        { PROVIDER_CLOSE, 400, "{\"code\":\"ORDERPAID\"}", WORD_REFUSED },
        { PROVIDER_REFUND, 200, REFUND "{\"refund\":5},\"status\":\"PROCESSING\"}", WORD_REFUND_PENDING },
        { PROVIDER_REFUND, 200, REFUND "{\"refund\":5},\"status\":\"SUCCESS\"}", WORD_REFUNDED },
        { PROVIDER_REFUND, 200, REFUND "{\"refund\":5},\"status\":\"ABNORMAL\"}", WORD_REFUSED },
        { PROVIDER_REFUND, 200, REFUND "{\"refund\":5},\"status\":\"CLOSED\"}", WORD_REFUSED },
        { PROVIDER_REFUND, 200, REFUND "{\"refund\":6},\"status\":\"SUCCESS\"}", WORD_REFUSED },
        { PROVIDER_REFUND, 200, "{\"status\":\"SUCCESS\"}", WORD_FORGED },
        { PROVIDER_REFUND, 200,
            "{\"out_refund_no\":\"0123456789abcdef-r2\",\"out_trade_no\":\"0123456789abcdef-1\","
            "\"amount\":{\"refund\":5},\"status\":\"SUCCESS\"}",
            WORD_FORGED },
        { PROVIDER_REFUND, 404, "{\"code\":\"RESOURCE_NOT_EXISTS\"}", WORD_REFUSED },
        { PROVIDER_REFUND_QUERY, 404, "{\"code\":\"RESOURCE_NOT_EXISTS\"}", WORD_UNKNOWN },
    };
#undef REFUND
#undef IDS
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        assert_int_equal(
            answer_read(answers[i].act, answers[i].status, answers[i].body), answers[i].word);
}

static enum provider_word callback_read(
    const char *head_more, const char *algorithm, const char *associated, const char *transaction)
{
    char head[ROOM], body[ROOM];
    struct text head_text = text_in(head, sizeof head), body_text = text_in(body, sizeof body);
    text_format(&body_text,
        "{\"event_type\":\"TRANSACTION.SUCCESS\",\"resource\":{\"algorithm\":\"%s\",\"nonce\":"
        "\"0123456789ab\","
        "\"associated_data\":\"%s\",\"ciphertext\":\"",
        algorithm, associated);
    provider_keys_seal(&keys, SPAN("0123456789ab"), SPAN("transaction"),
        span_from_string(transaction), &body_text);
    text_literal(&body_text, "\"}}");
    provider_keys_head(&keys, NOW_S, "n0nce", text_span(&body_text), &head_text);
    text_string(&head_text, head_more);
    const struct provider_callback callback = {
        .head = text_span(&head_text), .body = text_span(&body_text), .now_ms = NOW_MS
    };
    wechat_provider.callback(wechat, &callback, &said);
    return said.word;
}

static void a_signed_callback_must_open_and_be_for_us(void **state)
{
    static const char good[] =
        "{\"mchid\":\"1900000001\",\"appid\":\"wx1\",\"out_trade_no\":\"a-1\",\"trade_state\":"
        "\"SUCCESS\",\"transaction_id\":\"42\",\"amount\":{\"total\":7,\"currency\":\"CNY\"}}";
    static const char other[] =
        "{\"mchid\":\"1900000002\",\"appid\":\"wx1\",\"out_trade_no\":\"a-1\",\"trade_state\":"
        "\"SUCCESS\",\"amount\":{\"total\":7,\"currency\":\"CNY\"}}";
    (void)state;
    assert_int_equal(callback_read("", "AEAD_AES_256_GCM", "transaction", good), WORD_CAPTURED);
    assert_int_equal(said.amount, 7);
    assert_string_equal(said.reference, "a-1");
    assert_string_equal(said.provider_id, "42");
    assert_int_equal(callback_read("", "AEAD_AES_256_GCM", "transactiom", good), WORD_FORGED);
    assert_int_equal(callback_read("", "NONE", "transaction", good), WORD_FORGED);
    assert_int_equal(callback_read("", "AEAD_AES_256_GCM", "transaction", other), WORD_FORGED);
    assert_int_equal(callback_read("", "AEAD_AES_256_GCM", "transaction", "[]"), WORD_FORGED);
    assert_int_equal(callback_read("Wechatpay-Nonce: other\r\n", "AEAD_AES_256_GCM", "transaction", good),
        WORD_FORGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_is_signed_over_method_path_time_nonce_and_body),
        cmocka_unit_test(references_that_wechat_would_not_take_are_refused_before_a_call),
        cmocka_unit_test(each_answer_has_its_word),
        cmocka_unit_test(a_signed_callback_must_open_and_be_for_us),
    };
    return cmocka_run_group_tests_name("payment/wechat", tests, group_start, group_end);
}
