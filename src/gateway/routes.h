/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/routes.h: the edge's handler: which request goes where. One per edge; it owns its copy
 * of the keys, its port to the inventory, its jobs at the worker, and the requests that wait for
 * an order to change. The purchase path (funnel → inventory → answer) allocates nothing and
 * makes no system call.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_ROUTES_H
#define STAMPEDE_GATEWAY_ROUTES_H

#include "edge/edge.h"

struct config;
struct console_sessions;
struct customers;
struct door_channels;
struct funnel_keys;
struct handover;
struct human_shared;
struct inventory;
struct inventory_port;
struct item_rules;
struct key_ring;
struct limits;
struct link;
struct channel_rates;
struct lockout;
struct media_service;
struct pages;
struct password_checks;
struct purchase_traces;
struct reader_turns;
struct rooms;
struct sale_meters;
struct static_files;
struct switches;
struct watch;

struct routes_shared { /* the same for all edges */
    const struct config *config;
    const struct funnel_keys *keys;
    const struct door_channels *channels;
    struct inventory *inventory;
    bool inventory_shared; /* with other gateways: it is asked what only all together can answer */
    struct link *link;
    struct watch *const *watches; /* one for each edge; a NULL: all rules are off */
    struct sale_meters *meters;
    struct purchase_traces *traces; /* NULL: none is followed */
    struct rooms *rooms;
    struct customers *customers;
    const struct static_files *files;
    const struct pages *pages;
    struct media_service *media;
    const struct human_shared *human;
    const struct switches *switches;
    const struct item_rules *rules;
    struct limits *limits;
    struct channel_rates *channel_rates;
    struct lockout *lockout; /* addresses that showed wrong admin keys */
    struct console_sessions *console;
    struct password_checks *passwords;
    struct handover *catalog;  /* struct catalog */
    struct handover *settings; /* struct settings */
    struct key_ring *key_ring;
    struct handover *bans; /* struct ban_set */
    struct reader_turns *turns;
    _Atomic bool *draining;
};

struct routes;
MUST_CHECK enum status routes_open(struct routes **routes, const struct routes_shared *shared,
    uint32_t index, struct inventory_port *port);
void routes_close(struct routes *routes); /* accepts NULL */
/* All but turn, which is composed of the two below and the inventory's, where its loop hosts it. */
struct edge_handler routes_handler(struct routes *routes);
/* Up to the requests that go to the inventory. True: it has more to tell, in the next turn. */
bool routes_turn(struct routes *routes, uint64_t now_ms);
void routes_collect(struct routes *routes);                 /* its answers */
void routes_edge(struct routes *routes, struct edge *edge); /* before edge_run */

#endif
