/* SPDX-License-Identifier: Apache-2.0 */
#include "server/database.h"

#include "archive/bundle.h"
#include "base/secret_file.h"
#include "config/cluster_secret.h"
#include "contract/cluster_store.h"
#include "server/cluster.h"
#include "server/serve.h"
#include "store/mysql/mysql.h"
#include "store/postgres/postgres.h"
#include "store/schema.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"
#include "verify/verify.h"
#include "worker/store_readers.h"

#include <stdio.h>
#include <string.h>

enum { PASSWORD_MAX = 256 };

bool database_is_file(const struct config *config)
{
    return strcmp(config->store_kind, "sqlite") == 0;
}

enum status database_connect(struct sql_connection **connection, const struct config *config,
    char *error, size_t error_bytes)
{
    char password[PASSWORD_MAX + 1] = "";
    size_t size = 0;
    const bool secret = config->store_password_file[0] != 0;
    enum status status = STATUS_OK;
    if (secret)
        status = secret_file_read(config->store_password_file, password, sizeof password, &size);
    if (status != STATUS_OK)
        snprintf(error, error_bytes,
            "store.password_file must be readable and hold a password of at most %d characters",
            PASSWORD_MAX);
    else if (strcmp(config->store_kind, "postgres") == 0)
        status = postgres_connect(
            connection, config->store_url, secret ? password : NULL, error, error_bytes);
    else
        status = mysql_store_connect(
            connection, config->store_url, secret ? password : NULL, error, error_bytes);
    explicit_bzero(password, sizeof password);
    return status;
}

/* PostgreSQL gives no connection that could not write (store/postgres/session.c); its words say why only. */
static void read_only_advise(char *error, size_t error_bytes)
{
    static const char advice[] = "; store.url must lead to a primary that is not read-only";
    const size_t size = strlen(error);
    if (strstr(error, "read-only") != NULL && size + sizeof advice <= error_bytes)
        memcpy(error + size, advice, sizeof advice);
}

static enum status server_open(
    struct order_store **store, const struct config *config, char *error, size_t error_bytes)
{
    struct sql_connection *connection;
    enum status status = database_connect(&connection, config, error, error_bytes);
    if (status != STATUS_OK) {
        read_only_advise(error, error_bytes);
        return status;
    }
    status = store_schema_check(connection, error, error_bytes);
    if (status == STATUS_OK)
        status = store_make(connection, store);
    if (status != STATUS_OK)
        connection->driver->close(connection);
    return status;
}

static enum status file_open(struct order_store **store, const struct config *config,
    const char *path, const char *vfs, char *error, size_t error_bytes)
{
    enum status status = sqlite_store_migrate(path, NULL, error, error_bytes);
    if (status == STATUS_OK)
        status = sqlite_store_open(store, path, vfs, error, error_bytes);
    if (status != STATUS_OK)
        return status;
    snprintf(error, error_bytes, "settings");
    return sqlite_store_serve(*store, (uint32_t)config->cache_mib);
}

/* A server that is a replica, or is told to be read-only, is found before anything depends on it. */
static enum status writable_check(struct order_store *store, char *error, size_t error_bytes)
{
    char what[CONFIG_ERROR / 2];
    const enum status status = store->ops->cluster->write_check(store, what, sizeof what);
    if (status != STATUS_OK)
        snprintf(error, error_bytes,
            "it can't be written: store.url must lead to a primary that is not read-only (%.100s)",
            what);
    return status;
}

enum status database_open(struct order_store **store, const struct config *config, const char *path,
    const char *vfs, char error[CONFIG_ERROR])
{
    char what[CONFIG_ERROR - 16] = "out of memory";
    enum status status = database_is_file(config)
        ? file_open(store, config, path, vfs, what, sizeof what)
        : server_open(store, config, what, sizeof what);
    if (status == STATUS_OK && !database_is_file(config))
        status = writable_check(*store, what, sizeof what);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "database: %s", what);
    return status;
}

struct database_shares database_shares(const struct config *config)
{
    enum { OWN = 1, FOR_WRITER = 4, FOR_TWO = 3 };
    const uint32_t all = (uint32_t)config->store_connections;
    const bool writer = !database_is_file(config) && all >= FOR_WRITER;
    const uint32_t readers = all - OWN - writer;
    const uint32_t operators = readers < FOR_TWO ? 1 : STORE_READERS_MAX;
    return (struct database_shares){
        .view_readers = readers - operators, .operator_readers = operators, .order_writer = writer
    };
}

enum status database_settings_read(struct config *config, const char *path, char error[CONFIG_ERROR])
{
    config_defaults(config);
    enum status status = config_load_file(config, path, error);
    if (status == STATUS_OK)
        status = config_load_environment(config, error);
    return status == STATUS_OK ? config_check(config, error) : status;
}

/* For `stampede verify`: see verify_open. */
enum status database_verify_open(
    const char *settings, struct verify_source *source, char error[CONFIG_ERROR])
{
    struct config config;
    struct data_folder identity = { 0 };
    enum status status = database_settings_read(&config, settings, error);
    if (status != STATUS_OK)
        return status;
    source->partitions = cluster_is_set(&config);
    status = cluster_secret_use(&identity, &config, error);
    source->engine = cluster_engine_config(&config);
    source->data_id = identity.data_id;
    memcpy(source->master, identity.master, sizeof source->master);
    explicit_bzero(identity.master, sizeof identity.master);
    if (status != STATUS_OK || database_is_file(&config))
        return status;
    return server_open(&source->store, &config, error, CONFIG_ERROR);
}

int verify_command_main(int argc, char **argv)
{
    struct bundle_made made;
    if (argc == 2 && bundle_is(argv[1])) {
        const enum status status = bundle_verify(argv[1], NULL, stdout, &made);
        return status == STATUS_OK ? 0 : status == STATUS_REFUSED ? 1 : 2;
    }
    return verify_main(argc, argv, database_verify_open);
}

static int migrate(const struct config *config)
{
    struct sql_connection *connection;
    char error[CONFIG_ERROR] = "";
    uint64_t before = 0;
    if (database_is_file(config)) {
        fprintf(stderr, "stampede store: the file of store.kind sqlite is migrated by 'stampede serve'\n");
        return 2;
    }
    enum status status = database_connect(&connection, config, error, sizeof error);
    if (status == STATUS_OK) {
        status = store_schema_migrate(connection, &before, error, sizeof error);
        connection->driver->close(connection);
    }
    if (status != STATUS_OK) {
        fprintf(stderr, "stampede store: %s\n", error);
        return 1;
    }
    printf("The database has schema version %d%s\n", STORE_SCHEMA_VERSION,
        before == 0                          ? "; its tables are new"
            : before == STORE_SCHEMA_VERSION ? " already"
                                             : " now");
    return 0;
}

static const char usage[] = "usage: stampede store migrate [--config FILE] [option value]...\n"
                            "  Makes the tables of the database server that the settings name, or "
                            "brings them to this version.\n";

int store_main(int argc, char **argv)
{
    struct config config;
    if (serve_help(usage, argc, argv))
        return 0;
    if (argc < 2 || strcmp(argv[1], "migrate") != 0) {
        fputs(usage, stderr);
        return 2;
    }
    return serve_settings_read(&config, argc - 1, argv + 1) ? migrate(&config) : 2;
}
