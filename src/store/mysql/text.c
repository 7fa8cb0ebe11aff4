/* SPDX-License-Identifier: Apache-2.0 */
/* Statements with values: forms 1 to 4 of store/driver.h.
 *
 * "?1" becomes "?": the place tells which value it is, so one that is used twice is sent twice.
 * "ON CONFLICT(a) DO NOTHING" sets the key to what it is: no row counts as changed then. INSERT
 * IGNORE would also swallow other errors. excluded.a is VALUES(a), which both databases know.
 * length() counts bytes here, char_length() characters (and bytes of a blob), as the other
 * databases do. */
#include "store/mysql/text.h"

#include <ctype.h>

size_t mysql_text_room(size_t bytes)
{
    return 3 * bytes + 512; /* "BLOB," is "MEDIUMBLOB,"; a DEFAULT gets brackets; the end of a table */
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t string_bytes(struct span rest)
{
    for (size_t i = 1; i < rest.size; i++)
        if (rest.data[i] == '\'') {
            if (i + 1 == rest.size || rest.data[i + 1] != '\'')
                return i + 1;
            i++;
        }
    invariant(!"a string of a statement has no end");
}

static size_t piece_bytes(struct span rest)
{
    size_t bytes = 1;
    if (rest.data[0] == '\'')
        return string_bytes(rest);
    if (is_word(rest.data[0]) || rest.data[0] == '?')
        while (bytes < rest.size && is_word(rest.data[bytes]))
            bytes++;
    else if (isspace((unsigned char)rest.data[0]))
        while (bytes < rest.size && isspace((unsigned char)rest.data[bytes]))
            bytes++;
    return bytes;
}

struct span mysql_piece_take(struct span *rest)
{
    const struct span piece = { rest->data, rest->size == 0 ? 0 : piece_bytes(*rest) };
    rest->data += piece.size;
    rest->size -= piece.size;
    return piece;
}

struct span mysql_word_take(struct span *rest)
{
    const struct span piece = mysql_piece_take(rest);
    return piece.size > 0 && isspace((unsigned char)piece.data[0]) ? mysql_piece_take(rest) : piece;
}

struct span mysql_word_peek(struct span rest)
{
    return mysql_word_take(&rest);
}

bool mysql_is(struct span piece, const char *word)
{
    return span_equal(piece, span_from_string(word));
}

struct span mysql_inner_take(struct span *rest)
{
    const struct span opening = mysql_word_take(rest);
    invariant(mysql_is(opening, "(") || mysql_is(opening, "{"));
    const char *const closing = mysql_is(opening, "(") ? ")" : "}";
    struct span inner = { rest->data, 0 };
    for (uint32_t depth = 1;;) {
        const struct span piece = mysql_piece_take(rest);
        invariant(piece.size > 0);
        if (span_equal(piece, opening))
            depth++;
        if (mysql_is(piece, closing) && --depth == 0)
            break;
        inner.size += piece.size;
    }
    return inner;
}

static bool is_length(struct span piece, struct span rest)
{
    return mysql_is(piece, "length") && rest.size > 0 && rest.data[0] == '(';
}

void mysql_plain_add(struct text *out, struct span sql)
{
    for (struct span piece; (piece = mysql_piece_take(&sql)).size > 0;) {
        while (mysql_is(piece, "[")) { /* for databases with lots */
            while (!mysql_is(piece, "]"))
                piece = mysql_piece_take(&sql);
            piece = mysql_piece_take(&sql);
        }
        text_add(out, is_length(piece, sql) ? SPAN("char_length") : piece);
    }
}

static void value_add(struct mysql_text *text, struct span piece)
{
    uint32_t number = 0;
    const enum status status = span_to_u32(span_of(piece.data + 1, piece.size - 1), &number);
    invariant(status == STATUS_OK && number > 0 && number <= MYSQL_PARAMETERS_MAX);
    invariant(text->order != NULL && text->parameters < MYSQL_PARAMETERS_MAX);
    text->order[text->parameters++] = (uint16_t)(number - 1);
    if (text->values < number)
        text->values = number;
    text_literal(&text->sql, "?");
}

/* Where an INSERT goes, and its first column. */
struct into {
    struct span table, column;
};

static struct into into_read(struct span rest)
{
    struct into into = { .table = mysql_word_take(&rest) };
    if (mysql_is(mysql_word_peek(rest), "(")) {
        struct span columns = mysql_inner_take(&rest);
        into.column = mysql_word_take(&columns);
    }
    return into;
}

/* After "ON CONFLICT". */
static void conflict_add(struct mysql_text *text, struct span *rest, struct into into)
{
    struct span column = into.column;
    if (mysql_is(mysql_word_peek(*rest), "(")) {
        struct span columns = mysql_inner_take(rest);
        column = mysql_word_take(&columns);
    }
    const struct span go = mysql_word_take(rest), action = mysql_word_take(rest);
    invariant(column.size > 0 && mysql_is(go, "DO"));
    text_literal(&text->sql, "ON DUPLICATE KEY UPDATE");
    if (mysql_is(action, "NOTHING")) {
        text_format(&text->sql, " %.*s = %.*s.%.*s", (int)column.size, column.data,
            (int)into.table.size, into.table.data, (int)column.size, column.data);
        return;
    }
    const struct span set = mysql_word_take(rest);
    invariant(mysql_is(action, "UPDATE") && mysql_is(set, "SET"));
    text->is_upsert = true;
}

static void excluded_add(struct mysql_text *text, struct span *rest)
{
    const struct span dot = mysql_piece_take(rest), column = mysql_piece_take(rest);
    invariant(mysql_is(dot, "."));
    text_literal(&text->sql, "VALUES(");
    text_add(&text->sql, column);
    text_literal(&text->sql, ")");
}

void mysql_text_make(struct mysql_text *text, struct span sql)
{
    struct into into = { SPAN_NONE, SPAN_NONE };
    text->parameters = text->values = 0;
    text->is_upsert = text->returns_id = false;
    for (struct span piece; (piece = mysql_piece_take(&sql)).size > 0;) {
        if (piece.data[0] == '?') {
            value_add(text, piece);
        } else if (mysql_is(piece, "ON") && mysql_is(mysql_word_peek(sql), "CONFLICT")) {
            (void)mysql_word_take(&sql);
            conflict_add(text, &sql, into);
        } else if (mysql_is(piece, "excluded")) {
            excluded_add(text, &sql);
        } else if (mysql_is(piece, "RETURNING")) {
            const struct span id = mysql_word_take(&sql), end = mysql_word_take(&sql);
            invariant(mysql_is(id, "id") && end.size == 0);
            text->returns_id = true;
        } else {
            if (mysql_is(piece, "INTO"))
                into = into_read(sql);
            text_add(&text->sql, is_length(piece, sql) ? SPAN("char_length") : piece);
        }
    }
    invariant(!text->sql.overflow);
}
