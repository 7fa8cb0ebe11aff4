/* SPDX-License-Identifier: Apache-2.0 */
#include "store/parts.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char put[] = "INSERT INTO customers(user_id, sealed, first_ms) VALUES(?1, ?2, ?3)";
static const char touch[] = "UPDATE customers SET first_ms = ?2 WHERE user_id = ?1";
static const char list[] =
    "SELECT user_id FROM customers WHERE user_id > ?1 ORDER BY user_id LIMIT ?2";
static const char named[] = "SELECT id FROM products WHERE name = ?1 OR ?2 IS NOT NULL";

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static enum status user_check(struct sql_row *row, void *out)
{
    (void)row;
    return *(uint64_t *)out == 13 ? STATUS_CORRUPT : STATUS_OK;
}

struct user {
    uint64_t user;
};
static const struct sql_columns user_columns = COLUMNS_ALSO(user, user_check, FIELD(user, user));

static enum status users_put(struct store *store, uint64_t first, uint64_t last)
{
    enum status status = STATUS_OK;
    for (uint64_t user = first; user <= last && status == STATUS_OK; user++)
        status = sql_do(store, put, VALUES(U64(user), BLOB("sealed", 6), U64(5)));
    return status;
}

static void a_page_ends_at_its_size_and_at_the_last_row(void **state)
{
    struct place *place = *state;
    struct store *store = store_of(place->store);
    uint64_t users[8] = { 0 };
    uint32_t count = 99;
    assert_int_equal(
        sql_rows(store, list, VALUES(U64(0), U64(8)), &user_columns, PAGE(users, 8, &count)), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(users_put(store, 1, 5), STATUS_OK);
    assert_int_equal(
        sql_rows(store, list, VALUES(U64(0), U64(8)), &user_columns, PAGE(users, 3, &count)), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(users[2], 3);
    assert_int_equal(users[3], 0);
    assert_int_equal(
        sql_rows(store, list, VALUES(U64(3), U64(8)), &user_columns, PAGE(users, 8, &count)), STATUS_OK);
    assert_int_equal(count, 2);
}

static void a_row_that_is_not_taken_ends_the_page_and_does_not_count(void **state)
{
    struct place *place = *state;
    struct store *store = store_of(place->store);
    uint64_t users[8], number = 0;
    uint32_t count;
    assert_int_equal(users_put(store, 12, 14), STATUS_OK);
    assert_int_equal(sql_rows(store, list, VALUES(U64(0), U64(8)), &user_columns, PAGE(users, 8, &count)),
        STATUS_CORRUPT);
    assert_int_equal(count, 1);
    assert_int_equal(
        sql_one(store, list, VALUES(U64(12), U64(1)), &user_columns, &number), STATUS_CORRUPT);
    /* Both left the statement reset: the table can be changed. */
    place_execute(place, "DROP TABLE customers");
}

static void no_row_is_told_and_a_change_of_none_is_what_the_caller_says(void **state)
{
    struct place *place = *state;
    struct store *store = store_of(place->store);
    uint64_t number = 7;
    bool found = true;
    assert_int_equal(sql_number(store, list, VALUES(U64(0), U64(1)), &number), STATUS_NOT_FOUND);
    assert_int_equal(number, 7);
    assert_int_equal(sql_found(store, list, VALUES(U64(0), U64(1)), &found), STATUS_OK);
    assert_false(found);
    assert_int_equal(sql_do_one(store, touch, VALUES(U64(1), U64(9)), STATUS_CONFLICT), STATUS_CONFLICT);
    assert_int_equal(users_put(store, 1, 1), STATUS_OK);
    assert_int_equal(sql_found(store, list, VALUES(U64(0), U64(1)), &found), STATUS_OK);
    assert_true(found);
    assert_int_equal(sql_do_one(store, touch, VALUES(U64(1), U64(9)), STATUS_CONFLICT), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT first_ms FROM customers"), 9);
}

static void a_value_may_be_nothing(void **state)
{
    struct place *place = *state;
    struct store *store = store_of(place->store);
    bool found;
    assert_int_equal(sql_found(store, named, VALUES(TEXT("nothing"), U64(1)), &found), STATUS_OK);
    assert_true(found);
    assert_int_equal(sql_found(store, named, VALUES(TEXT("nothing"), NOTHING), &found), STATUS_OK);
    assert_false(found);
}

static void an_end_commits_what_went_well_and_takes_back_what_did_not(void **state)
{
    struct place *place = *state;
    struct store *store = store_of(place->store);
    assert_int_equal(store_begin(store), STATUS_OK);
    assert_int_equal(store_end(store, users_put(store, 1, 2)), STATUS_OK);
    assert_int_equal(store_begin(store), STATUS_OK);
    assert_int_equal(users_put(store, 3, 4), STATUS_OK);
    assert_int_equal(store_end(store, STATUS_CONFLICT), STATUS_CONFLICT);
    assert_int_equal(place_number(place, "SELECT count(*) FROM customers"), 2);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_page_ends_at_its_size_and_at_the_last_row),
        TEST(a_row_that_is_not_taken_ends_the_page_and_does_not_count),
        TEST(no_row_is_told_and_a_change_of_none_is_what_the_caller_says),
        TEST(a_value_may_be_nothing),
        TEST(an_end_commits_what_went_well_and_takes_back_what_did_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
