/* Payments and refund intents (contract/payment.h). */
#include "contract/payment.h"
#include "store/sqlite_parts.h"

static_assert(PAYMENT_STARTED == 1 && PAYMENT_OPEN == 2 && PAYMENT_CLOSING == 3
        && PAYMENT_CAPTURED == 4 && PAYMENT_CLOSED == 5,
    "numbers in the database never change their meaning");

const char sqlite_payment_tables[] =
    "CREATE TABLE payments("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  ticket INTEGER NOT NULL, paid_ticket INTEGER NOT NULL,"
    "  provider TEXT NOT NULL,"
    "  reference TEXT NOT NULL UNIQUE CHECK(length(reference) > 0),"
    "  provider_id TEXT NOT NULL, url TEXT NOT NULL,"
    "  amount INTEGER NOT NULL, currency TEXT NOT NULL CHECK(length(currency) = 3),"
    "  captured INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 5),"
    "  use INTEGER NOT NULL CHECK(use BETWEEN 0 AND 4 AND (use <> 0) = (state = 4)),"
    "  tries INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, captured_ms INTEGER NOT NULL,"
    "  next_ms INTEGER NOT NULL, pay_by_ms INTEGER NOT NULL, closing_ms INTEGER NOT NULL"
    ") STRICT;"
    "CREATE INDEX payments_by_ticket ON payments(ticket);"
    /* An order is paid by one payment only. */
    "CREATE UNIQUE INDEX payments_paid ON payments(paid_ticket) WHERE use IN (1, 3);"
    "CREATE INDEX payments_live ON payments(next_ms) WHERE state < 4 OR use = 2;"
    "CREATE TABLE refunds("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  payment INTEGER NOT NULL UNIQUE REFERENCES payments(id)," /* at most one: never twice */
    "  ticket INTEGER NOT NULL, provider TEXT NOT NULL,"
    "  key TEXT NOT NULL UNIQUE, provider_id TEXT NOT NULL,"
    "  amount INTEGER NOT NULL, currency TEXT NOT NULL CHECK(length(currency) = 3),"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 3), why INTEGER NOT NULL,"
    "  tries INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, done_ms INTEGER NOT NULL, next_ms INTEGER NOT NULL,"
    "  error TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX refunds_open ON refunds(next_ms) WHERE state <> 2;"
    "CREATE TABLE order_details("
    "  ticket INTEGER PRIMARY KEY REFERENCES orders(ticket),"
    "  name TEXT NOT NULL, phone TEXT NOT NULL, address TEXT NOT NULL, note TEXT NOT NULL,"
    "  time_ms INTEGER NOT NULL"
    ") STRICT;";
