/* SPDX-License-Identifier: Apache-2.0 */
/* Payments as rows: which index finds them, and that an order has one payer. The rules are in
 * tests/seam/store_suite_payments.c. */
#include "tests/unit/store/money_kit.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The plan's first line for a statement. */
static void plan_of(const struct place *place, const char *sql, char *out, size_t out_bytes)
{
    char text[1024];
    sqlite3 *database;
    sqlite3_stmt *plan;
    snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", sql);
    assert_int_equal(sqlite3_open(place->path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, text, -1, &plan, NULL), SQLITE_OK);
    out[0] = '\0';
    while (sqlite3_step(plan) == SQLITE_ROW) {
        const size_t used = strlen(out);
        snprintf(out + used, out_bytes - used, "%s; ", (const char *)sqlite3_column_text(plan, 3));
    }
    sqlite3_finalize(plan);
    sqlite3_close(database);
}

static void what_is_due_is_found_by_an_index_in_its_order(void **state)
{
    struct place *place = *state;
    char plan[400];
    plan_of(place,
        "SELECT id FROM payments WHERE (state < 4 OR used_for = 2) AND"
        " CASE WHEN state < 3 AND pay_by_ms < next_ms THEN pay_by_ms ELSE next_ms END <= 9"
        " ORDER BY CASE WHEN state < 3 AND pay_by_ms < next_ms THEN pay_by_ms ELSE next_ms END",
        plan, sizeof plan);
    assert_non_null(strstr(plan, "payments_due"));
    assert_null(strstr(plan, "TEMP B-TREE"));
    plan_of(place, "SELECT id FROM refunds WHERE state <> 2 AND next_ms <= 9 ORDER BY next_ms",
        plan, sizeof plan);
    assert_non_null(strstr(plan, "refunds_open"));
    assert_null(strstr(plan, "TEMP B-TREE"));
    plan_of(place, "SELECT id FROM payments WHERE paid_ticket = 1 AND used_for IN (1, 3)", plan,
        sizeof plan);
    assert_non_null(strstr(plan, "payments_paid"));
}

static void the_database_itself_refuses_a_second_refund_and_a_second_payer(void **state)
{
    struct place *place = *state;
    uint8_t answer;
    assert_int_equal(row_started(place, 1, "a1"), STATUS_OK);
    assert_int_equal(row_captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(answer, LEARN_PAID);
    static const char second_payer[] =
        "INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount,"
        " currency, captured, state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms, "
        "closing_ms)"
        " SELECT ticket, paid_ticket, provider, 'a2', '', '', amount, currency, captured, state, "
        "used_for,"
        " 0, 0, 0, 0, 0, 0 FROM payments";
    assert_int_equal(place_try(place, second_payer) & 0xff, SQLITE_CONSTRAINT);
    static const char refund[] =
        "INSERT INTO refunds(payment, ticket, provider, refund_key, provider_id,"
        " amount, currency, state, why, tries, created_ms, done_ms, next_ms, error)"
        " VALUES(1, 1, 'alpha', hex(randomblob(8)), '', 1, 'CNY', 1, 0, 0, 0, 0, 0, '')";
    assert_int_equal(place_try(place, refund), SQLITE_OK);
    assert_int_equal(place_try(place, refund) & 0xff, SQLITE_CONSTRAINT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, money_rows_setup, money_rows_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_due_is_found_by_an_index_in_its_order),
        TEST(the_database_itself_refuses_a_second_refund_and_a_second_payer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
