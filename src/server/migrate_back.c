/* SPDX-License-Identifier: Apache-2.0 */
/* server/migrate_back.c: from many machines to one, in this order:
 *   1. checks, which change nothing: nobody serves the shop, it verifies, its partitions come to one state
 *   2. the shop is sealed in its database: no process serves it
 *   3. the folder is made; a seal in it says that a shop is coming, so nobody serves it
 *   4. rows
 *   5. live state: a snapshot, an empty journal after it, and the numbers of the tickets
 *   6. rows are compared, and the folder is verified
 *   7. the database says which folder has the shop, once and for good; then the folder's seal goes
 * Many machines and folder are never both open: 2 shuts the one, 7 opens the other. Two folders are never
 * both open: only one can be the one of 7. Killed anywhere and run again with the same words, it goes on. */
#include "server/migrate_back.h"

#include "base/clock.h"
#include "base/random.h"
#include "config/cluster_secret.h"
#include "config/identity.h"
#include "config/imported.h"
#include "contract/cluster_store.h"
#include "contract/order_store.h"
#include "inventory/snapshot.h"
#include "server/database.h"
#include "server/migrate_parts.h"
#include "server/migrate_state.h"
#include "store/store.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_BYTES = 1024 * 1024 };

struct back {
    struct migrate *migrate; /* from: the settings; to: the folder. `target` is what the settings say */
    struct order_store *cluster;
    struct sql_connection *connection; /* of the cluster */
    struct data_folder identity;       /* data id and secret of the shop */
    struct migrate_state state;
};

static bool failed(struct back *back, const char *what, enum status status)
{
    return migrate_failed(back->migrate, what, status);
}

/* A step that changes something has come to its end. */
static bool step_end(struct back *back, enum status status, const char *wrong, const char *done)
{
    if (status != STATUS_OK)
        return failed(back, wrong, status);
    migrate_step_tell(back->migrate, done);
    return true;
}

/* ---- 1: checks ---- */

static bool settings_check(struct back *back)
{
    struct migrate *migrate = back->migrate;
    const struct config *config = &migrate->target;
    if (database_settings_read(&migrate->target, migrate->from, migrate->error) != STATUS_OK)
        return false;
    if (!cluster_is_set(config) || database_is_file(config))
        return migrate_refused(migrate,
            "%.150s does not name many machines: a shop moves from a data folder to many machines, "
            "or "
            "from the settings of many machines to a data folder",
            migrate->from);
    return cluster_secret_use(&back->identity, config, migrate->error) == STATUS_OK
        && database_open(&back->cluster, config, NULL, NULL, migrate->error) == STATUS_OK;
}

static bool members_check(struct back *back)
{
    const struct cluster_store_ops *ops = back->cluster->ops->cluster;
    struct member *rows = calloc(MEMBERS_MAX, sizeof *rows);
    uint32_t count = 0;
    uint64_t now_ms = 0;
    bool good = true;
    enum status status = rows == NULL ? STATUS_FULL : ops->now(back->cluster, &now_ms);
    if (status == STATUS_OK)
        status = ops->member_list(back->cluster, rows, MEMBERS_MAX, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK && good; i++)
        if (member_is_live(&rows[i], now_ms))
            good = migrate_refused(back->migrate,
                "%s %.60s runs, or was killed in the last 10 s: stop all processes"
                " of the shop first",
                rows[i].role, rows[i].name);
    free(rows);
    return status == STATUS_OK ? good : failed(back, "the members can't be read", status);
}

/* The folder is not there, is empty, or is the one that this move has begun. */
static bool folder_check(struct back *back)
{
    static const char *const names[] = { "identity", "journal", "stampede.db" };
    struct migrate *migrate = back->migrate;
    char path[CONFIG_TEXT + 32];
    struct disk *root = NULL;
    if (access(migrate->to, F_OK) != 0)
        return true;
    enum status status = disk_folder_open(migrate->to, &root);
    if (status == STATUS_OK)
        status = seal_read(root, &migrate->seal);
    if (root != NULL)
        disk_folder_close(root);
    if (status != STATUS_OK)
        return failed(back, "the folder can't be read", status);
    if (migrate->seal.move != 0 && migrate->seal.comes)
        return migrate->seal.target == seal_target(&migrate->target)
            || migrate_refused(migrate, "another shop is being moved into this folder");
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", migrate->to, names[i]);
        if (access(path, F_OK) == 0)
            return migrate_refused(migrate,
                "%.150s is in use: a shop moves into a folder that is not there, or is empty",
                migrate->to);
    }
    return true;
}

static bool moving_check(struct back *back, bool *done)
{
    struct migrate *migrate = back->migrate;
    struct store_move *found = &migrate->found;
    const enum status status = store_move_read(back->connection, found);
    *done = false;
    if (status != STATUS_OK)
        return failed(back, "the database can't be read", status);
    const enum shop_moving moving = store_move_state(found);
    if (found->data_id != back->identity.data_id)
        return migrate_refused(migrate, "the database has no shop, or one with another secret");
    if (moving == SHOP_COMES)
        return migrate_refused(migrate, "a shop is being moved into this database: end that first");
    *done = moving == SHOP_LEFT;
    if (*done && found->move != migrate->seal.move)
        return migrate_refused(migrate,
            access(migrate->to, F_OK) == 0 && migrate->seal.move == 0
                ? "the shop has moved already"
                : "the shop has moved to another folder already");
    return true;
}

static bool source_verify(struct back *back)
{
    struct migrate *migrate = back->migrate;
    const struct verify_options options = {
        .settings = migrate->from, .open = database_verify_open, .quiet = true
    };
    uint64_t dead = 0;
    const enum status status = store_move_dead(back->connection, &dead);
    if (status != STATUS_OK)
        return failed(back, "dead letters can't be counted", status);
    if (dead > 0)
        return migrate_refused(
            migrate, "%" PRIu64 " dead letters are open: retry or close them first", dead);
    return verify_run(&options, stdout) == VERIFY_HOLDS
        || migrate_refused(migrate,
            "the shop does not verify: run 'stampede verify --config %.150s' and see what is wrong",
            migrate->from);
}

static bool state_read(struct back *back)
{
    const struct config *config = &back->migrate->target;
    migrate_state_close(&back->state);
    back->state = (struct migrate_state){ .store = back->cluster,
        .data_id = back->identity.data_id,
        .bounds = { .items_max = (uint32_t)config->items_max,
            .sales_max = (uint32_t)config->sales_max,
            .tickets_max = config->tickets_max,
            .places_max = config->room_places_max } };
    return migrate_state_read(&back->state) == STATUS_OK
        || migrate_refused(back->migrate, "the partitions don't come to one state: %s", back->state.what);
}

/* ---- 2, 3: seals ---- */

static bool shop_seal(struct back *back)
{
    if (store_move_state(&back->migrate->found) == SHOP_LEAVES)
        return true;
    return step_end(back, store_move_seal(back->connection), "the shop can't be sealed",
        "The shop of the many machines is sealed.");
}

/* The seal first: a folder without it could be served. */
static bool folder_make(struct back *back)
{
    struct migrate *migrate = back->migrate;
    char line[IDENTITY_BYTES];
    struct disk *root = NULL;
    if (migrate->seal.move != 0)
        return true;
    random_secret(&migrate->seal.move, sizeof migrate->seal.move);
    migrate->seal.move = (migrate->seal.move >> 1 | 4) & ~UINT64_C(1); /* even, and not STORE_SEALED */
    migrate->seal.target = seal_target(&migrate->target);
    migrate->seal.time_ms = clock_now_ms();
    migrate->seal.comes = true;
    enum status status = disk_folder_open(migrate->to, &root);
    if (status == STATUS_OK) {
        identity_line(&back->identity, line);
        status = seal_write(root, &migrate->seal);
        if (status == STATUS_OK)
            status = disk_replace(root, "identity.tmp", "identity", line, sizeof line);
        explicit_bzero(line, sizeof line);
        disk_folder_close(root);
    }
    return step_end(back, status, "the folder can't be made", "The folder is made.");
}

static bool folder_open(struct back *back)
{
    struct migrate *migrate = back->migrate;
    const struct config one = migrate->target;
    char error[CONFIG_ERROR];
    if (data_folder_open(&migrate->folder, migrate->to, DATA_SERVE, migrate->error) != STATUS_OK)
        return false;
    if (migrate->folder.data_id != back->identity.data_id)
        return migrate_refused(migrate, "the folder has another identity than the shop: remove it");
    migrate->source = one;
    snprintf(migrate->source.store_kind, sizeof migrate->source.store_kind, "sqlite");
    if (database_open(&migrate->store, &migrate->source, migrate->folder.database, NULL, error) != STATUS_OK)
        return migrate_refused(migrate, "the folder: %s", error);
    return true;
}

/* ---- 4, 5: rows and state ---- */

static bool rows_failed(struct back *back, const char *what, enum status status)
{
    return status == STATUS_OK
        || migrate_refused(back->migrate, "%s: %.200s", what,
            back->migrate->copy.error[0] != 0 ? back->migrate->copy.error : status_name(status));
}

static bool rows_copy(struct back *back)
{
    struct migrate *migrate = back->migrate;
    struct store_copy *copy = &migrate->copy;
    struct store_move move = { .data_id = back->identity.data_id,
        .secret_check = data_folder_secret_check(&back->identity),
        .move = migrate->seal.move };
    struct store_move found;
    copy->from = back->connection;
    copy->to = store_connection(migrate->store);
    copy->told = migrate_copied_tell;
    copy->context = migrate;
    enum status status = store_move_read(copy->to, &found);
    if (status == STATUS_OK && found.move != move.move)
        status = store_move_begin(copy->to, &move);
    if (status != STATUS_OK)
        return failed(back, "the folder's database can't be written", status);
    migrate_progress_begin(migrate);
    if (!rows_failed(back, "rows can't be counted", store_copy_count(copy))
        || !rows_failed(back, "rows can't be copied", store_copy_run(copy)))
        return false;
    migrate->rows_found = copy->found;
    return true;
}

static bool state_write(struct back *back)
{
    struct migrate *migrate = back->migrate;
    const struct journal_position *position = &back->state.position;
    const struct journal_config journal = { .disk = migrate->folder.journal,
        .data_id = back->identity.data_id,
        .segment_bytes = migrate->target.segment_bytes,
        .batch_bytes = BATCH_BYTES };
    struct position there = { 0 };
    enum status status = migrate->store->ops->applied(migrate->store, PART_EMBEDDED, &there);
    if (status == STATUS_OK && there.seq == position->lsn)
        return true; /* the last of it is there */
    if (status == STATUS_OK)
        status = imported_write(migrate->folder.root, back->state.ranges);
    if (status == STATUS_OK)
        status = snapshot_write(
            migrate->folder.journal, &back->state.engine, back->identity.data_id, position);
    if (status == STATUS_OK)
        status = journal_begin(&journal, position->lsn + 1);
    if (status == STATUS_OK)
        status = store_move_position(store_connection(migrate->store), position->lsn);
    return step_end(back, status, "the state can't be written", "Live state is written.");
}

/* ---- 6, 7: the end ---- */

static bool folder_verify(struct back *back)
{
    struct migrate *migrate = back->migrate;
    const struct verify_options options = { .folder = migrate->to, .quiet = true };
    printf("All is copied; now it is compared.\n");
    migrate->copy.told = migrate_compared_tell;
    migrate_progress_begin(migrate);
    if (!rows_failed(back, "the copy differs", store_copy_compare(&migrate->copy)))
        return false;
    return verify_run(&options, stdout) == VERIFY_HOLDS
        || migrate_refused(
            migrate, "the folder does not verify: see 'stampede verify %.150s'", migrate->to);
}

/* Only one folder can be told to the database. */
static bool shop_leave(struct back *back)
{
    const uint64_t folder = back->migrate->seal.move;
    enum status status = store_move_open(store_connection(back->migrate->store), folder);
    status = status == STATUS_OK ? store_move_leave(back->connection, folder) : status;
    if (status == STATUS_CONFLICT)
        return migrate_refused(back->migrate, "the shop has moved to another folder meanwhile");
    return step_end(back, status, "the database of the many machines can't be written",
        "The shop has left the many machines.");
}

static bool seal_end(struct back *back, struct disk *root)
{
    const enum status status = seal_remove(root);
    return step_end(back, status == STATUS_NOT_FOUND ? STATUS_OK : status,
        "the folder's seal can't be removed", "The folder is open.");
}

/* The database says that this folder has the shop: only the seal is left. */
static bool seal_end_again(struct back *back)
{
    struct disk *root = NULL;
    if (disk_folder_open(back->migrate->to, &root) != STATUS_OK)
        return migrate_refused(back->migrate, "the folder can't be opened");
    const bool good = seal_end(back, root);
    disk_folder_close(root);
    return good;
}

static bool back_run(struct back *back)
{
    struct migrate *migrate = back->migrate;
    bool done = false;
    if (!settings_check(back))
        return false;
    back->connection = store_connection(back->cluster);
    if (!folder_check(back) || !moving_check(back, &done))
        return false;
    if (done)
        return seal_end_again(back);
    if (!members_check(back) || !source_verify(back) || !state_read(back) || !shop_seal(back)
        || !members_check(back) || !state_read(back) || !folder_make(back) || !folder_open(back)
        || !rows_copy(back) || !state_write(back) || !folder_verify(back) || !members_check(back)
        || !shop_leave(back) || !seal_end(back, migrate->folder.root))
        return false;
    printf("Moved: %" PRIu64 " rows of %u tables (%" PRIu64
           " were there already), and the state of %" PRIu64
           " records of %u partitions with %" PRIu64 " tickets.\n",
        migrate->copy.rows, migrate->copy.tables, migrate->rows_found, back->state.records,
        back->state.partitions, back->state.engine.tickets.last);
    if (back->state.keys_dropped > 0)
        printf("%" PRIu64
               " purchases have no key any more: their buyer used it in another sale, too.\n",
            back->state.keys_dropped);
    return true;
}

bool migrate_back_run(struct migrate *migrate)
{
    struct back *back = calloc(1, sizeof *back);
    invariant(back != NULL);
    back->migrate = migrate;
    clock_start(0);
    const enum status status = store_copy_open(&migrate->copy);
    const bool good = status == STATUS_OK ? back_run(back) : failed(back, "tables", status);
    migrate_state_close(&back->state);
    if (back->cluster != NULL)
        back->cluster->ops->close(back->cluster);
    explicit_bzero(back, sizeof *back);
    free(back);
    return good;
}
