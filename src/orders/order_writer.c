/* SPDX-License-Identifier: Apache-2.0 */
/* The batch is an array of records with what to do with each. `first` is the oldest one that is not
 * durable yet. `suspect` counts the records from `first` on that are known to hold one which the
 * database refuses without saying which: half of them are tried; what goes in is behind us, what
 * does not is the new suspect. Since records go in in order and the position with them, halving
 * loses nothing and repeats nothing. */
#include "orders/order_writer.h"

#include "base/log.h"
#include "base/metrics.h"
#include "contract/cluster_store.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = sizeof((struct refusal *)0)->text };

struct order_writer {
    struct order_writer_config config;
    uint32_t batch_max; /* so many places in each of these: */
    struct queue_record *records;
    uint8_t *dispositions, *tries;
    char (*reasons)[TEXT_BYTES]; /* of dead letters */
    uint32_t first, count;       /* records[first … count) wait */
    uint32_t suspect;
    uint32_t unsure; /* records of a transaction that may have been kept; 0: none */
    struct position position;
    uint64_t applied_ms, retry_ms; /* last transaction; not before */
    uint32_t away_ms;              /* the present pause; 0: not away */
    bool started, stopped, hurry;
    bool queue_away; /* the pause is about the queue, not the store */
    char trouble[TEXT_BYTES];
};

COUNTER(orders_written, "stampede_orders_written_total", "Orders written to the store.");
COUNTER(orders_rejected, "stampede_orders_rejected_total",
    "Orders that a check of the store refused; their units return to stock.");
COUNTER(waitlist_offers, "stampede_waitlist_offers_total", "Orders written for users on the waitlist.");
COUNTER(dead_letters, "stampede_dead_letters_total",
    "Records that the store refused for good; a person must decide.");
GAUGE(order_lag, "stampede_order_lag", "Durable queue records that are not in the store yet.");
GAUGE(store_away, "stampede_store_away", "1 while the store can't be written.");

static uint32_t batch_of(uint32_t wanted)
{
    invariant(wanted <= ORDER_BATCH_MAX);
    return wanted == 0 ? ORDER_BATCH_MAX : wanted;
}

size_t order_writer_bytes(uint32_t batch_max)
{
    const struct order_writer *writer = NULL;
    return sizeof *writer
        + batch_of(batch_max)
        * (sizeof *writer->records + sizeof *writer->dispositions + sizeof *writer->tries
            + sizeof *writer->reasons)
        + 1024; /* between them */
}

struct order_writer *order_writer_create(struct arena *arena, const struct order_writer_config *config)
{
    struct order_writer *writer = arena_take(arena, 1, sizeof *writer);
    const uint32_t batch = batch_of(config->batch_max);
    writer->config = *config;
    writer->batch_max = batch;
    writer->records = arena_take(arena, batch, sizeof *writer->records);
    writer->dispositions = arena_take(arena, batch, sizeof *writer->dispositions);
    writer->tries = arena_take(arena, batch, sizeof *writer->tries);
    writer->reasons = arena_take(arena, batch, sizeof *writer->reasons);
    return writer;
}

enum status order_writer_start(struct order_writer *writer)
{
    struct ticket_queue *queue = writer->config.queue;
    struct order_store *store = writer->config.store;
    enum status status = store->ops->applied(store, queue->part, &writer->position);
    if (status != STATUS_OK)
        return status;
    if (writer->position.seq > queue->ops->end(queue).seq)
        return STATUS_CONFLICT;
    status = queue->ops->seek(queue, writer->position);
    writer->started = status == STATUS_OK;
    if (writer->started)
        metric_set(&store_away, 0); /* one before it may have been stopped */
    return status;
}

void order_writer_hurry(struct order_writer *writer, bool hurry)
{
    writer->hurry = hurry;
}

void order_writer_use(struct order_writer *writer, struct order_store *store)
{
    writer->config.store = store;
}

static uint32_t writer_waiting(const struct order_writer *writer)
{
    return writer->count - writer->first;
}

static void writer_pause(struct order_writer *writer, uint64_t now_ms, const char *what)
{
    bool fresh = writer->away_ms == 0;
    uint32_t doubled = writer->away_ms * 2;
    writer->away_ms = fresh           ? ORDER_AWAY_MS_MIN
        : doubled > ORDER_AWAY_MS_MAX ? ORDER_AWAY_MS_MAX
                                      : doubled;
    writer->retry_ms = now_ms + writer->away_ms;
    snprintf(writer->trouble, sizeof writer->trouble, "%s", what);
    metric_set(&store_away, 1);
    if (fresh)
        log_error("orders", "the store is unavailable, orders wait reason=\"%s\" position=%llu",
            what, (unsigned long long)writer->position.seq);
}

static void writer_back(struct order_writer *writer)
{
    if (writer->away_ms == 0)
        return;
    writer->away_ms = 0;
    writer->queue_away = false;
    writer->trouble[0] = '\0';
    metric_set(&store_away, 0);
    log_info("orders", "the store is available again position=%llu",
        (unsigned long long)writer->position.seq);
}

static void writer_stop(struct order_writer *writer, enum status status, const char *what)
{
    writer->stopped = true;
    snprintf(writer->trouble, sizeof writer->trouble, "%s", what);
    metric_set(&store_away, 1);
    log_error("orders", "stopped: %s reason=\"%s\" position=%llu", status_name(status), what,
        (unsigned long long)writer->position.seq);
}

/* Fills the batch from the queue; false: nothing more can be done this turn. */
static bool writer_poll(struct order_writer *writer, uint64_t now_ms)
{
    struct ticket_queue *queue = writer->config.queue;
    if (writer->first == writer->count)
        writer->first = writer->count = 0;
    uint32_t room = writer->batch_max - writer->count, count = 0;
    if (room == 0)
        return true;
    enum status status = queue->ops->poll(queue, &writer->records[writer->count], room, &count);
    if (status == STATUS_CORRUPT || status == STATUS_CONFLICT) {
        writer_stop(writer, status,
            status == STATUS_CORRUPT ? "the ticket queue is damaged"
                                     : "the ticket queue is not ours any more");
        return false;
    }
    if (status != STATUS_OK) {
        writer->queue_away = true;
        writer_pause(writer, now_ms, "the ticket queue can't be read");
        return false;
    }
    if (writer->queue_away)
        writer_back(writer);
    invariant(count <= room);
    memset(&writer->dispositions[writer->count], DISPOSE_APPLY, count);
    memset(&writer->tries[writer->count], 0, count);
    writer->count += count;
    return true;
}

static void tell_changed(const struct order_writer *writer, ticket_number ticket, user_id user)
{
    if (ticket != 0 && writer->config.changed != NULL)
        writer->config.changed(writer->config.changed_context, ticket, user);
}

/* A record is in: count it and tell. */
static void record_done(struct order_writer *writer, uint32_t at, struct order_writer_progress *progress)
{
    const struct queue_record *record = &writer->records[at];
    const uint8_t disposition = writer->dispositions[at];
    const uint32_t wins =
        record->outcome.ticket != 0 ? outcome_wins(&record->command, &record->outcome) : 0;
    bool fresh = record->at.seq > writer->position.seq;
    if (fresh) {
        writer->position = record->at;
        progress->records++;
        progress->written += disposition == DISPOSE_APPLY ? wins : 0;
        progress->rejected += disposition == DISPOSE_REJECT;
        progress->dead += disposition == DISPOSE_DEAD;
        if (wins > 0 && disposition == DISPOSE_APPLY && writer->config.wrote != NULL)
            writer->config.wrote(writer->config.changed_context, record);
    }
    if (disposition == DISPOSE_DEAD)
        return;
    const bool settles = record->command.type == COMMAND_SETTLE;
    if (fresh && wins > 0 && (settles || (record->command.reserve.flags & RESERVE_OFFER) != 0))
        metric_add(&waitlist_offers, wins);
    if (!settles) {
        if (wins > 0)
            tell_changed(writer, record->outcome.ticket, record->command.reserve.user);
        return;
    }
    const struct command_settle *settle = &record->command.settle;
    tell_changed(writer, settle->ticket, record->outcome.user);
    for (uint32_t i = 0; i < settle->waiter_count; i++)
        tell_changed(writer, outcome_waiter_ticket(&record->outcome, i), settle->waiters[i].user);
}

static void batch_done(struct order_writer *writer, uint32_t count, uint64_t now_ms,
    struct order_writer_progress *progress)
{
    writer_back(writer);
    for (uint32_t i = 0; i < count; i++)
        record_done(writer, writer->first + i, progress);
    writer->first += count;
    writer->suspect -= writer->suspect < count ? writer->suspect : count;
    writer->applied_ms = now_ms;
    writer->retry_ms = now_ms;
}

/* How many records to try: up to the next dead letter (which goes alone, with its reason), half of
 * the suspects; and not too many users of lists, which take as long as that many orders. */
static uint32_t batch_size(const struct order_writer *writer)
{
    uint32_t size = writer_waiting(writer), users = 0;
    if (writer->suspect > 0)
        size = writer->suspect > 1 ? writer->suspect / 2 : 1;
    for (uint32_t i = 0; i < size; i++) {
        if (writer->dispositions[writer->first + i] == DISPOSE_DEAD)
            return i == 0 ? 1 : i;
        const struct command *command = &writer->records[writer->first + i].command;
        users += command->type == COMMAND_USERS ? command->users.count : 0;
        if (users > ORDER_USERS_MAX)
            return i == 0 ? 1 : i;
    }
    return size;
}

static void record_bury(struct order_writer *writer, uint32_t at, const struct refusal *refusal)
{
    const struct queue_record *record = &writer->records[at];
    writer->dispositions[at] = DISPOSE_DEAD;
    memcpy(writer->reasons[at], refusal->text, TEXT_BYTES);
    log_error("orders",
        "dead letter: the store refused a record part=%u seq=%llu type=%u ticket=%llu "
        "reason=\"%s\"",
        record->at.part, (unsigned long long)record->at.seq, record->command.type,
        (unsigned long long)record->outcome.ticket, refusal->text);
}

/* The record at `at` is the one that is refused. */
static void record_refused(
    struct order_writer *writer, uint32_t at, const struct refusal *refusal, uint64_t now_ms)
{
    bool guard = refusal->kind == REFUSAL_UNIQUE || refusal->kind == REFUSAL_LIMIT;
    if (writer->dispositions[at] == DISPOSE_DEAD) {
        writer_pause(writer, now_ms, refusal->text);
    } else if (guard && writer->dispositions[at] == DISPOSE_APPLY) {
        writer->dispositions[at] = DISPOSE_REJECT;
    } else if (++writer->tries[at] >= ORDER_TRIES_MAX) {
        record_bury(writer, at, refusal);
    } else {
        writer->retry_ms = now_ms + ORDER_BATCH_WAIT_MS;
    }
}

static void batch_refused(
    struct order_writer *writer, uint32_t size, const struct refusal *refusal, uint64_t now_ms)
{
    if (refusal->index < size)
        record_refused(writer, writer->first + refusal->index, refusal, now_ms);
    else if (size == 1)
        record_refused(writer, writer->first, refusal, now_ms);
    else
        writer->suspect = size;
}

/* With the entry of the log, where the store keeps that. */
static enum status records_apply(struct order_writer *writer, uint32_t size, struct refusal *refusal)
{
    struct order_store *store = writer->config.store;
    struct ticket_queue *queue = writer->config.queue;
    const struct queue_record *records = &writer->records[writer->first];
    const uint8_t *dispositions = &writer->dispositions[writer->first];
    if (queue->ops->entry == NULL)
        return store->ops->apply(store, records, dispositions, size, refusal);
    const struct journal_entry *entry = queue->ops->entry(queue, records, size);
    const enum status status =
        store->ops->cluster->apply(store, entry, records, dispositions, size, refusal);
    if (status == STATUS_OK)
        queue->ops->kept(queue);
    return status;
}

static void batch_apply(struct order_writer *writer, uint64_t now_ms, struct order_writer_progress *progress)
{
    struct refusal refusal = { .index = UINT32_MAX };
    /* An entry that may be in is tried again as it was: then it is either in, or goes in. */
    const uint32_t size = writer->unsure > 0 ? writer->unsure : batch_size(writer);
    const uint32_t first = writer->first;
    if (writer->dispositions[first] == DISPOSE_DEAD)
        memcpy(refusal.text, writer->reasons[first], TEXT_BYTES);
    const enum status status = records_apply(writer, size, &refusal);
    writer->unsure = 0;
    if (status == STATUS_OK) {
        batch_done(writer, size, now_ms, progress);
    } else if (status == STATUS_REFUSED) {
        batch_refused(writer, size, &refusal, now_ms);
    } else if (status == STATUS_CORRUPT || status == STATUS_CONFLICT) {
        writer_stop(writer, status, refusal.text);
    } else {
        writer->unsure = size;
        writer_pause(writer, now_ms, refusal.text);
    }
}

/* Small batches wait a little for company, but never because of a clock that went back. */
static uint64_t writer_due_ms(const struct order_writer *writer, uint64_t now_ms)
{
    uint64_t due_ms = writer->retry_ms;
    bool alone = !writer->hurry && writer_waiting(writer) < writer->batch_max
        && writer->suspect == 0 && writer->first == 0;
    if (alone && writer->applied_ms + ORDER_BATCH_WAIT_MS > due_ms)
        due_ms = writer->applied_ms + ORDER_BATCH_WAIT_MS;
    uint64_t farthest_ms =
        now_ms + (writer->away_ms > ORDER_BATCH_WAIT_MS ? writer->away_ms : ORDER_BATCH_WAIT_MS);
    return due_ms > farthest_ms ? now_ms : due_ms;
}

static void writer_work(struct order_writer *writer, uint64_t now_ms, struct order_writer_progress *progress)
{
    const uint64_t before = writer->position.seq;
    for (uint32_t applies = 0; applies < ORDER_APPLIES_PER_TURN; applies++) {
        if (writer->first == writer->count || writer->first == 0) {
            if (!writer_poll(writer, now_ms))
                break;
        }
        if (writer_waiting(writer) == 0 || writer_due_ms(writer, now_ms) > now_ms)
            break;
        batch_apply(writer, now_ms, progress);
        if (writer->stopped)
            break;
    }
    metric_add(&orders_written, progress->written);
    metric_add(&orders_rejected, progress->rejected);
    metric_add(&dead_letters, progress->dead);
    if (writer->position.seq > before) {
        struct ticket_queue *queue = writer->config.queue;
        if (queue->ops->commit(queue, writer->position) != STATUS_OK)
            log_warn("orders",
                "the queue could not store its position; it keeps more records than necessary");
    }
}

enum status order_writer_turn(
    struct order_writer *writer, uint64_t now_ms, struct order_writer_progress *progress)
{
    struct ticket_queue *queue = writer->config.queue;
    invariant(writer->started);
    *progress = (struct order_writer_progress){ .state = ORDER_WRITER_STOPPED };
    if (!writer->stopped && (writer->away_ms == 0 || writer_due_ms(writer, now_ms) <= now_ms))
        writer_work(writer, now_ms, progress);
    progress->position = writer->position;
    const uint64_t end = queue->ops->end(queue).seq;
    progress->lag = end > writer->position.seq ? end - writer->position.seq : 0;
    metric_set(&order_lag, progress->lag);
    progress->trouble = writer->trouble[0] != '\0' ? writer->trouble : NULL;
    if (writer->stopped) {
        progress->wait_ms = ORDER_AWAY_MS_MAX;
        return STATUS_CORRUPT;
    }
    uint64_t due_ms = writer_due_ms(writer, now_ms);
    if (writer->away_ms != 0)
        progress->state = ORDER_WRITER_AWAY;
    else
        progress->state = writer_waiting(writer) > 0 || progress->lag > 0 ? ORDER_WRITER_WORKING
                                                                          : ORDER_WRITER_IDLE;
    if (progress->state == ORDER_WRITER_IDLE)
        progress->wait_ms = ORDER_BATCH_WAIT_MS;
    else if (due_ms > now_ms)
        progress->wait_ms = (uint32_t)(due_ms - now_ms);
    return STATUS_OK;
}
