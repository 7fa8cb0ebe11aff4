/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_folder.c: the log in a data folder: opened, and read in one pass. */
#include "journal/segment.h"
#include "verify/verify_parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TICKETS_MOST = 1000 * 1000 * 1000,
    BYTES_PER_ARRIVAL = 26, /* at least, in the log */
    END_TRIES = 5,
    END_WAIT_MS = 50,
    SEGMENT_BYTES_STANDARD = 64 * 1024 * 1024,
};

/* The server holds an exclusive lock while it runs. Asking takes a shared one for a moment. */
static bool server_runs(const char *folder)
{
    char path[CONFIG_TEXT + 32];
    snprintf(path, sizeof path, "%s/lock", folder);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return held;
}

struct file_sizes {
    struct disk *disk;
    uint64_t bytes, files;
};

static void size_add(void *context, const char *name)
{
    struct file_sizes *sizes = context;
    disk_file file;
    uint64_t bytes = 0;
    if (sizes->disk->ops->open(sizes->disk, name, DISK_READ, &file) != STATUS_OK)
        return;
    if (sizes->disk->ops->size(sizes->disk, file, &bytes) == STATUS_OK)
        sizes->bytes += bytes;
    sizes->files++;
    sizes->disk->ops->close(sizes->disk, file);
}

/* Tables large enough for anything that these files can say; memory is only used where it is
 * touched. */
static enum status tables_open(struct verify *verify, uint32_t bytes_per_ticket)
{
    struct disk *disk = verify->folder.journal;
    struct file_sizes segments = { .disk = disk }, snapshots = { .disk = disk };
    enum status status = disk->ops->list(disk, SEGMENT_PREFIX, size_add, &segments);
    if (status == STATUS_OK)
        status = disk->ops->list(disk, "snapshot-", size_add, &snapshots);
    if (status != STATUS_OK)
        return status;
    verify->segments = segments.files;
    verify->segment_bytes = segments.bytes;
    uint64_t tickets =
        segments.bytes / bytes_per_ticket + snapshots.bytes / sizeof(struct ticket_row) + 1024;
    if (tickets > TICKETS_MOST)
        tickets = TICKETS_MOST;
    uint64_t places =
        segments.bytes / BYTES_PER_ARRIVAL + snapshots.bytes / sizeof(struct place_row) + 1024;
    if (places > TICKETS_MOST)
        places = TICKETS_MOST;
    verify->config = (struct engine_config){
        .items_max = ITEMS_LIMIT, .sales_max = SALES_LIMIT, .tickets_max = tickets, .places_max = places
    };
    return STATUS_OK;
}

enum status verify_folder_open(struct verify *verify, uint32_t bytes_per_ticket, char error[CONFIG_ERROR])
{
    const struct verify_options *options = verify->options;
    char path[CONFIG_TEXT + 32];
    struct stat entry;
    snprintf(path, sizeof path, "%s/journal", options->folder);
    if (strlen(options->folder) >= CONFIG_TEXT || stat(path, &entry) != 0 || !S_ISDIR(entry.st_mode)) {
        snprintf(error, CONFIG_ERROR, "%.150s is not a data folder: it has no journal", options->folder);
        return STATUS_NOT_FOUND;
    }
    enum status status = data_folder_open(&verify->folder, options->folder, DATA_LOOK, error);
    if (status != STATUS_OK)
        return status;
    verify->running = server_runs(options->folder);
    verify->journal = (struct journal_config){ .disk = verify->folder.journal,
        .data_id = verify->folder.data_id,
        .segment_bytes = SEGMENT_BYTES_STANDARD,
        .batch_bytes = JOURNAL_BATCH_MAX };
    verify->folder_replay.engine = &verify->engine;
    verify->replay = &verify->folder_replay;
    status = tables_open(verify, bytes_per_ticket);
    if (status == STATUS_OK)
        status = verify_logs_make(verify, 1);
    if (status == STATUS_OK)
        verify->logs->imported = verify->folder.imported;
    if (status == STATUS_OK)
        status = verify_snapshots_list(verify);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "journal folder: %s", status_name(status));
    return status;
}

/* All of the log if it is kept; else the oldest snapshot from which the rest can be replayed.
 * `from` NULL in the answer: the snapshot is of the very position before the oldest record. */
static enum status start_choose(
    struct verify *verify, struct journal_position *position, const struct journal_position **from)
{
    uint64_t before_first = 0;
    *position = (struct journal_position){ 0 };
    *from = position;
    enum status status = journal_oldest(verify->folder.journal, &before_first);
    if (status != STATUS_OK || before_first == 0)
        return status == STATUS_OK ? engine_open(&verify->engine, &verify->config) : status;
    for (uint32_t i = 0; i < verify->snapshot_count; i++) {
        if (verify->snapshots[i].lsn < before_first)
            continue;
        if (verify_snapshot_load(verify, &verify->snapshots[i], &verify->engine, position) == STATUS_OK) {
            verify->from_snapshot = true;
            verify->start = position->lsn;
            *from = position->lsn == before_first ? NULL : position;
            return STATUS_OK;
        }
        engine_close(&verify->engine);
    }
    snprintf(verify->recovery.damage.what, sizeof verify->recovery.damage.what,
        "the log is kept from position %" PRIu64 " on, and no snapshot to begin with is readable",
        before_first + 1);
    return STATUS_CORRUPT;
}

static void tickets_recount(struct verify *verify)
{
    const struct tickets *tickets = &verify->engine.tickets;
    verify->tickets = verify->log->tickets = tickets->last;
    for (item_id id = 1; id < verify->config.items_max; id++)
        if (verify->engine.items[id].sale != 0)
            verify->items[id].log = verify->log;
    for (uint64_t i = 0; i < tickets->rows_end; i++)
        if (tickets->rows[i].used)
            verify->items[tickets->rows[i].item].tickets++;
}

/* Beside a running server: the end as it is now. What looks like damage there may be a batch on its
 * way; it is damage if the log does not grow past it. */
static enum status end_find(struct verify *verify, const struct journal_position *from, uint64_t *until)
{
    struct journal_recovery look;
    uint64_t last = 0;
    enum status status = STATUS_CORRUPT;
    for (int attempt = 0; attempt < END_TRIES; attempt++) {
        status = journal_scan(&verify->journal, from, NULL, NULL, &look);
        if (status != STATUS_CORRUPT || (attempt > 0 && look.end.lsn == last))
            break;
        last = look.end.lsn;
        usleep(END_WAIT_MS * 1000);
    }
    *until = look.end.lsn;
    if (status != STATUS_OK)
        verify->recovery = look;
    return status;
}

enum status verify_folder_replay(struct verify *verify)
{
    struct journal_position position;
    const struct journal_position *from;
    uint64_t until = UINT64_MAX;
    enum status status = start_choose(verify, &position, &from);
    if (status == STATUS_OK && verify->running)
        status = end_find(verify, from, &until);
    if (status != STATUS_OK)
        return status;
    /* Every record asks tables that are far larger than what a processor's caches and page tables
     * hold. */
    arena_prefer_large_pages(&verify->engine.arena);
    tickets_recount(verify);
    verify->log->engine = &verify->engine;
    status = verify_log_marks_open(verify->log, verify->config.tickets_max);
    if (status != STATUS_OK)
        return status;
    if (until == 0) {
        verify->recovery = (struct journal_recovery){ 0 };
    } else {
        status = journal_scan_until(
            &verify->journal, from, until, verify_record, verify, &verify->recovery);
    }
    if (verify->recovery.end.lsn == 0 && status == STATUS_OK)
        verify->recovery.end = position;
    verify->log->end = verify->recovery.end.lsn;
    verify->log->broken = status != STATUS_OK;
    if (status == STATUS_OK)
        verify_records_end(verify);
    return status;
}
