/* SPDX-License-Identifier: Apache-2.0 */
/* The shop's names for users (contract/customers.h), and whether an order was an offer. */
#include "contract/customers.h"
#include "store/parts.h"

const char store_customers_tables[] =
    "CREATE TABLE customers("
    "  user_id INTEGER PRIMARY KEY,"
    "  sealed BLOB NOT NULL, first_ms INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX waitlist_by_ticket ON waitlist(ticket){ticket} WHERE state = 2;";

static enum status customer_write(struct store *store, const void *rows, uint32_t index, uint64_t now_ms)
{
    const struct customer *customer = (const struct customer *)rows + index;
    return sql_do(store,
        "INSERT INTO customers(user_id, sealed, first_ms) VALUES(?1, ?2, ?3)"
        " ON CONFLICT(user_id) DO NOTHING",
        VALUES(U64(customer->user), BLOB(customer->sealed, customer->bytes), U64(now_ms)));
}

static enum status customers_put(
    struct order_store *handle, const struct customer *customers, uint32_t count, uint64_t now_ms)
{
    invariant(count <= CUSTOMERS_PUT_MAX);
    return store_rows_write(store_of(handle), customer_write, customers, count, now_ms);
}

static enum status sealed_take(struct sql_row *row, void *out)
{
    struct customer *customer = out;
    customer->bytes = (uint32_t)column_blob(row, 1, customer->sealed, sizeof customer->sealed);
    return STATUS_OK;
}

static const struct sql_columns customer_columns =
    COLUMNS_ALSO(customer, sealed_take, FIELD(customer, user));

static enum status customer_find(struct order_store *handle, user_id user, struct customer *customer)
{
    *customer = (struct customer){ .user = user };
    return sql_one(store_of(handle), "SELECT user_id, sealed FROM customers WHERE user_id = ?1",
        VALUES(U64(user)), &customer_columns, customer);
}

static enum status was_offered(struct order_store *handle, ticket_number ticket, bool *answer)
{
    return sql_found(store_of(handle), "SELECT 1 FROM waitlist WHERE state = 2 AND ticket = ?1",
        VALUES(U64(ticket)), answer);
}

const struct customer_store_ops store_customer_ops = {
    .put = customers_put,
    .get = customer_find,
    .was_offered = was_offered,
};
