/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/schema_suite.h: `stampede store migrate` on a database server that tools/with-… has started:
 * killed after each change, from an older version, and beside what is not ours. */
#ifndef STAMPEDE_TESTS_SCHEMA_SUITE_H
#define STAMPEDE_TESTS_SCHEMA_SUITE_H

#include "store/driver.h"

struct schema_server {
    const char *name;     /* tools/with-NAME starts it */
    const char *variable; /* of the environment: its URL */
    enum status (*connect)(struct sql_connection **, const char *url, const char *password,
        char *error, size_t error_bytes);
    const char *clear;           /* the script that drops everything; a new connection follows */
    const char *const *describe; /* each answers lines; together they tell the tables of the store */
};

/* What main() answers; 77: there is no server. */
int schema_suite_run(const struct schema_server *which);

#endif
