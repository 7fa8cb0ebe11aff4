/* SPDX-License-Identifier: Apache-2.0 */
#include "server/migrate_log.h"

#include "journal/batch.h"
#include "store/moving.h"

#include <stdlib.h>

enum { ENTRIES_PER_COMMIT = 64 };

/* The entry that is being made, and where the log is. */
struct maker {
    struct migrate_log *log;
    struct batch_maker batch;
    struct journal_position end; /* of the entry before */
    uint64_t time_ms;            /* of its records */
    uint64_t kept;               /* the first record of the last entry that the database has */
    uint32_t pending;            /* entries in the open transaction */
    uint8_t *bytes;
};

static enum status commit(struct maker *maker)
{
    struct sql_connection *to = maker->log->to;
    if (maker->pending == 0)
        return STATUS_OK;
    maker->pending = 0;
    const enum status status = to->driver->commit(to);
    if (status == STATUS_OK)
        maker->log->told(maker->log->context, maker->end.lsn);
    return status;
}

static enum status entry_write(struct maker *maker, const struct journal_entry *entry)
{
    struct sql_connection *to = maker->log->to;
    enum status status = maker->pending == 0 ? to->driver->begin(to) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    maker->pending++;
    status = store_move_entry(to, entry);
    return status == STATUS_OK && maker->pending == ENTRIES_PER_COMMIT ? commit(maker) : status;
}

static void entry_begin(struct maker *maker)
{
    batch_begin(&maker->batch, maker->bytes, JOURNAL_ENTRY_BYTES_MAX);
}

static enum status entry_end(struct maker *maker)
{
    const uint64_t first = maker->end.lsn + 1;
    if (maker->batch.records == 0)
        return STATUS_OK;
    const uint32_t size =
        batch_end(&maker->batch, maker->log->journal.data_id, maker->time_ms, &maker->end);
    const struct journal_entry entry = { .first_seq = first, .bytes = span_of(maker->bytes, size) };
    maker->log->entries++;
    entry_begin(maker);
    return first <= maker->kept ? STATUS_OK : entry_write(maker, &entry);
}

static enum status record_add(
    struct maker *maker, const struct journal_record *record, uint64_t batch_time_ms)
{
    enum status status = STATUS_OK;
    if (batch_time_ms != maker->time_ms)
        status = entry_end(maker);
    maker->time_ms = batch_time_ms;
    if (status == STATUS_OK
        && batch_append(&maker->batch, record->type, record->payload.data, (uint32_t)record->payload.size))
        return STATUS_OK;
    if (status == STATUS_OK)
        status = entry_end(maker);
    invariant(status != STATUS_OK
        || batch_append(
            &maker->batch, record->type, record->payload.data, (uint32_t)record->payload.size));
    return status;
}

static enum status records_add(struct maker *maker, struct journal_reader *reader)
{
    struct migrate_log *log = maker->log;
    struct journal_record record;
    uint64_t time_ms = 0;
    enum status status;
    while ((status = journal_reader_next(reader, log->end, &record, &time_ms)) == STATUS_OK) {
        status = record_add(maker, &record, time_ms);
        if (status != STATUS_OK)
            return status;
    }
    if (status != STATUS_NOT_FOUND) {
        log->what = "the journal can't be read";
        return status;
    }
    status = entry_end(maker);
    return status == STATUS_OK ? commit(maker) : status;
}

static enum status log_read(struct maker *maker)
{
    struct migrate_log *log = maker->log;
    struct journal_reader *reader = NULL;
    enum status status = journal_reader_open(&reader, &log->journal);
    if (status == STATUS_OK)
        status = journal_reader_seek(reader, 0);
    if (status != STATUS_OK)
        log->what = "the journal can't be read from its beginning";
    if (status == STATUS_OK)
        status = records_add(maker, reader);
    journal_reader_close(reader);
    if (status == STATUS_OK && maker->end.lsn != log->end) {
        log->what = "the journal ends too early";
        status = STATUS_CORRUPT;
    }
    return status;
}

enum status migrate_log_copy(struct migrate_log *log)
{
    struct maker maker = { .log = log, .bytes = malloc(JOURNAL_ENTRY_BYTES_MAX) };
    log->entries = 0;
    log->what = NULL;
    if (maker.bytes == NULL) {
        log->what = "no memory";
        return STATUS_AWAY;
    }
    entry_begin(&maker);
    enum status status = store_move_log_end(log->to, &maker.kept);
    if (status == STATUS_OK)
        status = log_read(&maker);
    if (status != STATUS_OK)
        log->to->driver->rollback(log->to);
    free(maker.bytes);
    return status;
}
