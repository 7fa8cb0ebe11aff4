/* SPDX-License-Identifier: Apache-2.0 */
/* backup/manifest.h: what a backup consists of, in its file `manifest`, which is written last: a folder
 * without it is no backup.
 *   stampede-backup 1
 *   data-id <16 hex digits>
 *   position <n>                       orders are in the database up to here
 *   journal-end <n>                    the log goes up to here
 *   time <ms since 1970>               when it was made
 *   end-time <ms since 1970>           of the last batch in the log
 *   file <SHA-256> <bytes> <name>      a line for each, the name relative to the folder
 *   sha256 <64 hex digits>             of everything before this line
 * Thread: any. Errors: those of the disk; STATUS_CORRUPT: not what was written. */
#ifndef STAMPEDE_BACKUP_MANIFEST_H
#define STAMPEDE_BACKUP_MANIFEST_H

#include "base/disk.h"
#include "base/hash.h"

#define MANIFEST_NAME "manifest"
enum { MANIFEST_FILES_MAX = DISK_FILES_MAX };
enum backup_part { BACKUP_ROOT, BACKUP_JOURNAL, BACKUP_MEDIA, BACKUP_PARTS };

struct backup_file {
    uint8_t part; /* enum backup_part */
    char name[DISK_NAME_MAX];
    uint64_t bytes;
    uint8_t hash[HASH_SHA256_BYTES];
};
struct manifest {
    uint64_t data_id, position, journal_end, time_ms, end_ms;
    uint32_t count;
    struct backup_file *files;
};
/* The folders of a backup or of a data folder; media may be NULL. */
struct backup_folders {
    struct disk *part[BACKUP_PARTS];
};

const char *backup_part_prefix(enum backup_part part); /* "", "journal/", "media/" */
/* Opens them, and makes them where they are missing if `make`. */
MUST_CHECK enum status backup_folders_open(struct backup_folders *, const char *path, bool make);
void backup_folders_close(struct backup_folders *);

void manifest_free(struct manifest *);
/* Reads the file, for its size and hash, and adds it. */
MUST_CHECK enum status manifest_add(
    struct manifest *, struct backup_folders *, enum backup_part part, const char *name);
MUST_CHECK enum status manifest_write(struct disk *root, const struct manifest *);
MUST_CHECK enum status manifest_read(struct disk *root, struct manifest *);
/* Every file is as it was when it was added. *wrong: the first that is not, if the status is
 * STATUS_CORRUPT or STATUS_NOT_FOUND. */
MUST_CHECK enum status manifest_check(
    const struct manifest *, struct backup_folders *, const struct backup_file **wrong);

#endif
