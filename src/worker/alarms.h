/* SPDX-License-Identifier: Apache-2.0 */
/* worker/alarms.h: what a person must know about, by name: a small fixed table. An alarm is up or
 * down; raising what is up only renews its detail, so that trouble which goes on is one log line at
 * its beginning and one at its end. Seen as stampede_alarm{name} and GET /admin/v1/alarms.
 * Thread: any (a lock; never on a request path of the edges). */
#ifndef STAMPEDE_WORKER_ALARMS_H
#define STAMPEDE_WORKER_ALARMS_H

#include "base/text.h"

enum alarm {
    ALARM_DEAD_LETTERS,        /* records wait for a person */
    ALARM_REFUND_STUCK,        /* a provider refuses a refund for good */
    ALARM_STOCK_EVENT_REFUSED, /* the inventory refuses what the database has decided */
    ALARM_RECONCILE,           /* findings stay */
    ALARM_WEBHOOK_FAILED,      /* the shop does not take what it is told */
    ALARM_DATABASE_AWAY,
    ALARM_DISK_FULL,
    ALARM_PAYMENT_UNKNOWN, /* a provider tells of a payment of ours whose order is not known */
    ALARM_STATEMENT,       /* a provider's statement has money without an order */
    ALARM_TEST_MODE,       /* the sandbox takes the payments */
    ALARM_TICKETS,         /* data.tickets_max is nearly used up */
    ALARMS,
};
enum { ALARM_DETAIL_MAX = 200 };

void alarms_register(void); /* the metrics; at start */
void alarm_raise(enum alarm alarm, uint64_t now_ms, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void alarm_clear(enum alarm alarm);
bool alarm_is_up(enum alarm alarm);
const char *alarm_name(enum alarm alarm);
/* {"alarms":[{"name":…,"up":…,"since_ms":…,"detail":…},…]}: all of them, in order. */
void alarms_json(struct text *out);

#endif
