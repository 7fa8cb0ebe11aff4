/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_store.c: the database against the log.
 *
 * DESIGN
 * Compared when the replay stands at the very position that the database has stored, so both tell
 * of the same moment. Two things may stand between an order and its ticket in good order: a dead
 * letter (a person decides), and a stock event that is still open (the order has moved, the engine
 * will follow). Tickets with such a mark are not held to their state, all others are. Beside a
 * running server the database moves on while it is read: rows of orders never change what they were
 * written with, so they are compared all the same; states and stock only if nothing was written
 * meanwhile. */
#include "contract/order_state.h"
#include "contract/payment.h"
#include "store/sqlite/sqlite.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { ORDERS_PER_READ = 512, ITEMS_PER_READ = 256, DEAD_MAX = 1 << 16, OPEN_EVENTS_MAX = 1 << 16 };

struct item_sums {
    uint64_t live; /* units of pending and paid orders */
    bool excused;  /* a ticket of it has a mark */
    bool in_store;
};

struct comparison {
    struct verify *verify;
    struct item_sums *sums; /* by item */
    struct order *orders;
    struct item *items;
    struct stock_event *events;
    uint32_t event_count; /* open when we began, and the last of them */
    uint64_t event_last;
    ticket_number expected; /* the next one downwards */
};

static int dead_by_position(const void *a, const void *b)
{
    const struct dead_letter *left = a, *right = b;
    return left->at.seq < right->at.seq ? -1 : left->at.seq > right->at.seq;
}

/* A folder has one log: what another one left does not belong to it. */
static void dead_of_others(struct verify *verify)
{
    for (uint32_t i = 0; i < verify->dead_count; i++) {
        const struct dead_letter *letter = &verify->dead[i];
        if (letter->at.part != PART_EMBEDDED)
            verify_fail(verify, CHECK_POSITION,
                "dead letter %" PRIu64 " is of partition %u, and the folder has the log of %u",
                letter->id, letter->at.part, (unsigned)PART_EMBEDDED);
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
    char error[CONFIG_ERROR] = "";
    bool is_server = false;
    const struct verify_options *options = verify->options;
    if (options->settings == NULL)
        return file_open(verify);
    if (options->open(options->settings, &verify->store, &is_server, error, sizeof error) != 0) {
        store_unreadable(verify, error);
        return false;
    }
    return is_server || file_open(verify);
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
        status = store->ops->applied(store, PART_EMBEDDED, &verify->store_position);
    if (status == STATUS_OK)
        status = store->ops->secret_check(store, &secret);
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
    verify->checks[CHECK_DATA_ID].looked = 1;
    if (secret != 0 && secret != data_folder_secret_check(&verify->folder))
        verify_fail(verify, CHECK_DATA_ID,
            "the secret in the file identity does not belong to this database");
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
        if (settle->ticket <= verify->engine.tickets.last && settle->step < SETTLE_STEPS)
            verify->marks[settle->ticket] |= marks[settle->step];
    }
    comparison->event_count = count;
    comparison->event_last = count == 0 ? 0 : comparison->events[count - 1].id;
    return status;
}

static void order_missing(struct comparison *comparison, ticket_number number)
{
    struct verify *verify = comparison->verify;
    const struct ticket_row *ticket = tickets_get(&verify->engine.tickets, number);
    verify->checks[CHECK_ORDERS].looked++;
    if ((verify->marks[number] & MARK_DEAD) != 0) {
        if (ticket != NULL)
            comparison->sums[ticket->item].excused = true;
        return;
    }
    if (ticket == NULL) {
        verify_fail(verify, CHECK_ORDERS,
            "ticket %016" PRIx64 " (returned, and forgotten since) has no order and no dead letter",
            funnel_ticket_id(&verify->keys, number));
        return;
    }
    verify_fail(verify, CHECK_ORDERS,
        "ticket %016" PRIx64 " (%u of item %u, user %016" PRIx64
        ") has no order and no dead letter",
        funnel_ticket_id(&verify->keys, number), ticket->quantity, ticket->item, ticket->user);
}

/* Only a payment makes the time to pay longer. */
static bool order_was_extended(const struct verify *verify, ticket_number ticket)
{
    struct payment first;
    uint32_t count = 0;
    struct order_store *store = verify->store;
    const enum status status = store->ops->payment->of_order(store, ticket, &first, 1, &count);
    return status != STATUS_OK || count > 0; /* what can't be read is told by others */
}

static const char *order_row_wrong(const struct verify *verify, const struct order *order)
{
    const struct ticket_row *ticket = tickets_get(&verify->engine.tickets, order->ticket);
    if (ticket == NULL)
        return NULL; /* forgotten */
    if (order->user != ticket->user)
        return "user";
    if (order->item != ticket->item)
        return "item";
    if (order->quantity != ticket->quantity)
        return "quantity";
    if (order->channel != ticket->channel)
        return "channel";
    if (order->unit_price != verify->engine.items[ticket->item].unit_price)
        return "unit price";
    if (order->amount != order->unit_price * order->quantity)
        return "amount";
    if (order->pay_by_ms < ticket->pay_by_ms)
        return "pay-by time";
    return order->pay_by_ms > ticket->pay_by_ms && !order_was_extended(verify, order->ticket)
        ? "pay-by time"
        : NULL;
}

/* What an order may be while its ticket is in a state; an open event lets the order be one step
 * ahead. */
static bool order_state_fits(enum order_state order, uint8_t ticket, uint8_t marks)
{
    switch ((enum ticket_state)ticket) {
    case TICKET_HELD:
        return order == ORDER_PENDING || (order == ORDER_PAID && (marks & MARK_OPEN_SOLD) != 0)
            || ((order == ORDER_CLOSED || order == ORDER_REFUNDED)
                && (marks & (MARK_OPEN_RETURN | MARK_OPEN_WRITE_OFF)) != 0);
    case TICKET_SOLD:
        return order == ORDER_PAID
            || (order == ORDER_REFUNDED && (marks & (MARK_OPEN_RETURN | MARK_OPEN_WRITE_OFF)) != 0);
    case TICKET_RETURNED:
        return order == ORDER_CLOSED || order == ORDER_REFUNDED;
    case TICKET_WRITTEN_OFF:
        return order == ORDER_REFUNDED;
    }
    return false;
}

static void order_compare(struct comparison *comparison, const struct order *order)
{
    struct verify *verify = comparison->verify;
    const struct ticket_row *ticket = tickets_get(&verify->engine.tickets, order->ticket);
    const uint8_t marks = verify->marks[order->ticket];
    /* What is forgotten was returned. */
    const uint8_t state = ticket == NULL ? TICKET_RETURNED : ticket->state;
    const uint64_t id = funnel_order_id(&verify->keys, order->ticket);
    const char *wrong = order_row_wrong(verify, order);
    verify->orders++;
    verify->checks[CHECK_ORDERS].looked++;
    verify->checks[CHECK_ORDER_STATES].looked++;
    if (wrong != NULL)
        verify_fail(
            verify, CHECK_ORDERS, "order %016" PRIx64 " has another %s than its ticket", id, wrong);
    if ((marks & MARK_DEAD) == 0 && !order_state_fits((enum order_state)order->state, state, marks))
        verify_fail(verify, CHECK_ORDER_STATES, "order %016" PRIx64 " is %s, its ticket is %s", id,
            order->state < ORDER_STATES ? order_state_name((enum order_state)order->state) : "?",
            ticket_state_name((enum ticket_state)state));
    if (marks != 0 && ticket != NULL)
        comparison->sums[ticket->item].excused = true;
    if (order->item < ITEMS_LIMIT && (order->state == ORDER_PENDING || order->state == ORDER_PAID))
        comparison->sums[order->item].live += order->quantity;
}

static void order_take(struct comparison *comparison, const struct order *order)
{
    struct verify *verify = comparison->verify;
    if (order->ticket > verify->engine.tickets.last || order->ticket == 0) {
        if (verify->running)
            return; /* written since we looked at the position */
        verify_fail(verify, CHECK_ORDERS,
            "order %016" PRIx64 " has no ticket in the log (number %" PRIu64
            ", the last one is %" PRIu64 ")",
            funnel_order_id(&verify->keys, order->ticket), order->ticket, verify->engine.tickets.last);
        return;
    }
    while (comparison->expected > order->ticket)
        order_missing(comparison, comparison->expected--);
    comparison->expected = order->ticket - 1;
    order_compare(comparison, order);
}

static enum status orders_compare(struct comparison *comparison)
{
    struct order_store *store = comparison->verify->store;
    struct order_filter filter = { .by_ticket = true };
    uint32_t count;
    comparison->expected = comparison->verify->engine.tickets.last;
    do {
        const enum status status = store->ops->orders_list(
            store, &filter, comparison->orders, ORDERS_PER_READ, &count, &filter.before);
        if (status != STATUS_OK)
            return status;
        for (uint32_t i = 0; i < count; i++)
            order_take(comparison, &comparison->orders[i]);
    } while (filter.before > 1);
    while (comparison->expected > 0)
        order_missing(comparison, comparison->expected--);
    return STATUS_OK;
}

static void item_compare(struct comparison *comparison, const struct item *row)
{
    struct verify *verify = comparison->verify;
    const struct engine_item *item = &verify->engine.items[row->id];
    struct item_sums *sums = &comparison->sums[row->id];
    sums->in_store = true;
    if (item->sale == 0)
        return; /* not preheated up to here */
    const uint64_t sold_before = (uint64_t)item->total - item->locked - item->given;
    const uint64_t live = (uint64_t)item->held + item->sold;
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
    else if (row->flash_price != item->unit_price)
        verify_fail(verify, CHECK_STOCK,
            "item %u: flash price %" PRIu64 " in the database, %" PRIu64 " in the log", row->id,
            row->flash_price, item->unit_price);
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
    for (item_id id = 1; id < verify->config.items_max; id++)
        if (verify->engine.items[id].sale != 0 && !comparison->sums[id].in_store)
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

/* Did the server write while we read? Then states and stock are of another moment. A move of an
 * order leaves an open event, or, once that is confirmed, another position. */
static void moved_look(struct comparison *comparison)
{
    struct verify *verify = comparison->verify;
    struct order_store *store = verify->store;
    struct position position = { 0 };
    uint32_t count = 0;
    if (!verify->running)
        return;
    enum status status = store->ops->stock_events(store, 0, comparison->events, OPEN_EVENTS_MAX, &count);
    if (status == STATUS_OK)
        status = store->ops->applied(store, PART_EMBEDDED, &position);
    const uint64_t last = count == 0 ? 0 : comparison->events[count - 1].id;
    if (status == STATUS_OK && position.seq == verify->store_position.seq
        && count == comparison->event_count && last == comparison->event_last)
        return;
    verify_skip(verify, CHECK_ORDER_STATES, "the server is writing");
    verify_skip(verify, CHECK_STOCK, "the server is writing");
}

void verify_store_compare(struct verify *verify)
{
    struct comparison comparison = { .verify = verify,
        .sums = calloc(ITEMS_LIMIT, sizeof *comparison.sums),
        .orders = calloc(ORDERS_PER_READ, sizeof *comparison.orders),
        .items = calloc(ITEMS_PER_READ, sizeof *comparison.items),
        .events = calloc(OPEN_EVENTS_MAX, sizeof *comparison.events) };
    enum status status = STATUS_FULL;
    verify->store_compared = true;
    if (comparison.sums != NULL && comparison.orders != NULL && comparison.items != NULL
        && comparison.events != NULL)
        status = open_events_mark(&comparison);
    if (status == STATUS_OK)
        status = orders_compare(&comparison);
    if (status == STATUS_OK)
        status = items_compare(&comparison);
    if (status == STATUS_OK)
        status = kept_check(verify);
    if (status == STATUS_OK)
        status = money_check(verify);
    if (status == STATUS_OK)
        status = audit_check(verify);
    if (status == STATUS_OK)
        moved_look(&comparison);
    else
        verify_fail(verify, CHECK_ORDERS, "the database can't be read: %s", status_name(status));
    free(comparison.sums);
    free(comparison.orders);
    free(comparison.items);
    free(comparison.events);
}
