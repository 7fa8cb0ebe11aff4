/* SPDX-License-Identifier: Apache-2.0 */
/* The store suite against a PostgreSQL server, which tools/with-postgres starts. */
#include "store/postgres/postgres.h"
#include "tests/seam/store_server.h"
#include "tests/seam/store_tables.h"

#include <stdio.h>

static void clear_text(char *sql, size_t bytes)
{
    struct store_table tables[STORE_TABLES_MAX];
    const size_t count = store_tables_list(tables);
    int used = snprintf(sql, bytes, "TRUNCATE %s", tables[0].name);
    for (size_t i = 1; i < count; i++)
        used += snprintf(sql + used, bytes - (size_t)used, ", %s", tables[i].name);
    snprintf(sql + used, bytes - (size_t)used, " RESTART IDENTITY CASCADE;");
}

int main(void)
{
    static const struct store_server server = { "postgres", "STAMPEDE_TEST_POSTGRES",
        postgres_connect, clear_text };
    return store_server_run(&server);
}
