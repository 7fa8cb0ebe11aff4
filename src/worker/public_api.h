/* SPDX-License-Identifier: Apache-2.0 */
/* worker/public_api.h: requests of users that the desk answers: to orders, payments and the waitlist.
 * The edge checks the session and that such a path exists; each handler runs on the desk, answers the
 * job, and changes nothing when it refuses. */
#ifndef STAMPEDE_WORKER_PUBLIC_API_H
#define STAMPEDE_WORKER_PUBLIC_API_H

#include "edge/http.h"
#include "worker/worker_parts.h"

/* Whether there is such a path under /v1, and whether it takes the method. PUBLIC_BUYS: it does, and may
 * lead to a unit without passing the door again, so who is banned is refused. PUBLIC_ENTERS: the same,
 * and nothing that was asked at the door stands behind it, so it takes a pass for the item of the path.
 * Any thread. */
enum public_known { PUBLIC_UNKNOWN, PUBLIC_OTHER_METHOD, PUBLIC_KNOWN, PUBLIC_BUYS, PUBLIC_ENTERS };
struct public_found {
    enum public_known known;
    uint32_t id;       /* the number in the path */
    uint32_t body_max; /* a longer body is refused before it is read */
    bool pays;         /* its answer may have to wait for a payment provider */
};
struct public_found public_api_find(enum http_method method, struct span path);

/* `id`: the number in the path, or 0. job->user: whose session; job->ticket: the order in the path. */
typedef void (*public_handler)(struct desk *desk, struct job *job, uint32_t id);

/* The order of the path, if it is this user's; else the job is answered. Thread: the desk. */
MUST_CHECK bool public_order_read(struct desk *desk, struct job *job, struct order *order);
void public_order_reply(struct desk *desk, struct job *job, int status, const struct order *order);

/* waitlist_requests.c */
void public_waitlist_join(struct desk *desk, struct job *job, uint32_t id);
void public_waitlist_show(struct desk *desk, struct job *job, uint32_t id);
void public_waitlist_leave(struct desk *desk, struct job *job, uint32_t id);

/* order_view.c */
void public_order_cancel(struct desk *desk, struct job *job, uint32_t id);

#endif
