/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify.c: arguments, opening, the one pass over the journal, and the verdict. */
#include "verify/verify_parts.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/time_text.h"
#include "journal/segment.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_FULL_CHECK = 1 << 16, /* records */
    /* What a ticket takes in the journal: no win takes less than the first; lists of users take
     * less than the second for each user, and tables have room for 1.5 users a ticket. Small tables
     * are faster, so they are tried first. */
    BYTES_PER_TICKET = 64,
    BYTES_PER_LISTED_TICKET = 14,
    TICKETS_MOST = 1000 * 1000 * 1000,
    BYTES_PER_ARRIVAL = 26, /* at least, in the log */
    END_TRIES = 5,
    END_WAIT_MS = 50,
    SEGMENT_BYTES_STANDARD = 64 * 1024 * 1024,
};

void verify_fail(struct verify *verify, enum verify_check_id id, const char *format, ...)
{
    struct verify_check *check = &verify->checks[id];
    va_list arguments;
    check->ran = true;
    if (check->failures++ > 0)
        return;
    va_start(arguments, format);
    vsnprintf(check->what, sizeof check->what, format, arguments);
    va_end(arguments);
}

void verify_skip(struct verify *verify, enum verify_check_id id, const char *why)
{
    struct verify_check *check = &verify->checks[id];
    *check = (struct verify_check){ .ran = false };
    snprintf(check->what, sizeof check->what, "%s", why);
}

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
    const size_t bytes = ITEMS_LIMIT * (sizeof *verify->items + sizeof *verify->at_counts)
        + VERIFY_EVENTS_MAX * sizeof *verify->events + 4096;
    status = arena_open(&verify->arena, bytes);
    if (status != STATUS_OK)
        return status;
    verify->items = arena_take(&verify->arena, ITEMS_LIMIT, sizeof *verify->items);
    verify->at_counts = arena_take(&verify->arena, ITEMS_LIMIT, sizeof *verify->at_counts);
    verify->events = arena_take(&verify->arena, VERIFY_EVENTS_MAX, sizeof *verify->events);
    return STATUS_OK;
}

/* A mark for every number that was given or will be: those of the snapshot that replay begins with, and
 * as many as the log has room for. */
static enum status marks_open(struct verify *verify)
{
    verify->marks_end = verify->engine.tickets.last + verify->config.tickets_max + 1;
    const enum status status = arena_open(&verify->marks_arena, verify->marks_end + 4096);
    if (status == STATUS_OK)
        verify->marks = arena_take(&verify->marks_arena, verify->marks_end, 1);
    return status;
}

static enum status folder_open(struct verify *verify, uint32_t bytes_per_ticket, char error[CONFIG_ERROR])
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
    status = funnel_keys_derive(&verify->keys, verify->folder.master, sizeof verify->folder.master);
    invariant(status == STATUS_OK);
    status = tables_open(verify, bytes_per_ticket);
    if (status == STATUS_OK)
        status = verify_snapshots_list(verify);
    if (status != STATUS_OK)
        snprintf(error, CONFIG_ERROR, "journal folder: %s", status_name(status));
    return status;
}

static void user_choose(struct verify *verify)
{
    const char *user = verify->options->user;
    if (user == NULL)
        return;
    const struct span text = span_from_string(user);
    if (span_to_hex64(text, &verify->user) != STATUS_OK || verify->user == 0)
        verify->user = funnel_user_id(&verify->keys, text);
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
    verify->tickets = tickets->last;
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

static enum status journal_verify(struct verify *verify)
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
    status = marks_open(verify);
    if (status != STATUS_OK)
        return status;
    verify->replay.engine = &verify->engine;
    verify->full_check_at = FIRST_FULL_CHECK;
    verify->progress_ns = clock_monotonic_ns();
    if (until == 0) {
        verify->recovery = (struct journal_recovery){ 0 };
    } else {
        status = journal_scan_until(
            &verify->journal, from, until, verify_record, verify, &verify->recovery);
    }
    if (verify->recovery.end.lsn == 0 && status == STATUS_OK)
        verify->recovery.end = position;
    if (status == STATUS_OK)
        verify_records_end(verify);
    return status;
}

static void checks_settle(struct verify *verify, bool replayed)
{
    for (uint32_t id = 0; id < VERIFY_CHECKS; id++) {
        struct verify_check *check = &verify->checks[id];
        const bool of_store = id >= CHECK_DATABASE;
        if (check->failures > 0 || check->what[0] != 0)
            continue;
        if (of_store && verify->store == NULL)
            verify_skip(verify, id, verify->store_what);
        else if (of_store && id > CHECK_POSITION && !verify->store_compared)
            verify_skip(verify, id, "the log was not read up to the database's position");
        else if (!replayed && id != CHECK_DATA_ID && id != CHECK_DATABASE)
            verify_skip(verify, id, "the log was not read to its end");
        else
            check->ran = true;
    }
}

static void position_check(struct verify *verify)
{
    const lsn_t end = verify->recovery.end.lsn, position = verify->store_position.seq;
    if (verify->store == NULL)
        return;
    verify->checks[CHECK_POSITION].looked = 1;
    if (verify->store_data_id == 0 && end > 0)
        verify_fail(verify, CHECK_DATA_ID, "the database is new, but the journal ends at %" PRIu64, end);
    if (position > end)
        verify_fail(verify, CHECK_POSITION,
            "the journal is older than the database: it ends at %" PRIu64
            ", orders are written up to %" PRIu64,
            end, position);
    else if (position < verify->start)
        verify_fail(verify, CHECK_POSITION,
            "the database is older than the journal: orders are written up to %" PRIu64
            ", the log is replayed from %" PRIu64,
            position, verify->start + 1);
}

static void verdict_find(const struct verify *verify, enum status status, struct verify_verdict *verdict)
{
    const struct journal_damage *damage = &verify->recovery.damage;
    const bool damaged = status != STATUS_OK && verify->replay.what[0] == 0;
    if (damaged) {
        verdict->result = VERIFY_DAMAGED;
        snprintf(verdict->text, sizeof verdict->text,
            "FAILED: journal damaged: %s at byte %" PRIu64 ": %s",
            damage->segment[0] != 0 ? damage->segment : "journal", damage->offset,
            damage->what[0] != 0 ? damage->what : status_name(status));
        return;
    }
    for (uint32_t id = 0; id < VERIFY_CHECKS; id++) {
        if (verify->checks[id].failures == 0)
            continue;
        verdict->result = VERIFY_FAILED;
        snprintf(verdict->text, sizeof verdict->text, "FAILED: %s: %s", verify_check_title(id),
            verify->checks[id].what);
        return;
    }
    verdict->result = VERIFY_HOLDS;
    snprintf(verdict->text, sizeof verdict->text,
        "verified: %" PRIu64 " records, %" PRIu64 " tickets, all checks hold",
        verify->recovery.records, verify->tickets);
}

static void run_close(struct verify *verify)
{
    verify_store_close(verify);
    engine_close(&verify->engine);
    arena_close(&verify->marks_arena);
    arena_close(&verify->arena);
    explicit_bzero(&verify->keys, sizeof verify->keys);
    data_folder_close(&verify->folder);
}

/* A table that is full makes the engine refuse what the log says it did. */
static bool tables_too_small(const struct verify *verify)
{
    return verify->engine.items != NULL
        && (tickets_full(&verify->engine.tickets)
            || buyers_room(&verify->engine.buyers) < USERS_PER_COMMAND + 2);
}

static enum status run_once(struct verify *verify, uint32_t bytes_per_ticket, char error[CONFIG_ERROR])
{
    enum status status = folder_open(verify, bytes_per_ticket, error);
    if (status != STATUS_OK)
        return status;
    user_choose(verify);
    verify_store_open(verify);
    return journal_verify(verify);
}

static void verdict_tell(const struct verify *verify, const struct verify_verdict *verdict, FILE *out)
{
    if (verify->options->json)
        verify_report_json(verify->folder.root != NULL ? verify : NULL, verdict, out);
    else if (verify->options->quiet || verify->folder.root == NULL)
        fprintf(out, "%s\n", verdict->text);
    else
        verify_report_text(verify, verdict, out);
}

enum verify_result verify_run(const struct verify_options *options, FILE *out)
{
    static const struct verify nothing;
    struct verify verify = nothing;
    struct verify_verdict verdict = { .result = VERIFY_DAMAGED };
    char error[CONFIG_ERROR] = "";
    verify.options = options;
    enum status status = run_once(&verify, BYTES_PER_TICKET, error);
    if (status != STATUS_OK && tables_too_small(&verify)) {
        run_close(&verify);
        verify = nothing;
        verify.options = options;
        status = run_once(&verify, BYTES_PER_LISTED_TICKET, error);
    }
    if (error[0] != 0) {
        run_close(&verify);
        verify.options = options;
        snprintf(verdict.text, sizeof verdict.text, "FAILED: %s", error);
        verdict_tell(&verify, &verdict, out);
        return verdict.result;
    }
    if (status == STATUS_OK)
        position_check(&verify);
    checks_settle(&verify, status == STATUS_OK);
    if (status != STATUS_OK && verify.replay.what[0] == 0)
        verify_fail(&verify, CHECK_CHAIN, "%s", verify.recovery.damage.what);
    verdict_find(&verify, status, &verdict);
    verdict_tell(&verify, &verdict, out);
    run_close(&verify);
    return verdict.result;
}

static const char help_text[] =
    "usage: stampede verify DIR [--config FILE] [--user SUBJECT|ID] [--item N] [--at TIME] "
    "[--json] [--quiet]\n"
    "  Replays the journal of a data folder and checks that every unit is accounted "
    "for.\n"
    "  --config the settings, where they name a database server; else the database is in DIR\n"
    "  --user   explain why this user won or not: the shop's name of the user, or 16 hex "
    "digits\n"
    "  --item   show only this item in tables\n"
    "  --at     show the counts at this moment: ms since 1970, or "
    "2026-11-11T12:00:00.250Z\n"
    "  --json   print the report as JSON\n"
    "  --quiet  print only the last line\n"
    "  exit: 0 all checks hold, 1 a check failed, 2 the folder or its journal can't be "
    "read\n";

static int usage(const char *wrong)
{
    if (wrong != NULL)
        fprintf(stderr, "stampede verify: %s\n", wrong);
    fputs(help_text, wrong != NULL ? stderr : stdout);
    return wrong != NULL ? VERIFY_DAMAGED : VERIFY_HOLDS;
}

/* NULL: taken; else what is wrong. *used: how many arguments. */
static const char *argument_take(struct verify_options *options, char **argv, int *used)
{
    const char *name = argv[0], *value = argv[1];
    *used = 1;
    if (strcmp(name, "--json") == 0) {
        options->json = true;
    } else if (strcmp(name, "--quiet") == 0) {
        options->quiet = true;
    } else if (name[0] != '-' && options->folder == NULL) {
        options->folder = name;
    } else if (name[0] != '-') {
        return "more than one data folder";
    } else {
        *used = 2;
        if (strcmp(name, "--user") != 0 && strcmp(name, "--item") != 0 && strcmp(name, "--at") != 0
            && strcmp(name, "--config") != 0)
            return "unknown option";
        if (value == NULL || value[0] == 0)
            return "an option has no value";
        if (strcmp(name, "--user") == 0)
            options->user = value;
        else if (strcmp(name, "--config") == 0)
            options->settings = value;
        else if (strcmp(name, "--item") == 0)
            return span_to_u32(span_from_string(value), &options->item) == STATUS_OK && options->item > 0
                ? NULL
                : "--item must be a number from 1";
        else if (time_text_parse(span_from_string(value), 0, &options->at_ms) != STATUS_OK)
            return "--at must be ms since 1970, or like 2026-11-11T12:00:00.250Z";
        else
            options->at_wanted = true;
    }
    return NULL;
}

int verify_main(int argc, char **argv, verify_open open)
{
    struct verify_options options = { .open = open };
    for (int i = 1, used; i < argc; i += used) {
        if (strcmp(argv[i], "--help") == 0)
            return usage(NULL);
        const char *wrong = argument_take(&options, argv + i, &used);
        if (wrong != NULL)
            return usage(wrong);
    }
    if (options.folder == NULL)
        return usage("missing data folder");
    log_level_set(LOG_ERROR); /* the report says it */
    const enum verify_result result = verify_run(&options, stdout);
    return fflush(stdout) == 0 ? (int)result : VERIFY_DAMAGED;
}
