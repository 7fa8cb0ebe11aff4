/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/stream_queue.h"

#include "base/hash.h"
#include "base/metrics.h"
#include "contract/cluster_store.h"
#include "inventory/engine.h"
#include "inventory/redis/keys.h"
#include "queue/relay.h"
#include "redis/caller.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

COUNTER(records_back, "stampede_broker_records_back_total",
    "Records that were read back from the broker.");

enum { ENTRIES_PER_READ = ORDER_BATCH_MAX / STREAM_RECORDS_MAX, FIELDS = 6 };

/* An entry that was read back: the stream must have the same, or nothing, in its place. */
struct back_entry {
    uint64_t seq, hash;
};

struct stream_queue {
    struct ticket_queue queue; /* first: a ticket_queue from us is a stream_queue */
    struct stream_queue_config config;
    struct partition_keys keys;
    struct confirm *confirm;
    struct journal_entry entry;      /* the last one that was made */
    uint32_t made_ticket;            /* its last ticket; 0: it has none */
    uint32_t kept_ticket;            /* the last one that the store has */
    uint64_t made_seq, kept_seq;     /* as these, of records */
    enum redis_answer told;          /* what the script said when it was told */
    char sha[SCRIPT_SHA_DIGITS + 1]; /* empty: not opened yet */
    uint64_t end;                    /* the last record of the stream that was seen */
    enum status fault;               /* for good */
    char trouble[240];
    /* where a poll puts what it reads */
    struct queue_record *records;
    uint32_t room, count;
    struct relay relay;
    struct back_entry back[ENTRIES_PER_READ]; /* that were read back by this poll */
    uint32_t back_count;
};

static struct stream_queue *queue_of(struct ticket_queue *queue)
{
    return (struct stream_queue *)queue;
}

static const struct stream_queue *stream_of(const struct ticket_queue *queue)
{
    return (const struct stream_queue *)(const void *)queue;
}

static enum status fault(struct stream_queue *queue, enum status status, const char *what)
{
    snprintf(queue->trouble, sizeof queue->trouble, "%s", what);
    if (status != STATUS_AWAY)
        queue->fault = status;
    return status;
}

/* ---- reading ---- */

static bool text_is(const struct redis_value *value, const char *text)
{
    return value->kind == REDIS_KIND_TEXT && span_equal(value->text, span_from_string(text));
}

static bool number_read(const struct redis_value *value, uint64_t *number)
{
    return value->kind == REDIS_KIND_TEXT && span_to_u64(value->text, number) == STATUS_OK;
}

/* [id, [e, epoch, t, time, r, lines]] with the id <seq>-0. */
static bool entry_read(const struct redis_value *value, struct stream_entry *entry)
{
    uint64_t epoch = 0;
    if (value->kind != REDIS_KIND_LIST || value->count != 2 || value->list[0].kind != REDIS_KIND_TEXT
        || value->list[1].kind != REDIS_KIND_LIST || value->list[1].count != FIELDS)
        return false;
    struct span id = value->list[0].text, seq = SPAN_NONE;
    const struct redis_value *fields = value->list[1].list;
    if (!span_take_until(&id, '-', &seq) || !span_equal(id, SPAN("0"))
        || span_to_u64(seq, &entry->seq) != STATUS_OK || !text_is(&fields[0], "e")
        || !number_read(&fields[1], &epoch) || epoch > EPOCH_MAX || !text_is(&fields[2], "t")
        || !number_read(&fields[3], &entry->time_ms) || !text_is(&fields[4], "r")
        || fields[5].kind != REDIS_KIND_TEXT)
        return false;
    entry->epoch = (uint32_t)epoch;
    entry->lines = fields[5].text;
    return true;
}

/* Takes entries while a whole one fits. */
static void entries_take(void *context, const struct redis_value *reply)
{
    struct stream_queue *queue = context;
    if (reply->kind == REDIS_KIND_ERROR)
        return;
    if (reply->kind != REDIS_KIND_LIST) {
        (void)fault(queue, STATUS_CORRUPT, "the stream is not a list of entries");
        return;
    }
    for (uint32_t i = 0; i < reply->count && queue->fault == STATUS_OK; i++) {
        struct stream_entry entry;
        uint32_t count = 0;
        if (!entry_read(&reply->list[i], &entry)) {
            (void)fault(queue, STATUS_CORRUPT, "an entry of the stream can't be read");
            return;
        }
        if (queue->end < entry.seq)
            queue->end = entry.seq;
        if (queue->room - queue->count < STREAM_RECORDS_MAX)
            return;
        const enum status status =
            confirm_entry(queue->confirm, &entry, queue->records + queue->count, &count);
        if (status != STATUS_OK) /* what was confirmed of it is not given: all of it or nothing */
            (void)fault(queue, status, confirm_trouble(queue->confirm));
        else
            queue->count += count;
    }
}

/* Entries of the stream after `after`, up to `last`, a number of them. False: Redis does not answer. */
static bool stream_read(struct stream_queue *queue, uint64_t after, uint64_t last,
    void (*take)(void *, const struct redis_value *))
{
    char from[40], to[40], most[12];
    snprintf(from, sizeof from, "(%" PRIu64 "-0", after);
    snprintf(to, sizeof to, "%" PRIu64 "-0", last);
    snprintf(most, sizeof most, "%d", ENTRIES_PER_READ);
    const struct span log = queue->keys.names[SCRIPT_KEY_LOG];
    if (redis_call(queue->config.caller, log,
            REDIS_WORDS(SPAN("XRANGE"), log, span_from_string(from), span_from_string(to),
                SPAN("COUNT"), span_from_string(most)),
            queue->config.timeout_ms, take, queue)
        == REDIS_ANSWER_OK)
        return true;
    (void)fault(queue, STATUS_AWAY, "Redis does not answer");
    return false;
}

/* ---- through a broker ---- */

static void entries_send(void *context, const struct redis_value *reply)
{
    struct stream_queue *queue = context;
    enum status status = STATUS_OK;
    if (reply->kind == REDIS_KIND_ERROR)
        return;
    const uint32_t count = reply->kind == REDIS_KIND_LIST ? reply->count : 0;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        struct stream_entry entry;
        status = entry_read(&reply->list[i], &entry) ? relay_send(&queue->relay, &entry) : STATUS_CORRUPT;
        if (status != STATUS_CORRUPT && queue->end < entry.seq)
            queue->end = entry.seq;
    }
    if (status == STATUS_CORRUPT || reply->kind != REDIS_KIND_LIST)
        (void)fault(queue, STATUS_CORRUPT, "an entry of the stream can't be read");
    const uint64_t seq = confirm_seq(queue->confirm);
    if (count == 0 && queue->relay.line->sent == seq && queue->relay.beyond > seq)
        (void)fault(queue, STATUS_CORRUPT,
            "the broker has later records; neither it nor the stream has the next one");
}

/* Says how far the broker is, which is how far records may be confirmed. */
static uint64_t entries_relay(struct stream_queue *queue)
{
    const struct broker_line *line = queue->relay.line;
    if (line->sent < confirm_seq(queue->confirm) + RELAY_AHEAD_MAX)
        (void)stream_read(queue, line->sent, SEQ_MAX, entries_send);
    return line->acked;
}

static void back_compare(void *context, const struct redis_value *reply)
{
    struct stream_queue *queue = context;
    const uint32_t count = reply->kind == REDIS_KIND_LIST ? reply->count : 0;
    for (uint32_t i = 0; i < count && queue->fault == STATUS_OK; i++) {
        struct stream_entry entry = { 0 };
        uint32_t at = 0;
        const bool is_read = entry_read(&reply->list[i], &entry);
        while (at < queue->back_count && queue->back[at].seq != entry.seq)
            at++;
        if (!is_read || at == queue->back_count
            || queue->back[at].hash
                != hash_siphash((struct hash_key){ 0, 0 }, entry.lines.data, entry.lines.size))
            (void)fault(queue, STATUS_CONFLICT,
                "broker and stream have different records in the same place");
    }
}

/* Of the epoch that is drained: the broker may have what Redis has lost. */
static enum status back_read(struct stream_queue *queue)
{
    const uint64_t before = confirm_seq(queue->confirm);
    enum status status = STATUS_OK;
    queue->back_count = 0;
    while (queue->back_count < ENTRIES_PER_READ && queue->room - queue->count >= STREAM_RECORDS_MAX) {
        struct stream_entry entry;
        uint32_t count = 0;
        status = relay_next(&queue->relay, confirm_seq(queue->confirm), &entry);
        if (status != STATUS_OK)
            break;
        queue->back[queue->back_count++] = (struct back_entry){ entry.seq,
            hash_siphash((struct hash_key){ 0, 0 }, entry.lines.data, entry.lines.size) };
        status = confirm_entry(queue->confirm, &entry, queue->records + queue->count, &count);
        if (status != STATUS_OK)
            return fault(queue, status, confirm_trouble(queue->confirm));
        queue->count += count;
    }
    if (status == STATUS_CONFLICT)
        return fault(queue, status,
            "the broker has a later epoch than the database: is that an older copy?");
    if (status == STATUS_NOT_FOUND) /* what the stream has more goes to the broker */
        relay_begin(&queue->relay, confirm_seq(queue->confirm));
    if (queue->back_count > 0) /* no answer: the broker is enough */
        (void)stream_read(queue, before, confirm_seq(queue->confirm), back_compare);
    metric_add(&records_back, queue->count);
    return queue->fault;
}

static enum status stream_poll(
    struct ticket_queue *base, struct queue_record *records, uint32_t max, uint32_t *count)
{
    struct stream_queue *queue = queue_of(base);
    uint64_t last = SEQ_MAX;
    bool is_there = true;
    *count = 0;
    if (queue->fault != STATUS_OK)
        return queue->fault;
    if (max < STREAM_RECORDS_MAX)
        return STATUS_OK; /* there is room when those before are kept */
    queue->records = records;
    queue->room = max;
    queue->count = 0;
    if (queue->relay.epoch != 0) {
        const enum status status = back_read(queue);
        *count = status == STATUS_OK ? queue->count : 0;
        if (status != STATUS_OK || queue->count > 0 || queue->relay.epoch != 0)
            return status;
    } /* it has ended: who sees that must see what the stream has more, too */
    if (queue->relay.line != NULL)
        last = entries_relay(queue);
    if (last > confirm_seq(queue->confirm) && queue->fault == STATUS_OK)
        is_there = stream_read(queue, confirm_seq(queue->confirm), last, entries_take);
    *count = queue->count;
    if (queue->count > 0)
        return STATUS_OK; /* a fault comes again with the next poll */
    return is_there ? queue->fault : STATUS_AWAY;
}

/* ---- keeping ---- */

static const struct journal_entry *stream_entry_make(
    struct ticket_queue *base, const struct queue_record *records, uint32_t count)
{
    struct stream_queue *queue = queue_of(base);
    queue->made_ticket = 0;
    queue->made_seq = records[count - 1].at.seq;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t wins = outcome_wins(&records[i].command, &records[i].outcome);
        struct ticket_parts parts;
        if (wins > 0 && ticket_number_split(records[i].outcome.ticket, &parts))
            queue->made_ticket = parts.n + wins - 1;
    }
    log_entry_make(queue->confirm, records, count, &queue->entry);
    return &queue->entry;
}

static void stream_kept(struct ticket_queue *base)
{
    struct stream_queue *queue = queue_of(base);
    if (queue->made_ticket != 0)
        queue->kept_ticket = queue->made_ticket;
    queue->kept_seq = queue->made_seq;
    log_entry_kept(queue->confirm);
}

/* Only to where the engine already is: it can't go back, and forwards only with the records. */
static enum status stream_seek(struct ticket_queue *base, struct position after)
{
    const struct stream_queue *queue = queue_of(base);
    if (after.part != base->part)
        return STATUS_BAD_INPUT;
    return after.seq == confirm_seq(queue->confirm) ? STATUS_OK : STATUS_NOT_FOUND;
}

/* The script learns how far the database is: it counts what waits, and what may be told. */
enum redis_answer stream_queue_tell(struct ticket_queue *queue)
{
    struct stream_queue *stream = queue_of(queue);
    char text[64];
    const struct span *names = stream->keys.names;
    invariant(stream->sha[0] != '\0');
    snprintf(text, sizeof text, "done %" PRIu64 " %u", stream->kept_seq, stream->kept_ticket);
    static_assert(SCRIPT_KEYS == 5, "each is named here");
    stream->told = redis_call(stream->config.caller, names[0],
        REDIS_WORDS(SPAN("EVALSHA"), span_from_string(stream->sha), SPAN("5"), names[0], names[1],
            names[2], names[3], names[4], SPAN("0"), span_from_string(text)),
        stream->config.timeout_ms, NULL, NULL);
    return stream->told;
}

/* Entries before that are not read any more. */
static enum status stream_commit(struct ticket_queue *base, struct position position)
{
    struct stream_queue *queue = queue_of(base);
    char least[40];
    if (position.part != base->part || position.seq > confirm_seq(queue->confirm))
        return STATUS_BAD_INPUT;
    if (queue->relay.line != NULL)
        queue->relay.broker->ops->kept(queue->relay.broker, queue->relay.line, position.seq);
    if (queue->sha[0] != '\0' && stream_queue_tell(base) != REDIS_ANSWER_OK)
        return STATUS_AWAY;
    snprintf(least, sizeof least, "%" PRIu64 "-0", position.seq);
    const struct span log = queue->keys.names[SCRIPT_KEY_LOG];
    return redis_call(queue->config.caller, log,
               REDIS_WORDS(SPAN("XTRIM"), log, SPAN("MINID"), SPAN("="), span_from_string(least)),
               queue->config.timeout_ms, NULL, NULL)
            == REDIS_ANSWER_OK
        ? STATUS_OK
        : STATUS_AWAY;
}

static void stream_close(struct ticket_queue *base)
{
    struct stream_queue *queue = queue_of(base);
    if (queue != NULL) {
        relay_close(&queue->relay);
        confirm_close(queue->confirm);
    }
    free(queue);
}

static struct position stream_end(struct ticket_queue *base)
{
    const struct stream_queue *queue = queue_of(base);
    const uint64_t known =
        confirm_seq(queue->confirm) > queue->end ? confirm_seq(queue->confirm) : queue->end;
    return (struct position){ base->part, known };
}

static const struct ticket_queue_ops stream_queue_ops = {
    .poll = stream_poll,
    .seek = stream_seek,
    .commit = stream_commit,
    .end = stream_end,
    .entry = stream_entry_make,
    .kept = stream_kept,
    .close = stream_close,
};

/* ---- opening ---- */

static enum status rebuild(struct stream_queue *queue)
{
    struct order_store *store = queue->config.store;
    const uint32_t part = queue->config.partition.part;
    uint8_t *buffer = malloc(JOURNAL_ENTRY_BYTES_MAX);
    struct journal_entry entry;
    struct part_state state;
    if (buffer == NULL)
        return fault(queue, STATUS_AWAY, "no memory");
    enum status status = STATUS_OK;
    for (uint64_t after = 0; status == STATUS_OK; after = entry.first_seq) {
        status = store->ops->cluster->journal_next(store, part, after, &entry, buffer);
        if (status == STATUS_OK)
            status = confirm_replay(queue->confirm, &entry);
    }
    free(buffer);
    if (status != STATUS_NOT_FOUND)
        return fault(queue, status,
            confirm_trouble(queue->confirm)[0] != '\0' ? confirm_trouble(queue->confirm)
                                                       : "the store can't be read");
    status = store->ops->cluster->part(store, part, &state);
    if (status != STATUS_OK)
        return fault(queue, status, "the store can't be read");
    queue->kept_ticket = (uint32_t)confirm_engine(queue->confirm)->tickets.last;
    queue->kept_seq = confirm_seq(queue->confirm);
    if (state.seq != confirm_seq(queue->confirm))
        return fault(queue, STATUS_CORRUPT, "the entries of the log do not end where the partition is");
    return STATUS_OK;
}

enum status stream_queue_open(struct ticket_queue **opened,
    const struct stream_queue_config *config, char *what, size_t what_bytes)
{
    struct stream_queue *queue = calloc(1, sizeof *queue);
    *opened = NULL;
    snprintf(what, what_bytes, "no memory");
    if (queue == NULL)
        return STATUS_AWAY;
    queue->queue = (struct ticket_queue){ .ops = &stream_queue_ops, .part = config->partition.part };
    queue->config = *config;
    partition_keys_make(&queue->keys, config->partition.data_id, config->partition.part);
    enum status status = confirm_open(&queue->confirm, &config->partition);
    if (status == STATUS_OK)
        status = rebuild(queue);
    queue->relay = (struct relay){ .broker = config->broker };
    if (status == STATUS_OK)
        status = relay_open(&queue->relay, config->partition.part);
    relay_begin(&queue->relay, confirm_seq(queue->confirm));
    snprintf(what, what_bytes, "%s", queue->trouble);
    if (status != STATUS_OK) {
        stream_close(&queue->queue);
        return status;
    }
    *opened = &queue->queue;
    return STATUS_OK;
}

void stream_queue_script(struct ticket_queue *queue, const char *sha)
{
    invariant(strlen(sha) == SCRIPT_SHA_DIGITS);
    memcpy(queue_of(queue)->sha, sha, SCRIPT_SHA_DIGITS + 1);
}

const struct confirm *stream_queue_confirm(const struct ticket_queue *queue)
{
    return stream_of(queue)->confirm;
}

const char *stream_queue_trouble(const struct ticket_queue *queue)
{
    return stream_of(queue)->trouble;
}

enum status stream_queue_fault(const struct ticket_queue *queue)
{
    return stream_of(queue)->fault;
}

enum redis_answer stream_queue_told(const struct ticket_queue *queue)
{
    return stream_of(queue)->told;
}

enum status stream_queue_back(struct ticket_queue *queue, uint32_t epoch)
{
    struct stream_queue *stream = queue_of(queue);
    return relay_back(&stream->relay, epoch, confirm_time_ms(stream->confirm));
}

void stream_queue_relay(struct ticket_queue *queue)
{
    struct stream_queue *stream = queue_of(queue);
    if (stream->relay.line != NULL && stream->relay.epoch == 0 && stream->fault == STATUS_OK)
        (void)entries_relay(stream);
}

bool stream_queue_reads_back(const struct ticket_queue *queue)
{
    return stream_of(queue)->relay.epoch != 0;
}

uint64_t stream_queue_backlog(const struct ticket_queue *queue, uint64_t *since_ms)
{
    const struct stream_queue *stream = stream_of(queue);
    const struct broker_line *line = stream->relay.line;
    *since_ms = line == NULL ? 0 : line->waits_since_ms;
    return line != NULL && stream->end > line->acked ? stream->end - line->acked : 0;
}
