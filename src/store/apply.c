/* SPDX-License-Identifier: Apache-2.0 */
/* One batch of queue records, one transaction: what they say, and the position after them. */
#include "base/thread.h"
#include "contract/ticket_number.h"
#include "store/cluster.h"
#include "store/gather.h"
#include "store/parts.h"
#include "store/restore.h"

#include <stdarg.h>
#include <stdio.h>

static const char eligible_add[] = "INSERT INTO eligible_users(sale, user_id) VALUES(?1, ?2) ON "
                                   "CONFLICT(sale, user_id) DO NOTHING";
static const char eligible_remove[] = "DELETE FROM eligible_users WHERE sale = ?1 AND user_id = ?2";
/* Stock is loaded once. What the log says after that comes as ADJUST and MOVE. */
/* The terms may have been written by a request that is later than the record. */
#define TERM(column, value) column " = CASE WHEN terms_lsn < ?5 THEN " value " ELSE " column " END"
#define TERMS \
    TERM("flash_price", "?2") \
    ", " TERM("limit_per_user", "?3") ", " TERM("pay_window_ms", "?4")
static const char preheat_first[] =
    "UPDATE items SET " TERMS ", total = ?6, locked = ?7, sold = ?8, sold_before = ?8, safety = ?9,"
    " channel_0 = ?10, channel_1 = ?11, channel_2 = ?12, channel_3 = ?13, channel_4 = ?14,"
    " channel_5 = ?15, channel_6 = ?16, channel_7 = ?17,"
    " preheated = 1, version = version + 1, terms_lsn = CASE WHEN terms_lsn > ?5 THEN terms_lsn "
    "ELSE ?5 END"
    " WHERE id = ?1 AND preheated = 0";
static const char preheat_shared[] =
    "UPDATE items SET " TERMS
    ", locked = ?6, sold = ?7, sold_before = ?7, channel_0 = total - ?6 - ?7 - safety - channel_1"
    " - channel_2 - channel_3 - channel_4 - channel_5 - channel_6 - channel_7,"
    " preheated = 1, version = version + 1, terms_lsn = CASE WHEN terms_lsn > ?5 THEN terms_lsn "
    "ELSE ?5 END"
    " WHERE id = ?1 AND preheated = 0";
static const char preheat_again[] =
    "UPDATE items SET " TERMS
    ", version = version + 1, terms_lsn = CASE WHEN terms_lsn > ?5 THEN terms_lsn ELSE ?5 END"
    " WHERE id = ?1";

enum status store_identity(struct order_store *handle, uint64_t *data_id)
{
    const enum status status =
        sql_number(store_of(handle), "SELECT data_id FROM store_identity", NO_VALUES, data_id);
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
}

/* The row of a partition is made by its first batch. */
enum status store_applied(struct order_store *handle, uint32_t part, struct position *position)
{
    *position = (struct position){ .part = part };
    const enum status status = sql_number(store_of(handle), "SELECT seq FROM parts WHERE part = ?1",
        VALUES(U64(part)), &position->seq);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status store_identity_set(struct order_store *handle, uint64_t data_id)
{
    if (data_id == 0)
        return STATUS_BAD_INPUT;
    return sql_do_one(store_of(handle), "UPDATE store_identity SET data_id = ?1 WHERE data_id = 0",
        VALUES(U64(data_id)), STATUS_CONFLICT);
}

enum status store_secret_check(struct order_store *handle, uint64_t *value)
{
    const enum status status =
        sql_number(store_of(handle), "SELECT secret_check FROM store_identity", NO_VALUES, value);
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
}

enum status store_secret_check_set(struct order_store *handle, uint64_t value)
{
    return sql_do(store_of(handle), "UPDATE store_identity SET secret_check = ?1", VALUES(U64(value)));
}

enum status store_refuse(struct store_batch *batch, enum refusal_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    batch->refusal->index = batch->index;
    batch->refusal->kind = kind;
    vsnprintf(batch->refusal->text, sizeof batch->refusal->text, format, arguments);
    va_end(arguments);
    return STATUS_REFUSED;
}

enum status store_batch_failed(struct store_batch *batch, enum status status)
{
    if (status != STATUS_REFUSED)
        return status;
    return store_refuse(batch, REFUSAL_UNKNOWN, "%s", store_message(batch->store));
}

enum status store_batch_do(struct store_batch *batch, const char *sql, struct sql_values values)
{
    const enum status status = sql_do(batch->store, sql, values);
    return status == STATUS_OK ? STATUS_OK : store_batch_failed(batch, status);
}

/* The limit that the log has told last. STATUS_NOT_FOUND: there is no such sale. */
static enum status sale_logged(struct store_batch *batch, const struct command_sale *sale)
{
    return sql_do_one(batch->store, "UPDATE sales SET logged_limit = ?2 WHERE id = ?1",
        VALUES(U64(sale->sale), U64(sale->limit_per_user)), STATUS_NOT_FOUND);
}

/* An admin request writes what the inventory has answered at once; the record follows, and
 * perhaps others before it that are older than the row. */
static enum status apply_sale(struct store_batch *batch, const struct queue_record *record)
{
    const struct command_sale *sale = &record->command.sale;
    enum status status = sale_logged(batch, sale);
    if (status == STATUS_NOT_FOUND && batch->store->recovering) {
        status = store_recover_sale(batch, sale);
        if (status == STATUS_OK)
            status = sale_logged(batch, sale);
    }
    if (status == STATUS_NOT_FOUND)
        return store_refuse(batch, REFUSAL_UNKNOWN, "sale %u is not in the database", sale->sale);
    if (status != STATUS_OK)
        return store_batch_failed(batch, status);
    status = store_batch_do(batch,
        "UPDATE sales SET start_ms = ?2, end_ms = ?3, limit_per_user = ?4, eligible_only = ?5,"
        " one_open_order = ?6, terms_lsn = ?7, cooldown_s = ?8, return_draw_ms = ?9,"
        " start_draw_ms = ?10 WHERE id = ?1 AND terms_lsn < ?7",
        VALUES(U64(sale->sale), U64(sale->start_ms), U64(sale->end_ms), U64(sale->limit_per_user),
            U64(sale->eligible_only), U64(sale->one_open_order), U64(record->at.seq),
            U64(sale->cooldown_s), U64(sale->return_draw_ms), U64(sale->start_draw_ms)));
    if (status != STATUS_OK)
        return status;
    return store_buyers_unlist(batch, sale->sale, record->command.time_ms);
}

/* A sale with several shards: the record has the share of one, the row was made for all. */
static enum status preheat_shards(
    struct store_batch *batch, const struct command_preheat *preheat, uint64_t seq)
{
    return store_batch_do(batch, preheat_shared,
        VALUES(U64(preheat->item), U64(preheat->unit_price), U64(preheat->limit_per_user),
            U64(preheat->pay_window_ms), U64(seq), U64(preheat->locked), U64(preheat->sold_before)));
}

static enum status preheat_write(
    struct store_batch *batch, const struct command_preheat *preheat, uint64_t seq, bool again)
{
    struct sql_values values =
        VALUES(U64(preheat->item), U64(preheat->unit_price), U64(preheat->limit_per_user),
            U64(preheat->pay_window_ms), U64(seq), U64(preheat->total), U64(preheat->locked),
            U64(preheat->sold_before), U64(preheat->safety), CHANNELS(preheat->channel_units));
    if (again)
        values.count = 5; /* without stock */
    return store_batch_do(batch, again ? preheat_again : preheat_first, values);
}

static enum status apply_preheat(
    struct store_batch *batch, const struct command_preheat *preheat, uint64_t seq)
{
    struct stock_row *row;
    enum status status = store_stock_row(batch, preheat->item, &row);
    if (status == STATUS_REFUSED && batch->store->recovering) {
        *batch->refusal = (struct refusal){ .index = UINT32_MAX };
        status = store_recover_item(batch, preheat);
        if (status == STATUS_OK)
            status = store_stock_row(batch, preheat->item, &row);
    }
    if (status != STATUS_OK)
        return status;
    if (row->sale != preheat->sale)
        return store_refuse(batch, REFUSAL_UNKNOWN, "item %u belongs to sale %u, not %u",
            preheat->item, row->sale, preheat->sale);
    const bool again = row->preheated;
    uint64_t shards = 1;
    status = store_stock_flush(batch); /* the item may have changed earlier in this batch */
    if (status == STATUS_OK && !again && batch->position.part != PART_EMBEDDED)
        status = sql_number(batch->store, "SELECT shards FROM parts WHERE part = ?1",
            VALUES(U64(batch->position.part)), &shards);
    if (status != STATUS_OK)
        return status;
    return shards > 1 && !again ? preheat_shards(batch, preheat, seq)
                                : preheat_write(batch, preheat, seq, again);
}

/* A paused sale goes back to where it was. */
static enum status apply_gate(struct store_batch *batch, const struct command_gate *gate, uint64_t time_ms)
{
    uint64_t gates[2] = { 0 };
    enum status status = sql_numbers(batch->store,
        "SELECT gate, gate_before FROM sales WHERE id = ?1", VALUES(U64(gate->sale)), gates, 2);
    if (status == STATUS_NOT_FOUND)
        return store_refuse(batch, REFUSAL_UNKNOWN, "sale %u is not in the database", gate->sale);
    if (status != STATUS_OK)
        return status;
    uint64_t now = gates[0], before = gates[1];
    switch ((enum gate_move)gate->move) {
    case GATE_MOVE_OPEN:
        now = before = GATE_OPENED;
        break;
    case GATE_MOVE_RESUME:
        now = before;
        break;
    case GATE_MOVE_PAUSE:
    case GATE_MOVE_END:
        before = now == GATE_PAUSED ? before : now;
        now = gate->move == GATE_MOVE_END ? GATE_ENDED : GATE_PAUSED;
        break;
    case GATE_MOVE_REOPEN: /* earlier versions did not keep what was before the end */
        now = before = before == GATE_ENDED ? GATE_SCHEDULED : before;
        break;
    case GATE_MOVES:
    default:
        return store_refuse(batch, REFUSAL_UNKNOWN, "%u is not a gate move", gate->move);
    }
    status = store_batch_do(batch, "UPDATE sales SET gate = ?2, gate_before = ?3 WHERE id = ?1",
        VALUES(U64(gate->sale), U64(now), U64(before)));
    return status == STATUS_OK ? store_buyers_unlist(batch, gate->sale, time_ms) : status;
}

static enum status apply_users(struct store_batch *batch, const struct command_users *users)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < users->count && i < USERS_PER_COMMAND && status == STATUS_OK; i++)
        status = store_batch_do(batch, users->remove ? eligible_remove : eligible_add,
            VALUES(U64(users->sale), U64(users->users[i])));
    return status;
}

static enum status apply_stock(struct store_batch *batch, const struct queue_record *record)
{
    const struct command *command = &record->command;
    const bool move = command->type == COMMAND_MOVE;
    const int64_t applied = record->outcome.applied;
    struct stock_row *row;
    const enum status status =
        store_stock_row(batch, move ? command->move.item : command->adjust.item, &row);
    if (status != STATUS_OK)
        return status;
    if (move) {
        store_stock_allot(row, command->move.from, -applied);
        store_stock_allot(row, command->move.to, applied);
        return STATUS_OK;
    }
    if (row->now.total + applied - row->now.locked - row->now.sold < 0)
        return store_refuse(batch, REFUSAL_STOCK,
            "item %u has fewer than %lld free units to take away", row->item, (long long)-applied);
    row->now.total += applied;
    store_stock_allot(row, command->adjust.channel, applied);
    return applied < 0 && !command->adjust.gone ? store_pool_return(batch, row->item, -applied)
                                                : STATUS_OK;
}

static enum status apply_reserve(struct store_batch *batch, const struct queue_record *record, bool reject)
{
    const struct command_reserve *reserve = &record->command.reserve;
    const struct store_ticket ticket = {
        .ticket = record->outcome.ticket,
        .user = reserve->user,
        .item = reserve->item,
        .quantity = reserve->quantity,
        .channel = reserve->channel,
        .unit_price = record->outcome.unit_price,
        .created_ms = record->command.time_ms,
        .pay_by_ms = record->outcome.pay_by_ms,
    };
    const bool offer = (reserve->flags & RESERVE_OFFER) != 0;
    bool over = false;
    enum status status = offer ? store_booking_is_over(batch->store, reserve->key, &over) : STATUS_OK;
    if (status == STATUS_OK && over) /* written by itself, after what was gathered */
        status = store_gather_flush(batch);
    if (status == STATUS_OK)
        status = store_order_write(batch, &ticket, reject || over);
    if (status == STATUS_OK && offer && !over)
        status = store_waitlist_offer(batch, reserve->key, reserve->user, ticket.ticket);
    return status == STATUS_OK && offer
        ? store_booking_deposit(batch, reserve->key, reserve->user, ticket.ticket)
        : status;
}

static enum status apply_control(struct store_batch *batch, const struct queue_record *record)
{
    /* Limits and prices of items that were read before may change: write them out, read them
     * again. */
    enum status status = store_stock_flush(batch);
    if (status == STATUS_OK)
        status = store_waitlist_terms(batch);
    if (status != STATUS_OK)
        return status;
    if (part_shard(record->at.part) != 0 && record->command.type != COMMAND_USERS)
        return STATUS_OK; /* shard 0 has told it, for the whole sale */
    switch (record->command.type) {
    case COMMAND_SALE:
        return apply_sale(batch, record);
    case COMMAND_PREHEAT:
        return apply_preheat(batch, &record->command.preheat, record->at.seq);
    case COMMAND_GATE:
        return apply_gate(batch, &record->command.gate, record->command.time_ms);
    case COMMAND_USERS:
        return apply_users(batch, &record->command.users);
    default:
        return store_refuse(
            batch, REFUSAL_UNKNOWN, "records of type %u are unknown", record->command.type);
    }
}

enum status store_apply_record(
    struct store_batch *batch, const struct queue_record *record, uint8_t disposition)
{
    const bool reject = disposition == DISPOSE_REJECT;
    if (record->command.type != COMMAND_RESERVE || disposition != DISPOSE_APPLY) {
        const enum status status = store_gather_flush(batch);
        if (status != STATUS_OK)
            return status;
    }
    if (disposition == DISPOSE_DEAD)
        return store_dead_put(batch, record);
    if (record->outcome.answer != ANSWER_WON && record->outcome.answer != ANSWER_DONE)
        return STATUS_OK; /* it changed nothing */
    if (record->command.type == COMMAND_RESERVE)
        return apply_reserve(batch, record, reject);
    if (record->command.type == COMMAND_SETTLE)
        return store_order_settle(batch, record, reject);
    if (reject)
        return store_refuse(batch, REFUSAL_UNKNOWN, "only a ticket can be rejected");
    if (record->command.type == COMMAND_ARRIVE && batch->store->recovering)
        return store_recover_room(batch, record->command.arrive.sale);
    if (record->command.type == COMMAND_ARRIVE || record->command.type == COMMAND_ADMIT)
        return STATUS_OK; /* the line is the inventory's; orders have nothing to do with it */
    if (record->command.type == COMMAND_RECLAIM)
        return STATUS_OK; /* the inventory forgets tickets; their orders stay */
    if (record->command.type == COMMAND_ARCHIVE)
        return STATUS_OK; /* their orders left before (store/archive.c) */
    if (record->command.type == COMMAND_SKIP)
        return store_archive_skip(batch, record);
    if (record->command.type == COMMAND_GIVE || record->command.type == COMMAND_TAKE)
        return STATUS_OK; /* units travel between shards; the item has as many as before */
    if (record->command.type == COMMAND_ADJUST || record->command.type == COMMAND_MOVE)
        return apply_stock(batch, record);
    return apply_control(batch, record);
}

/* From where it stood when the batch began: somebody who has moved it since was in the way. */
static enum status apply_position(struct store_batch *batch, uint64_t before)
{
    const enum status status = sql_do_one(batch->store,
        "UPDATE parts SET seq = ?2 WHERE part = ?1 AND seq = ?3",
        VALUES(U64(batch->position.part), U64(batch->position.seq), U64(before)), STATUS_NOT_FOUND);
    return status == STATUS_NOT_FOUND ? store_conflict(batch->store) : status;
}

/* 0: it changes none, or does not tell which. */
static item_id record_item(const struct queue_record *record)
{
    switch (record->command.type) {
    case COMMAND_RESERVE:
        return record->command.reserve.item;
    case COMMAND_SETTLE:
        return record->outcome.item;
    case COMMAND_ADJUST:
        return record->command.adjust.item;
    case COMMAND_MOVE:
        return record->command.move.item;
    case COMMAND_PREHEAT:
        return record->command.preheat.item;
    default:
        return 0;
    }
}

enum status store_apply_lock(struct store *store, const struct queue_record *records, uint32_t count)
{
    uint64_t items[ORDER_BATCH_MAX];
    uint32_t known = 0;
    if (!store_locks(store))
        return STATUS_OK;
    for (uint32_t i = 0; i < count; i++) {
        const item_id item = record_item(&records[i]);
        if (known == 0 || items[known - 1] != item)
            items[known++] = item;
    }
    return store_items_lock(store, items, known);
}

/* The log of a partition goes on with each number, or it has lost a record. */
static enum status missing_refuse(struct store_batch *batch, const struct position *at)
{
    snprintf(batch->refusal->text, sizeof batch->refusal->text,
        "after position %llu of partition %u comes %llu of partition %u: records are missing",
        (unsigned long long)batch->position.seq, batch->position.part, (unsigned long long)at->seq,
        at->part);
    batch->refusal->index = batch->index;
    return STATUS_CORRUPT;
}

static enum status apply_all(struct store_batch *batch, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct position *at = &records[i].at;
        enum status status = STATUS_OK;
        batch->index = i;
        thread_give_way();
        if (at->part != batch->position.part || at->seq > batch->position.seq + 1)
            return missing_refuse(batch, at);
        if (at->seq > batch->position.seq) {
            status = store_apply_record(batch, &records[i], dispositions[i]);
            batch->position = *at;
            if (status == STATUS_OK)
                status = store_audit_record(batch, &records[i]);
        }
        if (status != STATUS_OK)
            return status;
    }
    batch->index = UINT32_MAX;
    enum status status = store_gather_flush(batch);
    if (status == STATUS_OK)
        status = store_audit_users_flush(batch);
    return status == STATUS_OK ? store_stock_flush(batch) : status;
}

/* `batch` as far as it is the same for each try. */
static enum status apply_try(struct store_batch batch, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count, bool gathers)
{
    struct store *store = batch.store;
    struct refusal *refusal = batch.refusal;
    *refusal = (struct refusal){ .index = UINT32_MAX, .kind = REFUSAL_NONE };
    batch.gathers = gathers;
    store_stock_clear(&store->stock);
    store_gather_clear(store);

    enum status status = store_batch_begin(store);
    if (status != STATUS_OK)
        goto fail;
    status = store_part_take(store, records[0].at.part, &batch.position);
    const uint64_t before = batch.position.seq;
    if (status == STATUS_OK && batch.entry != NULL)
        status = store_entry_write(&batch, batch.entry, records[count - 1].at.seq);
    if (status == STATUS_OK)
        status = store_apply_lock(store, records, count);
    if (status == STATUS_OK)
        status = apply_all(&batch, records, dispositions, count);
    if (status == STATUS_OK)
        status = apply_position(&batch, before);
    if (status == STATUS_OK)
        status = store_commit(store);
    if (status == STATUS_OK)
        return STATUS_OK;
fail:
    if (refusal->kind == REFUSAL_NONE && refusal->text[0] == '\0') {
        snprintf(refusal->text, sizeof refusal->text, "%s", store_message(store));
        if (status == STATUS_REFUSED)
            refusal->kind = REFUSAL_UNKNOWN;
    }
    store_rollback(store);
    return status;
}

/* Where rows go together and one is refused, they go one by one, to tell which it is. What may have been kept
 * is tried again: the position tells then, and all records are skipped. */
enum status store_apply_entry(struct order_store *handle, const struct journal_entry *entry,
    const struct queue_record *records, const uint8_t *dispositions, uint32_t count,
    struct refusal *refusal)
{
    struct store *store = store_of(handle);
    struct store_batch batch = { .store = store, .refusal = refusal, .index = UINT32_MAX, .entry = entry };
    const bool gathers = store->connection->driver->insert_many != NULL && count >= GATHER_MIN;
    invariant(count <= ORDER_BATCH_MAX);
    invariant(entry == NULL
        || (count > 0 && entry->first_seq == records[0].at.seq && entry->part == records[0].at.part
            && entry->bytes.size <= JOURNAL_ENTRY_BYTES_MAX));
    snprintf(batch.dead_reason, sizeof batch.dead_reason, "%s",
        refusal->text[0] != '\0' ? refusal->text : "no reason given");
    *refusal = (struct refusal){ .index = UINT32_MAX, .kind = REFUSAL_NONE };
    if (count == 0)
        return STATUS_OK;
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store, &tries, &status) {
        status = apply_try(batch, records, dispositions, count, gathers);
        if (status == STATUS_REFUSED && gathers)
            status = apply_try(batch, records, dispositions, count, false);
    }
    return status;
}

enum status store_apply(struct order_store *handle, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count, struct refusal *refusal)
{
    return store_apply_entry(handle, NULL, records, dispositions, count, refusal);
}
