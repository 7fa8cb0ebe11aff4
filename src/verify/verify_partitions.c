/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_partitions.c: the logs that a database keeps for many machines, one for each partition.
 *
 * DESIGN
 * Each log is read up to where the database said that it was at the beginning. An entry and the orders of its
 * records are one transaction, so at that position orders and log tell of the same moment, whoever goes on
 * writing. A log that can't be replayed is told; the others are still compared. */
#include "contract/cluster_store.h"
#include "inventory/redis/confirm.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PARTS_PER_READ = 64, PARTITIONS_MAX = 1 << 16 };

static enum status failed(enum status status, char error[CONFIG_ERROR], const char *what)
{
    snprintf(error, CONFIG_ERROR, "%s: %s", what, status_name(status));
    return status;
}

static enum status part_apply(void *context, struct replay *replay,
    const struct journal_record *record, uint64_t batch_time_ms)
{
    struct verify *verify = context;
    verify->replay = replay;
    verify->recovery.records++;
    verify->log->end = record->lsn;
    return verify_record(verify, record, batch_time_ms);
}

static enum status log_open(struct verify *verify, struct verify_log *log, const struct part_state *state)
{
    const struct confirm_config config = { .part = state->part,
        .data_id = verify->folder.data_id,
        .engine = &verify->config,
        .apply = part_apply,
        .context = verify };
    log->state.part = state->part;
    log->state.epoch = state->epoch;
    log->state.seq = state->seq;
    log->state.shards = state->shards;
    enum status status = confirm_open(&log->confirm, &config);
    if (status != STATUS_OK)
        return status;
    log->engine = confirm_engine(log->confirm);
    return verify_log_marks_open(log, verify->config.tickets_max);
}

static enum status parts_read(struct verify *verify, struct part_state *states, uint32_t *total)
{
    struct order_store *store = verify->store;
    uint32_t count = PARTS_PER_READ;
    enum status status = STATUS_OK;
    *total = 0;
    while (status == STATUS_OK && count == PARTS_PER_READ) {
        const uint32_t from = *total == 0 ? 0 : states[*total - 1].part + 1;
        if (*total + PARTS_PER_READ > PARTITIONS_MAX)
            return STATUS_FULL;
        status = store->ops->cluster->parts(store, from, states + *total, PARTS_PER_READ, &count);
        *total += status == STATUS_OK ? count : 0;
    }
    return status;
}

/* *states: to be freed. */
static enum status states_take(struct verify *verify, struct part_state **states, uint32_t *count)
{
    *count = 0;
    *states = calloc(PARTITIONS_MAX, sizeof **states);
    return *states == NULL ? STATUS_FULL : parts_read(verify, *states, count);
}

static enum status logs_open(struct verify *verify)
{
    struct part_state *states;
    uint32_t count;
    enum status status = states_take(verify, &states, &count);
    if (status == STATUS_OK)
        status = verify_logs_make(verify, count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        status = log_open(verify, &verify->logs[i], &states[i]);
    free(states);
    return status;
}

enum status verify_partitions_same(struct verify *verify, bool *same)
{
    struct part_state *states;
    uint32_t count;
    const enum status status = states_take(verify, &states, &count);
    *same = count == verify->log_count;
    for (uint32_t i = 0; i < count && *same; i++)
        *same = states[i].part == verify->logs[i].state.part
            && states[i].seq == verify->logs[i].state.seq;
    free(states);
    return status;
}

enum status verify_partitions_open(struct verify *verify, char error[CONFIG_ERROR])
{
    verify->store = verify->source.store;
    verify->source.store = NULL;
    verify->config = verify->source.engine;
    verify->folder.data_id = verify->source.data_id;
    memcpy(verify->folder.master, verify->source.master, sizeof verify->folder.master);
    const enum status status =
        verify->store->ops->cluster == NULL ? STATUS_BAD_INPUT : logs_open(verify);
    return status == STATUS_OK
        ? STATUS_OK
        : failed(status, error, "the partitions can't be read from the database");
}

/* ---- reading ---- */

static void log_broken(struct verify *verify, enum status status, uint64_t failures_before)
{
    struct verify_log *log = verify->log;
    const uint32_t part = log->state.part;
    log->broken = true;
    if (verify->checks[CHECK_OUTCOMES].failures > failures_before) /* told by verify_record */
        return;
    verify_fail(verify, status == STATUS_CONFLICT ? CHECK_DATA_ID : CHECK_CHAIN,
        "partition %u: %s%s", part, confirm_trouble(log->confirm),
        engine_full(log->engine)
            ? "; its tables are full: data.tickets_max is smaller than the servers'"
            : "");
}

/* The log has more than the database says: wrong, unless it was written since. */
static enum status end_look(struct verify *verify, uint64_t after, uint8_t *buffer)
{
    struct order_store *store = verify->store;
    const struct verify_log *log = verify->log;
    struct journal_entry entry;
    struct part_state now = { 0 };
    enum status status =
        store->ops->cluster->journal_next(store, log->state.part, after, &entry, buffer);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    status = store->ops->cluster->part(store, log->state.part, &now);
    if (status == STATUS_OK && now.seq < entry.first_seq)
        verify_fail(verify, CHECK_POSITION,
            "partition %u: its log goes on with record %" PRIu64
            ", the database says that it ends at %" PRIu64,
            log->state.part, entry.first_seq, now.seq);
    return status;
}

/* The partition may have left with its sale since the run began (docs/archive.md): nothing is missing. */
static enum status left_look(struct verify *verify)
{
    struct order_store *store = verify->store;
    struct part_state now = { 0 };
    const enum status status = store->ops->cluster->part(store, verify->log->state.part, &now);
    if (status == STATUS_OK && now.shards == 0)
        verify->log->end = verify->log->state.seq;
    return status;
}

static enum status log_replay(struct verify *verify, uint8_t *buffer)
{
    struct order_store *store = verify->store;
    struct verify_log *log = verify->log;
    struct journal_entry entry = { 0 };
    enum status status = STATUS_OK;
    while (log->end < log->state.seq) {
        const uint64_t failures = verify->checks[CHECK_OUTCOMES].failures;
        status =
            store->ops->cluster->journal_next(store, log->state.part, entry.first_seq, &entry, buffer);
        if (status != STATUS_OK)
            break;
        verify->recovery.batches++;
        verify->recovery.bytes += entry.bytes.size;
        status = confirm_replay(log->confirm, &entry);
        if (status != STATUS_OK) {
            log_broken(verify, status, failures);
            return STATUS_OK;
        }
    }
    log->broken = status == STATUS_NOT_FOUND; /* it ends before: log_finish tells */
    if (log->broken)
        return left_look(verify);
    return status == STATUS_OK ? end_look(verify, entry.first_seq, buffer) : status;
}

static void log_finish(struct verify *verify)
{
    const struct verify_log *log = verify->log;
    verify->recovery.end.lsn += log->end;
    if (log->end != log->state.seq && confirm_trouble(log->confirm)[0] == 0)
        verify_fail(verify, CHECK_POSITION,
            "partition %u: its log ends at record %" PRIu64 ", orders are written up to %" PRIu64,
            log->state.part, log->end, log->state.seq);
    if (confirm_epoch(log->confirm) > log->state.epoch)
        verify_fail(verify, CHECK_POSITION,
            "partition %u: its log has epoch %u, the database says that it is at %u",
            log->state.part, confirm_epoch(log->confirm), log->state.epoch);
    verify_log_end(verify, log->end);
}

enum status verify_partitions_replay(struct verify *verify, char error[CONFIG_ERROR])
{
    uint8_t *buffer = malloc(JOURNAL_ENTRY_BYTES_MAX);
    enum status status = buffer == NULL ? STATUS_FULL : STATUS_OK;
    for (uint32_t i = 0; i < verify->log_count && status == STATUS_OK; i++) {
        verify->log = &verify->logs[i];
        status = log_replay(verify, buffer);
        if (status == STATUS_OK)
            log_finish(verify);
    }
    free(buffer);
    if (status != STATUS_OK)
        return failed(status, error, "the logs can't be read from the database");
    verify_store_compare(verify);
    return STATUS_OK;
}
