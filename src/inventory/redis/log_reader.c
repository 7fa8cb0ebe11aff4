/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/log_reader.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_PER_READ = 64 };

/* A partition as the reader knows it. */
struct followed {
    struct part_state told; /* to the host */
    uint64_t last_entry;    /* the first number of the last entry that was read */
    bool listed;            /* in this turn */
};

/* A partition that a worker is to open. */
struct want {
    uint32_t part;
    uint32_t epoch; /* not 0: it is at rest at this one */
};

struct log_reader {
    struct log_reader_config config;
    struct wake wake;
    _Atomic bool stop, away;
    _Atomic uint64_t asks_since_ms; /* the database is being asked since then; 0: it is not */
    /* Its thread. */
    struct followed *parts; /* in the order of their numbers */
    uint32_t part_count;
    bool too_many; /* partitions, and it was said */
    uint8_t *buffer;
    /* Both, under the lock. */
    pthread_mutex_t lock;
    struct log_piece *first, **end;
    uint32_t pieces;
    struct want wants[LOG_WANTS_MAX];
    uint32_t want_count;
};

enum status log_reader_open(struct log_reader **out, const struct log_reader_config *config)
{
    struct log_reader *reader = *out = calloc(1, sizeof *reader);
    if (reader == NULL)
        return STATUS_FULL;
    reader->config = *config;
    reader->end = &reader->first;
    reader->parts = calloc(config->parts_max, sizeof *reader->parts);
    reader->buffer = malloc(JOURNAL_ENTRY_BYTES_MAX);
    pthread_mutex_init(&reader->lock, NULL);
    const enum status status = wake_open(&reader->wake);
    return reader->parts == NULL || reader->buffer == NULL ? STATUS_FULL : status;
}

void log_reader_close(struct log_reader *reader)
{
    if (reader == NULL)
        return;
    for (struct log_piece *piece = log_reader_take(reader), *next; piece != NULL; piece = next) {
        next = piece->next;
        free(piece);
    }
    wake_close(&reader->wake);
    pthread_mutex_destroy(&reader->lock);
    free(reader->parts);
    free(reader->buffer);
    free(reader);
}

/* ---- handing over ---- */

static bool has_room(struct log_reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    const bool room = reader->pieces < LOG_PIECES_MAX;
    pthread_mutex_unlock(&reader->lock);
    return room;
}

static void hand_over(struct log_reader *reader, struct log_piece *piece)
{
    pthread_mutex_lock(&reader->lock);
    *reader->end = piece;
    reader->end = &piece->next;
    reader->pieces++;
    pthread_mutex_unlock(&reader->lock);
}

static enum status piece_put(
    struct log_reader *reader, const struct part_state *state, const struct journal_entry *entry)
{
    const size_t bytes = entry == NULL ? 0 : entry->bytes.size;
    struct log_piece *piece = malloc(sizeof *piece + bytes);
    if (piece == NULL)
        return STATUS_AWAY;
    *piece = (struct log_piece){ .state = *state };
    if (entry != NULL) {
        memcpy(piece->bytes, entry->bytes.data, bytes);
        piece->entry = *entry;
        piece->entry.bytes = span_of(piece->bytes, bytes);
    }
    hand_over(reader, piece);
    return STATUS_OK;
}

struct log_piece *log_reader_take(struct log_reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    struct log_piece *first = reader->first;
    reader->first = NULL;
    reader->end = &reader->first;
    reader->pieces = 0;
    pthread_mutex_unlock(&reader->lock);
    return first;
}

/* ---- reading ---- */

/* Before each question: one that is not answered in time is a database that is away. */
static void asks(struct log_reader *reader)
{
    atomic_store(&reader->asks_since_ms, clock_monotonic_ms());
}

/* NULL: there are too many. */
static struct followed *followed_find(struct log_reader *reader, uint32_t part)
{
    uint32_t at = 0;
    while (at < reader->part_count && reader->parts[at].told.part < part)
        at++;
    struct followed *found = &reader->parts[at];
    if (at < reader->part_count && found->told.part == part)
        return found;
    if (reader->part_count == reader->config.parts_max) {
        if (!reader->too_many)
            log_error("inventory", "there are more than %u partitions: partition %u is not followed",
                reader->config.parts_max, part);
        reader->too_many = true;
        return NULL;
    }
    memmove(found + 1, found, (reader->part_count - at) * sizeof *found);
    reader->part_count++;
    *found = (struct followed){ .told = { .part = part } };
    return found;
}

/* The entries that are new, and then how far the partition was when it was asked. */
static enum status part_read(struct log_reader *reader, const struct part_state *state)
{
    struct order_store *store = reader->config.store;
    struct followed *part = followed_find(reader, state->part);
    const struct part_state of = { .part = state->part, .shards = state->shards, .sales = state->sales };
    enum status status = STATUS_OK;
    if (part != NULL)
        part->listed = true;
    if (part == NULL || (state->epoch == part->told.epoch && state->seq == part->told.seq))
        return STATUS_OK;
    while (status == STATUS_OK && state->seq != part->told.seq) {
        struct journal_entry entry;
        if (!has_room(reader))
            return STATUS_FULL;
        asks(reader);
        status = store->ops->cluster->journal_next(
            store, state->part, part->last_entry, &entry, reader->buffer);
        if (status == STATUS_OK)
            status = piece_put(reader, &of, &entry);
        if (status == STATUS_OK)
            part->last_entry = entry.first_seq;
    }
    if (status == STATUS_NOT_FOUND || status == STATUS_OK)
        status = piece_put(reader, state, NULL);
    if (status == STATUS_OK)
        part->told = *state;
    return status;
}

static enum status want_write(struct order_store *store, const struct want *want)
{
    if (want->epoch == 0)
        return store->ops->cluster->part_want(store, want->part);
    const enum status status = store->ops->cluster->epoch_raise(store, want->part, want->epoch);
    if (status == STATUS_BAD_INPUT)
        log_error("inventory", "partition %u has no epoch left", want->part);
    /* Somebody else was quicker, or it was done and the answer was lost: it is raised. */
    return status == STATUS_CONFLICT || status == STATUS_BAD_INPUT ? STATUS_OK : status;
}

static enum status wants_write(struct log_reader *reader)
{
    enum status status = STATUS_OK;
    for (;;) {
        pthread_mutex_lock(&reader->lock);
        const bool some = reader->want_count > 0;
        const struct want want = some ? reader->wants[reader->want_count - 1] : (struct want){ 0 };
        pthread_mutex_unlock(&reader->lock);
        if (!some)
            return STATUS_OK;
        asks(reader);
        status = want_write(reader->config.store, &want);
        if (status != STATUS_OK)
            return status;
        pthread_mutex_lock(&reader->lock); /* others only add */
        for (uint32_t i = 0; i < reader->want_count; i++)
            if (reader->wants[i].part == want.part)
                reader->wants[i] = reader->wants[--reader->want_count];
        pthread_mutex_unlock(&reader->lock);
    }
}

static enum status gone_tell(struct log_reader *reader, const struct part_state *state)
{
    struct log_piece *piece = malloc(sizeof *piece);
    if (piece == NULL)
        return STATUS_AWAY;
    *piece = (struct log_piece){ .state = *state, .gone = true };
    hand_over(reader, piece);
    return STATUS_OK;
}

/* Those that are in the list no more. */
static enum status gone_look(struct log_reader *reader)
{
    enum status status = STATUS_OK;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reader->part_count; i++) {
        struct followed *part = &reader->parts[i];
        if (!part->listed && status == STATUS_OK)
            status = gone_tell(reader, &part->told);
        if (part->listed || status != STATUS_OK)
            reader->parts[kept++] = *part;
    }
    reader->part_count = kept;
    return status;
}

enum status log_reader_turn(struct log_reader *reader)
{
    struct order_store *store = reader->config.store;
    struct part_state states[PARTS_PER_READ];
    uint32_t count = PARTS_PER_READ, from = 0;
    enum status status = wants_write(reader);
    for (uint32_t i = 0; i < reader->part_count; i++)
        reader->parts[i].listed = false;
    while (status == STATUS_OK && count == PARTS_PER_READ) {
        asks(reader);
        status = store->ops->cluster->parts(store, from, states, PARTS_PER_READ, &count);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
            status = part_read(reader, &states[i]);
            from = states[i].part + 1;
        }
    }
    if (status == STATUS_OK)
        status = gone_look(reader);
    const bool away = status != STATUS_OK && status != STATUS_FULL;
    atomic_store(&reader->asks_since_ms, 0);
    if (away != atomic_exchange(&reader->away, away)) {
        if (away)
            log_error("inventory", "the logs can't be read from the database: %s", status_name(status));
        else
            log_info("inventory", "the logs are read from the database again");
    }
    return away ? STATUS_AWAY : status;
}

void log_reader_run(void *context)
{
    struct log_reader *reader = context;
    metrics_thread_enter();
    while (!atomic_load(&reader->stop)) {
        const enum status status = log_reader_turn(reader);
        pthread_mutex_lock(&reader->lock);
        const bool some = reader->pieces > 0;
        pthread_mutex_unlock(&reader->lock);
        if (some)
            wake_signal(reader->config.host);
        wake_wait(&reader->wake, status == STATUS_AWAY ? LOG_AWAY_MS : LOG_LOOK_MS);
    }
}

void log_reader_stop(struct log_reader *reader)
{
    atomic_store(&reader->stop, true);
    wake_signal(&reader->wake);
}

void log_reader_look(struct log_reader *reader)
{
    wake_signal(&reader->wake);
}

static bool want_add(struct log_reader *reader, struct want want)
{
    bool there = false;
    pthread_mutex_lock(&reader->lock);
    for (uint32_t i = 0; i < reader->want_count; i++)
        there |= reader->wants[i].part == want.part;
    if (!there && reader->want_count < LOG_WANTS_MAX) {
        reader->wants[reader->want_count++] = want;
        there = true;
    }
    pthread_mutex_unlock(&reader->lock);
    wake_signal(&reader->wake);
    return there;
}

bool log_reader_want(struct log_reader *reader, uint32_t part)
{
    return want_add(reader, (struct want){ part, 0 });
}

bool log_reader_rouse(struct log_reader *reader, uint32_t part, uint32_t epoch)
{
    return want_add(reader, (struct want){ part, epoch });
}

bool log_reader_is_away(const struct log_reader *reader)
{
    const uint64_t since_ms = atomic_load(&reader->asks_since_ms);
    return atomic_load(&reader->away)
        || (since_ms != 0 && clock_monotonic_ms() >= since_ms + LOG_SILENT_MS);
}
