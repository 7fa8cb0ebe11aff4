/* SPDX-License-Identifier: Apache-2.0 */
/* Stripe's balance transactions, in one of three forms:
 *   JSON   GET /v1/balance_transactions?expand[]=data.source: the list, or its transactions as an array
 *   CSV    the dashboard's export of balance transactions, with the metadata column `reference`
 *   CSV    the report balance_change_from_activity.itemized, with payment_metadata[reference]
 * Charges and refunds carry our reference as metadata (payment/stripe.c). A transaction without one
 * is of other business. What the customer paid counts, not what it became in the account's currency.
 * Fees, payouts and the like are no payments. */
#include "payment/beijing_time.h"
#include "payment/provider_json.h"
#include "payment/statement.h"

#include <stdio.h>
#include <string.h>

enum {
    COLUMN_TYPE,
    COLUMN_AMOUNT,
    COLUMN_CURRENCY,
    COLUMN_TIME,
    COLUMN_REFERENCE,
    COLUMN_PAID,
    COLUMN_PAID_CURRENCY,
    COLUMNS
};
static const char *const names[COLUMNS][STATEMENT_NAMES_MAX] = {
    [COLUMN_TYPE] = { "Type", "reporting_category", NULL },
    [COLUMN_AMOUNT] = { "Amount", "gross", NULL },
    [COLUMN_CURRENCY] = { "Currency", "currency", NULL },
    [COLUMN_TIME] = { "Created (UTC)", "created_utc", "created", NULL },
    [COLUMN_REFERENCE] = { "reference (metadata)", "payment_metadata[reference]",
        "metadata[reference]", NULL },
    [COLUMN_PAID] = { "Customer Facing Amount", "customer_facing_amount", NULL },
    [COLUMN_PAID_CURRENCY] = { "Customer Facing Currency", "customer_facing_currency", NULL },
};
static const struct statement_header header = { "export balance transactions with it", COLUMN_PAID,
    COLUMNS, names };

/* False: no payment and no refund. */
static bool kind_read(struct span type, uint8_t *kind)
{
    const bool captured = span_equal(type, SPAN("charge")) || span_equal(type, SPAN("payment"));
    const bool refunded = span_equal(type, SPAN("refund")) || span_equal(type, SPAN("payment_refund"));
    *kind = refunded ? STATEMENT_REFUNDED : STATEMENT_CAPTURED;
    return captured || refunded;
}

static bool currency_read(struct span text, char out[4])
{
    if (text.size != 3)
        return false;
    for (size_t i = 0; i < 3; i++)
        out[i] = (char)(text.data[i] >= 'a' && text.data[i] <= 'z' ? text.data[i] - 'a' + 'A'
                                                                   : text.data[i]);
    out[3] = 0;
    return true;
}

/* "2026-11-15 12:30" or with seconds, UTC. */
static bool time_read(struct span text, uint64_t *ms)
{
    enum { BEIJING_AHEAD_S = 8 * 3600, MINUTES_CHARS = BEIJING_TIME_CHARS - 3 };
    char whole[BEIJING_TIME_CHARS + 1] = "";
    uint64_t seconds;
    if (text.size != MINUTES_CHARS && text.size != BEIJING_TIME_CHARS)
        return false;
    memcpy(whole, text.data, text.size);
    if (text.size == MINUTES_CHARS)
        memcpy(whole + MINUTES_CHARS, ":00", 3);
    if (beijing_time_read(span_from_string(whole), &seconds) != STATUS_OK)
        return false;
    *ms = (seconds + BEIJING_AHEAD_S) * 1000;
    return true;
}

static struct span field_at(const struct span *fields, int column)
{
    return column < 0 ? SPAN_NONE : fields[column];
}

static enum status csv_row(
    struct statement_reader *reader, const struct span *fields, const int columns[COLUMNS])
{
    struct statement_row row = { 0 };
    struct span amount = fields[columns[COLUMN_AMOUNT]], currency = fields[columns[COLUMN_CURRENCY]];
    if (!kind_read(fields[columns[COLUMN_TYPE]], &row.kind))
        return STATUS_OK;
    if (field_at(fields, columns[COLUMN_PAID]).size > 0
        && field_at(fields, columns[COLUMN_PAID_CURRENCY]).size > 0) {
        amount = fields[columns[COLUMN_PAID]];
        currency = fields[columns[COLUMN_PAID_CURRENCY]];
    }
    if (!currency_read(currency, row.currency)
        || statement_amount(amount, span_from_string(row.currency), &row.amount) != STATUS_OK)
        return statement_fail(reader, "the amount or currency of a row can't be read");
    if (!time_read(fields[columns[COLUMN_TIME]], &row.time_ms))
        return statement_fail(reader, "the time of a row can't be read");
    statement_reference(&row, fields[columns[COLUMN_REFERENCE]]);
    return statement_give(reader, &row);
}

static enum status csv_read(struct statement_reader *reader)
{
    struct span line, fields[STATEMENT_COLUMNS_MAX];
    int columns[COLUMNS];
    if (!statement_line(reader, true, &line))
        return statement_fail(reader, "the file is empty");
    const uint32_t width = statement_fields(line, fields);
    enum status status = statement_columns(reader, &header, fields, width, columns);
    while (status == STATUS_OK && statement_line(reader, true, &line)) {
        if (line.size == 0)
            continue;
        const uint32_t count = statement_fields(line, fields);
        if (count != width)
            return statement_fail(reader, "%u fields where the header has %u", count, width);
        status = csv_row(reader, fields, columns);
    }
    return status;
}

static enum status json_row(struct statement_reader *reader, const json_t *transaction)
{
    struct statement_row row = { 0 };
    uint64_t created;
    const json_t *source = json_object_get(transaction, "source");
    const struct span type = provider_json_text(transaction, "type");
    if (type.data == NULL)
        return statement_fail(reader, "transaction %u is malformed", reader->rows + 1);
    if (!kind_read(type, &row.kind))
        return STATUS_OK;
    if (!json_is_object(source))
        return statement_fail(reader, "sources are missing: export with expand[]=data.source");
    if (!currency_read(provider_json_text(source, "currency"), row.currency)
        || !provider_json_u64(source, "amount", &row.amount)
        || !provider_json_u64(transaction, "created", &created) || created > UINT32_MAX)
        return statement_fail(reader, "a transaction lacks amount, currency or created");
    row.time_ms = created * 1000;
    statement_reference(&row, provider_json_text(json_object_get(source, "metadata"), "reference"));
    return statement_give(reader, &row);
}

static enum status json_read(struct statement_reader *reader)
{
    json_t *file = json_loadb(reader->text.data, reader->text.size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *rows = json_is_array(file) ? file : json_object_get(file, "data");
    enum status status = STATUS_OK;
    if (!json_is_array(rows))
        status = statement_fail(reader, "not a list of balance transactions");
    else if (json_is_true(json_object_get(file, "has_more")))
        status = statement_fail(reader,
            "the list goes on (has_more): put the transactions of all pages into one array");
    for (size_t i = 0; i < json_array_size(rows) && status == STATUS_OK; i++)
        status = json_row(reader, json_array_get(rows, i));
    json_decref(file);
    return status;
}

enum status stripe_statement_read(struct statement_reader *reader)
{
    if (span_starts_with(reader->text, SPAN("\xef\xbb\xbf")))
        reader->text = span_of(reader->text.data + 3, reader->text.size - 3);
    const bool json =
        reader->text.size > 0 && (reader->text.data[0] == '{' || reader->text.data[0] == '[');
    return json ? json_read(reader) : csv_read(reader);
}
