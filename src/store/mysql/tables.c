/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts: forms 5, 6 and 8 of store/driver.h.
 *
 * What a column must fulfil (CHECK, REFERENCES) moves to the end of its table: MySQL does not read
 * REFERENCES beside a column and takes no CHECK there that names another column. A long text or
 * blob takes its DEFAULT in brackets only. A table says its engine, its character set and its
 * format of rows itself, so that the server's defaults do not matter.
 * A unique index that holds only where a condition does gets one more column, hidden from SELECT *
 * and INSERT without a list of columns: 1 where the condition holds, else NULL, which is equal to
 * nothing. It is stored, since indexes of columns that are not had many faults in both databases. */
#include "store/mysql/text.h"

#include "store/forms.h"

bool mysql_script_take(struct span *script, struct span *statement)
{
    *statement = span_trim(*script, SPAN(" \n\t"));
    if (statement->size == 0)
        return false;
    struct span rest = *statement, piece;
    do
        piece = mysql_piece_take(&rest);
    while (piece.size > 0 && !mysql_is(piece, ";"));
    invariant(piece.size > 0); /* each is ended by ";" */
    statement->size = (size_t)(piece.data - statement->data);
    *script = rest;
    return true;
}

/* Takes up to the next comma outside of brackets. */
static bool definition_take(struct span *list, struct span *definition)
{
    if (list->size == 0)
        return false;
    uint32_t depth = 0;
    *definition = (struct span){ list->data, 0 };
    for (struct span piece; (piece = mysql_piece_take(list)).size > 0;) {
        if (depth == 0 && mysql_is(piece, ","))
            return true;
        if (mysql_is(piece, "("))
            depth++;
        if (mysql_is(piece, ")"))
            depth--;
        definition->size += piece.size;
    }
    return true;
}

/* True: a long one. */
static bool type_add(struct text *out, struct span type, struct span *rest)
{
    static const struct {
        const char *ours, *sized, *other;
    } types[] = {
        { "INTEGER", NULL, "BIGINT" },
        { "TEXT", "VARCHAR(", "MEDIUMTEXT" },
        { "BLOB", "VARBINARY(", "MEDIUMBLOB" },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (mysql_is(type, types[i].ours)) {
            if (types[i].sized == NULL || !mysql_is(mysql_word_peek(*rest), "{")) {
                text_string(out, types[i].other);
                return types[i].sized != NULL;
            }
            text_string(out, types[i].sized);
            text_add(out, mysql_inner_take(rest));
            text_literal(out, ")");
            return false;
        }
    invariant(!"a column is INTEGER, TEXT or BLOB");
}

/* What it must fulfil goes into `rules`, each with `before` in front. */
static void column_add(struct text *out, struct span column, struct text *rules, const char *before)
{
    const struct span name = mysql_word_take(&column), type = mysql_word_take(&column);
    text_add(out, name);
    text_literal(out, " ");
    const bool is_long = type_add(out, type, &column);
    for (struct span piece; (piece = mysql_piece_take(&column)).size > 0;) {
        if (mysql_is(piece, "CHECK")) {
            text_string(rules, before);
            text_literal(rules, "CHECK(");
            mysql_plain_add(rules, mysql_inner_take(&column));
            text_literal(rules, ")");
        } else if (mysql_is(piece, "REFERENCES")) {
            const struct span table = mysql_word_take(&column), key = mysql_inner_take(&column);
            text_format(rules, "%sFOREIGN KEY(%.*s) REFERENCES %.*s(%.*s)", before, (int)name.size,
                name.data, (int)table.size, table.data, (int)key.size, key.data);
        } else if (mysql_is(piece, "DEFAULT")) {
            const struct span value = mysql_word_take(&column);
            text_string(out, is_long ? "DEFAULT (" : "DEFAULT ");
            text_add(out, value);
            text_string(out, is_long ? ")" : "");
        } else {
            text_add(out, mysql_is(piece, "AUTOINCREMENT") ? SPAN("AUTO_INCREMENT") : piece);
        }
    }
}

static bool is_rule_of_table(struct span definition)
{
    static const char *const words[] = { "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT" };
    const struct span first = mysql_word_peek(definition);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (mysql_is(first, words[i]))
            return true;
    return false;
}

/* After "CREATE TABLE". */
static void table_add(struct text *out, struct span rest, struct text *rules, const char *collation)
{
    const struct span table = mysql_word_take(&rest);
    struct span list = mysql_inner_take(&rest), definition;
    text_literal(out, "CREATE TABLE ");
    text_add(out, table);
    for (bool first = true; definition_take(&list, &definition); first = false) {
        text_string(out, first ? "(" : ", ");
        definition = span_trim(definition, SPAN(" \n\t"));
        if (is_rule_of_table(definition))
            mysql_plain_add(out, definition);
        else
            column_add(out, definition, rules, ", ");
    }
    text_add(out, text_span(rules));
    text_literal(out, ") ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE ");
    text_string(out, collation);
    for (struct span word; (word = mysql_word_take(&rest)).size > 0;)
        invariant(mysql_is(word, "STRICT") || mysql_is(word, "WITHOUT") || mysql_is(word, "ROWID")
            || mysql_is(word, ","));
}

static void index_once_add(
    struct text *out, struct span name, struct span table, struct span columns, struct span where)
{
    text_format(out, "ALTER TABLE %.*s ADD COLUMN %.*s_holds TINYINT GENERATED ALWAYS AS (CASE WHEN ",
        (int)table.size, table.data, (int)name.size, name.data);
    mysql_plain_add(out, where);
    text_format(out, " THEN 1 END) STORED INVISIBLE, ADD UNIQUE INDEX %.*s(%.*s, %.*s_holds)",
        (int)name.size, name.data, (int)columns.size, columns.data, (int)name.size, name.data);
}

/* After "INDEX". */
static void index_add(struct text *out, struct span rest, bool is_unique)
{
    const struct span name = mysql_word_take(&rest), on = mysql_word_take(&rest);
    const struct span table = mysql_word_take(&rest);
    struct span columns = mysql_inner_take(&rest), others = columns;
    invariant(mysql_is(on, "ON"));
    if (mysql_is(mysql_word_peek(rest), "{"))
        others = mysql_inner_take(&rest);
    const struct span where = mysql_word_take(&rest);
    invariant(where.size == 0 || mysql_is(where, "WHERE"));
    if (where.size > 0 && is_unique) {
        index_once_add(out, name, table, columns, span_trim(rest, SPAN(" \n\t")));
        return;
    }
    if (where.size > 0)
        columns = others;
    text_format(out, "CREATE %sINDEX %.*s ON %.*s(%.*s)", is_unique ? "UNIQUE " : "",
        (int)name.size, name.data, (int)table.size, table.data, (int)columns.size, columns.data);
}

/* Form 8, with the name that the server gave the CHECK. */
static void check_change_add(
    struct text *out, const struct check_change *change, const struct mysql_dialect *dialect)
{
    const int table = (int)change->table.size;
    text_format(out, "ALTER TABLE %.*s", table, change->table.data);
    for (int add = 0; add < 2; add++) {
        text_string(out, add ? ", ADD CONSTRAINT " : " DROP CONSTRAINT ");
        if (dialect->checks_by_table)
            text_format(out, "%.*s_chk_%u", table, change->table.data, change->number);
        else
            text_format(out, "CONSTRAINT_%u", change->number);
    }
    text_literal(out, " CHECK");
    mysql_plain_add(out, change->condition);
}

/* After "ALTER TABLE". */
static void alter_add(struct text *out, struct span rest, struct text *rules)
{
    const struct span table = mysql_word_take(&rest), add = mysql_word_take(&rest);
    const struct span column = mysql_word_take(&rest);
    text_format(out, "ALTER TABLE %.*s ", (int)table.size, table.data);
    if (!mysql_is(add, "ADD") || !mysql_is(column, "COLUMN")) {
        mysql_plain_add(out, span_of(add.data, (size_t)(rest.data + rest.size - add.data)));
        return;
    }
    text_literal(out, "ADD COLUMN ");
    column_add(out, span_trim(rest, SPAN(" \n\t")), rules, ", ADD ");
    text_add(out, text_span(rules));
}

void mysql_script_text(struct text *out, struct span statement, const struct mysql_dialect *dialect)
{
    char room[8192];
    struct text rules = text_in(room, sizeof room);
    struct span rest = statement;
    const struct span first = mysql_word_take(&rest), second = mysql_word_take(&rest);
    const bool is_unique = mysql_is(second, "UNIQUE");
    struct check_change change;
    if (check_change_read(statement, &change)) {
        check_change_add(out, &change, dialect);
    } else if (mysql_is(first, "CREATE") && mysql_is(second, "TABLE")) {
        table_add(out, rest, &rules, dialect->collation);
    } else if (mysql_is(first, "CREATE") && (is_unique || mysql_is(second, "INDEX"))) {
        if (is_unique)
            (void)mysql_word_take(&rest);
        index_add(out, rest, is_unique);
    } else if (mysql_is(first, "ALTER") && mysql_is(second, "TABLE")) {
        alter_add(out, rest, &rules);
    } else {
        struct mysql_text text = { .sql = *out }; /* no room for values: it has none */
        mysql_text_make(&text, statement);
        invariant(!text.returns_id);
        *out = text.sql;
    }
    invariant(!out->overflow && !rules.overflow);
}
