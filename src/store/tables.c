/* SPDX-License-Identifier: Apache-2.0 */
/* The tables, as docs/store.md explains them, in the forms of store/driver.h.
 *
 * users, tickets, keys and data ids are unsigned 64-bit numbers, kept as the signed number of
 * the same bits. orders.slot is what makes "one live order per user" a unique key: 0 where the
 * item's limit is one unit, the ticket itself elsewhere, NULL (which is never equal to anything)
 * once the order is over. The item leads the key, because then the orders of a sale that runs
 * now lie side by side, and a batch of different users touches few pages; the lot is for items
 * with many orders (store/lots.h). user_counters.scope: an
 * item's id, or 2^32 + a sale's id. A new column or table stands here and in a step of the
 * migration.
 * orders_pending holds only orders that wait for money, so it stays as small as they are few.
 */
#include "contract/ticket_number.h"
#include "store/cluster.h"
#include "store/limit_uses.h"
#include "store/lots.h"
#include "store/parts.h"
#include "store/schema.h"
#include "store/store.h"

static_assert(ITEMS_LIMIT == 262144 && SALES_LIMIT == 16384, "the CHECKs below say so too");
static_assert(ORDER_PENDING == 1 && ORDER_PAID == 2 && ORDER_CLOSED == 3 && ORDER_REFUNDED == 4,
    "numbers in the database never change their meaning");
static_assert(CHANNELS_MAX == 8, "items has a column for each");
static_assert(BEACON_GIVEN == 1 && BEACON_STATES == 3, "sales checks it, too");
static_assert(HUMAN_CHECKS == 4, "sales checks it, and its numbers never change their meaning");

/* Sales that were not ended, with what decides whether one is due (catalog.c). */
#define SALES_NOT_ENDED \
    "CREATE INDEX sales_not_ended ON sales(end_ms, id, start_ms, gate, preheat_at_ms){end_ms, id}" \
    " WHERE gate <> 3;"

static const char tables_core[] =
    "CREATE TABLE products("
    "  id INTEGER PRIMARY KEY CHECK(id BETWEEN 1 AND 4294967295),"
    "  name TEXT NOT NULL, description TEXT NOT NULL, images TEXT NOT NULL,"
    "  currency TEXT NOT NULL CHECK(length(currency) = 3),"
    "  list_price INTEGER NOT NULL CHECK(list_price >= 0),"
    "  texts TEXT NOT NULL DEFAULT '',"
    "  stock INTEGER NOT NULL DEFAULT -1 CHECK(stock >= -1)"
    ") STRICT;"
    "CREATE TABLE sales("
    "  id INTEGER PRIMARY KEY CHECK(id BETWEEN 1 AND 16383),"
    "  title TEXT NOT NULL,"
    "  start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL CHECK(end_ms > start_ms),"
    "  limit_per_user INTEGER NOT NULL CHECK(limit_per_user >= 0),"
    "  eligible_only INTEGER NOT NULL CHECK(eligible_only IN (0, 1)),"
    "  one_open_order INTEGER NOT NULL CHECK(one_open_order IN (0, 1)),"
    "  details_required INTEGER NOT NULL CHECK(details_required IN (0, 1)),"
    "  human_check INTEGER NOT NULL CHECK(human_check BETWEEN 0 AND 3),"
    "  waiting_room INTEGER NOT NULL CHECK(waiting_room IN (0, 1)),"
    "  pass_once INTEGER NOT NULL CHECK(pass_once IN (0, 1)),"
    "  drop_percent INTEGER NOT NULL CHECK(drop_percent BETWEEN 0 AND 100),"
    "  pace_per_s INTEGER NOT NULL CHECK(pace_per_s >= 0),"
    "  published INTEGER NOT NULL CHECK(published IN (0, 1)),"
    "  preheat_at_ms INTEGER NOT NULL,"
    "  gate INTEGER NOT NULL CHECK(gate BETWEEN 0 AND 3),"
    "  gate_before INTEGER NOT NULL CHECK(gate_before BETWEEN 0 AND 3)," /* what a resume goes back to */
    "  logged_limit INTEGER NOT NULL CHECK(logged_limit >= 0)," /* what the guard counts against */
    "  beacon_name TEXT NOT NULL,"
    "  beacon_value TEXT NOT NULL,"
    "  beacon_state INTEGER NOT NULL CHECK(beacon_state BETWEEN 0 AND 2),"
    "  beacon_until_ms INTEGER NOT NULL,"
    "  terms_lsn INTEGER NOT NULL DEFAULT 0," /* of start, end, limit, eligible, open order, returns */
    "  cooldown_s INTEGER NOT NULL DEFAULT 0 CHECK(cooldown_s >= 0),"
    "  return_draw_ms INTEGER NOT NULL DEFAULT 0 CHECK(return_draw_ms >= 0),"
    "  start_draw_ms INTEGER NOT NULL DEFAULT 0 CHECK(start_draw_ms >= 0),"
    "  archived INTEGER NOT NULL DEFAULT 0 CHECK(archived IN (0, 1)),"
    "  room_message TEXT NOT NULL DEFAULT '',"
    "  texts TEXT NOT NULL DEFAULT '',"
    "  shards INTEGER NOT NULL DEFAULT 1 CHECK(shards BETWEEN 1 AND 32),"
    "  timetable INTEGER NOT NULL DEFAULT 0,"
    "  day_ms INTEGER NOT NULL DEFAULT 0,"
    "  CHECK((beacon_value <> '') = (beacon_state = 1)),"
    "  CHECK(beacon_state = 0 OR beacon_name <> '')"
    ") STRICT;" SALES_NOT_ENDED "CREATE TABLE items("
    "  id INTEGER PRIMARY KEY CHECK(id BETWEEN 1 AND 262143),"
    "  sale INTEGER NOT NULL REFERENCES sales(id),"
    "  product INTEGER NOT NULL REFERENCES products(id),"
    "  flash_price INTEGER NOT NULL CHECK(flash_price >= 0),"
    "  limit_per_user INTEGER NOT NULL CHECK(limit_per_user >= 0),"
    "  pay_window_ms INTEGER NOT NULL CHECK(pay_window_ms >= 0),"
    "  total INTEGER NOT NULL, locked INTEGER NOT NULL CHECK(locked >= 0),"
    "  sold INTEGER NOT NULL, sold_before INTEGER NOT NULL CHECK(sold_before >= 0),"
    "  written_off INTEGER NOT NULL CHECK(written_off BETWEEN 0 AND locked),"
    "  safety INTEGER NOT NULL,"
    "  channel_0 INTEGER NOT NULL, channel_1 INTEGER NOT NULL, channel_2 INTEGER NOT NULL,"
    "  channel_3 INTEGER NOT NULL, channel_4 INTEGER NOT NULL, channel_5 INTEGER NOT NULL,"
    "  channel_6 INTEGER NOT NULL, channel_7 INTEGER NOT NULL,"
    "  version INTEGER NOT NULL,"
    "  preheated INTEGER NOT NULL CHECK(preheated IN (0, 1)),"
    "  deduct_on_payment INTEGER NOT NULL CHECK(deduct_on_payment IN (0, 1)),"
    "  terms_lsn INTEGER NOT NULL DEFAULT 0," /* of price, limit, time to pay */
    "  buyers_listed INTEGER NOT NULL DEFAULT 0 CHECK(buyers_listed IN (0, 1)),"
    "  pooled INTEGER NOT NULL DEFAULT 0 CHECK(pooled IN (0, 1)),"
    "  when_sold_out INTEGER NOT NULL DEFAULT 0 CHECK(when_sold_out BETWEEN 0 AND 3),"
    "  substitutes TEXT NOT NULL DEFAULT '',"
    "  presale_item INTEGER NOT NULL DEFAULT 0,"
    "  presale_cap INTEGER NOT NULL DEFAULT 0,"
    "  deposit_item INTEGER NOT NULL DEFAULT 0,"
    "  balance_ms INTEGER NOT NULL DEFAULT 0,"
    "  booked INTEGER NOT NULL DEFAULT 0 CHECK(booked >= 0),"
    "  channel_return_ms INTEGER NOT NULL DEFAULT 0 CHECK(channel_return_ms >= 0),"
    "  period_limit INTEGER NOT NULL DEFAULT 0, payer_limit INTEGER NOT NULL DEFAULT 0,"
    "  period_days INTEGER NOT NULL DEFAULT 0, period_group INTEGER NOT NULL DEFAULT 0,"
    "  deposit_kept INTEGER NOT NULL DEFAULT 0 CHECK(deposit_kept BETWEEN 0 AND 2),"
    "  last_lot INTEGER NOT NULL DEFAULT 0 CHECK(last_lot BETWEEN 0 AND 1023)," /* store/lots.h */
    "  CHECK(sold >= sold_before), CHECK(total - locked - sold >= 0)"
    ") STRICT;"
    "CREATE INDEX items_by_sale ON items(sale);"
    "CREATE TABLE user_counters("
    "  scope INTEGER NOT NULL, user_id INTEGER NOT NULL,"
    "  used INTEGER NOT NULL CHECK(used >= 0),"
    "  PRIMARY KEY(scope, user_id)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE eligible_users("
    "  sale INTEGER NOT NULL REFERENCES sales(id), user_id INTEGER NOT NULL,"
    "  PRIMARY KEY(sale, user_id)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE stock_events("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT," /* never used again: the pump knows its events by it */
    "  ticket INTEGER NOT NULL, step INTEGER NOT NULL CHECK(step BETWEEN 0 AND 2),"
    "  destination INTEGER NOT NULL,"
    "  confirmed_lsn INTEGER,"
    "  UNIQUE(ticket, step)"
    ") STRICT;"
    "CREATE INDEX stock_events_open ON stock_events(id){confirmed_lsn, id} WHERE confirmed_lsn IS "
    "NULL;"
    "CREATE TABLE dead_letters("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  lsn INTEGER NOT NULL UNIQUE," /* partition and seq in one number: store/dead.c */
    "  record_type INTEGER NOT NULL,"
    "  ticket INTEGER NOT NULL, item INTEGER NOT NULL, user_id INTEGER NOT NULL, quantity INTEGER "
    "NOT "
    "NULL,"
    "  time_ms INTEGER NOT NULL, reason TEXT NOT NULL,"
    "  record BLOB NOT NULL," /* contract/record.h: a retry needs nothing else */
    "  state INTEGER NOT NULL DEFAULT 1 CHECK(state BETWEEN 1 AND 4),"
    "  resolved_ms INTEGER NOT NULL DEFAULT 0,"
    "  resolver TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT ''"
    ") STRICT;"
    "CREATE INDEX dead_letters_by_ticket ON dead_letters(ticket);"
    "CREATE INDEX dead_letters_open ON dead_letters(id){state, id} WHERE state = 1;"
    "CREATE TABLE audit("
    "  id INTEGER PRIMARY KEY,"
    "  time_ms INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, detail TEXT NOT NULL,"
    "  hash BLOB NOT NULL CHECK(length(hash) = 32)"
    ") STRICT;"
    "CREATE TABLE audit_head("
    "  id INTEGER PRIMARY KEY CHECK(id = 1),"
    "  entries INTEGER NOT NULL, hash BLOB NOT NULL CHECK(length(hash) = 32)"
    ") STRICT;";

/* Each partition has a log of its own, and `parts` says how far it is in. store_identity is one row: what
 * ties the database to its journal. */
static const char tables_logs[] =
    "CREATE TABLE parts("
    "  part INTEGER PRIMARY KEY CHECK(part BETWEEN 0 AND 1048575),"
    "  seq INTEGER NOT NULL CHECK(seq BETWEEN 0 AND 8796093022207),"
    "  epoch INTEGER NOT NULL DEFAULT 0 CHECK(epoch BETWEEN 0 AND 4095),"
    "  shards INTEGER NOT NULL DEFAULT 1 CHECK(shards BETWEEN 1 AND 32),"
    "  sales INTEGER NOT NULL DEFAULT 0 CHECK(sales BETWEEN 0 AND 16383)" /* contract/cluster_store.h */
    ") STRICT;"
    "CREATE TABLE store_identity("
    "  id INTEGER PRIMARY KEY CHECK(id = 1),"
    "  data_id INTEGER NOT NULL,"
    "  secret_check INTEGER NOT NULL DEFAULT 0," /* hash of the master secret; 0: not known yet */
    "  move INTEGER NOT NULL DEFAULT 0," /* the move that brought the shop here (store/moving.h); 0: none */
    "  filling INTEGER NOT NULL DEFAULT 0 CHECK(filling IN (0, 1))" /* it has not ended */
    ") STRICT;";
static_assert(PART_MAX == 1048575 && SEQ_MAX == 8796093022207 && SHARDS_MAX == 32, "checked above, too");

static const char tables_orders[] =
    "CREATE TABLE orders("
    "  ticket INTEGER PRIMARY KEY,"
    "  item INTEGER NOT NULL REFERENCES items(id),"
    "  user_id INTEGER NOT NULL,"
    "  slot INTEGER,"
    "  quantity INTEGER NOT NULL CHECK(quantity > 0),"
    "  channel INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 4),"
    "  reason INTEGER NOT NULL CHECK((reason <> 0) = (state = 3)),"
    "  unit_price INTEGER NOT NULL,"
    "  amount INTEGER NOT NULL CHECK(amount = quantity * unit_price),"
    "  created_ms INTEGER NOT NULL, pay_by_ms INTEGER NOT NULL,"
    "  version INTEGER NOT NULL,"
    "  extended INTEGER NOT NULL DEFAULT 0 CHECK(extended IN (0, 1))," /* the hold, by a payment */
    "  ending INTEGER NOT NULL DEFAULT 0,"  /* closed with this reason when its payments are */
    "  limited INTEGER NOT NULL DEFAULT 0," /* closed for this limit (enum limit_kind) */
    "  lot INTEGER NOT NULL DEFAULT 0,"     /* of the item's orders (store/lots.h) */
    "  CHECK((slot IS NULL) = (state > 2)),"
    "  UNIQUE(item, [lot, ]user_id, slot)"
    ") STRICT;"
    "CREATE INDEX orders_pending ON orders(pay_by_ms, created_ms){state, pay_by_ms, created_ms} "
    "WHERE state = 1;"
    "CREATE INDEX orders_by_time ON orders(created_ms);";

/* Each stands in the file that writes it. */
const char *const store_tables[] = { tables_core, tables_logs, tables_orders, store_payment_tables,
    store_refund_tables, store_details_tables, store_outbox_tables, store_waitlist_tables,
    store_report_tables, store_sums_tables, store_buyers_tables, store_bans_tables,
    store_admin_tables, store_customers_tables, store_cluster_tables, store_timetable_tables,
    store_booking_tables, store_channel_tables, store_fulfilment_tables, store_remedy_tables,
    store_archive_tables, store_limit_tables, store_lots_tables, NULL };

/* From version 8, the first of servers, in the order of versions; store/schema.h says how one is added. */
static const char *const step_9[] = {
    "ALTER TABLE sales ADD COLUMN room_message TEXT NOT NULL DEFAULT ''",
    NULL,
};
/* One log becomes one of many: partition 0. */
static const char parts_10[] =
    "CREATE TABLE parts(part INTEGER PRIMARY KEY CHECK(part BETWEEN 0 AND 1048575),"
    " seq INTEGER NOT NULL CHECK(seq BETWEEN 0 AND 8796093022207)) STRICT";
static const char identity_10[] =
    "CREATE TABLE store_identity(id INTEGER PRIMARY KEY CHECK(id = 1), data_id INTEGER NOT NULL,"
    " secret_check INTEGER NOT NULL DEFAULT 0) STRICT";
static const char identity_copy_10[] = "INSERT INTO store_identity(id, data_id, secret_check)"
                                       " SELECT id, data_id, secret_check FROM queue_position";
static const char *const step_10[] = {
    parts_10,
    "INSERT INTO parts(part, seq) SELECT 0, lsn FROM queue_position",
    identity_10,
    identity_copy_10,
    "DROP TABLE queue_position",
    NULL,
};
static const char *const step_11[] = {
    "ALTER TABLE products ADD COLUMN texts TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE sales ADD COLUMN texts TEXT NOT NULL DEFAULT ''",
    NULL,
};
static const char *const step_12[] = {
    "CREATE INDEX orders_by_time ON orders(created_ms)",
    NULL,
};
static const char leases_13[] =
    "CREATE TABLE leases(name TEXT{40} NOT NULL, holder INTEGER NOT NULL, token INTEGER NOT NULL,"
    " until_ms INTEGER NOT NULL, PRIMARY KEY(name)) STRICT";
static const char journal_entries_13[] =
    "CREATE TABLE journal_entries(part INTEGER NOT NULL, first_seq INTEGER NOT NULL,"
    " epoch INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY(part, first_seq)) STRICT";
static const char *const step_13[] = {
    "ALTER TABLE parts ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0 CHECK(epoch BETWEEN 0 AND 4095)",
    leases_13,
    journal_entries_13,
    NULL,
};
static const char switches_14[] =
    "CREATE TABLE switches(name TEXT{40} NOT NULL, item INTEGER NOT NULL, value INTEGER NOT NULL,"
    " PRIMARY KEY(name, item)) STRICT";
static const char *const step_14[] = {
    switches_14,
    NULL,
};
static const char members_15[] =
    "CREATE TABLE members(process INTEGER PRIMARY KEY, role TEXT NOT NULL, name TEXT NOT NULL,"
    " version TEXT NOT NULL, channels TEXT NOT NULL, settings INTEGER NOT NULL,"
    " clock_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL) STRICT";
static const char *const step_15[] = {
    members_15,
    "ALTER TABLE sales ADD COLUMN shards INTEGER NOT NULL DEFAULT 1 CHECK(shards BETWEEN 1 AND 32)",
    "ALTER TABLE parts ADD COLUMN shards INTEGER NOT NULL DEFAULT 1 CHECK(shards BETWEEN 1 AND 32)",
    NULL,
};
static const char *const step_16[] = {
    "ALTER TABLE parts ADD COLUMN sales INTEGER NOT NULL DEFAULT 0 CHECK(sales BETWEEN 0 AND "
    "16383)",
    "ALTER TABLE store_identity ADD COLUMN move INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE store_identity ADD COLUMN filling INTEGER NOT NULL DEFAULT 0"
    " CHECK(filling IN (0, 1))",
    NULL,
};
static const char timetables_17[] =
    "CREATE TABLE timetables(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " model INTEGER NOT NULL REFERENCES sales(id), title TEXT NOT NULL,"
    " start_minute INTEGER NOT NULL CHECK(start_minute BETWEEN 0 AND 1439),"
    " duration_s INTEGER NOT NULL CHECK(duration_s > 0),"
    " weekdays INTEGER NOT NULL CHECK(weekdays BETWEEN 1 AND 127),"
    " offset_min INTEGER NOT NULL, ahead_s INTEGER NOT NULL CHECK(ahead_s > 0),"
    " active INTEGER NOT NULL CHECK(active IN (0, 1)), since_ms INTEGER NOT NULL) STRICT";
static const char timetable_days_17[] =
    "CREATE TABLE timetable_days(timetable INTEGER NOT NULL REFERENCES timetables(id),"
    " day INTEGER NOT NULL, state INTEGER NOT NULL CHECK(state BETWEEN 0 AND 3),"
    " start_minute INTEGER NOT NULL CHECK(start_minute BETWEEN 0 AND 1440),"
    " duration_s INTEGER NOT NULL CHECK(duration_s >= 0),"
    " sale INTEGER NOT NULL CHECK((sale <> 0) = (state = 1)), PRIMARY KEY(timetable, day)) STRICT";
static const char when_sold_out_17[] =
    "ALTER TABLE items ADD COLUMN when_sold_out INTEGER NOT NULL DEFAULT 0"
    " CHECK(when_sold_out BETWEEN 0 AND 3)";
static const char bookings_17[] =
    "CREATE TABLE bookings(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " item INTEGER NOT NULL REFERENCES items(id), user_id INTEGER NOT NULL,"
    " quantity INTEGER NOT NULL CHECK(quantity > 0), booked_ms INTEGER NOT NULL,"
    " state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 5),"
    " has_deposit INTEGER NOT NULL CHECK(has_deposit IN (0, 1)),"
    " deposit INTEGER NOT NULL, place INTEGER NOT NULL) STRICT";
static const char channel_return_17[] =
    "ALTER TABLE items ADD COLUMN channel_return_ms INTEGER NOT NULL DEFAULT 0"
    " CHECK(channel_return_ms >= 0)";
static const char channel_figures_17[] =
    "CREATE TABLE channel_figures(channel TEXT{16} NOT NULL, units INTEGER NOT NULL,"
    " orders INTEGER NOT NULL, visits INTEGER NOT NULL, order_value INTEGER NOT NULL,"
    " time_ms INTEGER NOT NULL, told_by TEXT NOT NULL, PRIMARY KEY(channel)) STRICT";
static const char channel_reports_17[] =
    "CREATE TABLE channel_reports(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " item INTEGER NOT NULL REFERENCES items(id), channel TEXT{16} NOT NULL,"
    " reference TEXT{64} NOT NULL, reported INTEGER NOT NULL CHECK(reported > 0),"
    " taken INTEGER NOT NULL CHECK(taken >= 0), missing INTEGER NOT NULL CHECK(missing >= 0),"
    " time_ms INTEGER NOT NULL, CHECK(taken + missing = reported),"
    " UNIQUE(item, channel, reference)) STRICT";
static const char safety_uses_17[] =
    "CREATE TABLE safety_uses(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " item INTEGER NOT NULL REFERENCES items(id),"
    " reason INTEGER NOT NULL CHECK(reason BETWEEN 1 AND 4),"
    " units INTEGER NOT NULL CHECK(units > 0), note TEXT NOT NULL, used_by TEXT NOT NULL,"
    " time_ms INTEGER NOT NULL) STRICT";
static const char part_refunds_17[] =
    "CREATE TABLE part_refunds( id INTEGER PRIMARY KEY AUTOINCREMENT, payment INTEGER NOT"
    " NULL REFERENCES payments(id), ticket INTEGER NOT NULL, provider TEXT NOT NULL,"
    " refund_key TEXT{100} NOT NULL UNIQUE, provider_id TEXT NOT NULL, amount INTEGER NOT"
    " NULL CHECK(amount > 0), currency TEXT NOT NULL CHECK(length(currency) = 3), state"
    " INTEGER NOT NULL CHECK(state BETWEEN 1 AND 3), why INTEGER NOT NULL CHECK(why = 4),"
    " tries INTEGER NOT NULL, created_ms INTEGER NOT NULL, done_ms INTEGER NOT NULL, next_ms"
    " INTEGER NOT NULL, error TEXT NOT NULL, stated_ms INTEGER NOT NULL DEFAULT 0, note TEXT"
    " NOT NULL) STRICT";
static const char shipments_17[] =
    "CREATE TABLE shipments( ticket INTEGER PRIMARY KEY REFERENCES orders(ticket), state"
    " INTEGER NOT NULL CHECK(state BETWEEN 1 AND 2), carrier TEXT NOT NULL, tracking TEXT NOT"
    " NULL, shipped_ms INTEGER NOT NULL, delivered_ms INTEGER NOT NULL, CHECK((delivered_ms"
    " <> 0) = (state = 2))) STRICT";
static const char remedy_cases_17[] =
    "CREATE TABLE remedy_cases( id INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL,"
    " missing INTEGER NOT NULL CHECK(missing > 0), state INTEGER NOT NULL CHECK(state BETWEEN"
    " 1 AND 2), created_ms INTEGER NOT NULL, closed_ms INTEGER NOT NULL, channel TEXT{64} NOT"
    " NULL, reference TEXT{100} NOT NULL, reason TEXT NOT NULL, assignee TEXT NOT NULL,"
    " opened_by TEXT NOT NULL, outcome TEXT NOT NULL, UNIQUE(item, channel, reference))"
    " STRICT";
static const char remedy_orders_17[] =
    "CREATE TABLE remedy_orders( case_id INTEGER NOT NULL REFERENCES remedy_cases(id), ticket"
    " INTEGER NOT NULL, remedy INTEGER NOT NULL CHECK(remedy BETWEEN 0 AND 5), added_ms"
    " INTEGER NOT NULL, done_ms INTEGER NOT NULL, refund INTEGER NOT NULL, coupon_value"
    " INTEGER NOT NULL, coupon_until_ms INTEGER NOT NULL, loss INTEGER NOT NULL, currency"
    " TEXT NOT NULL, coupon TEXT{40} UNIQUE, done_by TEXT NOT NULL, note TEXT NOT NULL,"
    " PRIMARY KEY(case_id, ticket)) STRICT";
static const char remedy_notes_17[] =
    "CREATE TABLE remedy_notes( id INTEGER PRIMARY KEY AUTOINCREMENT, case_id INTEGER NOT"
    " NULL, ticket INTEGER NOT NULL, time_ms INTEGER NOT NULL, actor TEXT NOT NULL, way TEXT"
    " NOT NULL, note TEXT NOT NULL) STRICT";
static const char mails_17[] =
    "CREATE TABLE mails( id INTEGER PRIMARY KEY AUTOINCREMENT, case_id INTEGER NOT NULL,"
    " ticket INTEGER NOT NULL, state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 4), tries"
    " INTEGER NOT NULL, created_ms INTEGER NOT NULL, next_ms INTEGER NOT NULL, sent_ms"
    " INTEGER NOT NULL, address TEXT NOT NULL, error TEXT NOT NULL) STRICT";
static const char archives_17[] =
    "CREATE TABLE archives(sale INTEGER PRIMARY KEY CHECK(sale BETWEEN 0 AND 16383),"
    " step INTEGER NOT NULL, orders INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " made_ms INTEGER NOT NULL, hash BLOB NOT NULL) STRICT";
static const char *const step_17[] = {
    "ALTER TABLE products ADD COLUMN stock INTEGER NOT NULL DEFAULT -1 CHECK(stock >= -1)",
    "ALTER TABLE sales ADD COLUMN timetable INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sales ADD COLUMN day_ms INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN pooled INTEGER NOT NULL DEFAULT 0 CHECK(pooled IN (0, 1))",
    timetables_17,
    timetable_days_17,
    when_sold_out_17,
    "ALTER TABLE items ADD COLUMN substitutes TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE items ADD COLUMN presale_item INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN presale_cap INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN deposit_item INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN balance_ms INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN booked INTEGER NOT NULL DEFAULT 0 CHECK(booked >= 0)",
    bookings_17,
    "CREATE INDEX bookings_of_user ON bookings(item, user_id, id)",
    "CREATE INDEX bookings_open ON bookings(id){state, id} WHERE state < 3",
    channel_figures_17,
    channel_reports_17,
    safety_uses_17,
    "CREATE INDEX safety_uses_by_item ON safety_uses(item)",
    channel_return_17,
    "ALTER TABLE order_details ADD COLUMN email TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE outbox ADD COLUMN topic INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE outbox ADD COLUMN subject INTEGER NOT NULL DEFAULT 0",
    part_refunds_17,
    "CREATE INDEX part_refunds_of ON part_refunds(payment)",
    "CREATE INDEX part_refunds_open ON part_refunds(next_ms){state, next_ms} WHERE state <> 2",
    shipments_17,
    remedy_cases_17,
    remedy_orders_17,
    "CREATE INDEX remedy_orders_of ON remedy_orders(ticket)",
    remedy_notes_17,
    "CREATE INDEX remedy_notes_of ON remedy_notes(case_id, id)",
    mails_17,
    "CREATE INDEX mails_of ON mails(case_id)",
    "CREATE INDEX mails_due ON mails(next_ms){state, next_ms} WHERE state IN (1, 4)",
    "CREATE INDEX mails_failed ON mails(id){state, id} WHERE state = 3",
    archives_17,
    NULL,
};
/* Sales that are asked to leave for a bundle, or could not (contract/archive.h). */
static const char archive_wishes_18[] =
    "CREATE TABLE archive_wishes(sale INTEGER PRIMARY KEY CHECK(sale BETWEEN 1 AND 16383),"
    " asked INTEGER NOT NULL CHECK(asked IN (0, 1)), tries INTEGER NOT NULL,"
    " due_ms INTEGER NOT NULL, why TEXT NOT NULL) STRICT";
static const char limit_uses_18[] =
    "CREATE TABLE limit_uses(scope INTEGER NOT NULL, holder INTEGER NOT NULL,"
    " ticket INTEGER NOT NULL, units INTEGER NOT NULL CHECK(units > 0), most INTEGER NOT NULL,"
    " at_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,"
    " PRIMARY KEY(scope, holder, ticket)) STRICT, WITHOUT ROWID";
static const char *const step_18[] = {
    "ALTER TABLE items ADD COLUMN period_limit INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN payer_limit INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN period_days INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE items ADD COLUMN period_group INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE orders ADD COLUMN limited INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE payments ADD COLUMN payer INTEGER NOT NULL DEFAULT 0",
    limit_uses_18,
    "CREATE INDEX limit_uses_of ON limit_uses(ticket)",
    "CREATE INDEX limit_uses_over ON limit_uses(until_ms)",
    "CREATE TABLE limit_scopes(scope INTEGER PRIMARY KEY) STRICT",
    archive_wishes_18,
    NULL,
};
/* The shop may keep a deposit; late money finds the booking of its order. */
static const char *const step_19[] = {
    "ALTER TABLE items ADD COLUMN deposit_kept INTEGER NOT NULL DEFAULT 0"
    " CHECK(deposit_kept BETWEEN 0 AND 2)",
    "ALTER TABLE bookings ADD COLUMN deposit_kept INTEGER NOT NULL DEFAULT 0"
    " CHECK(deposit_kept BETWEEN 0 AND 2)",
    "ALTER TABLE bookings ADD COLUMN closed_deposit INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX bookings_of_deposit ON bookings(deposit)",
    "CREATE INDEX bookings_of_closed ON bookings(closed_deposit){closed_deposit}"
    " WHERE closed_deposit <> 0",
    NULL,
};
static const char last_lot_20[] = "ALTER TABLE items ADD COLUMN last_lot INTEGER NOT NULL DEFAULT 0"
                                  " CHECK(last_lot BETWEEN 0 AND 1023)";
static const char lot_numbers_20[] =
    "CREATE TABLE lot_numbers(lot INTEGER PRIMARY KEY CHECK(lot BETWEEN 0 AND 1023)) STRICT";
/* SQLite also makes the key of orders anew: store/sqlite/migrate.c. */
static const char *const step_20[] = {
    "ALTER TABLE items CHECK 3 id(id BETWEEN 1 AND 262143)",
    "ALTER TABLE orders ADD COLUMN lot INTEGER NOT NULL DEFAULT 0",
    last_lot_20,
    lot_numbers_20,
    STORE_LOT_NUMBERS_FEW,
    STORE_LOT_NUMBERS_REST,
    NULL,
};
const char *const *const store_steps[] = { step_9, step_10, step_11, step_12, step_13, step_14,
    step_15, step_16, step_17, step_18, step_19, step_20, NULL };
static_assert(STORE_SCHEMA_FIRST + sizeof store_steps / sizeof *store_steps - 1 == STORE_SCHEMA_VERSION,
    "a schema version has a step that leads to it");

enum status store_first_rows(struct sql_connection *connection)
{
    static const uint8_t hash[32];
    enum status status =
        sql_run(connection, "INSERT INTO store_identity(id, data_id) VALUES(1, 0)", NO_VALUES);
    if (status == STATUS_OK)
        status = sql_run(connection, "INSERT INTO parts(part, seq) VALUES(0, 0)", NO_VALUES);
    if (status == STATUS_OK)
        status = store_lot_numbers(connection);
    return status != STATUS_OK
        ? status
        : sql_run(connection, "INSERT INTO audit_head(id, entries, hash) VALUES(1, 0, ?1)",
            VALUES(BLOB(hash, sizeof hash)));
}
