/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing/mail.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void only_addresses_of_mail_servers_are_good(void **state)
{
    (void)state;
    assert_true(mail_url_is_good("smtp://mail.example.org"));
    assert_true(mail_url_is_good("smtps://mail.example.org:465"));
    assert_true(mail_url_is_good("smtp://[::1]:2525"));
    assert_false(mail_url_is_good("http://mail.example.org"));
    assert_false(mail_url_is_good("smtp://user:secret@mail.example.org"));
    assert_false(mail_url_is_good("smtp://mail.example.org/path"));
    assert_false(mail_url_is_good("smtp://"));
    assert_true(mail_host_is_local("smtp://localhost:25"));
    assert_true(mail_host_is_local("smtp://127.0.0.1"));
    assert_true(mail_host_is_local("smtp://[::1]:25"));
    assert_false(mail_host_is_local("smtp://10.0.0.1"));
    assert_false(mail_host_is_local("smtp://localhost.example.org"));
}

static void a_mail_to_another_machine_needs_tls(void **state)
{
    struct outgoing_call *call = calloc(1, sizeof *call);
    struct mail_server server = { .url = "smtp://mail.example.org", .from = "shop@example.org" };
    const struct mail_message message = { "li@example.org", "关于您的订单", SPAN("Hello\n"),
        "case.1.2", 1794715993157 };
    (void)state;
    assert_non_null(call);
    assert_int_equal(mail_request(&server, &message, call), STATUS_OK);
    assert_true(call->tls_required);
    assert_null(call->login);
    call->body[call->body_size] = 0;
    assert_non_null(strstr(call->body, "Message-ID: <case.1.2@example.org>\r\n"));
    assert_non_null(strstr(call->body, "To: <li@example.org>\r\n"));
    assert_non_null(strstr(call->body, "=?UTF-8?B?5YWz5LqO5oKo55qE6K6i5Y2V?="));
    assert_non_null(strstr(call->body, "SGVsbG8K\r\n"));
    assert_non_null(strstr(call->body, "Date: Sun, 15 Nov 2026 "));
    snprintf(server.url, sizeof server.url, "smtp://127.0.0.1:25");
    snprintf(server.login.user, sizeof server.login.user, "shop");
    assert_int_equal(mail_request(&server, &message, call), STATUS_OK);
    assert_false(call->tls_required);
    assert_ptr_equal(call->login, &server.login);
    free(call);
}

static void answers_are_judged(void **state)
{
    static const struct {
        enum outgoing_result result;
        int status;
        enum mail_verdict verdict;
    } rows[] = { { OUTGOING_ANSWERED, 250, MAIL_TAKEN }, { OUTGOING_FAILED, 0, MAIL_AGAIN },
        { OUTGOING_FAILED, 451, MAIL_AGAIN }, { OUTGOING_FAILED, 550, MAIL_REFUSED },
        { OUTGOING_FAILED, 535, MAIL_AGAIN }, { OUTGOING_FAILED, 354, MAIL_UNSURE } };
    struct outgoing_call *call = calloc(1, sizeof *call);
    (void)state;
    assert_non_null(call);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call->result = rows[i].result;
        call->status = rows[i].status;
        assert_int_equal(mail_judge(call), rows[i].verdict);
    }
    free(call);
}

static void attempts_are_bounded(void **state)
{
    struct random random;
    uint64_t delay_ms = 0, before_ms = 0;
    (void)state;
    random_seed(&random, 1);
    for (uint32_t tries = 1; tries < MAIL_TRIES_MAX; tries++) {
        assert_true(mail_delay(tries, &random, &delay_ms));
        assert_true(delay_ms > before_ms);
        before_ms = delay_ms;
    }
    assert_false(mail_delay(MAIL_TRIES_MAX, &random, &delay_ms));
    assert_false(mail_delay(0, &random, &delay_ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_addresses_of_mail_servers_are_good),
        cmocka_unit_test(a_mail_to_another_machine_needs_tls),
        cmocka_unit_test(answers_are_judged),
        cmocka_unit_test(attempts_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
