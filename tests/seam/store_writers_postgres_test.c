/* SPDX-License-Identifier: Apache-2.0 */
/* Several connections write at once to a PostgreSQL server, which tools/with-postgres starts. */
#include "store/postgres/postgres.h"
#include "tests/seam/store_server.h"
#include "tests/seam/store_writers.h"

static const struct store_server server = { "postgres", "STAMPEDE_TEST_POSTGRES", postgres_connect, NULL };

static struct order_store *open_next(void)
{
    static bool made;
    struct order_store *store = store_server_open(&server, !made);
    made = true;
    return store;
}

int main(int argc, char **argv)
{
    const struct writers_database database = { "postgres", 8, open_next };
    return store_server_is_there(&server) ? store_writers_run(&database, argc, argv) : 77;
}
