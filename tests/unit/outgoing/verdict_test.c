/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/outgoing/verdict_kit.h"

static void each_service_is_found_by_its_name(void **state)
{
    (void)state;
    assert_ptr_equal(verdict_find("turnstile"), &verdict_turnstile);
    assert_ptr_equal(verdict_find("hcaptcha"), &verdict_hcaptcha);
    assert_ptr_equal(verdict_find("geetest"), &verdict_geetest);
    assert_null(verdict_find("none"));
    assert_null(verdict_find(""));
    for (const char *const *name = (const char *const[]){ "turnstile", "hcaptcha", "geetest", NULL };
         *name != NULL; name++)
        assert_memory_equal(verdict_find(*name)->url, "https://", 8);
}

static void fields_are_escaped_and_what_does_not_fit_is_told(void **state)
{
    (void)state;
    static char much[OUTGOING_BODY_MAX];
    call_fresh();
    assert_true(verdict_field(&call, "a", SPAN("aZ09-_.~")));
    assert_true(verdict_field(&call, "b", SPAN("&=+ %\n\xc3\xa4")));
    static const char wanted[] = "a=aZ09-_.~&b=%26%3D%2B%20%25%0A%C3%A4";
    assert_int_equal(call.body_size, strlen(wanted));
    assert_memory_equal(call.body, wanted, call.body_size);
    memset(much, 'x', sizeof much);
    assert_false(verdict_field(&call, "c", span_of(much, sizeof much)));
    assert_int_equal(call.body_size, strlen(wanted)); /* nothing was added */
}

static void what_is_no_answer_is_no_verdict(void **state)
{
    (void)state;
    call_fresh();
    call.result = OUTGOING_FAILED;
    assert_int_equal(verdict_success_read(&call, "it"), VERDICT_NONE);
    call.result = OUTGOING_ADDRESS_REFUSED;
    assert_int_equal(verdict_success_read(&call, "it"), VERDICT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_service_is_found_by_its_name),
        cmocka_unit_test(fields_are_escaped_and_what_does_not_fit_is_told),
        cmocka_unit_test(what_is_no_answer_is_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
