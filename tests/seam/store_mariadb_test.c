/* SPDX-License-Identifier: Apache-2.0 */
/* The store suite against a MariaDB server, which tools/with-mariadb starts. */
#include "store/mysql/mysql.h"
#include "tests/seam/store_server.h"
#include "tests/seam/store_tables.h"

#include <stdio.h>

static void clear_text(char *sql, size_t bytes)
{
    struct store_table tables[STORE_TABLES_MAX];
    int used = 0;
    for (size_t i = store_tables_list(tables); i-- > 0;) {
        used += snprintf(sql + used, bytes - (size_t)used, "DELETE FROM %s;", tables[i].name);
        if (tables[i].counts)
            used += snprintf(sql + used, bytes - (size_t)used, "ALTER TABLE %s AUTO_INCREMENT = 1;",
                tables[i].name);
    }
}

int main(void)
{
    static const struct store_server server = { "mariadb", "STAMPEDE_TEST_MYSQL",
        mysql_store_connect, clear_text };
    return store_server_run(&server);
}
