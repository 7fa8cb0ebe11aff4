/* SPDX-License-Identifier: Apache-2.0 */
/* backup/backup_return.c: from a backup to a data folder. Every file is compared with the manifest
 * before the first is written. The new folder grows under another name (`DIR.part`) and gets its own at the
 * end, so nobody can start a server on half of it. Its file high-water says that `stampede restore` has to
 * end first. */
#include "backup/backup.h"

#include "backup/file_copy.h"
#include "base/time_text.h"
#include "config/data_folder.h"
#include "journal/copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct returning {
    struct backup_return *asked;
    struct backup_folders from, to;
    struct disk *journal; /* where the log comes from */
    struct manifest manifest;
    char part[CONFIG_TEXT + 8];
    char *error;
};

static enum status failed(struct returning *returning, const char *what, enum status status)
{
    if (returning->error[0] == 0)
        snprintf(returning->error, CONFIG_ERROR, "%s: %s", what,
            status == STATUS_IO ? strerrordesc_np(errno) : status_name(status));
    return status;
}

static enum status refused(struct returning *returning, const char *what)
{
    snprintf(returning->error, CONFIG_ERROR, "%s", what);
    return STATUS_CONFLICT;
}

static enum status backup_check(struct returning *returning)
{
    const struct backup_file *wrong = NULL;
    enum status status = backup_folders_open(&returning->from, returning->asked->from, false);
    if (status == STATUS_OK)
        status = manifest_read(returning->from.part[BACKUP_ROOT], &returning->manifest);
    if (status == STATUS_NOT_FOUND)
        return refused(returning, "it is not a whole backup: it has no manifest");
    if (status == STATUS_CORRUPT)
        return refused(returning, "its manifest is damaged: take another backup");
    if (status == STATUS_OK)
        status = manifest_check(&returning->manifest, &returning->from, &wrong);
    if (status != STATUS_OK && wrong != NULL) {
        snprintf(returning->error, CONFIG_ERROR, "the backup is damaged: %s%s %s; take another one",
            backup_part_prefix(wrong->part), wrong->name,
            status == STATUS_NOT_FOUND ? "is missing" : "is not as it was when the backup was made");
        return STATUS_CONFLICT;
    }
    return status == STATUS_OK ? STATUS_OK : failed(returning, "the backup can't be read", status);
}

static enum status targets_open(struct returning *returning)
{
    const struct backup_return *asked = returning->asked;
    if (strlen(asked->to) >= CONFIG_TEXT)
        return refused(returning, "the name of the data folder is too long");
    snprintf(returning->part, sizeof returning->part, "%s.part", asked->to);
    if (access(asked->to, F_OK) == 0 && rmdir(asked->to) != 0) /* an empty one may be there */
        return refused(returning,
            "the data folder exists and is not empty: move it away, or name another one");
    if (access(returning->part, F_OK) == 0) {
        snprintf(returning->error, CONFIG_ERROR,
            "%.150s is left from a restore that was interrupted: remove it", returning->part);
        return STATUS_CONFLICT;
    }
    enum status status = backup_folders_open(&returning->to, returning->part, true);
    returning->journal = returning->from.part[BACKUP_JOURNAL];
    if (status == STATUS_OK && asked->journal != NULL)
        status = access(asked->journal, R_OK) != 0
            ? STATUS_NOT_FOUND
            : disk_folder_open(asked->journal, &returning->journal);
    return status == STATUS_OK ? STATUS_OK : failed(returning, "a folder can't be opened", status);
}

static bool is_snapshot(const struct backup_file *file, uint64_t *lsn)
{
    return file->part == BACKUP_JOURNAL && strncmp(file->name, "snapshot-", 9) == 0
        && span_to_hex64(span_from_string(file->name + 9), lsn) == STATUS_OK;
}

static enum status log_return(struct returning *returning)
{
    struct backup_return *asked = returning->asked;
    struct journal_copy copy = { .from = returning->journal,
        .to = returning->to.part[BACKUP_JOURNAL],
        .data_id = returning->manifest.data_id,
        .until_lsn = asked->until_lsn,
        .until_ms = asked->until_ms,
        .dense = true };
    const enum status status = journal_copy(&copy);
    asked->end_lsn = copy.end.lsn;
    asked->end_ms = copy.end.time_ms;
    asked->position = returning->manifest.position;
    if (status == STATUS_CORRUPT || status == STATUS_CONFLICT)
        snprintf(returning->error, CONFIG_ERROR, "journal %s at byte %" PRIu64 ": %s",
            copy.damage.segment, copy.damage.offset, copy.damage.what);
    if (status != STATUS_OK)
        return failed(returning, "the journal can't be copied", status);
    if (copy.end.lsn >= asked->position)
        return STATUS_OK;
    snprintf(returning->error, CONFIG_ERROR,
        "the backup has orders up to position %" PRIu64
        ", but the log up to that point ends at %" PRIu64
        ": take an older backup, or a later point",
        asked->position, copy.end.lsn);
    return STATUS_CONFLICT;
}

static enum status files_return(struct returning *returning)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < returning->manifest.count && status == STATUS_OK; i++) {
        const struct backup_file *file = &returning->manifest.files[i];
        uint64_t lsn = 0;
        if (file->part == BACKUP_JOURNAL && (!is_snapshot(file, &lsn) || lsn > returning->asked->end_lsn))
            continue;
        status = file_copy(returning->from.part[file->part], returning->to.part[file->part], file->name);
    }
    for (uint32_t part = 0; part < BACKUP_PARTS && status == STATUS_OK; part++)
        status = returning->to.part[part]->ops->sync_folder(returning->to.part[part]);
    return status == STATUS_OK ? STATUS_OK : failed(returning, "a file can't be copied", status);
}

static void name_remove(void *context, const char *name)
{
    struct disk *disk = context;
    (void)!disk->ops->remove(disk, name);
}

/* Nothing is left of what did not come to its end. */
static void part_remove(struct returning *returning)
{
    for (uint32_t part = BACKUP_PARTS; part-- > 0;) {
        struct disk *disk = returning->to.part[part];
        char path[sizeof returning->part + 16];
        if (disk == NULL)
            continue;
        (void)!disk->ops->list(disk, "", name_remove, disk);
        snprintf(path, sizeof path, "%s/%s", returning->part, backup_part_prefix((enum backup_part)part));
        (void)!rmdir(path);
    }
}

/* The last step: the folder gets its name. */
static enum status name_give(struct returning *returning)
{
    struct disk *root = NULL;
    char parent[CONFIG_TEXT + 8];
    if (rename(returning->part, returning->asked->to) != 0)
        return failed(returning, "the data folder can't get its name", STATUS_IO);
    snprintf(parent, sizeof parent, "%s/..", returning->asked->to);
    enum status status = disk_folder_open(parent, &root);
    if (status == STATUS_OK)
        status = root->ops->sync_folder(root);
    disk_folder_close(root);
    return status == STATUS_OK ? STATUS_OK
                               : failed(returning, "the data folder can't be synced", status);
}

enum status backup_return(struct backup_return *asked, char error[CONFIG_ERROR])
{
    struct returning returning = { .asked = asked, .error = error };
    const bool loses =
        asked->journal == NULL || asked->until_lsn != UINT64_MAX || asked->until_ms != UINT64_MAX;
    error[0] = 0;
    if (loses && !asked->lose_later)
        return refused(&returning,
            "orders that customers were told of after the backup, or after --until, are not in it "
            "and "
            "are lost. If that is meant, add --lose-later-orders; if the journal of the lost "
            "folder is "
            "still there, give it with --journal");
    enum status status = backup_check(&returning);
    if (status == STATUS_OK)
        status = targets_open(&returning);
    if (status == STATUS_OK)
        status = log_return(&returning);
    if (status == STATUS_OK)
        status = files_return(&returning);
    if (status == STATUS_OK)
        status = name_give(&returning);
    else
        part_remove(&returning);
    if (returning.journal != NULL && returning.journal != returning.from.part[BACKUP_JOURNAL])
        disk_folder_close(returning.journal);
    backup_folders_close(&returning.from);
    backup_folders_close(&returning.to);
    manifest_free(&returning.manifest);
    return status;
}
