/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/outgoing/verdict_kit.h"

/* sign_token: printf %s lot7 | openssl dgst -sha256 -hmac 's3cret/+' */
static void the_question_is_signed_and_never_holds_the_key(void **state)
{
    (void)state;
    call_fresh();
    assert_true(verdict_geetest.ask(&account, SPAN("lot7|out+/=|pass|17"), SPAN("::1"), &call));
    body_is("lot_number=lot7&captcha_output=out%2B%2F%3D&pass_token=pass&gen_time=17&sign_token="
            "82097e00836668dfcdc70d3739185b0081eea111af031837d96d17d075cd0839");
    assert_string_equal(call.url, "https://verify.example/v?captcha_id=site.key-1");
}

static void what_is_not_four_values_is_nobodys_response(void **state)
{
    (void)state;
    static const char *const wrong[] = { "", "a", "a|b|c", "a|b||d", "|b|c|d", "a|b|c|",
        "a|b|c|d|e", "|||" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        call_fresh();
        if (verdict_geetest.ask(&account, span_from_string(wrong[i]), SPAN("::1"), &call))
            fail_msg("%s", wrong[i]);
    }
}

static void only_success_twice_is_a_yes(void **state)
{
    (void)state;
    static const struct {
        const char *reply;
        enum verdict wanted;
    } cases[] = { { "{\"status\":\"success\",\"result\":\"success\",\"reason\":\"\"}", VERDICT_PERSON },
        { "{\"status\":\"success\",\"result\":\"fail\",\"reason\":\"pass_token expire\"}", VERDICT_MACHINE },
        { "{\"status\":\"error\",\"code\":\"-50005\",\"msg\":\"illegal gen_time\"}", VERDICT_NONE },
        { "{\"status\":\"error\",\"result\":\"success\"}", VERDICT_NONE },
        { "{\"result\":\"success\"}", VERDICT_NONE }, { "{}", VERDICT_NONE }, { "x", VERDICT_NONE } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (said(&verdict_geetest, 200, cases[i].reply) != cases[i].wanted)
            fail_msg("%s", cases[i].reply);
    assert_int_equal(said(&verdict_geetest, 500, "{\"status\":\"success\",\"result\":\"success\"}"),
        VERDICT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_question_is_signed_and_never_holds_the_key),
        cmocka_unit_test(what_is_not_four_values_is_nobodys_response),
        cmocka_unit_test(only_success_twice_is_a_yes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
