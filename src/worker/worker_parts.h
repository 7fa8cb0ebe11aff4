/* SPDX-License-Identifier: Apache-2.0 */
/* worker/worker_parts.h: what the parts of the worker share. Nobody else includes it. Thread: the
 * worker's. */
#ifndef STAMPEDE_WORKER_WORKER_PARTS_H
#define STAMPEDE_WORKER_WORKER_PARTS_H

#include "api/job_reply.h"
#include "api/sale_meters.h"
#include "contract/outbox.h"
#include "contract/report.h"
#include "funnel/anomaly/watch_rules.h"
#include "funnel/bans.h"
#include "funnel/room/room_line.h"
#include "orders/expiry.h"
#include "orders/order_writer.h"
#include "orders/reconcile.h"
#include "orders/stock_pump.h"
#include "orders/waitlist.h"
#include "outgoing/courier.h"
#include "outgoing/webhook.h"
#include "worker/money.h"
#include "worker/services.h"
#include "worker/worker.h"

enum { WORKER_ASK_MS = 5000, WORKER_SCHEDULE_MS = 250, WORKER_PREHEAT_AHEAD_MS = 60000 };
enum {
    WORKER_SELLING_MS = 50,     /* wins came in within this time: selling goes on */
    WORKER_FULL_PAUSE_MS = 250, /* between transactions while selling, when they are well filled */
};

/* When reconciliation runs by itself, and for whom it runs now. */
struct worker_reconcile {
    uint64_t run, next_ms, look_ms;
    uint32_t sales_over;
    bool looked;
    char actor[ADMIN_NAME_MAX + 1];
};

/* Which task made a call of the courier: the upper byte of the call's tag. */
enum courier_client { COURIER_WEBHOOKS = 1, COURIER_CASHIER, COURIER_SANDBOX };
enum { COURIER_CLIENT_SHIFT = 56 };
static inline uint64_t courier_tag(enum courier_client client, uint64_t id)
{
    return (uint64_t)client << COURIER_CLIENT_SHIFT | id;
}

enum { WEBHOOKS_FLIGHT_MAX = 16 }; /* calls at a time: the rest of the courier is for money */
struct webhook_flight {
    uint64_t id; /* of the event; 0: a free place */
    uint32_t tries;
    bool answered; /* its result is to be written */
    struct outbox_result result;
};
struct worker_webhooks {
    bool on;
    struct webhook_endpoint endpoint;
    struct random random; /* jitter */
    struct webhook_flight flights[WEBHOOKS_FLIGHT_MAX];
    uint32_t flight_count, answered_count;
    uint64_t look_ms;   /* when to look for what is due */
    uint64_t settle_ms; /* when to write answers that could not be written */
    uint64_t count_ms;  /* when to count what waits and what failed */
};

/* Waiting rooms that are open, or were and have a draw to be worked out again. */
enum { WORKER_ROOMS_MAX = 64 };
struct worker_room {
    struct room_line line; /* of sale 0: a free place */
    bool defined, seen, told;
};
struct worker_rooms {
    struct worker_room rooms[WORKER_ROOMS_MAX];
    uint64_t tick_ms;
    bool full_told;
};

/* Returned tickets of sales that ended long ago, when their table is nearly full (reclaim.c). */
struct worker_reclaim {
    bool running;     /* a pass through the table */
    uint32_t from;    /* the row to go on with */
    uint64_t next_ms; /* when to look again */
    uint64_t pass;    /* forgotten in this pass */
};

/* Counts for the final reports of open sales. */
enum { WORKER_REPORT_MS = 3000 };
struct worker_meter {
    sale_id sale; /* 0: free */
    bool wanted;  /* seen open, or about to be, in the present look */
    uint64_t seen[METER_LAYERS], fresh[METER_LAYERS]; /* fresh: not written yet */
    uint64_t opened_ms, sold_out_ms;                  /* 0: no; opened by hand, before its start */
    bool opened_told, sold_out_told;
};
struct worker_report {
    struct sale_meters *counts;
    struct worker_meter meters[SALE_METERS]; /* meter number − 1 */
    uint64_t write_ms;
};

/* What the rules found lately, and how much they may still do about it. */
enum { WATCHED_MAX = 256 };
enum watched_outcome {
    WATCHED_REPORTED,
    WATCHED_BANNED,
    WATCHED_HELD_BACK, /* enough were banned in this minute */
    WATCHED_PROTECTED, /* the machine itself, or a proxy of it */
    WATCHED_FAILED,    /* the database did not take the ban */
};
struct watched {
    uint64_t time_ms;
    struct watch_finding found;
    uint8_t outcome; /* enum watched_outcome */
    uint64_t ban;    /* 0: none */
};
struct worker_watch {
    struct watch *watches[EDGES_MAX];
    struct watch_book *book;
    struct watch_settings settings;
    uint64_t look_ms;
    uint64_t minute_ms, minute_bans;
    uint64_t found; /* so many in all; the last WATCHED_MAX are here */
    uint64_t found_by[WATCH_RULES], banned_by[WATCH_RULES];
    struct watched watched[WATCHED_MAX];
};

struct worker {
    struct worker_config config;
    struct arena arena;
    struct wake wake;
    struct {
        uint64_t look_ms, write_ms;
        bool changed, failed;
    } high_water;
    struct order_writer *writer;
    struct stock_pump *pump;
    struct expiry expiry;
    struct worker_money money;
    struct waitlist waitlist;
    struct reconcile *reconcile;
    struct worker_reconcile reconciling;
    struct courier *courier;
    struct worker_webhooks webhooks;
    struct worker_report report;
    struct worker_watch watch;
    struct worker_rooms rooms;
    struct worker_reclaim reclaim;
    struct job *acting; /* the administrator's request at work; NULL: none */
    uint64_t next_tag;
    uint64_t now_ms;
    uint64_t schedule_at_ms;
    lsn_t durable_seen; /* to notice that wins come in */
    uint64_t selling_until_ms;
    uint64_t returns_until_ms; /* until then somebody waits for units that are on their way back */
    uint64_t orders_at_ms;     /* not before this */
    uint32_t orders_last;      /* records of the last transaction */
    bool catalog_stale;
    bool bans_stale;
    uint64_t bans_next_ms; /* when the first ban is over */
    bool refunds_looked;   /* whether a refund is stuck is known */
    bool letters_stale;    /* dead letters are to be counted again */
    uint64_t lag;          /* records of the log that are not orders yet */
    uint32_t writer_state; /* enum order_writer_state */
    _Atomic bool stop, ended;
};

/* order_view.c */
void worker_order_job(struct worker *worker, struct job *job);
void worker_orders_job(struct worker *worker, struct job *job);
/* returns.c: brings stock events to the inventory, serves those in line. */
void worker_returns_run(struct worker *worker);
void worker_return_job(struct worker *worker, struct job *job);
/* The order was cancelled or refunded: answers when its units are back in the inventory, or soon. */
void worker_return_reply(struct worker *worker, struct job *job, const struct order *order, bool done);
void worker_push_job(struct worker *worker, struct job *job); /* push_text.c */
/* "orders":[…] of the job's user, the newest ones. */
MUST_CHECK enum status worker_orders_text(struct worker *worker, const struct job *job, struct text *out);

/* payment_requests.c: whoever started to pay and waits: is there an address by now? */
void worker_payment_job(struct worker *worker, struct job *job);
/* {"name":…}. STATUS_NOT_FOUND: nobody has said where it goes; nothing is written. */
MUST_CHECK enum status worker_details_json(
    const struct worker *worker, ticket_number ticket, struct text *out);
/* webhooks.c: tells the shop what became of its orders. */
MUST_CHECK enum status worker_webhooks_open(struct worker *worker, char error[CONFIG_ERROR]);
void worker_webhooks_close(struct worker *worker);
void worker_webhooks_turn(struct worker *worker);
void worker_webhooks_answered(struct worker *worker, const struct outgoing_call *call);

void worker_schedule(struct worker *worker);
/* room_driver.c: true: there is more to do at once. */
bool worker_rooms_turn(struct worker *worker);
void worker_rooms_define(struct worker *worker, const struct sale *sale);

/* high_water_mark.c: at_once: before somebody is told a number. */
void worker_high_water_turn(struct worker *worker, bool at_once);
void worker_high_water_end(struct worker *worker); /* a clean stop: nothing is reserved */

/* reconcile_runs.c */
void worker_reconcile_open(struct worker *worker, struct arena *arena);
bool worker_reconcile_turn(struct worker *worker); /* true: there is more to do at once */

/* sale_report.c */
size_t worker_report_bytes(const struct worker_config *config);
void worker_report_open(struct worker *worker, struct arena *arena);

/* reclaim.c */
bool worker_tables_nearly_full(const struct worker *worker);
bool worker_reclaim_turn(struct worker *worker); /* true: there is more to do at once */

/* alarm_checks.c */
void worker_letters_look(struct worker *worker);
void worker_alarms_writer(struct worker *worker, const struct order_writer_progress *progress);
void worker_alarms_pump(struct worker *worker, const struct stock_pump_progress *pump);
void worker_alarms_refunds(struct worker *worker); /* those that a provider refuses for good */

/* ban_list.c */
void worker_bans_turn(struct worker *worker);

/* anomaly_findings.c */
size_t worker_watch_bytes(uint32_t edges);
void worker_watch_open(struct worker *worker, struct arena *arena);
void worker_watch_turn(struct worker *worker);
void worker_watch_unpaid(void *context, user_id user); /* a win was let go */

/* Whom and which request a command of the administrator's at work is from. */
void worker_origin_fill(const struct worker *worker, struct command *command);
void worker_media_turn(struct worker *worker);                  /* picture_uploads.c */
void worker_public_job(struct worker *worker, struct job *job); /* public_requests.c */

#endif
