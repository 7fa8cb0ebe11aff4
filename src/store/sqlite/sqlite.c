/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, closing, and the small steps that every statement takes. */
#include "store/sqlite/sqlite.h"

#include "store/sqlite/parts.h"
#include "store/sqlite/restore.h"

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

enum status sqlite_prepare(struct sqlite_store *store, const char *sql, sqlite3_stmt **statement)
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

enum status sqlite_next_due(struct sqlite_store *store, const char *sql, uint64_t now_ms, uint64_t *next_ms)
{
    *next_ms = UINT64_MAX;
    const enum status status = sqlite_number(store, sql, VALUES(U64(now_ms)), next_ms);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static bool is_part(const struct sqlite_store *store)
{
    return store->together || store->grouped;
}

bool sqlite_is_lost(const struct sqlite_store *store)
{
    return is_part(store) && sqlite3_get_autocommit(store->database);
}

enum status sqlite_begin(struct sqlite_store *store)
{
    const enum status status = sqlite_group_enter(store);
    if (status != STATUS_OK)
        return status;
    return sqlite_do(store, is_part(store) ? "SAVEPOINT part" : "BEGIN IMMEDIATE", NO_VALUES);
}

/* A commit whose write or sync failed is rolled back, but its bytes may be in the file, and a crash
 * before the next commit could bring them back. */
enum status sqlite_commit(struct sqlite_store *store)
{
    if (is_part(store))
        return sqlite_do(store, "RELEASE part", NO_VALUES);
    const enum status status = sqlite_do(store, "COMMIT", NO_VALUES);
    const bool io = (sqlite3_errcode(store->database) & 0xff) == SQLITE_IOERR;
    return status == STATUS_AWAY && io ? STATUS_UNKNOWN : status;
}

void sqlite_rollback(struct sqlite_store *store)
{
    if (sqlite3_get_autocommit(store->database))
        return; /* SQLite has rolled back by itself (FULL, IOERR, NOMEM may) */
    /* A rollback only forgets what is in memory; what it answers changes nothing. */
    if (is_part(store)) {
        if (sqlite_do(store, "ROLLBACK TO part", NO_VALUES) == STATUS_OK)
            (void)!sqlite_do(store, "RELEASE part", NO_VALUES);
        return;
    }
    (void)!sqlite_do(store, "ROLLBACK", NO_VALUES);
    invariant(sqlite3_get_autocommit(store->database));
}

uint32_t sqlite_changed_rows(struct sqlite_store *store)
{
    return (uint32_t)sqlite3_changes(store->database);
}

uint64_t sqlite_last_id(struct sqlite_store *store)
{
    return (uint64_t)sqlite3_last_insert_rowid(store->database);
}

static void sqlite_close(struct order_store *handle)
{
    if (handle == NULL)
        return;
    struct sqlite_store *store = sqlite_of(handle);
    sqlite_look_close(store);
    sqlite_kept_close(store->database, store->kept);
    free(store->path);
    free(store->vfs);
    free(store);
}

static enum status sqlite_sums_check(struct order_store *handle, item_id *wrong)
{
    uint64_t item = 0;
    const enum status status = sqlite_number(sqlite_of(handle),
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
static enum status sqlite_whole_check(struct order_store *handle, char *what, size_t what_bytes)
{
    struct sqlite_store *store = sqlite_of(handle);
    const enum status status =
        sqlite_text(store, "PRAGMA integrity_check(1)", NO_VALUES, what, what_bytes);
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
    return sqlite_status(sqlite3_exec(sqlite_of(handle)->database, pragmas, NULL, NULL, NULL));
}

static enum status sqlite_reader_open(struct order_store *handle, struct order_store **reader);
static void sqlite_interrupt(struct order_store *handle)
{
    sqlite3_interrupt(sqlite_of(handle)->database);
}

static const struct order_store_ops sqlite_ops = {
    .payment = &sqlite_payment_ops,
    .outbox = &sqlite_outbox_ops,
    .waitlist = &sqlite_waitlist_ops,
    .reconcile = &sqlite_reconcile_ops,
    .report = &sqlite_report_ops,
    .bans = &sqlite_bans_ops,
    .customers = &sqlite_customer_ops,
    .restore = &sqlite_restore_ops,
    .admin = &sqlite_admin_ops,
    .close = sqlite_close,
    .reader_open = sqlite_reader_open,
    .interrupt = sqlite_interrupt,
    .identity = sqlite_identity,
    .identity_set = sqlite_identity_set,
    .secret_check = sqlite_secret_check,
    .secret_check_set = sqlite_secret_check_set,
    .group_begin = sqlite_group_begin,
    .group_is_open = sqlite_group_is_open,
    .group_end = sqlite_group_end,
    .whole_check = sqlite_whole_check,
    .sums_check = sqlite_sums_check,
    .apply = sqlite_apply,
    .stock_events = sqlite_stock_events,
    .orders_move = sqlite_orders_move,
    .orders_due = sqlite_orders_due,
    .order_by_ticket = sqlite_order_by_ticket,
    .orders_list = sqlite_orders_list,
    .dead_letters = sqlite_dead_letters,
    .dead_letter_get = sqlite_dead_letter_get,
    .dead_letters_open = sqlite_dead_letters_open,
    .dead_letter_decide = sqlite_dead_letter_decide,
    .order_totals = sqlite_order_totals,
    .live_units = sqlite_live_units,
    .product_insert = sqlite_product_insert,
    .product_update = sqlite_product_update,
    .product_get = sqlite_product_get,
    .products = sqlite_products,
    .sale_insert = sqlite_sale_insert,
    .sale_insert_with_items = sqlite_sale_insert_with_items,
    .sale_update = sqlite_sale_update,
    .sale_beacon = sqlite_sale_beacon,
    .sale_get = sqlite_sale_get,
    .sales = sqlite_sales,
    .sales_due = sqlite_sales_due,
    .sales_tally = sqlite_sales_tally,
    .item_insert = sqlite_item_insert,
    .item_update = sqlite_item_update,
    .item_remove = sqlite_item_remove,
    .eligible_users = sqlite_eligible_users,
    .item_get = sqlite_item_get,
    .items = sqlite_items,
    .audit_append = sqlite_audit_append,
    .audit_list = sqlite_audit_list,
    .audit_verify = sqlite_audit_verify,
};

/* Counting what is allocated costs a lock for each piece. Too late once the library runs: no harm. */
void sqlite_library_start(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* With an open connection. NULL: *status says why, and everything is closed again. */
static struct sqlite_store *store_make(const char *path, const char *vfs, int flags,
    enum status *status, char *error, size_t error_bytes)
{
    *status = STATUS_AWAY;
    snprintf(error, error_bytes, "out of memory");
    sqlite_library_start();
    struct sqlite_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->store.ops = &sqlite_ops;
    store->path = strdup(path);
    store->vfs = vfs == NULL ? NULL : strdup(vfs);
    if (store->path == NULL || (vfs != NULL && store->vfs == NULL)) {
        sqlite_close(&store->store);
        return NULL;
    }
    const int result = sqlite3_open_v2(
        path, &store->database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
    if (result != SQLITE_OK) {
        snprintf(error, error_bytes, "%s: %s", path, sqlite3_errmsg(store->database));
        sqlite_close(&store->store);
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
    struct sqlite_store *store =
        store_make(path, vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &status, error, error_bytes);
    if (store == NULL)
        return status;
    status = sqlite_schema_open(store, error, error_bytes);
    if (status != STATUS_OK) {
        sqlite_close(&store->store);
        return status;
    }
    if (error_bytes > 0)
        error[0] = '\0';
    *handle = &store->store;
    return STATUS_OK;
}

static enum status sqlite_reader_open(struct order_store *handle, struct order_store **reader)
{
    const struct sqlite_store *writer = sqlite_of(handle);
    char error[256], cache[64];
    enum status status;
    *reader = NULL;
    struct sqlite_store *store =
        store_make(writer->path, writer->vfs, SQLITE_OPEN_READONLY, &status, error, sizeof error);
    if (store == NULL)
        return status;
    snprintf(cache, sizeof cache, "PRAGMA cache_size = -%d", SQLITE_READER_CACHE_KIB);
    status = sqlite_status(sqlite3_exec(store->database, cache, NULL, NULL, NULL));
    if (status != STATUS_OK) {
        sqlite_close(&store->store);
        return status;
    }
    (void)sqlite3_busy_timeout(store->database, SQLITE_READER_BUSY_MS);
    memcpy(store->channel_names, writer->channel_names, sizeof store->channel_names);
    *reader = &store->store;
    return STATUS_OK;
}
