/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_store.c: the database against the logs; orders are in verify_orders.c.
 *
 * DESIGN
 * Compared when the replay stands at the very position that the database has stored, so both tell
 * of the same moment. Two things may stand between an order and its ticket in good order: a dead
 * letter (a person decides), and a stock event that is still open (the order has moved, the engine
 * will follow). Tickets with such a mark are not held to their state, all others are. Beside
 * running servers the database moves on while it is read: rows of orders never change what they were
 * written with, so they are compared all the same; states and stock only if nothing was written
 * meanwhile. */
#include "base/clock.h"
#include "contract/limit_uses.h"
#include "contract/payment.h"
#include "contract/ticket_number.h"
#include "store/sqlite/sqlite.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { ITEMS_PER_READ = 256, DEAD_MAX = 1 << 16, OPEN_EVENTS_MAX = 1 << 16 };

struct comparison {
    struct verify *verify;
    struct item_sums *sums; /* by item */
    struct item *items;
    struct stock_event *events;
    uint32_t event_count; /* open when we began, and the last of them */
    uint64_t event_last;
    struct verify_strays strays;
};

static int dead_by_position(const void *a, const void *b)
{
    const struct position *left = &((const struct dead_letter *)a)->at;
    const struct position *right = &((const struct dead_letter *)b)->at;
    if (left->part != right->part)
        return left->part < right->part ? -1 : 1;
    return left->seq < right->seq ? -1 : left->seq > right->seq;
}

/* What a log left that is not there does not belong to the others. */
static void dead_of_others(struct verify *verify)
{
    for (uint32_t i = 0; i < verify->dead_count; i++) {
        const struct dead_letter *letter = &verify->dead[i];
        if (letter->at.part <= PART_MAX && verify->sale_archived[part_sale(letter->at.part)])
            continue; /* its log has left with its sale; the letter was resolved before */
        if (verify_log_find(verify, letter->at.part) == NULL)
            verify_fail(verify, CHECK_POSITION,
                "dead letter %" PRIu64 " is of partition %u, whose log is not there", letter->id,
                letter->at.part);
    }
}

static void dead_share_out(struct verify *verify)
{
    for (uint32_t i = 0, next = 0; i < verify->log_count; i++) {
        while (next < verify->dead_count && verify->dead[next].at.part < verify->logs[i].state.part)
            next++;
        verify->logs[i].dead_next = next;
    }
}

/* A letter that was retried or returned has become an order like any other. */
static void dead_keep_unresolved(struct verify *verify)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < verify->dead_count; i++) {
        const uint8_t state = verify->dead[i].state;
        if (state == DEAD_OPEN || state == DEAD_DISMISSED)
            verify->dead[kept++] = verify->dead[i];
    }
    verify->dead_count = kept;
}

static void store_unreadable(struct verify *verify, const char *what)
{
    verify_fail(verify, CHECK_DATABASE, "the database can't be read: %s", what);
    snprintf(verify->store_what, sizeof verify->store_what, "the database can't be read");
    verify_store_close(verify);
}

static bool file_open(struct verify *verify)
{
    char error[CONFIG_ERROR] = "";
    struct stat file;
    if (stat(verify->folder.database, &file) != 0 || file.st_size == 0) {
        snprintf(verify->store_what, sizeof verify->store_what, "no database");
        verify_fail(verify, CHECK_DATABASE, "there is no stampede.db (a database server: --config FILE)");
        return false;
    }
    if (sqlite_store_open(&verify->store, verify->folder.database, NULL, error, sizeof error) == STATUS_OK)
        return true;
    store_unreadable(verify, error);
    return false;
}

static bool database_open(struct verify *verify)
{
    if (verify->store != NULL)
        return true;
    if (verify->source_error[0] != 0) {
        store_unreadable(verify, verify->source_error);
        return false;
    }
    verify->store = verify->source.store;
    verify->source.store = NULL;
    return verify->store != NULL || file_open(verify);
}

/* Partitions are where the database said before: letters of later records do no harm. */
static enum status position_read(struct verify *verify)
{
    struct position position = { 0 };
    if (verify->source.partitions)
        return STATUS_OK;
    const enum status status = verify->store->ops->applied(verify->store, PART_EMBEDDED, &position);
    verify->log->state.seq = position.seq;
    return status;
}

void verify_store_open(struct verify *verify)
{
    char error[CONFIG_ERROR] = "";
    enum status status;
    if (!database_open(verify))
        return;
    struct order_store *store = verify->store;
    verify->checks[CHECK_DATABASE].looked = 1;
    status = store->ops->whole_check(store, error, sizeof error);
    if (status != STATUS_OK) {
        store_unreadable(verify, error);
        return;
    }
    uint64_t secret = 0;
    verify->dead = calloc(DEAD_MAX, sizeof *verify->dead);
    status = store->ops->identity(store, &verify->store_data_id);
    if (status == STATUS_OK)
        status = position_read(verify);
    if (status == STATUS_OK)
        status = store->ops->secret_check(store, &secret);
    if (status == STATUS_OK)
        status = verify_archives_read(verify);
    if (status == STATUS_OK && verify->dead != NULL)
        status =
            store->ops->dead_letters(store, 0, DEAD_ANY, verify->dead, DEAD_MAX, &verify->dead_count);
    if (status != STATUS_OK || verify->dead == NULL) {
        store_unreadable(verify, verify->dead == NULL ? "out of memory" : status_name(status));
        return;
    }
    dead_of_others(verify);
    dead_keep_unresolved(verify);
    qsort(verify->dead, verify->dead_count, sizeof *verify->dead, dead_by_position);
    dead_share_out(verify);
    verify->checks[CHECK_DATA_ID].looked = 1;
    if (secret != 0 && secret != data_folder_secret_check(&verify->folder))
        verify_fail(verify, CHECK_DATA_ID, "the secret in %s does not belong to this database",
            verify->source.partitions ? "cluster.secret_file" : "the file identity");
    const uint64_t data_id = verify->store_data_id;
    if (data_id != verify->folder.data_id && data_id != 0) { /* 0: a new one, see verify.c */
        verify_fail(verify, CHECK_DATA_ID, "journal has %016" PRIx64 ", database has %016" PRIx64,
            verify->folder.data_id, data_id);
        snprintf(verify->store_what, sizeof verify->store_what, "the database belongs to another journal");
        verify_store_close(verify);
    }
}

void verify_store_close(struct verify *verify)
{
    if (verify->store != NULL)
        verify->store->ops->close(verify->store);
    verify->store = NULL;
    verify_archives_close(verify);
    free(verify->dead);
    verify->dead = NULL;
    verify->dead_count = 0;
}

static enum status open_events_mark(struct comparison *comparison)
{
    static const uint8_t marks[SETTLE_STEPS] = {
        [SETTLE_SOLD] = MARK_OPEN_SOLD,
        [SETTLE_RETURN] = MARK_OPEN_RETURN,
        [SETTLE_WRITE_OFF] = MARK_OPEN_WRITE_OFF,
    };
    struct verify *verify = comparison->verify;
    struct order_store *store = verify->store;
    uint32_t count = 0;
    const enum status status =
        store->ops->stock_events(store, 0, comparison->events, OPEN_EVENTS_MAX, &count);
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        const struct command_settle *settle = &comparison->events[i].settle;
        ticket_number n;
        const struct verify_log *log = verify_ticket_find(verify, settle->ticket, &n);
        if (log != NULL && settle->step < SETTLE_STEPS)
            log->marks[n] |= marks[settle->step];
    }
    comparison->event_count = count;
    comparison->event_last = count == 0 ? 0 : comparison->events[count - 1].id;
    return status;
}

static void item_compare(struct comparison *comparison, const struct item *row)
{
    struct verify *verify = comparison->verify;
    struct verify_units item;
    struct item_sums *sums = &comparison->sums[row->id];
    sums->in_store = true;
    if (!verify_item_sum(verify, row->id, &item) || verify_item_broken(verify, row->id)
        || verify_item_archived(verify, row->id))
        return; /* not preheated up to here, or nobody knows how it went on, or it is in a bundle */
    const uint64_t sold_before = item.total - item.locked - item.counts.given;
    const uint64_t live = (uint64_t)item.counts.held + item.counts.sold;
    verify->checks[CHECK_STOCK].looked++;
    if (row->sold != sold_before + sums->live)
        verify_fail(verify, CHECK_STOCK,
            "item %u: the database says %u sold, its live orders "
            "and what was sold before make %" PRIu64,
            row->id, row->sold, sold_before + sums->live);
    else if (!sums->excused && sums->live != live)
        verify_fail(verify, CHECK_STOCK,
            "item %u: %" PRIu64 " units in live orders, the log has %" PRIu64 " held and sold",
            row->id, sums->live, live);
    else if (row->flash_price != item.unit_price)
        verify_fail(verify, CHECK_STOCK,
            "item %u: flash price %" PRIu64 " in the database, %" PRIu64 " in the log", row->id,
            row->flash_price, item.unit_price);
}

static enum status items_compare(struct comparison *comparison)
{
    struct verify *verify = comparison->verify;
    struct order_store *store = verify->store;
    item_id after = 0;
    uint32_t count = ITEMS_PER_READ;
    while (count == ITEMS_PER_READ) {
        const enum status status =
            store->ops->items(store, 0, after, comparison->items, ITEMS_PER_READ, &count);
        if (status != STATUS_OK)
            return status;
        for (uint32_t i = 0; i < count; i++) {
            after = comparison->items[i].id;
            if (after > 0 && after < verify->config.items_max)
                item_compare(comparison, &comparison->items[i]);
        }
    }
    struct verify_units sum;
    for (item_id id = 1; id < verify->config.items_max; id++)
        if (!comparison->sums[id].in_store && verify_item_sum(verify, id, &sum))
            verify_fail(verify, CHECK_STOCK, "item %u is in the log but not in the database", id);
    return STATUS_OK;
}

/* True at every commit: an order, its payment and the refund intent change together. */
static enum status money_check(struct verify *verify)
{
    struct money_totals sum;
    const enum status status = verify->store->ops->payment->totals(verify->store, &sum);
    if (status != STATUS_OK)
        return status;
    verify->checks[CHECK_MONEY].looked = 1;
    if (sum.captured - sum.refunded - sum.wanted - sum.late != sum.paid)
        verify_fail(verify, CHECK_MONEY,
            "%" PRIu64 " came in, %" PRIu64 " went back, %" PRIu64 " is to go back, %" PRIu64
            " waits, but orders for %" PRIu64 " are paid by it",
            sum.captured, sum.refunded, sum.wanted, sum.late, sum.paid);
    return status;
}

static enum status kept_check(struct verify *verify)
{
    const struct order_store_ops *ops = verify->store->ops;
    item_id wrong = 0;
    enum status status = ops->sums_check(verify->store, &wrong);
    if (status == STATUS_OK && wrong != 0)
        verify_fail(verify, CHECK_STOCK, "item %u: the kept sums are not those of its orders", wrong);
    if (status == STATUS_OK)
        status = ops->buyers_check(verify->store, &wrong);
    if (status == STATUS_OK && wrong != 0)
        verify_fail(verify, CHECK_ORDERS, "item %u: an order is missing in the orders of its user", wrong);
    return status;
}

/* Each live order counts once against the limits over a period, and nothing else does. */
static enum status limits_check(struct verify *verify)
{
    const struct limit_store_ops *ops = verify->store->ops->limits;
    ticket_number wrong = 0;
    const enum status status =
        ops == NULL ? STATUS_OK : ops->check(verify->store, clock_wall_ms(), &wrong);
    if (status == STATUS_OK && wrong != 0)
        verify_fail(verify, CHECK_ORDERS,
            "ticket %" PRIu64
            ": what counts against a limit over a period is not what its order says",
            wrong);
    return status;
}

static enum status audit_check(struct verify *verify)
{
    uint64_t entries = 0, first_bad = 0;
    const enum status status = verify->store->ops->audit_verify(verify->store, &entries, &first_bad);
    verify->checks[CHECK_AUDIT].looked = entries;
    if (status == STATUS_OK && first_bad != 0)
        verify_fail(verify, CHECK_AUDIT, "entry %" PRIu64 " is not what was written, or is missing",
            first_bad);
    return status;
}

static enum status position_same(struct verify *verify, bool *same)
{
    struct position position = { 0 };
    if (verify->source.partitions)
        return verify_partitions_same(verify, same);
    const enum status status = verify->store->ops->applied(verify->store, PART_EMBEDDED, &position);
    *same = position.seq == verify->log->state.seq;
    return status;
}

/* Did servers write while we read? Then states and stock are of another moment. A move of an
 * order leaves an open event, or, once that is confirmed, another position. */
static bool moved_look(struct comparison *comparison)
{
    struct verify *verify = comparison->verify;
    struct order_store *store = verify->store;
    uint32_t count = 0;
    bool same = true;
    if (!verify->running && !verify->source.partitions)
        return false;
    enum status status = store->ops->stock_events(store, 0, comparison->events, OPEN_EVENTS_MAX, &count);
    if (status == STATUS_OK)
        status = position_same(verify, &same);
    const uint64_t last = count == 0 ? 0 : comparison->events[count - 1].id;
    return status != STATUS_OK || !same || count != comparison->event_count
        || last != comparison->event_last;
}

static void comparison_end(struct comparison *comparison)
{
    struct verify *verify = comparison->verify;
    const struct verify_strays *strays = &comparison->strays;
    if (moved_look(comparison)) {
        verify->running = true;
        verify_skip(verify, CHECK_ORDER_STATES, "the server is writing");
        verify_skip(verify, CHECK_STOCK, "the server is writing");
    } else {
        verify_transfers_check(verify);
        verify_gone_check(verify);
        for (uint64_t i = 0; i < strays->count; i++)
            verify_fail(verify, CHECK_ORDERS, "%s", strays->what);
    }
}

void verify_store_compare(struct verify *verify)
{
    struct comparison comparison = { .verify = verify,
        .sums = calloc(ITEMS_LIMIT, sizeof *comparison.sums),
        .items = calloc(ITEMS_PER_READ, sizeof *comparison.items),
        .events = calloc(OPEN_EVENTS_MAX, sizeof *comparison.events) };
    enum status status = STATUS_FULL;
    verify->store_compared = true;
    if (comparison.sums != NULL && comparison.items != NULL && comparison.events != NULL)
        status = open_events_mark(&comparison);
    if (status == STATUS_OK)
        status = verify_orders_compare(verify, comparison.sums, &comparison.strays);
    if (status == STATUS_OK)
        status = items_compare(&comparison);
    if (status == STATUS_OK)
        status = kept_check(verify);
    if (status == STATUS_OK)
        status = limits_check(verify);
    if (status == STATUS_OK)
        status = money_check(verify);
    if (status == STATUS_OK)
        status = audit_check(verify);
    if (status == STATUS_OK)
        comparison_end(&comparison);
    else
        verify_fail(verify, CHECK_ORDERS, "the database can't be read: %s", status_name(status));
    free(comparison.sums);
    free(comparison.items);
    free(comparison.events);
}
