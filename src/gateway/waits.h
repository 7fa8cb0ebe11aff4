/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/waits.h: requests that wait at their edge: order views for a change of the order, payers for the
 * address to pay at, returns of units until these are there. A request that waits holds no job: its job is
 * handed in again when the order has changed, and when the time is up. A view of a ticket that is being
 * decided waits in the same way, and its question goes to the inventory again. Once half of the table is
 * taken, one user has WAITS_PER_USER of it at most; a request that may not wait is answered at once.
 * An order view is read beside the worker (api/link.h), so news of its order may come before its job is
 * back: the job then saw the order as it was before, and is handed in again at once.
 * Thread: the edge's own. Memory: from the arena at create. */
#ifndef STAMPEDE_GATEWAY_WAITS_H
#define STAMPEDE_GATEWAY_WAITS_H

#include "api/reply_to.h"
#include "contract/types.h"

#include <stddef.h>

struct arena;
struct job;
struct routes;
struct waits;

enum {
    WAITS_MAX = 8192,
    WAITS_PER_USER = 32, /* once half of them are taken */
    WAIT_MAX_S = 30,
    WAITS_LOOK_MS = 20,      /* between two looks at which waits are over */
    WAITS_DECIDING_MS = 500, /* between two questions about a ticket: that it is void is no news */
};

/* The job to hand in again, or the question to the inventory. */
struct wait {
    uint8_t kind;   /* enum job_kind: JOB_ORDER, JOB_PAYMENT or JOB_RETURN */
    bool deciding;  /* a JOB_ORDER that the inventory has not let through yet (order_requests.h) */
    bool by_ticket; /* JOB_ORDER: it was asked for by the ticket's id, not by the order's */
    bool called;    /* there was news, but no job */
    struct reply_to to;
    user_id user;
    ticket_number ticket;
    uint64_t version_seen, until_ms;
    uint64_t again_ms; /* deciding: when to ask again without news */
    item_id item;
    uint32_t quantity;
};

size_t waits_bytes(void);
struct waits *waits_create(struct arena *arena);
bool waits_have_room(const struct routes *routes, user_id user);
void wait_start(struct routes *routes, const struct wait *wait); /* its first job */
void wait_add(struct routes *routes, const struct job *job);     /* a job that came back: not yet */
uint64_t waits_news_count(const struct routes *routes);          /* so much news was heard so far */
/* A ticket that is being decided. `news_seen`: when the inventory was asked. False: it may not wait. */
bool wait_deciding(struct routes *routes, const struct wait *wait, uint64_t news_seen);
void waits_news(struct routes *routes, ticket_number ticket, uint64_t now_ms); /* 0: of any */
void waits_turn(struct routes *routes, uint64_t now_ms);

#endif
