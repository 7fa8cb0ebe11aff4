/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/outgoing/verdict_kit.h"

static void the_question_is_a_form_with_the_secret(void **state)
{
    (void)state;
    static char response[2049];
    memset(response, 'r', sizeof response);
    call_fresh();
    assert_true(verdict_turnstile.ask(&account, SPAN("0.abc-_"), SPAN("203.0.113.9"), &call));
    body_is("secret=s3cret%2F%2B&response=0.abc-_&remoteip=203.0.113.9");
    assert_string_equal(call.url, "https://verify.example/v");
    call_fresh();
    assert_true(verdict_turnstile.ask(&account, span_of(response, 2048), SPAN("::1"), &call));
    call_fresh();
    assert_false(verdict_turnstile.ask(&account, span_of(response, 2049), SPAN("::1"), &call));
    assert_false(verdict_turnstile.ask(&account, SPAN_NONE, SPAN("::1"), &call));
}

static void only_a_plain_yes_is_one_and_our_faults_are_not_the_visitors(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *reply;
        enum verdict wanted;
    } cases[] = {
        { 200, "{\"success\":true,\"error-codes\":[],\"hostname\":\"a.example\"}", VERDICT_PERSON },
        { 200, "{\"success\":false,\"error-codes\":[\"invalid-input-response\"]}", VERDICT_MACHINE },
        { 200, "{\"success\":false,\"error-codes\":[\"timeout-or-duplicate\"]}", VERDICT_MACHINE },
        { 200, "{\"success\":false}", VERDICT_MACHINE },
        { 400, "{\"success\":false,\"error-codes\":[\"missing-input-response\"]}", VERDICT_MACHINE },
        { 200, "{\"success\":false,\"error-codes\":[\"invalid-input-secret\"]}", VERDICT_NONE },
        { 200, "{\"success\":false,\"error-codes\":[\"internal-error\"]}", VERDICT_NONE },
        { 200, "{\"success\":false,\"error-codes\":[7,\"bad-request\"]}", VERDICT_NONE },
        { 503, "{\"success\":true}", VERDICT_NONE },
        { 429, "{\"success\":false}", VERDICT_NONE },
        { 200, "{\"success\":\"true\"}", VERDICT_NONE },
        { 200, "{\"success\":1}", VERDICT_NONE },
        { 200, "{\"success\":false,\"success\":true}", VERDICT_NONE },
        { 200, "[true]", VERDICT_NONE },
        { 200, "<html>", VERDICT_NONE },
        { 200, "", VERDICT_NONE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (said(&verdict_turnstile, cases[i].status, cases[i].reply) != cases[i].wanted)
            fail_msg("%s", cases[i].reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_question_is_a_form_with_the_secret),
        cmocka_unit_test(only_a_plain_yes_is_one_and_our_faults_are_not_the_visitors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
