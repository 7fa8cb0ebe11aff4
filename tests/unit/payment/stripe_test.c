/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/stripe.h"

#include "base/hash.h"
#include "base/text.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char secret[] = "whsec_test_secret";
static const uint64_t signed_s = 1700000000;
static const char paid_body[] =
    "{\"id\":\"evt_1\",\"object\":\"event\",\"type\":\"checkout.session.completed\",\"data\":{"
    "\"object\":{\"id\":\"cs_test_a1\",\"object\":\"checkout.session\",\"client_reference_id\":"
    "\"ref-1\",\"amount_total\":12345,\"currency\":\"cny\",\"payment_intent\":\"pi_9\","
    "\"payment_status\":\"paid\",\"status\":\"complete\",\"url\":null}}}";
/* Made with another program over "1700000000." and the body. */
static const char paid_signature[] =
    "ff0c295b791e50c2b412115f50ff9c16e017b121e164a09028ac8a31af8af406";

struct worker {
    char folder[64];
    char key_path[80], hook_path[80];
    struct provider *stripe;
    struct payment payment;
    struct refund refund;
    struct provider_task task;
    struct provider_said said;
    struct outgoing_call call;
};

static void file_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int worker_open(void **state)
{
    struct worker *worker = calloc(1, sizeof *worker);
    assert_non_null(worker);
    snprintf(worker->folder, sizeof worker->folder, "/tmp/stripe-test-XXXXXX");
    assert_non_null(mkdtemp(worker->folder));
    snprintf(worker->key_path, sizeof worker->key_path, "%s/key", worker->folder);
    snprintf(worker->hook_path, sizeof worker->hook_path, "%s/hook", worker->folder);
    file_write(worker->key_path, "sk_test_123\n");
    file_write(worker->hook_path, "whsec_test_secret\r\n");
    const char *values[] = { "https://api.stripe.com", worker->key_path, worker->hook_path, "2024-06-20" };
    char error[PROVIDER_ERROR];
    assert_int_equal(stripe_provider.open(&worker->stripe, values, error), STATUS_OK);
    worker->payment = (struct payment){ .amount = 12345, .currency = "CNY", .reference = "ref-1" };
    worker->refund = (struct refund){ .key = "back-1", .amount = 12345, .currency = "CNY" };
    worker->task = (struct provider_task){ .payment = &worker->payment,
        .refund = &worker->refund,
        .title = "Tee & Kaffee",
        .return_url = "https://shop.example/done?a=1" };
    *state = worker;
    return 0;
}

static int worker_close(void **state)
{
    struct worker *worker = *state;
    stripe_provider.close(worker->stripe);
    unlink(worker->key_path);
    unlink(worker->hook_path);
    rmdir(worker->folder);
    free(worker);
    return 0;
}

static bool ask(struct worker *worker, enum provider_act act, const char *provider_id)
{
    worker->task.act = act;
    snprintf(worker->payment.provider_id, sizeof worker->payment.provider_id, "%s", provider_id);
    memset(&worker->call, 0, sizeof worker->call);
    return stripe_provider.ask(worker->stripe, &worker->task, &worker->call, &worker->said);
}

static enum provider_word read_answer(
    struct worker *worker, enum provider_act act, int status, const char *body)
{
    worker->task.act = act;
    worker->call.result = OUTGOING_ANSWERED;
    worker->call.status = status;
    worker->call.reply_size =
        (uint32_t)snprintf(worker->call.reply, sizeof worker->call.reply, "%s", body);
    stripe_provider.read(worker->stripe, &worker->task, &worker->call, &worker->said);
    return worker->said.word;
}

static void settings_that_are_wrong_are_named(void **state)
{
    struct worker *worker = *state;
    struct provider *stripe;
    char error[PROVIDER_ERROR];
    const char *good[] = { "https://x", worker->key_path, worker->hook_path, "2024-06-20" };
    static const struct {
        int setting;
        const char *value, *error;
    } wrong[] = { { 0, "ftp://x", "base" }, { 0, "https://x/", "base" },
        { 0, "http://api.stripe.com", "base" }, { 0, "", "base" },
        { 1, "/nowhere", "secret_key_file" }, { 2, "/dev/null", "webhook_secret_file" },
        { 3, "a b", "api_version" }, { 3, "", "api_version" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *values[4];
        memcpy(values, good, sizeof good);
        values[wrong[i].setting] = wrong[i].value;
        assert_int_equal(stripe_provider.open(&stripe, values, error), STATUS_BAD_INPUT);
        assert_null(stripe);
        assert_non_null(strstr(error, wrong[i].error));
    }
    file_write(worker->key_path, "sk_test\nX: y");
    assert_int_equal(stripe_provider.open(&stripe, good, error), STATUS_BAD_INPUT);
    assert_null(strstr(error, "sk_test"));
    stripe_provider.close(NULL);
}

static void creating_carries_the_reference_as_key_and_in_the_session(void **state)
{
    struct worker *worker = *state;
    assert_true(ask(worker, PROVIDER_CREATE, ""));
    const struct outgoing_call *call = &worker->call;
    assert_string_equal(call->method, "POST");
    assert_string_equal(call->url, "https://api.stripe.com/v1/checkout/sessions");
    assert_string_equal(call->headers,
        "Authorization: Bearer sk_test_123\nStripe-Version: 2024-06-20\n"
        "Content-Type: application/x-www-form-urlencoded\nIdempotency-Key: ref-1\n");
    static const char form[] =
        "mode=payment&client_reference_id=ref-1&metadata[reference]=ref-1"
        "&payment_intent_data[metadata][reference]=ref-1&line_items[0][quantity]=1"
        "&line_items[0][price_data][currency]=cny&line_items[0][price_data][unit_amount]=12345"
        "&line_items[0][price_data][product_data][name]=Tee%20%26%20Kaffee"
        "&success_url=https%3A%2F%2Fshop.example%2Fdone%3Fa%3D1"
        "&cancel_url=https%3A%2F%2Fshop.example%2Fdone%3Fa%3D1";
    assert_int_equal(call->body_size, sizeof form - 1);
    assert_memory_equal(call->body, form, sizeof form - 1);
    /* Again, later: the same bytes, or Stripe refuses the key. */
    struct outgoing_call *first = malloc(sizeof *first);
    assert_non_null(first);
    *first = *call;
    worker->task.now_ms += 100000;
    worker->task.expires_ms += 5;
    assert_true(ask(worker, PROVIDER_CREATE, "cs_1"));
    assert_int_equal(call->body_size, first->body_size);
    assert_memory_equal(call->body, first->body, first->body_size);
    free(first);
}

static void a_session_that_is_not_known_is_told_without_a_call(void **state)
{
    struct worker *worker = *state;
    assert_false(ask(worker, PROVIDER_QUERY, ""));
    assert_int_equal(worker->said.word, WORD_UNKNOWN);
    assert_false(ask(worker, PROVIDER_CLOSE, ""));
    assert_int_equal(worker->said.word, WORD_UNKNOWN);
    assert_false(ask(worker, PROVIDER_QUERY, "cs_1/../x"));
    assert_false(ask(worker, PROVIDER_REFUND, "cs_1"));
    assert_int_equal(worker->said.word, WORD_REFUSED);
}

static void queries_closes_and_refunds_name_the_session_or_the_intent(void **state)
{
    struct worker *worker = *state;
    assert_true(ask(worker, PROVIDER_QUERY, "cs_1"));
    assert_string_equal(worker->call.method, "GET");
    assert_string_equal(worker->call.url,
        "https://api.stripe.com/v1/checkout/sessions/cs_1?expand[]=payment_intent.latest_charge");
    assert_true(ask(worker, PROVIDER_CLOSE, "cs_1 pi_2"));
    assert_string_equal(worker->call.url, "https://api.stripe.com/v1/checkout/sessions/cs_1/expire");
    assert_true(ask(worker, PROVIDER_REFUND, "cs_1 pi_2"));
    assert_string_equal(worker->call.url, "https://api.stripe.com/v1/refunds");
    assert_non_null(strstr(worker->call.headers, "Idempotency-Key: back-1\n"));
    static const char form[] =
        "payment_intent=pi_2&amount=12345&metadata[key]=back-1&metadata[reference]=ref-1";
    assert_memory_equal(worker->call.body, form, sizeof form - 1);
    assert_true(ask(worker, PROVIDER_REFUND_QUERY, "cs_1 pi_2"));
    assert_string_equal(
        worker->call.url, "https://api.stripe.com/v1/refunds?limit=100&payment_intent=pi_2");
}

#define SESSION(more) \
    "{\"object\":\"checkout.session\",\"id\":\"cs_1\",\"client_reference_id\":\"ref-1\"," more "}"

static void answers_about_a_session_are_read(void **state)
{
    struct worker *worker = *state;
    static const struct {
        enum provider_act act;
        int status;
        const char *body;
        enum provider_word word;
    } cases[] = {
        { PROVIDER_CREATE, 200,
            SESSION("\"status\":\"open\",\"payment_status\":\"unpaid\",\"url\":\"https://p\""), WORD_OPEN },
        { PROVIDER_CREATE, 200, SESSION("\"status\":\"open\",\"payment_status\":\"unpaid\""), WORD_AGAIN },
        { PROVIDER_QUERY, 200, SESSION("\"status\":\"open\",\"payment_status\":\"unpaid\""), WORD_OPEN },
        { PROVIDER_QUERY, 200,
            SESSION("\"status\":\"complete\",\"payment_status\":\"unpaid\",\"payment_intent\":{"
                    "\"id\":\"pi_2\",\"status\":\"processing\"}"),
            WORD_OPEN },
        { PROVIDER_QUERY, 200,
            SESSION("\"status\":\"complete\",\"payment_status\":\"unpaid\",\"payment_intent\":{"
                    "\"id\":\"pi_2\",\"status\":\"requires_payment_method\"}"),
            WORD_CLOSED },
        { PROVIDER_QUERY, 200, SESSION("\"status\":\"expired\",\"payment_status\":\"unpaid\""),
            WORD_CLOSED },
        { PROVIDER_CLOSE, 200, SESSION("\"status\":\"expired\",\"payment_status\":\"unpaid\""),
            WORD_CLOSED },
        { PROVIDER_QUERY, 200,
            "{\"object\":\"checkout.session\",\"id\":\"cs_1\",\"client_reference_id\":\"ref-2\"}",
            WORD_FORGED },
        { PROVIDER_QUERY, 200,
            SESSION("\"payment_status\":\"paid\",\"amount_total\":-1,"
                    "\"currency\":\"cny\",\"payment_intent\":\"pi_2\""),
            WORD_AGAIN },
        { PROVIDER_QUERY, 200,
            SESSION("\"payment_status\":\"paid\",\"amount_total\":1,\"currency\":\"cny\""), WORD_AGAIN },
        { PROVIDER_QUERY, 200, "[]", WORD_AGAIN },
        { PROVIDER_QUERY, 200, "", WORD_AGAIN },
        { PROVIDER_QUERY, 404, "{\"error\":{\"code\":\"resource_missing\"}}", WORD_UNKNOWN },
        { PROVIDER_CLOSE, 400, "{\"error\":{\"message\":\"only open ones\"}}", WORD_REFUSED },
        { PROVIDER_CREATE, 400, "{}", WORD_REFUSED },
        { PROVIDER_CREATE, 401, "{}", WORD_AGAIN },
        { PROVIDER_CREATE, 409, "{}", WORD_AGAIN },
        { PROVIDER_CREATE, 429, "{}", WORD_AGAIN },
        { PROVIDER_CREATE, 500, "<html>", WORD_AGAIN },
        { PROVIDER_CREATE, 302, "", WORD_AGAIN },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum provider_word word = read_answer(worker, cases[i].act, cases[i].status, cases[i].body);
        if (word != cases[i].word)
            fail_msg("case %zu: word %d, not %d", i, (int)word, (int)cases[i].word);
    }
    assert_int_equal(read_answer(worker, PROVIDER_QUERY, 200,
                         SESSION("\"payment_status\":\"paid\",\"amount_total\":12345,\"currency\":"
                                 "\"cny\",\"payment_intent\":{\"id\":\"pi_2\"}")),
        WORD_CAPTURED);
    assert_string_equal(worker->said.provider_id, "cs_1 pi_2");
    assert_string_equal(worker->said.currency, "CNY");
    assert_int_equal(worker->said.amount, 12345);
    worker->call.result = OUTGOING_FAILED;
    snprintf(worker->call.error, sizeof worker->call.error, "no route");
    stripe_provider.read(worker->stripe, &worker->task, &worker->call, &worker->said);
    assert_int_equal(worker->said.word, WORD_AGAIN);
    assert_string_equal(worker->said.error, "no route");
}

static void answers_about_a_refund_are_read(void **state)
{
    struct worker *worker = *state;
    assert_int_equal(
        read_answer(worker, PROVIDER_REFUND, 200, "{\"id\":\"re_1\",\"status\":\"succeeded\"}"),
        WORD_REFUNDED);
    assert_string_equal(worker->said.provider_id, "re_1");
    assert_int_equal(read_answer(worker, PROVIDER_REFUND, 200, "{\"id\":\"re_1\",\"status\":\"pending\"}"),
        WORD_REFUND_PENDING);
    assert_int_equal(read_answer(worker, PROVIDER_REFUND, 200, "{\"id\":\"re_1\",\"status\":\"failed\"}"),
        WORD_REFUSED);
    assert_int_equal(read_answer(worker, PROVIDER_REFUND, 400,
                         "{\"error\":{\"code\":\"charge_already_refunded\"}}"),
        WORD_REFUNDED);
    assert_int_equal(read_answer(worker, PROVIDER_REFUND, 404, "{}"), WORD_REFUSED);
    assert_int_equal(read_answer(worker, PROVIDER_REFUND, 500, "{}"), WORD_AGAIN);
    static const char list[] =
        "{\"data\":[{\"id\":\"re_1\",\"status\":\"succeeded\",\"metadata\":{}},"
        "{\"id\":\"re_2\",\"status\":\"pending\",\"metadata\":{\"key\":\"%s\"}}]}";
    char body[256];
    snprintf(body, sizeof body, list, "back-1");
    assert_int_equal(read_answer(worker, PROVIDER_REFUND_QUERY, 200, body), WORD_REFUND_PENDING);
    assert_string_equal(worker->said.provider_id, "re_2");
    snprintf(body, sizeof body, list, "other");
    assert_int_equal(read_answer(worker, PROVIDER_REFUND_QUERY, 200, body), WORD_UNKNOWN);
}

static enum provider_word callback_head(
    struct worker *worker, const char *head, struct span body, uint64_t now_s)
{
    const struct provider_callback callback = {
        .head = span_from_string(head), .body = body, .now_ms = now_s * 1000 + 999
    };
    stripe_provider.callback(worker->stripe, &callback, &worker->said);
    return worker->said.word;
}

static enum provider_word callback_signed(struct worker *worker, const char *body)
{
    char text[4096], head[256];
    const int size = snprintf(text, sizeof text, "1700000000.%s", body);
    uint8_t digest[HASH_SHA256_BYTES];
    hash_hmac_sha256(secret, sizeof secret - 1, text, (size_t)size, digest);
    struct text out = text_in(head, sizeof head - 1);
    text_literal(&out, "stripe-signature: t=1700000000,v1=");
    text_hex(&out, span_of(digest, sizeof digest));
    head[out.size] = '\0';
    return callback_head(worker, head, span_from_string(body), signed_s);
}

static void a_genuine_callback_is_read_within_its_time(void **state)
{
    struct worker *worker = *state;
    const struct span body = span_of(paid_body, sizeof paid_body - 1);
    char head[512];
    snprintf(head, sizeof head,
        "Host: x\r\nStripe-Signature: t=1700000000,v1=%s,v0=abc\r\nA: b\r\n", paid_signature);
    assert_int_equal(callback_head(worker, head, body, signed_s), WORD_CAPTURED);
    assert_string_equal(worker->said.reference, "ref-1");
    assert_string_equal(worker->said.provider_id, "cs_test_a1 pi_9");
    assert_int_equal(worker->said.amount, 12345);
    assert_string_equal(worker->said.currency, "CNY");
    assert_int_equal(callback_head(worker, head, body, signed_s + PROVIDER_FRESH_S), WORD_CAPTURED);
    assert_int_equal(callback_head(worker, head, body, signed_s - PROVIDER_FRESH_S), WORD_CAPTURED);
    assert_int_equal(callback_head(worker, head, body, signed_s + PROVIDER_FRESH_S + 1), WORD_FORGED);
    assert_int_equal(callback_head(worker, head, body, signed_s - PROVIDER_FRESH_S - 1), WORD_FORGED);
    /* While a secret is changed there are two signatures. */
    snprintf(head, sizeof head, "Stripe-Signature: t=1700000000,v1=%064d,v1=%s", 0, paid_signature);
    assert_int_equal(callback_head(worker, head, body, signed_s), WORD_CAPTURED);
}

static void events_are_captured_closed_or_of_no_interest(void **state)
{
    struct worker *worker = *state;
    static const char form[] =
        "{\"type\":\"%s\",\"data\":{\"object\":{\"object\":\"checkout.session\",\"id\":\"cs_1\","
        "\"client_reference_id\":\"%s\",\"amount_total\":5,\"currency\":\"eur\","
        "\"payment_intent\":\"pi_1\",\"payment_status\":\"%s\"}}}";
    static const struct {
        const char *type, *reference, *paid;
        enum provider_word word;
    } cases[] = {
        { "checkout.session.completed", "r", "paid", WORD_CAPTURED },
        { "checkout.session.completed", "r", "unpaid", WORD_OPEN },
        { "checkout.session.async_payment_succeeded", "r", "paid", WORD_CAPTURED },
        { "checkout.session.async_payment_failed", "r", "unpaid", WORD_CLOSED },
        { "checkout.session.expired", "r", "unpaid", WORD_CLOSED },
        { "checkout.session.completed", "", "paid", WORD_OPEN },
        { "payment_intent.succeeded", "r", "paid", WORD_OPEN },
        { "checkout.session.complete", "r", "paid", WORD_OPEN },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[1024];
        snprintf(body, sizeof body, form, cases[i].type, cases[i].reference, cases[i].paid);
        const enum provider_word word = callback_signed(worker, body);
        if (word != cases[i].word)
            fail_msg("case %zu: word %d, not %d", i, (int)word, (int)cases[i].word);
    }
    assert_int_equal(callback_signed(worker, "{}"), WORD_OPEN);
    assert_int_equal(callback_signed(worker, "nothing"), WORD_FORGED);
    assert_int_equal(callback_signed(worker, ""), WORD_FORGED);
}

#define AT_DESK(test) cmocka_unit_test_setup_teardown(test, worker_open, worker_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_DESK(settings_that_are_wrong_are_named),
        AT_DESK(creating_carries_the_reference_as_key_and_in_the_session),
        AT_DESK(a_session_that_is_not_known_is_told_without_a_call),
        AT_DESK(queries_closes_and_refunds_name_the_session_or_the_intent),
        AT_DESK(answers_about_a_session_are_read),
        AT_DESK(answers_about_a_refund_are_read),
        AT_DESK(a_genuine_callback_is_read_within_its_time),
        AT_DESK(events_are_captured_closed_or_of_no_interest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
