/* SPDX-License-Identifier: Apache-2.0 */
/* The same on SQLite, where one connection writes. */
#include "store/sqlite/sqlite.h"
#include "tests/seam/store_writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64] = "/tmp/stampede-writers.XXXXXX", path[96];

static struct order_store *open_next(void)
{
    struct order_store *store = NULL;
    char error[200] = "no folder";
    if (mkdtemp(folder) == NULL)
        return NULL;
    snprintf(path, sizeof path, "%s/orders.db", folder);
    if (sqlite_store_open(&store, path, NULL, error, sizeof error) != STATUS_OK)
        fprintf(stderr, "%s\n", error);
    return store;
}

int main(int argc, char **argv)
{
    const struct writers_database database = { "sqlite", 1, open_next };
    const int result = store_writers_run(&database, argc, argv);
    static const char *const endings[] = { "", "-wal", "-shm" };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
    rmdir(folder);
    return result;
}
