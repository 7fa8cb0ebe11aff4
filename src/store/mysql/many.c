/* SPDX-License-Identifier: Apache-2.0 */
/* store/mysql/many.c: rows of numbers by one statement with a list of VALUES. */
#include "store/mysql/parts.h"

#include "base/span.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_CHARS = sizeof "-9223372036854775808,()" };

/* The first column of "INSERT INTO table(a, b)". */
static struct span first_column(const char *head)
{
    const char *name = strchr(head, '(');
    invariant(name != NULL);
    name++;
    return span_of(name, strcspn(name, ",)"));
}

static void rows_put(struct text *text, const uint64_t *numbers, uint32_t columns, uint32_t rows)
{
    for (uint32_t row = 0; row < rows; row++) {
        text_string(text, row == 0 ? " VALUES(" : ",(");
        for (uint32_t i = 0; i < columns; i++)
            text_format(text, "%s%" PRId64, i == 0 ? "" : ",", (int64_t)numbers[row * columns + i]);
        text_literal(text, ")");
    }
}

enum status mysql_insert_many(struct sql_connection *handle, const char *head,
    const uint64_t *numbers, uint32_t columns, uint32_t rows)
{
    struct mysql_connection *connection = mysql_of(handle);
    const struct span key = first_column(head);
    const size_t room = 2 * strlen(head) + 64 + rows * (columns * (size_t)NUMBER_CHARS + 8);
    invariant(connection->is_begun);
    if (connection->is_given_up || connection->spoiled != STATUS_OK)
        return connection->is_given_up ? STATUS_AWAY : connection->spoiled;
    char *sql = malloc(room);
    if (sql == NULL)
        return mysql_failed_here(connection, SQL_ERROR_AWAY, "out of memory");
    struct text text = text_in(sql, room);
    text_string(&text, head);
    rows_put(&text, numbers, columns, rows);
    text_literal(&text, " ON DUPLICATE KEY UPDATE ");
    text_add(&text, key);
    text_literal(&text, " = ");
    text_add(&text, key);
    invariant(!text.overflow);
    const enum status status = mysql_session_do(connection, text.data, text.size);
    if (status == STATUS_OK) /* a row that was there counts 0 */
        connection->matched = (uint32_t)mysql_affected_rows(connection->mysql);
    free(sql);
    return status;
}
