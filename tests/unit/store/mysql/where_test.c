/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mysql/where.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static struct mysql_where where;
static char error[256];

static void url_is_read_in_parts(void **state)
{
    (void)state;
    assert_int_equal(mysql_where_read(&where, "mysql://shop%40x@db.example:3307/st%2fore",
                         "se:cret", error, sizeof error),
        STATUS_OK);
    assert_string_equal(where.user, "shop@x");
    assert_string_equal(where.password, "se:cret");
    assert_string_equal(where.host, "db.example");
    assert_string_equal(where.database, "st/ore");
    assert_string_equal(where.socket, "");
    assert_int_equal(where.port, 3307);
    assert_int_equal(
        mysql_where_read(&where, "mysql://u@[::1]:4/d", NULL, error, sizeof error), STATUS_OK);
    assert_string_equal(where.host, "::1");
    assert_int_equal(where.port, 4);
    assert_string_equal(where.password, "");
}

static void port_and_socket_may_be_left_out(void **state)
{
    (void)state;
    assert_int_equal(mysql_where_read(&where, "mysql://u@h/d", NULL, error, sizeof error), STATUS_OK);
    assert_int_equal(where.port, 3306);
    assert_int_equal(mysql_where_read(&where, "mysql://u@localhost/d?socket=/run/s.sock", NULL,
                         error, sizeof error),
        STATUS_OK);
    assert_string_equal(where.socket, "/run/s.sock");
    assert_string_equal(where.database, "d");
}

static void bad_url_is_refused_and_not_repeated(void **state)
{
    (void)state;
    const char *const urls[] = { "", "mysql://", "postgres://u@h/d", "mysql://h/d", "mysql://@h/d",
        "mysql://u@/d", "mysql://u@h", "mysql://u@h/", "mysql://u@h:0/d", "mysql://u@h:65536/d",
        "mysql://u@h:1x/d", "mysql://u@h:/d", "mysql://u@[::1]4/d", "mysql://u%4@h/d",
        "mysql://u%zz@h/d", "mysql://u%00@h/d", "mysql://u@h/d?tls=1", "mysql://u@h/d?socket=" };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        error[0] = '\0';
        assert_int_equal(mysql_where_read(&where, urls[i], NULL, error, sizeof error), STATUS_BAD_INPUT);
        assert_true(strlen(error) > 0);
    }
    assert_int_equal(mysql_where_read(&where, "mysql://u:hidden@h/d", NULL, error, sizeof error),
        STATUS_BAD_INPUT);
    assert_null(strstr(error, "hidden"));
    assert_non_null(strstr(error, "password"));
}

static void long_names_are_refused(void **state)
{
    (void)state;
    char url[MYSQL_NAME_MAX + 32], password[MYSQL_PASSWORD_MAX + 2];
    for (size_t bytes = MYSQL_NAME_MAX; bytes <= MYSQL_NAME_MAX + 1; bytes++) {
        const size_t before = strlen("mysql://");
        memcpy(url, "mysql://", before);
        memset(url + before, 'u', bytes);
        memcpy(url + before + bytes, "@h/d", 5);
        assert_int_equal(mysql_where_read(&where, url, NULL, error, sizeof error),
            bytes == MYSQL_NAME_MAX ? STATUS_OK : STATUS_BAD_INPUT);
    }
    memset(password, 'p', sizeof password);
    password[sizeof password - 1] = '\0';
    assert_int_equal(
        mysql_where_read(&where, "mysql://u@h/d", password, error, sizeof error), STATUS_BAD_INPUT);
    password[sizeof password - 2] = '\0';
    assert_int_equal(mysql_where_read(&where, "mysql://u@h/d", password, error, sizeof error), STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(url_is_read_in_parts),
        cmocka_unit_test(port_and_socket_may_be_left_out),
        cmocka_unit_test(bad_url_is_refused_and_not_repeated),
        cmocka_unit_test(long_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
