/* SPDX-License-Identifier: Apache-2.0 */
/* The schema suite against a PostgreSQL server, which tools/with-postgres starts. */
#include "store/postgres/postgres.h"
#include "tests/seam/schema_suite.h"

#include <stddef.h>

static const char columns[] =
    "SELECT concat_ws(' ', table_name, column_name, ordinal_position, data_type, is_nullable,"
    " column_default, is_identity, collation_name) FROM information_schema.columns"
    " WHERE table_schema = 'public' AND table_name NOT LIKE 'stampede%' ORDER BY 1";
static const char indexes[] =
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'stampede%'"
    " ORDER BY 1";
static const char rules[] =
    "SELECT concat_ws(' ', conrelid::regclass::text, pg_get_constraintdef(oid)) FROM pg_constraint"
    " WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text NOT LIKE 'stampede%'"
    " ORDER BY 1";
static const char *const describe[] = { columns, indexes, rules, NULL };

int main(void)
{
    static const struct schema_server server = { "postgres", "STAMPEDE_TEST_POSTGRES",
        postgres_connect, "DROP SCHEMA public CASCADE; CREATE SCHEMA public;", describe };
    return schema_suite_run(&server);
}
