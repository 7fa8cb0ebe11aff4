/* SPDX-License-Identifier: Apache-2.0 */
/* server/migrate.c: what `stampede migrate` does, in this order:
 *   1. checks, which change nothing
 *   2. the folder is sealed: from here on nobody sells from it
 *   3. the secret is written to the file that the target's settings name
 *   4. orders are written up to the end of the log
 *   5. the target says that it is being filled: no server serves it
 *   6. rows, then the log; partition 0 stands at its end
 *   7. both are compared row by row, and the target is verified
 *   8. the target is open; then the seal says that the move is done
 * Source and target are never both open: the one is shut by 2, the other one opens with 8, and nothing opens
 * the source again. Killed anywhere and run again with the same words, it goes on: each step finds what is
 * done of it. */
#include "server/migrate.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "contract/order_store.h"
#include "contract/ticket_queue.h"
#include "server/catch_up.h"
#include "server/database.h"
#include "server/migrate_back.h"
#include "server/migrate_log.h"
#include "server/migrate_parts.h"
#include "store/store.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool migrate_failed(struct migrate *migrate, const char *what, enum status status)
{
    if (migrate->error[0] == 0)
        snprintf(migrate->error, sizeof migrate->error, "%s: %s", what, status_name(status));
    return false;
}

bool migrate_refused(struct migrate *migrate, const char *format, ...)
{
    va_list arguments;
    if (migrate->error[0] != 0) /* the first one is the cause */
        return false;
    va_start(arguments, format);
    vsnprintf(migrate->error, sizeof migrate->error, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- steps ---- */

static bool folder_seal(struct migrate *migrate)
{
    struct seal *seal = &migrate->seal;
    if (seal->move != 0)
        return true;
    random_secret(&seal->move, sizeof seal->move);
    seal->move = seal->move >> 1 | 1; /* 0 is none */
    seal->target = seal_target(&migrate->target);
    seal->time_ms = clock_now_ms();
    const enum status status = seal_write(migrate->folder.root, seal);
    if (status != STATUS_OK)
        return migrate_failed(migrate, "the data folder can't be sealed", status);
    migrate_step_tell(migrate, "The data folder is sealed.");
    return true;
}

static bool secret_write(struct migrate *migrate)
{
    bool written = false;
    if (!migrate_secret_write(migrate, &written))
        return false;
    if (written)
        migrate_step_tell(
            migrate, "The secret of the shop is in the file that cluster.secret_file names.");
    return true;
}

static bool orders_write(struct migrate *migrate)
{
    struct catch_up progress;
    const enum status status = catch_up_run(&progress, migrate->queue, migrate->store);
    if (status != STATUS_OK)
        return migrate_failed(migrate,
            progress.trouble == NULL ? "orders can't be written" : progress.trouble, status);
    printf("Orders are written up to record %" PRIu64 ".\n", migrate->end);
    if (progress.records > 0)
        migrate_changed(migrate);
    return true;
}

static bool target_begin(struct migrate *migrate)
{
    const struct store_move move = { .data_id = migrate->folder.data_id,
        .secret_check = data_folder_secret_check(&migrate->folder),
        .move = migrate->seal.move };
    if (migrate->found.move == move.move)
        return true;
    const enum status status = store_move_begin(migrate->connection, &move);
    if (status == STATUS_CONFLICT)
        return migrate_refused(migrate, "somebody has begun to use the target's database meanwhile");
    if (status != STATUS_OK)
        return migrate_failed(migrate, "the target can't be written", status);
    migrate_step_tell(migrate, "The target is being filled.");
    return true;
}

static bool target_failed(struct migrate *migrate, const char *what, enum status status)
{
    if (status == STATUS_OK)
        return true;
    return migrate_refused(migrate, "%s: %.200s", what,
        migrate->copy.error[0] != 0 ? migrate->copy.error
                                    : migrate->connection->driver->message(migrate->connection));
}

static bool log_copy(struct migrate *migrate)
{
    struct migrate_log log = { .journal = { .disk = migrate->folder.journal,
                                   .data_id = migrate->folder.data_id,
                                   .segment_bytes = migrate->source.segment_bytes,
                                   .batch_bytes = JOURNAL_BATCH_MAX },
        .end = migrate->end,
        .to = migrate->connection,
        .told = migrate_records_tell,
        .context = migrate };
    migrate_progress_begin(migrate);
    enum status status = migrate_log_copy(&log);
    if (status != STATUS_OK && log.what != NULL)
        return migrate_failed(migrate, log.what, status);
    migrate->entries = log.entries;
    if (status == STATUS_OK)
        status = store_move_part(migrate->connection, migrate->end, migrate->sales);
    return target_failed(migrate, "the log can't be copied", status);
}

static bool shop_copy(struct migrate *migrate)
{
    struct store_copy *copy = &migrate->copy;
    copy->from = store_connection(migrate->store);
    copy->to = migrate->connection;
    copy->told = migrate_copied_tell;
    copy->context = migrate;
    migrate_progress_begin(migrate);
    if (!target_failed(migrate, "rows can't be counted", store_copy_count(copy))
        || !target_failed(migrate, "rows can't be copied", store_copy_run(copy)) || !log_copy(migrate))
        return false;
    migrate->rows_found = copy->found;
    printf("All is copied; now it is compared.\n");
    copy->told = migrate_compared_tell;
    migrate_progress_begin(migrate);
    return target_failed(migrate, "the copy differs", store_copy_compare(copy));
}

static bool target_verify(struct migrate *migrate)
{
    const struct verify_options options = {
        .settings = migrate->to, .open = database_verify_open, .quiet = true
    };
    if (verify_run(&options, stdout) != VERIFY_HOLDS)
        return migrate_refused(migrate,
            "the target does not verify: see 'stampede verify --config %.150s'", migrate->to);
    return true;
}

static bool target_open(struct migrate *migrate)
{
    const enum status status = store_move_open(migrate->connection, migrate->seal.move);
    if (!target_failed(migrate, "the target can't be opened", status))
        return false;
    migrate_step_tell(migrate, "The target is open.");
    return true;
}

static bool seal_end(struct migrate *migrate)
{
    migrate->seal.done = true;
    const enum status status = seal_write(migrate->folder.root, &migrate->seal);
    return status == STATUS_OK || migrate_failed(migrate, "the seal can't be written", status);
}

/* ---- the command ---- */

static bool migrate_open(struct migrate *migrate)
{
    if (database_settings_read(&migrate->target, migrate->to, migrate->error) != STATUS_OK
        || data_folder_open(&migrate->folder, migrate->from, DATA_MOVE, migrate->error) != STATUS_OK)
        return false;
    enum status status = seal_read(migrate->folder.root, &migrate->seal);
    if (status != STATUS_OK)
        return migrate_failed(migrate, "the file moved in the data folder", status);
    status = store_copy_open(&migrate->copy);
    return status == STATUS_OK || migrate_failed(migrate, "tables", status);
}

static void migrate_close(struct migrate *migrate)
{
    if (migrate->queue != NULL)
        migrate->queue->ops->close(migrate->queue);
    if (migrate->store != NULL)
        migrate->store->ops->close(migrate->store);
    if (migrate->connection != NULL)
        migrate->connection->driver->close(migrate->connection);
    explicit_bzero(&migrate->keys, sizeof migrate->keys);
    host_close(&migrate->host);
    store_copy_close(&migrate->copy);
    data_folder_close(&migrate->folder);
}

static bool migrate_run(struct migrate *migrate)
{
    if (!migrate_open(migrate) || !migrate_target_check(migrate))
        return false;
    if (migrate->seal.move != 0 && migrate->found.move == migrate->seal.move && !migrate->found.filling) {
        printf("The shop has moved already.\n");
        return seal_end(migrate);
    }
    if (!migrate_source_check(migrate) || !folder_seal(migrate) || !secret_write(migrate)
        || !orders_write(migrate) || !target_begin(migrate) || !shop_copy(migrate)
        || !target_verify(migrate) || !target_open(migrate) || !seal_end(migrate))
        return false;
    printf("Moved: %" PRIu64 " rows of %u tables (%" PRIu64 " were there already), and %" PRIu64
           " records of the log in %" PRIu64 " entries; sales up to %" PRIu64
           " go on in partition 0.\n",
        migrate->copy.rows, migrate->copy.tables, migrate->rows_found, migrate->end,
        migrate->entries, migrate->sales);
    return true;
}

static bool file_is_named(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && !S_ISDIR(found.st_mode);
}

static const char help_text[] =
    "usage: stampede migrate --from DIR --to FILE\n"
    "       stampede migrate --from FILE --to DIR\n"
    "  Moves the shop of a data folder, whose server is stopped, to many machines; or the shop of\n"
    "  many machines, whose processes are all stopped, to a data folder.\n"
    "  DIR      the data folder of one machine; to move into, one that is not there or empty\n"
    "  FILE     the settings of the many machines: inventory.kind = redis; to move into, an empty "
    "database\n"
    "  Killed at any moment, it goes on when it is run again with the same arguments.\n"
    "  exit: 0 moved, 1 not moved (what is wrong is said), 2 wrong arguments\n";

static int usage(bool asked_for)
{
    fputs(help_text, asked_for ? stdout : stderr);
    return asked_for ? 0 : 2;
}

static bool words_read(struct migrate *migrate, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--from") == 0)
            migrate->from = argv[i + 1];
        else if (strcmp(argv[i], "--to") == 0)
            migrate->to = argv[i + 1];
        else
            return false;
    }
    return argc == 5 && migrate->from != NULL && migrate->to != NULL;
}

/* What only tests set: after which change it is killed, how many rows a transaction has. */
static uint64_t test_number(const char *name)
{
    const char *text = getenv(name);
    uint64_t number = 0;
    return text != NULL && span_to_u64(span_from_string(text), &number) == STATUS_OK && number <= COPY_ROWS
        ? number
        : 0;
}

int migrate_main(int argc, char **argv)
{
    struct migrate *migrate = calloc(1, sizeof *migrate);
    invariant(migrate != NULL);
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        free(migrate);
        return usage(true);
    }
    if (!words_read(migrate, argc, argv)) {
        free(migrate);
        return usage(false);
    }
    migrate->killed_at = test_number("STAMPEDE_TEST_MIGRATE_KILL");
    migrate->copy.page = (uint32_t)test_number("STAMPEDE_TEST_MIGRATE_ROWS");
    metrics_thread_enter();
    umask(S_IRWXG | S_IRWXO);
    const bool good = file_is_named(migrate->from) ? migrate_back_run(migrate) : migrate_run(migrate);
    if (!good)
        fprintf(stderr, "stampede migrate: %s\n", migrate->error);
    migrate_close(migrate);
    free(migrate);
    return good ? 0 : 1;
}
