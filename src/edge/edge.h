/* SPDX-License-Identifier: Apache-2.0 */
/* edge/edge.h: one epoll loop: sockets, connections, deadlines, replies in order. One edge per
 * core (SO_REUSEPORT). It knows HTTP but no routes: a handler (gateway/routes.c) decides.
 *
 * Reply forms. EDGE_REPLIED: the handler wrote a whole response head (and body) to `out`; a long
 * body that outlives the connection (static files) may be left in `reply->body` and is sent
 * without copying. EDGE_ANSWERED: a compact answer that is rendered when its turn comes.
 * EDGE_DEFERRED: the token is kept by the handler, and edge_complete or edge_complete_bytes
 * follows later (exactly once, never from inside the request call; a token whose connection has
 * gone is accepted and dropped).
 * Requests for which handler->overlaps says true may run while earlier ones of the same
 * connection are still deferred (pipelined purchases); they must end in EDGE_ANSWERED or
 * EDGE_DEFERRED + edge_complete. All others are started only when everything before them has
 * been answered. Replies always leave in the order of the requests, coalesced into as few sends
 * as possible.
 *
 * EDGE_UPGRADED: the handler wrote a 101 response (websocket_accept), never for a request that is
 * `closing`. From then on the connection is a websocket, named by edge_socket(token): its text
 * messages come to handler->message, its end to handler->gone (once), and edge_socket_send sends a
 * frame that was encoded before. Pings and closing are done here. A socket that does not read is cut,
 * never buffered for: EDGE_SOCKET_WAITING_MAX bytes may wait (one longer message may wait alone), and
 * send_timeout_ms must see progress. An idle one holds no buffer.
 *
 * HEAD: handlers answer as for GET; the edge cuts the body off and leaves Content-Length as it
 * is. A response given to edge_complete_bytes was written for the `closing` of its request; a
 * drain that came later closes all the same.
 *
 * More than connections_max: an unfinished request or the longest idle connection gives way
 * (edge/evict.h), else the new one gets a 503.
 *
 * Thread: everything here belongs to the edge's own thread (the one that calls edge_run), except
 * edge_open, edge_close, edge_port before and after that, and edge_wake, edge_stop, edge_drain
 * (any). Needs clock_start. Memory: connections, buffers and reply queues are pools sized at
 * create; an idle connection holds no buffer. */
#ifndef STAMPEDE_EDGE_EDGE_H
#define STAMPEDE_EDGE_EDGE_H

#include "base/text.h"
#include "base/thread.h"
#include "edge/http.h"

struct edge;
struct trusted;
struct caller_counts;
struct handshakes;

struct edge_answer { /* 32 bytes, opaque to the edge */
    uint8_t kind;
    uint8_t flags;
    uint16_t extra;
    uint32_t a;
    uint64_t b, c, d;
};
struct edge_reply {
    struct edge_answer answer; /* EDGE_ANSWERED */
    struct span body; /* EDGE_REPLIED: sent after `out`; must stay valid for the life of the program */
    /* EDGE_DEFERRED: its duration is told to edge_handler.timed with this mark; EDGE_NOT_TIMED: it is not. */
    uint8_t timed;
};
enum { EDGE_NOT_TIMED = UINT8_MAX };
/* The highest bits of a token are 0: room for the handler's own marks while it keeps one. */
enum { EDGE_TOKEN_SPARE_BITS = 6 };
enum { EDGE_SLOT_SHIFT = 12, EDGE_SLOT_BITS = 20 }; /* where a token has its connection's slot */
enum edge_verdict { EDGE_REPLIED, EDGE_ANSWERED, EDGE_DEFERRED, EDGE_UPGRADED };
enum edge_socket_end {
    EDGE_SOCKET_LEFT,   /* the peer closed, or the handler did */
    EDGE_SOCKET_SLOW,   /* it did not read */
    EDGE_SOCKET_SILENT, /* no sign of life */
    EDGE_SOCKET_BAD_FRAME,
    EDGE_SOCKET_DRAINED,
    EDGE_SOCKET_ENDS,
};

struct edge_handler {
    void *self;
    bool (*overlaps)(void *self, const struct http_request *request);
    /* Asked when the head is there and the body is not: whether it may use the buffers that are kept
     * back for bodies that must not be lost (callbacks of payment providers). NULL: none may. */
    bool (*favours)(void *self, const struct http_request *request);
    /* How long a body may be that is longer than EDGE_BODY_ANY; asked as soon as the head is there. A
     * longer one is refused with 413 before it is read. NULL: as long as edge_config.body_max. */
    uint32_t (*body_max)(void *self, const struct http_request *request);
    /* `closing`: the connection will close after this reply; say so (Connection: close) in what
     * is written to out. */
    enum edge_verdict (*request)(void *self, const struct http_request *request, uint64_t token,
        bool closing, struct text *out, struct edge_reply *reply);
    void (*render)(void *self, const struct edge_answer *answer, bool closing, struct text *out);
    /* What `render` would write with `closing` false, where it lies ready: good until the next call. An
     * empty span: it has to be rendered. NULL: always. */
    struct span (*ready)(void *self, const struct edge_answer *answer);
    /* Malformed HTTP or a limit: writes the problem document; the connection is closed after it. */
    void (*refuse)(void *self, int status, const char *why, struct text *out);
    /* Once per loop turn after all ready sockets were read, and at least every EDGE_TICK_MS. May
     * call edge_complete. True: it wants the next turn at once, whether or not a socket is ready. */
    bool (*turn)(void *turn_self, uint64_t now_ms);
    void *turn_self; /* NULL: self */
    /* A deferred request with a mark is being completed: so long after the turn that read it. NULL: none has
     * a mark. */
    void (*timed)(void *self, uint8_t mark, uint64_t us);
    /* Websockets only; NULL for a handler that never upgrades. */
    void (*message)(void *self, uint64_t socket, struct span text);
    void (*gone)(void *self, uint64_t socket, enum edge_socket_end end);
};

enum {
    EDGE_TICK_MS = 50,
    EDGE_BODY_ANY = 4 * 1024,     /* a body that every route takes */
    EDGE_OVERLAP_MAX = 64,        /* requests in flight on one connection */
    EDGE_REPLY_MAX = 1024 * 1024, /* bytes of one response in `out`; longer ones become a 500 */
    EDGE_SEND_PROGRESS = 16 * 1024,
    EDGE_TURNED_AWAY_SLOTS = 64, /* connections above the limit that are being told so */
    EDGE_SOCKET_WAITING_MAX = 16 * 1024,
    /* Frames of all kinds that a websocket may send in this time; no other limit counts them. */
    EDGE_SOCKET_MESSAGES_MAX = 64,
    EDGE_SOCKET_MESSAGES_MS = 10 * 1000,
};

struct edge_config {
    uint16_t port;
    const char *address; /* numeric: "127.0.0.1", "::", … */
    int listen_fd; /* >= 0: already listening (socket activation); else opened here with SO_REUSEPORT */
    uint32_t connections_max;
    /* 0: the default (edge.c). A request in flight that the handler does not complete in
     * request_timeout_ms is answered 504 and its connection closed. send_timeout_ms is for each
     * EDGE_SEND_PROGRESS bytes. */
    uint32_t head_timeout_ms, body_timeout_ms, idle_timeout_ms, send_timeout_ms, request_timeout_ms;
    /* Websockets: between two pings, and without a word from the peer. */
    uint32_t ping_ms, silence_ms;
    uint32_t body_max; /* HTTP_BODY_MAX at most; 0: that */
    int cpu;           /* pin to this core; -1: don't */
    /* Both shared by all edges, and alive as long as they are. */
    const struct trusted *trusted; /* proxies that may say who the client is; NULL: none */
    struct caller_counts *callers; /* connections by address; NULL: any number */
    /* TLS: hands over the connections whose handshake is done; alive until the edge has ended. NULL: none. */
    struct handshakes *handshakes;
    struct span secure_header; /* a header line, with its end, of each answer over TLS; or none */
};

MUST_CHECK enum status edge_open(
    struct edge **edge, const struct edge_config *config, const struct edge_handler *handler);
void edge_close(struct edge *edge);          /* accepts NULL */
uint16_t edge_port(const struct edge *edge); /* the real port when 0 was asked for */
void edge_run(struct edge *edge);            /* until drained, or edge_stop */
void edge_stop(struct edge *edge);           /* any thread: end at once */
/* Any thread: stop accepting, let requests in flight finish, close idle connections, end by the
 * deadline. */
void edge_drain(struct edge *edge, uint32_t deadline_ms);
struct wake *edge_wake(struct edge *edge); /* signal it from any thread to get a turn */
/* Before edge_run, or on its thread: while this descriptor can be read, the handler gets turns without
 * a pause. So a client of another server (redis/client.h) lives in this loop. It leaves when the
 * descriptor is closed. */
MUST_CHECK enum status edge_attend(struct edge *edge, int fd);

void edge_complete(struct edge *edge, uint64_t token, const struct edge_answer *answer);
/* A whole response, copied. */
void edge_complete_bytes(struct edge *edge, uint64_t token, struct span response);
/* Websockets. None of these calls handler->gone before it returns; a socket that has gone is
 * accepted. `code`: enum websocket_code. */
static inline uint64_t edge_socket(uint64_t token)
{
    return token >> EDGE_SLOT_SHIFT << EDGE_SLOT_SHIFT;
}
static inline uint32_t edge_socket_slot(uint64_t socket) /* below connections_max + EDGE_TURNED_AWAY_SLOTS */
{
    return (uint32_t)(socket >> EDGE_SLOT_SHIFT) & ((1u << EDGE_SLOT_BITS) - 1);
}
bool edge_socket_send(struct edge *edge, uint64_t socket, struct span frame); /* false: not taken */
void edge_socket_close(struct edge *edge, uint64_t socket, int code, const char *reason);
/* Whether the request that is being handled came over TLS of our own. */
bool edge_is_secure(const struct edge *edge);
/* Whether the request that is being handled came by a trusted proxy. */
bool edge_is_forwarded(const struct edge *edge, const struct http_request *request);
uint64_t edge_now_ms(const struct edge *edge);  /* server time at the start of this turn */
uint64_t edge_turn_us(const struct edge *edge); /* since the start of this turn; reads the clock */
bool edge_token_alive(const struct edge *edge, uint64_t token);

/* Any thread: connections that are open now, of all edges; a turn late. */
uint64_t edge_connections_open(void);

#endif
