/* SPDX-License-Identifier: Apache-2.0 */
/* The log is one: a turn of it is taken by one thread at a time, which reads the open stock events, makes
 * SETTLE records of them, sells some units, and writes the batch. `free` and `used` are what the inventory
 * would know: it never sells what it has not, so nothing may be refused. A second thread may write the same
 * batch at the same time, as one does that does not know yet that it was replaced.
 * Everybody else moves orders of the last tickets, in the order of chance, with and without groups. */
#include "tests/seam/store_writers.h"

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/span.h"
#include "contract/payment.h"
#include "contract/waitlist.h"
#include "store/store.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ITEMS = 20,
    UNITS = 60, /* as in store_writers_check.c */
    USERS = 64,
    SALE_LIMIT = 40,
    PAYERS = 5,
    PAYER_LIMIT = 6, /* units, of every second item */
    WRITERS_MAX = 16,
    TICKETS_MAX = 1 << 20,
    RECENT = 12, /* tickets that are moved: few, so that two meet */
    WINS_PER_BATCH = 8,
    EVENTS_PER_BATCH = 48,
    BATCH = WINS_PER_BATCH + EVENTS_PER_BATCH,
    MOVES_MAX = 8,
    PRICE = 999,
    CREATED_MS = 1000,
    PAY_BY_MS = 2000,
    SECONDS = 3,
    APPLY_TRIES_MAX = 50,
};

struct sold {
    uint16_t item, user;
    uint8_t quantity, settled; /* a bit for each step */
};
struct batch {
    uint32_t count;
    struct queue_record records[BATCH];
};
struct tally {
    uint64_t sold, paid, closed, refunded, captured, applied, groups, groups_lost, away, products, failed;
};
struct writer {
    struct order_store *store;
    struct random random;
    struct tally tally;
    pthread_t thread;
};

static struct {
    pthread_mutex_t log;
    uint64_t lsn;
    _Atomic uint64_t ticket;
    item_id items[ITEMS];
    uint32_t limits[ITEMS];
    sale_id sale;
    uint32_t product;
    uint32_t free[ITEMS], used[ITEMS][USERS], used_of_sale[USERS];
    struct sold *tickets;
    pthread_mutex_t last_lock;
    struct batch last; /* the newest batch, for whoever writes it too */
    uint64_t end_ns;
} shared = { .log = PTHREAD_MUTEX_INITIALIZER, .last_lock = PTHREAD_MUTEX_INITIALIZER };

/* cmocka's asserts are for one thread. */
static void must(struct writer *writer, bool is_right, const char *what, enum status status)
{
    if (is_right)
        return;
    fprintf(stderr, "FAILED: %s: %s, %s\n", what, status_name(status),
        store_connection(writer->store)->driver->message(store_connection(writer->store)));
    writer->tally.failed++;
}

/* Whether it was done; another connection may be in the way for too long, which is no error. */
static bool was_done(struct writer *writer, enum status status, const char *what)
{
    writer->tally.away += status == STATUS_AWAY;
    must(writer, status == STATUS_OK || status == STATUS_AWAY, what, status);
    return status == STATUS_OK;
}

static uint32_t chance(struct writer *writer, uint32_t bound)
{
    return (uint32_t)random_below(&writer->random, bound);
}

/* ---- the log ---- */

static struct queue_record *record_add(struct batch *batch, enum command_type type)
{
    struct queue_record *record = &batch->records[batch->count++];
    *record = (struct queue_record){ .at.seq = ++shared.lsn,
        .command = { .type = (uint8_t)type, .time_ms = CREATED_MS },
        .outcome = { .answer = ANSWER_DONE, .changed = true } };
    return record;
}

static void win_add(struct writer *writer, struct batch *batch)
{
    const uint32_t item = chance(writer, ITEMS), user = chance(writer, USERS);
    const uint32_t quantity = shared.limits[item] == 1 ? 1 : 1 + chance(writer, 2);
    const uint32_t limit = shared.limits[item];
    if (shared.free[item] < quantity || (limit > 0 && shared.used[item][user] + quantity > limit)
        || shared.used_of_sale[user] + quantity > SALE_LIMIT || shared.ticket + 1 == TICKETS_MAX)
        return;
    shared.free[item] -= quantity;
    shared.used[item][user] += quantity;
    shared.used_of_sale[user] += quantity;
    struct queue_record *record = record_add(batch, COMMAND_RESERVE);
    record->command.reserve =
        (struct command_reserve){ .user = 1 + user, .item = shared.items[item], .quantity = quantity };
    const ticket_number ticket = shared.ticket + 1;
    shared.tickets[ticket] = (struct sold){ (uint16_t)item, (uint16_t)user, (uint8_t)quantity, 0 };
    record->outcome.answer = ANSWER_WON;
    record->outcome.ticket = ticket;
    record->outcome.unit_price = PRICE;
    record->outcome.pay_by_ms = PAY_BY_MS;
    shared.ticket = ticket;
    writer->tally.sold++;
}

static void settle_add(struct batch *batch, const struct command_settle *settle)
{
    struct sold *sold = &shared.tickets[settle->ticket];
    struct queue_record *record = record_add(batch, COMMAND_SETTLE);
    record->command.settle = *settle;
    record->outcome.item = shared.items[sold->item];
    record->outcome.user = 1 + (user_id)sold->user;
    record->outcome.quantity = sold->quantity;
    if (settle->step == SETTLE_RETURN && (sold->settled & 1 << SETTLE_RETURN) == 0) {
        shared.free[sold->item] += sold->quantity;
        shared.used[sold->item][sold->user] -= sold->quantity;
        shared.used_of_sale[sold->user] -= sold->quantity;
    }
    sold->settled |= (uint8_t)(1 << settle->step);
}

static enum status batch_write(struct writer *writer, const struct batch *batch)
{
    static const uint8_t dispositions[BATCH] = { DISPOSE_APPLY };
    struct refusal refusal = { .index = UINT32_MAX };
    const enum status status =
        writer->store->ops->apply(writer->store, batch->records, dispositions, batch->count, &refusal);
    if (status == STATUS_REFUSED)
        fprintf(stderr, "REFUSED: %s\n", refusal.text);
    writer->tally.applied += status == STATUS_OK;
    return status;
}

/* A batch that can't be written now is written later, as the order writer does it: the log goes on after. */
static void log_turn(struct writer *writer)
{
    static struct batch batch; /* under the lock */
    struct stock_event events[EVENTS_PER_BATCH];
    uint32_t count = 0, tries = 0;
    (void)pthread_mutex_lock(&shared.log);
    batch.count = 0;
    if (was_done(writer,
            writer->store->ops->stock_events(writer->store, 0, events, EVENTS_PER_BATCH, &count),
            "events"))
        for (uint32_t i = 0; i < count; i++)
            settle_add(&batch, &events[i].settle);
    for (uint32_t i = 0; i < WINS_PER_BATCH; i++)
        win_add(writer, &batch);
    (void)pthread_mutex_lock(&shared.last_lock);
    shared.last = batch;
    (void)pthread_mutex_unlock(&shared.last_lock);
    while (!was_done(writer, batch_write(writer, &batch), "apply") && ++tries < APPLY_TRIES_MAX)
        ;
    must(writer, tries < APPLY_TRIES_MAX, "a batch is written at last", STATUS_AWAY);
    (void)pthread_mutex_unlock(&shared.log);
}

static void log_turn_twice(struct writer *writer)
{
    struct batch batch;
    (void)pthread_mutex_lock(&shared.last_lock);
    batch = shared.last;
    (void)pthread_mutex_unlock(&shared.last_lock);
    if (batch.count > 0)
        (void)was_done(writer, batch_write(writer, &batch), "the same batch again");
}

/* ---- orders and their money ---- */

static ticket_number recent_ticket(struct writer *writer)
{
    const uint32_t last = (uint32_t)shared.ticket;
    const uint32_t most = chance(writer, 3) == 0 || last < RECENT ? last : RECENT; /* old ones end, too */
    return last == 0 ? 1 : last - chance(writer, most);
}

/* What a ticket costs; the row of one that is not sold yet belongs to the thread that holds the log. */
static uint64_t amount_of(ticket_number ticket)
{
    return ticket <= shared.ticket ? PRICE * (uint64_t)shared.tickets[ticket].quantity : 0;
}

static void moves_count(
    struct tally *tally, const struct order_move *moves, const uint8_t *answers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (answers[i] != MOVE_DONE)
            continue;
        tally->paid += moves[i].event == ORDER_EVENT_PAY;
        tally->closed += moves[i].event == ORDER_EVENT_EXPIRE || moves[i].event == ORDER_EVENT_CANCEL;
        tally->refunded += moves[i].event == ORDER_EVENT_REFUND;
    }
}

static struct order_move move_of(struct writer *writer)
{
    static const uint8_t kinds[] = { ORDER_EVENT_PAY, ORDER_EVENT_PAY, ORDER_EVENT_CANCEL,
        ORDER_EVENT_EXPIRE, ORDER_EVENT_REFUND };
    struct order_move move = { .ticket = recent_ticket(writer),
        .event = kinds[chance(writer, sizeof kinds)],
        .now_ms = PAY_BY_MS,
        .refund_to = chance(writer, 64) == 0 ? REFUND_TO_WRITE_OFF : REFUND_TO_STOCK,
        .currency = "CNY" };
    move.amount = amount_of(move.ticket);
    /* Sometimes two orders get the same reference: one of them has it then. */
    snprintf(move.reference, sizeof move.reference, "shop-%" PRIu64,
        move.ticket / (chance(writer, 4) == 0 ? 2 : 1) * 8 + chance(writer, 4));
    return move;
}

static bool moves_once(struct writer *writer, struct tally *tally)
{
    struct order_move moves[MOVES_MAX];
    struct order after[MOVES_MAX];
    uint8_t answers[MOVES_MAX];
    const uint32_t count = 1 + chance(writer, chance(writer, 2) == 0 ? 1 : MOVES_MAX);
    for (uint32_t i = 0; i < count; i++)
        moves[i] = move_of(writer);
    const enum status status =
        writer->store->ops->orders_move(writer->store, moves, count, after, answers);
    if (!was_done(writer, status, "moves"))
        return false;
    moves_count(tally, moves, answers, count);
    return true;
}

static void payment_turn(struct writer *writer, struct tally *tally)
{
    const struct payment_store_ops *money = writer->store->ops->payment;
    struct payment_start start = { .ticket = recent_ticket(writer), .now_ms = CREATED_MS };
    struct payment_news news = { .kind = chance(writer, 3) == 0 ? NEWS_CLOSED : NEWS_CAPTURED,
        .payer = 1 + chance(writer, PAYERS),
        .amount = amount_of(start.ticket),
        .currency = "CNY",
        .now_ms = CREATED_MS + 1,
        .asked = true };
    struct payment payment = { 0 };
    struct order after;
    uint8_t answer = LEARN_ANSWERS;
    uint32_t live;
    snprintf(start.provider, sizeof start.provider, "alpha%u", chance(writer, 2));
    snprintf(start.reference, sizeof start.reference, "%s-%" PRIu64, start.provider, start.ticket);
    memcpy(news.provider, start.provider, sizeof news.provider);
    memcpy(news.reference, start.reference, sizeof news.reference);
    const enum status status = money->start(writer->store, &start, &payment, &after, &answer);
    if (status != STATUS_REFUSED && !was_done(writer, status, "start"))
        return;
    if (status == STATUS_REFUSED) /* the reference is taken: by a payment that is over */
        (void)was_done(
            writer, money->by_reference(writer->store, start.reference, &payment), "by reference");
    if (payment.id != 0)
        (void)was_done(writer, money->opened(writer->store, payment.id, "p", "u", PAY_BY_MS), "opened");
    if (chance(writer, 4) == 0)
        (void)was_done(writer,
            money->closing(writer->store, start.ticket, REASON_CANCELLED, PAY_BY_MS, &live), "closing");
    if (chance(writer, 4) == 0)
        return; /* somebody else may learn of it */
    if (was_done(writer, money->learn(writer->store, &news, &payment, &after, &answer), "learn")) {
        tally->paid += answer == LEARN_PAID;
        tally->closed += answer == LEARN_CLOSED && after.state == ORDER_CLOSED
            && after.limited == LIMIT_NONE /* not rejected for its payer before */
            && after.ticket == start.ticket && after.version > 0 && payment.state == PAYMENT_CLOSED;
        tally->captured += answer == LEARN_PAID || answer == LEARN_LATE || answer == LEARN_REFUND;
    }
    if (payment.id != 0 && payment.use == USE_LATE)
        (void)was_done(writer,
            money->give_back(writer->store, payment.id, REFUND_OF_LATE, PAY_BY_MS), "give back");
}

static void group_turn(struct writer *writer)
{
    const struct order_store_ops *ops = writer->store->ops;
    struct tally tally = { 0 };
    ops->group_begin(writer->store);
    for (uint32_t i = 1 + chance(writer, 4); i > 0; i--)
        if (chance(writer, 2) == 0)
            (void)moves_once(writer, &tally);
        else
            payment_turn(writer, &tally);
    const enum status status = ops->group_end(writer->store);
    must(writer, status == STATUS_OK || status == STATUS_AWAY, "group", status);
    writer->tally.groups += status == STATUS_OK;
    writer->tally.groups_lost += status != STATUS_OK;
    if (status != STATUS_OK)
        return;
    writer->tally.paid += tally.paid;
    writer->tally.closed += tally.closed;
    writer->tally.refunded += tally.refunded;
    writer->tally.captured += tally.captured;
}

/* ---- the rest ---- */

static void line_turn(struct writer *writer)
{
    const struct waitlist_store_ops *line = writer->store->ops->waitlist;
    struct waitlist_place place = { .item = shared.items[chance(writer, ITEMS)],
        .user = 1 + chance(writer, USERS),
        .quantity = 1 + chance(writer, 2),
        .joined_ms = CREATED_MS };
    uint8_t answer;
    bool left;
    if (chance(writer, 2) == 0)
        (void)was_done(writer, line->join(writer->store, &place, USERS, &answer), "join");
    else
        (void)was_done(writer, line->leave(writer->store, place.item, place.user, &left), "leave");
}

static void details_turn(struct writer *writer)
{
    struct order_details details = { .name = "N", .phone = "1", .address = "A" };
    struct order after;
    snprintf(details.note, sizeof details.note, "%u", chance(writer, 9));
    const enum status status = writer->store->ops->payment->details_set(
        writer->store, recent_ticket(writer), &details, CREATED_MS, &after);
    if (status != STATUS_CONFLICT && status != STATUS_NOT_FOUND)
        (void)was_done(writer, status, "details");
}

static void catalog_turn(struct writer *writer)
{
    struct product product = { .name = "One more", .images = "[]", .currency = "CNY" };
    const struct audit_entry entry = {
        .time_ms = CREATED_MS, .actor = "ann", .action = "look", .detail = "-"
    };
    if (was_done(writer, writer->store->ops->product_insert(writer->store, &product), "product"))
        writer->tally.products++;
    (void)was_done(writer, writer->store->ops->audit_append(writer->store, &entry), "audit");
}

static void *writer_run(void *context)
{
    struct writer *writer = context;
    metrics_thread_enter();
    while (clock_monotonic_ns() < shared.end_ns && writer->tally.failed == 0) {
        const uint32_t what = chance(writer, 100);
        if (what < 15)
            log_turn(writer);
        else if (what < 20)
            log_turn_twice(writer);
        else if (what < 55)
            (void)moves_once(writer, &writer->tally);
        else if (what < 75)
            payment_turn(writer, &writer->tally);
        else if (what < 85)
            group_turn(writer);
        else if (what < 93)
            line_turn(writer);
        else if (what < 98)
            details_turn(writer);
        else
            catalog_turn(writer);
    }
    return NULL;
}

/* ---- from the beginning to the end ---- */

static enum status catalog_make(struct order_store *store)
{
    static const uint32_t limits[] = { 1, 3, 0 };
    struct product product = { .name = "Phone", .images = "[]", .currency = "CNY" };
    struct sale sale = { .title = "Sale", .start_ms = 1, .end_ms = 100000 };
    enum status status = store->ops->product_insert(store, &product);
    if (status == STATUS_OK)
        status = store->ops->sale_insert(store, &sale);
    for (uint32_t i = 0; i < ITEMS && status == STATUS_OK; i++) {
        struct item item = { .sale = sale.id,
            .product = product.id,
            .flash_price = PRICE,
            .limit_per_user = limits[i % 3],
            .total = UNITS,
            .channel_units = { UNITS } };
        if (i % 2 == 0) /* and the others have none */
            item.limits = (struct item_limits){ .payer_limit = PAYER_LIMIT, .period_days = 30 };
        status = store->ops->item_insert(store, &item);
        shared.items[i] = item.id;
        shared.limits[i] = item.limit_per_user;
        shared.free[i] = UNITS;
    }
    shared.sale = sale.id;
    struct refusal refusal = { .index = UINT32_MAX };
    const uint8_t apply = DISPOSE_APPLY;
    struct batch batch = { 0 };
    struct queue_record *record = record_add(&batch, COMMAND_SALE);
    record->command.sale = (struct command_sale){
        .sale = sale.id, .limit_per_user = SALE_LIMIT, .start_ms = 1, .end_ms = 100000
    };
    return status == STATUS_OK ? store->ops->apply(store, &batch.records[0], &apply, 1, &refusal)
                               : status;
}

static uint64_t repeats(void)
{
    static char buffer[1 << 18];
    static const char name[] = "\nstampede_store_repeats_total ";
    struct text text = text_in(buffer, sizeof buffer - 1);
    metrics_render(&text);
    buffer[text.size] = '\0';
    const char *at = strstr(buffer, name);
    return at == NULL ? 0 : strtoull(at + sizeof name - 1, NULL, 10);
}

/* What was answered is what is there: nothing is lost, nothing doubled. */
static uint32_t tally_check(struct order_store *store, const struct tally *tally)
{
    uint64_t seen[ORDER_STATES] = { 0 }, entries = 0, first_bad = 0, totals[2];
    struct product products[1];
    struct money_totals money = { 0 };
    uint32_t failed = 0, count = 0, last = 0;
    for (ticket_number ticket = 1; ticket <= shared.ticket; ticket++) {
        struct order order = { 0 };
        failed += store->ops->order_by_ticket(store, ticket, &order) != STATUS_OK;
        seen[order.state] += order.limited == LIMIT_NONE; /* news of money have closed the others */
    }
    for (uint64_t products_seen = 0;; products_seen++) {
        if (store->ops->products(store, last, products, 1, &count) != STATUS_OK || count == 0) {
            failed += products_seen != tally->products + 1;
            break;
        }
        last = products[0].id;
    }
    failed += store->ops->audit_verify(store, &entries, &first_bad) != STATUS_OK || first_bad != 0;
    failed += store->ops->payment->totals(store, &money) != STATUS_OK;
    totals[0] = seen[ORDER_PAID] + seen[ORDER_REFUNDED];
    totals[1] = seen[ORDER_CLOSED];
    if (totals[0] != tally->paid || seen[ORDER_REFUNDED] != tally->refunded
        || totals[1] != tally->closed || failed > 0) {
        fprintf(stderr,
            "BROKEN: told paid %" PRIu64 " refunded %" PRIu64 " closed %" PRIu64 ", stored %" PRIu64
            " %" PRIu64 " %" PRIu64 "; %u others\n",
            tally->paid, tally->refunded, tally->closed, totals[0], seen[ORDER_REFUNDED], totals[1],
            failed);
        return 1;
    }
    return 0;
}

static void tally_add(struct tally *sum, const struct tally *one)
{
    const uint64_t *from = (const uint64_t *)one;
    for (size_t i = 0; i < sizeof *one / sizeof *from; i++)
        ((uint64_t *)sum)[i] += from[i];
}

int store_writers_run(const struct writers_database *database, int argc, char **argv)
{
    static struct writer writers[WRITERS_MAX];
    struct tally sum = { 0 };
    uint32_t checks = 0, broken = 0;
    uint32_t seconds = SECONDS;
    if (argc == 3 && strcmp(argv[1], "--seconds") == 0
        && span_to_u32(span_from_string(argv[2]), &seconds) != STATUS_OK)
        return 2;
    struct order_store *store = database->open();
    invariant(store != NULL);
    shared.tickets = calloc(TICKETS_MAX, sizeof *shared.tickets);
    invariant(shared.tickets != NULL && catalog_make(store) == STATUS_OK);
    shared.end_ns = clock_monotonic_ns() + (uint64_t)seconds * 1000000000;
    for (uint32_t i = 0; i < database->connections; i++) {
        writers[i].store = i == 0 && database->connections == 1 ? store : database->open();
        invariant(writers[i].store != NULL);
        random_seed(&writers[i].random, i + 1);
        const int made = pthread_create(&writers[i].thread, NULL, writer_run, &writers[i]);
        invariant(made == 0);
    }
    while (database->connections > 1 && clock_monotonic_ns() < shared.end_ns && broken == 0) {
        const struct timespec pause = { .tv_nsec = 200 * 1000 * 1000 };
        (void)nanosleep(&pause, NULL);
        broken += store_writers_check(store);
        checks++;
    }
    for (uint32_t i = 0; i < database->connections; i++) {
        (void)pthread_join(writers[i].thread, NULL);
        tally_add(&sum, &writers[i].tally);
        if (writers[i].store != store)
            writers[i].store->ops->close(writers[i].store);
    }
    broken += store_writers_check(store) + tally_check(store, &sum);
    printf("writers: %s connections %u seconds %u orders %" PRIu64 " paid %" PRIu64
           " closed %" PRIu64 " refunded %" PRIu64 " batches %" PRIu64 " groups %" PRIu64
           " groups lost %" PRIu64 " repeats %" PRIu64 " unavailable %" PRIu64
           " checks %u broken %u failed %" PRIu64 "\n",
        database->name, database->connections, seconds, sum.sold, sum.paid, sum.closed, sum.refunded,
        sum.applied, sum.groups, sum.groups_lost, repeats(), sum.away, checks + 1, broken, sum.failed);
    store->ops->close(store);
    free(shared.tickets);
    return broken == 0 && sum.failed == 0 && sum.sold > 0 ? 0 : 1;
}
