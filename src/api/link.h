/* SPDX-License-Identifier: Apache-2.0 */
/* api/link.h: the way between gateways and the worker on one machine. Each edge hands in jobs by rings of its
 * own (urgent ones by a second one) and gets them back by another, together with notes that an order has
 * changed: one ring for both, so that a note never overtakes the answer it is about. The worker also leaves
 * here how it fares, for /readyz.
 *
 * Jobs that only show a user its orders (job_kind_is_view) do not pass the worker: each edge has two rings
 * with each reader of order views (worker/view_readers.h), and hands a job to the one that has fewest of
 * its jobs. A note may overtake the answer of a reader; gateway/waits.c and push_table.h are ready for that.
 *
 * Bounded: there are fewer jobs than slots, so a job is never refused. Of notes it is enough to know that
 * there were some: when a ring has no room, the edge gets one note about "many" as soon as it has.
 * Threads: as said below. Memory: one arena at open. */
#ifndef STAMPEDE_API_LINK_H
#define STAMPEDE_API_LINK_H

#include "api/job.h"
#include "base/thread.h"

struct link;
MUST_CHECK enum status link_open(struct link **link, uint32_t edges, uint32_t view_readers);
void link_close(struct link *link); /* accepts NULL */
/* Before the threads run. */
void link_worker_wake(struct link *link, struct wake *wake);
void link_edge_wake(struct link *link, uint32_t edge, struct wake *wake);
void link_view_wake(struct link *link, uint32_t reader, struct wake *wake);
/* There are other processes, which hear of orders that have changed, too: whoever tells them is woken. */
void link_others_wake(struct link *link, struct wake *wake);

/* Edge threads. */
struct link_note {
    struct job *job;      /* NULL: an order has changed */
    ticket_number ticket; /* 0: many, look at all */
    user_id user;         /* whose; 0: nobody's */
};
void link_hand_in(struct link *link, uint32_t edge, struct job *job);
bool link_take_back(struct link *link, uint32_t edge, struct link_note *note);

/* The worker. */
struct job *link_next(struct link *link, uint32_t edge, bool urgent); /* NULL: none */
void link_return(struct link *link, struct job *job);
void link_order_changed(struct link *link, ticket_number ticket, user_id user); /* tells all edges */
void link_order_heard(struct link *link, ticket_number ticket, user_id user); /* from another process */
void link_many_changed(struct link *link); /* which ones is not known: all edges look at all */
/* From here to link_release no edge sees what is said: neither answers nor notes. */
void link_hold(struct link *link);
void link_release(struct link *link);
/* Wakes the edges that were told something; once for all that a turn has to say. Not while it is held. */
void link_flush(struct link *link);

/* The thread that tells other processes; false: there is nothing. */
bool link_others_take(struct link *link, struct link_note *note);

/* A reader of order views. */
struct job *link_view_next(struct link *link, uint32_t reader, uint32_t edge); /* NULL: none */
void link_view_return(struct link *link, uint32_t reader, struct job *job); /* the edge is woken */

/* Any thread. */
enum {
    DATABASE_SILENT_MS = 5000
}; /* a transaction of orders that takes longer: the database is away */
struct worker_health {
    bool away, stopped; /* the database; STOPPED: it is damaged */
    uint64_t lag;       /* records of the log that are not orders yet */
    const char *reason; /* what else keeps this process from selling, for people; NULL: nothing */
};
/* The thread that writes orders: after a turn; before it, since when it is in the database's hands. */
void link_health_set(struct link *link, const struct worker_health *health);
void link_health_asks(struct link *link, uint64_t since_ms);
/* Before the threads run: who can say at any moment, on any thread, what is wrong. The worker itself may be
 * waiting for a silent database. */
void link_health_from(
    struct link *link, void (*ask)(void *context, struct worker_health *health), void *context);
void link_health(const struct link *link, uint64_t now_ms, struct worker_health *health);

#endif
