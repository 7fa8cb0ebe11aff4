/* SPDX-License-Identifier: Apache-2.0 */
/* The outbox (contract/outbox.h). outbox.kind is the state that the order got into. A row costs an
 * insert for each change of an order, so nothing is written unless somebody has turned it on. */
#include "contract/outbox.h"
#include "base/clock.h"
#include "store/parts.h"

static_assert(OUTBOX_WAITING == 1 && OUTBOX_DELIVERED == 2 && OUTBOX_FAILED == 3,
    "numbers in the database never change their meaning");

const char store_outbox_tables[] =
    "CREATE TABLE outbox("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  ticket INTEGER NOT NULL, kind INTEGER NOT NULL CHECK(kind BETWEEN 1 AND 4),"
    "  version INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 3),"
    "  tries INTEGER NOT NULL, next_ms INTEGER NOT NULL,"
    "  http_status INTEGER NOT NULL, error TEXT NOT NULL,"
    "  tried_ms INTEGER NOT NULL DEFAULT 0,"
    "  topic INTEGER NOT NULL DEFAULT 0,"
    "  subject INTEGER NOT NULL DEFAULT 0"
    ") STRICT;"
    "CREATE INDEX outbox_waiting ON outbox(next_ms){state, next_ms} WHERE state = 1;"
    "CREATE INDEX outbox_failed ON outbox(id){state, id} WHERE state = 3;"
    "CREATE INDEX outbox_of_order ON outbox(ticket);";

#define OUTBOX_COLUMNS \
    "id, ticket, kind, version, time_ms, state, tries, next_ms, http_status, error, tried_ms," \
    " topic, subject"
static const char outbox_waiting[] = "SELECT count(*) FROM outbox WHERE state = 1";
static const char outbox_failed[] = "SELECT count(*) FROM outbox WHERE state = 3";

enum status store_outbox_put(
    struct store *store, ticket_number ticket, uint64_t version, enum order_state to)
{
    if (!store->outbox_on)
        return STATUS_OK;
    return sql_do(store,
        "INSERT INTO outbox(ticket, kind, version, time_ms, state, tries, next_ms, http_status,"
        " error) VALUES(?1, ?2, ?4, ?3, 1, 0, ?3, 0, '')",
        VALUES(U64(ticket), U64(to), U64(clock_now_ms()), U64(version)));
}

enum status store_order_news(
    struct store *store, struct order *order, enum outbox_topic topic, uint64_t subject)
{
    const enum status status =
        sql_do_one(store, "UPDATE orders SET version = version + 1 WHERE ticket = ?1",
            VALUES(U64(order->ticket)), STATUS_CORRUPT);
    order->version++;
    if (status != STATUS_OK || !store->outbox_on)
        return status;
    return sql_do(store,
        "INSERT INTO outbox(ticket, kind, version, time_ms, state, tries, next_ms, http_status,"
        " error, topic, subject) VALUES(?1, ?2, ?4, ?3, 1, 0, ?3, 0, '', ?5, ?6)",
        VALUES(U64(order->ticket), U64(order->state), U64(clock_now_ms()), U64(order->version),
            U64(topic), U64(subject)));
}

static void outbox_turn_on(struct order_store *handle)
{
    store_of(handle)->outbox_on = true;
}

static const struct sql_columns event_columns = COLUMNS(outbox_event, FIELD(outbox_event, id),
    FIELD(outbox_event, ticket), FIELD(outbox_event, order_state), FIELD(outbox_event, version),
    FIELD(outbox_event, time_ms), FIELD(outbox_event, state), FIELD(outbox_event, tries),
    FIELD(outbox_event, next_ms), FIELD(outbox_event, http_status), FIELD(outbox_event, error),
    FIELD(outbox_event, tried_ms), FIELD(outbox_event, topic), FIELD(outbox_event, subject));

static enum status outbox_due_read(struct order_store *handle, uint64_t now_ms,
    struct outbox_event *events, uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    struct store *store = store_of(handle);
    *next_ms = UINT64_MAX;
    const enum status status = sql_rows(store,
        "SELECT " OUTBOX_COLUMNS
        " FROM outbox WHERE state = 1 AND next_ms <= ?1 ORDER BY next_ms, id LIMIT ?2",
        VALUES(U64(now_ms), U64(max)), &event_columns, PAGE(events, max, count));
    if (status != STATUS_OK)
        return status;
    return store_next_due(store,
        "SELECT next_ms FROM outbox WHERE state = 1 AND next_ms > ?1 ORDER BY next_ms LIMIT 1",
        now_ms, next_ms);
}

static enum status result_write(struct store *store, const void *rows, uint32_t index, uint64_t tried_ms)
{
    const struct outbox_result *result = (const struct outbox_result *)rows + index;
    invariant(result->state > OUTBOX_ANY && result->state < OUTBOX_STATES);
    return sql_do(store,
        "UPDATE outbox SET state = ?2, tries = tries + 1, next_ms = ?3, http_status = ?4, error"
        " = ?5, tried_ms = ?6 WHERE id = ?1 AND state = 1",
        VALUES(U64(result->id), U64(result->state),
            U64(result->state == OUTBOX_WAITING ? result->next_ms : 0),
            U64((int64_t)result->http_status), TEXT(result->error), U64(tried_ms)));
}

static enum status outbox_settle_all(
    struct order_store *handle, const struct outbox_result *results, uint32_t count)
{
    invariant(count <= OUTBOX_SETTLE_MAX);
    return store_rows_write(store_of(handle), result_write, results, count, clock_now_ms());
}

static enum status outbox_list_read(struct order_store *handle, enum outbox_state state,
    ticket_number ticket, uint64_t after, struct outbox_event *events, uint32_t max, uint32_t *count)
{
    if (ticket != 0)
        return sql_rows(store_of(handle),
            "SELECT " OUTBOX_COLUMNS " FROM outbox"
            " WHERE ticket = ?4 AND id > ?1 AND (?2 = 0 OR state = ?2) ORDER BY id LIMIT ?3",
            VALUES(U64(after), U64(state), U64(max), U64(ticket)), &event_columns,
            PAGE(events, max, count));
    return sql_rows(store_of(handle),
        "SELECT " OUTBOX_COLUMNS
        " FROM outbox WHERE id > ?1 AND (?2 = 0 OR state = ?2) ORDER BY id LIMIT ?3",
        VALUES(U64(after), U64(state), U64(max)), &event_columns, PAGE(events, max, count));
}

static enum status outbox_replay_one(struct order_store *handle, uint64_t id, uint64_t now_ms)
{
    return sql_do_one(store_of(handle),
        "UPDATE outbox SET state = 1, tries = 0, next_ms = ?2 WHERE id = ?1",
        VALUES(U64(id), U64(now_ms)), STATUS_NOT_FOUND);
}

static enum status outbox_replay_all(
    struct order_store *handle, uint64_t from_ms, uint64_t now_ms, uint32_t *count)
{
    struct store *store = store_of(handle);
    const enum status status = sql_do(store,
        "UPDATE outbox SET state = 1, tries = 0, next_ms = ?2 WHERE time_ms >= ?1 AND state <> 1",
        VALUES(U64(from_ms), U64(now_ms)));
    *count = status == STATUS_OK ? sql_matched(store) : 0;
    return status;
}

static enum status outbox_count(struct order_store *handle, enum outbox_state state, uint64_t *count)
{
    invariant(state == OUTBOX_WAITING || state == OUTBOX_FAILED); /* these have an index each */
    *count = 0;
    return sql_number(store_of(handle), state == OUTBOX_WAITING ? outbox_waiting : outbox_failed,
        NO_VALUES, count);
}

const struct outbox_store_ops store_outbox_ops = {
    .turn_on = outbox_turn_on,
    .due = outbox_due_read,
    .settle = outbox_settle_all,
    .list = outbox_list_read,
    .replay = outbox_replay_one,
    .replay_from = outbox_replay_all,
    .count = outbox_count,
};
