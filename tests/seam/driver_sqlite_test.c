/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_sqlite_test.c: the driver suite against SQLite, in a file of its own. */
#include "store/sqlite/connection.h"
#include "tests/seam/driver_suite.h"
#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>

static char path[64];

static enum status open_another(struct sql_connection **connection)
{
    struct sqlite_connection *made = NULL;
    char error[256] = "";
    const enum status status = sqlite_connect(
        &made, path, NULL, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error, sizeof error);
    if (status != STATUS_OK) {
        print_error("%s\n", error);
        return status;
    }
    *connection = &made->connection;
    return sqlite_status(sqlite3_exec(made->database,
        "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF", NULL, NULL,
        NULL));
}

int main(void)
{
    char folder[] = "/tmp/stampede-driver-XXXXXX";
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/db", folder);
    const struct driver_world world = { .name = "sqlite", .open = open_another, .knows_the_key = true };
    sqlite_library_start();
    const int failed = driver_suite_run(&world);
    static const char *const endings[] = { "", "-wal", "-shm" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char file[sizeof path + 8];
        snprintf(file, sizeof file, "%s%s", path, endings[i]);
        unlink(file);
    }
    rmdir(folder);
    return failed;
}
