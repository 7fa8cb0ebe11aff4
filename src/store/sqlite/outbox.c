/* SPDX-License-Identifier: Apache-2.0 */
/* The outbox (contract/outbox.h). outbox.kind is the state that the order got into. A row costs an
 * insert for each change of an order, so nothing is written unless somebody has turned it on. */
#include "contract/outbox.h"
#include "base/clock.h"
#include "store/sqlite/parts.h"

static_assert(OUTBOX_WAITING == 1 && OUTBOX_DELIVERED == 2 && OUTBOX_FAILED == 3,
    "numbers in the database never change their meaning");

const char sqlite_outbox_tables[] =
    "CREATE TABLE outbox("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  ticket INTEGER NOT NULL, kind INTEGER NOT NULL CHECK(kind BETWEEN 1 AND 4),"
    "  version INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 3),"
    "  tries INTEGER NOT NULL, next_ms INTEGER NOT NULL,"
    "  http_status INTEGER NOT NULL, error TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX outbox_waiting ON outbox(next_ms) WHERE state = 1;"
    "CREATE INDEX outbox_failed ON outbox(id) WHERE state = 3;";

#define COLUMNS "id, ticket, kind, version, time_ms, state, tries, next_ms, http_status, error"
static const struct sqlite_sql outbox_put = { SQL_OUTBOX_PUT,
    "INSERT INTO outbox(ticket, kind, version, time_ms, state, tries, next_ms, http_status, error)"
    " SELECT ticket, ?2, version, ?3, 1, 0, ?3, 0, '' FROM orders WHERE ticket = ?1" };
static const struct sqlite_sql outbox_due = { SQL_OUTBOX_DUE,
    "SELECT " COLUMNS
    " FROM outbox WHERE state = 1 AND next_ms <= ?1 ORDER BY next_ms, id LIMIT ?2" };
static const struct sqlite_sql outbox_next = { SQL_OUTBOX_NEXT,
    "SELECT next_ms FROM outbox WHERE state = 1 AND next_ms > ?1 ORDER BY next_ms LIMIT 1" };
static const struct sqlite_sql outbox_settle = { SQL_OUTBOX_SETTLE,
    "UPDATE outbox SET state = ?2, tries = tries + 1, next_ms = ?3, http_status = ?4, error = ?5"
    " WHERE id = ?1 AND state = 1" };
static const struct sqlite_sql outbox_list = { SQL_OUTBOX_LIST,
    "SELECT " COLUMNS
    " FROM outbox WHERE id > ?1 AND (?2 = 0 OR state = ?2) ORDER BY id LIMIT ?3" };
static const struct sqlite_sql outbox_replay = { SQL_OUTBOX_REPLAY,
    "UPDATE outbox SET state = 1, tries = 0, next_ms = ?2 WHERE id = ?1" };
static const struct sqlite_sql outbox_replay_from = { SQL_OUTBOX_REPLAY_FROM,
    "UPDATE outbox SET state = 1, tries = 0, next_ms = ?2 WHERE time_ms >= ?1 AND state <> 1" };
static const struct sqlite_sql outbox_waiting = { SQL_OUTBOX_WAITING,
    "SELECT count(*) FROM outbox WHERE state = 1" };
static const struct sqlite_sql outbox_failed = { SQL_OUTBOX_FAILED,
    "SELECT count(*) FROM outbox WHERE state = 3" };

enum status sqlite_outbox_put(struct sqlite_store *store, ticket_number ticket, enum order_state to)
{
    if (!store->outbox_on)
        return STATUS_OK;
    sqlite3_stmt *put;
    const enum status status = sqlite_prepare(store, &outbox_put, &put);
    if (status != STATUS_OK)
        return status;
    bind_u64(put, 1, ticket);
    bind_u64(put, 2, to);
    bind_u64(put, 3, clock_now_ms());
    return sqlite_run(put);
}

static void outbox_turn_on(struct order_store *handle)
{
    sqlite_of(handle)->outbox_on = true;
}

static void event_read(sqlite3_stmt *row, struct outbox_event *event)
{
    *event = (struct outbox_event){ .id = column_u64(row, 0),
        .ticket = column_u64(row, 1),
        .order_state = (uint8_t)sqlite3_column_int(row, 2),
        .version = column_u64(row, 3),
        .time_ms = column_u64(row, 4),
        .state = (uint8_t)sqlite3_column_int(row, 5),
        .tries = column_u32(row, 6),
        .next_ms = column_u64(row, 7),
        .http_status = sqlite3_column_int(row, 8) };
    column_text(row, 9, event->error, sizeof event->error);
}

static enum status events_read(
    sqlite3_stmt *rows, struct outbox_event *events, uint32_t max, uint32_t *count)
{
    enum status status = STATUS_OK;
    *count = 0;
    while (*count < max && (status = sqlite_next(rows)) == STATUS_OK)
        event_read(rows, &events[(*count)++]);
    (void)sqlite3_reset(rows);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* The first column of the first row; `none` without one. */
static enum status number_read(sqlite3_stmt *row, uint64_t none, uint64_t *value)
{
    const enum status status = sqlite_next(row);
    *value = status == STATUS_OK ? column_u64(row, 0) : none;
    (void)sqlite3_reset(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status outbox_due_read(struct order_store *handle, uint64_t now_ms,
    struct outbox_event *events, uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    sqlite3_stmt *due, *next;
    *count = 0;
    *next_ms = UINT64_MAX;
    enum status status = sqlite_prepare(sqlite_of(handle), &outbox_due, &due);
    if (status == STATUS_OK)
        status = sqlite_prepare(sqlite_of(handle), &outbox_next, &next);
    if (status != STATUS_OK)
        return status;
    bind_u64(due, 1, now_ms);
    bind_u64(due, 2, max);
    status = events_read(due, events, max, count);
    if (status != STATUS_OK)
        return status;
    bind_u64(next, 1, now_ms);
    return number_read(next, UINT64_MAX, next_ms);
}

static enum status result_write(sqlite3_stmt *update, const struct outbox_result *result)
{
    invariant(result->state > OUTBOX_ANY && result->state < OUTBOX_STATES);
    bind_u64(update, 1, result->id);
    bind_u64(update, 2, result->state);
    bind_u64(update, 3, result->state == OUTBOX_WAITING ? result->next_ms : 0);
    bind_i64(update, 4, result->http_status);
    bind_text(update, 5, result->error);
    return sqlite_run(update);
}

static enum status outbox_settle_all(
    struct order_store *handle, const struct outbox_result *results, uint32_t count)
{
    struct sqlite_store *store = sqlite_of(handle);
    sqlite3_stmt *update;
    invariant(count <= OUTBOX_SETTLE_MAX);
    enum status status = sqlite_prepare(store, &outbox_settle, &update);
    if (status == STATUS_OK)
        status = sqlite_begin(store);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        status = result_write(update, &results[i]);
    if (status == STATUS_OK)
        status = sqlite_commit(store);
    if (status != STATUS_OK)
        sqlite_rollback(store);
    return status;
}

static enum status outbox_list_read(struct order_store *handle, enum outbox_state state,
    uint64_t after, struct outbox_event *events, uint32_t max, uint32_t *count)
{
    sqlite3_stmt *list;
    *count = 0;
    const enum status status = sqlite_prepare(sqlite_of(handle), &outbox_list, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, after);
    bind_u64(list, 2, state);
    bind_u64(list, 3, max);
    return events_read(list, events, max, count);
}

static enum status replay_run(struct sqlite_store *store, const struct sqlite_sql *sql,
    uint64_t which, uint64_t now_ms, uint32_t *count)
{
    sqlite3_stmt *update;
    *count = 0;
    enum status status = sqlite_prepare(store, sql, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, which);
    bind_u64(update, 2, now_ms);
    status = sqlite_run(update);
    if (status == STATUS_OK)
        *count = sqlite_changed_rows(store);
    return status;
}

static enum status outbox_replay_one(struct order_store *handle, uint64_t id, uint64_t now_ms)
{
    uint32_t count;
    const enum status status = replay_run(sqlite_of(handle), &outbox_replay, id, now_ms, &count);
    return status == STATUS_OK && count == 0 ? STATUS_NOT_FOUND : status;
}

static enum status outbox_replay_all(
    struct order_store *handle, uint64_t from_ms, uint64_t now_ms, uint32_t *count)
{
    return replay_run(sqlite_of(handle), &outbox_replay_from, from_ms, now_ms, count);
}

static enum status outbox_count(struct order_store *handle, enum outbox_state state, uint64_t *count)
{
    sqlite3_stmt *rows;
    invariant(state == OUTBOX_WAITING || state == OUTBOX_FAILED); /* these have an index each */
    *count = 0;
    const enum status status = sqlite_prepare(
        sqlite_of(handle), state == OUTBOX_WAITING ? &outbox_waiting : &outbox_failed, &rows);
    return status == STATUS_OK ? number_read(rows, 0, count) : status;
}

const struct outbox_store_ops sqlite_outbox_ops = {
    .turn_on = outbox_turn_on,
    .due = outbox_due_read,
    .settle = outbox_settle_all,
    .list = outbox_list_read,
    .replay = outbox_replay_one,
    .replay_from = outbox_replay_all,
    .count = outbox_count,
};
