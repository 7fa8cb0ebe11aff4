/* SPDX-License-Identifier: Apache-2.0 */
/* backup/backup.c: `stampede backup`. In this order, so that whatever a running server does meanwhile,
 * the copy is one that could have been found after a crash:
 *   1. the database, as it is at one moment
 *   2. identity, admin keys, pictures (which never change under their names), snapshots
 *   3. the log up to its present end, which is not before the position of 1
 *   4. high-water, which says that nobody serves the folder before `stampede restore` has run
 *   5. the manifest with the hash of every file
 * Killed before 5 it is no backup, and is refused. */
#include "backup/backup.h"

#include "backup/file_copy.h"
#include "base/clock.h"
#include "base/time_text.h"
#include "config/data_folder.h"
#include "config/high_water.h"
#include "config/seal.h"
#include "contract/limits.h"
#include "journal/copy.h"
#include "store/sqlite/sqlite.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    JOURNAL_TRIES = 5,
    JOURNAL_WAIT_US = 100 * 1000,
    /* Numbers that the server may have given since, and that nobody may get again. */
    NUMBERS_LEFT_OUT = 1 << 20,
    PRODUCTS_LEFT_OUT = 64,
    SALES_LEFT_OUT = 8,
    ITEMS_LEFT_OUT = 32,
    BACKGROUND_NICE = 19,
};

struct making {
    struct data_folder folder;
    struct backup_folders from, to;
    struct manifest *manifest;
    char *error;
    const char *to_path;
};

static enum status failed(struct making *making, const char *what, enum status status)
{
    if (making->error[0] == 0)
        snprintf(making->error, CONFIG_ERROR, "%s: %s", what,
            status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
    return status;
}

/* ---- files ---- */

struct names {
    struct making *making;
    enum backup_part part;
    enum status status;
};

/* What goes away while we look is not needed. */
static void name_copy(void *context, const char *name)
{
    struct names *names = context;
    struct making *making = names->making;
    const size_t size = strlen(name);
    if (names->status != STATUS_OK || (size > 4 && strcmp(name + size - 4, ".tmp") == 0) || name[0] == '.')
        return;
    const enum status status =
        file_copy(making->from.part[names->part], making->to.part[names->part], name);
    if (status != STATUS_NOT_FOUND)
        names->status = status;
}

static enum status names_copy(struct making *making, enum backup_part part, const char *prefix)
{
    struct names names = { .making = making, .part = part, .status = STATUS_OK };
    struct disk *disk = making->from.part[part];
    if (disk == NULL)
        return STATUS_OK;
    const enum status status = disk->ops->list(disk, prefix, name_copy, &names);
    return status == STATUS_OK ? names.status : status;
}

static enum status files_copy(struct making *making)
{
    static const char *const of_root[] = { "identity", "admin-keys" };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof of_root / sizeof *of_root && status == STATUS_OK; i++) {
        status = file_copy(making->from.part[BACKUP_ROOT], making->to.part[BACKUP_ROOT], of_root[i]);
        if (status == STATUS_NOT_FOUND && i > 0)
            status = STATUS_OK; /* no key was made in the console */
    }
    if (status == STATUS_OK)
        status = names_copy(making, BACKUP_MEDIA, "");
    if (status == STATUS_OK)
        status = names_copy(making, BACKUP_JOURNAL, "snapshot-");
    return status == STATUS_OK ? STATUS_OK : failed(making, "a file can't be copied", status);
}

/* ---- the log ---- */

static void segment_remove(void *context, const char *name)
{
    struct disk *disk = context;
    (void)!disk->ops->remove(disk, name);
}

struct snapshot_look {
    uint64_t newest;
};
static void snapshot_see(void *context, const char *name)
{
    struct snapshot_look *look = context;
    uint64_t lsn = 0;
    if (span_to_hex64(span_from_string(name + strlen("snapshot-")), &lsn) == STATUS_OK && lsn > look->newest)
        look->newest = lsn;
}

/* What looks damaged beside a running server may be a batch on its way: it is tried again. */
static enum status log_copy(struct making *making)
{
    struct file_pace pace = { 0 };
    struct snapshot_look look = { 0 };
    struct disk *to = making->to.part[BACKUP_JOURNAL];
    struct journal_copy copy = { .from = making->folder.journal,
        .to = to,
        .data_id = making->folder.data_id,
        .until_lsn = UINT64_MAX,
        .until_ms = UINT64_MAX,
        .pace = file_pace_wait,
        .context = &pace };
    enum status status = STATUS_CORRUPT;
    for (int attempt = 0; attempt < JOURNAL_TRIES && status == STATUS_CORRUPT; attempt++) {
        if (attempt > 0) {
            usleep(JOURNAL_WAIT_US);
            const enum status listed = to->ops->list(to, "segment-", segment_remove, to);
            if (listed != STATUS_OK)
                return failed(making, "the journal can't be copied", listed);
        }
        status = journal_copy(&copy);
        if (status == STATUS_OK && copy.end.lsn < making->manifest->position)
            status = STATUS_CORRUPT;
    }
    if (status == STATUS_CORRUPT || status == STATUS_CONFLICT)
        snprintf(making->error, CONFIG_ERROR, "journal %s at byte %" PRIu64 ": %s",
            copy.damage.segment, copy.damage.offset,
            copy.damage.what[0] != 0 ? copy.damage.what : "the log ends before the database's position");
    if (status != STATUS_OK)
        return failed(making, "the journal can't be copied", status);
    making->manifest->journal_end = copy.end.lsn;
    making->manifest->end_ms = copy.end.time_ms;
    status = to->ops->list(to, "snapshot-", snapshot_see, &look);
    if (status == STATUS_OK && copy.before_first > look.newest) {
        snprintf(making->error, CONFIG_ERROR,
            "old parts of the log were removed while it was copied: run the backup again");
        return STATUS_CONFLICT;
    }
    return status == STATUS_OK ? STATUS_OK : failed(making, "the journal can't be copied", status);
}

/* ---- what the copy of the database says ---- */

static uint64_t left_out(const char *name, uint64_t last)
{
    const struct {
        const char *name;
        uint64_t more, most;
    } scarce[] = { { "products", PRODUCTS_LEFT_OUT, UINT32_MAX },
        { "sales", SALES_LEFT_OUT, SALES_LIMIT - 1 }, { "items", ITEMS_LEFT_OUT, ITEMS_LIMIT - 1 },
        { "audit", 0, UINT64_MAX } };
    for (size_t i = 0; i < sizeof scarce / sizeof *scarce; i++)
        if (strcmp(name, scarce[i].name) == 0)
            return last + scarce[i].more < scarce[i].most ? last + scarce[i].more : last;
    return last + NUMBERS_LEFT_OUT;
}

static enum status high_water_make(struct making *making, struct order_store *store)
{
    struct high_water mark = { 0 };
    bool changed, ahead;
    enum status status = high_water_look(&mark, store, &changed, &ahead);
    if (status != STATUS_OK)
        return status;
    for (uint32_t i = 0; i < mark.count; i++)
        mark.rows[i].reserved = left_out(mark.rows[i].used.name, mark.rows[i].used.last);
    mark.restoring = HIGH_WATER_FROM_BACKUP;
    making->manifest->position = mark.position;
    return high_water_write(making->to.part[BACKUP_ROOT], &mark);
}

static enum status database_copy(struct making *making)
{
    char path[CONFIG_TEXT + 32];
    struct order_store *store = NULL;
    struct file_pace pace = { 0 };
    uint64_t data_id = 0;
    snprintf(path, sizeof path, "%s/stampede.db", making->to_path);
    if (access(making->folder.database, F_OK) != 0) {
        snprintf(making->error, CONFIG_ERROR,
            "%.150s is not there. A database server is backed up with its own tools",
            making->folder.database);
        return STATUS_NOT_FOUND;
    }
    enum status status = sqlite_store_copy(
        making->folder.database, path, file_pace_wait, &pace, making->error, CONFIG_ERROR);
    if (status == STATUS_OK)
        status = sqlite_store_open(&store, path, NULL, making->error, CONFIG_ERROR);
    if (status == STATUS_OK)
        status = store->ops->identity(store, &data_id);
    if (status == STATUS_OK && data_id != making->folder.data_id)
        status = STATUS_CONFLICT;
    if (status == STATUS_OK)
        status = high_water_make(making, store);
    if (store != NULL)
        store->ops->close(store);
    return status == STATUS_OK ? STATUS_OK : failed(making, "the database can't be copied", status);
}

/* ---- the whole ---- */

static void manifest_see(void *context, const char *name)
{
    struct names *names = context;
    struct making *making = names->making;
    if (names->status == STATUS_OK && strcmp(name, "journal") != 0 && strcmp(name, "media") != 0)
        names->status = manifest_add(making->manifest, &making->to, names->part, name);
}

static enum status manifest_make(struct making *making)
{
    enum status status = STATUS_OK;
    for (uint32_t part = 0; part < BACKUP_PARTS && status == STATUS_OK; part++) {
        struct names names = { .making = making, .part = part, .status = STATUS_OK };
        struct disk *disk = making->to.part[part];
        status = disk->ops->list(disk, "", manifest_see, &names);
        if (status == STATUS_OK)
            status = names.status;
        if (status == STATUS_OK)
            status = disk->ops->sync_folder(disk);
    }
    making->manifest->data_id = making->folder.data_id;
    making->manifest->time_ms = clock_wall_ms();
    if (status == STATUS_OK)
        status = manifest_write(making->to.part[BACKUP_ROOT], making->manifest);
    return status == STATUS_OK ? STATUS_OK : failed(making, "the manifest can't be written", status);
}

static enum status making_open(struct making *making, const char *from, const char *to)
{
    if (strlen(to) >= CONFIG_TEXT || strlen(from) >= CONFIG_TEXT || !disk_folder_is_free(to)) {
        snprintf(making->error, CONFIG_ERROR,
            "%.150s is not empty: a backup needs a folder of its own", to);
        return STATUS_CONFLICT;
    }
    enum status status = data_folder_open(&making->folder, from, DATA_LOOK, making->error);
    if (status == STATUS_OK)
        status = seal_check(making->folder.root, making->error);
    if (status == STATUS_OK)
        status = backup_folders_open(&making->from, from, false);
    if (status == STATUS_OK)
        status = backup_folders_open(&making->to, to, true);
    return status == STATUS_OK ? STATUS_OK : failed(making, "a folder can't be opened", status);
}

enum status backup_make(const char *from, const char *to, struct manifest *made, char error[CONFIG_ERROR])
{
    struct making making = { .manifest = made, .error = error, .to_path = to };
    *made = (struct manifest){ 0 };
    error[0] = 0;
    enum status status = making_open(&making, from, to);
    if (status == STATUS_OK)
        status = database_copy(&making);
    if (status == STATUS_OK)
        status = files_copy(&making);
    if (status == STATUS_OK)
        status = log_copy(&making);
    if (status == STATUS_OK)
        status = manifest_make(&making);
    backup_folders_close(&making.from);
    backup_folders_close(&making.to);
    data_folder_close(&making.folder);
    return status;
}

static const char usage[] =
    "usage: stampede backup DIR --to FOLDER\n"
    "  Copies a data folder whose server may go on selling into a new folder, with a hash of "
    "every\n"
    "  file. `stampede restore --from FOLDER` makes a data folder of it (docs/backup.md).\n";

int backup_main(int argc, char **argv)
{
    struct manifest made;
    char error[CONFIG_ERROR], time[TIME_TEXT_BYTES];
    const bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (help || argc != 4 || strcmp(argv[2], "--to") != 0) {
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    umask(S_IRWXG | S_IRWXO);
    (void)!setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE); /* a shop that sells goes first */
    const enum status status = backup_make(argv[1], argv[3], &made, error);
    if (status == STATUS_OK) {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < made.count; i++)
            bytes += made.files[i].bytes;
        time_text_format(made.end_ms, time);
        printf("backed up: %" PRIu32 " files, %" PRIu64 " bytes, orders up to position %" PRIu64
               ", log up to position %" PRIu64 " (%s)\n",
            made.count, bytes, made.position, made.journal_end,
            made.journal_end > 0 ? time : "no record yet");
    } else {
        fprintf(stderr, "stampede backup: %s\n", error);
    }
    manifest_free(&made);
    return status == STATUS_OK ? 0 : 1;
}
