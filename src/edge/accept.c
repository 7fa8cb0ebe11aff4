/* SPDX-License-Identifier: Apache-2.0 */
/* edge/accept.c: new connections: each gets a place, or somebody else's who is idle, or a refusal. */
#include "edge/accept.h"

#include "base/log.h"
#include "edge/client.h"
#include "edge/evict.h"
#include "edge/handshakes.h"
#include "edge/sending.h"
#include "edge/serve.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ACCEPTS_MAX = 256,     /* connections accepted in one turn */
    ARRIVALS_MAX = 32,     /* the same of those with TLS */
    ACCEPT_PAUSE_MS = 100, /* after the system had no descriptor left */
};

/* Who connected. A Unix socket's peer is this machine. */
static struct address peer_of(const struct sockaddr_storage *from)
{
    const struct sockaddr_in *v4 = (const void *)from;
    const struct sockaddr_in6 *v6 = (const void *)from;
    struct address peer;
    if (from->ss_family == AF_INET)
        return address_from_v4(&v4->sin_addr);
    if (from->ss_family != AF_INET6)
        return address_from_v4(&(const uint32_t){ htonl(INADDR_LOOPBACK) });
    memcpy(peer.bytes, &v6->sin6_addr, sizeof peer.bytes);
    return peer;
}

int accept_next(int listen_fd, struct address *peer)
{
    struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
    socklen_t bytes = sizeof from;
    const int fd = accept4(listen_fd, (struct sockaddr *)&from, &bytes, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        *peer = peer_of(&from);
    return fd;
}

bool accept_is_short(int why)
{
    return why == EMFILE || why == ENFILE || why == ENOBUFS || why == ENOMEM;
}

/* A best-effort refusal, then a close without lingering. */
static void turn_away(struct edge *edge, struct connection *connection, int status, const char *why)
{
    edge->counts.turned_away++;
    edge->handler.refuse(edge->handler.self, status, why, &edge->out);
    if (connection->secure)
        (void)secure_send(edge, connection, text_span(&edge->out), SPAN_NONE);
    else
        (void)socket_send(connection->fd, edge->out.data, edge->out.size);
    edge->out.size = 0;
    serve_close(edge, connection);
}

/* `arrival`: of a connection over TLS; NULL: of any other. */
static void admit(
    struct edge *edge, int fd, const struct address *peer, const struct secure_arrival *arrival)
{
    bool too_many = edge->table.open >= edge->config.connections_max && !evict_for_place(edge);
    struct connection *connection = connection_open(&edge->table, fd);
    if (connection == NULL) {
        if (arrival != NULL)
            tls_stream_close(arrival->stream);
        close(fd);
        edge->counts.turned_away++;
        return;
    }
    if (arrival != NULL)
        secure_begin(edge, connection, arrival->stream);
    edge->counts.accepted++;
    uint64_t data = (uint64_t)connection->generation << 32 | connection->index;
    if (!edge_watch(edge, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, data)) {
        serve_close(edge, connection);
        return;
    }
    edge->table.deadlines[connection->index] = edge_deadline(edge, edge->config.idle_timeout_ms);
    const bool let_in = arrival != NULL ? client_arrived(edge, connection, peer, arrival->anonymous)
                                        : client_accepted(edge, connection, peer);
    if (!let_in) {
        turn_away(edge, connection, 429, CLIENT_TOO_MANY);
        return;
    }
    if (too_many) {
        edge->counts.turned_away++;
        serve_refuse(edge, connection, 503, "There are too many connections. Try again shortly.");
        serve(edge, connection);
    } else if (arrival != NULL) {
        serve(edge, connection); /* its first request may have come with the end of the handshake */
    }
}

void accept_secure(struct edge *edge)
{
    struct secure_arrival arrival;
    for (int i = 0; i < ARRIVALS_MAX; i++) {
        if (!handshakes_take(edge->config.handshakes, &arrival))
            return;
        admit(edge, arrival.fd, &arrival.client, &arrival);
    }
    wake_signal(&edge->wake); /* the others, then the rest */
}

void accept_some(struct edge *edge)
{
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        struct address peer;
        const int fd = accept_next(edge->listen_fd, &peer);
        if (fd >= 0) {
            admit(edge, fd, &peer, NULL);
            continue;
        }
        if (errno == EAGAIN)
            return;
        if (!accept_is_short(errno))
            continue; /* that connection has gone already */
        log_warn("edge", "no more connections can be accepted: %m");
        if (!evict_for_place(edge)) {
            epoll_ctl(edge->epoll_fd, EPOLL_CTL_DEL, edge->listen_fd, NULL);
            edge->listening = false;
            edge->listen_again = edge_deadline(edge, ACCEPT_PAUSE_MS);
            return;
        }
    }
}
