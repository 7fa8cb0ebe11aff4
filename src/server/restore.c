/* SPDX-License-Identifier: Apache-2.0 */
/* server/restore.c: what `stampede restore` does, in this order:
 *   0. with --from: a data folder is made of a backup (backup/backup.h), which has high-water of 1. already
 *   1. the file high-water says that a restore has begun: no server starts before it has ended
 *   2. numbers that the lost database has given are never given again
 *      a log that is a backup's may be shorter than what customers were told: numbers of tickets are
 * left out
 *   3. payments of all orders that are open in the backup are searched for: a question each, which
 *      the server's cashier brings to the providers. Until it is answered the order is not closed
 *   4. the log is read to its end; sales and items that are lost are made from it
 *   5. the same search for every order that came in since, and for what the log calls paid
 *   6. an entry in the audit chain, and high-water follows the database from here
 * Killed anywhere it can be run again. */
#include "server/restore.h"

#include "backup/backup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/time_text.h"
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
    mark->restoring = HIGH_WATER_SERVED;
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
    if (database_open(&restore->store, &restore->config, restore->folder.database, NULL, restore->error)
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
    if (restore->mark.restoring == HIGH_WATER_SERVED)
        restore->mark.restoring = HIGH_WATER_RESTORING;
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

/* The log of a backup may end before what customers were told: their tickets' numbers are not given
 * again. Done
 * twice, if it was killed in between, it leaves out some more. */
static bool tickets_skip(struct restore *restore)
{
    uint64_t left_out = 0;
    if (restore->mark.restoring != HIGH_WATER_FROM_BACKUP)
        return true;
    enum status status = host_numbers_skip(&restore->host, SKIP_NUMBERS_MAX, &left_out);
    restore->mark.restoring = HIGH_WATER_RESTORING;
    if (status == STATUS_OK)
        status = high_water_write(restore->folder.root, &restore->mark);
    if (status != STATUS_OK)
        return failed(restore, "the numbers of lost tickets can't be left out", status);
    printf("%" PRIu64
           " numbers of tickets are left out: nobody gets an order id that was told after the "
           "backup.\n",
        left_out);
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
    if (!restore_open(restore) || !numbers_keep(restore) || !tickets_skip(restore))
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

static const char usage[] =
    "usage: stampede restore [--config FILE] [option value]...\n"
    "         updates an older database from the journal beside it\n"
    "       stampede restore --from BACKUP [--to DIR] [--until TIME|POSITION] [--journal FOLDER]\n"
    "           [--lose-later-orders] [--config FILE] [option value]...\n"
    "         makes a data folder of a backup (docs/backup.md). --to is data.folder of the "
    "settings if it\n"
    "         is not given. --journal: a later journal of the same shop, in place of the "
    "backup's.\n"
    "         --until: the last moment, or the last position in the log, that is to be in it\n";

/* A time, or a position: a number that is too small for one. */
static bool until_read(struct backup_return *from, const char *text)
{
    enum { POSITIONS_END = 1000 * 1000 * 1000 }; /* ms: in January 1970 */
    uint64_t number = 0;
    if (span_to_u64(span_from_string(text), &number) == STATUS_OK && number < POSITIONS_END) {
        from->until_lsn = number;
        return true;
    }
    return time_text_parse(span_from_string(text), clock_wall_ms(), &from->until_ms) == STATUS_OK;
}

/* Takes our own options out of argv; the others are the settings'. False: not understood. */
static bool arguments_take(struct backup_return *from, int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        const char *value = i + 1 < *argc ? argv[i + 1] : NULL;
        const struct {
            const char *name;
            const char **to;
        } texts[] = { { "--from", &from->from }, { "--to", &from->to }, { "--journal", &from->journal } };
        bool taken = false;
        for (size_t j = 0; j < sizeof texts / sizeof *texts && !taken; j++)
            if (strcmp(argv[i], texts[j].name) == 0) {
                *texts[j].to = value;
                taken = true;
            }
        if (strcmp(argv[i], "--lose-later-orders") == 0) {
            from->lose_later = true;
            continue;
        }
        if (strcmp(argv[i], "--until") == 0) {
            if (value == NULL || !until_read(from, value))
                return false;
            taken = true;
        }
        if (taken && value == NULL)
            return false;
        if (taken)
            i++;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    return from->from != NULL
        || (from->to == NULL && from->journal == NULL && !from->lose_later
            && from->until_lsn == UINT64_MAX && from->until_ms == UINT64_MAX);
}

static bool folder_make(struct restore *restore, struct backup_return *from)
{
    char time[TIME_TEXT_BYTES];
    if (from->to != NULL
        && config_set(&restore->config, "data.folder", from->to, restore->error) != STATUS_OK)
        return false;
    if (!database_is_file(&restore->config)) {
        snprintf(restore->error, sizeof restore->error,
            "store.kind is a database server: put its backup back with its own tools, the data "
            "folder "
            "with it, and run stampede restore without --from");
        return false;
    }
    from->to = restore->config.folder;
    if (backup_return(from, restore->error) != STATUS_OK)
        return false;
    time_text_format(from->end_ms, time);
    printf("The data folder %s is made: orders up to position %" PRIu64
           ", log up to position %" PRIu64 " (%s). What was told later is not in it.\n",
        from->to, from->position, from->end_lsn, from->end_lsn > 0 ? time : "no record");
    return true;
}

int restore_main(int argc, char **argv)
{
    struct backup_return from = { .until_lsn = UINT64_MAX, .until_ms = UINT64_MAX };
    struct restore *restore = calloc(1, sizeof *restore);
    invariant(restore != NULL);
    if (serve_help(usage, argc, argv)) {
        free(restore);
        return 0;
    }
    const bool understood = arguments_take(&from, &argc, argv);
    if (!understood)
        fputs(usage, stderr);
    if (!understood || !serve_settings_read(&restore->config, argc, argv)) {
        free(restore);
        return 2;
    }
    metrics_thread_enter();
    umask(S_IRWXG | S_IRWXO);
    const bool good = (from.from == NULL || folder_make(restore, &from)) && restore_run(restore);
    if (good)
        printf("Restored. Start the server, then run: stampede reconcile --repair\n");
    else
        fprintf(stderr, "stampede restore: %s\n", restore->error);
    restore_close(restore);
    free(restore);
    return good ? 0 : 1;
}
