/* SPDX-License-Identifier: Apache-2.0 */
/* A MariaDB server and rows that come between lock and read; tools/with-mariadb starts it. */
#include "store/mysql/mysql.h"
#include "tests/seam/store_late_rows.h"
#include "tests/seam/store_tables.h"

int main(void)
{
    static const struct store_server server = { "mariadb", "STAMPEDE_TEST_MYSQL",
        mysql_store_connect, store_tables_clear_mariadb };
    return store_late_rows_run(&server);
}
