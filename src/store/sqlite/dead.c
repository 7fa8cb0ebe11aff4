/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters: records that the database refused for good, kept whole, and what a person decided.
 * A decision is one transaction: what the record says, and the letter's new state. */
#include "contract/record.h"
#include "store/sqlite/parts.h"

#include <stdio.h>

#define DEAD_COLUMNS "id, lsn, type, ticket, time_ms, reason, state, resolved_ms, resolver, note"

static const struct sqlite_sql dead_insert = { SQL_DEAD_INSERT,
    "INSERT INTO dead_letters(lsn, type, ticket, item, user, quantity, time_ms, reason, record)"
    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)" };
static const struct sqlite_sql dead_list = { SQL_DEAD_LIST,
    "SELECT " DEAD_COLUMNS " FROM dead_letters WHERE id > ?1 ORDER BY id LIMIT ?2" };
static const struct sqlite_sql dead_list_state = { SQL_DEAD_LIST_STATE,
    "SELECT " DEAD_COLUMNS " FROM dead_letters WHERE id > ?1 AND state = ?3 ORDER BY id LIMIT ?2" };
static const struct sqlite_sql dead_get = { SQL_DEAD_GET,
    "SELECT " DEAD_COLUMNS ", record FROM dead_letters WHERE id = ?1" };
static const struct sqlite_sql dead_count = { SQL_DEAD_COUNT,
    "SELECT count(*) FROM dead_letters WHERE state = 1" };
static const struct sqlite_sql dead_decide = { SQL_DEAD_DECIDE,
    "UPDATE dead_letters SET state = ?2, resolved_ms = ?3, resolver = ?4, note = ?5"
    " WHERE id = ?1 AND state = 1" };
static const struct sqlite_sql dead_reason = { SQL_DEAD_REASON,
    "UPDATE dead_letters SET reason = ?2 WHERE id = ?1 AND state = 1" };

static_assert(DEAD_OPEN == 1 && DEAD_DISMISSED == 4, "said in numbers above and in the schema");

enum status sqlite_dead_put(struct sqlite_batch *batch, const struct queue_record *record)
{
    const struct command *command = &record->command;
    uint8_t bytes[RECORD_BYTES_MAX];
    bool reserve = command->type == COMMAND_RESERVE;
    sqlite3_stmt *insert;
    enum status status = sqlite_prepare(batch->store, &dead_insert, &insert);
    if (status != STATUS_OK)
        return status;
    const uint32_t size = record_encode(command, &record->outcome, bytes);
    bind_u64(insert, 1, record->lsn);
    bind_u64(insert, 2, command->type);
    bind_u64(insert, 3, command->type == COMMAND_SETTLE ? command->settle.ticket : record->outcome.ticket);
    bind_u64(insert, 4, reserve ? command->reserve.item : record->outcome.item);
    bind_u64(insert, 5, reserve ? command->reserve.user : record->outcome.user);
    bind_u64(insert, 6, reserve ? command->reserve.quantity : record->outcome.quantity);
    bind_u64(insert, 7, command->time_ms);
    bind_text(insert, 8, batch->dead_reason);
    const int result = sqlite3_bind_blob(insert, 9, bytes, (int)size, SQLITE_TRANSIENT);
    if (result != SQLITE_OK)
        return sqlite_status(result);
    status = sqlite_run(insert);
    return status == STATUS_OK ? STATUS_OK : sqlite_batch_failed(batch, status);
}

static void letter_from_row(sqlite3_stmt *row, struct dead_letter *letter)
{
    *letter = (struct dead_letter){ .id = column_u64(row, 0),
        .lsn = column_u64(row, 1),
        .type = (uint8_t)sqlite3_column_int(row, 2),
        .ticket = column_u64(row, 3),
        .time_ms = column_u64(row, 4),
        .state = (uint8_t)sqlite3_column_int(row, 6),
        .resolved_ms = column_u64(row, 7) };
    column_text(row, 5, letter->reason, sizeof letter->reason);
    column_text(row, 8, letter->resolver, sizeof letter->resolver);
    column_text(row, 9, letter->note, sizeof letter->note);
}

enum status sqlite_dead_letters(struct order_store *handle, uint64_t after, enum dead_state state,
    struct dead_letter *letters, uint32_t max, uint32_t *count)
{
    sqlite3_stmt *list;
    *count = 0;
    enum status status =
        sqlite_prepare(sqlite_of(handle), state == DEAD_ANY ? &dead_list : &dead_list_state, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, after > INT64_MAX ? INT64_MAX : after);
    bind_u64(list, 2, max);
    if (state != DEAD_ANY)
        bind_u64(list, 3, state);
    while (*count < max && (status = sqlite_next(list)) == STATUS_OK)
        letter_from_row(list, &letters[(*count)++]);
    (void)sqlite3_reset(list);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sqlite_dead_letter_get(struct order_store *handle, uint64_t id,
    struct dead_letter *letter, struct queue_record *record)
{
    sqlite3_stmt *get;
    enum status status = sqlite_prepare(sqlite_of(handle), &dead_get, &get);
    if (status != STATUS_OK)
        return status;
    bind_u64(get, 1, id);
    status = sqlite_next(get);
    if (status == STATUS_OK) {
        letter_from_row(get, letter);
        const void *bytes = sqlite3_column_blob(get, 10);
        const struct span payload = span_of(bytes, (size_t)sqlite3_column_bytes(get, 10));
        record->lsn = letter->lsn;
        status = record_decode(letter->type, payload, &record->command, &record->outcome);
    }
    (void)sqlite3_reset(get);
    return status;
}

enum status sqlite_dead_letters_open(struct order_store *handle, uint64_t *count)
{
    sqlite3_stmt *sum;
    enum status status = sqlite_prepare(sqlite_of(handle), &dead_count, &sum);
    if (status != STATUS_OK)
        return status;
    status = sqlite_next(sum);
    if (status == STATUS_OK)
        *count = column_u64(sum, 0);
    (void)sqlite3_reset(sum);
    return status;
}

static enum status decision_note(struct sqlite_store *store, const struct dead_decision *decision)
{
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(store, &dead_decide, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, decision->id);
    bind_u64(update, 2, decision->to);
    bind_u64(update, 3, decision->now_ms);
    bind_text(update, 4, decision->resolver);
    bind_text(update, 5, decision->note);
    status = sqlite_run(update);
    if (status != STATUS_OK)
        return status;
    return sqlite_changed_rows(store) == 1 ? STATUS_OK : STATUS_CONFLICT;
}

static enum status reason_note(struct sqlite_store *store, uint64_t id, const char *reason)
{
    sqlite3_stmt *update;
    const enum status status = sqlite_prepare(store, &dead_reason, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, id);
    bind_text(update, 2, reason);
    return sqlite_run(update);
}

/* Inside a transaction. */
static enum status decision_make(struct sqlite_batch *batch, const struct dead_decision *decision)
{
    struct dead_letter letter;
    struct queue_record record;
    enum status status = sqlite_dead_letter_get(&batch->store->store, decision->id, &letter, &record);
    if (status != STATUS_OK)
        return status;
    if (letter.state != DEAD_OPEN)
        return STATUS_CONFLICT;
    if (decision->to == DEAD_RETURNED && letter.type != COMMAND_RESERVE)
        return STATUS_CONFLICT;
    batch->index = 0;
    if (decision->to == DEAD_RETRIED)
        status = sqlite_apply_record(batch, &record, DISPOSE_APPLY);
    else if (decision->to == DEAD_RETURNED)
        status = sqlite_apply_record(batch, &record, DISPOSE_REJECT);
    if (status == STATUS_OK)
        status = sqlite_stock_flush(batch);
    return status == STATUS_OK ? decision_note(batch->store, decision) : status;
}

enum status sqlite_dead_letter_decide(
    struct order_store *handle, const struct dead_decision *decision, struct refusal *refusal)
{
    struct sqlite_store *store = sqlite_of(handle);
    struct sqlite_batch batch = { .store = store, .refusal = refusal, .index = UINT32_MAX };
    *refusal = (struct refusal){ .index = UINT32_MAX };
    sqlite_stock_clear(&store->stock);
    enum status status = sqlite_begin(store);
    if (status == STATUS_OK)
        status = decision_make(&batch, decision);
    if (status == STATUS_OK)
        status = sqlite_commit(store);
    if (status == STATUS_OK)
        return STATUS_OK;
    sqlite_rollback(store);
    if (status != STATUS_REFUSED)
        return status;
    const enum status noted = reason_note(store, decision->id, refusal->text);
    return noted == STATUS_OK ? STATUS_REFUSED : noted;
}
