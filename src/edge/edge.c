/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. One turn of the loop: wait; accept; serve every ready connection; let the handler have
 * its turn; serve the connections that got answers from it (each once, however many); now and
 * then look at the deadlines. Sockets are registered once, edge-triggered for both directions,
 * and never again. */
#include "edge/edge.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "edge/accept.h"
#include "edge/edge_state.h"
#include "edge/evict.h"
#include "edge/handshakes.h"
#include "edge/http_date.h"
#include "edge/listener.h"
#include "edge/quick.h"
#include "edge/sending.h"
#include "edge/serve.h"
#include "edge/websocket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 512,                                       /* sockets served in one turn */
    SWEEP_MS = 100,                                         /* deadlines are that exact */
    BUFFER_SMALL = EDGE_OVERLAP_MAX * sizeof(struct reply), /* half a head, or a queue of replies */
    BUFFER_MEDIUM = 16 * 1024,
    MEDIUM_SHARE = 16, /* connections per block */
    LARGE_SHARE = 64,
    HUGE_COUNT = 32,
    SHARE_MIN = 64,

    HEAD_TIMEOUT_MS = 10 * 1000,
    BODY_TIMEOUT_MS = 30 * 1000,
    IDLE_TIMEOUT_MS = 75 * 1000,
    SEND_TIMEOUT_MS = 30 * 1000,
    REQUEST_TIMEOUT_MS = 60 * 1000,
    PING_MS = 25 * 1000,
    SILENCE_MS = 60 * 1000,
};
/* What epoll gives back besides connections, which are generation and slot. */
#define EVENT_LISTENER UINT64_MAX
#define EVENT_WAKE (UINT64_MAX - 1)
#define EVENT_ATTENDED (UINT64_MAX - 2)

static_assert((int)BUFFER_SMALL < (int)BUFFER_MEDIUM, "buffer classes go from small to large");
static_assert(HTTP_REQUEST_MAX(0) > (int)BUFFER_MEDIUM, "a request without limits needs the large class");
static_assert(HTTP_REQUEST_MAX(HTTP_BODY_MAX) < (int)EDGE_OUT_BYTES, "the huge class is for answers");
static_assert(
    EDGE_IN_BYTES < HTTP_REQUEST_MAX(HTTP_BODY_MAX), "what was received and must wait can be kept");

COUNTER(metric_accepted, "stampede_edge_connections_accepted_total", "Connections accepted");
COUNTER(metric_closed, "stampede_edge_connections_closed_total", "Connections closed");
COUNTER(metric_turned_away, "stampede_edge_connections_refused_total",
    "Connections refused or closed because there were too many");
COUNTER(metric_requests, "stampede_edge_requests_total", "Requests started");
COUNTER(metric_refused, "stampede_edge_requests_refused_total", "Malformed, late or too long requests");
COUNTER(metric_timed_out, "stampede_edge_timeouts_total", "Connections closed because a deadline passed");

uint64_t edge_connections_open(void)
{
    const uint64_t closed = metric_read(&metric_closed), accepted = metric_read(&metric_accepted);
    return accepted > closed ? accepted - closed : 0;
}

static void counts_publish(struct edge *edge)
{
    metric_add(&metric_accepted, edge->counts.accepted);
    metric_add(&metric_closed, edge->counts.closed);
    metric_add(&metric_turned_away, edge->counts.turned_away);
    metric_add(&metric_requests, edge->counts.requests);
    metric_add(&metric_refused, edge->counts.refused);
    metric_add(&metric_timed_out, edge->counts.timed_out);
    edge->counts = (struct edge_counts){ 0 };
}

/* ---- open and close ---- */

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
    return value == 0 ? otherwise : value;
}

static struct edge_config config_complete(const struct edge_config *given)
{
    struct edge_config config = *given;
    config.head_timeout_ms = or_default(config.head_timeout_ms, HEAD_TIMEOUT_MS);
    config.body_timeout_ms = or_default(config.body_timeout_ms, BODY_TIMEOUT_MS);
    config.idle_timeout_ms = or_default(config.idle_timeout_ms, IDLE_TIMEOUT_MS);
    config.send_timeout_ms = or_default(config.send_timeout_ms, SEND_TIMEOUT_MS);
    config.request_timeout_ms = or_default(config.request_timeout_ms, REQUEST_TIMEOUT_MS);
    config.ping_ms = or_default(config.ping_ms, PING_MS);
    config.silence_ms = or_default(config.silence_ms, SILENCE_MS);
    if (config.body_max == 0 || config.body_max > HTTP_BODY_MAX)
        config.body_max = HTTP_BODY_MAX;
    return config;
}

static uint32_t share_of(uint32_t slots, uint32_t share)
{
    return slots / share < SHARE_MIN ? SHARE_MIN : slots / share;
}

static enum status memory_open(struct edge *edge)
{
    uint32_t slots = edge->config.connections_max + EDGE_TURNED_AWAY_SLOTS;
    const uint32_t bytes[BUFFER_CLASSES] = { BUFFER_SMALL, BUFFER_MEDIUM,
        HTTP_REQUEST_MAX(HTTP_BODY_MAX), EDGE_OUT_BYTES };
    const uint32_t count[BUFFER_CLASSES] = { slots, share_of(slots, MEDIUM_SHARE),
        share_of(slots, LARGE_SHARE), HUGE_COUNT };
    size_t list_bytes = sizeof(uint32_t) * (size_t)slots + 64;
    size_t stream_bytes = edge->config.handshakes == NULL ? 0 : sizeof *edge->streams * slots + 64;
    enum status status = arena_open(&edge->arena,
        connections_arena_bytes(slots) + buffers_arena_bytes(bytes, count) + 2 * list_bytes
            + stream_bytes + EDGE_IN_BYTES + EDGE_OUT_BYTES + 4096);
    if (status != STATUS_OK)
        return status;
    buffers_create(&edge->buffers, &edge->arena, bytes, count);
    connections_create(&edge->table, &edge->arena, &edge->buffers, slots);
    edge->dirty = arena_take(&edge->arena, slots, sizeof(uint32_t));
    edge->dirty_spare = arena_take(&edge->arena, slots, sizeof(uint32_t));
    edge->in = arena_take(&edge->arena, 1, EDGE_IN_BYTES);
    if (stream_bytes > 0)
        edge->streams = arena_take(&edge->arena, slots, sizeof *edge->streams);
    edge->out = text_in(arena_take(&edge->arena, 1, EDGE_OUT_BYTES), EDGE_OUT_BYTES);
    return STATUS_OK;
}

bool edge_watch(struct edge *edge, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = { .events = events, .data.u64 = data };
    return epoll_ctl(edge->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static enum status sockets_open(struct edge *edge)
{
    edge->own_listener = edge->config.listen_fd < 0;
    edge->listen_fd = edge->config.listen_fd;
    if (edge->own_listener) {
        enum status status = listener_open(edge->config.address, edge->config.port, &edge->listen_fd);
        if (status != STATUS_OK)
            return status;
    } else {
        int flags = fcntl(edge->listen_fd, F_GETFL);
        if (flags < 0 || fcntl(edge->listen_fd, F_SETFL, flags | O_NONBLOCK) != 0)
            return STATUS_IO;
        (void)listener_prepare(edge->listen_fd); /* a Unix socket has none of it */
    }
    edge->port = listener_port(edge->listen_fd);
    edge->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (edge->epoll_fd < 0 || !edge_watch(edge, edge->listen_fd, EPOLLIN, EVENT_LISTENER))
        return STATUS_IO;
    edge->listening = true;
    enum status status = wake_open(&edge->wake);
    if (status != STATUS_OK)
        return status;
    if (edge->config.handshakes != NULL)
        handshakes_lead_to(edge->config.handshakes, &edge->wake);
    return edge_watch(edge, edge->wake.fd, EPOLLIN, EVENT_WAKE) ? STATUS_OK : STATUS_IO;
}

enum status edge_open(
    struct edge **opened, const struct edge_config *config, const struct edge_handler *handler)
{
    *opened = NULL;
    if (config->connections_max == 0 || config->connections_max > CONNECTIONS_LIMIT - EDGE_TURNED_AWAY_SLOTS)
        return STATUS_BAD_INPUT;
    struct edge *edge = calloc(1, sizeof(*edge));
    if (edge == NULL)
        return STATUS_FULL;
    edge->config = config_complete(config);
    edge->handler = *handler;
    if (handler->turn_self == NULL)
        edge->handler.turn_self = handler->self;
    edge->epoll_fd = edge->listen_fd = edge->wake.fd = -1;
    edge->websocket = websocket_parser_create();
    enum status status = edge->websocket == NULL ? STATUS_FULL : memory_open(edge);
    if (status == STATUS_OK)
        status = sockets_open(edge);
    if (status == STATUS_OK) {
        *opened = edge;
        return STATUS_OK;
    }
    int why = errno;
    edge_close(edge);
    errno = why;
    return status;
}

static void listener_close(struct edge *edge)
{
    if (edge->listening)
        epoll_ctl(edge->epoll_fd, EPOLL_CTL_DEL, edge->listen_fd, NULL);
    edge->listening = false;
    if (edge->own_listener && edge->listen_fd >= 0)
        close(edge->listen_fd);
    edge->listen_fd = -1;
}

static void connections_close(struct edge *edge)
{
    for (uint32_t i = 0; i < edge->table.fresh; i++) {
        if (edge->table.slots[i].fd >= 0)
            serve_close(edge, &edge->table.slots[i]);
    }
}

void edge_close(struct edge *edge)
{
    if (edge == NULL)
        return;
    connections_close(edge);
    listener_close(edge);
    if (edge->epoll_fd >= 0)
        close(edge->epoll_fd);
    if (edge->wake.fd >= 0)
        wake_close(&edge->wake);
    websocket_parser_free(edge->websocket);
    arena_close(&edge->arena);
    free(edge);
}

uint16_t edge_port(const struct edge *edge)
{
    return edge->port;
}

struct wake *edge_wake(struct edge *edge)
{
    return &edge->wake;
}

enum status edge_attend(struct edge *edge, int fd)
{
    return edge_watch(edge, fd, EPOLLIN, EVENT_ATTENDED) ? STATUS_OK : STATUS_IO;
}

/* ---- the loop ---- */

static void event_handle(struct edge *edge, const struct epoll_event *event)
{
    uint64_t data = event->data.u64;
    if (data == EVENT_WAKE) {
        wake_clear(&edge->wake);
        if (edge->config.handshakes != NULL)
            accept_secure(edge);
        return;
    }
    if (data == EVENT_LISTENER) {
        if (edge->listening)
            accept_some(edge);
        return;
    }
    if (data == EVENT_ATTENDED)
        return; /* the handler's turn comes next */
    struct connection *connection = &edge->table.slots[(uint32_t)data];
    if (connection->fd < 0 || connection->generation != (uint32_t)(data >> 32))
        return; /* closed earlier in this turn */
    if (event->events & (EPOLLERR | EPOLLHUP)) {
        serve_close(edge, connection);
        return;
    }
    if (event->events & EPOLLRDHUP)
        connection->hung_up = true;
    if (event->events & (EPOLLIN | EPOLLRDHUP))
        connection->readable = true;
    else if (connection->out.data == NULL && connection->body.size == 0)
        return; /* it can be written to, and there is nothing to write */
    serve(edge, connection);
}

/* Those marked while this goes on are for the next turn. */
static void serve_dirty(struct edge *edge)
{
    uint32_t *list = edge->dirty, count = edge->dirty_count;
    edge->dirty = edge->dirty_spare;
    edge->dirty_spare = list;
    edge->dirty_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct connection *connection = &edge->table.slots[list[i]];
        connection->dirty = false;
        if (connection->fd >= 0)
            serve(edge, connection);
    }
}

static void sweep(struct edge *edge)
{
    if (edge->now - edge->swept < SWEEP_MS)
        return;
    edge->swept = edge->now;
    for (uint32_t i = 0; i < edge->table.fresh; i++) {
        if (edge_deadline_passed(edge, edge->table.deadlines[i]))
            serve_expired(edge, &edge->table.slots[i]);
    }
    evict_late_heads(edge);
    if (!edge->listening && edge->listen_fd >= 0 && edge_deadline_passed(edge, edge->listen_again))
        edge->listening = edge_watch(edge, edge->listen_fd, EPOLLIN, EVENT_LISTENER);
    counts_publish(edge);
}

static void drain_start(struct edge *edge)
{
    edge->draining = true;
    edge->drain_until_ms = edge->now_ms + atomic_load(&edge->drain_ms);
    accept_some(edge); /* already connected from the client's point of view */
    if (edge->config.handshakes != NULL)
        accept_secure(edge);
    listener_close(edge);
    for (uint32_t i = 0; i < edge->table.fresh; i++) {
        if (edge->table.slots[i].fd >= 0)
            serve_drain(edge, &edge->table.slots[i]);
    }
}

/* False: the edge is done. */
static bool wish_obey(struct edge *edge)
{
    uint32_t wish = atomic_load_explicit(&edge->wish, memory_order_acquire);
    if (wish == EDGE_WISH_STOP)
        return false;
    if (wish == EDGE_WISH_DRAIN && !edge->draining)
        drain_start(edge);
    return !edge->draining || (edge->table.open > 0 && edge->now_ms < edge->drain_until_ms);
}

static void time_read(struct edge *edge)
{
    edge->now_ms = clock_now_both(&edge->turn_ns);
    edge->now = (uint32_t)edge->now_ms;
    http_date_turn(edge->now_ms);
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        log_warn("edge", "could not be pinned to core %d: %m", cpu);
}

void edge_run(struct edge *edge)
{
    struct epoll_event events[EVENTS_MAX];
    bool again = false; /* the handler has more to do */
    thread_owner_take(&edge->owner);
    if (edge->config.cpu >= 0)
        pin(edge->config.cpu);
    time_read(edge);
    while (wish_obey(edge)) {
        /* A request that was started after the handler's turn waits for the next one: at once. */
        int timeout_ms = again || edge->dirty_count > 0 || edge->started_late ? 0 : EDGE_TICK_MS;
        int count = epoll_wait(edge->epoll_fd, events, EVENTS_MAX, timeout_ms);
        invariant(count >= 0 || errno == EINTR);
        time_read(edge);
        for (int i = 0; i < count; i++)
            event_handle(edge, &events[i]);
        again = edge->handler.turn(edge->handler.turn_self, edge->now_ms);
        uint64_t requests = edge->counts.requests;
        serve_dirty(edge);
        edge->started_late = edge->counts.requests != requests;
        sweep(edge);
    }
    connections_close(edge);
    counts_publish(edge);
    edge->owner = (struct thread_owner){ 0 };
}

void edge_stop(struct edge *edge)
{
    atomic_store_explicit(&edge->wish, EDGE_WISH_STOP, memory_order_release);
    wake_signal(&edge->wake);
}

void edge_drain(struct edge *edge, uint32_t deadline_ms)
{
    uint32_t run = EDGE_WISH_RUN;
    atomic_store(&edge->drain_ms, deadline_ms);
    atomic_compare_exchange_strong(&edge->wish, &run, EDGE_WISH_DRAIN); /* a stop is not taken back */
    wake_signal(&edge->wake);
}

/* ---- completions ---- */

static struct connection *waiting_find(struct edge *edge, uint64_t token, struct reply **reply)
{
    thread_owner_check(edge->owner);
    struct connection *connection = connection_find(&edge->table, token, reply);
    invariant(connection == NULL || (*reply)->state == REPLY_WAITING); /* a request is completed once */
    if (connection != NULL && __builtin_expect((*reply)->timed != EDGE_NOT_TIMED, 0))
        edge->handler.timed(
            edge->handler.self, (*reply)->timed, (clock_boot_ns() - (*reply)->since_ns) / 1000);
    return connection;
}

bool edge_is_secure(const struct edge *edge)
{
    return edge->serving != NULL && edge->serving->secure;
}

bool edge_is_forwarded(const struct edge *edge, const struct http_request *request)
{
    return request->client == &edge->client;
}

uint64_t edge_turn_us(const struct edge *edge)
{
    return (clock_boot_ns() - edge->turn_ns) / 1000;
}

void edge_complete(struct edge *edge, uint64_t token, const struct edge_answer *answer)
{
    struct reply *reply;
    struct connection *connection = waiting_find(edge, token, &reply);
    if (connection == NULL || quick_answer(edge, connection, answer))
        return;
    reply->state = REPLY_ANSWERED;
    reply->answer = *answer;
    serve_mark_dirty(edge, connection);
}

void edge_complete_bytes(struct edge *edge, uint64_t token, struct span response)
{
    struct reply *reply;
    struct connection *connection = waiting_find(edge, token, &reply);
    if (connection == NULL)
        return;
    bool is_next = reply == connection_oldest(connection) && edge->serving != connection
        && !reply->head_only && connection->out.data == NULL && connection->body.size == 0;
    if (is_next) {
        serve_send_now(edge, connection, response);
        return;
    }
    struct buffer bytes;
    serve_mark_dirty(edge, connection);
    if (!buffer_take(&edge->buffers, &bytes, response.size)) {
        connection->failed = true; /* closed when its turn comes, a moment later */
        return;
    }
    memcpy(bytes.data, response.data, response.size);
    bytes.size = (uint32_t)response.size;
    reply->state = REPLY_BYTES;
    reply->bytes = bytes;
}

uint64_t edge_now_ms(const struct edge *edge)
{
    return edge->now_ms;
}

bool edge_token_alive(const struct edge *edge, uint64_t token)
{
    struct reply *reply;
    return connection_find(&edge->table, token, &reply) != NULL;
}
