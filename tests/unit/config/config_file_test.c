/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config.h"

#include "tests/unit/config/settings_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mistakes_of_the_file(const char *text, const char *const *says)
{
    struct config config = defaults();
    char want[CONFIG_ERROR] = "";
    size_t size = 0;
    file_write(text);
    assert_int_equal(config_load_file(&config, path, error), STATUS_BAD_INPUT);
    for (; *says != NULL; says++)
        size += (size_t)snprintf(
            want + size, sizeof want - size, "%s%s %s", size == 0 ? "" : "\n", path, *says);
    assert_string_equal(error, want);
}
#define KEEP_ONE "keep one, and put no spaces before a setting"
#define MISTAKES_OF(text, ...) \
    mistakes_of_the_file(text, (const char *const[]){ __VA_ARGS__, NULL })

static void a_file_tells_all_its_mistakes_in_the_order_of_its_lines(void **state)
{
    (void)state;
    MISTAKES_OF("lost = 1\n[server]\nport = none\n; fine\nprot = 9\nwhat is this\npin = maybe\n"
                "[data\nthreads = 65",
        "line 1: lost is in no section, like [server]",
        "line 3: server.port = none must be a whole number (0 to 65535)",
        "line 5: unknown setting server.prot (see `stampede config`)",
        "line 6: neither [section] nor name = value",
        "line 7: server.pin = maybe must be yes or no", "line 8: neither [section] nor name = value",
        "line 9: server.threads = 65 is out of bounds (0 to 64)");
    MISTAKES_OF("[server]\nport = 1\nnothing", "line 3: neither [section] nor name = value");
}

static void a_setting_that_stands_twice_is_refused_with_both_lines(void **state)
{
    (void)state;
    struct config config = defaults();
    MISTAKES_OF("[server]\nport = 1\n[data]\nfolder = /x\n[server]\nport = 1\n",
        "line 6: server.port stands in line 2 already: " KEEP_ONE);
    MISTAKES_OF("[server]\nport = none\nport = 2\n",
        "line 2: server.port = none must be a whole number (0 to 65535)",
        "line 3: server.port stands in line 2 already: " KEEP_ONE);
    /* inih reads an indented line as more of the value before it */
    MISTAKES_OF("[server]\naddress = ::1\n  port = 2\n",
        "line 3: server.address stands in line 2 already: " KEEP_ONE);
    file_write("[tls]\nport = 1\n[server]\nport = 2\n[tls]\naddress = ::1\n");
    assert_int_equal(config_load_file(&config, path, error), STATUS_OK);
    assert_int_equal(config.port, 2);
    /* a second file may change a value */
    assert_int_equal(config_load_file(&config, path, error), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_tells_all_its_mistakes_in_the_order_of_its_lines),
        cmocka_unit_test(a_setting_that_stands_twice_is_refused_with_both_lines),
    };
    return cmocka_run_group_tests(tests, path_make, path_remove);
}
