/* SPDX-License-Identifier: Apache-2.0 */
#include "server/storage.h"

#include "base/clock.h"
#include "base/random.h"
#include "config/cluster_secret.h"
#include "config/fence.h"
#include "config/seal.h"
#include "contract/order_store.h"
#include "server/database.h"
#include "server/restore.h"
#include "worker/database_hold.h"

#include <stdio.h>
#include <string.h>

static enum status failed(enum status status, const char *what, char error[CONFIG_ERROR])
{
    if (error[0] == 0)
        snprintf(error, CONFIG_ERROR, "%s", what);
    return status;
}

/* One machine: nobody else sells with this database. Before anything is written to it. */
static enum status store_hold(
    struct storage *storage, const struct config *config, char error[CONFIG_ERROR])
{
    uint64_t holder;
    if (cluster_is_set(config) || database_is_file(config))
        return STATUS_OK;
    random_secret(&holder, sizeof holder);
    holder |= 1; /* 0 is nobody */
    const enum status status = database_hold_take(storage->store, holder, error, CONFIG_ERROR);
    storage->holder = status == STATUS_OK ? holder : 0;
    return status;
}

/* Many machines: the data id follows from the secret. */
static enum status store_match(struct storage *storage, const struct config *config,
    lsn_t journal_end, char error[CONFIG_ERROR])
{
    const enum status status = data_folder_match(&storage->folder, storage->store, journal_end, error);
    if (status != STATUS_CONFLICT || !cluster_is_set(config))
        return status;
    snprintf(error, CONFIG_ERROR,
        "cluster.secret_file has another secret than the processes that made this database: copy "
        "theirs to this machine, or name another database in store.url");
    return STATUS_BAD_INPUT;
}

/* The database, which belongs to the folder and whose log ends where the inventory's does. */
static enum status store_open(struct storage *storage, const struct config *config, lsn_t journal_end,
    enum status (*seed)(struct order_store *store, uint64_t now_ms), char error[CONFIG_ERROR])
{
    enum status status =
        database_open(&storage->store, config, storage->folder.database, storage->follow.vfs, error);
    if (status == STATUS_OK)
        status = store_hold(storage, config, error);
    if (status == STATUS_OK)
        status = store_match(storage, config, journal_end, error);
    if (status != STATUS_OK)
        return failed(status, "database", error);
    if (seed != NULL)
        status = seed(storage->store, clock_now_ms());
    return status == STATUS_OK
        ? STATUS_OK
        : failed(status, "the first rows can't be written to the database", error);
}

static enum status one_machine_open(struct storage *storage, const struct config *config, uint32_t ports,
    enum status (*seed)(struct order_store *store, uint64_t now_ms), char error[CONFIG_ERROR])
{
    struct host *host = &storage->host;
    enum status status = seal_check(storage->folder.root, error);
    if (status == STATUS_OK)
        status = fence_check(storage->folder.root, error);
    if (status == STATUS_OK)
        status = follow_host_open(&storage->follow, config, &storage->folder, error);
    if (status != STATUS_OK)
        return failed(status, "the follower's port can't be opened", error);
    status = host_open(host, config, &storage->folder, &storage->keys, ports, error);
    if (status != STATUS_OK)
        return failed(status, "the inventory can't be opened", error);
    status = store_open(storage, config, host_durable(host), seed, error);
    if (status != STATUS_OK)
        return status;
    status = host_queue_open(host, config, &storage->folder, &storage->queue);
    if (status != STATUS_OK)
        return failed(status, "the journal can't be read for orders", error);
    return restore_check(storage->folder.root, storage->store, host, &storage->high_water, error);
}

static enum status cluster_part_open(struct storage *storage, const struct config *config, uint32_t ports,
    enum status (*seed)(struct order_store *store, uint64_t now_ms), char error[CONFIG_ERROR])
{
    clock_start(0);
    const enum status status = store_open(storage, config, NO_JOURNAL, seed, error);
    return status == STATUS_OK ? host_join(&storage->host, config, &storage->folder, &storage->keys,
               storage->store, ports, error)
                               : status;
}

enum status storage_open(struct storage *storage, const struct config *config, uint32_t ports,
    enum status (*seed)(struct order_store *store, uint64_t now_ms), char error[CONFIG_ERROR])
{
    enum status status = cluster_secret_use(&storage->folder, config, error);
    if (status != STATUS_OK)
        return status;
    status = funnel_keys_derive(&storage->keys, storage->folder.master, sizeof storage->folder.master);
    if (status != STATUS_OK)
        return failed(status, "the master secret is too short", error);
    return cluster_is_set(config) ? cluster_part_open(storage, config, ports, seed, error)
                                  : one_machine_open(storage, config, ports, seed, error);
}

void storage_close(struct storage *storage)
{
    if (storage->queue != NULL)
        storage->queue->ops->close(storage->queue);
    host_close(&storage->host);
    if (storage->holder != 0)
        database_hold_give(storage->store, storage->holder);
    if (storage->store != NULL)
        storage->store->ops->close(storage->store);
    follow_host_close(&storage->follow, &storage->folder);
    data_folder_close(&storage->folder);
    explicit_bzero(&storage->keys, sizeof storage->keys);
}
