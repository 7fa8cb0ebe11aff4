/* SPDX-License-Identifier: Apache-2.0 */
/* One batch of queue records, one transaction: what they say, and the position after them. */
#include "store/sqlite/parts.h"
#include "store/sqlite/restore.h"

#include <stdarg.h>
#include <stdio.h>

static const struct sqlite_sql identity_get = { SQL_IDENTITY,
    "SELECT data_id, position FROM queue_position" };
static const struct sqlite_sql identity_put = { SQL_IDENTITY_SET,
    "UPDATE queue_position SET data_id = ?1 WHERE data_id = 0" };
static const struct sqlite_sql secret_get = { SQL_SECRET_CHECK,
    "SELECT secret_check FROM queue_position" };
static const struct sqlite_sql secret_put = { SQL_SECRET_CHECK_SET,
    "UPDATE queue_position SET secret_check = ?1" };
static const struct sqlite_sql position_set = { SQL_POSITION_SET,
    "UPDATE queue_position SET position = ?1" };
static const struct sqlite_sql sale_logged = { SQL_SALE_LOGGED,
    "UPDATE sales SET logged_limit = ?2 WHERE id = ?1" };
/* An admin request writes what the inventory has answered at once; the record follows, and
 * perhaps others before it that are older than the row. */
static const struct sqlite_sql sale_terms = { SQL_SALE_TERMS,
    "UPDATE sales SET start_ms = ?2, end_ms = ?3, limit_per_user = ?4, eligible_only = ?5,"
    " one_open_order = ?6, terms_lsn = ?7, cooldown_s = ?8, return_draw_ms = ?9, start_draw_ms = "
    "?10 WHERE id = ?1 AND "
    "terms_lsn < ?7" };
static const struct sqlite_sql sale_gate = { SQL_SALE_GATE,
    "SELECT gate, gate_before FROM sales WHERE id = ?1" };
static const struct sqlite_sql sale_gate_set = { SQL_SALE_GATE_SET,
    "UPDATE sales SET gate = ?2, gate_before = ?3 WHERE id = ?1" };
static const struct sqlite_sql eligible_add = { SQL_ELIGIBLE_ADD,
    "INSERT INTO eligible_users(sale, user) VALUES(?1, ?2) ON CONFLICT DO NOTHING" };
static const struct sqlite_sql eligible_remove = { SQL_ELIGIBLE_REMOVE,
    "DELETE FROM eligible_users WHERE sale = ?1 AND user = ?2" };
/* Stock is loaded once. What the log says after that comes as ADJUST and MOVE. */
/* The terms may have been written by a request that is later than the record. */
#define TERM(column, value) column " = CASE WHEN terms_lsn < ?17 THEN " value " ELSE " column " END"
#define TERMS \
    TERM("flash_price", "?2") \
    ", " TERM("limit_per_user", "?3") ", " TERM("pay_window_ms", "?4")
static const struct sqlite_sql preheat_first = { SQL_PREHEAT_FIRST,
    "UPDATE items SET " TERMS ", total = ?5, locked = ?6, sold = ?7, sold_before = ?7, safety = "
    "?8, channel_0 = ?9, channel_1 = ?10, channel_2 = ?11,"
    " channel_3 = ?12, channel_4 = ?13, channel_5 = ?14, channel_6 = ?15, channel_7 = ?16,"
    " preheated = 1, version = version + 1, terms_lsn = max(terms_lsn, ?17)"
    " WHERE id = ?1 AND preheated = 0" };
static const struct sqlite_sql preheat_again = { SQL_PREHEAT_AGAIN,
    "UPDATE items SET " TERMS ", version = version + 1, terms_lsn = max(terms_lsn, ?17) WHERE id = "
    "?1" };

enum status sqlite_identity(struct order_store *handle, uint64_t *data_id, lsn_t *position)
{
    sqlite3_stmt *get;
    enum status status = sqlite_prepare(sqlite_of(handle), &identity_get, &get);
    if (status != STATUS_OK)
        return status;
    status = sqlite_next(get);
    if (status == STATUS_OK) {
        *data_id = column_u64(get, 0);
        *position = column_u64(get, 1);
    }
    (void)sqlite3_reset(get);
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
}

enum status sqlite_identity_set(struct order_store *handle, uint64_t data_id)
{
    if (data_id == 0)
        return STATUS_BAD_INPUT;
    sqlite3_stmt *put;
    enum status status = sqlite_prepare(sqlite_of(handle), &identity_put, &put);
    if (status != STATUS_OK)
        return status;
    bind_u64(put, 1, data_id);
    status = sqlite_run(put);
    if (status != STATUS_OK)
        return status;
    return sqlite_changed_rows(sqlite_of(handle)) == 1 ? STATUS_OK : STATUS_CONFLICT;
}

enum status sqlite_secret_check(struct order_store *handle, uint64_t *value)
{
    sqlite3_stmt *get;
    enum status status = sqlite_prepare(sqlite_of(handle), &secret_get, &get);
    if (status != STATUS_OK)
        return status;
    status = sqlite_next(get);
    if (status == STATUS_OK)
        *value = column_u64(get, 0);
    (void)sqlite3_reset(get);
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
}

enum status sqlite_secret_check_set(struct order_store *handle, uint64_t value)
{
    sqlite3_stmt *put;
    const enum status status = sqlite_prepare(sqlite_of(handle), &secret_put, &put);
    if (status != STATUS_OK)
        return status;
    bind_u64(put, 1, value);
    return sqlite_run(put);
}

enum status sqlite_refuse(struct sqlite_batch *batch, enum refusal_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    batch->refusal->index = batch->index;
    batch->refusal->kind = kind;
    vsnprintf(batch->refusal->text, sizeof batch->refusal->text, format, arguments);
    va_end(arguments);
    return STATUS_REFUSED;
}

enum status sqlite_batch_failed(struct sqlite_batch *batch, enum status status)
{
    if (status != STATUS_REFUSED)
        return status;
    return sqlite_refuse(batch, REFUSAL_UNKNOWN, "%s", sqlite3_errmsg(batch->store->database));
}

static enum status apply_sale(struct sqlite_batch *batch, const struct command_sale *sale, lsn_t lsn)
{
    sqlite3_stmt *logged, *terms;
    enum status status = sqlite_prepare(batch->store, &sale_logged, &logged);
    if (status == STATUS_OK)
        status = sqlite_prepare(batch->store, &sale_terms, &terms);
    if (status != STATUS_OK)
        return status;
    bind_u64(logged, 1, sale->sale);
    bind_u64(logged, 2, sale->limit_per_user);
    status = sqlite_run(logged);
    if (status == STATUS_OK && sqlite_changed_rows(batch->store) == 0 && batch->store->recovering) {
        status = sqlite_recover_sale(batch, sale);
        if (status == STATUS_OK)
            status = sqlite_run(logged);
    }
    if (status == STATUS_OK && sqlite_changed_rows(batch->store) != 1)
        return sqlite_refuse(batch, REFUSAL_UNKNOWN, "sale %u is not in the database", sale->sale);
    if (status != STATUS_OK)
        return sqlite_batch_failed(batch, status);
    bind_u64(terms, 1, sale->sale);
    bind_u64(terms, 2, sale->start_ms);
    bind_u64(terms, 3, sale->end_ms);
    bind_u64(terms, 4, sale->limit_per_user);
    bind_u64(terms, 5, sale->eligible_only);
    bind_u64(terms, 6, sale->one_open_order);
    bind_u64(terms, 7, lsn);
    bind_u64(terms, 8, sale->cooldown_s);
    bind_u64(terms, 9, sale->return_draw_ms);
    bind_u64(terms, 10, sale->start_draw_ms);
    status = sqlite_run(terms);
    return status == STATUS_OK ? STATUS_OK : sqlite_batch_failed(batch, status);
}

static enum status preheat_run(struct sqlite_batch *batch, const struct command_preheat *preheat,
    lsn_t lsn, const struct sqlite_sql *sql)
{
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(batch->store, sql, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, preheat->item);
    bind_u64(update, 2, preheat->unit_price);
    bind_u64(update, 3, preheat->limit_per_user);
    bind_u64(update, 4, preheat->pay_window_ms);
    bind_u64(update, 17, lsn);
    if (sql == &preheat_first) {
        bind_u64(update, 5, preheat->total);
        bind_u64(update, 6, preheat->locked);
        bind_u64(update, 7, preheat->sold_before);
        bind_u64(update, 8, preheat->safety);
        for (int i = 0; i < CHANNELS_MAX; i++)
            bind_u64(update, 9 + i, preheat->channel_units[i]);
    }
    status = sqlite_run(update);
    return status == STATUS_OK ? STATUS_OK : sqlite_batch_failed(batch, status);
}

static enum status apply_preheat(
    struct sqlite_batch *batch, const struct command_preheat *preheat, lsn_t lsn)
{
    struct stock_row *row;
    enum status status = sqlite_stock_row(batch, preheat->item, &row);
    if (status == STATUS_REFUSED && batch->store->recovering) {
        *batch->refusal = (struct refusal){ .index = UINT32_MAX };
        status = sqlite_recover_item(batch, preheat);
        if (status == STATUS_OK)
            status = sqlite_stock_row(batch, preheat->item, &row);
    }
    if (status != STATUS_OK)
        return status;
    if (row->sale != preheat->sale)
        return sqlite_refuse(batch, REFUSAL_UNKNOWN, "item %u belongs to sale %u, not %u",
            preheat->item, row->sale, preheat->sale);
    bool again = row->preheated;
    status = sqlite_stock_flush(batch); /* the item may have changed earlier in this batch */
    if (status == STATUS_OK)
        status = preheat_run(batch, preheat, lsn, again ? &preheat_again : &preheat_first);
    return status;
}

/* A paused sale goes back to where it was. */
static enum status apply_gate(struct sqlite_batch *batch, const struct command_gate *gate)
{
    sqlite3_stmt *get, *set;
    enum status status = sqlite_prepare(batch->store, &sale_gate, &get);
    if (status != STATUS_OK)
        return status;
    bind_u64(get, 1, gate->sale);
    status = sqlite_next(get);
    uint32_t now = 0, before = 0;
    if (status == STATUS_OK) {
        now = column_u32(get, 0);
        before = column_u32(get, 1);
    }
    (void)sqlite3_reset(get);
    if (status == STATUS_NOT_FOUND)
        return sqlite_refuse(batch, REFUSAL_UNKNOWN, "sale %u is not in the database", gate->sale);
    if (status == STATUS_OK)
        status = sqlite_prepare(batch->store, &sale_gate_set, &set);
    if (status != STATUS_OK)
        return status;
    switch ((enum gate_move)gate->move) {
    case GATE_MOVE_OPEN:
        now = before = GATE_OPENED;
        break;
    case GATE_MOVE_PAUSE:
        before = now == GATE_PAUSED ? before : now;
        now = GATE_PAUSED;
        break;
    case GATE_MOVE_RESUME:
        now = before;
        break;
    case GATE_MOVE_END:
        before = now == GATE_PAUSED ? before : now;
        now = GATE_ENDED;
        break;
    case GATE_MOVE_REOPEN: /* earlier versions did not keep what was before the end */
        now = before = before == GATE_ENDED ? GATE_SCHEDULED : before;
        break;
    case GATE_MOVES:
    default:
        return sqlite_refuse(batch, REFUSAL_UNKNOWN, "%u is not a gate move", gate->move);
    }
    bind_u64(set, 1, gate->sale);
    bind_u64(set, 2, now);
    bind_u64(set, 3, before);
    status = sqlite_run(set);
    return status == STATUS_OK ? STATUS_OK : sqlite_batch_failed(batch, status);
}

static enum status apply_users(struct sqlite_batch *batch, const struct command_users *users)
{
    sqlite3_stmt *add;
    enum status status =
        sqlite_prepare(batch->store, users->remove ? &eligible_remove : &eligible_add, &add);
    for (uint32_t i = 0; i < users->count && i < USERS_PER_COMMAND && status == STATUS_OK; i++) {
        bind_u64(add, 1, users->sale);
        bind_u64(add, 2, users->users[i]);
        status = sqlite_run(add);
    }
    return status == STATUS_OK ? STATUS_OK : sqlite_batch_failed(batch, status);
}

static enum status apply_adjust(struct sqlite_batch *batch, const struct queue_record *record)
{
    struct stock_row *row;
    enum status status = sqlite_stock_row(batch, record->command.adjust.item, &row);
    if (status != STATUS_OK)
        return status;
    int64_t applied = record->outcome.applied;
    if (row->now.total + applied - row->now.locked - row->now.sold < 0)
        return sqlite_refuse(batch, REFUSAL_STOCK,
            "item %u has fewer than %lld free units to take away", row->item, (long long)-applied);
    row->now.total += applied;
    sqlite_stock_allot(row, record->command.adjust.channel, applied);
    return STATUS_OK;
}

static enum status apply_move(struct sqlite_batch *batch, const struct queue_record *record)
{
    struct stock_row *row;
    enum status status = sqlite_stock_row(batch, record->command.move.item, &row);
    if (status != STATUS_OK)
        return status;
    sqlite_stock_allot(row, record->command.move.from, -(int64_t)record->outcome.applied);
    sqlite_stock_allot(row, record->command.move.to, record->outcome.applied);
    return STATUS_OK;
}

static enum status apply_reserve(struct sqlite_batch *batch, const struct queue_record *record, bool reject)
{
    const struct command_reserve *reserve = &record->command.reserve;
    const struct sqlite_ticket ticket = {
        .ticket = record->outcome.ticket,
        .user = reserve->user,
        .item = reserve->item,
        .quantity = reserve->quantity,
        .channel = reserve->channel,
        .unit_price = record->outcome.unit_price,
        .created_ms = record->command.time_ms,
        .pay_by_ms = record->outcome.pay_by_ms,
    };
    const enum status status = sqlite_order_write(batch, &ticket, reject);
    if (status != STATUS_OK || (reserve->flags & RESERVE_OFFER) == 0)
        return status;
    return sqlite_waitlist_offer(batch, reserve->key, reserve->user, ticket.ticket);
}

static enum status apply_control(struct sqlite_batch *batch, const struct queue_record *record)
{
    /* Limits and prices of items that were read before may change: write them out, read them
     * again. */
    enum status status = sqlite_stock_flush(batch);
    if (status == STATUS_OK)
        status = sqlite_waitlist_terms(batch);
    if (status != STATUS_OK)
        return status;
    switch ((enum command_type)record->command.type) {
    case COMMAND_SALE:
        return apply_sale(batch, &record->command.sale, record->lsn);
    case COMMAND_PREHEAT:
        return apply_preheat(batch, &record->command.preheat, record->lsn);
    case COMMAND_GATE:
        return apply_gate(batch, &record->command.gate);
    case COMMAND_USERS:
        return apply_users(batch, &record->command.users);
    case COMMAND_NONE:
    case COMMAND_ADJUST:
    case COMMAND_MOVE:
    case COMMAND_RESERVE:
    case COMMAND_SETTLE:
    case COMMAND_ARRIVE:
    case COMMAND_ADMIT:
    case COMMAND_RECLAIM:
    case COMMAND_LOGGED_COUNT:
    case COMMAND_ASK_MINE:
    case COMMAND_ASK_TICKET:
    case COMMAND_ASK_COUNTS:
    case COMMAND_ASK_SALE:
    default:
        return sqlite_refuse(
            batch, REFUSAL_UNKNOWN, "records of type %u are unknown", record->command.type);
    }
}

enum status sqlite_apply_record(
    struct sqlite_batch *batch, const struct queue_record *record, uint8_t disposition)
{
    bool reject = disposition == DISPOSE_REJECT;
    if (disposition == DISPOSE_DEAD)
        return sqlite_dead_put(batch, record);
    if (record->outcome.answer != ANSWER_WON && record->outcome.answer != ANSWER_DONE)
        return STATUS_OK; /* it changed nothing */
    if (record->command.type == COMMAND_RESERVE)
        return apply_reserve(batch, record, reject);
    if (record->command.type == COMMAND_SETTLE)
        return sqlite_order_settle(batch, record, reject);
    if (reject)
        return sqlite_refuse(batch, REFUSAL_UNKNOWN, "only a ticket can be rejected");
    if (record->command.type == COMMAND_ARRIVE && batch->store->recovering)
        return sqlite_recover_room(batch, record->command.arrive.sale);
    if (record->command.type == COMMAND_ARRIVE || record->command.type == COMMAND_ADMIT)
        return STATUS_OK; /* the line is the inventory's; orders have nothing to do with it */
    if (record->command.type == COMMAND_RECLAIM)
        return STATUS_OK; /* the inventory forgets tickets; their orders stay */
    if (record->command.type == COMMAND_ADJUST)
        return apply_adjust(batch, record);
    if (record->command.type == COMMAND_MOVE)
        return apply_move(batch, record);
    return apply_control(batch, record);
}

static enum status apply_position(struct sqlite_batch *batch)
{
    sqlite3_stmt *set;
    enum status status = sqlite_prepare(batch->store, &position_set, &set);
    if (status != STATUS_OK)
        return status;
    bind_u64(set, 1, batch->position);
    return sqlite_run(set);
}

static enum status apply_all(struct sqlite_batch *batch, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        enum status status = STATUS_OK;
        batch->index = i;
        if (records[i].lsn > batch->position) {
            status = sqlite_apply_record(batch, &records[i], dispositions[i]);
            batch->position = records[i].lsn;
            if (status == STATUS_OK)
                status = sqlite_audit_record(batch, &records[i]);
        }
        if (status != STATUS_OK)
            return status;
    }
    batch->index = UINT32_MAX;
    const enum status status = sqlite_audit_users_flush(batch);
    return status == STATUS_OK ? sqlite_stock_flush(batch) : status;
}

enum status sqlite_apply(struct order_store *handle, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count, struct refusal *refusal)
{
    struct sqlite_store *store = sqlite_of(handle);
    struct sqlite_batch batch = { .store = store, .refusal = refusal, .index = UINT32_MAX };
    uint64_t data_id;
    invariant(count <= ORDER_BATCH_MAX);
    snprintf(batch.dead_reason, sizeof batch.dead_reason, "%s",
        refusal->text[0] != '\0' ? refusal->text : "no reason given");
    *refusal = (struct refusal){ .index = UINT32_MAX, .kind = REFUSAL_NONE };
    if (count == 0)
        return STATUS_OK;
    sqlite_stock_clear(&store->stock);

    enum status status = sqlite_begin(store);
    if (status != STATUS_OK)
        goto fail;
    status = sqlite_identity(handle, &data_id, &batch.position);
    if (status == STATUS_OK)
        status = apply_all(&batch, records, dispositions, count);
    if (status == STATUS_OK)
        status = apply_position(&batch);
    if (status == STATUS_OK)
        status = sqlite_commit(store);
    if (status == STATUS_OK)
        return STATUS_OK;
fail:
    if (refusal->kind == REFUSAL_NONE) {
        snprintf(refusal->text, sizeof refusal->text, "%s", sqlite3_errmsg(store->database));
        if (status == STATUS_REFUSED)
            refusal->kind = REFUSAL_UNKNOWN;
    }
    sqlite_rollback(store);
    return status;
}
