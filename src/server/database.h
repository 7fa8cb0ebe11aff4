/* SPDX-License-Identifier: Apache-2.0 */
/* server/database.h: the database that the settings name (store.kind), opened for the store.
 * Thread: the starting one. Errors: anything but STATUS_OK, and `error` says what is wrong. */
#ifndef STAMPEDE_SERVER_DATABASE_H
#define STAMPEDE_SERVER_DATABASE_H

#include "config/config.h"
#include "contract/order_store.h"

/* `path`: the file of store.kind sqlite, which is made or migrated here. The tables of a server must be
 * there: `stampede store migrate` makes them. */
MUST_CHECK enum status database_open(struct order_store **store, const struct config *config,
    const char *path, const char *vfs, char error[CONFIG_ERROR]);
bool database_is_file(const struct config *); /* store.kind sqlite */
/* A connection to the server that the settings name, whatever is in its database. */
struct sql_connection;
MUST_CHECK enum status database_connect(
    struct sql_connection **connection, const struct config *, char *error, size_t error_bytes);
/* What a settings file and the environment say, checked. */
MUST_CHECK enum status database_settings_read(
    struct config *, const char *path, char error[CONFIG_ERROR]);
struct verify_source;
MUST_CHECK enum status database_verify_open(/* verify_open (verify/verify.h) */
    const char *settings, struct verify_source *source, char error[CONFIG_ERROR]);
/* What store.connections are for; one is the worker's. */
struct database_shares {
    uint32_t view_readers, operator_readers;
    bool order_writer; /* one for it alone */
};
struct database_shares database_shares(const struct config *);
int store_main(int argc, char **argv);          /* stampede store migrate */
int verify_command_main(int argc, char **argv); /* stampede verify, of a server's database too */

#endif
