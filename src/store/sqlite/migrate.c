/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/migrate.c: brings the database of an earlier version to the present schema.
 *
 * DESIGN. One step per schema version; a step is a list of statements that lead from one version
 * to the next. All steps that are needed run in one transaction, which also sets the version, so a
 * database that was killed in between still has its old version and is migrated from the start
 * again. Before that the whole database is copied to `<path>.schema-<old version>`; the copy stays
 * until somebody removes it. The steps up to STORE_SCHEMA_FIRST stand here, since only SQLite has had
 * those versions; later ones are for all databases, in store/tables.c (store/schema.h says how one is
 * added). Texts of steps never change. The CREATE statements of a new database say the same, and
 * migrate_test.c compares both. */
#include "store/forms.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

/* Texts of several pieces; each has the number of its step. */
static const char admin_requests_6[] =
    "CREATE TABLE admin_requests(key INTEGER PRIMARY KEY, request INTEGER NOT NULL,"
    " time_ms INTEGER NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL) STRICT";
static const char customers_6[] =
    "CREATE TABLE customers(user INTEGER PRIMARY KEY, sealed BLOB NOT NULL,"
    " first_ms INTEGER NOT NULL) STRICT";
static const char order_sums_7[] =
    "CREATE TABLE order_sums(item INTEGER NOT NULL REFERENCES items(id), state INTEGER NOT NULL,"
    " reason INTEGER NOT NULL, orders INTEGER NOT NULL, units INTEGER NOT NULL,"
    " amount_high INTEGER NOT NULL, amount_low INTEGER NOT NULL, PRIMARY KEY(item, state, reason))"
    " STRICT, WITHOUT ROWID";
static const char order_sums_fill_7[] =
    "INSERT INTO order_sums SELECT item, state, reason, count(*), sum(quantity), sum(amount >> 32),"
    " sum(amount & 4294967295) FROM orders GROUP BY item, state, reason";
static const char buyers_listed_8[] =
    "ALTER TABLE items ADD COLUMN buyers_listed INTEGER NOT NULL DEFAULT 0"
    " CHECK(buyers_listed IN (0, 1))";
static const char buyer_items_8[] =
    "CREATE TABLE buyer_items(user_id INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY "
    "KEY(user_id, item))"
    " STRICT, WITHOUT ROWID";
static const char payments_due_8[] =
    "CREATE INDEX payments_due ON payments((CASE WHEN state < 3 AND pay_by_ms < next_ms THEN "
    "pay_by_ms ELSE next_ms END))"
    " WHERE (state < 4 OR used_for = 2)";

/* From schema 5, the first one that shops have. */
/* clang-format off */
static const char *const step_6[] = {
    "ALTER TABLE sales ADD COLUMN terms_lsn INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX payments_unanswered ON payments(next_ms) WHERE (state = 5 AND next_ms > 0)",
    "ALTER TABLE sales ADD COLUMN cooldown_s INTEGER NOT NULL DEFAULT 0 CHECK(cooldown_s >= 0)",
    "ALTER TABLE sales ADD COLUMN return_draw_ms INTEGER NOT NULL DEFAULT 0 CHECK(return_draw_ms >= 0)",
    "ALTER TABLE sales ADD COLUMN start_draw_ms INTEGER NOT NULL DEFAULT 0 CHECK(start_draw_ms >= 0)",
    "ALTER TABLE payments ADD COLUMN late_before INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE payments ADD COLUMN stated_ms INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE refunds ADD COLUMN stated_ms INTEGER NOT NULL DEFAULT 0",
    "UPDATE payments SET late_before = 1 WHERE use = 2",
    "ALTER TABLE sales ADD COLUMN archived INTEGER NOT NULL DEFAULT 0 CHECK(archived IN (0, 1))",
    "ALTER TABLE bans ADD COLUMN sessions_ms INTEGER NOT NULL DEFAULT 0 CHECK(sessions_ms >= 0)",
    "CREATE INDEX bans_of_sessions ON bans(sessions_ms) WHERE (lifted_ms = 0 AND sessions_ms > 0)",
    "ALTER TABLE payments ADD COLUMN searched INTEGER NOT NULL DEFAULT 0",
    admin_requests_6,
    "CREATE INDEX admin_requests_by_time ON admin_requests(time_ms)",
    "ALTER TABLE items ADD COLUMN terms_lsn INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE queue_position ADD COLUMN secret_check INTEGER NOT NULL DEFAULT 0",
    customers_6,
    "CREATE INDEX waitlist_by_ticket ON waitlist(ticket) WHERE state = 2",
    NULL,
};
/* clang-format on */

static const char *const step_7[] = {
    order_sums_7,
    order_sums_fill_7,
    "ALTER TABLE outbox ADD COLUMN tried_ms INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX outbox_of_order ON outbox(ticket)",
    "CREATE INDEX bans_of_user ON bans(user, until_ms) WHERE (lifted_ms = 0 AND user IS NOT NULL)",
    "CREATE INDEX bans_of_block ON bans(block, until_ms) WHERE (lifted_ms = 0 AND block IS NOT "
    "NULL)",
    "CREATE INDEX sales_not_ended ON sales(end_ms, id, start_ms, gate, preheat_at_ms) WHERE gate "
    "<> 3",
    NULL,
};

/* No column is named by a word of SQL, and lines of the waitlist are counted by the store itself. */
static const char *const step_8[] = {
    "DROP TRIGGER waitlist_joined",
    "DROP TRIGGER waitlist_gone",
    "ALTER TABLE bans RENAME COLUMN user TO user_id",
    "ALTER TABLE customers RENAME COLUMN user TO user_id",
    "ALTER TABLE dead_letters RENAME COLUMN user TO user_id",
    "ALTER TABLE eligible_users RENAME COLUMN user TO user_id",
    "ALTER TABLE orders RENAME COLUMN user TO user_id",
    "ALTER TABLE user_counters RENAME COLUMN user TO user_id",
    "ALTER TABLE waitlist RENAME COLUMN user TO user_id",
    "ALTER TABLE bans RENAME COLUMN by TO banned_by",
    "ALTER TABLE admin_requests RENAME COLUMN key TO request_key",
    "ALTER TABLE refunds RENAME COLUMN key TO refund_key",
    "ALTER TABLE payments RENAME COLUMN use TO used_for",
    "ALTER TABLE sale_counts RENAME COLUMN count TO tally",
    "ALTER TABLE queue_position RENAME COLUMN position TO lsn",
    "ALTER TABLE dead_letters RENAME COLUMN type TO record_type",
    buyers_listed_8,
    buyer_items_8,
    "CREATE INDEX items_unlisted ON items(id) WHERE buyers_listed = 0",
    "DROP INDEX payments_due",
    payments_due_8,
    NULL,
};

/* In the order of versions. Later ones are those of all databases: store_steps. */
static const char *const *const steps[] = { step_6, step_7, step_8 };
static_assert(SQLITE_SCHEMA_FIRST + sizeof steps / sizeof *steps == STORE_SCHEMA_FIRST,
    "a schema version has a step that leads to it");

static const char *const *step_from(int64_t version)
{
    return version < STORE_SCHEMA_FIRST ? steps[version - SQLITE_SCHEMA_FIRST]
                                        : store_steps[version - STORE_SCHEMA_FIRST];
}

/* What follows a step of all databases: the key of orders begins with item and lot here (store/lots.h), and
 * SQLite changes no key. */
static const char orders_20[] =
    "CREATE TABLE orders_20(ticket INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES items(id),"
    " user_id INTEGER NOT NULL, slot INTEGER, quantity INTEGER NOT NULL CHECK(quantity > 0),"
    " channel INTEGER NOT NULL, state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 4),"
    " reason INTEGER NOT NULL CHECK((reason <> 0) = (state = 3)), unit_price INTEGER NOT NULL,"
    " amount INTEGER NOT NULL CHECK(amount = quantity * unit_price), created_ms INTEGER NOT NULL,"
    " pay_by_ms INTEGER NOT NULL, version INTEGER NOT NULL,"
    " extended INTEGER NOT NULL DEFAULT 0 CHECK(extended IN (0, 1)),"
    " ending INTEGER NOT NULL DEFAULT 0, limited INTEGER NOT NULL DEFAULT 0,"
    " lot INTEGER NOT NULL DEFAULT 0, CHECK((slot IS NULL) = (state > 2)),"
    " UNIQUE(item, lot, user_id, slot)) STRICT";
static const char orders_fill_20[] =
    "INSERT INTO orders_20(ticket, item, user_id, slot, quantity, channel, state, reason,"
    " unit_price, amount, created_ms, pay_by_ms, version, extended, ending, limited, lot)"
    " SELECT ticket, item, user_id, slot, quantity, channel, state, reason, unit_price, amount,"
    " created_ms, pay_by_ms, version, extended, ending, limited, lot FROM orders ORDER BY ticket";
static const char *const step_20_more[] = {
    orders_20,
    orders_fill_20,
    "DROP TABLE orders",
    "ALTER TABLE orders_20 RENAME TO orders",
    "CREATE INDEX orders_pending ON orders(pay_by_ms, created_ms) WHERE state = 1",
    "CREATE INDEX orders_by_time ON orders(created_ms)",
    NULL,
};

static enum status migrate_failed(sqlite3 *database, int result, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "migration: %s", sqlite3_errmsg(database));
    return sqlite_status(result);
}

static int number_read(sqlite3 *database, const char *sql, int64_t *value)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return result == SQLITE_ROW ? SQLITE_OK : result;
}

/* A copy that was begun before a crash is overwritten. */
static enum status copy_make(
    sqlite3 *database, const char *path, const char *vfs, char *error, size_t error_bytes)
{
    sqlite3 *copy = NULL;
    int result = sqlite3_open_v2(
        path, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE, vfs);
    if (result == SQLITE_OK)
        result = sqlite3_exec(copy, "PRAGMA synchronous = EXTRA", NULL, NULL, NULL);
    if (result == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(copy, "main", database, "main");
        if (backup != NULL) {
            (void)sqlite3_backup_step(backup, -1);
            result = sqlite3_backup_finish(backup); /* repeats the step's error */
        } else {
            result = sqlite3_errcode(copy);
        }
    }
    if (result != SQLITE_OK)
        snprintf(error, error_bytes, "the copy %s can't be written: %s", path, sqlite3_errmsg(copy));
    (void)sqlite3_close(copy);
    return sqlite_status(result);
}

/* The brackets of the CHECK of a column, and what stands in them; SPAN_NONE: it has none. */
static struct span check_find(const char *table_text, struct span column)
{
    char start[80];
    snprintf(start, sizeof start, " %.*s INTEGER", (int)column.size, column.data);
    const char *at = strstr(table_text, start), *const end = at == NULL ? NULL : strchr(at, ',');
    at = at == NULL ? NULL : strstr(at, "CHECK(");
    if (at == NULL || (end != NULL && at > end))
        return SPAN_NONE;
    struct span found = span_of(at + strlen("CHECK"), 0);
    for (int depth = 0; found.data[found.size] != '\0' && (found.size == 0 || depth > 0); found.size++)
        depth += (found.data[found.size] == '(') - (found.data[found.size] == ')');
    return found;
}

/* The table's text with the condition in the place of the old one; NULL: there is none, or no memory. */
static char *check_changed(const char *table_text, const struct check_change *change)
{
    const struct span old = check_find(table_text, change->column);
    if (old.size == 0)
        return NULL;
    return sqlite3_mprintf("%.*s%.*s%s", (int)(old.data - table_text), table_text,
        (int)change->condition.size, change->condition.data, old.data + old.size);
}

/* Form 8 of store/driver.h: a CHECK stands in the text of its table and nowhere else, so SQLite lets that
 * text be changed. */
static int check_change_make(sqlite3 *database, const struct check_change *change)
{
    sqlite3_stmt *read = NULL;
    char *text = NULL, *table = sqlite3_mprintf("%.*s", (int)change->table.size, change->table.data);
    int result = sqlite3_prepare_v2(database,
        "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1", -1, &read, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_bind_text(read, 1, table, -1, SQLITE_STATIC);
    if (result == SQLITE_OK && sqlite3_step(read) == SQLITE_ROW)
        text = check_changed((const char *)sqlite3_column_text(read, 0), change);
    (void)sqlite3_finalize(read);
    char *const sql = text == NULL
        ? NULL
        : sqlite3_mprintf("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = %Q"
                          " WHERE type = 'table' AND name = %Q; PRAGMA writable_schema = RESET",
            text, table);
    if (result == SQLITE_OK)
        result = sql == NULL ? SQLITE_CORRUPT : sqlite3_exec(database, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    sqlite3_free(text);
    sqlite3_free(table);
    return result;
}

static int step_run(sqlite3 *database, const char *const *step)
{
    int result = SQLITE_OK;
    for (; *step != NULL && result == SQLITE_OK; step++) {
        struct check_change change;
        result = check_change_read(span_from_string(*step), &change)
            ? check_change_make(database, &change)
            : sqlite_script_run(database, *step);
    }
    return result;
}

/* Keys are not checked while a table is made anew, so all of them are at the end. */
static int keys_check(sqlite3 *database)
{
    int64_t row;
    const int result = number_read(database, "SELECT 1 FROM pragma_foreign_key_check LIMIT 1", &row);
    return result == SQLITE_DONE ? SQLITE_OK : result == SQLITE_OK ? SQLITE_CONSTRAINT : result;
}

static int steps_run(sqlite3 *database, int64_t version)
{
    char stamp[64];
    int result = sqlite3_exec(database, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    for (; version < SQLITE_SCHEMA_VERSION && result == SQLITE_OK; version++) {
        result = step_run(database, step_from(version));
        if (version == 19 && result == SQLITE_OK)
            result = step_run(database, step_20_more);
    }
    if (result == SQLITE_OK)
        result = keys_check(database);
    snprintf(stamp, sizeof stamp, "PRAGMA user_version = %d", SQLITE_SCHEMA_VERSION);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database, stamp, NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(database, "COMMIT", NULL, NULL, NULL);
    return result;
}

static enum status database_migrate(
    sqlite3 *database, const char *path, const char *vfs, char *error, size_t error_bytes)
{
    int64_t application = 0, version = 0;
    int result = sqlite3_exec(database,
        "PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -65536", NULL,
        NULL, NULL);
    if (result == SQLITE_OK)
        result = number_read(database, "PRAGMA application_id", &application);
    if (result == SQLITE_OK)
        result = number_read(database, "PRAGMA user_version", &version);
    if (result != SQLITE_OK)
        return migrate_failed(database, result, error, error_bytes);
    if (application != SQLITE_APPLICATION_ID || version < SQLITE_SCHEMA_FIRST
        || version >= SQLITE_SCHEMA_VERSION)
        return STATUS_OK; /* nothing to do; opening refuses what is not ours */
    char copy[4096];
    snprintf(copy, sizeof copy, "%s.schema-%lld", path, (long long)version);
    log_info("store", "migrating the database from schema %lld to %d; copying it to %s first",
        (long long)version, SQLITE_SCHEMA_VERSION, copy);
    const enum status status = copy_make(database, copy, vfs, error, error_bytes);
    if (status != STATUS_OK)
        return status;
    result = steps_run(database, version);
    if (result != SQLITE_OK)
        return migrate_failed(database, result, error, error_bytes); /* closing rolls back */
    log_info("store", "the database now has schema %d", SQLITE_SCHEMA_VERSION);
    return STATUS_OK;
}

enum status sqlite_store_migrate(const char *path, const char *vfs, char *error, size_t error_bytes)
{
    sqlite3 *database = NULL;
    error[0] = '\0';
    sqlite_library_start();
    int result = sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, vfs);
    enum status status = STATUS_OK; /* no database yet: opening makes one */
    if (result == SQLITE_OK)
        status = database_migrate(database, path, vfs, error, error_bytes);
    else if ((result & 0xff) != SQLITE_CANTOPEN)
        status = migrate_failed(database, result, error, error_bytes);
    (void)sqlite3_close(database);
    return status;
}
