/* SPDX-License-Identifier: Apache-2.0 */
/* A use is counted while its own period lasts, and within the period of the item that is bought now: so it
 * never matters when it is removed. Where several connections write, limit_scopes has a row for each group,
 * which is locked before uses of the group are added up. */
#include "store/limit_uses.h"

#include "policy/limit_rules.h"

enum { ROWS_PER_PART = 256 };

const char store_limit_tables[] =
    "CREATE TABLE limit_uses("
    "  scope INTEGER NOT NULL,"  /* policy/limit_rules.h */
    "  holder INTEGER NOT NULL," /* a user, or a keyed hash of a payment identity */
    "  ticket INTEGER NOT NULL, units INTEGER NOT NULL CHECK(units > 0),"
    "  most INTEGER NOT NULL," /* the limit that it was within */
    "  at_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,"
    "  PRIMARY KEY(scope, holder, ticket)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX limit_uses_of ON limit_uses(ticket);"
    "CREATE INDEX limit_uses_over ON limit_uses(until_ms);"
    "CREATE TABLE limit_scopes(scope INTEGER PRIMARY KEY) STRICT;";

#define OF_PAYERS "8589934592" /* scopes from here on */
static_assert((uint64_t)1 << 33 == 8589934592 && LIMIT_PERIOD == 1 && LIMIT_PAYER == 2
        && ORDER_PENDING == 1 && ORDER_PAID == 2 && USE_ORDER == 1 && USE_RELINKED == 3,
    "said in numbers in the statements; numbers in the database never change their meaning");

/* ---- within a transaction ---- */

static enum status scope_lock(struct store *store, uint64_t scope)
{
    bool found = false;
    if (!store_locks(store))
        return STATUS_OK;
    enum status status = sql_do(store,
        "INSERT INTO limit_scopes(scope) VALUES(?1) ON CONFLICT(scope) DO NOTHING", VALUES(U64(scope)));
    if (status == STATUS_OK)
        status = sql_found(store, "SELECT scope FROM limit_scopes WHERE scope = ?1 FOR UPDATE",
            VALUES(U64(scope)), &found);
    return status;
}

static enum status units_used(struct store *store, uint64_t scope, uint64_t holder,
    const struct item_limits *limits, uint64_t now_ms, uint64_t *units)
{
    return sql_number(store,
        "SELECT coalesce(sum(units), 0) FROM limit_uses WHERE scope = ?1 AND holder = ?2"
        " AND at_ms > ?3 AND until_ms > ?4",
        VALUES(U64(scope), U64(holder), U64(limit_since_ms(limits, now_ms)), U64(now_ms)), units);
}

enum status store_limit_look(struct store *store, const struct stock_row *row, enum limit_kind kind,
    uint64_t holder, uint32_t quantity, uint64_t now_ms, bool *over)
{
    const uint32_t most = limit_most(&row->limits, kind);
    const uint64_t scope = limit_scope(&row->limits, row->product, kind);
    uint64_t used = 0;
    *over = false;
    if (most == 0)
        return STATUS_OK;
    enum status status = scope_lock(store, scope);
    if (status == STATUS_OK)
        status = units_used(store, scope, holder, &row->limits, now_ms, &used);
    *over = status == STATUS_OK && !limit_allows(used, quantity, most);
    return status;
}

enum status store_limit_take(struct store *store, const struct stock_row *row, enum limit_kind kind,
    uint64_t holder, ticket_number ticket, uint32_t quantity, uint64_t now_ms)
{
    const uint32_t most = limit_most(&row->limits, kind);
    if (most == 0)
        return STATUS_OK;
    return sql_do(store,
        "INSERT INTO limit_uses(scope, holder, ticket, units, most, at_ms, until_ms)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(scope, holder, ticket) DO NOTHING",
        VALUES(U64(limit_scope(&row->limits, row->product, kind)), U64(holder), U64(ticket),
            U64(quantity), U64(most), U64(now_ms), U64(limit_until_ms(&row->limits, now_ms))));
}

enum status store_limit_free(struct store *store, const struct stock_row *row, ticket_number ticket)
{
    return row->limits.period_days == 0
        ? STATUS_OK
        : sql_do(store, "DELETE FROM limit_uses WHERE ticket = ?1", VALUES(U64(ticket)));
}

enum status store_limit_mark(struct store *store, ticket_number ticket, enum limit_kind kind)
{
    return sql_do(
        store, "UPDATE orders SET limited = ?2 WHERE ticket = ?1", VALUES(U64(ticket), U64(kind)));
}

/* ---- the limits of an item ---- */

struct limits_work {
    item_id item;
    const struct item_limits *limits;
};

/* Orders are written under the lock of their item: none comes between the look and the change. */
static enum status limits_make(struct store *store, void *context)
{
    const struct limits_work *work = context;
    const struct item_limits *limits = work->limits;
    const struct sql_values values = VALUES(U64(work->item), U64(limits->period_limit),
        U64(limits->payer_limit), U64(limits->period_days), U64(limits->period_group));
    bool same = false, sold = false;
    enum status status = store_item_lock(store, work->item);
    if (status == STATUS_OK)
        status = sql_found(store,
            "SELECT 1 FROM items WHERE id = ?1 AND period_limit = ?2 AND payer_limit = ?3"
            " AND period_days = ?4 AND period_group = ?5",
            values, &same);
    if (status == STATUS_OK && !same)
        status = sql_found(
            store, "SELECT 1 FROM orders WHERE item = ?1 LIMIT 1", VALUES(U64(work->item)), &sold);
    if (status != STATUS_OK || same)
        return status;
    return sold ? STATUS_CONFLICT
                : sql_do_one(store,
                    "UPDATE items SET period_limit = ?2, payer_limit = ?3, period_days = ?4,"
                    " period_group = ?5 WHERE id = ?1",
                    values, STATUS_NOT_FOUND);
}

enum status store_item_limits(struct order_store *handle, item_id item, const struct item_limits *limits)
{
    struct limits_work work = { item, limits };
    return store_transact(store_of(handle), true, limits_make, &work);
}

/* ---- at the seam ---- */

static enum status limits_used(struct order_store *handle, uint64_t group,
    const struct item_limits *limits, user_id user, uint64_t now_ms, uint64_t *units)
{
    return units_used(store_of(handle), group, user, limits, now_ms, units);
}

static const user_id FIRST_USER = (uint64_t)1 << 63; /* the database counts with signs */

static const struct sql_columns holder_columns =
    COLUMNS(limit_holder, FIELD(limit_holder, group), FIELD(limit_holder, user));

/* Group by group: no database needs more than its index for that. */
static enum status limits_holders(struct order_store *handle, struct limit_holder *after,
    struct limit_holder *holders, uint32_t max, uint32_t *count, bool *more)
{
    struct store *store = store_of(handle);
    enum status status = STATUS_OK;
    *count = 0;
    *more = true;
    if (after->group != 0)
        status = sql_rows(store,
            "SELECT scope, holder FROM limit_uses WHERE scope = ?1 AND holder > ?2"
            " ORDER BY holder, ticket LIMIT ?3",
            VALUES(U64(after->group), U64(after->user), U64(max)), &holder_columns,
            PAGE(holders, max, count));
    if (status != STATUS_OK)
        return status;
    if (*count > 0) {
        *after = holders[*count - 1];
        return STATUS_OK;
    }
    const uint64_t before = after->group;
    status = sql_number(store,
        "SELECT scope FROM limit_uses WHERE scope > ?1 AND scope < " OF_PAYERS
        " ORDER BY scope LIMIT 1",
        VALUES(U64(before)), &after->group);
    *more = status == STATUS_OK && after->group != before;
    after->user = FIRST_USER;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

struct prune_work {
    uint64_t now_ms;
    bool more;
};

static enum status prune_part(struct store *store, void *context)
{
    struct prune_work *work = context;
    uint64_t last_ms = 0;
    const enum status status = sql_number(store,
        "SELECT coalesce(max(until_ms), 0) FROM (SELECT until_ms FROM limit_uses WHERE until_ms <= "
        "?1"
        " ORDER BY until_ms LIMIT ?2) AS part",
        VALUES(U64(work->now_ms), U64(ROWS_PER_PART)), &last_ms);
    work->more = status == STATUS_OK && last_ms > 0;
    return work->more
        ? sql_do(store, "DELETE FROM limit_uses WHERE until_ms <= ?1", VALUES(U64(last_ms)))
        : status;
}

static enum status limits_prune(struct order_store *handle, uint64_t now_ms, bool *more)
{
    struct prune_work work = { .now_ms = now_ms };
    const enum status status = store_transact(store_of(handle), true, prune_part, &work);
    *more = status == STATUS_OK && work.more;
    return status;
}

#define DAYS_MS(days) days " * 86400000"

/* A use of an order that left for a bundle is compared with nothing. Holders whose uses are of different
 * limits are not added up: each use was within its own. */
static enum status limits_check(struct order_store *handle, uint64_t now_ms, ticket_number *wrong)
{
    static const char *const rules[] = {
        "SELECT u.ticket FROM limit_uses u JOIN orders o ON o.ticket = u.ticket WHERE (o.state > 2 "
        "OR"
        " u.units <> o.quantity OR (u.scope < " OF_PAYERS " AND u.holder <> o.user_id)) AND ?1 > 0"
        " LIMIT 1",
        "SELECT u.ticket FROM limit_uses u WHERE NOT EXISTS(SELECT 1 FROM orders o WHERE o.ticket ="
        " u.ticket) AND NOT EXISTS(SELECT 1 FROM archives) AND ?1 > 0 LIMIT 1",
        "SELECT o.ticket FROM items i JOIN orders o ON o.item = i.id WHERE i.period_limit > 0 AND"
        " o.state < 3 AND o.created_ms + " DAYS_MS(
            "i.period_days") " > ?1 AND NOT EXISTS(SELECT 1"
                             " FROM limit_uses u WHERE u.ticket = o.ticket AND u.scope < " OF_PAYERS
                             ") LIMIT 1",
        "SELECT o.ticket FROM items i JOIN orders o ON o.item = i.id JOIN payments p ON "
        "p.paid_ticket ="
        " o.ticket AND p.used_for IN (1, 3) WHERE i.payer_limit > 0 AND o.state = 2 AND p.payer <> "
        "0"
        " AND p.captured_ms + " DAYS_MS(
            "i.period_days") " > ?1 AND NOT EXISTS(SELECT 1 FROM"
                             " limit_uses u WHERE u.ticket = o.ticket AND u.scope >= " OF_PAYERS
                             ") LIMIT 1",
        "SELECT u.ticket FROM limit_uses u WHERE (SELECT sum(v.units) FROM limit_uses v WHERE "
        "v.scope ="
        " u.scope AND v.holder = u.holder AND v.at_ms <= u.at_ms AND v.until_ms > u.at_ms) > "
        "u.most AND"
        " NOT EXISTS(SELECT 1 FROM limit_uses v WHERE v.scope = u.scope AND v.holder = u.holder AND"
        " (v.most <> u.most OR v.until_ms - v.at_ms <> u.until_ms - u.at_ms)) AND ?1 > 0 LIMIT 1",
    };
    enum status status = STATUS_OK;
    *wrong = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && status == STATUS_OK && *wrong == 0; i++) {
        status = sql_number(store_of(handle), rules[i], VALUES(U64(now_ms)), wrong);
        status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    return status;
}

const struct limit_store_ops store_limit_ops = {
    .used = limits_used,
    .holders = limits_holders,
    .prune = limits_prune,
    .check = limits_check,
};
