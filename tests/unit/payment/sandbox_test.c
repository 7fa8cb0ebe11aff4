/* SPDX-License-Identifier: Apache-2.0 */
/* The provider, with answers and callbacks that the test signs as the bank does. */
#include "payment/sandbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NOW_MS UINT64_C(1794715993000)
static const char callback_path[] = "/v1/payments/sandbox/callback";

static struct provider *provider;
static struct sandbox_secret secret;
static struct outgoing_call call;
static struct payment payment = {
    .id = 1, .reference = "0123456789abcdef-1", .amount = 999, .currency = "CNY"
};
static struct refund refund = { .id = 1, .payment = 1, .key = "k-1", .amount = 999, .currency = "CNY" };

static enum status provider_try(const char *base, const char *text, char error[PROVIDER_ERROR])
{
    char path[] = "/tmp/stampede-secret-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    const char *values[] = { base, path };
    const enum status status = sandbox_provider.open(&provider, values, error);
    if (status == STATUS_OK)
        assert_int_equal(sandbox_secret_read(path, &secret), STATUS_OK);
    unlink(path);
    return status;
}

static int setup(void **state)
{
    char error[PROVIDER_ERROR];
    (void)state;
    memset(&call, 0, sizeof call);
    return provider_try("http://127.0.0.1:1", "a secret that is long enough\n", error) == STATUS_OK
        ? 0
        : -1;
}

static int teardown(void **state)
{
    (void)state;
    provider->ops->close(provider);
    provider = NULL;
    return 0;
}

static struct provider_task task_of(enum provider_act act)
{
    const bool is_refund = act == PROVIDER_REFUND || act == PROVIDER_REFUND_QUERY;
    return (struct provider_task){ .act = act,
        .payment = &payment,
        .refund = is_refund ? &refund : NULL,
        .title = "Phone",
        .notify_url = "http://shop/notify",
        .return_url = "http://shop/back",
        .now_ms = NOW_MS,
        .expires_ms = NOW_MS + 1000 };
}

static struct sandbox_message ask(enum provider_act act)
{
    const struct provider_task task = task_of(act);
    struct provider_said said;
    struct sandbox_message message = { 0 };
    assert_true(provider->ops->ask(provider, &task, &call, &said));
    const struct sandbox_signed what = { span_from_string(call.method), sandbox_path_of(call.url),
        span_of(call.body, call.body_size) };
    char *line = strstr(call.headers, "Sandbox-Signature: ");
    assert_non_null(line);
    line += strlen("Sandbox-Signature: ");
    assert_true(sandbox_signature_good(&secret, NOW_MS, &what, span_of(line, strcspn(line, "\n"))));
    if (call.body_size > 0)
        assert_true(sandbox_message_read(span_of(call.body, call.body_size), &message));
    return message;
}

/* The bank's answer to the last question, signed with this. */
static void answer(int status, const char *body, const struct sandbox_secret *with)
{
    char signature[SANDBOX_SIGNATURE_BYTES];
    call.result = OUTGOING_ANSWERED;
    call.status = status;
    call.reply_size = (uint32_t)snprintf(call.reply, sizeof call.reply, "%s", body);
    const struct sandbox_signed what = { span_from_string(call.method), sandbox_path_of(call.url),
        span_of(call.reply, call.reply_size) };
    sandbox_sign(with, NOW_MS, &what, signature);
    call.reply_headers_size = (uint32_t)snprintf(
        call.reply_headers, sizeof call.reply_headers, "Sandbox-Signature: %s\r\n", signature);
}

static struct provider_said read_answer(enum provider_act act)
{
    const struct provider_task task = task_of(act);
    struct provider_said said;
    provider->ops->read(provider, &task, &call, &said);
    return said;
}

static enum provider_word said_to(enum provider_act act, int status, const char *body)
{
    (void)ask(act);
    answer(status, body, &secret);
    return read_answer(act).word;
}

#define BODY(state) \
    "{\"state\":\"" state \
    "\",\"reference\":\"0123456789abcdef-1\",\"id\":\"sb_1\",\"currency\":\"CNY\",\"amount\":999}"

static void each_question_goes_to_its_address_signed(void **state)
{
    (void)state;
    struct sandbox_message message = ask(PROVIDER_CREATE);
    assert_string_equal(call.method, "POST");
    assert_string_equal(call.url, "http://127.0.0.1:1/sandbox/v1/payments");
    assert_string_equal(message.reference, payment.reference);
    assert_string_equal(message.notify_url, "http://shop/notify");
    assert_int_equal(message.amount, 999);
    assert_int_equal(message.expires_ms, NOW_MS + 1000);
    (void)ask(PROVIDER_QUERY);
    assert_string_equal(call.method, "GET");
    assert_string_equal(call.url, "http://127.0.0.1:1/sandbox/v1/payments/0123456789abcdef-1");
    assert_int_equal(call.body_size, 0);
    (void)ask(PROVIDER_CLOSE);
    assert_string_equal(call.url, "http://127.0.0.1:1/sandbox/v1/payments/0123456789abcdef-1/close");
    refund.amount = 998;
    message = ask(PROVIDER_REFUND);
    refund.amount = 999;
    assert_string_equal(message.key, "k-1");
    assert_int_equal(message.amount, 998);
    (void)ask(PROVIDER_REFUND_QUERY);
    assert_string_equal(call.method, "GET");
    assert_string_equal(call.url, "http://127.0.0.1:1/sandbox/v1/payments/0123456789abcdef-1/refund/k-1");
}

static void each_answer_is_its_word(void **state)
{
    (void)state;
    assert_int_equal(said_to(PROVIDER_CREATE, 200, BODY("open")), WORD_OPEN);
    assert_int_equal(said_to(PROVIDER_CREATE, 409, "{}"), WORD_REFUSED);
    assert_int_equal(said_to(PROVIDER_QUERY, 200, BODY("captured")), WORD_CAPTURED);
    assert_int_equal(said_to(PROVIDER_QUERY, 200, BODY("refunded")), WORD_CAPTURED);
    assert_int_equal(said_to(PROVIDER_QUERY, 404, "{}"), WORD_UNKNOWN);
    assert_int_equal(said_to(PROVIDER_CLOSE, 200, BODY("closed")), WORD_CLOSED);
    assert_int_equal(said_to(PROVIDER_CLOSE, 200, BODY("captured")), WORD_CAPTURED);
    assert_int_equal(said_to(PROVIDER_REFUND, 200, BODY("refunded")), WORD_REFUNDED);
    assert_int_equal(said_to(PROVIDER_REFUND, 409, "{}"), WORD_REFUSED);
    assert_int_equal(said_to(PROVIDER_REFUND_QUERY, 200, BODY("captured")), WORD_UNKNOWN);
    (void)ask(PROVIDER_QUERY);
    answer(200, BODY("captured"), &secret);
    const struct provider_said said = read_answer(PROVIDER_QUERY);
    assert_int_equal(said.amount, 999);
    assert_string_equal(said.currency, "CNY");
    assert_string_equal(said.provider_id, "sb_1");
}

static void no_answer_is_asked_again(void **state)
{
    (void)state;
    assert_int_equal(said_to(PROVIDER_QUERY, 503, ""), WORD_AGAIN);
    assert_int_equal(said_to(PROVIDER_QUERY, 429, ""), WORD_AGAIN);
    call.result = OUTGOING_FAILED;
    assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_AGAIN);
}

static void an_answer_that_is_forged_or_about_something_else_is_not_believed(void **state)
{
    const struct sandbox_secret other = { { 9 } };
    (void)state;
    (void)ask(PROVIDER_QUERY);
    answer(200, BODY("captured"), &other);
    assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_FORGED);
    answer(404, "{}", &other);
    assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_FORGED);
    answer(200, BODY("captured"), &secret);
    for (uint32_t at = 0; at < call.reply_size; at++) {
        call.reply[at] = (char)(call.reply[at] ^ 1);
        assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_FORGED);
        call.reply[at] = (char)(call.reply[at] ^ 1);
    }
    assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_CAPTURED);
    answer(200, "{\"state\":\"captured\",\"reference\":\"0123456789abcdef-2\",\"amount\":999}", &secret);
    assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_FORGED);
    answer(200, BODY("nonsense"), &secret);
    assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_FORGED);
    answer(200, "no message", &secret);
    assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_FORGED);
    /* An answer to another question, with a good signature for that one. */
    (void)ask(PROVIDER_CLOSE);
    answer(200, BODY("closed"), &secret);
    (void)snprintf(
        call.url, sizeof call.url, "http://127.0.0.1:1/sandbox/v1/payments/%s", payment.reference);
    assert_int_equal(read_answer(PROVIDER_QUERY).word, WORD_FORGED);
}

static struct provider_said callback(const char *body, uint64_t signed_ms, const char *path, int times)
{
    char signature[SANDBOX_SIGNATURE_BYTES], head[512] = "Host: shop\r\n";
    const struct sandbox_signed what = { SPAN("POST"), span_from_string(path), span_from_string(body) };
    struct provider_said said;
    sandbox_sign(&secret, signed_ms, &what, signature);
    for (int i = 0; i < times; i++)
        snprintf(head + strlen(head), sizeof head - strlen(head), "sandbox-signature: %s\r\n", signature);
    const struct provider_callback came = { .head = span_from_string(head),
        .path = SPAN(callback_path),
        .body = span_from_string(body),
        .now_ms = NOW_MS };
    provider->ops->callback(provider, &came, &said);
    return said;
}

static void a_callback_counts_if_it_is_signed_fresh_and_for_this_address(void **state)
{
    (void)state;
    const struct provider_said said = callback(BODY("captured"), NOW_MS, callback_path, 1);
    assert_int_equal(said.word, WORD_CAPTURED);
    assert_string_equal(said.reference, payment.reference);
    assert_int_equal(said.amount, 999);
    assert_int_equal(callback(BODY("closed"), NOW_MS, callback_path, 1).word, WORD_CLOSED);
    assert_int_equal(callback(BODY("open"), NOW_MS, callback_path, 1).word, WORD_OPEN);
    assert_int_equal(callback(BODY("captured"), NOW_MS - 300000, callback_path, 1).word, WORD_CAPTURED);
    assert_int_equal(callback(BODY("captured"), NOW_MS - 301000, callback_path, 1).word, WORD_FORGED);
    assert_int_equal(callback(BODY("captured"), NOW_MS + 301000, callback_path, 1).word, WORD_FORGED);
    assert_int_equal(callback(BODY("captured"), NOW_MS, "/elsewhere", 1).word, WORD_FORGED);
    assert_int_equal(callback(BODY("captured"), NOW_MS, callback_path, 0).word, WORD_FORGED);
    assert_int_equal(callback(BODY("captured"), NOW_MS, callback_path, 2).word, WORD_FORGED);
    assert_int_equal(callback("[]", NOW_MS, callback_path, 1).word, WORD_FORGED);
    assert_int_equal(callback(BODY("paid"), NOW_MS, callback_path, 1).word, WORD_FORGED);
}

static void settings_that_cannot_work_are_refused(void **state)
{
    char error[PROVIDER_ERROR] = "", base[SANDBOX_ADDRESS_MAX + 8];
    const char *values[] = { "http://127.0.0.1:1", "/nonexistent/secret" };
    struct provider *none;
    (void)state;
    provider->ops->close(provider);
    assert_int_equal(provider_try("http://x", "15 characters..", error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "secret_file"));
    memset(base, 'x', sizeof base - 1);
    base[sizeof base - 1] = 0;
    assert_int_equal(provider_try(base, "a secret that is long enough", error), STATUS_BAD_INPUT);
    assert_int_equal(sandbox_provider.open(&none, values, error), STATUS_BAD_INPUT);
    assert_null(none);
    sandbox_provider.close(NULL);
    assert_int_equal(provider_try("http://x", "16 characters...", error), STATUS_OK);
}

static void a_secret_of_its_own_is_made_once_and_anew_if_it_was_cut_short(void **state)
{
    char folder[] = "/tmp/stampede-sandbox-XXXXXX", path[128];
    struct sandbox_secret first, second;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/secret", folder);
    assert_int_equal(sandbox_secret_keep(folder, "secret"), STATUS_OK);
    assert_int_equal(sandbox_secret_read(path, &first), STATUS_OK);
    assert_int_equal(sandbox_secret_keep(folder, "secret"), STATUS_OK);
    assert_int_equal(sandbox_secret_read(path, &second), STATUS_OK);
    assert_memory_equal(&first, &second, sizeof first);
    for (off_t size = 0; size < 16; size += 15) { /* as a power cut may have left it */
        assert_int_equal(truncate(path, size), 0);
        assert_int_equal(sandbox_secret_keep(folder, "secret"), STATUS_OK);
        assert_int_equal(sandbox_secret_read(path, &second), STATUS_OK);
        assert_memory_not_equal(&first, &second, sizeof first);
    }
    snprintf(path, sizeof path, "%s/secret.tmp", folder);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/secret", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left in it */
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(each_question_goes_to_its_address_signed),
        RULE(each_answer_is_its_word),
        RULE(no_answer_is_asked_again),
        RULE(an_answer_that_is_forged_or_about_something_else_is_not_believed),
        RULE(a_callback_counts_if_it_is_signed_fresh_and_for_this_address),
        RULE(a_secret_of_its_own_is_made_once_and_anew_if_it_was_cut_short),
        RULE(settings_that_cannot_work_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
