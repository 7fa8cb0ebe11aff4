/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/store_server.h"

#include "store/schema.h"
#include "store/store.h"
#include "tests/seam/store_suite.h"

#include <stdio.h>
#include <stdlib.h>

/* The first test makes the tables; the others find them empty. */
static enum status tables_fresh(const struct store_server *server,
    struct sql_connection *connection, char *error, size_t error_bytes)
{
    static bool made;
    uint64_t before;
    char sql[8192];
    if (!made) {
        made = true;
        return store_schema_migrate(connection, &before, error, error_bytes);
    }
    server->clear(sql, sizeof sql);
    enum status status = connection->driver->script(connection, sql);
    if (status == STATUS_OK)
        status = store_first_rows(connection);
    if (status != STATUS_OK)
        snprintf(error, error_bytes, "%s", connection->driver->message(connection));
    return status;
}

struct order_store *store_server_open(const struct store_server *server, bool fresh)
{
    struct sql_connection *connection;
    struct order_store *store = NULL;
    char error[256] = "";
    enum status status =
        server->connect(&connection, getenv(server->variable), NULL, error, sizeof error);
    if (status == STATUS_OK && fresh)
        status = tables_fresh(server, connection, error, sizeof error);
    if (status == STATUS_OK)
        status = store_schema_check(connection, error, sizeof error);
    if (status == STATUS_OK)
        status = store_make(connection, &store);
    if (status != STATUS_OK)
        fprintf(stderr, "%s\n", error);
    return store;
}

static struct order_store *server_fresh(void *context)
{
    return store_server_open(*(const struct store_server **)context, true);
}

static struct order_store *server_again(void *context, struct order_store *store)
{
    store->ops->close(store);
    return store_server_open(*(const struct store_server **)context, false);
}

static void server_done(void *context, struct order_store *store)
{
    (void)context;
    store->ops->close(store);
}

bool store_server_is_there(const struct store_server *server)
{
    if (getenv(server->variable) != NULL)
        return true;
    printf("skipped: no server (tools/with-%s starts one)\n", server->name);
    return false;
}

int store_server_run(const struct store_server *server)
{
    const struct store_maker maker = { server->name, server_fresh, server_again, server_done, &server };
    return store_server_is_there(server) ? store_suite_run(&maker) : 77;
}
