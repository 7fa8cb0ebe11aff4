/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mysql/parts.h"

#include "tests/unit/base/unit.h"

static void error_is_told_by_its_number(void **state)
{
    (void)state;
    const struct {
        unsigned number;
        enum sql_error error;
        bool is_lost;
    } cases[] = {
        { 1062, SQL_ERROR_UNIQUE, false },
        { 1048, SQL_ERROR_CHECK, false },
        { 1264, SQL_ERROR_CHECK, false },
        { 1406, SQL_ERROR_CHECK, false },
        { 3819, SQL_ERROR_CHECK, false },
        { 4025, SQL_ERROR_CHECK, false },
        { 1451, SQL_ERROR_CHECK, false },
        { 1452, SQL_ERROR_CHECK, false },
        { 1205, SQL_ERROR_LOCKED, false },
        { 1213, SQL_ERROR_AGAIN, false },
        { 1040, SQL_ERROR_AWAY, true },
        { 1053, SQL_ERROR_AWAY, true },
        { 1290, SQL_ERROR_AWAY, false },
        { 1317, SQL_ERROR_AWAY, false },
        { 1927, SQL_ERROR_AWAY, true },
        { 1114, SQL_ERROR_AWAY, false },
        { 2002, SQL_ERROR_AWAY, true },
        { 2006, SQL_ERROR_AWAY, true },
        { 2013, SQL_ERROR_AWAY, true },
        { 1712, SQL_ERROR_CORRUPT, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(mysql_error_of(cases[i].number, "HY000"), cases[i].error);
        assert_int_equal(mysql_is_lost(cases[i].number), cases[i].is_lost);
    }
}

static void unknown_number_is_told_by_its_class(void **state)
{
    (void)state;
    assert_int_equal(mysql_error_of(9999, "22003"), SQL_ERROR_CHECK);
    assert_int_equal(mysql_error_of(9999, "23000"), SQL_ERROR_CHECK);
    assert_int_equal(mysql_error_of(9999, "40001"), SQL_ERROR_AGAIN);
    assert_int_equal(mysql_error_of(9999, "42S02"), SQL_ERROR_CORRUPT);
    assert_int_equal(mysql_error_of(9999, "HY000"), SQL_ERROR_AWAY);
}

static void status_says_whether_it_may_come_back(void **state)
{
    (void)state;
    assert_int_equal(mysql_status_of(SQL_ERROR_UNIQUE), STATUS_REFUSED);
    assert_int_equal(mysql_status_of(SQL_ERROR_CHECK), STATUS_REFUSED);
    assert_int_equal(mysql_status_of(SQL_ERROR_AGAIN), STATUS_AWAY);
    assert_int_equal(mysql_status_of(SQL_ERROR_LOCKED), STATUS_AWAY);
    assert_int_equal(mysql_status_of(SQL_ERROR_AWAY), STATUS_AWAY);
    assert_int_equal(mysql_status_of(SQL_ERROR_CORRUPT), STATUS_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_is_told_by_its_number),
        cmocka_unit_test(unknown_number_is_told_by_its_class),
        cmocka_unit_test(status_says_whether_it_may_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
