/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/statement.h"

#include "contract/currency.h"
#include "payment/provider.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *provider;
    enum status (*read)(struct statement_reader *);
} readers[] = {
    { "alipay", alipay_statement_read },
    { "wechat", wechat_statement_read },
    { "stripe", stripe_statement_read },
    { "sandbox", sandbox_statement_read },
};

enum status statement_read(const char *provider, struct statement_reader *reader)
{
    reader->line = reader->rows = 0;
    reader->from_ms = reader->to_ms = 0;
    reader->period_said = false;
    reader->error[0] = 0;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        if (strcmp(readers[i].provider, provider) == 0)
            return readers[i].read(reader);
    }
    return STATUS_NOT_FOUND;
}

enum status statement_fail(struct statement_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->error, sizeof reader->error, format, arguments);
    va_end(arguments);
    return STATUS_BAD_INPUT;
}

bool statement_line(struct statement_reader *reader, bool quoted, struct span *line)
{
    const struct span text = reader->text;
    bool inside = false;
    size_t end = 0;
    if (text.size == 0)
        return false;
    reader->line++;
    for (; end < text.size && (inside || text.data[end] != '\n'); end++)
        inside = quoted && (text.data[end] == '"') != inside;
    const size_t used = end < text.size ? end + 1 : end;
    reader->text = span_of(text.data + used, text.size - used);
    *line = span_of(text.data, end > 0 && text.data[end - 1] == '\r' ? end - 1 : end);
    return true;
}

struct span statement_trim(struct span text)
{
    while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = span_of(text.data + 1, text.size - 1);
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

/* One field from the front of `rest`; `rest` begins after its comma. False: it was the last. */
static bool field_take(struct span *rest, struct span *field)
{
    size_t end = 0;
    const bool quoted = rest->size > 0 && rest->data[0] == '"';
    bool inside = false;
    for (; end < rest->size && (inside || rest->data[end] != ','); end++)
        inside = quoted && (rest->data[end] == '"') != inside;
    *field = statement_trim(span_of(rest->data, end));
    if (quoted && field->size >= 2 && field->data[field->size - 1] == '"')
        *field = span_of(field->data + 1, field->size - 2);
    if (end == rest->size)
        return false;
    *rest = span_of(rest->data + end + 1, rest->size - end - 1);
    return true;
}

uint32_t statement_fields(struct span line, struct span fields[STATEMENT_COLUMNS_MAX])
{
    uint32_t count = 0;
    bool more = true;
    while (more && count < STATEMENT_COLUMNS_MAX)
        more = field_take(&line, &fields[count++]);
    return more ? 0 : count;
}

static int column_find(const struct span *fields, uint32_t count, const char *const *names)
{
    for (; *names != NULL; names++) {
        for (uint32_t i = 0; i < count; i++) {
            if (span_equal(fields[i], span_from_string(*names)))
                return (int)i;
        }
    }
    return -1;
}

enum status statement_columns(struct statement_reader *reader,
    const struct statement_header *header, const struct span *fields, uint32_t count, int *columns)
{
    for (uint32_t i = 0; i < header->count; i++) {
        columns[i] = column_find(fields, count, header->names[i]);
        if (i < header->needed && columns[i] < 0)
            return statement_fail(reader, "no column %s: %s", header->names[i][0], header->hint);
    }
    return STATUS_OK;
}

enum status statement_amount(struct span text, struct span currency, uint64_t *minor)
{
    unsigned digits = 0;
    struct span rest, whole;
    if (!currency_find(currency, &digits))
        return STATUS_BAD_INPUT;
    if (text.size > 0 && text.data[0] == '-')
        text = span_of(text.data + 1, text.size - 1);
    rest = text;
    (void)span_take_until(&rest, '.', &whole);
    if (whole.size < text.size && digits > 0)
        return amount_parse(text, digits, minor);
    if (whole.size < text.size || span_to_u64(text, minor) != STATUS_OK)
        return STATUS_BAD_INPUT;
    for (; digits > 0; digits--) {
        if (__builtin_mul_overflow(*minor, UINT64_C(10), minor))
            return STATUS_BAD_INPUT;
    }
    return *minor <= INT64_MAX ? STATUS_OK : STATUS_BAD_INPUT;
}

enum status statement_give(struct statement_reader *reader, const struct statement_row *row)
{
    if (!reader->period_said && row->time_ms != 0) {
        if (reader->from_ms == 0 || row->time_ms < reader->from_ms)
            reader->from_ms = row->time_ms;
        if (row->time_ms > reader->to_ms)
            reader->to_ms = row->time_ms;
    }
    reader->rows++;
    return reader->take(reader->context, row) ? STATUS_OK : STATUS_FULL;
}

void statement_reference(struct statement_row *row, struct span reference)
{
    if (!provider_name_copy(row->reference, sizeof row->reference, reference))
        row->reference[0] = 0;
}
