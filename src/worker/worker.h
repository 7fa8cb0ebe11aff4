/* SPDX-License-Identifier: Apache-2.0 */
/* worker/worker.h: the store thread. Everything that touches the database happens here: orders are
 * written and closed, stock events pumped, order views read, admin requests carried out, sales preheated on
 * time, the public catalog rebuilt.
 *
 * Edges hand in jobs by a ring each and get them back by another, together with notes that an
 * order has changed (one ring for both, so that a note never overtakes the answer it is about).
 * A job belongs to its edge, except between hand-in and return. The desk runs at low priority:
 * selling goes first, orders follow, and if they fall too far behind, wins stop
 * (orders.lag_max).
 * Errors: a database that is away pauses the writing and is told by /readyz and metrics; damage
 * stops the server. */
#ifndef STAMPEDE_WORKER_WORKER_H
#define STAMPEDE_WORKER_WORKER_H

#include "api/customers.h"
#include "api/handover.h"
#include "base/address.h"
#include "base/text.h"
#include "base/thread.h"
#include "config/admin_keys.h"
#include "config/config.h"
#include "contract/inventory.h"
#include "contract/order_store.h"
#include "edge/http.h"
#include "funnel/door.h"
#include "funnel/keys.h"
#include "funnel/room/rooms.h"

enum {
    JOB_RESPONSE_BYTES = 256 * 1024, /* the longest answer; most shares have less */
    DESK_PRIORITY = 10,              /* nice */
};

enum job_kind {
    JOB_ORDER,
    JOB_ORDERS,
    JOB_PAYMENT,
    JOB_RETURN, /* a JOB_PUBLIC that gave units back and waits until they are there */
    JOB_PUBLIC,
    JOB_OUTSIDE,
    JOB_PUSH,
    JOB_ADMIN,
};
/* Whose places a job takes (job_shares.h). The desk does the urgent ones first. */
enum job_share {
    SHARE_ADMIN,
    SHARE_CALLBACK,
    SHARE_SANDBOX,
    SHARE_PAY,
    SHARE_VIEW,
    SHARE_PUSH,
    JOB_SHARES,
};
static inline bool job_share_is_urgent(enum job_share share)
{
    return share == SHARE_ADMIN || share == SHARE_CALLBACK;
}
enum job_result {
    JOB_REPLY,
    /* The order has not changed, or its payment can't be paid yet: the request waits at the edge, which
     * hands it in again on news or at wait_until_ms. JOB_PUSH: no store now. */
    JOB_NOT_YET,
};

struct job {
    uint64_t token;
    enum job_kind kind;
    enum job_result result;
    uint8_t share; /* enum job_share; never changes */
    uint32_t edge; /* whose */
    bool closing;
    uint8_t cors; /* which origin the reply is for; 0: none */
    /* All but JOB_OUTSIDE and JOB_ADMIN; the ticket: all about an order */
    user_id user;
    ticket_number ticket;
    item_id item;
    uint32_t quantity;
    uint64_t version_seen;  /* 0: any order will do */
    bool may_wait;          /* the edge has room for it to wait */
    uint64_t wait_until_ms; /* JOB_PUBLIC: set by the desk with JOB_NOT_YET */
    /* JOB_PUBLIC, JOB_OUTSIDE, JOB_ADMIN: spans point into `request` */
    enum http_method method;
    struct span path, query, body;
    struct span head;      /* JOB_OUTSIDE: header lines as they came */
    struct address client; /* JOB_PUBLIC: who asks */
    bool check_failed;     /* by the desk: what was shown is forged; the edge notes it */
    /* JOB_ADMIN */
    char actor[ADMIN_NAME_MAX + 1];
    enum admin_role role;
    struct span key;              /* the Idempotency-Key; empty: none */
    struct command_origin origin; /* of its commands */
    bool commanded;               /* the inventory has, or may have, changed something for it */
    enum status audited;          /* of its audit rows: the first that failed */
    int status;                   /* of the response */
    size_t body_size;             /* of the response: its last bytes */
    char *request, *response;     /* as long as the share says */
    size_t request_bytes, response_bytes, response_size;
    struct job *next; /* the edge's own list of free jobs */
};

struct desk_note {        /* desk → edge */
    struct job *job;      /* NULL: an order has changed */
    ticket_number ticket; /* 0: many, look at all */
    user_id user;         /* whose; 0: nobody's */
};

struct courier;
struct disk;
struct high_water;
struct limits;
struct media_desk;
struct switches;
struct watch;
struct desk;
struct desk_config {
    const struct config *config;
    const struct funnel_keys *keys;
    const struct door_channels *channels;
    struct inventory *inventory;
    struct inventory_port *port;      /* admin commands */
    struct inventory_port *pump_port; /* stock events, offers to those who wait */
    struct inventory_port *reconcile_port;
    struct inventory_port *rooms_port;
    struct rooms *rooms;
    struct customers *customers;
    struct order_store *store;
    struct ticket_queue *queue;
    struct disk *folder;           /* the data folder, for the file high-water */
    struct high_water *high_water; /* NULL: none is kept */
    uint32_t edges;
    struct wake *edge_wakes[EDGES_MAX]; /* desk_edge_wake fills them, before the threads run */
    struct limits *limits;              /* set by the switches */
    struct switches *switches;          /* written by admin requests only */
    struct media_desk *media;
    struct handover *catalog;
    struct handover *bans; /* struct ban_set */
    struct reader_turns *turns;
};

MUST_CHECK enum status desk_open(
    struct desk **desk, const struct desk_config *config, char error[CONFIG_ERROR]);
void desk_close(struct desk *desk); /* accepts NULL */
/* When it is known where the server listens, before the threads run. */
MUST_CHECK enum status desk_start(struct desk *desk, uint16_t port, char error[CONFIG_ERROR]);
struct courier *desk_courier(struct desk *desk); /* its thread is the server's to run */
/* What this edge notes things in (funnel/anomaly/watch.h); NULL: all rules are off. */
struct watch *desk_edge_watch(struct desk *desk, uint32_t edge);
struct sale_meters *desk_sale_meters(struct desk *desk);
void desk_edge_wake(struct desk *desk, uint32_t edge, struct wake *wake);
struct wake *desk_wake(struct desk *desk); /* also the client of its ports */
void desk_run(void *context);              /* the desk; the thread, until desk_stop */
void desk_stop(struct desk *desk);         /* any thread: writes what the log has, then ends */

/* Edge threads. */
bool desk_hand_in(struct desk *desk, uint32_t edge, struct job *job); /* false: full */
bool desk_take_back(struct desk *desk, uint32_t edge, struct desk_note *note);

/* Any thread. */
struct desk_health {
    bool away, stopped;
    uint64_t lag;
};
bool desk_ended(const struct desk *desk); /* the thread has done its last turn */
void desk_health(const struct desk *desk, struct desk_health *health);

#endif
