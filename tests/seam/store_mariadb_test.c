/* SPDX-License-Identifier: Apache-2.0 */
/* The store suite against a MariaDB server, which tools/with-mariadb starts. */
#include "store/mysql/mysql.h"
#include "tests/seam/store_server.h"
#include "tests/seam/store_tables.h"

int main(void)
{
    static const struct store_server server = { "mariadb", "STAMPEDE_TEST_MYSQL",
        mysql_store_connect, store_tables_clear_mariadb };
    return store_server_run(&server);
}
