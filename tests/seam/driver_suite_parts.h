/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_suite_parts.h: what the files of the driver suite share. */
#ifndef STAMPEDE_TESTS_DRIVER_SUITE_PARTS_H
#define STAMPEDE_TESTS_DRIVER_SUITE_PARTS_H

#include "tests/seam/driver_suite.h"
#include "tests/unit/base/unit.h"

#include <string.h>

#define NUMBER(value) ((struct sql_value){ SQL_NUMBER, (uint64_t)(value), NULL })
#define WORDS(value) WORDS_OF((value), -1)
#define WORDS_OF(value, bytes) ((struct sql_value){ SQL_TEXT, (uint64_t)(bytes), (value) })
#define BYTES(value, bytes) ((struct sql_value){ SQL_BLOB, (bytes), (value) })
#define NO_VALUE WORDS(NULL)
#define GIVEN(...) \
    ((struct sql_values){ (const struct sql_value[]){ __VA_ARGS__ }, \
        sizeof((const struct sql_value[]){ __VA_ARGS__ }) / sizeof(struct sql_value) })
#define NONE_GIVEN ((struct sql_values){ NULL, 0 })

enum { SUITE_TRIES_MAX = 1000, SUITE_WAIT_US = 20000 }; /* for what must happen at last: 20 s */

struct driver_case {
    const struct driver_world *world;
    struct sql_connection *db; /* with empty tables */
};

/* To the end of its rows. An error may come from `query` or from `next`. Thread: any that owns the
 * connection. */
enum status suite_run(struct sql_connection *, const char *sql, struct sql_values);
void suite_do(struct sql_connection *, const char *sql, struct sql_values); /* must be STATUS_OK */
/* The first column of its only row. */
int64_t suite_number(struct sql_connection *, const char *sql, struct sql_values);
void suite_text(struct sql_connection *, const char *sql, struct sql_values, const char *expected);
struct sql_connection *suite_open(const struct driver_case *);
struct sql_connection *suite_reader(struct sql_connection *);
void suite_close(struct sql_connection *);
void suite_begin(struct sql_connection *);
void suite_commit(struct sql_connection *);
/* The statement fails with this status and kind of error, and says something about it. */
void suite_fails(struct sql_connection *, const char *sql, struct sql_values, enum status, enum sql_error);

extern const struct CMUnitTest driver_suite_values[], driver_suite_transactions[],
    driver_suite_several[];
extern const size_t driver_suite_values_count, driver_suite_transactions_count,
    driver_suite_several_count;
int driver_suite_setup(void **state);
int driver_suite_teardown(void **state);
#define SUITE_TEST(name) \
    cmocka_unit_test_setup_teardown(name, driver_suite_setup, driver_suite_teardown)

#endif
