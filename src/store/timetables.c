/* SPDX-License-Identifier: Apache-2.0 */
/* Timetables and their calendar (contract/timetable.h). The primary key of timetable_days is what makes each
 * session once: a sale is inserted only in the transaction that turns its day from planned to made. */
#include "contract/timetable.h"

#include "store/parts.h"

#include <stdio.h>

const char store_timetable_tables[] =
    "CREATE TABLE timetables("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  model INTEGER NOT NULL REFERENCES sales(id), title TEXT NOT NULL,"
    "  start_minute INTEGER NOT NULL CHECK(start_minute BETWEEN 0 AND 1439),"
    "  duration_s INTEGER NOT NULL CHECK(duration_s > 0),"
    "  weekdays INTEGER NOT NULL CHECK(weekdays BETWEEN 1 AND 127),"
    "  offset_min INTEGER NOT NULL, ahead_s INTEGER NOT NULL CHECK(ahead_s > 0),"
    "  active INTEGER NOT NULL CHECK(active IN (0, 1)), since_ms INTEGER NOT NULL"
    ") STRICT;"
    "CREATE TABLE timetable_days("
    "  timetable INTEGER NOT NULL REFERENCES timetables(id), day INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 0 AND 3),"
    "  start_minute INTEGER NOT NULL CHECK(start_minute BETWEEN 0 AND 1440),"
    "  duration_s INTEGER NOT NULL CHECK(duration_s >= 0),"
    "  sale INTEGER NOT NULL CHECK((sale <> 0) = (state = 1)),"
    "  PRIMARY KEY(timetable, day)"
    ") STRICT;";

static_assert(DAY_PLANNED == 0 && DAY_MADE == 1 && DAY_SKIPPED == 2 && DAY_MISSED == 3,
    "numbers in the database never change their meaning");
static_assert((int)MINUTE_OF_TIMETABLE == 1440, "checked above, too");

#define TIMETABLE_COLUMNS \
    "id, model, title, start_minute, duration_s, weekdays, offset_min, ahead_s, active, since_ms"

static const struct sql_columns timetable_columns = COLUMNS(timetable, FIELD(timetable, id),
    FIELD(timetable, model), FIELD(timetable, title), FIELD(timetable, start_minute),
    FIELD(timetable, duration_s), FIELD(timetable, weekdays), FIELD(timetable, offset_min),
    FIELD(timetable, ahead_s), FIELD(timetable, active), FIELD(timetable, since_ms));
static const struct sql_columns day_columns = COLUMNS(timetable_day, FIELD(timetable_day, timetable),
    FIELD(timetable_day, day), FIELD(timetable_day, state), FIELD(timetable_day, start_minute),
    FIELD(timetable_day, duration_s), FIELD(timetable_day, sale));

static enum status timetable_list(
    struct order_store *handle, struct timetable *rows, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), "SELECT " TIMETABLE_COLUMNS " FROM timetables ORDER BY id LIMIT ?1",
        VALUES(U64(max)), &timetable_columns, PAGE(rows, max, count));
}

static enum status timetable_get(struct order_store *handle, uint32_t id, struct timetable *row)
{
    return sql_one(store_of(handle), "SELECT " TIMETABLE_COLUMNS " FROM timetables WHERE id = ?1",
        VALUES(U64(id)), &timetable_columns, row);
}

static enum status timetable_insert(struct order_store *handle, struct timetable *row)
{
    uint64_t id = 0;
    const enum status status = sql_insert(store_of(handle),
        "INSERT INTO timetables(model, title, start_minute, duration_s, weekdays, offset_min,"
        " ahead_s, active, since_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING id",
        VALUES(U64(row->model), TEXT(row->title), U64(row->start_minute), U64(row->duration_s),
            U64(row->weekdays), U64((int64_t)row->offset_min), U64(row->ahead_s), U64(row->active),
            U64(row->since_ms)),
        &id);
    row->id = (uint32_t)id;
    return status;
}

static enum status timetable_update(struct order_store *handle, const struct timetable *row)
{
    return sql_do_one(store_of(handle),
        "UPDATE timetables SET model = ?2, title = ?3, start_minute = ?4, duration_s = ?5,"
        " weekdays = ?6, offset_min = ?7, ahead_s = ?8, active = ?9, since_ms = ?10 WHERE id = ?1",
        VALUES(U64(row->id), U64(row->model), TEXT(row->title), U64(row->start_minute),
            U64(row->duration_s), U64(row->weekdays), U64((int64_t)row->offset_min),
            U64(row->ahead_s), U64(row->active), U64(row->since_ms)),
        STATUS_NOT_FOUND);
}

static enum status timetable_days(struct order_store *handle, uint32_t timetable, uint32_t from,
    struct timetable_day *rows, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT timetable, day, state, start_minute, duration_s, sale FROM timetable_days"
        " WHERE timetable = ?1 AND day >= ?2 ORDER BY day LIMIT ?3",
        VALUES(U64(timetable), U64(from), U64(max)), &day_columns, PAGE(rows, max, count));
}

/* The row of the day is there, and this transaction has it. */
static enum status day_ensure(struct store *store, const struct timetable_day *day)
{
    return sql_do(store,
        "INSERT INTO timetable_days(timetable, day, state, start_minute, duration_s, sale)"
        " VALUES(?1, ?2, 0, ?3, ?4, 0) ON CONFLICT(timetable, day) DO NOTHING",
        VALUES(U64(day->timetable), U64(day->day), U64(day->start_minute), U64(day->duration_s)));
}

static enum status day_write(struct store *store, void *context)
{
    const struct timetable_day *day = context;
    const enum status status = day_ensure(store, day);
    return status != STATUS_OK
        ? status
        : sql_do_one(store,
            "UPDATE timetable_days SET state = ?3, start_minute = ?4, duration_s = ?5"
            " WHERE timetable = ?1 AND day = ?2 AND state <> 1",
            VALUES(U64(day->timetable), U64(day->day), U64(day->state), U64(day->start_minute),
                U64(day->duration_s)),
            STATUS_CONFLICT);
}

static enum status timetable_day_put(struct order_store *handle, const struct timetable_day *day)
{
    struct timetable_day wanted = *day;
    return store_transact(store_of(handle), true, day_write, &wanted);
}

struct make_work {
    struct order_store *handle;
    const struct timetable_day *day;
    struct sale *sale;
    struct item *items;
    uint32_t count;
    const struct audit_entry *entry;
};

static enum status day_sale_make(struct store *store, void *context)
{
    const struct make_work *work = context;
    const struct timetable_day *day = work->day;
    enum status status = day_ensure(store, day);
    if (status == STATUS_OK)
        status = store_sale_and_items(work->handle, work->sale, work->items, work->count);
    if (status == STATUS_OK)
        status = sql_do_one(store,
            "UPDATE timetable_days SET state = 1, sale = ?3"
            " WHERE timetable = ?1 AND day = ?2 AND state = 0",
            VALUES(U64(day->timetable), U64(day->day), U64(work->sale->id)), STATUS_CONFLICT);
    if (status == STATUS_OK) {
        struct audit_entry said = *work->entry;
        snprintf(said.detail, sizeof said.detail, "sale %u %.400s", work->sale->id, work->entry->detail);
        status = store_audit_add(store, &said);
    }
    return status;
}

static enum status timetable_day_make(struct order_store *handle, const struct timetable_day *day,
    struct sale *sale, struct item *items, uint32_t count, const struct audit_entry *entry)
{
    struct make_work work = { handle, day, sale, items, count, entry };
    return store_transact(store_of(handle), false, day_sale_make, &work);
}

const struct timetable_store_ops store_timetable_ops = {
    .list = timetable_list,
    .get = timetable_get,
    .insert = timetable_insert,
    .update = timetable_update,
    .days = timetable_days,
    .day_put = timetable_day_put,
    .day_make = timetable_day_make,
};
