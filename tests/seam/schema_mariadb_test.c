/* SPDX-License-Identifier: Apache-2.0 */
/* The schema suite against a MariaDB server, which tools/with-mariadb starts. */
#include "store/mysql/mysql.h"
#include "tests/seam/schema_suite.h"

#include <stddef.h>

/* The place of a column among those that a statement without names sees: hidden ones, which stand in for
 * partial indexes, may lie between. */
static const char columns[] =
    "SELECT concat_ws(' ', table_name, column_name, row_number() OVER (PARTITION BY table_name,"
    " extra LIKE '%INVISIBLE%' ORDER BY ordinal_position), column_type, is_nullable,"
    " column_default, extra, collation_name, generation_expression) FROM information_schema.columns"
    " WHERE table_schema = database() AND table_name NOT LIKE 'stampede%' ORDER BY 1";
static const char indexes[] =
    "SELECT concat_ws(' ', table_name, index_name, seq_in_index, column_name, non_unique)"
    " FROM information_schema.statistics WHERE table_schema = database()"
    " AND table_name NOT LIKE 'stampede%' ORDER BY 1";
static const char rules[] =
    "SELECT concat_ws(' ', table_name, check_clause) FROM information_schema.check_constraints"
    " WHERE constraint_schema = database() AND table_name NOT LIKE 'stampede%' ORDER BY 1";
static const char *const describe[] = { columns, indexes, rules, NULL };

int main(void)
{
    static const struct schema_server server = { "mariadb", "STAMPEDE_TEST_MYSQL",
        mysql_store_connect, "DROP DATABASE stampede; CREATE DATABASE stampede;", describe };
    return schema_suite_run(&server);
}
