/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/payment/statement_kit.h: reads a statement from a string and keeps its rows. For one test
 * file at a time: everything is its own copy. */
#ifndef STAMPEDE_TESTS_STATEMENT_KIT_H
#define STAMPEDE_TESTS_STATEMENT_KIT_H

#include "payment/statement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS_KEPT = 8 };
static struct statement_row kept[ROWS_KEPT];
static struct statement_reader reader;

static inline bool row_keep(void *context, const struct statement_row *row)
{
    (void)context;
    assert_true(reader.rows <= ROWS_KEPT);
    kept[reader.rows - 1] = *row;
    return true;
}

static inline enum status statement_of(const char *provider, struct span text)
{
    memset(kept, 0, sizeof kept);
    reader = (struct statement_reader){ .text = text, .take = row_keep };
    return statement_read(provider, &reader);
}

static inline void row_is(uint32_t at, enum statement_kind kind, const char *reference,
    uint64_t amount, const char *currency, uint64_t time_ms)
{
    assert_true(at < reader.rows);
    assert_int_equal(kept[at].kind, kind);
    assert_string_equal(kept[at].reference, reference);
    assert_int_equal(kept[at].amount, amount);
    assert_string_equal(kept[at].currency, currency);
    assert_int_equal(kept[at].time_ms, time_ms);
}

/* Refused at this line with these words. */
static inline void refused(const char *provider, const char *text, uint32_t line, const char *words)
{
    assert_int_equal(statement_of(provider, span_from_string(text)), STATUS_BAD_INPUT);
    if (strstr(reader.error, words) == NULL)
        fail_msg("said \"%s\", wanted \"%s\"", reader.error, words);
    assert_int_equal(reader.line, line);
}

#endif
