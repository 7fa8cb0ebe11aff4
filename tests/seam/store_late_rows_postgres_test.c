/* SPDX-License-Identifier: Apache-2.0 */
/* A PostgreSQL server and rows that come between lock and read; tools/with-postgres starts it. */
#include "store/postgres/postgres.h"
#include "tests/seam/store_late_rows.h"
#include "tests/seam/store_tables.h"

int main(void)
{
    static const struct store_server server = { "postgres", "STAMPEDE_TEST_POSTGRES",
        postgres_connect, store_tables_clear_postgres };
    return store_late_rows_run(&server);
}
