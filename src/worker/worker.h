/* SPDX-License-Identifier: Apache-2.0 */
/* worker/worker.h: the store thread. Everything that touches the database happens here: orders are
 * written and closed, stock events pumped, order views read, admin requests carried out, sales
 * preheated on time, the public catalog rebuilt.
 *
 * Gateways hand in jobs by api/link.h. The worker runs at low priority: selling goes first, orders
 * follow, and if they fall too far behind, wins wait for them (orders.lag_max).
 * Errors: a database that is away pauses the writing and is told by /readyz and metrics; damage
 * stops the server. */
#ifndef STAMPEDE_WORKER_WORKER_H
#define STAMPEDE_WORKER_WORKER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct archiving;
struct courier;
struct customers;
struct disk;
struct door_channels;
struct funnel_keys;
struct handover;
struct high_water;
struct inventory;
struct inventory_port;
struct item_rules;
struct job;
struct key_ring;
struct limits;
struct spent;
struct link;
struct media_service;
struct member;
struct order_cache;
struct order_store;
struct order_views;
struct purchase_traces;
struct reader_turns;
struct rooms;
struct sale_meters;
struct switches;
struct ticket_queue;
struct wake;
struct watch;
struct worker;
struct worker_config;
struct worker_health;
/* What operators ask (admin/admin.h). */
struct worker_admin {
    /* Carries out a request. */
    void (*job)(struct worker *worker, struct job *job);
    /* Whether it only reads the database, so that `read` may do it; just before that. */
    bool (*only_reads)(struct worker *worker, const struct job *job);
    /* On any thread that owns `views` and its store. */
    void (*read)(const struct worker_config *lent, const struct order_views *views, struct job *job);
};
struct worker_config {
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
    struct ticket_queue *queue;    /* NULL: other processes write orders, see `health` */
    struct disk *folder;           /* the data folder, for the file high-water */
    uint64_t data_id;              /* of the log */
    struct high_water *high_water; /* NULL: none is kept */
    uint32_t edges;
    uint32_t view_readers, operator_readers; /* connections for them */
    bool orders_beside;                      /* the order writer may have one of its own */
    struct link *link;
    struct limits *limits;              /* set by the switches */
    const struct spent *spent, *tokens; /* what was used: challenges and passes; the shop's tokens */
    struct switches *switches;          /* written by admin requests only */
    struct media_service *media;
    struct key_ring *key_ring; /* changed by admin requests */
    const struct worker_admin *admin;
    void (*switched)(void *context); /* the switches have changed: the edges follow them */
    void *switched_context;
    struct handover *catalog;
    struct item_rules *rules; /* written with the catalog */
    struct handover *bans;    /* struct ban_set */
    struct reader_turns *turns;
    /* One machine on a database server (worker/database_hold.h); 0: it is not held. */
    uint64_t database_holder;
    void (*database_lost)(void *context);
    void *database_context;
    /* Many machines. */
    uint8_t leads;    /* enum leads (worker/leadership.h): who does what only one process may do */
    uint64_t process; /* the number of this one */
    struct order_cache *const *order_caches; /* one for each of view_readers; NULL: one machine */
    const struct member *member; /* what it tells the others (worker/members.h); NULL: one machine */
    int64_t (*redis_apart_ms)(void *context);                    /* worker/members.h */
    void (*health)(void *context, struct worker_health *health); /* of those who write orders */
    void *health_context;                                        /* of redis_apart_ms, too */
    /* Set by worker_open: what its readers may look at. */
    const struct archiving *archiving; /* archiving_shown (worker/archiving.h) */
};

/* `error` here and below: CONFIG_ERROR bytes. */
MUST_CHECK enum status worker_open(
    struct worker **worker, const struct worker_config *config, char *error);
void worker_close(struct worker *worker); /* accepts NULL */
/* When it is known where the server listens, before the threads run. */
MUST_CHECK enum status worker_start(struct worker *worker, uint16_t port, char *error);
struct courier *worker_courier(struct worker *worker); /* its thread is the server's to run */
/* What each edge notes things in (funnel/anomaly/watch.h); a NULL: all rules are off. */
struct watch *const *worker_edge_watches(struct worker *worker);
struct purchase_traces *worker_purchase_traces(struct worker *worker); /* NULL: none is followed */
struct sale_meters *worker_sale_meters(struct worker *worker);
struct wake *worker_wake(struct worker *worker); /* also the client of its ports */
void worker_run(void *context);                  /* the worker; the thread, until worker_stop */
void worker_stop(struct worker *worker); /* any thread: writes what the log has, then ends */

/* Without a queue, one thread: as order_writing_heard (worker/order_writing.h). */
void worker_order_heard(struct worker *worker, uint64_t ticket, uint64_t user);
void worker_orders_heard_end(struct worker *worker);

/* Any thread. */
bool worker_ended(const struct worker *worker); /* the thread has done its last turn */
bool worker_leads(const struct worker *worker); /* this process does what only one may do */

#endif
