/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/archiving.h"

#include "api/catalog.h"
#include "archive/archiver.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "config/config.h"
#include "contract/archive.h"
#include "contract/command.h"
#include "contract/limit_uses.h"
#include "worker/alarms.h"
#include "worker/catalog_updates.h"
#include "worker/errands.h"
#include "worker/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LOOK_MS = 1000,     /* whether a sale is asked to leave */
    SWEEP_MS = 60000,   /* between two passes through sales that ended archive.after_days ago */
    PRUNE_MS = 3600000, /* segments become free when snapshots follow */
    PAUSE_MS = 5,       /* between two parts: others use the database, too */
    AGAIN_MS = 5000,    /* after trouble */
    ERASE_MS = 3600000, /* between two passes through what may be too old */
    USES_MS = 600000,   /* between two looks for uses of limits whose period is over */
};
#define DAY_MS UINT64_C(86400000)

/* Before the next try, by how many have failed. */
static const uint64_t pauses_ms[ARCHIVE_TRIES_MAX] = { 60000, 600000, 3600000, 6 * 3600000, DAY_MS };

COUNTER(archived, "stampede_sales_archived_total",
    "Sales whose orders and tickets have left for a bundle.");
COUNTER(archive_bytes, "stampede_archive_bytes_total", "Bytes of bundles that sales have left for.");
COUNTER(archive_failures, "stampede_archive_failures_total",
    "Tries to move a sale to a bundle that have failed.");
GAUGE(archive_running, "stampede_archive_running", "1 while a sale is being moved to a bundle.");
COUNTER(erased, "stampede_personal_rows_erased_total",
    "Names, addresses and notes of customers that were erased after privacy.keep_days.");

struct archiving {
    struct archiving_config config;
    struct task *task;
    struct archiver *archiver; /* NULL: there is no folder for bundles */
    bool bundling;             /* a job of it runs */
    bool wished;               /* for a sale that somebody asked for */
    struct archive now;        /* marked, being removed; sale 0: none */
    sale_id swept;             /* sales up to here were looked at in this pass */
    bool asking;
    uint8_t table; /* of the inventory */
    uint32_t from;
    uint64_t next_ms, sweep_ms, prune_ms, erase_ms, uses_ms;
    struct erase_cursor erasing;
    _Atomic uint32_t shown; /* the sale under way; 0: none */
};

bool archiving_folder(const struct config *config, bool one_machine, char path[ARCHIVE_PATH_MAX])
{
    static_assert(CONFIG_TEXT + 16 <= ARCHIVE_PATH_MAX, "a folder of the settings fits");
    if (config->archive_folder[0] != 0)
        snprintf(path, ARCHIVE_PATH_MAX, "%s", config->archive_folder);
    else
        snprintf(path, ARCHIVE_PATH_MAX, "%s/archive", config->folder);
    return one_machine || config->archive_folder[0] != 0;
}

sale_id archiving_sale(const struct archiving *archiving)
{
    return atomic_load(&archiving->shown);
}

const char *archiving_shown(const struct archiving *archiving, sale_id sale)
{
    if (archiving_sale(archiving) != sale || archiving->archiver == NULL)
        return NULL;
    switch (archiver_phase(archiving->archiver)) {
    case ARCHIVER_WRITING:
        return "writing";
    case ARCHIVER_VERIFYING:
    case ARCHIVER_ENDED:
        return "verifying";
    case ARCHIVER_IDLE:
    case ARCHIVER_PRUNING:
        break;
    }
    return NULL;
}

static void show(struct archiving *archiving, sale_id sale)
{
    atomic_store(&archiving->shown, sale);
    metric_set(&archive_running, sale != 0);
}

static uint64_t again(struct archiving *archiving, uint64_t now_ms)
{
    archiving->now = (struct archive){ 0 };
    return now_ms + AGAIN_MS;
}

static bool audit(struct archiving *archiving, const char *actor, const char *action, const char *detail)
{
    struct order_store *store = archiving->config.store;
    struct audit_entry entry = { .time_ms = clock_now_ms() };
    snprintf(entry.actor, sizeof entry.actor, "%s", actor);
    snprintf(entry.action, sizeof entry.action, "%s", action);
    snprintf(entry.detail, sizeof entry.detail, "%s", detail);
    if (store->ops->audit_append(store, &entry) == STATUS_OK)
        return true;
    log_error("worker", "an audit entry can't be written: %s %s", action, detail);
    return false;
}

/* ---- 1, 2, 3: the bundle ---- */

/* It is tried again after a while, a few times; then somebody has to ask. */
static void try_failed(struct archiving *archiving, sale_id sale, const char *why, uint64_t now_ms)
{
    struct order_store *store = archiving->config.store;
    struct archive_wish wish = { .sale = sale };
    const enum status found = store->ops->archive->wish_get(store, sale, &wish);
    wish.asked = archiving->wished;
    wish.due_ms = wish.tries < ARCHIVE_TRIES_MAX ? now_ms + pauses_ms[wish.tries] : ARCHIVE_NEVER_MS;
    wish.tries++;
    snprintf(wish.why, sizeof wish.why, "%s", why);
    if ((found != STATUS_OK && found != STATUS_NOT_FOUND)
        || store->ops->archive->wish_put(store, &wish) != STATUS_OK)
        archiving->next_ms = now_ms + AGAIN_MS;
    metric_add(&archive_failures, 1);
    alarm_raise(ALARM_ARCHIVE_FAILED, now_ms, "sale %u can't be archived (try %u): %s", sale,
        wish.tries, why);
    log_error("worker", "sale %u can't be archived, try %u: %s", sale, wish.tries, why);
}

static void alarm_end(struct archiving *archiving)
{
    struct order_store *store = archiving->config.store;
    uint64_t open = 0, failed = 0;
    if (store->ops->archive->wishes_count(store, &open, &failed) == STATUS_OK && failed == 0)
        alarm_clear(ALARM_ARCHIVE_FAILED);
}

static void sale_mark(struct archiving *archiving, const struct archiver_result *result, uint64_t now_ms)
{
    struct order_store *store = archiving->config.store;
    struct archive row = { .sale = result->sale,
        .step = ARCHIVE_REMOVING,
        .orders = result->made.orders,
        .bytes = result->made.bytes,
        .made_ms = now_ms };
    const struct archive_look made = { .orders = result->made.orders,
        .versions = result->made.versions,
        .positions = result->made.positions };
    struct archive_look look;
    char detail[240], hash[2 * HASH_SHA256_BYTES + 1];
    struct text text = text_in(hash, sizeof hash);
    memcpy(row.hash, result->made.hash, sizeof row.hash);
    const enum status status = store->ops->archive->begin(store, &row, &made, &look);
    if (status == STATUS_CONFLICT) /* another process was quicker: its row is found */
        return;
    if (status != STATUS_OK) {
        try_failed(archiving, result->sale,
            status == STATUS_REFUSED ? look.why : status_name(status), now_ms);
        return;
    }
    text_hex(&text, span_of(row.hash, sizeof row.hash));
    hash[text.size] = 0;
    snprintf(detail, sizeof detail, "sale %u: %" PRIu64 " orders leave for a bundle, sha256 %s",
        row.sale, row.orders, hash);
    (void)audit(archiving, "archive", "sale.bundle", detail);
    metric_add(&archive_bytes, row.bytes);
    catalog_updates_part(archiving->config.catalog, &(struct catalog_change){ CATALOG_SALE, row.sale });
}

/* True: a job has ended. */
static bool bundle_collect(struct archiving *archiving, uint64_t now_ms)
{
    struct archiver_result result;
    if (!archiver_collect(archiving->archiver, &result))
        return false;
    archiving->bundling = false;
    archiving->next_ms = 0;
    show(archiving, 0);
    if (result.sale == 0 && result.status == STATUS_OK && result.segments > 0)
        log_info("worker", "%u segments of the log were removed: no sale needs them", result.segments);
    else if (result.sale == 0 && result.status != STATUS_OK)
        log_warn("worker", "%s", result.error);
    else if (result.sale != 0 && result.status == STATUS_OK)
        sale_mark(archiving, &result, now_ms);
    else if (result.sale != 0 && (result.status != STATUS_REFUSED || archiving->wished))
        try_failed(archiving, result.sale, result.error, now_ms);
    return true;
}

static void bundle_begin(struct archiving *archiving, sale_id sale, uint64_t now_ms)
{
    const enum status status = archiver_begin(archiving->archiver, sale);
    archiving->bundling = status == STATUS_OK;
    if (status == STATUS_OK)
        show(archiving, sale);
    else if (sale != 0)
        try_failed(archiving, sale, "no connection or no thread for it", now_ms);
}

/* Something to do for the thread: a sale, or segments. */
static enum status bundle_next(struct archiving *archiving, uint64_t now_ms)
{
    struct order_store *store = archiving->config.store;
    const uint64_t days = archiving->config.config->archive_after_days;
    const bool sweeps = days != 0 && now_ms > days * DAY_MS && now_ms >= archiving->sweep_ms;
    sale_id sale = 0;
    bool any = false;
    const enum status status = store->ops->archive->next(store, now_ms,
        sweeps ? now_ms - days * DAY_MS : 0, archiving->swept, &sale, &archiving->wished);
    if (status != STATUS_OK)
        return status;
    if (sale != 0 && !archiving->wished)
        archiving->swept = sale;
    if (sale == 0 && sweeps) {
        archiving->swept = 0;
        archiving->sweep_ms = now_ms + SWEEP_MS;
        alarm_end(archiving);
    }
    if (sale != 0) {
        bundle_begin(archiving, sale, now_ms);
        return STATUS_OK;
    }
    if (!archiving->config.one_machine || now_ms < archiving->prune_ms)
        return STATUS_OK;
    archiving->prune_ms = now_ms + PRUNE_MS;
    const enum status held = store->ops->archive->holds(store, 0, &any);
    if (held == STATUS_OK && any)
        bundle_begin(archiving, 0, now_ms);
    return held;
}

/* ---- 4, 5: what is forgotten ---- */

/* A sale that has not left to the end. */
static enum status next_find(struct archiving *archiving)
{
    struct order_store *store = archiving->config.store;
    struct archive row;
    const enum status status = store->ops->archive->unfinished(store, &row);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    archiving->now = row;
    archiving->table = ARCHIVE_TICKETS;
    archiving->from = 0;
    show(archiving, row.sale);
    return STATUS_OK;
}

static void step_done(struct archiving *archiving, enum archive_step step)
{
    struct order_store *store = archiving->config.store;
    if (store->ops->archive->step(store, archiving->now.sale, step) != STATUS_OK) {
        archiving->now = (struct archive){ 0 };
        return;
    }
    archiving->now.step = (uint8_t)step;
    if (step != ARCHIVE_DONE)
        return;
    metric_add(&archived, 1);
    log_info("worker", "sale %u is archived: %" PRIu64 " orders are in its bundle and nowhere else",
        archiving->now.sale, archiving->now.orders);
    archiving->now = (struct archive){ 0 };
    archiving->prune_ms = 0;
    show(archiving, 0);
    alarm_end(archiving);
}

/* One command: some rows of a table of the inventory. */
static void rows_forget(void *self, void *unused)
{
    struct archiving *archiving = self;
    struct outcome outcome;
    const struct command command = { .type = COMMAND_ARCHIVE,
        .archive = { .sale = archiving->now.sale,
            .from = archiving->from,
            .rows = RECLAIM_ROWS_MAX,
            .table = archiving->table } };
    (void)unused;
    const enum status status = errands_ask(archiving->config.errands, &command, &outcome);
    const bool done = status == STATUS_OK
        && (outcome.answer == ANSWER_DONE || outcome.answer == ANSWER_UNCHANGED
            || outcome.answer == ANSWER_UNKNOWN_SALE); /* it never came to the inventory */
    if (done)
        archiving->from = outcome.number;
    else if (status == STATUS_OK && outcome.answer != ANSWER_UNAVAILABLE)
        log_error("worker", "the inventory does not forget sale %u: answer %u, detail %u",
            archiving->now.sale, outcome.answer, outcome.detail);
    if (!done) {
        archiving->now = (struct archive){ 0 };
        archiving->next_ms = clock_now_ms() + AGAIN_MS;
    } else if (outcome.number == 0) {
        archiving->table++;
    }
    archiving->asking = false;
    task_wake(archiving->task);
}

/* ---- what is too old ---- */

/* True: the pass goes on. */
static bool erase_turn(struct archiving *archiving, uint64_t now_ms)
{
    struct order_store *store = archiving->config.store;
    const uint64_t kept_ms = archiving->config.config->privacy_keep_days * DAY_MS;
    char detail[80];
    uint64_t rows = 0;
    if (kept_ms == 0 || now_ms < kept_ms || now_ms < archiving->erase_ms)
        return false;
    const enum status status =
        store->ops->archive->erase_older(store, now_ms - kept_ms, &archiving->erasing, &rows);
    if (status != STATUS_OK || archiving->erasing.ended) {
        archiving->erasing = (struct erase_cursor){ 0 };
        archiving->erase_ms = now_ms + ERASE_MS;
    }
    const bool more = now_ms >= archiving->erase_ms;
    if (status != STATUS_OK || rows == 0)
        return more;
    metric_add(&erased, rows);
    snprintf(detail, sizeof detail, "%" PRIu64 " rows older than %" PRIu64 " days", rows,
        archiving->config.config->privacy_keep_days);
    (void)audit(archiving, "privacy", "customer.erase", detail);
    return more;
}

/* True: there are more uses whose period is over. */
static bool uses_turn(struct archiving *archiving, uint64_t now_ms)
{
    const struct limit_store_ops *ops = archiving->config.store->ops->limits;
    bool more = false;
    if (ops == NULL || now_ms < archiving->uses_ms)
        return false;
    if (ops->prune(archiving->config.store, now_ms, &more) != STATUS_OK || !more)
        archiving->uses_ms = now_ms + USES_MS;
    return more;
}

/* Nothing is marked: what is to do next? */
static uint64_t idle_turn(struct archiving *archiving, uint64_t now_ms)
{
    const bool erasing = erase_turn(archiving, now_ms) | uses_turn(archiving, now_ms);
    if (next_find(archiving) != STATUS_OK
        || (archiving->now.sale == 0 && archiving->archiver != NULL
            && bundle_next(archiving, now_ms) != STATUS_OK))
        return again(archiving, now_ms);
    if (archiving->now.sale != 0)
        return now_ms;
    const bool sweeping = archiving->swept != 0 && !archiving->bundling;
    return now_ms + (erasing || sweeping ? PAUSE_MS : LOOK_MS);
}

/* A part of what is marked. */
static uint64_t forget_turn(struct archiving *archiving, uint64_t now_ms)
{
    struct order_store *store = archiving->config.store;
    bool more = false;
    if (archiving->now.step == ARCHIVE_REMOVING) {
        const enum status status = store->ops->archive->remove(store, archiving->now.sale, &more);
        if (status == STATUS_BUSY)
            alarm_raise(ALARM_ARCHIVE_FAILED, now_ms,
                "sale %u: a refund was asked for while it left: its rows stay until it is done",
                archiving->now.sale);
        if (status != STATUS_OK)
            return again(archiving, now_ms);
        if (!more)
            step_done(archiving, ARCHIVE_FORGETTING);
        return now_ms + PAUSE_MS;
    }
    /* On many machines its partitions have gone with their logs. */
    if (archiving->table == ARCHIVE_TABLES || !archiving->config.one_machine) {
        step_done(archiving, ARCHIVE_DONE);
        return now_ms;
    }
    return errands_own(archiving->config.errands, rows_forget, archiving, &archiving->asking, now_ms);
}

static uint64_t archiving_turn(void *self, uint64_t now_ms)
{
    struct archiving *archiving = self;
    if (archiving->config.store->ops->archive == NULL || archiving->asking)
        return TASK_IDLE; /* its errand wakes us */
    if (archiving->bundling && !bundle_collect(archiving, now_ms))
        return now_ms + LOOK_MS; /* or its thread wakes us */
    if (now_ms < archiving->next_ms)
        return archiving->next_ms;
    const uint64_t next_ms =
        archiving->now.sale == 0 ? idle_turn(archiving, now_ms) : forget_turn(archiving, now_ms);
    if (next_ms != TASK_IDLE)
        archiving->next_ms = next_ms;
    return next_ms;
}

void archiving_wake(struct archiving *archiving)
{
    archiving->next_ms = 0;
    task_wake(archiving->task);
}

static void archiving_close(void *self)
{
    struct archiving *archiving = self;
    archiver_close(archiving->archiver);
}

struct archiving *archiving_open(
    struct arena *arena, const struct archiving_config *config, struct task *task)
{
    struct archiving *archiving = arena_take(arena, 1, sizeof *archiving);
    char folder[ARCHIVE_PATH_MAX], journal[ARCHIVE_PATH_MAX];
    archiving->config = *config;
    archiving->task = task;
    snprintf(journal, sizeof journal, "%s/journal", config->config->folder);
    if (config->store->ops->reader_open != NULL
        && archiving_folder(config->config, config->one_machine, folder)
        && archiver_open(&archiving->archiver,
               &(struct archiver_config){ .store = config->store,
                   .folder = folder,
                   .journal = config->one_machine ? journal : NULL,
                   .data_id = config->data_id,
                   .board = config->board,
                   .wake = config->wake })
            != STATUS_OK)
        log_error("worker", "no memory to archive sales");
    *task = (struct task){ .name = "archiving",
        .self = archiving,
        .turn = archiving_turn,
        .close = archiving_close,
        .listens = true,
        .rests = true };
    return archiving;
}
