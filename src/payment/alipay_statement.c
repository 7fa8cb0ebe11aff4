/* SPDX-License-Identifier: Apache-2.0 */
/* Alipay's bill "业务明细" (trade details), as alipay.data.dataservice.bill.downloadurl.query gives it
 * after unpacking: lines that begin with '#' around one table, fields followed by tabs, GBK or
 * UTF-8. The names of columns are given in both; no byte of a GBK character is a comma, a quote or
 * a line end. Moments are Beijing's, amounts yuan; a refund's amount has a minus. */
#include "payment/beijing_time.h"
#include "payment/statement.h"

#include <stdio.h>
#include <string.h>

enum { COLUMN_ORDER, COLUMN_TYPE, COLUMN_DONE, COLUMN_AMOUNT, COLUMNS };
static const char *const names[COLUMNS][STATEMENT_NAMES_MAX] = {
    [COLUMN_ORDER] = { "商户订单号", "\xc9\xcc\xbb\xa7\xb6\xa9\xb5\xa5\xba\xc5", NULL },
    [COLUMN_TYPE] = { "业务类型", "\xd2\xb5\xce\xf1\xc0\xe0\xd0\xcd", NULL },
    [COLUMN_DONE] = { "完成时间", "\xcd\xea\xb3\xc9\xca\xb1\xbc\xe4", NULL },
    [COLUMN_AMOUNT] = { "订单金额（元）", "订单金额(元)",
        "\xb6\xa9\xb5\xa5\xbd\xf0\xb6\xee\xa3\xa8\xd4\xaa\xa3\xa9",
        "\xb6\xa9\xb5\xa5\xbd\xf0\xb6\xee(\xd4\xaa)", NULL },
};
static const struct statement_header header = { "not Alipay's bill of trade details", COLUMNS,
    COLUMNS, names };
static const struct span trade[] = { SPAN("交易"), SPAN("\xbd\xbb\xd2\xd7") };
static const struct span refund[] = { SPAN("退款"), SPAN("\xcd\xcb\xbf\xee") };

static bool is_one_of(struct span text, const struct span words[2])
{
    return span_equal(text, words[0]) || span_equal(text, words[1]);
}

/* "[2026年11月14日 00:00:00]": six numbers with something between them. */
static bool moment_read(struct span *line, uint64_t *ms)
{
    static const size_t chars[] = { 4, 2, 2, 2, 2, 2 };
    char text[] = "0000-00-00 00:00:00";
    struct span before;
    uint64_t seconds;
    if (!span_take_until(line, '[', &before) || line->size == 0)
        return false;
    const char *at = line->data, *end = line->data + line->size;
    for (size_t i = 0, to = 0; i < sizeof chars / sizeof *chars; to += chars[i] + 1, i++) {
        while (at < end && (*at < '0' || *at > '9') && *at != ']')
            at++;
        if ((size_t)(end - at) < chars[i] || *at == ']')
            return false;
        memcpy(text + to, at, chars[i]);
        at += chars[i];
    }
    *line = span_of(at, (size_t)(end - at));
    if (beijing_time_read(span_from_string(text), &seconds) != STATUS_OK)
        return false;
    *ms = seconds * 1000;
    return true;
}

static void period_read(struct statement_reader *reader, struct span line)
{
    uint64_t from_ms, to_ms;
    if (!moment_read(&line, &from_ms) || !moment_read(&line, &to_ms) || to_ms <= from_ms)
        return;
    reader->from_ms = from_ms;
    reader->to_ms = to_ms - 1; /* the end is the next day's beginning */
    reader->period_said = true;
}

static enum status row_read(
    struct statement_reader *reader, const struct span *fields, const int columns[COLUMNS])
{
    struct statement_row row = { .currency = "CNY" };
    const struct span type = fields[columns[COLUMN_TYPE]];
    uint64_t seconds;
    if (!is_one_of(type, trade) && !is_one_of(type, refund))
        return statement_fail(reader, "the type of a row is neither a trade nor a refund");
    row.kind = is_one_of(type, trade) ? STATEMENT_CAPTURED : STATEMENT_REFUNDED;
    if (statement_amount(fields[columns[COLUMN_AMOUNT]], SPAN("CNY"), &row.amount) != STATUS_OK)
        return statement_fail(reader, "the amount of a row can't be read");
    if (beijing_time_read(fields[columns[COLUMN_DONE]], &seconds) != STATUS_OK)
        return statement_fail(reader, "the time of a row can't be read");
    row.time_ms = seconds * 1000;
    statement_reference(&row, fields[columns[COLUMN_ORDER]]);
    return statement_give(reader, &row);
}

enum status alipay_statement_read(struct statement_reader *reader)
{
    struct span line, fields[STATEMENT_COLUMNS_MAX];
    int columns[COLUMNS] = { 0 };
    uint32_t width = 0;
    bool ended = false;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && statement_line(reader, false, &line)) {
        if (span_starts_with(line, SPAN("\xef\xbb\xbf")))
            line = span_of(line.data + 3, line.size - 3);
        if (line.size == 0)
            continue;
        if (line.data[0] == '#') {
            if (width == 0)
                period_read(reader, line);
            ended = width > 0;
            continue;
        }
        const uint32_t count = statement_fields(line, fields);
        if (ended)
            return statement_fail(reader, "there is a row after the end of the table");
        if (width > 0 && count != width)
            return statement_fail(reader, "%u fields where the header has %u", count, width);
        status = width > 0 ? row_read(reader, fields, columns)
                           : statement_columns(reader, &header, fields, count, columns);
        width = count;
    }
    if (status == STATUS_OK && !ended)
        return statement_fail(reader, "the line that ends the table is missing: the file is cut");
    return status;
}
