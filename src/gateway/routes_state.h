/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/routes_state.h: the state of one edge's handler, for the files that handle its requests. A part
 * that needs a structure of its own has it in its own file (asks.c, waits.c, push.c); nobody outside this
 * folder includes this header.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_ROUTES_STATE_H
#define STAMPEDE_GATEWAY_ROUTES_STATE_H

#include "base/arena.h"
#include "base/random.h"
#include "funnel/door.h"
#include "funnel/human/human.h"
#include "funnel/keys.h"
#include "gateway/job_shares.h"
#include "gateway/purchase_probe.h"
#include "gateway/routes.h"

struct admin_keys;
struct asks;
struct push;
struct settings;
struct traced;
struct waits;

struct routes {
    struct arena arena; /* it lives in it */
    struct routes_shared shared;
    uint32_t index;
    bool test_mode;                 /* config/test_mode.h */
    struct edge_handler redirected; /* what gateway/redirect.h stands before, if it does */
    uint16_t tls_port;
    struct edge *edge;
    struct inventory_port *port;
    struct funnel_keys keys;
    struct door door;
    struct random random;
    struct asks *asks;
    struct waits *waits;
    struct job_shares jobs;
    struct push *push;
    struct human human;
    const struct settings *settings; /* of this turn */
    const struct admin_keys *admin;  /* likewise */
    struct watch *watch;             /* NULL: no rule wants to know */
    struct sale_meters *meters;
    struct purchase_probe probe;
    struct traced *traced;
    bool refused;       /* a purchase of this turn was answered at the door */
    uint32_t sample_in; /* so many such turns, and one is timed (request_times.h) */
};

#endif
