/* SPDX-License-Identifier: Apache-2.0 */
/* The shop's names for users (contract/customers.h), and whether an order was an offer. */
#include "contract/customers.h"
#include "store/sqlite/parts.h"

const char sqlite_customers_tables[] =
    "CREATE TABLE customers("
    "  user INTEGER PRIMARY KEY,"
    "  sealed BLOB NOT NULL, first_ms INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX waitlist_by_ticket ON waitlist(ticket) WHERE state = 2;";

/* clang-format off */
static const struct sqlite_sql customer_put = { SQL_CUSTOMER_PUT,
    "INSERT INTO customers(user, sealed, first_ms) VALUES(?1, ?2, ?3)"
    " ON CONFLICT(user) DO NOTHING" };
/* clang-format on */
static const struct sqlite_sql customer_get = { SQL_CUSTOMER_GET,
    "SELECT sealed FROM customers WHERE user = ?1" };
static const struct sqlite_sql offered = { SQL_WAS_OFFERED,
    "SELECT 1 FROM waitlist WHERE state = 2 AND ticket = ?1" };

static enum status rows_put(
    struct sqlite_store *store, const struct customer *customers, uint32_t count, uint64_t now_ms)
{
    sqlite3_stmt *put;
    enum status status = sqlite_prepare(store, &customer_put, &put);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        bind_u64(put, 1, customers[i].user);
        (void)sqlite3_bind_blob(put, 2, customers[i].sealed, (int)customers[i].bytes, SQLITE_STATIC);
        bind_u64(put, 3, now_ms);
        status = sqlite_run(put);
        (void)sqlite3_clear_bindings(put);
    }
    return status;
}

static enum status customers_put(
    struct order_store *handle, const struct customer *customers, uint32_t count, uint64_t now_ms)
{
    struct sqlite_store *store = sqlite_of(handle);
    invariant(count <= CUSTOMERS_PUT_MAX);
    enum status status = sqlite_begin(store);
    if (status == STATUS_OK)
        status = rows_put(store, customers, count, now_ms);
    if (status == STATUS_OK)
        status = sqlite_commit(store);
    if (status != STATUS_OK)
        sqlite_rollback(store);
    return status;
}

static enum status customer_find(struct order_store *handle, user_id user, struct customer *customer)
{
    sqlite3_stmt *get;
    *customer = (struct customer){ .user = user };
    enum status status = sqlite_prepare(sqlite_of(handle), &customer_get, &get);
    if (status != STATUS_OK)
        return status;
    bind_u64(get, 1, user);
    status = sqlite_next(get);
    if (status == STATUS_OK) {
        const void *sealed = sqlite3_column_blob(get, 0);
        const int bytes = sqlite3_column_bytes(get, 0);
        if (sealed != NULL && bytes > 0 && bytes <= CUSTOMER_SEALED_MAX) {
            memcpy(customer->sealed, sealed, (size_t)bytes);
            customer->bytes = (uint32_t)bytes;
        }
    }
    (void)sqlite3_reset(get);
    return status;
}

static enum status was_offered(struct order_store *handle, ticket_number ticket, bool *answer)
{
    sqlite3_stmt *find;
    *answer = false;
    enum status status = sqlite_prepare(sqlite_of(handle), &offered, &find);
    if (status != STATUS_OK)
        return status;
    bind_u64(find, 1, ticket);
    status = sqlite_next(find);
    *answer = status == STATUS_OK;
    (void)sqlite3_reset(find);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

const struct customer_store_ops sqlite_customer_ops = {
    .put = customers_put,
    .get = customer_find,
    .was_offered = was_offered,
};
