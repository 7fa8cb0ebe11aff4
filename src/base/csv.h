/* SPDX-License-Identifier: Apache-2.0 */
/* base/csv.h: comma-separated values (RFC 4180): cells are written so that no spreadsheet runs them, and
 * lines are read strictly.
 * Threads: any. Memory: the caller's. */
#ifndef STAMPEDE_BASE_CSV_H
#define STAMPEDE_BASE_CSV_H

#include "base/status.h"
#include "base/text.h"

/* A cell in quotes where it needs them. One that begins with = + - @, a tab or a carriage return would be a
 * formula to a spreadsheet: an apostrophe is written before it. */
void csv_cell(struct text *out, struct span cell);
/* The same after a comma, unless it is the first of its line. */
void csv_next(struct text *out, struct span cell, bool *first);

/* Takes one record from *rest into cells of `cell_bytes` each, with a 0 after them; *rest moves behind it,
 * and *lines grows by the lines that it has. *count: how many cells it has. STATUS_NOT_FOUND: no more.
 * STATUS_BAD_INPUT: a quote is not closed or stands inside of a cell, there are more than `max` cells, a
 * cell is too long or has a zero byte; *rest moves behind its first line. */
MUST_CHECK enum status csv_record(struct span *rest, char *cells, size_t cell_bytes, uint32_t max,
    uint32_t *count, uint64_t *lines);

#endif
