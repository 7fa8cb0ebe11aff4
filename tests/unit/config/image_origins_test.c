/* SPDX-License-Identifier: Apache-2.0 */
#include "config/image_origins.h"

#include "tests/unit/base/unit.h"

static void a_list_of_origins_is_good_or_told_to_be_wrong(void **state)
{
    static const char *const good[] = { "", " , ", "https://img.example",
        "https://a.example,https://b.example:8443", "http://10.0.0.1:8080 https://x" };
    static const char *const bad[] = { "img.example", "https://", "https://IMG.example",
        "https://a.example/", "https://a.example/x",
        "https://a.example:", "https://a.example:123456", "https://a;script-src *",
        "https://*.example", "'unsafe-inline'", "ftp://a.example", "https://a.example,*" };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_null(image_origins_wrong(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(image_origins_wrong(bad[i]));
}

static void an_address_belongs_to_an_origin_up_to_its_slash(void **state)
{
    static const char list[] = "https://img.example, https://b.example:8443";
    (void)state;
    assert_true(image_origins_has(list, SPAN("https://img.example/a.jpg")));
    assert_true(image_origins_has(list, SPAN("https://b.example:8443/a")));
    static const char *const others[] = { "https://img.example", "https://img.example.evil/a",
        "https://img.example:444/a", "http://img.example/a", "https://b.example/a",
        "//img.example/a", "", "https://img.example@evil/a" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(image_origins_has(list, span_from_string(others[i])));
    assert_false(image_origins_has("", SPAN("https://img.example/a.jpg")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_origins_is_good_or_told_to_be_wrong),
        cmocka_unit_test(an_address_belongs_to_an_origin_up_to_its_slash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
