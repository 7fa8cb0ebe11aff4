/* SPDX-License-Identifier: Apache-2.0 */
#include "server/migrate_state.h"

#include "contract/cluster_store.h"
#include "contract/order_store.h"
#include "inventory/redis/confirm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_PER_READ = 64, TICKETS_MOST = 1000 * 1000 * 1000 };

/* What the shards of one sale have given to each other and taken. */
struct shards_seen {
    sale_id sale;
    uint32_t given[SHARDS_MAX][SHARDS_MAX], taken[SHARDS_MAX][SHARDS_MAX]; /* by giver and taker */
};

struct reader {
    struct migrate_state *state;
    struct merge merge;
    struct shards_seen shards;
    uint8_t *buffer;
};

static enum status failed(struct migrate_state *state, uint32_t part, const char *what, enum status status)
{
    if (state->what[0] == 0)
        snprintf(state->what, sizeof state->what, "partition %u: %.160s (%s)", part, what,
            status_name(status));
    return status;
}

static enum status log_replay(
    struct reader *reader, struct confirm *confirm, const struct part_state *part)
{
    struct order_store *store = reader->state->store;
    struct journal_entry entry = { 0 };
    enum status status = STATUS_OK;
    while (status == STATUS_OK && confirm_seq(confirm) < part->seq) {
        status = store->ops->cluster->journal_next(
            store, part->part, entry.first_seq, &entry, reader->buffer);
        if (status == STATUS_OK)
            status = confirm_replay(confirm, &entry);
    }
    if (status != STATUS_OK || confirm_seq(confirm) != part->seq)
        return failed(reader->state, part->part,
            confirm_trouble(confirm)[0] != 0 ? confirm_trouble(confirm) : "its log can't be read",
            status == STATUS_OK ? STATUS_CORRUPT : status);
    return STATUS_OK;
}

/* Tickets of one epoch follow each other. */
static enum status numbers_add(struct reader *reader, const struct confirm *confirm, uint32_t part)
{
    const ticket_number last = confirm_engine(confirm)->tickets.last;
    for (ticket_number n = 1; n <= last; n++)
        if (!ticket_ranges_add(reader->state->ranges, confirm_number(confirm, n), 1))
            return failed(reader->state, part, "its tickets are too many for one machine", STATUS_FULL);
    return STATUS_OK;
}

/* Units that one shard has given and another has not taken are nowhere. */
static enum status transfers_look(struct reader *reader)
{
    const struct shards_seen *shards = &reader->shards;
    for (uint32_t i = 0; i < SHARDS_MAX; i++)
        for (uint32_t j = 0; j < SHARDS_MAX; j++)
            if (shards->given[i][j] != shards->taken[i][j]) {
                snprintf(reader->state->what, sizeof reader->state->what,
                    "units of sale %u are on their way from one shard to another: start a worker, "
                    "and "
                    "stop it after some seconds",
                    shards->sale);
                return STATUS_CONFLICT;
            }
    return STATUS_OK;
}

static enum status transfers_note(struct reader *reader, const struct engine *engine, uint32_t part)
{
    struct shards_seen *shards = &reader->shards;
    const uint32_t self = part_shard(part);
    if (shards->sale != part_sale(part)) {
        const enum status status = transfers_look(reader);
        if (status != STATUS_OK)
            return status;
        *shards = (struct shards_seen){ .sale = part_sale(part) };
    }
    for (uint32_t other = 0; other < SHARDS_MAX; other++) {
        shards->given[self][other] = engine->transfers.given[other];
        shards->taken[other][self] = engine->transfers.taken[other];
    }
    return STATUS_OK;
}

static enum status part_merge(
    struct reader *reader, struct confirm *confirm, const struct part_state *part)
{
    struct migrate_state *state = reader->state;
    enum status status = transfers_note(reader, confirm_engine(confirm), part->part);
    if (status == STATUS_OK)
        status = numbers_add(reader, confirm, part->part);
    if (status != STATUS_OK)
        return status;
    status = merge_add(&reader->merge, confirm_engine(confirm));
    if (status != STATUS_OK)
        return failed(state, part->part,
            reader->merge.what[0] != 0 ? reader->merge.what : "it does not fit", status);
    if (part->seq > state->position.lsn)
        state->position.lsn = part->seq;
    if (confirm_time_ms(confirm) > state->position.time_ms)
        state->position.time_ms = confirm_time_ms(confirm);
    state->partitions++;
    state->records += part->seq;
    return STATUS_OK;
}

static enum status part_read(struct reader *reader, const struct part_state *part)
{
    struct confirm *confirm = NULL;
    const struct confirm_config config = {
        .part = part->part, .data_id = reader->state->data_id, .engine = &reader->state->bounds
    };
    enum status status = confirm_open(&confirm, &config);
    if (status != STATUS_OK)
        return failed(reader->state, part->part, "no memory for it", status);
    status = log_replay(reader, confirm, part);
    if (status == STATUS_OK)
        status = part_merge(reader, confirm, part);
    confirm_close(confirm);
    return status;
}

/* The chain of the journal begins with what says which logs it goes on after. */
static void position_end(struct migrate_state *state)
{
    const uint64_t words[] = { state->data_id, state->partitions, state->records,
        engine_digest(&state->engine) };
    state->position.lsn += state->position.lsn == 0; /* a position is never 0 */
    hash_sha256(words, sizeof words, state->position.hash);
}

static enum status parts_read(struct reader *reader)
{
    struct migrate_state *state = reader->state;
    struct part_state parts[PARTS_PER_READ];
    uint32_t count = PARTS_PER_READ, from = 0;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && count == PARTS_PER_READ) {
        status = state->store->ops->cluster->parts(state->store, from, parts, PARTS_PER_READ, &count);
        if (status != STATUS_OK)
            return failed(state, from, "the partitions can't be read", status);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
            status = part_read(reader, &parts[i]);
        from = count > 0 ? parts[count - 1].part + 1 : from;
    }
    if (status == STATUS_OK)
        status = transfers_look(reader);
    if (status == STATUS_OK)
        status = merge_end(&reader->merge);
    if (status == STATUS_OK)
        position_end(state);
    state->keys_dropped = reader->merge.keys_dropped;
    return status == STATUS_OK ? STATUS_OK : failed(state, 0, reader->merge.what, status);
}

static uint64_t at_most(uint64_t value)
{
    return value < TICKETS_MOST ? value : TICKETS_MOST;
}

/* Room is taken only where it is used. */
static enum status engine_make(struct migrate_state *state)
{
    enum { PARTS_GUESS = 64 };
    struct engine_config room = state->bounds;
    room.tickets_max = at_most(room.tickets_max * PARTS_GUESS);
    room.places_max = at_most(room.places_max * PARTS_GUESS);
    return engine_open(&state->engine, &room);
}

enum status migrate_state_read(struct migrate_state *state)
{
    struct reader reader = { .state = state, .merge = { .to = &state->engine } };
    reader.buffer = malloc(JOURNAL_ENTRY_BYTES_MAX);
    state->ranges = calloc(1, sizeof *state->ranges);
    enum status status =
        reader.buffer == NULL || state->ranges == NULL ? STATUS_FULL : engine_make(state);
    if (status == STATUS_OK)
        status = parts_read(&reader);
    else
        snprintf(state->what, sizeof state->what, "no memory");
    free(reader.buffer);
    return status;
}

void migrate_state_close(struct migrate_state *state)
{
    engine_close(&state->engine);
    free(state->ranges);
    state->ranges = NULL;
}
