/* SPDX-License-Identifier: Apache-2.0 */
/* server/restore.c: what `stampede restore` does, in this order:
 *   1. the file high-water says that a restore has begun: no server starts before it has ended
 *   2. numbers that the lost database has given are never given again
 *   3. payments of all orders that are open in the backup are searched for: a question each, which
 *      the server's cashier brings to the providers. Until it is answered the order is not closed
 *   4. the log is read to its end; sales and items that are lost are made from it
 *   5. the same search for every order that came in since, and for what the log calls paid
 *   6. an entry in the audit chain, and high-water follows the database from here
 * Killed anywhere it can be run again. */
#include "server/restore.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "config/data_folder.h"
#include "config/high_water.h"
#include "config/seal.h"
#include "funnel/keys.h"
#include "orders/payment_search.h"
#include "server/catch_up.h"
#include "server/database.h"
#include "server/host.h"
#include "server/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct restore {
    struct config config;
    struct data_folder folder;
    struct funnel_keys keys;
    struct host host;
    struct order_store *store;
    struct ticket_queue *queue;
    struct high_water mark;
    char lost[HIGH_WATER_TEXT]; /* in words */
    char error[CONFIG_ERROR];
};

/* ---- at every start ---- */

static enum status inventory_numbers_raise(struct order_store *store, const struct host *host)
{
    struct store_sequence items = { .name = "items" }, sales = { .name = "sales" };
    item_id item;
    sale_id sale;
    host_numbers(host, &item, &sale);
    items.last = item;
    sales.last = sale;
    const enum status status = store->ops->restore->raise(store, &items);
    return status == STATUS_OK ? store->ops->restore->raise(store, &sales) : status;
}

static enum status mark_begin(struct disk *folder, struct order_store *store, struct high_water *mark)
{
    bool changed, ahead;
    const enum status status = high_water_look(mark, store, &changed, &ahead);
    if (status != STATUS_OK)
        return status;
    high_water_reserve(mark, true);
    mark->restoring = false;
    return high_water_write(folder, mark);
}

static enum status mark_read(struct disk *folder, struct high_water *mark, char error[CONFIG_ERROR])
{
    const enum status status = high_water_read(folder, mark);
    if (status == STATUS_CORRUPT)
        snprintf(error, CONFIG_ERROR,
            "the file high-water is damaged; if the database is not an older one, remove it");
    else if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        snprintf(error, CONFIG_ERROR, "the file high-water can't be read: %s", status_name(status));
    return status == STATUS_NOT_FOUND ? STATUS_OK : status; /* the first start of this version */
}

enum status restore_check(struct disk *folder, struct order_store *store, const struct host *host,
    struct high_water *mark, char error[CONFIG_ERROR])
{
    bool older = false;
    char what[HIGH_WATER_TEXT] = "";
    enum status status = mark_read(folder, mark, error);
    if (status == STATUS_OK)
        status = high_water_compare(mark, store, &older, what);
    if (status == STATUS_OK && (older || mark->restoring)) {
        snprintf(error, CONFIG_ERROR,
            "the database is older than before. If you put back a backup on purpose, run: "
            "stampede restore. %s%.120s",
            older ? "It has " : "That was started and has not finished", what);
        return STATUS_CONFLICT;
    }
    if (status == STATUS_OK)
        status = high_water_raise(mark, store);
    if (status == STATUS_OK)
        status = inventory_numbers_raise(store, host);
    if (status == STATUS_OK)
        status = mark_begin(folder, store, mark);
    if (status != STATUS_OK && error[0] == 0)
        snprintf(error, CONFIG_ERROR, "the file high-water can't be made: %s", status_name(status));
    return status;
}

/* ---- the command ---- */

static bool failed(struct restore *restore, const char *what, enum status status)
{
    if (restore->error[0] == 0)
        snprintf(restore->error, sizeof restore->error, "%s: %s", what, status_name(status));
    return false;
}

static bool inventory_open(struct restore *restore)
{
    if (host_open(&restore->host, &restore->config, &restore->folder, &restore->keys, 1, restore->error)
        != STATUS_OK)
        return false;
    const enum status status =
        host_queue_open(&restore->host, &restore->config, &restore->folder, &restore->queue);
    return status == STATUS_OK || failed(restore, "the journal can't be read for orders", status);
}

static bool store_open(struct restore *restore)
{
    if (database_open(&restore->store, &restore->config, restore->folder.database, restore->error)
        != STATUS_OK)
        return false;
    const lsn_t end = host_durable(&restore->host);
    const enum status status = data_folder_match(&restore->folder, restore->store, end, restore->error);
    return status == STATUS_OK || failed(restore, "database", status);
}

static bool restore_open(struct restore *restore)
{
    struct data_folder *folder = &restore->folder;
    enum status status = data_folder_open(folder, restore->config.folder, DATA_SERVE, restore->error);
    if (status == STATUS_OK)
        status = seal_check(folder->root, restore->error);
    if (status == STATUS_OK)
        status = funnel_keys_derive(&restore->keys, folder->master, sizeof folder->master);
    if (status != STATUS_OK)
        return failed(restore, "the data folder can't be opened", status);
    return inventory_open(restore) && store_open(restore);
}

static void restore_close(struct restore *restore)
{
    if (restore->queue != NULL)
        restore->queue->ops->close(restore->queue);
    if (restore->store != NULL)
        restore->store->ops->close(restore->store);
    host_close(&restore->host);
    data_folder_close(&restore->folder);
    explicit_bzero(&restore->keys, sizeof restore->keys);
}

static bool numbers_keep(struct restore *restore)
{
    bool older = false;
    enum status status = mark_read(restore->folder.root, &restore->mark, restore->error);
    if (status == STATUS_OK)
        status = high_water_compare(&restore->mark, restore->store, &older, restore->lost);
    restore->mark.restoring = true;
    if (status == STATUS_OK)
        status = high_water_write(restore->folder.root, &restore->mark);
    if (status == STATUS_OK)
        status = high_water_raise(&restore->mark, restore->store);
    if (status == STATUS_OK)
        status = inventory_numbers_raise(restore->store, &restore->host);
    if (status != STATUS_OK)
        return failed(restore, "the numbers of the lost database can't be kept", status);
    printf("%s%s\n", older ? "The database is older than before; it has " : "",
        older ? restore->lost : "The database is not older than before.");
    return true;
}

static uint64_t order_id_of(void *context, ticket_number ticket)
{
    return funnel_order_id(context, ticket);
}

static bool payments_search(struct restore *restore, ticket_number newest)
{
    char provider[PROVIDER_NAME_MAX + 1] = "";
    struct span list = span_from_string(restore->config.providers), first;
    uint64_t orders = 0;
    if (!span_take_until(&list, ',', &first) || first.size == 0 || first.size > PROVIDER_NAME_MAX)
        return true; /* the shop moves its money itself */
    memcpy(provider, first.data, first.size);
    const struct payment_search_config config = {
        .store = restore->store, .provider = provider, .order_id = order_id_of, .context = &restore->keys
    };
    const enum status status = payment_search_begin(&config, newest, clock_now_ms(), &orders);
    if (status != STATUS_OK)
        return failed(restore, "payments can't be searched for", status);
    printf("Payments of %" PRIu64 " orders will be asked about.\n", orders);
    return true;
}

static bool log_read(struct restore *restore)
{
    struct catch_up progress;
    restore->store->ops->restore->recover(restore->store, true);
    const enum status status = catch_up_run(&progress, restore->queue, restore->store);
    restore->store->ops->restore->recover(restore->store, false);
    if (status != STATUS_OK)
        return failed(
            restore, progress.trouble == NULL ? "the log can't be read" : progress.trouble, status);
    printf("%" PRIu64 " records of the log were read; %" PRIu64 " became dead letters.\n",
        progress.records, progress.dead);
    return true;
}

static bool audit_write(struct restore *restore)
{
    struct audit_entry entry = { .time_ms = clock_now_ms(), .actor = "restore", .action = "restore" };
    snprintf(entry.detail, sizeof entry.detail, "%s%s", restore->lost[0] != 0 ? "the backup had " : "",
        restore->lost[0] != 0 ? restore->lost : "the backup was as new as the database");
    const enum status status = restore->store->ops->audit_append(restore->store, &entry);
    return status == STATUS_OK || failed(restore, "the audit entry can't be written", status);
}

static bool restore_run(struct restore *restore)
{
    ticket_number newest = 0;
    if (!restore_open(restore) || !numbers_keep(restore))
        return false;
    enum status status = restore->store->ops->restore->newest(restore->store, &newest);
    if (status != STATUS_OK)
        return failed(restore, "database", status);
    if (!payments_search(restore, INT64_MAX) || !log_read(restore)
        || !payments_search(restore, newest) || !audit_write(restore))
        return false;
    status = mark_begin(restore->folder.root, restore->store, &restore->mark);
    return status == STATUS_OK || failed(restore, "the file high-water can't be written", status);
}

int restore_main(int argc, char **argv)
{
    struct restore *restore = calloc(1, sizeof *restore);
    invariant(restore != NULL);
    if (!serve_settings_read(&restore->config, argc, argv)) {
        free(restore);
        return 2;
    }
    metrics_thread_enter();
    umask(S_IRWXG | S_IRWXO);
    const bool good = restore_run(restore);
    if (good)
        printf("Restored. Start the server, then run: stampede reconcile --repair\n");
    else
        fprintf(stderr, "stampede restore: %s\n", restore->error);
    restore_close(restore);
    free(restore);
    return good ? 0 : 1;
}
