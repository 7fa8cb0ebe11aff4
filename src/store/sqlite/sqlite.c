/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, closing, and the small steps that every statement takes. */
#include "store/sqlite/sqlite.h"

#include "store/parts.h"
#include "store/restore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status sqlite_status(int result)
{
    const int code = result & 0xff;
    invariant(code != SQLITE_MISUSE && code != SQLITE_RANGE);
    switch (code) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
        return STATUS_OK;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
        return STATUS_REFUSED;
    case SQLITE_ERROR: /* our statements are right, so the tables are not: somebody changed them */
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return STATUS_CORRUPT;
    default: /* BUSY, LOCKED, FULL, IOERR, CANTOPEN, READONLY, PERM, NOMEM, …: it may come back */
        return STATUS_AWAY;
    }
}

/* Texts are told apart by their address. */
static struct sqlite_kept *kept_of(struct sqlite_kept *table, const char *sql)
{
    const uint64_t hash = (uintptr_t)sql * 0x9E3779B97F4A7C15u;
    for (uint32_t i = 0; i < SQLITE_STATEMENTS_MAX; i++) {
        struct sqlite_kept *kept = &table[((hash >> 32) + i) % SQLITE_STATEMENTS_MAX];
        if (kept->sql == sql || kept->sql == NULL)
            return kept;
    }
    invariant(!"SQLITE_STATEMENTS_MAX is below the number of texts");
}

enum status sqlite_kept_prepare(
    sqlite3 *database, struct sqlite_kept *table, const char *sql, sqlite3_stmt **statement)
{
    struct sqlite_kept *kept = kept_of(table, sql);
    *statement = NULL;
    if (__builtin_expect(kept->statement == NULL, 0)) {
        int result =
            sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &kept->statement, NULL);
        if (result != SQLITE_OK)
            return sqlite_status(result);
        kept->sql = sql;
    }
    *statement = kept->statement;
    return STATUS_OK;
}

enum status sqlite_prepare(struct store *store, const char *sql, sqlite3_stmt **statement)
{
    return sqlite_kept_prepare(store->database, store->kept, sql, statement);
}

void sqlite_kept_close(sqlite3 *database, const struct sqlite_kept *table)
{
    for (uint32_t i = 0; i < SQLITE_STATEMENTS_MAX; i++)
        (void)sqlite3_finalize(table[i].statement); /* repeats the last step's error */
    const int result = sqlite3_close(database);
    invariant(result == SQLITE_OK);
}

enum status store_next_due(struct store *store, const char *sql, uint64_t now_ms, uint64_t *next_ms)
{
    *next_ms = UINT64_MAX;
    const enum status status = sql_number(store, sql, VALUES(U64(now_ms)), next_ms);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static bool is_part(const struct store *store)
{
    return store->together || store->grouped;
}

bool store_is_lost(const struct store *store)
{
    return is_part(store) && sqlite3_get_autocommit(store->database);
}

enum status store_begin(struct store *store)
{
    const enum status status = store_group_enter(store);
    if (status != STATUS_OK)
        return status;
    return sql_do(store, is_part(store) ? "SAVEPOINT part" : "BEGIN IMMEDIATE", NO_VALUES);
}

/* A commit whose write or sync failed is rolled back, but its bytes may be in the file, and a crash
 * before the next commit could bring them back. */
enum status store_commit(struct store *store)
{
    if (is_part(store))
        return sql_do(store, "RELEASE part", NO_VALUES);
    const enum status status = sql_do(store, "COMMIT", NO_VALUES);
    const bool io = (sqlite3_errcode(store->database) & 0xff) == SQLITE_IOERR;
    return status == STATUS_AWAY && io ? STATUS_UNKNOWN : status;
}

void store_rollback(struct store *store)
{
    if (sqlite3_get_autocommit(store->database))
        return; /* SQLite has rolled back by itself (FULL, IOERR, NOMEM may) */
    /* A rollback only forgets what is in memory; what it answers changes nothing. */
    if (is_part(store)) {
        if (sql_do(store, "ROLLBACK TO part", NO_VALUES) == STATUS_OK)
            (void)!sql_do(store, "RELEASE part", NO_VALUES);
        return;
    }
    (void)!sql_do(store, "ROLLBACK", NO_VALUES);
    invariant(sqlite3_get_autocommit(store->database));
}

uint32_t store_changed_rows(struct store *store)
{
    return (uint32_t)sqlite3_changes(store->database);
}

uint64_t store_last_id(struct store *store)
{
    return (uint64_t)sqlite3_last_insert_rowid(store->database);
}

static void store_close(struct order_store *handle)
{
    if (handle == NULL)
        return;
    struct store *store = store_of(handle);
    store_look_close(store);
    sqlite_kept_close(store->database, store->kept);
    free(store->path);
    free(store->vfs);
    free(store);
}

static enum status store_sums_check(struct order_store *handle, item_id *wrong)
{
    uint64_t item = 0;
    const enum status status = sql_number(store_of(handle),
        "WITH made AS (" SUMS_OF_ORDERS " GROUP BY item, state, reason),"
        " kept AS (SELECT item, state, reason, orders, units, amount_high, amount_low FROM "
        "order_sums"
        "  WHERE orders <> 0 OR units <> 0)"
        "SELECT item FROM (SELECT * FROM (SELECT * FROM made EXCEPT SELECT * FROM kept)"
        " UNION ALL SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM made)) LIMIT 1",
        NO_VALUES, &item);
    *wrong = (item_id)item;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Pages, their lists, rows against their indexes and the tables' rules; only the first trouble. */
static enum status store_whole_check(struct order_store *handle, char *what, size_t what_bytes)
{
    struct store *store = store_of(handle);
    const enum status status = sql_text(store, "PRAGMA integrity_check(1)", NO_VALUES, what, what_bytes);
    if (status == STATUS_OK)
        return strcmp(what, "ok") == 0 ? STATUS_OK : STATUS_CORRUPT;
    snprintf(what, what_bytes, "%s", sqlite3_errmsg(store->database));
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
}

enum status sqlite_store_serve(struct order_store *handle, uint32_t cache_mib)
{
    char pragmas[160];
    snprintf(pragmas, sizeof pragmas,
        "PRAGMA cache_size = -%u; PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d",
        cache_mib * 1024, SQLITE_SERVING_CHECKPOINT_PAGES, SQLITE_SERVING_CHECKPOINT_PAGES * 4096 * 2);
    return sqlite_status(sqlite3_exec(store_of(handle)->database, pragmas, NULL, NULL, NULL));
}

static enum status store_reader_open(struct order_store *handle, struct order_store **reader);
static void store_interrupt(struct order_store *handle)
{
    sqlite3_interrupt(store_of(handle)->database);
}

static const struct order_store_ops store_ops = {
    .payment = &store_payment_ops,
    .outbox = &store_outbox_ops,
    .waitlist = &store_waitlist_ops,
    .reconcile = &store_reconcile_ops,
    .report = &store_report_ops,
    .bans = &store_bans_ops,
    .customers = &store_customer_ops,
    .restore = &store_restore_ops,
    .admin = &store_admin_ops,
    .close = store_close,
    .reader_open = store_reader_open,
    .interrupt = store_interrupt,
    .identity = store_identity,
    .identity_set = store_identity_set,
    .secret_check = store_secret_check,
    .secret_check_set = store_secret_check_set,
    .group_begin = store_group_begin,
    .group_is_open = store_group_is_open,
    .group_end = store_group_end,
    .whole_check = store_whole_check,
    .sums_check = store_sums_check,
    .apply = store_apply,
    .stock_events = store_stock_events,
    .orders_move = store_orders_move,
    .orders_due = store_orders_due,
    .order_by_ticket = store_order_by_ticket,
    .orders_list = store_orders_list,
    .dead_letters = store_dead_letters,
    .dead_letter_get = store_dead_letter_get,
    .dead_letters_open = store_dead_letters_open,
    .dead_letter_decide = store_dead_letter_decide,
    .order_totals = store_order_totals,
    .live_units = store_live_units,
    .product_insert = store_product_insert,
    .product_update = store_product_update,
    .product_get = store_product_get,
    .products = store_products,
    .sale_insert = store_sale_insert,
    .sale_insert_with_items = store_sale_insert_with_items,
    .sale_update = store_sale_update,
    .sale_beacon = store_sale_beacon,
    .sale_get = store_sale_get,
    .sales = store_sales,
    .sales_due = store_sales_due,
    .sales_tally = store_sales_tally,
    .item_insert = store_item_insert,
    .item_update = store_item_update,
    .item_remove = store_item_remove,
    .eligible_users = store_eligible_users,
    .item_get = store_item_get,
    .items = store_items,
    .audit_append = store_audit_append,
    .audit_list = store_audit_list,
    .audit_verify = store_audit_verify,
};

/* Counting what is allocated costs a lock for each piece. Too late once the library runs: no harm. */
void sqlite_library_start(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* With an open connection. NULL: *status says why, and everything is closed again. */
static struct store *store_make(const char *path, const char *vfs, int flags, enum status *status,
    char *error, size_t error_bytes)
{
    *status = STATUS_AWAY;
    snprintf(error, error_bytes, "out of memory");
    sqlite_library_start();
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->store.ops = &store_ops;
    store->path = strdup(path);
    store->vfs = vfs == NULL ? NULL : strdup(vfs);
    if (store->path == NULL || (vfs != NULL && store->vfs == NULL)) {
        store_close(&store->store);
        return NULL;
    }
    const int result = sqlite3_open_v2(
        path, &store->database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
    if (result != SQLITE_OK) {
        snprintf(error, error_bytes, "%s: %s", path, sqlite3_errmsg(store->database));
        store_close(&store->store);
        *status = result == SQLITE_ERROR ? STATUS_BAD_INPUT : sqlite_status(result);
        return NULL;
    }
    *status = STATUS_OK;
    return store;
}

enum status sqlite_store_open(
    struct order_store **handle, const char *path, const char *vfs, char *error, size_t error_bytes)
{
    enum status status;
    *handle = NULL;
    struct store *store =
        store_make(path, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &status, error, error_bytes);
    if (store == NULL)
        return status;
    status = sqlite_schema_open(store, error, error_bytes);
    if (status != STATUS_OK) {
        store_close(&store->store);
        return status;
    }
    if (error_bytes > 0)
        error[0] = '\0';
    *handle = &store->store;
    return STATUS_OK;
}

static enum status store_reader_open(struct order_store *handle, struct order_store **reader)
{
    const struct store *writer = store_of(handle);
    char error[256], cache[64];
    enum status status;
    *reader = NULL;
    struct store *store =
        store_make(writer->path, writer->vfs, SQLITE_OPEN_READONLY, &status, error, sizeof error);
    if (store == NULL)
        return status;
    snprintf(cache, sizeof cache, "PRAGMA cache_size = -%d", SQLITE_READER_CACHE_KIB);
    status = sqlite_status(sqlite3_exec(store->database, cache, NULL, NULL, NULL));
    if (status != STATUS_OK) {
        store_close(&store->store);
        return status;
    }
    (void)sqlite3_busy_timeout(store->database, SQLITE_READER_BUSY_MS);
    memcpy(store->channel_names, writer->channel_names, sizeof store->channel_names);
    *reader = &store->store;
    return STATUS_OK;
}
