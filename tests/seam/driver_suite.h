/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_suite.h: the rules of a driver (store/driver.h), run unchanged against every
 * database. The server is a real one. The suite makes its own tables, and removes those of an
 * earlier run. */
#ifndef STAMPEDE_TESTS_DRIVER_SUITE_H
#define STAMPEDE_TESTS_DRIVER_SUITE_H

#include "store/driver.h"

struct driver_world {
    const char *name;
    /* Another connection to the same database, which has no tables of others. */
    enum status (*open)(struct sql_connection **connection);
    /* The server ends this connection, which is not told; it may be inside of a transaction that
     * has not failed. NULL: there is no server, and nothing to lose. */
    void (*cut)(struct sql_connection *victim);
    /* The same as `open`, through this port of 127.0.0.1 instead of the server's own; NULL: there
     * is no server. */
    enum status (*open_at)(struct sql_connection **connection, uint16_t port);
    uint16_t port;      /* the server's own, on 127.0.0.1 */
    bool has_row_locks; /* several transactions that write may be open at once */
    bool knows_the_key; /* ON CONFLICT(a) DO NOTHING: a conflict on another key is an error */
    bool limits_text;   /* a text that is too long for TEXT{n} is refused */
};

int driver_suite_run(const struct driver_world *world); /* what main returns */

#endif
