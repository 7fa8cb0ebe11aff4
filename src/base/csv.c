/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include <string.h>

static bool is_formula(struct span cell)
{
    return cell.size > 0 && memchr("=+-@\t\r", cell.data[0], 6) != NULL;
}

static bool needs_quotes(struct span cell)
{
    for (size_t i = 0; i < cell.size; i++)
        if (memchr(",\"\r\n", cell.data[i], 4) != NULL)
            return true;
    return cell.size > 0 && (cell.data[0] == ' ' || cell.data[cell.size - 1] == ' ');
}

void csv_cell(struct text *out, struct span cell)
{
    const bool quoted = needs_quotes(cell);
    if (quoted)
        text_literal(out, "\"");
    if (is_formula(cell))
        text_literal(out, "'");
    for (size_t i = 0; i < cell.size; i++) {
        if (cell.data[i] == '"')
            text_literal(out, "\"");
        text_add(out, span_of(cell.data + i, 1));
    }
    if (quoted)
        text_literal(out, "\"");
}

void csv_next(struct text *out, struct span cell, bool *first)
{
    if (!*first)
        text_literal(out, ",");
    *first = false;
    csv_cell(out, cell);
}

/* ---- reading ---- */

struct reader {
    const char *at, *end;
    uint64_t lines;
};

/* False: it does not fit, or has a zero byte. */
static bool byte_put(char byte, char *cell, size_t cell_bytes, size_t *size)
{
    if (byte == 0 || *size + 1 >= cell_bytes)
        return false;
    cell[(*size)++] = byte;
    return true;
}

static bool at_end_of_cell(const struct reader *reader)
{
    return reader->at == reader->end || *reader->at == ',' || *reader->at == '\n'
        || (*reader->at == '\r' && reader->at + 1 < reader->end && reader->at[1] == '\n');
}

static bool quoted_take(struct reader *reader, char *cell, size_t cell_bytes, size_t *size)
{
    for (reader->at++; reader->at < reader->end; reader->at++) {
        if (*reader->at == '"') {
            if (reader->at + 1 == reader->end || reader->at[1] != '"') {
                reader->at++;
                return at_end_of_cell(reader);
            }
            reader->at++;
        }
        reader->lines += *reader->at == '\n';
        if (!byte_put(*reader->at, cell, cell_bytes, size))
            return false;
    }
    return false; /* the quote is not closed */
}

static bool cell_take(struct reader *reader, char *cell, size_t cell_bytes)
{
    size_t size = 0;
    bool good = true;
    if (reader->at < reader->end && *reader->at == '"') {
        good = quoted_take(reader, cell, cell_bytes, &size);
    } else {
        for (; good && !at_end_of_cell(reader); reader->at++)
            good = *reader->at != '"' && byte_put(*reader->at, cell, cell_bytes, &size);
    }
    cell[good ? size : 0] = 0;
    return good;
}

static void line_end_skip(struct reader *reader)
{
    if (reader->at < reader->end && *reader->at == '\r')
        reader->at++;
    if (reader->at < reader->end) {
        reader->at++;
        reader->lines++;
    } else {
        reader->lines++; /* the last line has no end */
    }
}

enum status csv_record(struct span *rest, char *cells, size_t cell_bytes, uint32_t max,
    uint32_t *count, uint64_t *lines)
{
    struct reader reader = { rest->data, rest->data + rest->size, 0 };
    bool good = true, more = true;
    *count = 0;
    if (rest->size == 0)
        return STATUS_NOT_FOUND;
    while (more && good) {
        good = *count < max && cell_take(&reader, cells + *count * cell_bytes, cell_bytes);
        *count += good;
        more = good && reader.at < reader.end && *reader.at == ',';
        reader.at += more;
    }
    if (!good) {
        /* An open quote would take all that follows: the next record begins with the next line. */
        const char *end = memchr(rest->data, '\n', rest->size);
        reader.at = end != NULL ? end : reader.end;
        reader.lines = 0;
    }
    line_end_skip(&reader);
    *lines += reader.lines;
    *rest = span_of(reader.at, (size_t)(reader.end - reader.at));
    return good ? STATUS_OK : STATUS_BAD_INPUT;
}
