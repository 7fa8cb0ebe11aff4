/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/client.h"

#include "edge/caller_counts.h"
#include "edge/proxy_protocol.h"
#include "edge/serve.h"

static bool client_known(struct edge *edge, struct connection *connection, const struct address *client)
{
    const struct trusted *trusted = edge->config.trusted;
    connection->client = *client;
    connection->forwarded = trusted != NULL && trusted_holds(trusted, client);
    if (connection->forwarded || edge->config.callers == NULL)
        return true; /* a proxy has as many connections as it needs */
    const enum caller_answer answer = caller_enter(edge->config.callers, client);
    connection->counted = (unsigned)answer & 3u;
    return answer != CALLER_TOO_MANY;
}

bool client_arrived(
    struct edge *edge, struct connection *connection, const struct address *client, bool anonymous)
{
    const bool let_in = client_known(edge, connection, client);
    /* A balancer that names nobody wrote no X-Forwarded-For either: anybody may have. */
    connection->forwarded = connection->forwarded && !anonymous;
    return let_in;
}

bool client_accepted(struct edge *edge, struct connection *connection, const struct address *peer)
{
    const struct trusted *trusted = edge->config.trusted;
    if (trusted == NULL || !trusted->proxy_protocol || !trusted_holds(trusted, peer))
        return client_known(edge, connection, peer);
    connection->client = *peer;
    connection->phase = PHASE_PROXY;
    connection->phase_until = edge_deadline(edge, edge->config.head_timeout_ms);
    edge->table.deadlines[connection->index] = connection->phase_until;
    return true;
}

bool client_told(struct edge *edge, struct connection *connection, struct span bytes, size_t *done)
{
    static const struct address nobody = { .bytes = { 0 } };
    struct address told = nobody; /* and stays so for UNKNOWN and LOCAL */
    const char *why = NULL;
    size_t size = 0;
    const enum proxy_result result = proxy_parse(bytes, &told, &size, &why);
    if (result == PROXY_PARTIAL) {
        connection->need = (uint32_t)size;
        *done = 0;
        return false;
    }
    if (result == PROXY_REFUSED) {
        serve_refuse(edge, connection, 400, why);
        *done = bytes.size;
        return false;
    }
    *done = size;
    connection->phase = PHASE_NONE;
    const bool named = !address_equal(&told, &nobody);
    const struct address client = named ? told : connection->client;
    if (client_arrived(edge, connection, &client, !named))
        return true;
    edge->counts.turned_away++;
    serve_refuse(edge, connection, 429, CLIENT_TOO_MANY);
    *done = bytes.size;
    return false;
}

void client_left(struct edge *edge, struct connection *connection)
{
    if (connection->counted != 0)
        caller_leave(edge->config.callers, &connection->client, connection->counted);
    connection->counted = 0;
}
