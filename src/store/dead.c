/* SPDX-License-Identifier: Apache-2.0 */
/* Dead letters: records that the database refused for good, kept whole, and what a person decided.
 * A decision is one transaction: what the record says, and the letter's new state. */
#include "contract/record.h"
#include "contract/ticket_number.h"
#include "store/parts.h"

#include <stdio.h>

/* A position is one number: the seq in its lower 43 bits, the partition above. So the column is what it was
 * when there was one log, and unique. */
#define DEAD_COLUMNS \
    "id, lsn >> 43, lsn & 8796093022207, record_type, ticket, time_ms, reason, state, " \
    "resolved_ms, resolver, note"

static const char dead_list[] =
    "SELECT " DEAD_COLUMNS " FROM dead_letters WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char dead_list_state[] =
    "SELECT " DEAD_COLUMNS " FROM dead_letters WHERE id > ?1 AND state = ?3 ORDER BY id LIMIT ?2";

static_assert(SEQ_BITS == 43 && SEQ_MAX == 8796093022207 && SEQ_BITS + TICKET_PART_BITS < 64,
    "said in numbers in the statements; a column has a sign");
static_assert(
    DEAD_OPEN == 1 && DEAD_DISMISSED == 4, "said in numbers in the statements and in the schema");

enum status store_dead_put(struct store_batch *batch, const struct queue_record *record)
{
    const struct command *command = &record->command;
    const struct outcome *outcome = &record->outcome;
    const struct command_reserve *reserve = command->type == COMMAND_RESERVE ? &command->reserve : NULL;
    uint8_t bytes[RECORD_BYTES_MAX];
    const uint32_t size = record_encode(command, outcome, bytes);
    return store_batch_do(batch,
        "INSERT INTO dead_letters(lsn, record_type, ticket, item, user_id, quantity, time_ms, "
        "reason, record)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        VALUES(U64((uint64_t)record->at.part << SEQ_BITS | record->at.seq), U64(command->type),
            U64(command->type == COMMAND_SETTLE ? command->settle.ticket : outcome->ticket),
            U64(reserve != NULL ? reserve->item : outcome->item),
            U64(reserve != NULL ? reserve->user : outcome->user),
            U64(reserve != NULL ? reserve->quantity : outcome->quantity), U64(command->time_ms),
            TEXT(batch->dead_reason), BLOB(bytes, size)));
}

static const struct sql_columns letter_columns =
    COLUMNS(dead_letter, FIELD(dead_letter, id), FIELD(dead_letter, at.part),
        FIELD(dead_letter, at.seq), FIELD(dead_letter, type), FIELD(dead_letter, ticket),
        FIELD(dead_letter, time_ms), FIELD(dead_letter, reason), FIELD(dead_letter, state),
        FIELD(dead_letter, resolved_ms), FIELD(dead_letter, resolver), FIELD(dead_letter, note));

enum status store_dead_letters(struct order_store *handle, uint64_t after, enum dead_state state,
    struct dead_letter *letters, uint32_t max, uint32_t *count)
{
    const uint64_t from = after > INT64_MAX ? INT64_MAX : after;
    return sql_rows(store_of(handle), state == DEAD_ANY ? dead_list : dead_list_state,
        state == DEAD_ANY ? VALUES(U64(from), U64(max)) : VALUES(U64(from), U64(max), U64(state)),
        &letter_columns, PAGE(letters, max, count));
}

enum status store_dead_letter_get(struct order_store *handle, uint64_t id,
    struct dead_letter *letter, struct queue_record *record)
{
    struct sql_row *row;
    enum status status = sql_query(store_of(handle),
        "SELECT " DEAD_COLUMNS ", record FROM dead_letters WHERE id = ?1", VALUES(U64(id)), &row);
    if (status != STATUS_OK)
        return status;
    status = sql_next(row);
    if (status == STATUS_OK)
        status = sql_columns_take(&letter_columns, row, letter);
    if (status == STATUS_OK) {
        size_t bytes;
        const void *data = row->connection->driver->bytes(row, 11, &bytes);
        const struct span payload = span_of(data, bytes);
        record->at = letter->at;
        status = record_decode(letter->type, payload, &record->command, &record->outcome);
    }
    sql_finish(row);
    return status;
}

enum status store_dead_letters_open(struct order_store *handle, uint64_t *count)
{
    return sql_number(
        store_of(handle), "SELECT count(*) FROM dead_letters WHERE state = 1", NO_VALUES, count);
}

static enum status decision_note(struct store *store, const struct dead_decision *decision)
{
    return sql_do_one(store,
        "UPDATE dead_letters SET state = ?2, resolved_ms = ?3, resolver = ?4, note = ?5"
        " WHERE id = ?1 AND state = 1",
        VALUES(U64(decision->id), U64(decision->to), U64(decision->now_ms),
            TEXT(decision->resolver), TEXT(decision->note)),
        STATUS_CONFLICT);
}

static enum status reason_note(struct store *store, uint64_t id, const char *reason)
{
    return sql_do(store, "UPDATE dead_letters SET reason = ?2 WHERE id = ?1 AND state = 1",
        VALUES(U64(id), TEXT(reason)));
}

/* Inside a transaction. */
static enum status decision_make(struct store_batch *batch, const struct dead_decision *decision)
{
    struct order_store *handle = &batch->store->store;
    struct dead_letter letter = { .id = 0 };
    struct queue_record record = { .at = { 0 } };
    enum status status = store_dead_letter_get(handle, decision->id, &letter, &record);
    if (status == STATUS_OK) /* for one decision at a time, too: what it decides on is read after that */
        status = store_part_take(batch->store, letter.at.part, &batch->position);
    if (status == STATUS_OK)
        status = store_dead_letter_get(handle, decision->id, &letter, &record);
    if (status == STATUS_OK)
        status = store_apply_lock(batch->store, &record, 1);
    if (status != STATUS_OK)
        return status;
    if (letter.state != DEAD_OPEN)
        return STATUS_CONFLICT;
    if (decision->to == DEAD_RETURNED && letter.type != COMMAND_RESERVE)
        return STATUS_CONFLICT;
    batch->index = 0;
    if (decision->to == DEAD_RETRIED)
        status = store_apply_record(batch, &record, DISPOSE_APPLY);
    else if (decision->to == DEAD_RETURNED)
        status = store_apply_record(batch, &record, DISPOSE_REJECT);
    if (status == STATUS_OK)
        status = store_stock_flush(batch);
    return status == STATUS_OK ? decision_note(batch->store, decision) : status;
}

static enum status decide_once(
    struct store *store, const struct dead_decision *decision, struct refusal *refusal)
{
    struct store_batch batch = { .store = store, .refusal = refusal, .index = UINT32_MAX };
    *refusal = (struct refusal){ .index = UINT32_MAX };
    store_stock_clear(&store->stock);
    enum status status = store_batch_begin(store);
    if (status == STATUS_OK)
        status = decision_make(&batch, decision);
    if (status == STATUS_OK)
        status = store_commit(store);
    if (status == STATUS_OK)
        return STATUS_OK;
    store_rollback(store);
    return status;
}

enum status store_dead_letter_decide(
    struct order_store *handle, const struct dead_decision *decision, struct refusal *refusal)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store, &tries, &status)
        status = decide_once(store, decision, refusal);
    if (status != STATUS_REFUSED)
        return status;
    const enum status noted = reason_note(store, decision->id, refusal->text);
    return noted == STATUS_OK ? STATUS_REFUSED : noted;
}
