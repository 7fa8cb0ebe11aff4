/* SPDX-License-Identifier: Apache-2.0 */
/* worker/worker.h: the store thread. Everything that touches the database happens here: orders are
 * written and closed, stock events pumped, order views read, admin requests carried out, sales preheated on
 * time, the public catalog rebuilt.
 *
 * Gateways hand in jobs by api/link.h. The worker runs at low priority: selling goes first, orders follow,
 * and if they fall too far behind, wins stop (orders.lag_max).
 * Errors: a database that is away pauses the writing and is told by /readyz and metrics; damage
 * stops the server. */
#ifndef STAMPEDE_WORKER_WORKER_H
#define STAMPEDE_WORKER_WORKER_H

#include "api/customers.h"
#include "api/handover.h"
#include "api/link.h"
#include "config/config.h"
#include "contract/inventory.h"
#include "contract/order_store.h"
#include "funnel/door.h"
#include "funnel/keys.h"
#include "funnel/room/rooms.h"

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
    struct link *link;
    struct limits *limits;     /* set by the switches */
    struct switches *switches; /* written by admin requests only */
    struct media_desk *media;
    void (*admin)(struct desk *desk, struct job *job); /* carries out an operator's request (admin/admin.h) */
    void (*switched)(void *context); /* the switches have changed: the edges follow them */
    void *switched_context;
    struct handover *catalog;
    struct item_rules *rules; /* written with the catalog */
    struct handover *bans;    /* struct ban_set */
    struct reader_turns *turns;
};

MUST_CHECK enum status desk_open(
    struct desk **desk, const struct desk_config *config, char error[CONFIG_ERROR]);
void desk_close(struct desk *desk); /* accepts NULL */
/* When it is known where the server listens, before the threads run. */
MUST_CHECK enum status desk_start(struct desk *desk, uint16_t port, char error[CONFIG_ERROR]);
struct courier *desk_courier(struct desk *desk); /* its thread is the server's to run */
/* What each edge notes things in (funnel/anomaly/watch.h); a NULL: all rules are off. */
struct watch *const *desk_edge_watches(struct desk *desk);
struct sale_meters *desk_sale_meters(struct desk *desk);
struct wake *desk_wake(struct desk *desk); /* also the client of its ports */
void desk_run(void *context);              /* the desk; the thread, until desk_stop */
void desk_stop(struct desk *desk);         /* any thread: writes what the log has, then ends */

/* Any thread. */
bool desk_ended(const struct desk *desk); /* the thread has done its last turn */

#endif
