/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/provider.h"

#include "tests/unit/base/unit.h"

static void every_provider_is_found_by_its_name_and_whole(void **state)
{
    size_t count = 0;
    (void)state;
    for (const struct provider_ops *const *at = provider_table; *at != NULL; at++, count++) {
        const struct provider_ops *ops = *at;
        assert_ptr_equal(provider_find(ops->name), ops);
        assert_in_range(strlen(ops->name), 1, PROVIDER_NAME_MAX);
        assert_string_not_equal(ops->name, PROVIDER_SHOP);
        assert_true(ops->open && ops->close && ops->ask && ops->read && ops->callback);
        assert_true(ops->taken.status < 300 && ops->refused.status >= 400 && ops->later.status >= 400);
        assert_true(ops->taken.body && ops->refused.body && ops->later.body);
        size_t settings = 0;
        while (ops->settings[settings].name != NULL)
            settings++;
        assert_in_range(settings, 0, PROVIDER_SETTINGS_MAX);
        ops->close(NULL);
    }
    assert_in_range(count, 2, PROVIDERS_MAX);
    assert_null(provider_find(""));
    assert_null(provider_find("alipa"));
    assert_null(provider_find("ALIPAY"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_provider_is_found_by_its_name_and_whole),
    };
    return cmocka_run_group_tests_name("payment/provider_table", tests, NULL, NULL);
}
