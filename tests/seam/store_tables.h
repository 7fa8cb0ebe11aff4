/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/store_tables.h: the tables of the store, for suites that empty them between tests: making them
 * takes a server a third of a second. */
#ifndef STAMPEDE_TESTS_STORE_TABLES_H
#define STAMPEDE_TESTS_STORE_TABLES_H

#include <stdbool.h>
#include <stddef.h>

enum { STORE_TABLES_MAX = 64, STORE_TABLE_NAME_MAX = 32 };
struct store_table {
    char name[STORE_TABLE_NAME_MAX];
    bool counts; /* the database numbers its rows */
};
/* In the order in which they are made. */
size_t store_tables_list(struct store_table tables[STORE_TABLES_MAX]);
/* The script that empties all of them and sets their counters back. */
void store_tables_clear_postgres(char *sql, size_t bytes);
void store_tables_clear_mariadb(char *sql, size_t bytes);

#endif
