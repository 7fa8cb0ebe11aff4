/* SPDX-License-Identifier: Apache-2.0 */
/* A MariaDB server whose answers are lost; tools/with-mariadb starts it. */
#include "store/mysql/mysql.h"
#include "tests/seam/store_lost_answers.h"
#include "tests/seam/store_tables.h"

int main(void)
{
    static const struct store_server server = { "mariadb", "STAMPEDE_TEST_MYSQL",
        mysql_store_connect, store_tables_clear_mariadb };
    return store_lost_answers_run(&server);
}
