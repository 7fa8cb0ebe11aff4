/* SPDX-License-Identifier: Apache-2.0 */
/* server/archive_command.c: in this order, so that a kill at any moment loses nothing:
 *   1. the bundle is written under another name, synced, renamed
 *   2. it is read again and verified
 *   3. the server is told; it compares number and versions of the orders with its own, and marks the sale
 *   4. the server removes rows in small parts, then the inventory forgets its tickets; after a crash it
 * goes on
 *   5. segments that no sale needs any more are removed, oldest first
 * Run again, it goes on where it was: a sale that is marked has its bundle. */
#include "server/archive_command.h"

#include "archive/bundle.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/admin_command.h"
#include "config/data_folder.h"
#include "contract/archive.h"
#include "store/sqlite/sqlite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WAIT_MS = 50,
    ASKED_MAX = 72000, /* an hour */
    SALES_PER_READ = 64,
    BACKGROUND_NICE = 19,
    DAY_MS = 86400000,
};

struct archiving {
    char *path; /* the data folder */
    char *url, *key_file;
    struct data_folder folder;
    struct order_store *store;
    char error[CONFIG_ERROR];
};

static bool failed(struct archiving *archiving, const char *what, enum status status)
{
    if (archiving->error[0] == 0)
        snprintf(archiving->error, sizeof archiving->error, "%s: %s", what, status_name(status));
    return false;
}

static struct journal_config journal_of(const struct archiving *archiving)
{
    return (struct journal_config){ .disk = archiving->folder.journal,
        .data_id = archiving->folder.data_id,
        .segment_bytes = 2 * JOURNAL_BATCH_LIMIT,
        .batch_bytes = JOURNAL_BATCH_MAX };
}

static bool store_use(struct archiving *archiving)
{
    if (archiving->store != NULL)
        return true;
    const enum status status = sqlite_store_open(
        &archiving->store, archiving->folder.database, NULL, archiving->error, CONFIG_ERROR);
    return status == STATUS_OK || failed(archiving, "the database can't be opened", status);
}

static void store_leave(struct archiving *archiving)
{
    if (archiving->store != NULL)
        archiving->store->ops->close(archiving->store);
    archiving->store = NULL;
}

/* ---- the server ---- */

/* Runs a verb of `stampede admin`; what it prints is JSON, and freed by the caller. */
static bool server_ask(struct archiving *archiving, char **words, int count, char **answer)
{
    char verb[] = "admin", json[] = "--json", url[] = "--url", key_file[] = "--key-file";
    char *arguments[24] = { verb };
    int used = 1;
    size_t size = 0;
    FILE *out = open_memstream(answer, &size);
    invariant(out != NULL && count < 12);
    for (int i = 0; i < count; i++)
        arguments[used++] = words[i];
    arguments[used++] = json;
    if (archiving->url != NULL) {
        arguments[used++] = url;
        arguments[used++] = archiving->url;
    }
    if (archiving->key_file != NULL) {
        arguments[used++] = key_file;
        arguments[used++] = archiving->key_file;
    }
    const enum admin_cli_result result = admin_cli_run(used, arguments, out, stderr);
    fclose(out);
    if (result != ADMIN_CLI_DONE)
        snprintf(archiving->error, sizeof archiving->error, "the server did not take it (see above)");
    return result == ADMIN_CLI_DONE;
}

static bool server_tell(struct archiving *archiving, sale_id sale, const struct bundle_made *made)
{
    char number[16], hash[2 * HASH_SHA256_BYTES + 1], bytes[24], orders[24], versions[24];
    char *answer = NULL;
    struct text text = text_in(hash, sizeof hash);
    text_hex(&text, span_of(made->hash, sizeof made->hash));
    hash[text.size] = 0;
    snprintf(number, sizeof number, "%u", sale);
    snprintf(bytes, sizeof bytes, "%" PRIu64, made->bytes);
    snprintf(orders, sizeof orders, "%" PRIu64, made->orders);
    snprintf(versions, sizeof versions, "%" PRIu64, made->versions);
    char *words[] = { "sale", "bundled", number, "--hash", hash, "--bytes", bytes, "--orders",
        orders, "--versions", versions };
    const bool told = server_ask(archiving, words, sizeof words / sizeof *words, &answer);
    free(answer);
    return told;
}

static bool server_wait(struct archiving *archiving, sale_id sale)
{
    char number[16];
    snprintf(number, sizeof number, "%u", sale);
    for (int i = 0; i < ASKED_MAX; i++) {
        char *words[] = { "sale", "bundle", number };
        char *answer = NULL;
        const bool told = server_ask(archiving, words, 3, &answer);
        const bool done = told && strstr(answer, "\"done\"") != NULL;
        free(answer);
        if (!told || done)
            return told;
        usleep(WAIT_MS * 1000);
    }
    return failed(archiving, "the server takes very long; run the command again later", STATUS_BUSY);
}

/* ---- one sale ---- */

static bool bundle_make(struct archiving *archiving, sale_id sale, struct bundle_made *made)
{
    char folder[CONFIG_TEXT + 16], path[CONFIG_TEXT + 64], name[BUNDLE_NAME_MAX];
    const struct journal_config journal = journal_of(archiving);
    struct disk *disk = NULL;
    struct bundle_made read;
    snprintf(folder, sizeof folder, "%s/archive", archiving->path);
    bundle_name(sale, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    enum status status = disk_folder_open(folder, &disk);
    if (status == STATUS_OK)
        status = bundle_write(folder, disk, archiving->store, &journal, sale, made, archiving->error);
    disk_folder_close(disk);
    if (status != STATUS_OK)
        return failed(archiving, "the bundle can't be written", status);
    if (bundle_verify(path, stdout, &read) != STATUS_OK || read.orders != made->orders
        || read.versions != made->versions || read.records != made->records)
        return failed(archiving, "the bundle does not verify; nothing was removed", STATUS_CORRUPT);
    printf("%s: %" PRIu64 " bytes\n", path, made->bytes);
    return true;
}

/* False: there is none. */
static bool row_find(struct archiving *archiving, sale_id sale, struct archive *row)
{
    uint32_t count = 0;
    const enum status status =
        archiving->store->ops->archive->list(archiving->store, sale, row, 1, &count);
    return status == STATUS_OK && count == 1 && row->sale == sale;
}

static bool sale_archive(struct archiving *archiving, sale_id sale)
{
    struct archive row;
    struct bundle_made made;
    if (!store_use(archiving))
        return false;
    const bool marked = row_find(archiving, sale, &row);
    if (!marked && !bundle_make(archiving, sale, &made))
        return false;
    store_leave(archiving); /* the server goes on alone */
    if (!marked && !server_tell(archiving, sale, &made))
        return false;
    if (!server_wait(archiving, sale))
        return false;
    printf("sale %u is archived\n", sale);
    return true;
}

static bool due_archive(struct archiving *archiving, uint64_t after_days)
{
    struct sale *sales = calloc(SALES_PER_READ, sizeof *sales);
    uint32_t count = SALES_PER_READ;
    sale_id after = 0;
    bool good = true;
    invariant(sales != NULL);
    const uint64_t now_ms = clock_wall_ms();
    while (good && count == SALES_PER_READ) {
        good = store_use(archiving)
            && archiving->store->ops->sales(archiving->store, after, sales, SALES_PER_READ, &count)
                == STATUS_OK;
        for (uint32_t i = 0; good && i < count; i++) {
            struct archive row;
            after = sales[i].id;
            good = store_use(archiving);
            const bool done = good && row_find(archiving, after, &row) && row.step == ARCHIVE_DONE;
            if (good && !done && now_ms >= sales[i].end_ms + after_days * DAY_MS
                && !sale_archive(archiving, after)) {
                fprintf(stderr, "stampede archive: sale %u: %s\n", after, archiving->error);
                archiving->error[0] = 0; /* another one may be finished */
            }
        }
    }
    free(sales);
    return good || failed(archiving, "the sales can't be read", STATUS_AWAY);
}

static bool prune(struct archiving *archiving)
{
    const struct journal_config journal = journal_of(archiving);
    uint32_t removed = 0;
    if (!store_use(archiving))
        return false;
    const enum status status = archive_prune(archiving->store, &journal, &removed);
    if (status != STATUS_OK)
        return failed(archiving, "old segments of the log can't be removed", status);
    printf("%u segments of the log were removed\n", removed);
    return true;
}

static const char usage[] =
    "usage: stampede archive SALE --data DIR [--url URL] [--key-file FILE]\n"
    "       stampede archive --after-days N --data DIR [--url URL] [--key-file FILE]\n"
    "  Moves a sale that is over, or all that ended N days ago, to a bundle in DIR/archive, beside "
    "the\n"
    "  running server. `stampede verify BUNDLE` reads it anywhere.\n"
    "  --url, --key-file   as for `stampede admin`\n";

static bool arguments_read(
    struct archiving *archiving, int argc, char **argv, uint32_t *sale, uint64_t *days)
{
    char *after_days = NULL;
    const struct {
        const char *name;
        char **to;
    } options[] = { { "--data", &archiving->path }, { "--url", &archiving->url },
        { "--key-file", &archiving->key_file }, { "--after-days", &after_days } };
    for (int i = 1; i < argc; i++) {
        bool taken = false;
        for (size_t j = 0; j < sizeof options / sizeof *options && !taken; j++)
            if (strcmp(argv[i], options[j].name) == 0 && i + 1 < argc) {
                *options[j].to = argv[++i];
                taken = true;
            }
        if (!taken && (*sale != 0 || span_to_u32(span_from_string(argv[i]), sale) != STATUS_OK))
            return false;
    }
    if (after_days != NULL && span_to_u64(span_from_string(after_days), days) != STATUS_OK)
        return false;
    return archiving->path != NULL && strlen(archiving->path) < CONFIG_TEXT
        && (*sale != 0) != (after_days != NULL) && *sale < SALES_LIMIT;
}

int archive_main(int argc, char **argv)
{
    struct archiving archiving = { 0 };
    uint32_t sale = 0;
    uint64_t days = 0;
    const bool help = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (help || !arguments_read(&archiving, argc, argv, &sale, &days)) {
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    umask(S_IRWXG | S_IRWXO);
    (void)!setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE);
    bool good =
        data_folder_open(&archiving.folder, archiving.path, DATA_LOOK, archiving.error) == STATUS_OK;
    if (good)
        good = sale != 0 ? sale_archive(&archiving, sale) : due_archive(&archiving, days);
    if (good)
        good = prune(&archiving);
    if (!good)
        fprintf(stderr, "stampede archive: %s\n", archiving.error);
    store_leave(&archiving);
    data_folder_close(&archiving.folder);
    return good ? 0 : 1;
}
