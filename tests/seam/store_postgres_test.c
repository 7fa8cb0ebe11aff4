/* SPDX-License-Identifier: Apache-2.0 */
/* The store suite against a PostgreSQL server, which tools/with-postgres starts. */
#include "store/postgres/postgres.h"
#include "tests/seam/store_server.h"
#include "tests/seam/store_tables.h"

int main(void)
{
    static const struct store_server server = { "postgres", "STAMPEDE_TEST_POSTGRES",
        postgres_connect, store_tables_clear_postgres };
    return store_server_run(&server);
}
