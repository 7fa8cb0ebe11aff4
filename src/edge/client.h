/* SPDX-License-Identifier: Apache-2.0 */
/* edge/client.h: whom a connection speaks for. The peer itself, unless it is a trusted proxy: then
 * whom its PROXY protocol header names, and after that, request by request, whom X-Forwarded-For
 * names. A client's address may have a limited number of connections (edge/caller_counts.h); those
 * of trusted proxies are not counted.
 * Thread: the edge's. */
#ifndef STAMPEDE_EDGE_CLIENT_H
#define STAMPEDE_EDGE_CLIENT_H

#include "edge/edge_state.h"
#include "edge/forwarded.h"

#define CLIENT_TOO_MANY \
    "There are too many connections of this address. Close some, and try again shortly."

/* A new connection. False: its address has too many, and this one is not counted. */
MUST_CHECK bool client_accepted(
    struct edge *edge, struct connection *connection, const struct address *peer);
/* A new connection whose client is known already. `anonymous`: a balancer carries it on and did not say for
 * whom. False: as above. */
MUST_CHECK bool client_arrived(
    struct edge *edge, struct connection *connection, const struct address *client, bool anonymous);
/* The first bytes of a trusted peer that must say for whom it speaks (PHASE_PROXY). False: they are
 * not all there, or were refused. *done: how many of them are done with. */
MUST_CHECK bool client_told(
    struct edge *edge, struct connection *connection, struct span bytes, size_t *done);
void client_left(struct edge *edge, struct connection *connection); /* it closes */

static inline void client_of_request(
    struct edge *edge, const struct connection *connection, struct http_request *request)
{
    request->client = &connection->client;
    if (__builtin_expect(connection->forwarded, 0)) {
        edge->client = connection->client;
        forwarded_client(edge->config.trusted, http_header_lines(request), &edge->client);
        request->client = &edge->client;
    }
}

#endif
