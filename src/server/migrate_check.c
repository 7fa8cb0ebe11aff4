/* SPDX-License-Identifier: Apache-2.0 */
/* What must be right before a folder is sealed. */
#include "config/cluster_secret.h"
#include "contract/order_store.h"
#include "contract/ticket_number.h"
#include "contract/ticket_queue.h"
#include "inventory/embedded.h"
#include "journal/journal.h"
#include "server/database.h"
#include "server/migrate_parts.h"
#include "store/schema.h"
#include "store/store.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the target ---- */

static bool target_connect(struct migrate *migrate)
{
    char what[CONFIG_ERROR - 32] = "out of memory";
    if (!cluster_is_set(&migrate->target) || database_is_file(&migrate->target))
        return migrate_refused(migrate,
            "%.150s does not name many machines: it needs inventory.kind = redis, and store.kind = "
            "postgres or "
            "mysql",
            migrate->to);
    enum status status = database_connect(&migrate->connection, &migrate->target, what, sizeof what);
    if (status == STATUS_OK)
        status = store_schema_check(migrate->connection, what, sizeof what);
    return status == STATUS_OK || migrate_refused(migrate, "the target: %s", what);
}

static bool target_is_empty(struct migrate *migrate)
{
    struct store_copy look = {
        .to = migrate->connection, .list = migrate->copy.list, .count = migrate->copy.count
    };
    bool empty = false;
    if (store_copy_look(&look, &empty) != STATUS_OK)
        return migrate_refused(migrate, "the target: %.200s", look.error);
    return empty && migrate->found.data_id == 0 && migrate->found.move == 0;
}

bool migrate_target_check(struct migrate *migrate)
{
    struct store_move *found = &migrate->found;
    const struct seal *seal = &migrate->seal;
    if (seal->move != 0 && seal->target != seal_target(&migrate->target))
        return migrate_refused(migrate,
            "the data folder is moving to another database, or has moved there: use the settings "
            "that it was "
            "begun with");
    if (!target_connect(migrate))
        return false;
    const enum status status = store_move_read(migrate->connection, found);
    if (status != STATUS_OK)
        return migrate_failed(migrate, "the target can't be read", status);
    if (seal->move != 0 && found->move == seal->move)
        return migrate_secret_check(migrate);
    if (seal->done)
        return migrate_refused(migrate,
            "the shop has moved, but the target does not know it: is its database an older copy?");
    if (!target_is_empty(migrate))
        return migrate_refused(migrate,
            "the database of %.150s is in use or not empty: a shop moves into one that 'stampede "
            "store migrate' "
            "has just made",
            migrate->to);
    return migrate_secret_check(migrate);
}

/* ---- the source ---- */

static bool folder_verify(const struct migrate *migrate)
{
    const struct verify_options options = { .folder = migrate->from, .quiet = true };
    return verify_run(&options, stdout) == VERIFY_HOLDS;
}

static void source_settings(struct migrate *migrate)
{
    struct config *source = &migrate->source;
    *source = migrate->target;
    snprintf(source->inventory_kind, sizeof source->inventory_kind, "embedded");
    snprintf(source->store_kind, sizeof source->store_kind, "sqlite");
    snprintf(source->folder, sizeof source->folder, "%s", migrate->from);
}

static bool source_open(struct migrate *migrate)
{
    struct data_folder *folder = &migrate->folder;
    const struct config *source = &migrate->source;
    enum status status = funnel_keys_derive(&migrate->keys, folder->master, sizeof folder->master);
    if (status != STATUS_OK)
        return migrate_failed(migrate, "the master secret", status);
    if (host_open(&migrate->host, source, folder, &migrate->keys, 1, migrate->error) != STATUS_OK)
        return false;
    status = host_queue_open(&migrate->host, source, folder, &migrate->queue);
    if (status != STATUS_OK)
        return migrate_failed(migrate, "the journal can't be read", status);
    migrate->end = host_durable(&migrate->host);
    if (database_open(&migrate->store, source, folder->database, NULL, migrate->error) != STATUS_OK)
        return false;
    return data_folder_match(folder, migrate->store, migrate->end, migrate->error) == STATUS_OK;
}

static bool numbers_check(struct migrate *migrate)
{
    struct sql_connection *from = store_connection(migrate->store);
    const ticket_number last = embedded_engine(migrate->host.embedded)->tickets.last;
    uint64_t before_first = 0, items = 0;
    enum status status = journal_oldest(migrate->folder.journal, &before_first);
    if (status == STATUS_OK)
        status = store_move_sales(from, &migrate->sales);
    if (status == STATUS_OK)
        status = store_move_last_channel(from, &items);
    if (status != STATUS_OK)
        return migrate_failed(migrate, "the data folder can't be read", status);
    if (before_first > 0)
        return migrate_refused(migrate,
            "the journal begins at record %" PRIu64
            ": put the segments back that were taken out of it",
            before_first + 1);
    if (last > TICKET_N_MAX)
        return migrate_refused(migrate,
            "the shop has sold %" PRIu64 " tickets; many machines can go on after %d at most", last,
            TICKET_N_MAX);
    if (items > 0)
        return migrate_refused(migrate,
            "%" PRIu64
            " items have units in the eighth channel, which many machines need: move them to "
            "another channel first",
            items);
    if (migrate->sales >= migrate->target.sales_max)
        return migrate_refused(migrate, "the shop has sale %" PRIu64 ": raise data.sales_max in %.150s",
            migrate->sales, migrate->to);
    return true;
}

bool migrate_source_check(struct migrate *migrate)
{
    source_settings(migrate);
    if (access(migrate->folder.database, F_OK) != 0)
        return migrate_refused(migrate,
            "%.200s has no stampede.db: only a shop with SQLite can be moved", migrate->from);
    if (!folder_verify(migrate))
        return migrate_refused(migrate,
            "the data folder does not verify: run 'stampede verify %.150s' and see what is wrong",
            migrate->from);
    return source_open(migrate) && numbers_check(migrate);
}
