/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_open.c: opening, and the partitions that are followed. */
#include "base/clock.h"
#include "base/log.h"
#include "contract/ticket_number.h"
#include "inventory/redis/log_reader.h"
#include "inventory/redis/remote_parked.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"
#include "redis/subscriber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- partitions ---- */

struct partition *remote_partition(struct remote *remote, uint32_t part)
{
    for (uint32_t i = 0; i < remote->partition_count; i++)
        if (replica_part(remote->partitions[i].replica) == part)
            return &remote->partitions[i];
    return NULL;
}

static void changed_tell(void *context, ticket_number ticket, user_id user)
{
    struct remote *remote = context;
    if (remote->client != NULL) /* nobody waits before it runs */
        remote_changed(remote, ticket, user);
}

static void item_note(void *context, item_id item, sale_id sale)
{
    struct remote *remote = context;
    remote->item_sale[item] = sale;
}

static void record_reached(void *context, uint64_t time_ms)
{
    struct remote *remote = context;
    remote_check_reached(remote, time_ms);
}

static enum status notes_follow(struct remote *remote, const struct partition *partition)
{
    if (remote->subscriber == NULL)
        return STATUS_OK;
    enum status status = redis_subscriber_add(remote->subscriber, partition->keys.notes);
    if (status == STATUS_OK && remote->config.proposed != NULL)
        status = redis_subscriber_add(remote->subscriber, partition->keys.proposed);
    return status == STATUS_FULL ? STATUS_OK : status; /* its log is read a moment later */
}

static enum status partition_add(
    struct remote *remote, const struct part_state *state, struct partition **added)
{
    struct partition *partition = &remote->partitions[remote->partition_count];
    const uint32_t part = state->part;
    invariant(remote->partition_count < remote->config.parts_max); /* the log reader keeps it so */
    *partition = (struct partition){ .end = &partition->first, .doubted = true };
    partition_keys_make(&partition->keys, remote->config.data_id, part);
    enum status status = replica_open(&partition->replica,
        &(struct replica_config){ .part = part,
            .data_id = remote->config.data_id,
            .engine = &remote->config.engine,
            .board = &remote->board,
            .changed = changed_tell,
            .item = item_note,
            .show = remote_item_show,
            .reached = record_reached,
            .context = remote });
    if (status == STATUS_OK)
        status = notes_follow(remote, partition);
    if (status != STATUS_OK) {
        replica_close(partition->replica);
        return status;
    }
    remote_shards_note(remote, partition, state);
    remote->partition_count++;
    *added = partition;
    return STATUS_OK;
}

/* The script of the present epoch. What was proposed under older ones and is not kept by now is void. */
static void epoch_enter(struct remote *remote, struct partition *partition, uint32_t epoch)
{
    static char bytes[SCRIPT_BYTES_MAX];
    struct text text = text_in(bytes, sizeof bytes);
    if (epoch <= partition->epoch)
        return;
    invariant(script_write(&text, partition->keys.prefix, epoch) == STATUS_OK);
    script_sha(text_span(&text), partition->sha);
    partition->epoch = epoch;
    partition->rests = false;
    partition->fence_ms = 0;
    parked_void(remote, partition);
}

static enum status piece_take(struct remote *remote, const struct log_piece *piece)
{
    struct partition *partition = remote_partition(remote, piece->state.part);
    enum status status = STATUS_OK;
    if (piece->gone) {
        if (partition != NULL)
            replica_gone(partition->replica);
        return STATUS_OK;
    }
    if (partition == NULL)
        status = partition_add(remote, &piece->state, &partition);
    if (status != STATUS_OK || partition->damaged)
        return status;
    if (piece->entry.first_seq == 0) {
        replica_state(partition->replica, &piece->state);
        epoch_enter(remote, partition, piece->state.epoch);
        return STATUS_OK;
    }
    epoch_enter(remote, partition, piece->entry.epoch);
    remote->taking = partition;
    status = replica_take(partition->replica, &piece->entry);
    parked_release(remote, partition);
    if (status == STATUS_OK)
        return STATUS_OK;
    partition->damaged = true;
    log_error("inventory", "partition %u: %s", piece->entry.part, replica_trouble(partition->replica));
    return status;
}

enum status remote_log_take(struct remote *remote)
{
    enum status status = STATUS_OK;
    struct log_piece *piece = log_reader_take(remote->reader);
    for (struct log_piece *next; piece != NULL; piece = next) {
        const enum status one = piece_take(remote, piece);
        status = status == STATUS_OK ? one : status;
        next = piece->next;
        free(piece);
    }
    return status;
}

/* ---- opening ---- */

static void notes_look(void *self, struct span channel)
{
    struct remote *remote = self;
    if (!remote_notes_missed(remote, channel))
        log_reader_look(remote->reader);
}

/* A worker has committed: which partition it is, the database says. */
static void note_look(void *self, struct span channel, struct span message)
{
    struct remote *remote = self;
    if (remote_note_heard(remote, channel, message))
        return;
    if (remote_short_heard(remote, message))
        return;
    if (span_equal(message, SPAN(REMOTE_PROPOSED)))
        remote->config.proposed(remote->config.context);
    else
        log_reader_look(remote->reader);
}

static size_t arena_bytes(const struct remote_config *config)
{
    const size_t requests = (size_t)config->ports * config->ring_slots;
    return sizeof(struct ports) + ports_bytes(config->ports, config->ring_slots)
        + config->parts_max * sizeof(struct partition) + CALLS_MAX * sizeof(struct call)
        + (requests + config->parts_max) * sizeof(struct parked)
        + config->engine.items_max * sizeof(sale_id)
        + config->engine.sales_max * sizeof(struct shards) + remote_walks_bytes()
        + remote_level_bytes(config) + config->engine.sales_max * sizeof(_Atomic(struct replica *))
        + board_rooms_bytes(config->engine.sales_max)
        + board_bytes(config->engine.items_max, config->engine.tickets_max) + 16384;
}

static void tables_create(struct remote *remote)
{
    const struct remote_config *config = &remote->config;
    struct arena *arena = &remote->arena;
    const size_t parkings = (size_t)config->ports * config->ring_slots + config->parts_max;
    board_create(&remote->board, arena, config->engine.items_max, config->engine.tickets_max);
    remote->board.free_channels = CHANNEL_LINE;
    board_create_rooms(&remote->board, arena, config->engine.sales_max);
    remote->board.filter_key = config->filter_key;
    remote->ports = arena_take(arena, 1, sizeof *remote->ports);
    ports_create(remote->ports, arena, config->ports, config->ring_slots, &remote->board);
    remote->ports->host = &remote->wake;
    remote->partitions = arena_take(arena, config->parts_max, sizeof *remote->partitions);
    remote->item_sale = arena_take(arena, config->engine.items_max, sizeof *remote->item_sale);
    remote->sales = arena_take(arena, config->engine.sales_max, sizeof *remote->sales);
    remote_walks_create(remote);
    remote_level_create(remote);
    remote->by_sale = arena_take(arena, config->engine.sales_max, sizeof *remote->by_sale);
    remote->calls = arena_take(arena, CALLS_MAX, sizeof *remote->calls);
    for (uint32_t i = CALLS_MAX; i-- > 0;) {
        remote->calls[i].next = remote->free_calls;
        remote->free_calls = &remote->calls[i];
    }
    struct parked *parked = arena_take(arena, parkings, sizeof *parked);
    for (size_t i = parkings; i-- > 0;) {
        parked[i].next = remote->free_parked;
        remote->free_parked = &parked[i];
    }
    remote->waiting_end = &remote->waiting;
}

/* Everything that the database has, before anybody asks. */
static enum status log_read(struct remote *remote, char *what, size_t what_bytes)
{
    enum status status;
    do {
        status = log_reader_turn(remote->reader);
        const enum status taken = remote_log_take(remote);
        if (taken != STATUS_OK) {
            snprintf(what, what_bytes, "the log of a partition does not fit: %s", status_name(taken));
            return taken;
        }
    } while (status == STATUS_FULL);
    if (status != STATUS_OK)
        snprintf(what, what_bytes, "the logs can't be read from the database");
    return status;
}

static enum status redis_open(struct remote *remote)
{
    const struct redis_client_owner owner = {
        .self = remote, .answered = remote_answered, .informed = remote_informed, .clock_ms = clock_now_ms
    };
    const struct redis_subscriber_owner listener = {
        .self = remote, .subscribed = notes_look, .noted = note_look
    };
    enum status status = redis_client_open(&remote->client, &remote->config.redis, &owner);
    if (status == STATUS_OK)
        status = redis_subscriber_open(&remote->subscriber, remote->client, &listener);
    if (status == STATUS_OK)
        status = remote_notes_open(remote);
    for (uint32_t i = 0; i < remote->partition_count && status == STATUS_OK; i++)
        status = notes_follow(remote, &remote->partitions[i]);
    return status;
}

static enum status parts_open(struct remote *remote, char *what, size_t what_bytes)
{
    enum status status = arena_open(&remote->arena, arena_bytes(&remote->config));
    if (status != STATUS_OK)
        return status;
    tables_create(remote);
    status = wake_open(&remote->wake);
    if (status == STATUS_OK)
        status = remote_check_open(remote);
    if (status != STATUS_OK)
        return status;
    remote->inventory.checks = remote_checks(remote->check);
    status = log_reader_open(&remote->reader,
        &(struct log_reader_config){ .store = remote->config.store,
            .parts_max = remote->config.parts_max,
            .host = &remote->wake });
    if (status == STATUS_OK)
        status = log_read(remote, what, what_bytes);
    if (status != STATUS_OK)
        return status;
    snprintf(what, what_bytes, "the addresses of Redis can't be used");
    return redis_open(remote);
}

enum status remote_open(
    struct remote **out, const struct remote_config *config, char *what, size_t what_bytes)
{
    struct remote *remote = *out = calloc(1, sizeof *remote);
    snprintf(what, what_bytes, "no memory");
    if (remote == NULL)
        return STATUS_FULL;
    remote->inventory = (struct inventory){ .ops = &remote_ops, .board = &remote->board };
    remote->config = *config;
    remote->wake.fd = -1;
    remote->opened_ms = clock_now_ms();
    pthread_mutex_init(&remote->health_lock, NULL);
    return parts_open(remote, what, what_bytes);
}

void remote_close(struct remote *remote)
{
    if (remote == NULL)
        return;
    for (uint32_t i = 0; i < remote->partition_count; i++)
        replica_close(remote->partitions[i].replica);
    redis_subscriber_close(remote->subscriber);
    redis_client_close(remote->client);
    log_reader_close(remote->reader);
    wake_close(&remote->wake);
    remote_check_close(remote->check);
    pthread_mutex_destroy(&remote->health_lock);
    arena_close(&remote->arena);
    free(remote);
}
