/* SPDX-License-Identifier: Apache-2.0 */
/* The tables, as docs/store.md explains them, in the forms of store/driver.h.
 *
 * users, tickets, keys and data ids are unsigned 64-bit numbers, kept as the signed number of
 * the same bits. orders.slot is what makes "one live order per user" a unique key: 0 where the
 * item's limit is one unit, the ticket itself elsewhere, NULL (which is never equal to anything)
 * once the order is over. The item leads the key, because then the orders of a sale that runs
 * now lie side by side, and a batch of different users touches few pages. user_counters.scope: an
 * item's id, or 2^32 + a sale's id. A new column or table stands here and in a step of the
 * migration.
 * orders_pending holds only orders that wait for money, so it stays as small as they are few.
 */
#include "contract/ticket_number.h"
#include "store/cluster.h"
#include "store/parts.h"
#include "store/schema.h"
#include "store/store.h"

static_assert(ITEMS_LIMIT == 65536 && SALES_LIMIT == 16384, "the CHECKs below say so too");
static_assert(ORDER_PENDING == 1 && ORDER_PAID == 2 && ORDER_CLOSED == 3 && ORDER_REFUNDED == 4,
    "numbers in the database never change their meaning");
static_assert(CHANNELS_MAX == 8, "items has a column for each");
static_assert(BEACON_GIVEN == 1 && BEACON_STATES == 3, "sales checks it, too");
static_assert(HUMAN_CHECKS == 4, "sales checks it, and its numbers never change their meaning");

static const char tables_core[] =
    "CREATE TABLE products("
    "  id INTEGER PRIMARY KEY CHECK(id BETWEEN 1 AND 4294967295),"
    "  name TEXT NOT NULL, description TEXT NOT NULL, images TEXT NOT NULL,"
    "  currency TEXT NOT NULL CHECK(length(currency) = 3),"
    "  list_price INTEGER NOT NULL CHECK(list_price >= 0),"
    "  texts TEXT NOT NULL DEFAULT ''"
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
    "  CHECK((beacon_value <> '') = (beacon_state = 1)),"
    "  CHECK(beacon_state = 0 OR beacon_name <> '')"
    ") STRICT;" STORE_SALES_NOT_ENDED "CREATE TABLE items("
    "  id INTEGER PRIMARY KEY CHECK(id BETWEEN 1 AND 65535),"
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
    "  ending INTEGER NOT NULL DEFAULT 0," /* closed with this reason when its payments are */
    "  CHECK((slot IS NULL) = (state > 2)),"
    "  UNIQUE(item, user_id, slot)"
    ") STRICT;"
    "CREATE INDEX orders_pending ON orders(pay_by_ms, created_ms){state, pay_by_ms, created_ms} "
    "WHERE state = 1;"
    "CREATE INDEX orders_by_time ON orders(created_ms);";

/* Each stands in the file that writes it. */
const char *const store_tables[] = { tables_core, tables_logs, tables_orders, store_payment_tables,
    store_refund_tables, store_details_tables, store_outbox_tables, store_waitlist_tables,
    store_report_tables, store_sums_tables, store_buyers_tables, store_bans_tables,
    store_admin_tables, store_customers_tables, store_cluster_tables, store_archive_tables, NULL };

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
static const char archives_17[] =
    "CREATE TABLE archives(sale INTEGER PRIMARY KEY CHECK(sale BETWEEN 0 AND 16383),"
    " step INTEGER NOT NULL, orders INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    " made_ms INTEGER NOT NULL, hash BLOB NOT NULL) STRICT";
static const char *const step_17[] = {
    archives_17,
    NULL,
};
const char *const *const store_steps[] = { step_9, step_10, step_11, step_12, step_13, step_14,
    step_15, step_16, step_17, NULL };
static_assert(STORE_SCHEMA_FIRST + sizeof store_steps / sizeof *store_steps - 1 == STORE_SCHEMA_VERSION,
    "a schema version has a step that leads to it");

enum status store_first_rows(struct sql_connection *connection)
{
    static const uint8_t hash[32];
    enum status status =
        sql_run(connection, "INSERT INTO store_identity(id, data_id) VALUES(1, 0)", NO_VALUES);
    if (status == STATUS_OK)
        status = sql_run(connection, "INSERT INTO parts(part, seq) VALUES(0, 0)", NO_VALUES);
    return status != STATUS_OK
        ? status
        : sql_run(connection, "INSERT INTO audit_head(id, entries, hash) VALUES(1, 0, ?1)",
            VALUES(BLOB(hash, sizeof hash)));
}
