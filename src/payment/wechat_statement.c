/* SPDX-License-Identifier: Apache-2.0 */
/* WeChat Pay's trade bill (GET /v3/bill/tradebill, or the merchant platform's download), types ALL,
 * SUCCESS and REFUND, UTF-8: a header, a row per payment and refund, each field after a backtick,
 * then a header and one row of sums, whose first field is the number of rows. Fields may hold
 * commas; a comma and a backtick part two of them. Moments are Beijing's, amounts yuan. */
#include "payment/beijing_time.h"
#include "payment/statement.h"

#include <stdio.h>
#include <string.h>

enum {
    COLUMN_TIME,
    COLUMN_ORDER,
    COLUMN_STATE,
    COLUMN_CURRENCY,
    COLUMN_AMOUNT,
    COLUMN_REFUND,
    COLUMN_REFUND_STATE,
    COLUMNS
};
static const char *const names[COLUMNS][STATEMENT_NAMES_MAX] = {
    [COLUMN_TIME] = { "交易时间", NULL },
    [COLUMN_ORDER] = { "商户订单号", NULL },
    [COLUMN_STATE] = { "交易状态", NULL },
    [COLUMN_CURRENCY] = { "货币种类", NULL },
    [COLUMN_AMOUNT] = { "订单金额", "总金额", "应结订单金额", NULL },
    [COLUMN_REFUND] = { "申请退款金额", "退款金额", NULL },
    [COLUMN_REFUND_STATE] = { "退款状态", NULL },
};
/* A bill of type SUCCESS has no refunds. */
static const struct statement_header header = { "not WeChat Pay's trade bill", COLUMN_REFUND,
    COLUMNS, names };

static uint32_t ticked_fields(struct span line, struct span fields[STATEMENT_COLUMNS_MAX])
{
    uint32_t count = 0;
    const char *at = line.data + 1, *end = line.data + line.size;
    while (count < STATEMENT_COLUMNS_MAX) {
        const char *next = memmem(at, (size_t)(end - at), ",`", 2);
        fields[count++] = statement_trim(span_of(at, (size_t)((next == NULL ? end : next) - at)));
        if (next == NULL)
            return count;
        at = next + 2;
    }
    return 0;
}

static bool is_refund(struct span state)
{
    return span_equal(state, SPAN("REFUND")) || span_equal(state, SPAN("REVOKED"));
}

static enum status row_read(
    struct statement_reader *reader, const struct span *fields, const int columns[COLUMNS])
{
    struct statement_row row = { 0 };
    const struct span state = fields[columns[COLUMN_STATE]];
    const struct span currency = fields[columns[COLUMN_CURRENCY]];
    int amount = columns[COLUMN_AMOUNT];
    uint64_t seconds;
    if (is_refund(state)) {
        row.kind = STATEMENT_REFUNDED;
        amount = columns[COLUMN_REFUND];
    } else if (!span_equal(state, SPAN("SUCCESS"))) {
        return statement_fail(reader, "the state of a row is not SUCCESS, REFUND or REVOKED");
    }
    if (currency.size != 3 || amount < 0
        || statement_amount(fields[amount], currency, &row.amount) != STATUS_OK)
        return statement_fail(reader, "the amount or currency of a row can't be read");
    if (beijing_time_read(fields[columns[COLUMN_TIME]], &seconds) != STATUS_OK)
        return statement_fail(reader, "the time of a row can't be read");
    if (row.kind == STATEMENT_REFUNDED && columns[COLUMN_REFUND_STATE] >= 0
        && span_starts_with(fields[columns[COLUMN_REFUND_STATE]], SPAN("FAIL")))
        return STATUS_OK; /* nothing went back */
    memcpy(row.currency, currency.data, 3);
    row.time_ms = seconds * 1000;
    statement_reference(&row, fields[columns[COLUMN_ORDER]]);
    return statement_give(reader, &row);
}

/* The row of sums: the file is whole. */
static enum status sums_read(struct statement_reader *reader, uint32_t rows)
{
    struct span line, fields[STATEMENT_COLUMNS_MAX];
    uint64_t said;
    if (!statement_line(reader, false, &line) || line.size < 2 || line.data[0] != '`'
        || ticked_fields(line, fields) == 0 || span_to_u64(fields[0], &said) != STATUS_OK)
        return statement_fail(reader, "the row of sums is missing: the file is cut");
    if (said != rows)
        return statement_fail(
            reader, "the file announces %llu rows but has %u", (unsigned long long)said, rows);
    while (statement_line(reader, false, &line)) {
        if (line.size > 0)
            return statement_fail(reader, "there is a line after the row of sums");
    }
    return STATUS_OK;
}

enum status wechat_statement_read(struct statement_reader *reader)
{
    struct span line, fields[STATEMENT_COLUMNS_MAX];
    int columns[COLUMNS] = { 0 };
    uint32_t rows = 0;
    if (!statement_line(reader, false, &line))
        return statement_fail(reader, "the file is empty");
    if (span_starts_with(line, SPAN("\xef\xbb\xbf")))
        line = span_of(line.data + 3, line.size - 3);
    const uint32_t width = statement_fields(line, fields);
    enum status status = statement_columns(reader, &header, fields, width, columns);
    while (status == STATUS_OK && statement_line(reader, false, &line)) {
        if (line.size == 0)
            continue;
        if (line.data[0] != '`')
            return sums_read(reader, rows);
        const uint32_t count = ticked_fields(line, fields);
        if (count != width)
            return statement_fail(reader, "%u fields where the header has %u", count, width);
        status = row_read(reader, fields, columns);
        rows++;
    }
    return status == STATUS_OK ? statement_fail(reader, "the row of sums is missing: the file is cut")
                               : status;
}
