/* SPDX-License-Identifier: Apache-2.0 */
/* payment/statement.h: reads a provider's statement: Alipay's and WeChat Pay's bills (CSV, as
 * downloaded and unpacked), Stripe's balance transactions (CSV export or JSON), the sandbox's own
 * books. A reader per provider; each is strict: a file that is cut, of another kind, or has one row
 * that can't be understood is refused as a whole.
 * Thread: any. Memory: none but what Stripe's JSON takes. */
#ifndef STAMPEDE_PAYMENT_STATEMENT_H
#define STAMPEDE_PAYMENT_STATEMENT_H

#include "base/span.h"
#include "contract/statement.h"

enum { STATEMENT_ERROR = 200, STATEMENT_COLUMNS_MAX = 96 };

typedef bool (*statement_take)(void *context, const struct statement_row *row); /* false: stop */

struct statement_reader {
    struct span text; /* what is left to read */
    statement_take take;
    void *context;
    uint32_t line;           /* of the file, from 1; 0: it has no lines */
    uint32_t rows;           /* given to `take` */
    uint64_t from_ms, to_ms; /* what the file covers, as it says itself, else as its rows do */
    bool period_said;
    char error[STATEMENT_ERROR];
};

/* STATUS_NOT_FOUND: no reader for this provider. STATUS_BAD_INPUT: reader->error and line say what
 * is wrong. STATUS_FULL: `take` has stopped it. The caller fills text, take and context. */
MUST_CHECK enum status statement_read(const char *provider, struct statement_reader *reader);

/* ---- for the readers ---- */

/* The next line, without its end; `quoted`: quotes may hold line ends. False: there is none. */
bool statement_line(struct statement_reader *reader, bool quoted, struct span *line);
/* Splits at commas (quoted fields as RFC 4180 has them, without their outer quotes); 0: too many. */
uint32_t statement_fields(struct span line, struct span fields[STATEMENT_COLUMNS_MAX]);
/* Without spaces and tabs around it. */
struct span statement_trim(struct span text);
/* The columns that a bill must have, then those that it may have, each with its names. */
enum { STATEMENT_NAMES_MAX = 5 };
struct statement_header {
    const char *hint; /* for the user whose file lacks one */
    uint32_t needed, count;
    const char *const (*names)[STATEMENT_NAMES_MAX]; /* each ends with NULL */
};
/* Where they are in the header line; -1: not there. */
MUST_CHECK enum status statement_columns(struct statement_reader *reader,
    const struct statement_header *header, const struct span *fields, uint32_t count, int *columns);
/* "12.34", "-12.34", "12" → minor units without the sign. */
MUST_CHECK enum status statement_amount(struct span text, struct span currency, uint64_t *minor);
MUST_CHECK enum status statement_fail(struct statement_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Hands a row on; keeps count and period. */
MUST_CHECK enum status statement_give(struct statement_reader *reader, const struct statement_row *row);
/* A reference that fits and is printable; else "" (it is none of ours). */
void statement_reference(struct statement_row *row, struct span reference);

MUST_CHECK enum status alipay_statement_read(struct statement_reader *reader);
MUST_CHECK enum status wechat_statement_read(struct statement_reader *reader);
MUST_CHECK enum status stripe_statement_read(struct statement_reader *reader);
MUST_CHECK enum status sandbox_statement_read(struct statement_reader *reader);

#endif
