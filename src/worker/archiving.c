/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/archiving.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/archive.h"
#include "contract/command.h"
#include "contract/limit_uses.h"
#include "worker/errands.h"
#include "worker/task.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    LOOK_MS = 1000,     /* whether a sale is to leave */
    PAUSE_MS = 5,       /* between two parts: others use the database, too */
    AGAIN_MS = 5000,    /* after trouble */
    ERASE_MS = 3600000, /* between two passes through what may be too old */
    USES_MS = 600000,   /* between two looks for uses of limits whose period is over */
    DAY_MS = 86400000,
    READ_MAX = 64,
};

COUNTER(archived, "stampede_sales_archived_total",
    "Sales whose orders and tickets have left for a bundle.");
COUNTER(erased, "stampede_personal_rows_erased_total",
    "Names, addresses and notes of customers that were erased after privacy.keep_days.");

struct archiving {
    struct archiving_config config;
    struct task *task;
    struct archive now; /* under way; sale 0: none */
    sale_id after;      /* sales up to here are done, as far as this process knows */
    bool asking;
    uint8_t table; /* of the inventory */
    uint32_t from;
    uint64_t next_ms, erase_ms, uses_ms;
    struct erase_cursor erasing;
};

static uint64_t again(struct archiving *archiving, uint64_t now_ms)
{
    archiving->now = (struct archive){ 0 };
    archiving->after = 0;
    return now_ms + AGAIN_MS;
}

/* The first sale that has not left to the end. */
static enum status next_find(struct archiving *archiving)
{
    struct archive rows[READ_MAX];
    uint32_t count = READ_MAX;
    struct order_store *store = archiving->config.store;
    while (count == READ_MAX) {
        const enum status status =
            store->ops->archive->list(store, archiving->after + 1, rows, READ_MAX, &count);
        if (status != STATUS_OK)
            return status;
        for (uint32_t i = 0; i < count; i++) {
            if (rows[i].step != ARCHIVE_DONE) {
                archiving->now = rows[i];
                archiving->table = ARCHIVE_TICKETS;
                archiving->from = 0;
                return STATUS_OK;
            }
        }
        if (count > 0)
            archiving->after = rows[count - 1].sale;
    }
    archiving->after = 0; /* a sale with a lower number may come next */
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
    const uint64_t kept_ms = archiving->config.keep_days * DAY_MS;
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
    struct audit_entry entry = { .time_ms = now_ms, .actor = "privacy", .action = "customer.erase" };
    snprintf(entry.detail, sizeof entry.detail, "%llu rows older than %llu days",
        (unsigned long long)rows, (unsigned long long)archiving->config.keep_days);
    if (store->ops->audit_append(store, &entry) != STATUS_OK)
        log_error("worker", "the audit entry of %" PRIu64 " erased rows can't be written", rows);
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

static uint64_t archiving_turn(void *self, uint64_t now_ms)
{
    struct archiving *archiving = self;
    struct order_store *store = archiving->config.store;
    bool more = false;
    if (store->ops->archive == NULL)
        return TASK_IDLE;
    if (archiving->asking)
        return TASK_IDLE; /* its errand wakes us */
    if (now_ms < archiving->next_ms)
        return archiving->next_ms;
    if (archiving->now.sale == 0) {
        const bool erasing = erase_turn(archiving, now_ms) | uses_turn(archiving, now_ms);
        if (next_find(archiving) != STATUS_OK)
            return archiving->next_ms = again(archiving, now_ms);
        if (archiving->now.sale == 0)
            return now_ms + (erasing ? PAUSE_MS : LOOK_MS);
    }
    if (archiving->now.step == ARCHIVE_REMOVING) {
        const enum status status = store->ops->archive->remove(store, archiving->now.sale, &more);
        if (status != STATUS_OK)
            return archiving->next_ms = again(archiving, now_ms);
        if (!more)
            step_done(archiving, ARCHIVE_FORGETTING);
        return archiving->next_ms = now_ms + PAUSE_MS;
    }
    if (archiving->table == ARCHIVE_TABLES) { /* all of them were gone through */
        step_done(archiving, ARCHIVE_DONE);
        return now_ms + PAUSE_MS;
    }
    return errands_own(archiving->config.errands, rows_forget, archiving, &archiving->asking, now_ms);
}

void archiving_open(struct arena *arena, const struct archiving_config *config, struct task *task)
{
    struct archiving *archiving = arena_take(arena, 1, sizeof *archiving);
    archiving->config = *config;
    archiving->task = task;
    *task = (struct task){ .name = "archiving", .self = archiving, .turn = archiving_turn, .rests = true };
}
