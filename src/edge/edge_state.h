/* SPDX-License-Identifier: Apache-2.0 */
/* edge/edge_state.h: what one edge consists of. Private to edge.c (the loop) and serve.c (one
 * connection). */
#ifndef STAMPEDE_EDGE_EDGE_STATE_H
#define STAMPEDE_EDGE_EDGE_STATE_H

#include "base/arena.h"
#include "edge/buffers.h"
#include "edge/connection.h"
#include "edge/edge.h"

enum {
    EDGE_IN_BYTES = 16 * 1024,  /* received at once */
    EDGE_OUT_FLUSH = 64 * 1024, /* answers collected before a send */
    EDGE_OUT_BYTES = EDGE_OUT_FLUSH + EDGE_REPLY_MAX,
    EDGE_REQUESTS_PER_TURN = 128, /* of one connection; then the others */
    EDGE_SEND_PIECE = 32 * 1024,  /* of a long answer; then the others */
};

struct tls_stream;
struct websocket_parser;
struct edge_counts { /* since the last publication to the metrics */
    uint64_t accepted, closed, turned_away, requests, refused, timed_out;
};

struct edge {
    struct edge_config config;
    struct edge_handler handler;
    struct connections table;
    struct buffers buffers;
    uint32_t now; /* low bits of now_ms: deadlines are compared by difference */
    bool draining;
    uint64_t now_ms;               /* of this turn */
    uint64_t turn_ns;              /* the same, by clock_boot_ns */
    char *in;                      /* EDGE_IN_BYTES, of the connection being served */
    struct text out;               /* its answers */
    struct span body;              /* and what follows them */
    struct connection *serving;    /* NULL between connections */
    uint32_t *dirty, *dirty_spare; /* slots to look at after the turn, each once */
    uint32_t dirty_count;
    bool started_late; /* requests were started after the handler's turn */
    struct edge_counts counts;
    struct address client;              /* of the request being handled, if it was forwarded */
    struct websocket_parser *websocket; /* of all of them: each frame is parsed when it is whole */
    struct tls_stream **streams; /* by slot, for those that are secure; NULL: there is no TLS */
    struct thread_owner owner;

    int epoll_fd;
    int listen_fd;
    uint16_t port;
    bool listening; /* the listener is in the epoll set */
    bool own_listener;
    uint32_t listen_again; /* when, after the system refused to accept */
    uint32_t evict_hand;   /* where the next search of evict.c goes on */
    uint32_t swept;        /* when deadlines were last looked at */
    uint64_t drain_until_ms;
    _Atomic uint32_t wish; /* enum edge_wish, written by any thread */
    _Atomic uint32_t drain_ms;
    struct wake wake;
    struct arena arena;
};
/* edge.c: puts a socket into the epoll set; `data` comes back with its events. */
MUST_CHECK bool edge_watch(struct edge *edge, int fd, uint32_t events, uint64_t data);
enum edge_wish { EDGE_WISH_RUN, EDGE_WISH_DRAIN, EDGE_WISH_STOP };

static inline uint32_t edge_deadline(const struct edge *edge, uint32_t timeout_ms)
{
    uint32_t deadline = edge->now + timeout_ms;
    return deadline == 0 ? 1 : deadline; /* 0 means none */
}
static inline bool edge_deadline_passed(const struct edge *edge, uint32_t deadline)
{
    return deadline != 0 && (int32_t)(edge->now - deadline) >= 0;
}

#endif
