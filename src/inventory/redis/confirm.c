/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/confirm.h"

#include "contract/order_store.h"
#include "contract/record.h"
#include "inventory/redis/record_text.h"
#include "inventory/replay.h"
#include "journal/batch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the database has of the log, and what it gets next. */
struct log_keeper {
    struct journal_position end; /* of the last entry that is kept */
    struct journal_position next;
    uint8_t bytes[JOURNAL_ENTRY_BYTES_MAX]; /* of the next entry */
};

struct confirm {
    struct confirm_config config;
    struct engine engine;
    uint32_t epoch;                       /* of the last entry; 0: there is none yet */
    uint64_t seq, time_ms;                /* of the last record that the engine has */
    uint32_t first_ticket[EPOCH_MAX + 1]; /* that was won under an epoch; 0: none */
    char what[200];
    struct log_keeper keeper;
};

static_assert((uint32_t)BATCH_RECORDS_AT + ORDER_BATCH_MAX * (4 + (uint32_t)RECORD_BYTES_MAX)
        <= (uint32_t)JOURNAL_ENTRY_BYTES_MAX,
    "a batch of the largest records is an entry");

static enum status __attribute__((format(printf, 3, 4)))
refuse(struct confirm *confirm, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(confirm->what, sizeof confirm->what, format, arguments);
    va_end(arguments);
    return status;
}

enum status confirm_open(struct confirm **opened, const struct confirm_config *config)
{
    *opened = NULL;
    if (config->part > PART_MAX)
        return STATUS_BAD_INPUT;
    struct confirm *confirm = calloc(1, sizeof *confirm);
    if (confirm == NULL)
        return STATUS_AWAY;
    confirm->config = *config;
    const enum status status = engine_open(&confirm->engine, config->engine);
    *opened = status == STATUS_OK ? confirm : NULL;
    if (status != STATUS_OK)
        free(confirm);
    return status;
}

void confirm_close(struct confirm *confirm)
{
    if (confirm != NULL)
        engine_close(&confirm->engine);
    free(confirm);
}

const struct engine *confirm_engine(const struct confirm *confirm)
{
    return &confirm->engine;
}

uint64_t confirm_seq(const struct confirm *confirm)
{
    return confirm->seq;
}

uint32_t confirm_epoch(const struct confirm *confirm)
{
    return confirm->epoch;
}

uint64_t confirm_time_ms(const struct confirm *confirm)
{
    return confirm->time_ms;
}

const char *confirm_trouble(const struct confirm *confirm)
{
    return confirm->what;
}

void confirm_ask(struct confirm *confirm, const struct command *command, struct outcome *outcome)
{
    invariant(command->type >= COMMAND_LOGGED_COUNT);
    engine_apply(&confirm->engine, command, false, outcome);
}

/* Epochs only grow, and a ticket that is won belongs to the present one. What one machine has decided before
 * its shop was moved has none. */
static bool epoch_is_there(uint32_t part, uint32_t epoch)
{
    return part == PART_EMBEDDED ? epoch == 0 || epoch > EPOCH_MOVED : epoch > 0;
}

static enum status epoch_enter(struct confirm *confirm, uint32_t epoch)
{
    if (!epoch_is_there(confirm->config.part, epoch) || epoch > EPOCH_MAX || epoch < confirm->epoch)
        return refuse(confirm, STATUS_CORRUPT, "epoch %u after epoch %u", epoch, confirm->epoch);
    confirm->epoch = epoch;
    return STATUS_OK;
}

static void wins_note(struct confirm *confirm, ticket_number last_before)
{
    uint32_t *first = &confirm->first_ticket[confirm->epoch];
    if (*first == 0 && confirm->engine.tickets.last > last_before)
        *first = (uint32_t)last_before + 1;
}

ticket_number confirm_number(const struct confirm *confirm, ticket_number ticket)
{
    if (ticket == 0 || ticket > confirm->engine.tickets.last || ticket > TICKET_N_MAX)
        return 0;
    uint32_t epoch = confirm->epoch;
    while (epoch > 0 && (confirm->first_ticket[epoch] == 0 || confirm->first_ticket[epoch] > ticket))
        epoch--;
    const struct ticket_parts parts = { confirm->config.part, epoch, (uint32_t)ticket };
    return ticket_number_make(&parts);
}

/* ---- from the database ---- */

static enum status batch_replay(struct confirm *confirm, const struct batch *batch)
{
    const struct confirm_config *config = &confirm->config;
    struct replay replay = { .engine = &confirm->engine, .last_time_ms = confirm->time_ms };
    uint32_t cursor = BATCH_RECORDS_AT;
    for (uint32_t i = 0; i < batch->records; i++) {
        struct journal_record record;
        const ticket_number last = confirm->engine.tickets.last;
        batch_take(batch, &cursor, &record);
        record.lsn = batch->first_lsn + i;
        const enum status status = config->apply == NULL
            ? replay_record(&replay, &record, batch->time_ms)
            : config->apply(config->context, &replay, &record, batch->time_ms);
        if (status != STATUS_OK)
            return refuse(confirm, STATUS_CORRUPT, "%s", replay.what);
        wins_note(confirm, last);
        if (config->replayed != NULL)
            config->replayed(config->context, &replay.command, &replay.outcome);
    }
    confirm->seq = batch->last_lsn;
    confirm->time_ms = replay.last_time_ms;
    return STATUS_OK;
}

enum status confirm_replay(struct confirm *confirm, const struct journal_entry *entry)
{
    const uint8_t *data = (const uint8_t *)entry->bytes.data;
    struct batch batch;
    uint32_t bytes = 0;
    invariant(confirm->keeper.end.lsn == confirm->seq); /* the stream comes after */
    const char *wrong = entry->bytes.size < BATCH_RECORDS_AT
        ? "too short"
        : batch_head_wrong(data, entry->bytes.size, &bytes);
    if (wrong == NULL && (bytes != entry->bytes.size || !batch_is_whole(data, bytes)))
        wrong = "wrong length or checksum";
    if (wrong != NULL)
        return refuse(confirm, STATUS_CORRUPT, "entry %" PRIu64 ": %s", entry->first_seq, wrong);
    enum status status = batch_follow(data, bytes, confirm->config.data_id, true,
        &confirm->keeper.end, &batch, confirm->what, sizeof confirm->what);
    if (status == STATUS_OK
        && (batch.first_lsn != entry->first_seq || entry->part != confirm->config.part))
        status = refuse(confirm, STATUS_CORRUPT, "entry %" PRIu64 " has the records of another one",
            entry->first_seq);
    if (status == STATUS_OK)
        status = epoch_enter(confirm, entry->epoch);
    return status == STATUS_OK ? batch_replay(confirm, &batch) : status;
}

/* ---- from the stream ---- */

static uint32_t lines_count(struct span lines)
{
    uint32_t count = lines.size > 0;
    for (size_t i = 0; i < lines.size && count <= STREAM_RECORDS_MAX; i++)
        count += lines.data[i] == '\n';
    return count;
}

/* The bytes of a record are the whole of it: if they agree, both came to the same. */
static enum status outcome_confirm(struct confirm *confirm, struct queue_record *record, struct span line)
{
    uint8_t proposed[RECORD_BYTES_MAX] = { 0 }, decided[RECORD_BYTES_MAX] = { 0 };
    struct outcome outcome;
    uint32_t proposed_bytes = 0, decided_bytes = 0;
    if (record->outcome.changed)
        proposed_bytes = record_encode(&record->command, &record->outcome, proposed);
    engine_apply(&confirm->engine, &record->command, true, &outcome);
    if (outcome.changed)
        decided_bytes = record_encode(&record->command, &outcome, decided);
    if (proposed_bytes == 0 || proposed_bytes != decided_bytes
        || memcmp(proposed, decided, decided_bytes) != 0)
        return refuse(confirm, STATUS_CONFLICT,
            "record %" PRIu64 ": the engine answers %u, detail %u, ticket %" PRIu64 " to: %.*s",
            record->at.seq, outcome.answer, outcome.detail, outcome.ticket,
            (int)(line.size < 100 ? line.size : 100), line.data);
    record->outcome = outcome;
    return STATUS_OK;
}

static enum status line_confirm(
    struct confirm *confirm, struct span line, uint64_t time_ms, struct queue_record *record)
{
    const ticket_number last = confirm->engine.tickets.last;
    *record = (struct queue_record){ .at = { confirm->config.part, confirm->seq + 1 } };
    enum status status = record_text_read(line, time_ms, &record->command, &record->outcome);
    if (status != STATUS_OK)
        return refuse(confirm, STATUS_CORRUPT, "record %" PRIu64 " can't be read: %.*s",
            record->at.seq, (int)(line.size < 100 ? line.size : 100), line.data);
    status = outcome_confirm(confirm, record, line);
    if (status != STATUS_OK)
        return status;
    wins_note(confirm, last);
    record->outcome.ticket = confirm_number(confirm, record->outcome.ticket);
    if (record->command.type == COMMAND_SETTLE)
        record->command.settle.ticket = confirm_number(confirm, record->command.settle.ticket);
    confirm->seq++;
    confirm->time_ms = time_ms;
    return STATUS_OK;
}

static enum status entry_judge(struct confirm *confirm, const struct stream_entry *entry)
{
    const uint32_t records = lines_count(entry->lines);
    if (records == 0 || records > STREAM_RECORDS_MAX || entry->seq != confirm->seq + records)
        return refuse(confirm, STATUS_CORRUPT,
            "entry %" PRIu64 " with %u records does not go on after %" PRIu64, entry->seq, records,
            confirm->seq);
    if (entry->time_ms < confirm->time_ms)
        return refuse(confirm, STATUS_CORRUPT, "entry %" PRIu64 ": time runs backwards", entry->seq);
    return epoch_enter(confirm, entry->epoch);
}

enum status confirm_entry(struct confirm *confirm, const struct stream_entry *entry,
    struct queue_record *records, uint32_t *count)
{
    struct span rest = entry->lines;
    *count = 0;
    if (entry->seq <= confirm->seq)
        return STATUS_OK;
    enum status status = entry_judge(confirm, entry);
    while (status == STATUS_OK && confirm->seq < entry->seq) {
        struct span line = SPAN_NONE;
        span_take_until(&rest, '\n', &line);
        status = line_confirm(confirm, line, entry->time_ms, &records[*count]);
        *count += status == STATUS_OK;
    }
    return status;
}

/* ---- to the database ---- */

/* In the log tickets have the engine's own numbers. */
static uint32_t record_bytes(const struct queue_record *record, uint8_t *bytes)
{
    struct command command = record->command;
    struct outcome outcome = record->outcome;
    struct ticket_parts parts;
    if (outcome.ticket != 0 && ticket_number_split(outcome.ticket, &parts))
        outcome.ticket = parts.n;
    if (command.type == COMMAND_SETTLE && ticket_number_split(command.settle.ticket, &parts))
        command.settle.ticket = parts.n;
    return record_encode(&command, &outcome, bytes);
}

void log_entry_make(struct confirm *confirm, const struct queue_record *records, uint32_t count,
    struct journal_entry *entry)
{
    struct log_keeper *keeper = &confirm->keeper;
    struct batch_maker maker;
    uint8_t bytes[RECORD_BYTES_MAX];
    invariant(count > 0 && count <= ORDER_BATCH_MAX && records[0].at.seq == keeper->end.lsn + 1);
    keeper->next = keeper->end;
    batch_begin(&maker, keeper->bytes, JOURNAL_ENTRY_BYTES_MAX);
    for (uint32_t i = 0; i < count; i++)
        invariant(
            batch_append(&maker, records[i].command.type, bytes, record_bytes(&records[i], bytes)));
    const uint32_t size =
        batch_end(&maker, confirm->config.data_id, records[count - 1].command.time_ms, &keeper->next);
    *entry = (struct journal_entry){ .part = confirm->config.part,
        .epoch = confirm->epoch,
        .first_seq = records[0].at.seq,
        .bytes = span_of(keeper->bytes, size) };
}

void log_entry_kept(struct confirm *confirm)
{
    confirm->keeper.end = confirm->keeper.next;
}
