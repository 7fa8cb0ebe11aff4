/* SPDX-License-Identifier: Apache-2.0 */
/* Our own CREATE texts only (store/driver.h, form 5): what does not fit is a bug of the text. */
#include "store/copy_table.h"

#include "base/text.h"
#include "store/driver.h"

#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

static bool has_words(struct span text, const char *words)
{
    return memmem(text.data, text.size, words, strlen(words)) != NULL;
}

static void name_put(char name[COPY_NAME_MAX + 1], struct span word)
{
    invariant(word.size > 0 && word.size <= COPY_NAME_MAX);
    memcpy(name, word.data, word.size);
    name[word.size] = 0;
}

/* How many bytes there are before the `end` that stands in no parentheses and no quotes. */
static size_t bytes_before(struct span text, char end)
{
    int depth = 0;
    bool is_quoted = false;
    size_t i = 0;
    for (; i < text.size; i++) {
        const char c = text.data[i];
        if (!is_quoted && depth == 0 && (c == end || c == ')'))
            break;
        is_quoted ^= c == '\'';
        depth += is_quoted ? 0 : (c == '(') - (c == ')');
    }
    return i;
}

static uint32_t column_find(const struct copy_table *table, struct span name)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        if (span_equal(span_from_string(table->columns[i].name), name))
            return i;
    invariant(!"a key without its column");
    return 0;
}

static void key_add(struct copy_table *table, uint32_t column)
{
    invariant(table->key_count < COPY_KEYS_MAX);
    table->keys[table->key_count++] = column;
}

static void keys_read(struct copy_table *table, struct span list)
{
    list.size = bytes_before(list, ')');
    for (struct span name; list.size > 0;) {
        if (!span_take_until(&list, ',', &name)) {
            name = list;
            list = SPAN_NONE;
        }
        key_add(table, column_find(table, span_trim(name, SPAN(" "))));
    }
}

static void column_read(struct copy_table *table, struct span text)
{
    struct span rest = text, name = SPAN_NONE;
    invariant(table->column_count < COPY_COLUMNS_MAX && span_take_until(&rest, ' ', &name));
    rest = span_trim(rest, SPAN(" "));
    struct copy_column *column = &table->columns[table->column_count++];
    name_put(column->name, name);
    column->kind = span_starts_with(rest, SPAN("INTEGER")) ? COPY_NUMBER
        : span_starts_with(rest, SPAN("TEXT"))             ? COPY_TEXT
                                                           : COPY_BLOB;
    invariant(column->kind != COPY_BLOB || span_starts_with(rest, SPAN("BLOB")));
    const bool is_key = has_words(rest, "PRIMARY KEY");
    if (is_key)
        key_add(table, table->column_count - 1);
    table->counts |= has_words(rest, "AUTOINCREMENT");
    column->may_be_null = !is_key && !has_words(rest, "NOT NULL");
    table->null_count += column->may_be_null;
}

static void definition_read(struct copy_table *table, struct span text)
{
    static const char primary[] = "PRIMARY KEY(";
    if (span_starts_with(text, SPAN(primary)))
        keys_read(table, span_of(text.data + sizeof primary - 1, text.size - (sizeof primary - 1)));
    else if (!span_starts_with(text, SPAN("UNIQUE(")) && !span_starts_with(text, SPAN("CHECK(")))
        column_read(table, text);
}

/* ---- statements ---- */

static void text_end(struct text *sql)
{
    text_add(sql, span_of("", 1));
    invariant(!sql->overflow);
}

static void columns_put(struct text *sql, const struct copy_table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        text_format(sql, "%s%s", i == 0 ? "" : ", ", table->columns[i].name);
}

static void keys_put(struct text *sql, const struct copy_table *table, const char *after)
{
    for (uint32_t i = 0; i < table->key_count; i++)
        text_format(sql, "%s%s%s", i == 0 ? "" : ", ", table->columns[table->keys[i]].name, after);
}

/* a = ?1 AND b > ?2, for two columns */
static void after_put(struct text *sql, const struct copy_table *table, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++)
        text_format(sql, "%s%s %s ?%u", i == 0 ? " WHERE " : " AND ",
            table->columns[table->keys[i]].name, i + 1 < columns ? "=" : ">", i + 1);
}

/* after: so many columns of the key are given; 0: from the beginning. */
static void select_make(char *bytes, const struct copy_table *table, uint32_t after)
{
    struct text sql = text_in(bytes, COPY_SQL_BYTES);
    text_literal(&sql, "SELECT ");
    columns_put(&sql, table);
    for (uint32_t i = 0; i < table->column_count; i++)
        if (table->columns[i].may_be_null)
            text_format(&sql, ", CASE WHEN %s IS NULL THEN 1 ELSE 0 END", table->columns[i].name);
    text_format(&sql, " FROM %s", table->name);
    after_put(&sql, table, after);
    text_literal(&sql, " ORDER BY ");
    keys_put(&sql, table, "");
    text_format(&sql, " LIMIT ?%u", after + 1);
    text_end(&sql);
}

/* A value that may be NULL is two: the value, and behind all columns whether it is NULL. `before`: values of
 * the rows before this one. */
static void row_put(struct text *sql, const struct copy_table *table, uint32_t before)
{
    uint32_t null_at = before + table->column_count;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct copy_column *column = &table->columns[i];
        text_string(sql, i == 0 ? "(" : ", ");
        if (column->may_be_null)
            text_format(sql, "CASE WHEN ?%u = 1 THEN NULL ELSE ?%u END", ++null_at, before + i + 1);
        else
            text_format(sql, "?%u", before + i + 1);
    }
    text_literal(sql, ")");
}

static void insert_make(struct text sql, const struct copy_table *table, uint32_t rows)
{
    text_format(&sql, "INSERT INTO %s(", table->name);
    columns_put(&sql, table);
    text_literal(&sql, ") VALUES");
    for (uint32_t i = 0; i < rows; i++) {
        text_string(&sql, i == 0 ? "" : ", ");
        row_put(&sql, table, i * (table->column_count + table->null_count));
    }
    text_end(&sql);
}

/* At least two statements of a page are of many rows, so that a small page tries them, too. */
static uint32_t many_rows(const struct copy_table *table, uint32_t page)
{
    const uint32_t most = SQL_VALUES_MAX / (table->column_count + table->null_count);
    const uint32_t rows = most < COPY_MANY_ROWS ? most : COPY_MANY_ROWS;
    return rows < page / 2 ? rows : page / 2;
}

static void statements_make(struct copy_table *table, uint32_t page)
{
    struct text last = text_in(table->last, sizeof table->last);
    select_make(table->first, table, 0);
    for (uint32_t i = 0; i < table->key_count; i++)
        select_make(table->next[i], table, i + 1);
    table->many_rows = many_rows(table, page);
    insert_make(text_in(table->insert, sizeof table->insert), table, 1);
    insert_make(text_in(table->many, sizeof table->many), table, table->many_rows);
    text_literal(&last, "SELECT ");
    keys_put(&last, table, "");
    text_format(&last, " FROM %s ORDER BY ", table->name);
    keys_put(&last, table, " DESC");
    text_literal(&last, " LIMIT 1");
    text_end(&last);
    snprintf(table->count, sizeof table->count, "SELECT count(*) FROM %s", table->name);
}

bool copy_table_take(struct span *script, struct copy_table *table, uint32_t page)
{
    static const char create[] = "CREATE TABLE ";
    struct span name;
    const char *at = memmem(script->data, script->size, create, sizeof create - 1);
    if (at == NULL)
        return false;
    at += sizeof create - 1;
    struct span rest = span_of(at, script->size - (size_t)(at - script->data));
    memset(table, 0, sizeof *table);
    invariant(span_take_until(&rest, '(', &name));
    name_put(table->name, name);
    for (bool more = true; more;) {
        const size_t bytes = bytes_before(rest, ',');
        invariant(bytes < rest.size);
        definition_read(table, span_trim(span_of(rest.data, bytes), SPAN(" ")));
        more = rest.data[bytes] == ',';
        rest = span_of(rest.data + bytes + 1, rest.size - bytes - 1);
    }
    invariant(table->key_count > 0 && table->column_count > 0);
    *script = rest;
    statements_make(table, page);
    return true;
}
