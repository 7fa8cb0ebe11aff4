/* SPDX-License-Identifier: Apache-2.0 */
/* api/job.h: what a gateway (an edge thread) asks of the worker (the database thread), and what comes back.
 * Together with api/link.h, which carries it, this is the seam between the two: neither includes the other.
 *
 * A job belongs to its edge, except between link_hand_in and link_take_back, when it is the worker's. The
 * worker answers with a status and a body (api/job_reply.h); the edge writes the HTTP around it. */
#ifndef STAMPEDE_API_JOB_H
#define STAMPEDE_API_JOB_H

#include "api/reply_to.h"
#include "base/address.h"
#include "base/span.h"
#include "config/admin_keys.h"
#include "contract/command.h"
#include "edge/http.h"

enum {
    JOB_RESPONSE_BYTES = 256 * 1024, /* the longest answer; most shares have less */
    JOB_HEAD_BYTES = 1024,           /* at its front, where the edge writes the HTTP head */
    JOB_HEADERS_BYTES = 256,         /* header lines that the worker adds */
    JOB_BODY_SMALL = 8 * 1024, /* the longest body of a request, where it is not HTTP_BODY_MAX */
};

enum job_kind {
    JOB_ORDER,
    JOB_ORDERS,
    JOB_PAYMENT,
    JOB_RETURN, /* a JOB_PUBLIC that gave units back and waits until they are there */
    JOB_PUBLIC,
    JOB_OUTSIDE,
    JOB_PUSH,
    JOB_LIMIT, /* a purchase that may pass a limit over a period */
    JOB_ADMIN,
};
/* It only reads what is a user's own: a reader does it (api/link.h), not the worker. */
static inline bool job_kind_is_view(enum job_kind kind)
{
    return kind == JOB_ORDER || kind == JOB_ORDERS || kind == JOB_PUSH || kind == JOB_LIMIT;
}
/* Whose places a job takes (gateway/job_shares.h). The worker does the urgent ones first. */
enum job_share {
    SHARE_ADMIN,
    SHARE_SHOP,
    SHARE_CHANNEL,
    SHARE_CALLBACK,
    SHARE_SANDBOX,
    SHARE_PAY,
    SHARE_VIEW,
    SHARE_PUSH,
    SHARE_LIMIT,
    JOB_SHARES,
};
static inline bool job_share_is_urgent(enum job_share share)
{
    return share == SHARE_ADMIN || share == SHARE_CALLBACK;
}
enum job_result {
    JOB_REPLY,
    /* The order has not changed, or its payment can't be paid yet: the request waits at the edge, which
     * hands it in again on news or at wait_until_ms. JOB_PUSH, JOB_LIMIT: no store now. */
    JOB_NOT_YET,
};

struct job {
    struct reply_to to;
    enum job_kind kind;
    enum job_result result;
    uint8_t share; /* enum job_share; never changes */
    uint32_t edge; /* whose */
    /* All but JOB_OUTSIDE and JOB_ADMIN; the ticket: all about an order */
    user_id user;
    ticket_number ticket;
    item_id item;
    uint32_t quantity;
    /* JOB_ORDER: 0: any order will do. JOB_RETURN: by the worker, when the units were given back. */
    uint64_t version_seen;
    uint64_t news_seen;     /* JOB_ORDER: news that its edge had heard when it was handed in */
    bool may_wait;          /* the edge has room for it to wait */
    uint64_t wait_until_ms; /* JOB_PUBLIC: set by the worker with JOB_NOT_YET */
    /* JOB_PUBLIC, JOB_OUTSIDE, JOB_ADMIN: spans point into `request` */
    enum http_method method;
    struct span path, query, body;
    uint8_t route;         /* JOB_PUBLIC: enum public_route (api/public_routes.h) */
    uint32_t path_id;      /* JOB_PUBLIC: the number in the path, or 0 */
    struct span head;      /* JOB_OUTSIDE: header lines as they came */
    struct address client; /* JOB_PUBLIC: who asks */
    bool check_failed;     /* by the worker: what was shown is forged; the edge notes it */
    /* JOB_LIMIT: what goes on to the inventory if it is within the limit, which a reader says */
    struct command_reserve wish;
    uint64_t pass_mark; /* door_result.pass_mark */
    uint64_t limit_group;
    uint32_t period_limit, period_days;
    bool within;
    /* JOB_ADMIN */
    char actor[ADMIN_NAME_MAX + 1];
    enum admin_role role;
    channel_index channel;        /* ADMIN_CHANNEL: whose key it is */
    struct span key;              /* the Idempotency-Key; empty: none */
    struct command_origin origin; /* of its commands */
    bool commanded;               /* the inventory has, or may have, changed something for it */
    enum status audited;          /* of its audit rows: the first that failed */
    /* The answer: the body begins at response + JOB_HEAD_BYTES. */
    int status;
    const char *type; /* of the body; NULL: there is none */
    char headers[JOB_HEADERS_BYTES];
    size_t headers_size, body_size;
    char *request, *response; /* as long as the share says */
    size_t request_bytes, response_bytes;
    struct job *next; /* the edge's own list of free jobs */
};

static inline struct span job_response_body(const struct job *job)
{
    return span_of(job->response + JOB_HEAD_BYTES, job->body_size);
}

#endif
