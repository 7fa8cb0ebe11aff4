/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy.h"

#include "store/copy_table.h"
#include "store/parts.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_TEXT_MAX = 1024, TABLES_MAX = 64 };

/* Where a walk through a table has come to. */
struct key {
    bool some;
    uint64_t numbers[COPY_KEYS_MAX];
    char texts[COPY_KEYS_MAX][KEY_TEXT_MAX];
};

/* A walk, page by page. The page after a key is first looked for among the rows that have all columns of the
 * key but the last, then among those with one column less, and so on (store/copy_table.h). */
struct walk {
    const struct copy_table *table;
    uint32_t page;
    struct key key;
    uint32_t columns; /* of the key that the next page goes by */
    bool ended;
    struct sql_value room[2][COPY_KEYS_MAX + 1]; /* of the pages of two databases that are open */
};

static enum status failed(struct store_copy *copy, struct sql_connection *of,
    const struct copy_table *table, enum status status)
{
    if (status != STATUS_OK && copy->error[0] == 0)
        snprintf(copy->error, sizeof copy->error, "table %s (%s): %.150s", table->name,
            of->driver->name, of->driver->message(of));
    return status;
}

/* ---- rows ---- */

static struct sql_value value_of(const struct copy_table *table, struct sql_row *row, uint32_t at)
{
    const struct driver *driver = row->connection->driver;
    size_t bytes = 0;
    if (table->columns[at].kind == COPY_NUMBER)
        return U64(driver->number(row, (int)at));
    const void *data = driver->bytes(row, (int)at, &bytes);
    if (data == NULL)
        data = ""; /* no bytes; whether it is NULL is told beside it */
    return table->columns[at].kind == COPY_TEXT ? TEXT_OF(data, bytes) : BLOB(data, bytes);
}

static void row_read(const struct copy_table *table, struct sql_row *row, struct copy_row *values)
{
    values->count = table->column_count + table->null_count;
    for (uint32_t i = 0; i < table->column_count; i++)
        values->list[i] = value_of(table, row, i);
    for (uint32_t i = table->column_count; i < values->count; i++)
        values->list[i] = U64(row->connection->driver->number(row, (int)i));
}

static bool values_equal(const struct sql_value *a, const struct sql_value *b)
{
    return a->number == b->number && (a->kind == SQL_NUMBER || memcmp(a->data, b->data, a->number) == 0);
}

static void key_put(struct key *key, uint32_t at, const struct sql_value *value)
{
    key->numbers[at] = value->number;
    if (value->kind == SQL_NUMBER)
        return;
    invariant(value->number < KEY_TEXT_MAX);
    memcpy(key->texts[at], value->data, value->number);
}

static void key_of(const struct copy_table *table, const struct copy_row *values, struct key *key)
{
    key->some = true;
    for (uint32_t i = 0; i < table->key_count; i++)
        key_put(key, i, &values->list[table->keys[i]]);
}

/* One that begins after `key`, if there is some. */
static void walk_begin(struct walk *walk, const struct store_copy *copy, const struct copy_table *table)
{
    *walk = (struct walk){ .table = table, .page = copy->page };
}

static enum status page_open(
    struct walk *walk, struct sql_connection *of, uint32_t which, struct sql_row **row)
{
    const struct copy_table *table = walk->table;
    struct sql_value *room = walk->room[which];
    const uint32_t columns = walk->key.some ? walk->columns : 0;
    for (uint32_t i = 0; i < columns; i++)
        room[i] = table->columns[table->keys[i]].kind == COPY_NUMBER
            ? U64(walk->key.numbers[i])
            : TEXT_OF(walk->key.texts[i], walk->key.numbers[i]);
    room[columns] = U64(walk->page);
    return of->driver->query(of, columns == 0 ? table->first : table->next[columns - 1],
        (struct sql_values){ room, columns + 1 }, row);
}

/* The page had so many rows, and ended with this key. */
static void page_close(struct walk *walk, uint32_t rows, const struct key *last)
{
    const uint32_t columns = walk->key.some ? walk->columns : 1;
    if (rows > 0)
        walk->key = *last;
    walk->columns = rows == walk->page ? walk->table->key_count : columns - 1;
    walk->ended = walk->columns == 0;
}

/* ---- copying ---- */

/* The last key that is there already. */
static enum status key_find(struct sql_connection *of, const struct copy_table *table, struct key *key)
{
    struct sql_row *row;
    *key = (struct key){ 0 };
    enum status status = of->driver->query(of, table->last, NO_VALUES, &row);
    if (status != STATUS_OK)
        return status;
    status = of->driver->next(row);
    key->some = status == STATUS_OK;
    for (uint32_t i = 0; i < table->key_count && key->some; i++) {
        size_t bytes = 0;
        if (table->columns[table->keys[i]].kind == COPY_NUMBER) {
            key->numbers[i] = (uint64_t)of->driver->number(row, (int)i);
            continue;
        }
        const void *data = of->driver->bytes(row, (int)i, &bytes);
        key_put(key, i, &TEXT_OF(data == NULL ? "" : data, bytes));
    }
    of->driver->finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Inside of a transaction of `to`. */
static enum status page_copy(struct store_copy *copy, struct walk *walk, uint32_t *count)
{
    const struct copy_table *table = walk->table;
    struct copy_row values;
    struct sql_row *row;
    *count = 0;
    enum status status = page_open(walk, copy->from, 0, &row);
    if (status != STATUS_OK)
        return failed(copy, copy->from, table, status);
    struct key last = walk->key;
    while ((status = copy->from->driver->next(row)) == STATUS_OK) {
        row_read(table, row, &values);
        status = copy_rows_add(&copy->gathered, copy->to, table, &values);
        if (failed(copy, copy->to, table, status) != STATUS_OK)
            break;
        key_of(table, &values, &last);
        ++*count;
    }
    copy->from->driver->finish(row);
    if (status != STATUS_NOT_FOUND)
        return failed(copy, copy->from, table, status);
    page_close(walk, *count, &last);
    return failed(copy, copy->to, table, copy_rows_end(&copy->gathered, copy->to, table));
}

static enum status page_keep(struct store_copy *copy, struct walk *walk, uint32_t *count)
{
    struct sql_connection *to = copy->to;
    enum status status = to->driver->begin(to);
    if (status != STATUS_OK)
        return failed(copy, to, walk->table, status);
    status = page_copy(copy, walk, count);
    if (status == STATUS_OK)
        status = failed(copy, to, walk->table, to->driver->commit(to));
    if (status != STATUS_OK) {
        copy_rows_drop(&copy->gathered);
        to->driver->rollback(to);
    }
    return status;
}

static void page_tell(struct store_copy *copy, const struct copy_table *table, uint64_t rows)
{
    copy->rows += rows;
    if (copy->told != NULL && rows > 0)
        copy->told(copy->context, table->name, copy->rows);
}

static enum status counter_copy(struct store_copy *copy, const struct copy_table *table)
{
    uint64_t last = 0;
    if (!table->counts)
        return STATUS_OK;
    const enum status status = copy->from->driver->counter(copy->from, table->name, &last);
    if (status != STATUS_OK || last == 0)
        return failed(copy, copy->from, table, status);
    return failed(copy, copy->to, table, copy->to->driver->counter_lift(copy->to, table->name, last));
}

static enum status table_copy(struct store_copy *copy, const struct copy_table *table)
{
    struct walk walk;
    uint64_t found = 0;
    const uint64_t before = copy->rows;
    walk_begin(&walk, copy, table);
    enum status status = failed(copy, copy->to, table, key_find(copy->to, table, &walk.key));
    walk.columns = table->key_count;
    if (status == STATUS_OK)
        status = failed(copy, copy->to, table, sql_numbers_of(copy->to, table->count, &found, 1));
    copy->found += found;
    copy->rows += found;
    while (status == STATUS_OK && !walk.ended) {
        uint32_t count = 0;
        status = page_keep(copy, &walk, &count);
        if (status == STATUS_OK)
            page_tell(copy, table, count);
    }
    copy->tables += copy->rows > before;
    return status == STATUS_OK ? counter_copy(copy, table) : status;
}

/* ---- comparing ---- */

static enum status differs(struct store_copy *copy, const struct copy_table *table, uint64_t rows)
{
    snprintf(copy->error, sizeof copy->error,
        "table %s is not the same in both after %" PRIu64 " rows", table->name, rows);
    return STATUS_CONFLICT;
}

/* Two cursors, which stand on rows of the same number. */
static enum status rows_compare(struct store_copy *copy, const struct copy_table *table,
    struct sql_row *from, struct sql_row *to, struct key *key, uint64_t *rows)
{
    struct copy_row a, b;
    for (;;) {
        const enum status one = copy->from->driver->next(from), other = copy->to->driver->next(to);
        if (one != STATUS_OK && one != STATUS_NOT_FOUND)
            return failed(copy, copy->from, table, one);
        if (other != STATUS_OK && other != STATUS_NOT_FOUND)
            return failed(copy, copy->to, table, other);
        if (one != other)
            return differs(copy, table, *rows);
        if (one == STATUS_NOT_FOUND)
            return STATUS_OK;
        row_read(table, from, &a);
        row_read(table, to, &b);
        for (uint32_t i = 0; i < a.count; i++)
            if (!values_equal(&a.list[i], &b.list[i]))
                return differs(copy, table, *rows);
        key_of(table, &a, key);
        ++*rows;
    }
}

static enum status page_compare(struct store_copy *copy, struct walk *walk, uint64_t *rows)
{
    const struct copy_table *table = walk->table;
    struct key last = walk->key;
    const uint64_t before = *rows;
    struct sql_row *from, *to;
    enum status status = failed(copy, copy->from, table, page_open(walk, copy->from, 0, &from));
    if (status != STATUS_OK)
        return status;
    status = failed(copy, copy->to, table, page_open(walk, copy->to, 1, &to));
    if (status == STATUS_OK) {
        status = rows_compare(copy, table, from, to, &last, rows);
        copy->to->driver->finish(to);
    }
    copy->from->driver->finish(from);
    page_close(walk, (uint32_t)(*rows - before), &last);
    return status;
}

static enum status table_compare(struct store_copy *copy, const struct copy_table *table)
{
    struct walk walk;
    uint64_t rows = 0;
    enum status status = STATUS_OK;
    walk_begin(&walk, copy, table);
    while (status == STATUS_OK && !walk.ended) {
        const uint64_t before = rows;
        status = page_compare(copy, &walk, &rows);
        page_tell(copy, table, rows - before);
    }
    copy->tables += rows > 0;
    return status;
}

/* ---- all tables ---- */

/* What belongs to one database, and what each has from its beginning. */
static bool is_left_out(const char *name)
{
    static const char *const names[] = { "store_identity", "parts", "leases", "members",
        "journal_entries", "lot_numbers" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

enum status store_copy_open(struct store_copy *copy)
{
    struct copy_table *tables = copy->list = calloc(TABLES_MAX, sizeof *tables);
    copy->count = 0;
    copy->page = copy->page == 0 ? COPY_ROWS : copy->page;
    invariant(copy->page >= COPY_ROWS_MIN);
    if (copy_rows_open(&copy->gathered) != STATUS_OK || tables == NULL)
        return STATUS_AWAY;
    for (const char *const *text = store_tables; *text != NULL; text++) {
        struct span script = span_from_string(*text);
        while (copy_table_take(&script, &tables[copy->count], copy->page)) {
            copy->count += !is_left_out(tables[copy->count].name);
            invariant(copy->count < TABLES_MAX);
        }
    }
    return STATUS_OK;
}

void store_copy_close(struct store_copy *copy)
{
    copy_rows_close(&copy->gathered);
    free(copy->list);
    copy->list = NULL;
}

static enum status tables_each(
    struct store_copy *copy, enum status (*each)(struct store_copy *, const struct copy_table *))
{
    enum status status = STATUS_OK;
    copy->error[0] = 0;
    copy->rows = copy->found = copy->tables = 0;
    for (uint32_t i = 0; i < copy->count && status == STATUS_OK; i++)
        status = each(copy, &copy->list[i]);
    return status;
}

static enum status table_count(struct store_copy *copy, const struct copy_table *table)
{
    uint64_t rows = 0;
    const enum status status = sql_numbers_of(copy->to, table->count, &rows, 1);
    if (strcmp(table->name, "audit_head") != 0) /* its row is there from the beginning */
        copy->rows += rows;
    return failed(copy, copy->to, table, status);
}

enum status store_copy_look(struct store_copy *copy, bool *empty)
{
    const enum status status = tables_each(copy, table_count);
    *empty = status == STATUS_OK && copy->rows == 0;
    return status;
}

static enum status table_total(struct store_copy *copy, const struct copy_table *table)
{
    uint64_t rows = 0;
    const enum status status = sql_numbers_of(copy->from, table->count, &rows, 1);
    copy->total += rows;
    return failed(copy, copy->from, table, status);
}

enum status store_copy_count(struct store_copy *copy)
{
    copy->total = 0;
    return tables_each(copy, table_total);
}

enum status store_copy_run(struct store_copy *copy)
{
    return tables_each(copy, table_copy);
}

enum status store_copy_compare(struct store_copy *copy)
{
    return tables_each(copy, table_compare);
}
