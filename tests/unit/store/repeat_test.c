/* SPDX-License-Identifier: Apache-2.0 */
/* When a transaction is made again. The database is a struct that says what it is told to. */
#include "store/parts.h"
#include "tests/unit/base/unit.h"

static enum sql_error error_now;
static bool open_now;

static enum sql_error said_error(const struct sql_connection *connection)
{
    (void)connection;
    return error_now;
}

static bool said_open(const struct sql_connection *connection)
{
    (void)connection;
    return open_now;
}

static const struct driver several = { .locks_rows = true, .error = said_error, .is_open = said_open };
static const struct driver only_one = { .error = said_error, .is_open = said_open };
static struct sql_connection to_several = { .driver = &several }, to_one = { .driver = &only_one };

static uint32_t tries_of(struct store *store, bool repeatable, enum status status, enum status *told)
{
    struct store_tries tries = { .repeatable = repeatable };
    uint32_t made = 0;
    do {
        made++;
        *told = status;
    } while (store_again(store, &tries, told) && made < 100);
    return made;
}

static void deadlock_is_repeated_five_times(void **state)
{
    (void)state;
    struct store *store = test_calloc(1, sizeof *store);
    enum status told;
    store->connection = &to_several;
    error_now = SQL_ERROR_AGAIN;
    assert_int_equal(tries_of(store, false, STATUS_AWAY, &told), 6);
    assert_int_equal(told, STATUS_AWAY);
    assert_int_equal(tries_of(store, false, STATUS_OK, &told), 1);
    assert_int_equal(tries_of(store, false, STATUS_REFUSED, &told), 1);
    error_now = SQL_ERROR_AWAY; /* it can't be reached: at once is no use */
    assert_int_equal(tries_of(store, true, STATUS_AWAY, &told), 1);
    error_now = SQL_ERROR_LOCKED; /* it has waited */
    assert_int_equal(tries_of(store, true, STATUS_AWAY, &told), 1);
    store->connection = &to_one;
    error_now = SQL_ERROR_AGAIN;
    assert_int_equal(tries_of(store, true, STATUS_AWAY, &told), 1);
    test_free(store);
}

static void row_that_has_changed_is_repeated_once_told(void **state)
{
    (void)state;
    struct store *store = test_calloc(1, sizeof *store);
    struct store_tries tries = { 0 };
    store->connection = &to_several;
    error_now = SQL_ERROR_NONE;
    enum status status = store_conflict(store);
    assert_int_equal(status, STATUS_AWAY);
    assert_true(store_again(store, &tries, &status));
    assert_false(store_again(store, &tries, &status)); /* it was used up */
    test_free(store);
}

static void unknown_is_repeated_if_that_does_no_harm_and_stays_unknown(void **state)
{
    (void)state;
    struct store *store = test_calloc(1, sizeof *store);
    struct store_tries tries = { .repeatable = true };
    enum status told, status = STATUS_UNKNOWN;
    store->connection = &to_several;
    error_now = SQL_ERROR_AWAY;
    assert_int_equal(tries_of(store, false, STATUS_UNKNOWN, &told), 1);
    assert_int_equal(told, STATUS_UNKNOWN);
    assert_true(store_again(store, &tries, &status));
    status = STATUS_AWAY; /* nothing was kept by the second try, but maybe by the first */
    assert_false(store_again(store, &tries, &status));
    assert_int_equal(status, STATUS_UNKNOWN);
    assert_true(tries.unknown);
    store->connection = &to_one;
    assert_int_equal(tries_of(store, true, STATUS_UNKNOWN, &told), 1);
    test_free(store);
}

static void part_is_repeated_while_its_group_is_there(void **state)
{
    (void)state;
    struct store *store = test_calloc(1, sizeof *store);
    enum status told;
    store->connection = &to_several;
    store->grouped = true;
    error_now = SQL_ERROR_AGAIN;
    open_now = false;
    assert_int_equal(tries_of(store, true, STATUS_AWAY, &told), 1);
    open_now = true;
    assert_int_equal(tries_of(store, true, STATUS_AWAY, &told), 6);
    test_free(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlock_is_repeated_five_times),
        cmocka_unit_test(row_that_has_changed_is_repeated_once_told),
        cmocka_unit_test(unknown_is_repeated_if_that_does_no_harm_and_stays_unknown),
        cmocka_unit_test(part_is_repeated_while_its_group_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
