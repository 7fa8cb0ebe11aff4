/* SPDX-License-Identifier: Apache-2.0 */
#include "config/agreed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t with(const char *name, const char *value)
{
    struct config config;
    char error[CONFIG_ERROR];
    config_defaults(&config);
    if (name != NULL)
        assert_int_equal(config_set(&config, name, value, error), STATUS_OK);
    return agreed_settings(&config);
}

static void each_setting_that_must_agree_changes_the_number(void **state)
{
    static const char *const rows[][2] = { { "channels.names", "web,app" },
        { "data.items_max", "4095" }, { "data.sales_max", "1023" },
        { "data.tickets_max", "3999999" }, { "room.places_max", "999999" },
        { "inventory.parts_max", "255" }, { "limits.address_per_s", "101" },
        { "limits.address_burst", "201" }, { "limits.user_requests", "11" },
        { "limits.user_window_ms", "10001" }, { "limits.admission_per_s", "1" },
        { "limits.v6_prefix", "48" }, { "payment.providers", "sandbox" } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(with(rows[i][0], rows[i][1]) != with(NULL, NULL));
        for (size_t other = 0; other < i; other++)
            assert_true(with(rows[i][0], rows[i][1]) != with(rows[other][0], rows[other][1]));
    }
}

static void what_each_process_has_of_its_own_does_not(void **state)
{
    static const char *const rows[][2] = { { "server.port", "8081" },
        { "data.folder", "/elsewhere" }, { "cluster.role", "worker" },
        { "inventory.tell_ms", "100" }, { "store.connections", "8" }, { "session.leeway_s", "1" } };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(with(rows[i][0], rows[i][1]) == with(NULL, NULL));
}

static void no_two_settings_are_taken_for_one(void **state)
{
    (void)state;
    /* The same value under two names. */
    assert_true(with("data.items_max", "77") != with("data.sales_max", "77"));
    assert_true(with("data.items_max", "4096") == with(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_setting_that_must_agree_changes_the_number),
        cmocka_unit_test(what_each_process_has_of_its_own_does_not),
        cmocka_unit_test(no_two_settings_are_taken_for_one),
    };
    return cmocka_run_group_tests_name("config/agreed", tests, NULL, NULL);
}
