/* SPDX-License-Identifier: Apache-2.0 */
/* Against the platform's own key, without its server: tests/e2e/payments/providers_test.py has that. */
#include "payment/alipay.h"

#include "tests/support/provider_keys.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>

#define NOW_MS UINT64_C(1794398400000) /* 2026-11-11 20:00:00 there */
enum { ROOM = 16 * 1024 };

static struct provider_keys keys;
static struct provider *alipay;
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
        .return_url = "https://shop.example/r",
        .now_ms = NOW_MS,
        .expires_ms = NOW_MS + 1000 };
}

static int group_start(void **state)
{
    (void)state;
    provider_keys_make(&keys);
    alipay = provider_keys_open(&keys, "alipay", "precreate");
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    alipay_provider.close(alipay);
    provider_keys_free(&keys);
    return 0;
}

/* Reads `format` with %s for the signature over `inner`. */
static enum provider_word answer_read(
    enum provider_act act, const char *before, const char *inner, const char *after)
{
    const struct provider_task task = task_of(act);
    struct text reply = text_in(call.reply, OUTGOING_REPLY_MAX);
    text_string(&reply, before);
    text_string(&reply, inner);
    text_string(&reply, after);
    text_literal(&reply, ",\"sign\":\"");
    provider_keys_sign(&keys, span_from_string(inner), &reply);
    text_literal(&reply, "\"}");
    call.result = OUTGOING_ANSWERED;
    call.status = 200;
    call.reply_size = (uint32_t)reply.size;
    alipay_provider.read(alipay, &task, &call, &said);
    return said.word;
}

static enum provider_word query_read(const char *inner)
{
    return answer_read(PROVIDER_QUERY, "{\"alipay_trade_query_response\":", inner, "");
}

static void the_request_is_signed_over_its_sorted_parameters(void **state)
{
    const struct provider_task task = task_of(PROVIDER_CREATE);
    (void)state;
    memset(&call, 0, sizeof call);
    assert_true(alipay_provider.ask(alipay, &task, &call, &said));
    assert_string_equal(call.method, "POST");
    const char *sign = strstr(call.url, "&sign=");
    assert_non_null(sign);
    /* Undo the encoding of the base64 signature. */
    char signature[SIGN_TEXT_MAX + 1];
    size_t size = 0;
    for (const char *at = sign + 6; *at != '\0'; at++) {
        char c = *at;
        if (c == '%') {
            c = strncmp(at, "%2B", 3) == 0 ? '+' : strncmp(at, "%2F", 3) == 0 ? '/' : '=';
            at += 2;
        }
        signature[size++] = c;
    }
    static const char plain[] =
        "app_id=" KEYS_APP_ID
        "&biz_content={\"out_trade_no\":\"0123456789abcdef-1\",\"total_amount\":\"1234.05\","
        "\"subject\":\"Shoes\",\"time_expire\":\"2026-11-11 20:00:01\"}&charset=utf-8&format=JSON"
        "&method=alipay.trade.precreate&notify_url=https://shop.example/n&sign_type=RSA2"
        "&timestamp=2026-11-11 20:00:00&version=1.0";
    assert_true(sign_holds(keys.shop, span_of(plain, sizeof plain - 1), span_of(signature, size)));
    assert_false(call.allow_private);
}

static void the_signature_is_over_the_very_bytes_that_stand_there(void **state)
{
    static const char good[] =
        "{\"code\":\"10000\",\"out_trade_no\":\"0123456789abcdef-1\",\"trade_no\":\"2\","
        "\"trade_status\":\"TRADE_SUCCESS\",\"total_amount\":\"1234.05\"}";
    static const char spaced[] =
        "{ \"a\\\\\\\"}\" : [ {\"alipay_trade_query_response\":1} ,\"}\" ], \"code\":\"10000\" ,"
        "\"out_trade_no\":\"0123456789abcdef-1\",\"trade_status\":\"WAIT_BUYER_PAY\" }";
    (void)state;
    assert_int_equal(query_read(good), WORD_CAPTURED);
    assert_int_equal(said.amount, 123405);
    assert_string_equal(said.currency, "CNY");
    assert_string_equal(said.provider_id, "2");
    assert_string_equal(said.reference, payment.reference);
    assert_int_equal(query_read(spaced), WORD_OPEN);
    assert_int_equal(answer_read(PROVIDER_QUERY,
                         " {\n \"x\" : {\"alipay_trade_query_response\":{}} ,\t"
                         "\"alipay_trade_query_response\" : ",
                         good, " \r\n"),
        WORD_CAPTURED);
    /* Signed, but not where it is read: another member, a deeper one, or twice. */
    assert_int_equal(
        answer_read(PROVIDER_QUERY, "{\"alipay_trade_close_response\":", good, ""), WORD_FORGED);
    assert_int_equal(answer_read(PROVIDER_QUERY, "{\"x\":{\"alipay_trade_query_response\":", good, "}"),
        WORD_FORGED);
    assert_int_equal(answer_read(PROVIDER_QUERY,
                         "{\"alipay_trade_query_response\":{\"code\":\"10000\"},"
                         "\"alipay_trade_query_response\":",
                         good, ""),
        WORD_FORGED);
    assert_int_equal(answer_read(PROVIDER_QUERY,
                         "{\"alipay_trade_query_response\":{\"code\":\"10000\"},\"y\":", good, ""),
        WORD_FORGED);
    assert_int_equal(said.amount, 0);
}

static void amounts_are_read_exactly_or_not_at_all(void **state)
{
    static const struct {
        const char *text;
        uint64_t fen; /* 0: refused */
    } amounts[] = { { "0.01", 1 }, { "1", 100 }, { "1.5", 150 }, { "1.50", 150 },
        { "184467440737095516.15", UINT64_MAX }, { "184467440737095516.16", 0 }, { "1.", 0 },
        { ".5", 0 }, { "01.00", 0 }, { "1.005", 0 }, { "1,00", 0 }, { "-1.00", 0 }, { "+1", 0 },
        { "1e2", 0 }, { " 1", 0 }, { "1.0x", 0 }, { "1.-1", 0 }, { "", 0 }, { "1.00.00", 0 } };
    char inner[256];
    (void)state;
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        snprintf(inner, sizeof inner,
            "{\"code\":\"10000\",\"out_trade_no\":\"%s\",\"trade_status\":\"TRADE_FINISHED\","
            "\"total_amount\":\"%s\"}",
            payment.reference, amounts[i].text);
        assert_int_equal(query_read(inner), amounts[i].fen > 0 ? WORD_CAPTURED : WORD_FORGED);
        assert_int_equal(said.amount, amounts[i].fen);
    }
}

static void each_code_has_its_word(void **state)
{
    static const struct {
        enum provider_act act;
        const char *code, *sub_code;
        enum provider_word word;
    } codes[] = {
        { PROVIDER_CREATE, "40004", "ACQ.TRADE_HAS_CLOSE", WORD_CLOSED },
        { PROVIDER_CREATE, "40004", "ACQ.TRADE_HAS_SUCCESS", WORD_AGAIN },
        { PROVIDER_CREATE, "20000", "isp.unknow-error", WORD_AGAIN },
        { PROVIDER_CREATE, "40002", "isv.invalid-app-id", WORD_REFUSED },
        { PROVIDER_CLOSE, "40004", "ACQ.TRADE_NOT_EXIST", WORD_UNKNOWN },
        { PROVIDER_CLOSE, "40004", "ACQ.TRADE_STATUS_ERROR", WORD_REFUSED },
        { PROVIDER_CLOSE, "40004", "ACQ.SYSTEM_ERROR", WORD_AGAIN },
        { PROVIDER_CLOSE, "40004", "aop.ACQ.SYSTEM_ERROR", WORD_AGAIN },
        { PROVIDER_REFUND, "40004", "ACQ.TRADE_NOT_EXIST", WORD_REFUSED },
        { PROVIDER_REFUND, "40004", "ACQ.SELLER_BALANCE_NOT_ENOUGH", WORD_REFUSED },
        { PROVIDER_REFUND, "10000", "", WORD_FORGED }, /* success, and no out_trade_no */
        { PROVIDER_REFUND_QUERY, "10000", "", WORD_UNKNOWN },
    };
    static const char *const names[] = { "precreate", "query", "close", "refund", "fastpay_refund_query" };
    char before[64], inner[256];
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        snprintf(before, sizeof before, "{\"alipay_trade_%s_response\":", names[codes[i].act]);
        snprintf(inner, sizeof inner, "{\"code\":\"%s\",\"sub_code\":\"%s\",\"sub_msg\":\"no\"}",
            codes[i].code, codes[i].sub_code);
        assert_int_equal(answer_read(codes[i].act, before, inner, ""), codes[i].word);
    }
    assert_int_equal(answer_read(PROVIDER_CLOSE, "{\"error_response\":", "{\"code\":\"40001\"}", ""),
        WORD_REFUSED);
}

static void an_answer_without_a_good_signature_or_about_another_payment_is_not_believed(void **state)
{
    static const char good[] =
        "{\"code\":\"10000\",\"out_trade_no\":\"0123456789abcdef-1\",\"trade_no\":\"2\","
        "\"trade_status\":\"TRADE_SUCCESS\",\"total_amount\":\"1234.05\"}";
    static const char other[] =
        "{\"code\":\"10000\",\"out_trade_no\":\"0123456789abcdef-2\",\"trade_no\":\"2\","
        "\"trade_status\":\"TRADE_SUCCESS\",\"total_amount\":\"1234.05\"}";
    const struct provider_task task = task_of(PROVIDER_QUERY);
    (void)state;
    assert_int_equal(query_read(other), WORD_FORGED);
    assert_int_equal(query_read(good), WORD_CAPTURED);
    char *amount = memmem(call.reply, call.reply_size, "1234.05", 7);
    assert_non_null(amount);
    *amount = '2'; /* another amount under the same signature */
    alipay_provider.read(alipay, &task, &call, &said);
    assert_int_equal(said.word, WORD_FORGED);
    assert_int_equal(said.amount, 0);
}

static void a_refund_is_the_one_asked_for_only_with_its_key_and_amount(void **state)
{
    static const struct {
        const char *key, *amount;
        enum provider_word word;
    } answers[] = {
        { "0123456789abcdef-r1", "0.05", WORD_REFUNDED },
        { "0123456789abcdef-r1", "0.04", WORD_REFUSED },
        { "0123456789abcdef-r1", "x", WORD_REFUSED },
        { "0123456789abcdef-r2", "0.05", WORD_REFUSED },
    };
    char inner[256];
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        snprintf(inner, sizeof inner,
            "{\"code\":\"10000\",\"out_trade_no\":\"%s\",\"refund_status\":\"REFUND_SUCCESS\","
            "\"out_request_no\":\"%s\",\"refund_amount\":\"%s\"}",
            payment.reference, answers[i].key, answers[i].amount);
        assert_int_equal(answer_read(PROVIDER_REFUND_QUERY,
                             "{\"alipay_trade_fastpay_refund_query_response\":", inner, ""),
            answers[i].word);
    }
}

static void a_page_that_would_be_too_long_is_refused(void **state)
{
    static char longer[PAY_URL_MAX];
    struct provider *page = provider_keys_open(&keys, "alipay", "page");
    struct provider_task task = task_of(PROVIDER_CREATE);
    (void)state;
    assert_false(alipay_provider.ask(page, &task, &call, &said));
    assert_int_equal(said.word, WORD_OPEN);
    assert_ptr_equal(strstr(said.url, "https://openapi.alipay.com/gateway.do?app_id="), said.url);
    memset(longer, 'a', sizeof longer - 1);
    task.return_url = longer;
    assert_false(alipay_provider.ask(page, &task, &call, &said));
    assert_int_equal(said.word, WORD_REFUSED);
    assert_string_equal(said.url, "");
    alipay_provider.close(page);
}

/* The parameters must be sorted already. */
static enum provider_word callback_read(const char *plain)
{
    char room[ROOM];
    struct text body = text_in(room, sizeof room);
    char sign[SIGN_TEXT_MAX];
    struct text signature = text_in(sign, sizeof sign);
    provider_keys_sign(&keys, span_from_string(plain), &signature);
    text_string(&body, plain);
    text_literal(&body, "&sign_type=RSA2&sign=");
    for (size_t i = 0; i < signature.size; i++) {
        if (sign[i] == '+')
            text_literal(&body, "%2B");
        else
            text_add(&body, span_of(sign + i, 1));
    }
    const struct provider_callback callback = { .body = text_span(&body), .now_ms = NOW_MS };
    alipay_provider.callback(alipay, &callback, &said);
    return said.word;
}

static void a_signed_callback_must_be_for_us_and_whole(void **state)
{
#define TIME "&notify_time=2026-11-11 19:59:59"
#define REST TIME "&out_trade_no=a-1&total_amount=1.00&trade_no=9"
    (void)state;
    assert_int_equal(
        callback_read("app_id=" KEYS_APP_ID REST "&trade_status=TRADE_SUCCESS"), WORD_CAPTURED);
    assert_int_equal(said.amount, 100);
    assert_string_equal(said.reference, "a-1");
    assert_string_equal(said.provider_id, "9");
    assert_int_equal(callback_read("app_id=" KEYS_APP_ID REST "&trade_status=TRADE_CLOSED"), WORD_CLOSED);
    assert_int_equal(
        callback_read("app_id=" KEYS_APP_ID "&gmt_refund=x" REST "&trade_status=TRADE_CLOSED"), WORD_OPEN);
    assert_int_equal(callback_read("app_id=" KEYS_APP_ID REST "&trade_status=WAIT_BUYER_PAY"), WORD_OPEN);
    assert_int_equal(callback_read("app_id=2" REST "&trade_status=TRADE_SUCCESS"), WORD_FORGED);
    assert_int_equal(
        callback_read("notify_time=2026-11-11 19:59:59&out_trade_no=a-1&total_amount=1.00"
                      "&trade_status=TRADE_SUCCESS"),
        WORD_FORGED);
    assert_int_equal(
        callback_read("app_id=" KEYS_APP_ID "&out_trade_no=a-1&trade_status=TRADE_CLOSED"), WORD_FORGED);
    assert_int_equal(callback_read("app_id=" KEYS_APP_ID TIME "&trade_status=TRADE_CLOSED"), WORD_FORGED);
    assert_int_equal(
        callback_read("app_id=" KEYS_APP_ID TIME "&out_trade_no=a 1&trade_status=TRADE_CLOSED"),
        WORD_FORGED);
    assert_int_equal(callback_read("app_id=" KEYS_APP_ID TIME "&out_trade_no=a&total_amount=1.001"
                                   "&trade_status=TRADE_SUCCESS"),
        WORD_FORGED);
#undef REST
#undef TIME
}

static void a_callback_is_good_for_as_long_as_alipay_repeats_it(void **state)
{
#define AT(time) \
    "app_id=" KEYS_APP_ID "&notify_time=" time \
    "&out_trade_no=a-1&total_amount=1.00&trade_no=9&trade_status=TRADE_SUCCESS"
    (void)state;
    assert_int_equal(callback_read(AT("2026-11-10 19:00:00")), WORD_CAPTURED); /* 25 hours */
    assert_int_equal(callback_read(AT("2026-11-10 18:50:00")), WORD_FORGED);
    assert_int_equal(callback_read(AT("2026-11-11 20:10:00")), WORD_FORGED);
#undef AT
}

static void a_callback_with_another_signature_is_forged(void **state)
{
    static const char plain[] =
        "app_id=" KEYS_APP_ID "&notify_time=2026-11-11 19:59:59&out_trade_no=a-1"
        "&total_amount=1.00&trade_no=9&trade_status=TRADE_SUCCESS";
    char body[ROOM];
    (void)state;
    const int size = snprintf(body, sizeof body, "%s&sign_type=RSA2&sign=%0344d", plain, 0);
    const struct provider_callback callback = { .body = span_of(body, (size_t)size), .now_ms = NOW_MS };
    alipay_provider.callback(alipay, &callback, &said);
    assert_int_equal(said.word, WORD_FORGED);
    assert_int_equal(said.amount, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_is_signed_over_its_sorted_parameters),
        cmocka_unit_test(the_signature_is_over_the_very_bytes_that_stand_there),
        cmocka_unit_test(amounts_are_read_exactly_or_not_at_all),
        cmocka_unit_test(each_code_has_its_word),
        cmocka_unit_test(an_answer_without_a_good_signature_or_about_another_payment_is_not_believed),
        cmocka_unit_test(a_refund_is_the_one_asked_for_only_with_its_key_and_amount),
        cmocka_unit_test(a_page_that_would_be_too_long_is_refused),
        cmocka_unit_test(a_signed_callback_must_be_for_us_and_whole),
        cmocka_unit_test(a_callback_is_good_for_as_long_as_alipay_repeats_it),
        cmocka_unit_test(a_callback_with_another_signature_is_forged),
    };
    return cmocka_run_group_tests_name("payment/alipay", tests, group_start, group_end);
}
