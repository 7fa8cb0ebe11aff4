/* SPDX-License-Identifier: Apache-2.0 */
/* edge/connection.h: the table of connections, their tokens, and the replies that each one owes,
 * in order. An idle connection is one `struct connection` and one deadline, nothing else.
 *
 * A token names a request: slot of the table (20 bits), generation of the slot (27), sequence
 * number of the request on its connection (12). A token of a connection that has gone, or of a
 * request that was answered, is told apart.
 *
 * Thread: the edge's. Memory: the table from the arena at create; a queue of replies comes from
 * the buffers, and only for a connection that has more than one request in flight. */
#ifndef STAMPEDE_EDGE_CONNECTION_H
#define STAMPEDE_EDGE_CONNECTION_H

#include "base/address.h"
#include "edge/buffers.h"
#include "edge/edge.h"

#include <assert.h>

enum {
    CONNECTION_INDEX_BITS = EDGE_SLOT_BITS,
    CONNECTION_SEQUENCE_BITS = EDGE_SLOT_SHIFT,
    CONNECTION_GENERATION_BITS = 32 - EDGE_TOKEN_SPARE_BITS,
    CONNECTIONS_LIMIT = 1 << CONNECTION_INDEX_BITS,
};
static_assert((EDGE_OVERLAP_MAX & (EDGE_OVERLAP_MAX - 1)) == 0, "queue index uses a mask");
static_assert(EDGE_OVERLAP_MAX < 1 << (CONNECTION_SEQUENCE_BITS - 1),
    "a token tells every request in flight apart");

enum reply_state { REPLY_WAITING, REPLY_ANSWERED, REPLY_BYTES };
struct reply { /* one request that was started and is not answered yet, or not in its turn */
    uint8_t state;
    bool head_only;      /* the request was HEAD */
    uint8_t timed;       /* while it waits: edge_reply.timed */
    uint32_t started_ms; /* low bits of the edge's clock */
    union {
        uint64_t since_ns; /* while it waits: edge.turn_ns of its start */
        struct edge_answer answer;
        struct buffer bytes;
    };
};

enum connection_phase {
    PHASE_NONE,
    PHASE_HEAD,
    PHASE_BODY,      /* of a request that is only partly there */
    PHASE_WEBSOCKET, /* no HTTP any more: websocket_serve.c */
    PHASE_PROXY,     /* a trusted peer that has not said yet for whom it speaks */
};

typedef uint32_t connection_flag; /* 0 or 1. Not bool: so the compiler can test several at once */

struct connection {
    int fd; /* -1: the slot is free */
    uint32_t generation;
    uint32_t index;
    uint32_t next_free;
    uint32_t sequence_next; /* requests started */
    uint32_t sequence_done; /* replies rendered; the difference is what it owes */
    struct buffer in;       /* bytes that wait for the rest of their request, or for their turn */
    struct buffer out;      /* bytes that the socket did not take, from out_at on */
    uint32_t out_at;
    uint32_t need;        /* do not parse `in` before it has this size; websocket: next ping */
    struct span body;     /* what follows `out`, not ours */
    uint32_t phase_until; /* deadline of the partial request; websocket: of the next sign of life */
    uint32_t send_until;  /* deadline of the next SEND_PROGRESS bytes of `out` and `body` */
    uint32_t sent_bytes;  /* since send_until was set */
    uint32_t linger_bytes;  /* dropped since the last answer */
    const char *refuse_why; /* a refusal that waits for its turn */
    uint16_t refuse_status; /* 0: none; websocket: enum edge_socket_end */
    uint16_t messages;      /* websocket: received since messages_from */
    uint32_t messages_from;
    uint8_t phase;
    connection_flag readable : 1;  /* the socket may have bytes */
    connection_flag hung_up : 1;   /* the peer has closed its side; read until there is nothing */
    connection_flag ended : 1;     /* and all was read */
    connection_flag blocked : 1;   /* the next request in `in` must wait for replies */
    connection_flag continued : 1; /* 100 Continue was sent for the partial request */
    connection_flag finishing : 1; /* no request is started any more; close after the last reply */
    connection_flag linger : 1;    /* close gently: bytes of the peer may be unread */
    connection_flag lingering : 1;
    connection_flag failed : 1;     /* the socket is broken, or a bound was hit: close at once */
    connection_flag takes_more : 1; /* the socket took all that it was last offered */
    connection_flag dirty : 1;      /* in the list of connections to look at after the turn */
    connection_flag forwarded : 1; /* the client is a trusted proxy: the request may name another */
    connection_flag refuse_head : 1; /* the refused request was HEAD: no body */
    connection_flag favoured : 1; /* its unfinished request may use the buffers that are kept back */
    connection_flag counted : 2;  /* enum caller_answer; 0: not counted */
    connection_flag secure : 1;   /* TLS: its stream is in edge.streams (edge/secure.h) */
    struct address client;        /* the peer, or whom it speaks for by the PROXY protocol */
    struct buffer queue; /* EDGE_OVERLAP_MAX replies by sequence; none: `single` is the only one */
    struct reply single;
};
static_assert(sizeof(struct connection) <= 256, "an idle connection costs about that");

struct connections {
    struct connection *slots;
    uint32_t *deadlines; /* by slot, low bits of the clock in ms; 0: none */
    struct buffers *buffers;
    uint32_t count; /* slots */
    uint32_t fresh; /* slots from here on were never used */
    uint32_t free;  /* head of the list, CONNECTION_NONE at its end */
    uint32_t open;
};
#define CONNECTION_NONE UINT32_MAX

size_t connections_arena_bytes(uint32_t count);
void connections_create(
    struct connections *table, struct arena *arena, struct buffers *buffers, uint32_t count);
/* A slot for the descriptor, or NULL when all are taken. */
struct connection *connection_open(struct connections *table, int fd);
/* Gives everything back, does not close the descriptor. Its tokens are stale from now on. */
void connection_close(struct connections *table, struct connection *connection);

uint64_t connection_token(const struct connection *connection, uint32_t sequence);
/* The websocket that a token of its upgrade named; NULL: it has gone. */
struct connection *connection_find_websocket(const struct connections *table, uint64_t socket);
/* The connection and the reply it still owes for the token, or NULL if it is stale. */
struct connection *connection_find(const struct connections *table, uint64_t token, struct reply **reply);

static inline uint32_t connection_owes(const struct connection *connection)
{
    return connection->sequence_next - connection->sequence_done;
}
/* Nothing is kept, half done or about to end, and no TLS; what it owes is another question. */
static inline bool connection_is_calm(const struct connection *connection)
{
    return connection->phase == PHASE_NONE && connection->hung_up == 0 && connection->ended == 0
        && connection->finishing == 0 && connection->lingering == 0 && connection->failed == 0
        && connection->secure == 0 && connection->refuse_status == 0 && connection->in.data == NULL
        && connection->out.data == NULL && connection->body.size == 0;
}
/* Whether one more request may start; takes a queue if it needs one. */
bool connection_may_owe_more(struct connections *table, struct connection *connection);
/* The reply for the next sequence number, waiting. connection_may_owe_more said yes. */
struct reply *connection_owe(struct connection *connection, uint32_t now_ms);
struct reply *connection_oldest(struct connection *connection); /* it owes at least one */
void connection_paid(struct connections *table, struct connection *connection); /* the oldest was rendered */
void connection_forgive(struct connections *table, struct connection *connection); /* drops all it owes */

#endif
