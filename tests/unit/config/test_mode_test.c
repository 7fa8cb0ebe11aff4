/* SPDX-License-Identifier: Apache-2.0 */
#include "config/test_mode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct config config_of(const char *providers, const char *address, const char *url)
{
    static struct config config;
    config_defaults(&config);
    snprintf(config.providers, sizeof config.providers, "%s", providers);
    snprintf(config.address, sizeof config.address, "%s", address);
    snprintf(config.public_url, sizeof config.public_url, "%s", url);
    return config;
}

static void says(const struct config *config, const char *words)
{
    const char *wrong = test_mode_wrong(config);
    if (words == NULL) {
        assert_null(wrong);
        return;
    }
    assert_non_null(wrong);
    assert_true(strlen(wrong) < CONFIG_ERROR);
    assert_non_null(strstr(wrong, words));
}

static void the_sandbox_never_stands_beside_another_provider(void **state)
{
    static const char *const mixed[] = { "stripe,sandbox", "sandbox,alipay",
        "alipay,sandbox,wechat", "sandbox,sandbox" };
    (void)state;
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
        struct config config = config_of(mixed[i], "127.0.0.1", "");
        config.sandbox_allow_public = true; /* nothing allows that */
        says(&config, "can't be used beside another provider");
    }
}

static void others_are_none_of_its_business(void **state)
{
    static const char *const real[] = { "", "stripe", "alipay,wechat", "sandboxes" };
    (void)state;
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        const struct config config = config_of(real[i], "0.0.0.0", "https://shop.example");
        assert_false(test_mode_on(&config));
        says(&config, NULL);
    }
}

static void alone_it_listens_to_this_machine_only_unless_told_so(void **state)
{
    static const struct {
        const char *address, *url;
        bool local;
    } rows[] = {
        { "127.0.0.1", "", true },
        { "127.8.8.8", "", true },
        { "::1", "", true },
        { "127.0.0.1", "http://127.0.0.1:8080", true },
        { "127.0.0.1", "http://localhost:8080/shop", true },
        { "127.0.0.1", "http://[::1]:8080", true },
        { "0.0.0.0", "", false },
        { "::", "", false },
        { "192.0.2.1", "", false },
        { "128.0.0.1", "", false },
        { "::2", "", false },
        { "0.0.0.0", "http://127.0.0.1:8080", false },
        { "127.0.0.1", "https://shop.example", false }, /* a proxy lets others in */
        { "127.0.0.1", "https://localhost.example", false },
        { "127.0.0.1", "https://127.0.0.1.example/", false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct config config = config_of("sandbox", rows[i].address, rows[i].url);
        assert_true(test_mode_on(&config));
        says(&config, rows[i].local ? NULL : "sandbox.allow_public = yes");
        config.sandbox_allow_public = true;
        says(&config, NULL);
    }
}

static void a_gateway_must_know_whose_bank_it_is(void **state)
{
    static const char *const roles[] = { "all", "worker", "gateway" };
    char error[CONFIG_ERROR];
    (void)state;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        struct config config = config_of("sandbox", "127.0.0.1", "");
        snprintf(config.cluster_role, sizeof config.cluster_role, "%s", roles[i]);
        says(&config, strcmp(roles[i], "gateway") == 0 ? "sandbox.base must be set on a gateway" : NULL);
        assert_int_equal(config_set(&config, "sandbox.base", "http://10.0.0.1:8080", error), STATUS_OK);
        says(&config, NULL);
        snprintf(config.providers, sizeof config.providers, "stripe");
        assert_int_equal(config_set(&config, "sandbox.base", "", error), STATUS_OK);
        says(&config, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sandbox_never_stands_beside_another_provider),
        cmocka_unit_test(others_are_none_of_its_business),
        cmocka_unit_test(alone_it_listens_to_this_machine_only_unless_told_so),
        cmocka_unit_test(a_gateway_must_know_whose_bank_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
