/* SPDX-License-Identifier: Apache-2.0 */
/* The store suite against a PostgreSQL server, which tools/with-postgres starts. */
#include "store/postgres/postgres.h"
#include "store/schema.h"
#include "store/store.h"
#include "tests/seam/store_suite.h"
#include "tests/seam/store_tables.h"

#include <stdio.h>
#include <stdlib.h>

static void clear_text(char *sql, size_t bytes)
{
    struct store_table tables[STORE_TABLES_MAX];
    const size_t count = store_tables_list(tables);
    int used = snprintf(sql, bytes, "TRUNCATE %s", tables[0].name);
    for (size_t i = 1; i < count; i++)
        used += snprintf(sql + used, bytes - (size_t)used, ", %s", tables[i].name);
    snprintf(sql + used, bytes - (size_t)used, " RESTART IDENTITY CASCADE;");
}

/* The first test makes the tables; the others find them empty. */
static enum status tables_fresh(struct sql_connection *connection, char *error, size_t error_bytes)
{
    static bool made;
    char sql[8192];
    if (!made)
        return store_schema_migrate(connection, &made, error, error_bytes);
    clear_text(sql, sizeof sql);
    enum status status = connection->driver->script(connection, sql);
    if (status == STATUS_OK)
        status = store_first_rows(connection);
    if (status != STATUS_OK)
        snprintf(error, error_bytes, "%s", connection->driver->message(connection));
    return status;
}

static struct order_store *open_store(bool fresh)
{
    struct sql_connection *connection;
    struct order_store *store = NULL;
    char error[256] = "";
    enum status status =
        postgres_connect(&connection, getenv("STAMPEDE_TEST_POSTGRES"), NULL, error, sizeof error);
    if (status == STATUS_OK && fresh)
        status = tables_fresh(connection, error, sizeof error);
    if (status == STATUS_OK)
        status = store_schema_check(connection, error, sizeof error);
    if (status == STATUS_OK)
        status = store_make(connection, &store);
    if (status != STATUS_OK)
        fprintf(stderr, "%s\n", error);
    return store;
}

static struct order_store *postgres_fresh(void *context)
{
    (void)context;
    return open_store(true);
}

static struct order_store *postgres_again(void *context, struct order_store *store)
{
    (void)context;
    store->ops->close(store);
    return open_store(false);
}

static void postgres_done(void *context, struct order_store *store)
{
    (void)context;
    store->ops->close(store);
}

int main(void)
{
    const struct store_maker maker = { "postgres", postgres_fresh, postgres_again, postgres_done, NULL };
    if (getenv("STAMPEDE_TEST_POSTGRES") == NULL) {
        puts("skipped: no PostgreSQL (tools/with-postgres starts one)");
        return 77;
    }
    return store_suite_run(&maker);
}
