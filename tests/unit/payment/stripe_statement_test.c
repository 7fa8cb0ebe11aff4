/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/payment/statement_kit.h"

#define COLUMNS \
    "id,Type,Source,Amount,Fee,Destination Platform Fee,Net,Currency,Created (UTC),Available On " \
    "(UTC)," \
    "Description,Customer Facing Amount,Customer Facing Currency,Transfer,Transfer Date (UTC)," \
    "reference (metadata)\n"
#define ROW(type, amount, currency, paid, paid_currency, reference) \
    "txn_1," type ",ch_1," amount ",0.59,,18.41," currency ",2026-11-14 12:00,2026-11-16 00:00," \
    "\"Phone, 128 GB\nsecond line\"," paid "," paid_currency ",,," reference "\n"
#define NOON_S "1794657600" /* 2026-11-14 12:00:00 UTC */
#define NOON_MS UINT64_C(1794657600000)

static void the_dashboards_export_is_read(void **state)
{
    (void)state;
    assert_int_equal(statement_of("stripe",
                         SPAN(COLUMNS ROW("charge", "19.00", "usd", "", "", "0123456789abcdef-1")
                                 ROW("charge", "17.50", "eur", "1900", "jpy", "0123456789abcdef-2")
                                     ROW("refund", "-19.00", "usd", "", "", "0123456789abcdef-1")
                                         ROW("payout", "-500.00", "usd", "", "", "")
                                             ROW("charge", "1.00", "usd", "", "", ""))),
        STATUS_OK);
    assert_int_equal(reader.rows, 4);
    row_is(0, STATEMENT_CAPTURED, "0123456789abcdef-1", 1900, "USD", NOON_MS);
    row_is(1, STATEMENT_CAPTURED, "0123456789abcdef-2", 1900, "JPY", NOON_MS); /* as the customer paid */
    row_is(2, STATEMENT_REFUNDED, "0123456789abcdef-1", 1900, "USD", NOON_MS);
    row_is(3, STATEMENT_CAPTURED, "", 100, "USD", NOON_MS);
}

static void the_itemized_report_is_read(void **state)
{
    (void)state;
    assert_int_equal(
        statement_of("stripe",
            SPAN("balance_transaction_id,created_utc,currency,gross,fee,net,reporting_category,"
                 "payment_metadata[reference]\n"
                 "txn_1,2026-11-14 12:00:00,usd,19.00,0.85,18.15,charge,0123456789abcdef-1\n")),
        STATUS_OK);
    row_is(0, STATEMENT_CAPTURED, "0123456789abcdef-1", 1900, "USD", NOON_MS);
}

#define CHARGE(more) \
    "{\"id\":\"txn_1\",\"type\":\"charge\",\"amount\":1750,\"currency\":\"eur\"," \
    "\"created\":" NOON_S ",\"source\":" more "}"
#define SOURCE \
    "{\"id\":\"x_1\",\"amount\":1900,\"currency\":\"usd\"," \
    "\"metadata\":{\"reference\":\"0123456789abcdef-1\"}}"
#define PAID CHARGE(SOURCE)
#define BACK "{\"type\":\"refund\",\"amount\":-1750,\"created\":" NOON_S ",\"source\":" SOURCE "}"
#define FEE "{\"type\":\"stripe_fee\",\"amount\":-5,\"created\":1,\"source\":null}"
static void the_list_of_the_api_is_read(void **state)
{
    static const char list[] =
        "{\"object\":\"list\",\"has_more\":false,\"data\":[" PAID "," BACK "," FEE "]}";
    (void)state;
    assert_int_equal(statement_of("stripe", span_from_string(list)), STATUS_OK);
    assert_int_equal(reader.rows, 2);
    row_is(0, STATEMENT_CAPTURED, "0123456789abcdef-1", 1900, "USD", NOON_MS);
    row_is(1, STATEMENT_REFUNDED, "0123456789abcdef-1", 1900, "USD", NOON_MS);
    assert_int_equal(
        statement_of("stripe", SPAN("[" CHARGE("{\"amount\":1,\"currency\":\"usd\"}") "]")), STATUS_OK);
    row_is(0, STATEMENT_CAPTURED, "", 1, "USD", NOON_MS);
}

static void what_is_not_whole_is_refused(void **state)
{
#define SMALL "Type,Amount,Currency,Created (UTC),reference (metadata)\n"
    (void)state;
    refused("stripe", "", 0, "empty");
    refused("stripe", "Type,Amount,Currency,Created (UTC)\n", 1, "no column reference (metadata)");
    refused("stripe", SMALL "charge,1.00\n", 2, "2 fields where the header has 5");
    refused("stripe", SMALL "charge,1.001,usd,2026-11-14 12:00,a\n", 2, "amount");
    refused("stripe", SMALL "charge,1.00,dollar,2026-11-14 12:00,a\n", 2, "currency");
    refused("stripe", SMALL "charge,1.00,usd,today,a\n", 2, "time");
    refused("stripe", "{\"data\":[],\"has_more\":true}", 0, "has_more");
    refused("stripe", "{\"error\":{}}", 0, "not a list");
    refused("stripe", "[", 0, "not a list");
    refused("stripe", "[7]", 0, "is malformed");
    refused("stripe", "[" CHARGE("\"ch_1\"") "]", 0, "expand[]=data.source");
    refused("stripe", "[" CHARGE("{\"currency\":\"usd\"}") "]", 0, "lacks amount");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dashboards_export_is_read),
        cmocka_unit_test(the_itemized_report_is_read),
        cmocka_unit_test(the_list_of_the_api_is_read),
        cmocka_unit_test(what_is_not_whole_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
