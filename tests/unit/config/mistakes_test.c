/* SPDX-License-Identifier: Apache-2.0 */
#include "config/mistakes.h"

#include "tests/unit/config/settings_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void of_many_mistakes_twenty_are_told_and_the_rest_is_counted(void **state)
{
    (void)state;
    struct config config = defaults();
    char text[2048];
    int size = snprintf(text, sizeof text, "[server]\n");
    for (uint32_t i = 0; i < 20; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, "prot = 1\n");
    file_write(text);
    assert_int_equal(config_load_file(&config, path, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "line 21: unknown"));
    assert_null(strstr(error, "more"));
    snprintf(text + size, sizeof text - (size_t)size, "prot = 1\n");
    file_write(text);
    assert_int_equal(config_load_file(&config, path, error), STATUS_BAD_INPUT);
    assert_null(strstr(error, "line 22"));
    assert_non_null(strstr(error, "line 21: unknown setting server.prot"));
    assert_non_null(strstr(error, "\nand 1 more mistakes"));
}

static void rules_and_the_environment_tell_all_mistakes(void **state)
{
    (void)state;
    struct config config = defaults();
    assert_int_equal(config_set(&config, "follow.peer", "x", error), STATUS_OK);
    assert_int_equal(config_check(&config, error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "data.folder"));
    assert_non_null(strstr(error, "\nsession.jwt_keys"));
    assert_non_null(strstr(error, "\nfollow.peer"));
    assert_int_equal(setenv("STAMPEDE_SERVER_PORT", "x", 1), 0);
    assert_int_equal(setenv("STAMPEDE_TLS_PORT_FILE", "/no/such/file", 1), 0);
    assert_int_equal(config_load_environment(&config, error), STATUS_BAD_INPUT);
    unsetenv("STAMPEDE_SERVER_PORT");
    unsetenv("STAMPEDE_TLS_PORT_FILE");
    assert_non_null(strstr(error, "server.port = x must"));
    assert_non_null(strstr(error, "\n/no/such/file can't be read"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_many_mistakes_twenty_are_told_and_the_rest_is_counted),
        cmocka_unit_test(rules_and_the_environment_tell_all_mistakes),
    };
    return cmocka_run_group_tests(tests, path_make, path_remove);
}
