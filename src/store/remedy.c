/* SPDX-License-Identifier: Apache-2.0 */
/* Cases and their remedies (contract/remedy.h); remedy_mails.c has their mails. */
#include "contract/remedy.h"
#include "store/parts.h"

static_assert(CASE_OPEN == 1 && CASE_CLOSED == 2 && REMEDY_NONE == 0 && REMEDY_DISMISS == 5
        && ORDER_PENDING == 1 && ORDER_PAID == 2,
    "numbers in the database never change their meaning");

const char store_remedy_tables[] =
    "CREATE TABLE remedy_cases("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  item INTEGER NOT NULL, missing INTEGER NOT NULL CHECK(missing > 0),"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 2),"
    "  created_ms INTEGER NOT NULL, closed_ms INTEGER NOT NULL,"
    "  channel TEXT{64} NOT NULL, reference TEXT{100} NOT NULL,"
    "  reason TEXT NOT NULL, assignee TEXT NOT NULL, opened_by TEXT NOT NULL, outcome TEXT NOT "
    "NULL,"
    "  UNIQUE(item, channel, reference)"
    ") STRICT;"
    "CREATE TABLE remedy_orders("
    "  case_id INTEGER NOT NULL REFERENCES remedy_cases(id), ticket INTEGER NOT NULL,"
    "  remedy INTEGER NOT NULL CHECK(remedy BETWEEN 0 AND 5),"
    "  added_ms INTEGER NOT NULL, done_ms INTEGER NOT NULL,"
    "  refund INTEGER NOT NULL, coupon_value INTEGER NOT NULL, coupon_until_ms INTEGER NOT NULL,"
    "  loss INTEGER NOT NULL, currency TEXT NOT NULL, coupon TEXT{40} UNIQUE,"
    "  done_by TEXT NOT NULL, note TEXT NOT NULL,"
    "  PRIMARY KEY(case_id, ticket)"
    ") STRICT;"
    "CREATE INDEX remedy_orders_of ON remedy_orders(ticket);"
    "CREATE TABLE remedy_notes("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  case_id INTEGER NOT NULL, ticket INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
    "  actor TEXT NOT NULL, way TEXT NOT NULL, note TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX remedy_notes_of ON remedy_notes(case_id, id);"
    "CREATE TABLE mails("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  case_id INTEGER NOT NULL, ticket INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 4), tries INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, next_ms INTEGER NOT NULL, sent_ms INTEGER NOT NULL,"
    "  address TEXT NOT NULL, error TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX mails_of ON mails(case_id);"
    "CREATE INDEX mails_due ON mails(next_ms){state, next_ms} WHERE state IN (1, 4);"
    "CREATE INDEX mails_failed ON mails(id){state, id} WHERE state = 3;";

#define CASE_COLUMNS \
    "SELECT id, item, missing, state, created_ms, closed_ms, channel, reference, reason, " \
    "assignee," \
    " opened_by, outcome, (SELECT count(*) FROM remedy_orders WHERE case_id = remedy_cases.id)," \
    " (SELECT count(*) FROM remedy_orders WHERE case_id = remedy_cases.id AND remedy = 0)" \
    " FROM remedy_cases"
#define CASE_ORDER_COLUMNS \
    "SELECT case_id, ticket, remedy, added_ms, done_ms, refund, coupon_value, coupon_until_ms, " \
    "loss," \
    " currency, coalesce(coupon, ''), done_by, note FROM remedy_orders"

static const struct sql_columns case_columns =
    COLUMNS(remedy_case, FIELD(remedy_case, id), FIELD(remedy_case, item),
        FIELD(remedy_case, missing), FIELD(remedy_case, state), FIELD(remedy_case, created_ms),
        FIELD(remedy_case, closed_ms), FIELD(remedy_case, channel), FIELD(remedy_case, reference),
        FIELD(remedy_case, reason), FIELD(remedy_case, assignee), FIELD(remedy_case, opened_by),
        FIELD(remedy_case, outcome), FIELD(remedy_case, orders), FIELD(remedy_case, undecided));
static const struct sql_columns order_columns = COLUMNS(remedy_order, FIELD(remedy_order, case_id),
    FIELD(remedy_order, ticket), FIELD(remedy_order, remedy), FIELD(remedy_order, added_ms),
    FIELD(remedy_order, done_ms), FIELD(remedy_order, refund), FIELD(remedy_order, coupon_value),
    FIELD(remedy_order, coupon_until_ms), FIELD(remedy_order, loss), FIELD(remedy_order, currency),
    FIELD(remedy_order, coupon), FIELD(remedy_order, done_by), FIELD(remedy_order, note));
static const struct sql_columns note_columns = COLUMNS(remedy_note, FIELD(remedy_note, id),
    FIELD(remedy_note, case_id), FIELD(remedy_note, ticket), FIELD(remedy_note, time_ms),
    FIELD(remedy_note, actor), FIELD(remedy_note, way), FIELD(remedy_note, text));

static enum status case_get(struct order_store *handle, uint64_t id, struct remedy_case *remedy)
{
    return sql_one(
        store_of(handle), CASE_COLUMNS " WHERE id = ?1", VALUES(U64(id)), &case_columns, remedy);
}

static enum status case_of_report(struct store *store, struct remedy_case *remedy)
{
    const struct remedy_case asked = *remedy;
    return sql_one(store, CASE_COLUMNS " WHERE item = ?1 AND channel = ?2 AND reference = ?3",
        VALUES(U64(asked.item), TEXT(asked.channel), TEXT(asked.reference)), &case_columns, remedy);
}

static enum status case_open(struct order_store *handle, struct remedy_case *remedy, bool *fresh)
{
    struct store *store = store_of(handle);
    const enum status status = sql_do(store,
        "INSERT INTO remedy_cases(item, missing, state, created_ms, closed_ms, channel, reference,"
        " reason, assignee, opened_by, outcome) VALUES(?1, ?2, 1, ?3, 0, ?4, ?5, ?6, ?7, ?8, '')"
        " ON CONFLICT(item, channel, reference) DO NOTHING",
        VALUES(U64(remedy->item), U64(remedy->missing), U64(remedy->created_ms),
            TEXT(remedy->channel), TEXT(remedy->reference), TEXT(remedy->reason),
            TEXT(remedy->assignee), TEXT(remedy->opened_by)));
    *fresh = status == STATUS_OK && sql_matched(store) == 1;
    return status == STATUS_OK ? case_of_report(store, remedy) : status;
}

static enum status case_list(struct order_store *handle, enum case_state state, uint64_t after,
    struct remedy_case *cases, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        CASE_COLUMNS " WHERE id > ?1 AND (?2 = 0 OR state = ?2) ORDER BY id LIMIT ?3",
        VALUES(U64(after), U64(state), U64(max)), &case_columns, PAGE(cases, max, count));
}

static enum status case_assign(struct order_store *handle, uint64_t id, const char *assignee)
{
    return sql_do_one(store_of(handle),
        "UPDATE remedy_cases SET assignee = ?2 WHERE id = ?1 AND state = 1",
        VALUES(U64(id), TEXT(assignee)), STATUS_CONFLICT);
}

static enum status case_close(struct order_store *handle, uint64_t id, const char *outcome, uint64_t now_ms)
{
    return sql_do_one(store_of(handle),
        "UPDATE remedy_cases SET state = 2, outcome = ?2, closed_ms = ?3 WHERE id = ?1 AND state = "
        "1"
        " AND NOT EXISTS(SELECT 1 FROM remedy_orders WHERE case_id = ?1 AND remedy = 0)",
        VALUES(U64(id), TEXT(outcome), U64(now_ms)), STATUS_CONFLICT);
}

static enum status case_orders(struct order_store *handle, uint64_t id, struct remedy_order *orders,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), CASE_ORDER_COLUMNS " WHERE case_id = ?1 ORDER BY ticket LIMIT ?2",
        VALUES(U64(id), U64(max)), &order_columns, PAGE(orders, max, count));
}

static enum status case_order(
    struct order_store *handle, uint64_t id, ticket_number ticket, struct remedy_order *order)
{
    return sql_one(store_of(handle), CASE_ORDER_COLUMNS " WHERE case_id = ?1 AND ticket = ?2",
        VALUES(U64(id), U64(ticket)), &order_columns, order);
}

static enum status remedy_of_ticket(
    struct order_store *handle, ticket_number ticket, struct remedy_order *order)
{
    return sql_one(store_of(handle),
        CASE_ORDER_COLUMNS " WHERE ticket = ?1 AND remedy <> 0 ORDER BY case_id DESC LIMIT 1",
        VALUES(U64(ticket)), &order_columns, order);
}

static enum status orders_add(struct order_store *handle, uint64_t id, const ticket_number *tickets,
    uint32_t count, uint64_t now_ms, uint32_t *added)
{
    struct store *store = store_of(handle);
    uint64_t there = 0;
    *added = 0;
    enum status status = sql_number(
        store, "SELECT count(*) FROM remedy_orders WHERE case_id = ?1", VALUES(U64(id)), &there);
    if (status == STATUS_OK && there + count > CASE_ORDERS_MAX)
        return STATUS_FULL;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        status = sql_do(store,
            "INSERT INTO remedy_orders(case_id, ticket, remedy, added_ms, done_ms, refund, "
            "coupon_value,"
            " coupon_until_ms, loss, currency, coupon, done_by, note)"
            " VALUES(?1, ?2, 0, ?3, 0, 0, 0, 0, 0, '', NULL, '', '')"
            " ON CONFLICT(case_id, ticket) DO NOTHING",
            VALUES(U64(id), U64(tickets[i]), U64(now_ms)));
        *added += status == STATUS_OK ? sql_matched(store) : 0;
    }
    return status;
}

static enum status orders_affected(
    struct order_store *handle, item_id item, struct order *orders, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT " ORDER_COLUMNS " FROM orders WHERE item = ?1 AND state IN (1, 2)"
        " AND NOT EXISTS(SELECT 1 FROM shipments WHERE shipments.ticket = orders.ticket)"
        " AND NOT EXISTS(SELECT 1 FROM remedy_orders r JOIN remedy_cases c ON c.id = r.case_id"
        "  WHERE r.ticket = orders.ticket AND c.state = 1)"
        " ORDER BY created_ms DESC, orders.ticket DESC LIMIT ?2",
        VALUES(U64(item), U64(max)), &store_order_columns, PAGE(orders, max, count));
}

static enum status remedy_apply(
    struct order_store *handle, const struct remedy_order *done, struct order *order)
{
    struct store *store = store_of(handle);
    const enum status status = sql_do_one(store,
        "UPDATE remedy_orders SET remedy = ?3, done_ms = ?4, refund = ?5, coupon_value = ?6,"
        " coupon_until_ms = ?7, loss = ?8, currency = ?9, coupon = ?10, done_by = ?11, note = ?12"
        " WHERE case_id = ?1 AND ticket = ?2 AND remedy = 0",
        VALUES(U64(done->case_id), U64(done->ticket), U64(done->remedy), U64(done->done_ms),
            U64(done->refund), U64(done->coupon_value), U64(done->coupon_until_ms), U64(done->loss),
            TEXT(done->currency), TEXT(done->coupon[0] != '\0' ? done->coupon : NULL),
            TEXT(done->done_by), TEXT(done->note)),
        STATUS_CONFLICT);
    if (status != STATUS_OK || done->remedy == REMEDY_DISMISS)
        return status; /* its customer need not hear of it */
    return store_order_news(store, order, TOPIC_REMEDY, done->case_id);
}

static enum status note_add(struct order_store *handle, const struct remedy_note *note)
{
    return sql_do(store_of(handle),
        "INSERT INTO remedy_notes(case_id, ticket, time_ms, actor, way, note)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
        VALUES(U64(note->case_id), U64(note->ticket), U64(note->time_ms), TEXT(note->actor),
            TEXT(note->way), TEXT(note->text)));
}

static enum status notes_list(struct order_store *handle, uint64_t id, uint64_t after,
    struct remedy_note *notes, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT id, case_id, ticket, time_ms, actor, way, note FROM remedy_notes"
        " WHERE case_id = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
        VALUES(U64(id), U64(after), U64(max)), &note_columns, PAGE(notes, max, count));
}

static const struct sql_columns cost_columns =
    COLUMNS(remedy_cost, FIELD(remedy_cost, currency), FIELD(remedy_cost, orders),
        SUM(remedy_cost, refunds), SUM(remedy_cost, coupons), SUM(remedy_cost, losses));

static enum status costs_sum(struct order_store *handle, uint64_t id, struct remedy_cost *costs,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT currency, count(*)," SUM_HALVES("refund") "," SUM_HALVES("coupon_value") "," SUM_HALVES(
            "loss") "FROM remedy_orders WHERE remedy <> 0 AND (?1 = 0 OR case_id = ?1)"
                    " GROUP BY currency ORDER BY currency LIMIT ?2",
        VALUES(U64(id), U64(max)), &cost_columns, PAGE(costs, max, count));
}

const struct remedy_store_ops store_remedy_ops = {
    .open = case_open,
    .get = case_get,
    .list = case_list,
    .assign = case_assign,
    .close = case_close,
    .orders_add = orders_add,
    .orders = case_orders,
    .order = case_order,
    .affected = orders_affected,
    .apply = remedy_apply,
    .of_ticket = remedy_of_ticket,
    .note_add = note_add,
    .notes = notes_list,
    .costs = costs_sum,
    .mail_put = store_mail_put,
    .mails_due = store_mails_due,
    .mail_get = store_mail_get,
    .mail_sending = store_mail_sending,
    .mail_settle = store_mail_settle,
    .mails = store_mails,
    .mails_failed = store_mails_failed,
};
