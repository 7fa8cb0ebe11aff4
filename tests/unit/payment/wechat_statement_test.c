/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/payment/statement_kit.h"

#define COLUMNS \
    "\xef\xbb\xbf交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识," \
    "交易类型,交易状态,付款银行," \
    "货币种类,应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型," \
    "退款状态,商品名称," \
    "商户数据包,手续费,费率,订单金额,申请退款金额,费率备注\r\n"
#define ROW(time, order, state, refund, refund_state, amount) \
    "`" time ",`wx2421b1c4370ec43b,`1900000109,`0,`,`4200000925202611144997714292,`" order \
    ",`ofyak5qR,`NATIVE,`" state ",`OTHERS,`CNY,`" amount ",`0.00,`0,`0,`" refund \
    ",`0.00,`ORIGINAL,`" refund_state ",`手机, 128 GB,`,`5.99000,`0.60%,`" amount ",`" refund \
    ",`\r\n"
#define SUMS(rows) \
    "总交易单数,应结订单总金额,退款总金额,充值券退款总金额,手续费总金额,订单总金额," \
    "申请退款总金额\r\n" \
    "`" rows ",`999.00,`999.00,`0.00,`0.00000,`999.00,`999.00\r\n"
#define NOON "2026-11-14 12:00:00"
#define NOON_MS UINT64_C(1794628800000)

static void payments_and_refunds_are_read(void **state)
{
    (void)state;
    assert_int_equal(
        statement_of("wechat",
            SPAN(COLUMNS ROW(NOON, "0123456789abcdef-1", "SUCCESS", "0.00", "", "999.00")
                    ROW("2026-11-14 12:00:01", "0123456789abcdef-1", "REFUND", "999.00", "PROCESSING",
                        "999.00") ROW(NOON, "0123456789abcdef-3", "REFUND", "5.00", "FAIL", "5.00")
                        ROW(NOON, "another shop", "SUCCESS", "0.00", "", "0.01") SUMS("4"))),
        STATUS_OK);
    assert_int_equal(reader.rows, 3); /* a refund that failed gave nothing back */
    row_is(0, STATEMENT_CAPTURED, "0123456789abcdef-1", 99900, "CNY", NOON_MS);
    row_is(1, STATEMENT_REFUNDED, "0123456789abcdef-1", 99900, "CNY", NOON_MS + 1000);
    row_is(2, STATEMENT_CAPTURED, "", 1, "CNY", NOON_MS);
}

static void an_empty_day_and_the_earlier_columns_are_read(void **state)
{
    (void)state;
    assert_int_equal(statement_of("wechat", SPAN(COLUMNS SUMS("0"))), STATUS_OK);
    assert_int_equal(reader.rows, 0);
    assert_int_equal(statement_of("wechat",
                         SPAN("交易时间,商户订单号,交易状态,货币种类,总金额,退款金额\n"
                              "`" NOON ",`0123456789abcdef-1,`SUCCESS,`CNY,`0.50,`0\n"
                              "总交易单数,总交易额\n`1,`0.50\n")),
        STATUS_OK);
    row_is(0, STATEMENT_CAPTURED, "0123456789abcdef-1", 50, "CNY", NOON_MS);
}

static void a_file_that_is_cut_or_another_is_refused(void **state)
{
#define SMALL "交易时间,商户订单号,交易状态,货币种类,订单金额\n"
#define LINE(time, state, currency, amount) "`" time ",`a,`" state ",`" currency ",`" amount "\n"
    (void)state;
    refused("wechat", "", 0, "empty");
    refused("wechat", "a,b\n", 1, "no column 交易时间");
    refused("wechat", SMALL LINE(NOON, "SUCCESS", "CNY", "1.00"), 2, "the file is cut");
    refused("wechat", SMALL LINE(NOON, "SUCCESS", "CNY", "1.00") "总交易单数\n", 3, "the file is cut");
    refused("wechat", SMALL LINE(NOON, "SUCCESS", "CNY", "1.00") "总交易单数\n`2\n", 4,
        "announces 2 rows but has 1");
    refused("wechat", SMALL "总交易单数\n`0\nmore\n", 4, "after the row of sums");
    refused("wechat", SMALL "`" NOON ",`a\n总交易单数\n`1\n", 2, "2 fields where the header has 5");
    refused("wechat", SMALL LINE(NOON, "USERPAYING", "CNY", "1.00") "总交易单数\n`1\n", 2, "state");
    refused("wechat", SMALL LINE(NOON, "REFUND", "CNY", "1.00") "总交易单数\n`1\n", 2, "amount");
    refused("wechat", SMALL LINE(NOON, "SUCCESS", "QQQ", "1.00") "总交易单数\n`1\n", 2, "currency");
    refused("wechat", SMALL LINE(NOON, "SUCCESS", "CNY", "") "总交易单数\n`1\n", 2, "amount");
    refused("wechat", SMALL LINE("2026-11-14", "SUCCESS", "CNY", "1.00") "总交易单数\n`1\n", 2, "time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payments_and_refunds_are_read),
        cmocka_unit_test(an_empty_day_and_the_earlier_columns_are_read),
        cmocka_unit_test(a_file_that_is_cut_or_another_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
