/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/payment/statement_kit.h"

#define HEAD \
    "#支付宝业务明细查询\r\n" \
    "#账号：[20880000000000000156]\r\n" \
    "#起始日期：[2026年11月14日 00:00:00]   终止日期：[2026年11月15日 00:00:00]\r\n" \
    "#-----------------------------------------业务明细列表--------------------------------------" \
    "--\r\n"
#define COLUMNS \
    "支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号," \
    "对方账户," \
    "订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）," \
    "券核销金额（元）," \
    "券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/" \
    "请求号,服务费（元）,分润（元）,备注\r\n"
#define PAID \
    "2026111422001419931441931972\t,0123456789abcdef-1\t,交易\t,\"手机, 128 GB\",2026-11-14 " \
    "20:00:01,2026-11-14 " \
    "20:00:05,\t,\t,\t,\t,**博(156******89)\t,999.00,999.00,0.00,0.00,0.00,0.00,0.00,,0.00\t,0." \
    "00,\t,-5.99,0.00,\r\n"
#define BACK \
    "2026111422001419931441931972\t,0123456789abcdef-1\t,退款\t,手机,2026-11-14 " \
    "20:00:01,2026-11-14 " \
    "21:30:00,\t,\t,\t,\t,**博(156******89)\t,-999.00,-999.00,0.00,0.00,0.00,0.00,0.00,,0.00\t,0." \
    "00,r0123456789abcdef-1" \
    "\t,5.99,0.00,\r\n"
#define OTHER \
    "2026111422001419931441888001\t,洗衣订单 77\t,交易\t,洗衣,2026-11-14 09:00:00,2026-11-14 " \
    "09:00:05,\t,\t,\t,\t,**\t,0.01,0.01,0.00,0.00,0.00,0.00,0.00,,0.00\t,0.00,\t,0.00,0.00,\r\n"
#define TAIL \
    "#-----------------------------------------业务明细列表结束----------------------------------" \
    "--\r\n" \
    "#交易合计：2笔，商家实收共999.01元，商家优惠共0.00元\r\n" \
    "#导出时间：[2026年11月15日 09:10:11]\r\n"
/* 2026-11-14 00:00:00 in Beijing */
#define DAY_MS UINT64_C(1794585600000)

static void trades_and_refunds_are_read_with_the_day(void **state)
{
    (void)state;
    assert_int_equal(statement_of("alipay", SPAN(HEAD COLUMNS PAID BACK OTHER TAIL)), STATUS_OK);
    assert_int_equal(reader.rows, 3);
    row_is(0, STATEMENT_CAPTURED, "0123456789abcdef-1", 99900, "CNY", DAY_MS + 72005000);
    row_is(1, STATEMENT_REFUNDED, "0123456789abcdef-1", 99900, "CNY", DAY_MS + 77400000);
    row_is(2, STATEMENT_CAPTURED, "", 1, "CNY", DAY_MS + 32405000); /* no reference of ours */
    assert_int_equal(reader.from_ms, DAY_MS);
    assert_int_equal(reader.to_ms, DAY_MS + 86399999);
}

/* As the file really comes: GBK. */
static void a_file_in_gbk_is_read(void **state)
{
    (void)state;
    assert_int_equal(
        statement_of("alipay",
            SPAN("#\xd6\xa7\xb8\xb6\xb1\xa6\n"
                 "\xc9\xcc\xbb\xa7\xb6\xa9\xb5\xa5\xba\xc5,\xd2\xb5\xce\xf1\xc0\xe0\xd0\xcd,"
                 "\xcd\xea\xb3\xc9\xca\xb1\xbc\xe4,"
                 "\xb6\xa9\xb5\xa5\xbd\xf0\xb6\xee\xa3\xa8\xd4\xaa\xa3\xa9\n"
                 "0123456789abcdef-2\t,\xbd\xbb\xd2\xd7\t,2026-11-14 00:00:00,12.34\n"
                 "0123456789abcdef-2\t,\xcd\xcb\xbf\xee\t,2026-11-14 00:00:01,-12.34\n"
                 "#\xbd\xe1\xca\xf8\n")),
        STATUS_OK);
    assert_int_equal(reader.rows, 2);
    row_is(0, STATEMENT_CAPTURED, "0123456789abcdef-2", 1234, "CNY", DAY_MS);
    row_is(1, STATEMENT_REFUNDED, "0123456789abcdef-2", 1234, "CNY", DAY_MS + 1000);
    assert_int_equal(reader.from_ms, DAY_MS); /* the file does not say: as its rows are */
    assert_int_equal(reader.to_ms, DAY_MS + 1000);
}

static void a_file_that_is_cut_or_another_is_refused(void **state)
{
#define SMALL "商户订单号,业务类型,完成时间,订单金额（元）\n"
#define ROW(type, time, amount) "0123456789abcdef-1," type "," time "," amount "\n"
#define NOON "2026-11-14 12:00:00"
    (void)state;
    refused("alipay", "", 0, "the file is cut");
    refused("alipay", HEAD COLUMNS PAID, 6, "the file is cut");
    refused("alipay", "a,b,c\n#\n", 1, "no column");
    refused("alipay", SMALL "a,交易," NOON "\n#\n", 2, "3 fields where the header has 4");
    refused("alipay", SMALL ROW("转账", NOON, "1.00") "#\n", 2, "neither a trade nor a refund");
    refused("alipay", SMALL ROW("交易", NOON, "1.001") "#\n", 2, "amount");
    refused("alipay", SMALL ROW("交易", NOON, "a") "#\n", 2, "amount");
    refused("alipay", SMALL ROW("交易", "yesterday", "1.00") "#\n", 2, "time");
    refused("alipay", SMALL "#\n" ROW("交易", NOON, "1.00"), 3, "after the end of the table");
    assert_int_equal(statement_of("paypal", SPAN("")), STATUS_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trades_and_refunds_are_read_with_the_day),
        cmocka_unit_test(a_file_in_gbk_is_read),
        cmocka_unit_test(a_file_that_is_cut_or_another_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
