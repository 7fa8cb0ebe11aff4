/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/sqlite.h"

#include "store/sqlite/connection.h"
#include "store/sqlite/paced_writes.h"
#include "store/store.h"

#include <stdio.h>

enum status sqlite_store_serve(struct order_store *store, uint32_t cache_mib)
{
    char pragma[48];
    paced_writes_start();
    snprintf(pragma, sizeof pragma, "PRAGMA cache_size = -%u", cache_mib * 1024);
    return sqlite_script(store_connection(store), pragma);
}

enum status sqlite_store_open(
    struct order_store **store, const char *path, const char *vfs, char *error, size_t error_bytes)
{
    struct sqlite_connection *connection;
    *store = NULL;
    enum status status = sqlite_connect(
        &connection, path, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error, error_bytes);
    if (status != STATUS_OK)
        return status;
    status = sqlite_schema_open(connection, error, error_bytes);
    if (status == STATUS_OK) {
        snprintf(error, error_bytes, "out of memory");
        status = store_make(&connection->connection, store);
    }
    if (status != STATUS_OK)
        sqlite_disconnect(&connection->connection);
    else if (error_bytes > 0)
        error[0] = '\0';
    return status;
}
