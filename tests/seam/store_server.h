/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/store_server.h: the store suite on a database server that tools/with-… has started. */
#ifndef STAMPEDE_TESTS_STORE_SERVER_H
#define STAMPEDE_TESTS_STORE_SERVER_H

#include "store/driver.h"

struct store_server {
    const char *name;     /* tools/with-NAME starts it */
    const char *variable; /* of the environment: its URL */
    enum status (*connect)(struct sql_connection **, const char *url, const char *password,
        char *error, size_t error_bytes);
    /* Writes the script that empties all tables and sets their counters back. */
    void (*clear)(char *sql, size_t bytes);
};

/* NULL: it says why. `fresh`: with tables that are new, or empty. */
struct order_store;
struct order_store *store_server_open(const struct store_server *server, bool fresh);
/* Otherwise it says so. */
bool store_server_is_there(const struct store_server *server);
/* What main() answers; 77: there is no server. */
int store_server_run(const struct store_server *server);

#endif
