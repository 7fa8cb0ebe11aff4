/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/sim_server.h"

#include "store/mysql/mysql.h"
#include "store/postgres/postgres.h"
#include "store/schema.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

static const char *server_url;
static bool is_fresh;

void sim_server_use(const char *url)
{
    server_url = url;
}

void sim_server_reset(void)
{
    is_fresh = false;
}

static enum status server_connect(struct sql_connection **connection, char *error, size_t error_bytes)
{
    return strncmp(server_url, "mysql:", 6) == 0
        ? mysql_store_connect(connection, server_url, NULL, error, error_bytes)
        : postgres_connect(connection, server_url, NULL, error, error_bytes);
}

/* A connection of its own: the database that it is in goes away. */
static enum status all_drop(char *error, size_t error_bytes)
{
    struct sql_connection *connection;
    char sql[256] = "DROP SCHEMA public CASCADE; CREATE SCHEMA public;";
    enum status status = server_connect(&connection, error, error_bytes);
    if (status != STATUS_OK)
        return status;
    if (strcmp(connection->driver->name, "mysql") == 0) {
        const char *name = strrchr(server_url, '/') + 1;
        snprintf(sql, sizeof sql, "DROP DATABASE %s; CREATE DATABASE %s;", name, name);
    }
    status = connection->driver->script(connection, sql);
    if (status != STATUS_OK)
        snprintf(error, error_bytes, "%s", connection->driver->message(connection));
    connection->driver->close(connection);
    return status;
}

enum status sim_server_open(struct order_store **store, char *error, size_t error_bytes)
{
    struct sql_connection *connection;
    uint64_t before;
    enum status status = is_fresh ? STATUS_OK : all_drop(error, error_bytes);
    if (status == STATUS_OK)
        status = server_connect(&connection, error, error_bytes);
    if (status != STATUS_OK)
        return status;
    if (!is_fresh)
        status = store_schema_migrate(connection, &before, error, error_bytes);
    is_fresh = true;
    if (status == STATUS_OK)
        status = store_make(connection, store);
    if (status != STATUS_OK)
        connection->driver->close(connection);
    return status;
}
