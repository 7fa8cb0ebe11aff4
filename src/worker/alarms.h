/* SPDX-License-Identifier: Apache-2.0 */
/* worker/alarms.h: what a person must know about, by name: a small fixed table. An alarm is up or
 * down; raising what is up only renews its detail, so that trouble which goes on is one log line at
 * its beginning and one at its end. Seen as stampede_alarm{name} and GET /admin/v1/alarms.
 * Thread: any (a lock; never on a request path of the edges). */
#ifndef STAMPEDE_WORKER_ALARMS_H
#define STAMPEDE_WORKER_ALARMS_H

#include "base/text.h"

/* A row each: name; name outside. */
#define ALARM_LIST(X) \
    /* records wait for a person */ \
    X(DEAD_LETTERS, "dead-letters") \
    /* a provider refuses a refund for good */ \
    X(REFUND_STUCK, "refund-stuck") \
    /* the inventory refuses what the database has decided */ \
    X(STOCK_EVENT_REFUSED, "stock-event-refused") \
    /* findings stay */ \
    X(RECONCILE, "reconcile") \
    /* the shop does not accept a message */ \
    X(WEBHOOK_FAILED, "webhook-failed") \
    /* mails to customers were given up */ \
    X(MAIL_FAILED, "mail-failed") \
    X(DATABASE_AWAY, "database-away") \
    X(DISK_FULL, "disk-full") \
    /* a provider tells of a payment of ours whose order is not known */ \
    X(PAYMENT_UNKNOWN, "payment-unknown") \
    /* a provider's statement has money without an order */ \
    X(STATEMENT, "statement") \
    /* the sandbox takes the payments */ \
    X(TEST_MODE, "test-mode") \
    /* data.tickets_max is nearly used up */ \
    X(TICKETS, "tickets-nearly-full") \
    /* limits.address_entries or limits.user_entries is too small for the crowd */ \
    X(LIMITS, "limits-crowded") \
    /* human.spent_max or session.jti_max is */ \
    X(SPENT, "spent-crowded") \
    /* server.connections_max is nearly reached */ \
    X(CONNECTIONS, "connections-nearly-full") \
    /* what a data folder holds in its life (worker/folder_bounds.h) */ \
    X(PLACES, "places-nearly-full") \
    X(SALES, "sales-nearly-full") \
    X(ITEMS, "items-nearly-full") \
    X(BANS, "bans-nearly-full") \
    /* many machines: nothing can be bought of a sale until its partition is open again */ \
    X(PARTITION_CLOSED, "partition-closed") \
    /* the script in Redis came to another outcome than the engine */ \
    X(SCRIPT_DIFFERS, "script-differs") \
    /* the brokers between Redis and the workers can't be used: wins wait */ \
    X(BROKER_AWAY, "broker-away") \
    /* the topic has something that we did not write */ \
    X(MESSAGE_UNREADABLE, "message-unreadable") \
    /* processes have different versions, or settings that must agree (worker/members.h) */ \
    X(MEMBERS_DIFFER, "members-differ") \
    X(CLOCK_APART, "clock-apart") \
    /* what the server's own counters say (worker/trend_checks.h) */ \
    X(JOURNAL_SLOW, "journal-slow") \
    X(ORDERS_LAG, "orders-lag") \
    X(ATTACK, "attack") \
    X(PAYMENT_MISMATCH, "payment-mismatch") \
    X(SOLD_OUT_EARLY, "sold-out-early") \
    X(DISK_LOW, "disk-low") \
    /* TLS (server/tls_service.h) */ \
    X(CERTIFICATE_EXPIRES, "certificate-expires") \
    X(CERTIFICATE_REFUSED, "certificate-refused") \
    /* no copy on a second machine is up to date, or it lags (docs/follow.md) */ \
    X(FOLLOWER_AWAY, "follower-away") \
    X(FOLLOWER_LAG, "follower-lag") \
    /* a sale can't be moved to a bundle (worker/archiving.h) */ \
    X(ARCHIVE_FAILED, "archive-failed")

enum alarm {
#define ALARM(alarm, text) ALARM_##alarm,
    ALARM_LIST(ALARM)
#undef ALARM
        ALARMS,
};
enum { ALARM_DETAIL_MAX = 200 };

void alarm_raise(enum alarm alarm, uint64_t now_ms, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void alarm_clear(enum alarm alarm);
/* Raises it with this detail, or clears it. */
#define alarm_set(alarm, up, ...) ((up) ? alarm_raise(alarm, __VA_ARGS__) : alarm_clear(alarm))
bool alarm_is_up(enum alarm alarm);
const char *alarm_name(enum alarm alarm);
/* How it stands. Since, end and detail are those of the last time that it was up. */
struct alarm_view {
    bool up;
    uint32_t episode; /* how often it was raised since the start */
    uint64_t since_ms, ended_ms;
    char detail[ALARM_DETAIL_MAX + 1];
};
void alarm_look(enum alarm alarm, struct alarm_view *view);
/* "alarms":[{"name":…,"up":…,"since_ms":…,"detail":…,"last_since_ms":…,"last_end_ms":…},…]: a member of an
 * object. */
void alarms_member(struct text *out);
/* {"alarms":[…]}: all of them, in order. */
void alarms_json(struct text *out);

#endif
