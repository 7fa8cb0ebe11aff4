/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_print.c: answers for people. Columns are as wide as what is in them; numbers
 * stand right. */
#include "base/span.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/admin_parts.h"
#include "contract/currency.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS_MAX = 24, NAME_MAX_BYTES = 64, CELL_BYTES = 256, DEPTH_MAX = 8 };

struct column {
    char name[NAME_MAX_BYTES]; /* a path; its last part is the title */
    int width;
    bool numbers;
};

/* Control characters from a name or a title must not reach the terminal. */
static void clean(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != 0; at++)
        if (*at < 0x20 || *at == 0x7f)
            *at = ' ';
}

static void scalar_text(const char *name, const json_t *value, char out[CELL_BYTES])
{
    const bool moment = span_ends_with(span_from_string(name), SPAN("_ms"));
    out[0] = 0;
    if (json_is_string(value))
        snprintf(out, CELL_BYTES, "%s", json_string_value(value));
    else if (json_is_integer(value) && moment && json_integer_value(value) > INT64_C(100000000000))
        time_text_format_local((uint64_t)json_integer_value(value), out); /* smaller ones are durations */
    else if (json_is_integer(value))
        snprintf(out, CELL_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(out, CELL_BYTES, "%g", json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(out, CELL_BYTES, "%s", json_is_true(value) ? "yes" : "no");
    else if (json_is_null(value) || value == NULL)
        snprintf(out, CELL_BYTES, "-");
    clean(out);
}

/* An amount of money beside its currency: 99.00 instead of 9900. */
static bool money_text(const char *name, const json_t *value, const json_t *row, char out[CELL_BYTES])
{
    static const char names[] =
        "list_price flash_price unit_price amount captured revenue refunded";
    const char *currency = json_string_value(json_object_get(row, "currency"));
    struct span rest = SPAN(names), one;
    unsigned digits;
    if (currency == NULL || !json_is_integer(value) || json_integer_value(value) < 0
        || !currency_find(span_from_string(currency), &digits))
        return false;
    while (span_take_until(&rest, ' ', &one))
        if (span_equal(one, span_from_string(name))) {
            amount_format((uint64_t)json_integer_value(value), digits, out);
            return true;
        }
    return false;
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot == NULL ? path : dot + 1;
}

static void cell_text(const char *path, const json_t *value, const json_t *row, char out[CELL_BYTES])
{
    if (!money_text(last_part(path), value, row, out))
        scalar_text(path, value, out);
}

/* "counts.free" */
static const json_t *member_at(const json_t *row, const char *path, const json_t **holder)
{
    struct span rest = span_from_string(path), part;
    *holder = row;
    while (row != NULL && span_take_until(&rest, '.', &part)) {
        *holder = row;
        row = json_object_getn(row, part.data, part.size);
    }
    return row;
}

static int shown_width(const char *text) /* characters, not bytes; wide ones count as two */
{
    int width = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++)
        width += (*at & 0xc0) == 0x80 ? 0 : *at >= 0xe3 ? 2 : 1;
    return width;
}

static const char *column_title(const struct column *column)
{
    return last_part(column->name);
}

static bool column_measure(struct column *column, const json_t *rows)
{
    char cell[CELL_BYTES];
    bool there = false;
    column->width = shown_width(column_title(column));
    column->numbers = true;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *holder, *value = member_at(json_array_get(rows, i), column->name, &holder);
        if (value == NULL || json_is_object(value) || json_is_array(value))
            continue;
        cell_text(column->name, value, holder, cell);
        there = true;
        column->numbers &= json_is_integer(value) || json_is_null(value);
        if (shown_width(cell) > column->width)
            column->width = shown_width(cell);
    }
    return there;
}

static void column_add(struct column *columns, uint32_t *count, struct span name, const json_t *rows)
{
    if (*count == COLUMNS_MAX || name.size == 0 || name.size >= NAME_MAX_BYTES)
        return;
    struct column *column = &columns[*count];
    memcpy(column->name, name.data, name.size);
    column->name[name.size] = 0;
    if (column_measure(column, rows))
        ++*count;
}

static uint32_t columns_choose(struct column *columns, const char *wanted, const json_t *rows)
{
    uint32_t count = 0;
    struct span rest = span_from_string(wanted), name;
    while (span_take_until(&rest, ' ', &name))
        column_add(columns, &count, name, rows);
    if (count > 0)
        return count;
    void *first = json_object_iter(json_array_get(rows, 0)); /* what there is */
    for (; first != NULL; first = json_object_iter_next(json_array_get(rows, 0), first))
        column_add(columns, &count, span_from_string(json_object_iter_key(first)), rows);
    return count;
}

static void cell_print(const struct column *column, const char *text, bool last, FILE *out)
{
    const int spaces = column->width - shown_width(text);
    if (column->numbers)
        fprintf(out, "%*s%s", spaces, "", text);
    else
        fprintf(out, "%s%*s", text, last ? 0 : spaces, "");
    fputs(last ? "\n" : "  ", out);
}

static void table_print(const json_t *rows, const char *wanted, FILE *out)
{
    struct column columns[COLUMNS_MAX];
    if (json_array_size(rows) == 0) {
        fprintf(out, "(none)\n");
        return;
    }
    const uint32_t count = columns_choose(columns, wanted, rows);
    for (uint32_t i = 0; i < count; i++)
        cell_print(&columns[i], column_title(&columns[i]), i + 1 == count, out);
    for (size_t row = 0; row < json_array_size(rows); row++) {
        for (uint32_t i = 0; i < count; i++) {
            char cell[CELL_BYTES];
            const json_t *holder;
            const json_t *value = member_at(json_array_get(rows, row), columns[i].name, &holder);
            cell_text(columns[i].name, value, holder, cell);
            cell_print(&columns[i], cell, i + 1 == count, out);
        }
    }
}

static void lines_print(const char *name, json_t *value, const json_t *holder, int depth, FILE *out)
{
    char cell[CELL_BYTES];
    if (depth > DEPTH_MAX)
        return;
    if (json_is_array(value) && json_array_size(value) > 0) {
        fprintf(out, "%s:\n", name);
        if (json_is_object(json_array_get(value, 0))) {
            table_print(value, NULL, out);
            return;
        }
        for (size_t i = 0; i < json_array_size(value); i++) {
            scalar_text("", json_array_get(value, i), cell);
            fprintf(out, "  %s\n", cell);
        }
        return;
    }
    if (!json_is_object(value)) {
        cell_text(name, value, holder, cell);
        fprintf(out, "%s: %s\n", name, json_is_array(value) ? "-" : cell);
        return;
    }
    for (void *at = json_object_iter(value); at != NULL; at = json_object_iter_next(value, at)) {
        char path[CELL_BYTES];
        struct text text = text_in(path, sizeof path - 1);
        text_string(&text, name);
        text_string(&text, name[0] != 0 ? "." : "");
        text_string(&text, json_object_iter_key(at));
        path[text.size] = 0; /* what does not fit is left out */
        clean(path);
        lines_print(path, json_object_iter_value(at), value, depth + 1, out);
    }
}

json_t *admin_rows(json_t *answer)
{
    if (json_is_array(answer))
        return answer;
    for (void *at = json_object_iter(answer); at != NULL; at = json_object_iter_next(answer, at))
        if (json_is_array(json_object_iter_value(at)))
            return json_object_iter_value(at);
    return NULL;
}

void admin_print(json_t *answer, const char *columns, FILE *out)
{
    const json_t *rows = columns != NULL ? admin_rows(answer) : NULL;
    if (rows != NULL)
        table_print(rows, columns, out);
    else
        lines_print("", answer, NULL, 0, out);
}

void admin_print_problem(long status, const json_t *problem, FILE *out)
{
    char title[CELL_BYTES], detail[CELL_BYTES];
    if (!json_is_string(json_object_get(problem, "title"))) {
        fprintf(out, "stampede admin: the server answered %ld without saying why\n", status);
        return;
    }
    scalar_text("", json_object_get(problem, "title"), title);
    scalar_text("", json_object_get(problem, "detail"), detail);
    fprintf(out, "stampede admin: %s: %s (%ld)\n", title, detail, status);
}
