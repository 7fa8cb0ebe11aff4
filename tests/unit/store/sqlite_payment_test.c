/* Payments as rows (sqlite_payment, sqlite_learn, sqlite_refund, sqlite_details): which index finds
 * them, and that the database itself refuses what must never be. The rules are in
 * tests/seam/store_suite_payments.c and store_suite_refunds.c. */
#include "contract/payment.h"
#include "tests/unit/store/sqlite_place.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place_sell(place, 5), STATUS_OK);
    place_execute(place, "UPDATE orders SET pay_by_ms = 100");
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static enum status started(struct place *place, ticket_number ticket, const char *reference)
{
    struct payment_start start = { .ticket = ticket, .now_ms = 1, .provider = "alpha" };
    struct payment payment;
    struct order after;
    uint8_t answer = START_ANSWERS;
    snprintf(start.reference, sizeof start.reference, "%s", reference);
    const enum status status =
        place->store->ops->payment->start(place->store, &start, &payment, &after, &answer);
    if (status == STATUS_OK)
        assert_int_equal(answer, START_DONE);
    return status;
}

static enum status captured(struct place *place, const char *reference, uint8_t *answer)
{
    struct payment_news news = { .kind = NEWS_CAPTURED, .now_ms = 2, .provider = "alpha" };
    struct payment payment;
    struct order after;
    snprintf(news.reference, sizeof news.reference, "%s", reference);
    news.amount = (uint64_t)place_number(place, "SELECT amount FROM orders WHERE ticket = 1");
    snprintf(news.currency, sizeof news.currency, "CNY");
    return place->store->ops->payment->learn(place->store, &news, &payment, &after, answer);
}

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
        "SELECT id FROM payments WHERE (state < 4 OR use = 2) AND"
        " CASE WHEN state < 3 THEN min(next_ms, pay_by_ms) ELSE next_ms END <= 9"
        " ORDER BY CASE WHEN state < 3 THEN min(next_ms, pay_by_ms) ELSE next_ms END",
        plan, sizeof plan);
    assert_non_null(strstr(plan, "payments_due"));
    assert_null(strstr(plan, "TEMP B-TREE"));
    plan_of(place, "SELECT id FROM refunds WHERE state <> 2 AND next_ms <= 9 ORDER BY next_ms",
        plan, sizeof plan);
    assert_non_null(strstr(plan, "refunds_open"));
    assert_null(strstr(plan, "TEMP B-TREE"));
    plan_of(place, "SELECT id FROM payments WHERE paid_ticket = 1 AND use IN (1, 3)", plan, sizeof plan);
    assert_non_null(strstr(plan, "payments_paid"));
}

static void the_database_itself_refuses_a_second_refund_and_a_second_payer(void **state)
{
    struct place *place = *state;
    uint8_t answer;
    assert_int_equal(started(place, 1, "a1"), STATUS_OK);
    assert_int_equal(captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(answer, LEARN_PAID);
    static const char second_payer[] =
        "INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount,"
        " currency, captured, state, use, tries, created_ms, captured_ms, next_ms, pay_by_ms, "
        "closing_ms)"
        " SELECT ticket, paid_ticket, provider, 'a2', '', '', amount, currency, captured, state, "
        "use,"
        " 0, 0, 0, 0, 0, 0 FROM payments";
    assert_int_equal(place_try(place, second_payer) & 0xff, SQLITE_CONSTRAINT);
    static const char refund[] =
        "INSERT INTO refunds(payment, ticket, provider, key, provider_id,"
        " amount, currency, state, why, tries, created_ms, done_ms, next_ms, error)"
        " VALUES(1, 1, 'alpha', hex(randomblob(8)), '', 1, 'CNY', 1, 0, 0, 0, 0, 0, '')";
    assert_int_equal(place_try(place, refund), SQLITE_OK);
    assert_int_equal(place_try(place, refund) & 0xff, SQLITE_CONSTRAINT);
}

/* A trigger stands for whatever may fail in the middle: nothing of the news is kept. */
static void news_are_kept_whole_or_not_at_all(void **state)
{
    struct place *place = *state;
    uint8_t answer;
    assert_int_equal(started(place, 1, "a1"), STATUS_OK);
    place_execute(place,
        "CREATE TRIGGER no BEFORE INSERT ON stock_events BEGIN SELECT raise(ABORT, 'x'); END");
    assert_int_not_equal(captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT state FROM payments"), PAYMENT_STARTED);
    assert_int_equal(place_number(place, "SELECT state FROM orders"), ORDER_PENDING);
    assert_int_equal(place_number(place, "SELECT version FROM orders"), 1);
    place_execute(place, "DROP TRIGGER no");
    assert_int_equal(captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(answer, LEARN_PAID);
    assert_int_equal(place_number(place, "SELECT count(*) FROM stock_events WHERE step = 0"), 1);
}

static void a_refund_that_can_not_be_written_takes_its_news_with_it(void **state)
{
    struct place *place = *state;
    uint8_t answer;
    assert_int_equal(started(place, 1, "a1"), STATUS_OK);
    place_execute(place, "UPDATE orders SET state = 2");
    place_execute(place, "CREATE TRIGGER no BEFORE INSERT ON refunds BEGIN SELECT raise(ABORT, 'x'); END");
    assert_int_not_equal(captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT state FROM payments"), PAYMENT_STARTED);
    place_execute(place, "DROP TRIGGER no");
    assert_int_equal(captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(answer, LEARN_REFUND);
    assert_int_equal(place_number(place, "SELECT count(*) FROM refunds WHERE key = 'ra1'"), 1);
}

static void a_reference_that_fills_its_column_still_gets_a_key(void **state)
{
    struct place *place = *state;
    uint8_t answer;
    char reference[REFERENCE_BYTES_MAX + 1];
    memset(reference, 'x', REFERENCE_BYTES_MAX);
    reference[REFERENCE_BYTES_MAX] = '\0';
    assert_int_equal(started(place, 1, reference), STATUS_OK);
    place_execute(place, "UPDATE orders SET state = 2");
    assert_int_equal(captured(place, reference, &answer), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM refunds WHERE key = 'r-1'"), 1);
}

static void details_belong_to_an_order(void **state)
{
    struct place *place = *state;
    struct order after;
    const struct order_details details = { .name = "n", .phone = "p", .address = "a", .note = "" };
    assert_int_equal(
        place->store->ops->payment->details_set(place->store, 1, &details, 7, &after), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT time_ms FROM order_details WHERE ticket = 1"), 7);
    assert_int_equal(
        place->store->ops->payment->details_set(place->store, 1, &details, 8, &after), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT time_ms FROM order_details"), 7); /* nothing new */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_due_is_found_by_an_index_in_its_order),
        TEST(the_database_itself_refuses_a_second_refund_and_a_second_payer),
        TEST(news_are_kept_whole_or_not_at_all),
        TEST(a_refund_that_can_not_be_written_takes_its_news_with_it),
        TEST(a_reference_that_fills_its_column_still_gets_a_key),
        TEST(details_belong_to_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
