/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/outgoing/verdict_kit.h"

static void the_question_names_the_site_so_that_anothers_response_is_refused(void **state)
{
    (void)state;
    call_fresh();
    assert_true(verdict_hcaptcha.ask(&account, SPAN("P1_ey"), SPAN("2001:db8::1"), &call));
    body_is("secret=s3cret%2F%2B&response=P1_ey&remoteip=2001%3Adb8%3A%3A1&sitekey=site.key-1");
    assert_false(verdict_hcaptcha.ask(&account, SPAN_NONE, SPAN("::1"), &call));
}

static void yes_no_and_neither(void **state)
{
    (void)state;
    assert_int_equal(said(&verdict_hcaptcha, 200, "{\"success\":true,\"credit\":false}"), VERDICT_PERSON);
    assert_int_equal(said(&verdict_hcaptcha, 200,
                         "{\"success\":false,\"error-codes\":[\"already-seen-response\"]}"),
        VERDICT_MACHINE);
    assert_int_equal(said(&verdict_hcaptcha, 200,
                         "{\"success\":false,\"error-codes\":[\"sitekey-secret-mismatch\"]}"),
        VERDICT_NONE);
    assert_int_equal(said(&verdict_hcaptcha, 502, ""), VERDICT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_question_names_the_site_so_that_anothers_response_is_refused),
        cmocka_unit_test(yes_no_and_neither),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
