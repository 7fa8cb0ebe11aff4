/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/handshakes.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/ring.h"
#include "edge/accept.h"
#include "edge/caller_counts.h"
#include "edge/forwarded.h"
#include "edge/listener.h"
#include "edge/proxy_protocol.h"
#include "tls/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 64, /* handshakes that go on in one turn; then the next are accepted */
    ACCEPTS_MAX = 64,
    TICK_MS = 100,   /* deadlines are that exact */
    STOP_MS = 1000,  /* for those under way at the end */
    QUIET_MS = 1000, /* how long one that is done and asks for nothing stays here */
    NONE = UINT32_MAX,
};
#define EVENT_LISTENER UINT64_MAX
#define EVENT_WAKE (UINT64_MAX - 1)

/* A row each: name; label. */
#define RESULT_LIST(X) \
    X(DONE, "done") \
    X(RESUMED, "resumed") \
    X(FAILED, "failed") \
    X(LATE, "late") \
    X(REFUSED, "refused")
enum result {
#define RESULT(result, label) result,
    RESULT_LIST(RESULT)
#undef RESULT
        RESULTS,
};
#define RESULT(result, label) \
    [result] = METRIC_ROW(METRIC_COUNTER, "stampede_tls_handshakes_total", "result=\"" label "\"", \
        "TLS handshakes: done, done with a ticket, failed, too late, refused by a limit."),
static struct metric result_metrics[RESULTS] = { RESULT_LIST(RESULT) };
#undef RESULT
METRIC_TABLE(result_metrics);

struct handshake {
    int fd; /* -1: the slot is free */
    uint32_t generation;
    struct line *line;     /* it stands in; NULL: the slot is free */
    uint32_t older, newer; /* in its line; `newer` also links the free ones */
    bool counted;          /* its client is known, and counts if `entered` says so */
    bool anonymous;
    uint8_t entered; /* enum caller_answer */
    uint64_t until_ms;
    struct address client;
    struct tls_stream *stream; /* NULL: the PROXY protocol header comes first */
};

struct line { /* all of one have the same time, so the oldest is the first that is late */
    uint32_t oldest, newest;
};

struct handshakes {
    struct handshakes_config config;
    int listen_fd, epoll_fd;
    bool own_listener;
    struct wake wake, *edge;
    _Atomic bool stop;
    uint64_t now_ms;
    struct arena arena;
    struct ring arrivals; /* this thread to its edge's */
    struct ring dead;     /* its edge's to this thread: streams to be freed */
    struct handshake *slots;
    uint32_t free, count;
    struct line under_way, quiet; /* quiet: done, and its client has not asked for anything yet */
};

/* ---- open and close */

static bool watch(const struct handshakes *all, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = { .events = events, .data.u64 = data };
    return epoll_ctl(all->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static enum status memory_open(struct handshakes *all)
{
    const size_t bytes =
        HANDSHAKES_MAX * (sizeof *all->slots + sizeof(struct secure_arrival) + sizeof(void *)) + 4096;
    const enum status status = arena_open(&all->arena, bytes);
    if (status != STATUS_OK)
        return status;
    ring_create(&all->arrivals, &all->arena, HANDSHAKES_MAX, sizeof(struct secure_arrival));
    ring_create(&all->dead, &all->arena, HANDSHAKES_MAX, sizeof(struct tls_stream *));
    all->slots = arena_take(&all->arena, HANDSHAKES_MAX, sizeof *all->slots);
    for (uint32_t i = 0; i < HANDSHAKES_MAX; i++)
        all->slots[i] = (struct handshake){ .fd = -1, .newer = i + 1 < HANDSHAKES_MAX ? i + 1 : NONE };
    all->under_way = all->quiet = (struct line){ NONE, NONE };
    return STATUS_OK;
}

static enum status sockets_open(struct handshakes *all)
{
    all->own_listener = all->config.listen_fd < 0;
    all->listen_fd = all->config.listen_fd;
    if (all->own_listener) {
        const enum status status = listener_open(all->config.address, all->config.port, &all->listen_fd);
        if (status != STATUS_OK)
            return status;
    } else {
        const int flags = fcntl(all->listen_fd, F_GETFL);
        if (flags < 0 || fcntl(all->listen_fd, F_SETFL, flags | O_NONBLOCK) != 0)
            return STATUS_IO;
        (void)listener_prepare(all->listen_fd); /* a Unix socket has none of it */
    }
    all->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (all->epoll_fd < 0 || wake_open(&all->wake) != STATUS_OK)
        return STATUS_IO;
    return watch(all, all->listen_fd, EPOLLIN, EVENT_LISTENER)
            && watch(all, all->wake.fd, EPOLLIN, EVENT_WAKE)
        ? STATUS_OK
        : STATUS_IO;
}

enum status handshakes_open(struct handshakes **opened, const struct handshakes_config *config)
{
    struct handshakes *all = calloc(1, sizeof *all);
    *opened = NULL;
    if (all == NULL)
        return STATUS_FULL;
    all->config = *config;
    all->listen_fd = all->epoll_fd = all->wake.fd = -1;
    enum status status = memory_open(all);
    if (status == STATUS_OK)
        status = sockets_open(all);
    if (status == STATUS_OK) {
        *opened = all;
        return STATUS_OK;
    }
    const int why = errno;
    handshakes_close(all);
    errno = why;
    return status;
}

static void listener_end(struct handshakes *all)
{
    if (all->listen_fd < 0)
        return;
    if (all->epoll_fd >= 0)
        epoll_ctl(all->epoll_fd, EPOLL_CTL_DEL, all->listen_fd, NULL);
    if (all->own_listener)
        close(all->listen_fd);
    all->listen_fd = -1;
}

static void line_join(struct handshakes *all, struct line *line, struct handshake *one, uint32_t ms)
{
    const uint32_t index = (uint32_t)(one - all->slots);
    one->line = line;
    one->until_ms = all->now_ms + ms;
    one->older = line->newest;
    one->newer = NONE;
    *(line->newest == NONE ? &line->oldest : &all->slots[line->newest].newer) = index;
    line->newest = index;
}

static void line_leave(struct handshakes *all, struct handshake *one)
{
    struct line *line = one->line;
    *(one->older == NONE ? &line->oldest : &all->slots[one->older].newer) = one->newer;
    *(one->newer == NONE ? &line->newest : &all->slots[one->newer].older) = one->older;
    one->line = NULL;
}

static void caller_forget(struct handshakes *all, struct handshake *one)
{
    if (one->counted && one->entered != CALLER_TOO_MANY)
        caller_leave(all->config.callers, &one->client, (enum caller_answer)one->entered);
    one->counted = false;
}

static void slot_free(struct handshakes *all, struct handshake *one)
{
    const uint32_t index = (uint32_t)(one - all->slots);
    line_leave(all, one);
    caller_forget(all, one);
    one->fd = -1;
    one->stream = NULL;
    one->newer = all->free;
    all->free = index;
    all->count--;
}

/* The result of one that is quiet was counted when it was done. */
static void give_up(struct handshakes *all, struct handshake *one, enum result result)
{
    if (one->line == &all->under_way)
        metric_add(&result_metrics[result], 1);
    tls_stream_close(one->stream);
    close(one->fd);
    slot_free(all, one);
}

static void dead_free(struct handshakes *all)
{
    struct tls_stream *const *stream;
    while ((stream = ring_peek(&all->dead)) != NULL) {
        tls_stream_close(*stream);
        ring_pop(&all->dead);
        ring_release(&all->dead);
    }
}

void handshakes_close(struct handshakes *all)
{
    struct secure_arrival arrival;
    if (all == NULL)
        return;
    while (all->slots != NULL && all->under_way.oldest != NONE)
        give_up(all, &all->slots[all->under_way.oldest], LATE);
    while (all->slots != NULL && all->quiet.oldest != NONE)
        give_up(all, &all->slots[all->quiet.oldest], LATE);
    while (all->slots != NULL && handshakes_take(all, &arrival)) {
        tls_stream_close(arrival.stream);
        close(arrival.fd);
    }
    if (all->slots != NULL)
        dead_free(all);
    listener_end(all);
    if (all->epoll_fd >= 0)
        close(all->epoll_fd);
    if (all->wake.fd >= 0)
        wake_close(&all->wake);
    arena_close(&all->arena);
    free(all);
}

uint16_t handshakes_port(const struct handshakes *all)
{
    return listener_port(all->listen_fd);
}

void handshakes_lead_to(struct handshakes *all, struct wake *edge)
{
    all->edge = edge;
}

/* ---- one handshake */

/* The client is known: may it begin one more? Its stream is made then. */
static bool begin(struct handshakes *all, struct handshake *one)
{
    const struct handshakes_config *config = &all->config;
    if (config->trusted == NULL || !trusted_holds(config->trusted, &one->client)) {
        if (config->may_begin != NULL && !config->may_begin(config->context, &one->client, all->now_ms))
            return false;
        one->entered = config->callers == NULL ? (uint8_t)CALLER_UNCOUNTED
                                               : (uint8_t)caller_enter(config->callers, &one->client);
        one->counted = config->callers != NULL;
        if (one->entered == CALLER_TOO_MANY)
            return false;
    }
    one->stream = tls_stream_open(config->certificates, one->fd);
    return one->stream != NULL;
}

/* A header that must come first is looked at, and only then taken: what follows it is TLS. */
static bool header_read(struct handshake *one, enum tls_step *step)
{
    char bytes[PROXY_BLOCK_MAX + 16];
    struct address told = { .bytes = { 0 } };
    const struct address nobody = told;
    const char *why = NULL;
    size_t size = 0;
    const ssize_t got = recv(one->fd, bytes, sizeof bytes, MSG_PEEK);
    *step = got < 0 && (errno == EAGAIN || errno == EINTR) ? TLS_WAITS : TLS_FAILED;
    if (got <= 0)
        return false;
    const enum proxy_result result = proxy_parse(span_of(bytes, (size_t)got), &told, &size, &why);
    if (result == PROXY_PARTIAL)
        *step = TLS_WAITS;
    if (result != PROXY_COMPLETE || recv(one->fd, bytes, size, 0) != (ssize_t)size)
        return false;
    one->anonymous = address_equal(&told, &nobody);
    if (!one->anonymous)
        one->client = told;
    return true;
}

static void hand_over(struct handshakes *all, struct handshake *one)
{
    const struct secure_arrival arrival = {
        .fd = one->fd, .anonymous = one->anonymous, .stream = one->stream, .client = one->client
    };
    epoll_ctl(all->epoll_fd, EPOLL_CTL_DEL, one->fd, NULL);
    if (!ring_push(&all->arrivals, &arrival)) { /* its edge has not looked for a thousand of them */
        metric_add(&result_metrics[REFUSED], 1);
        give_up(all, one, REFUSED);
        return;
    }
    slot_free(all, one);
    wake_signal(all->edge);
}

/* Its client asks in the same moment, mostly, and its edge takes it. One that asks for nothing is not worth
 * a turn of those that sell: it stays here for a while, and a flood of handshakes never meets them. */
static void done(struct handshakes *all, struct handshake *one)
{
    metric_add(&result_metrics[tls_stream_is_resumed(one->stream) ? RESUMED : DONE], 1);
    caller_forget(all, one);
    line_leave(all, one);
    line_join(all, &all->quiet, one, QUIET_MS);
    if (tls_stream_has_bytes(one->stream))
        hand_over(all, one);
}

/* It has asked for something, or has gone. */
static void quiet_no_more(struct handshakes *all, struct handshake *one)
{
    char byte;
    const ssize_t got = recv(one->fd, &byte, 1, MSG_PEEK);
    if (got > 0)
        hand_over(all, one);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        give_up(all, one, FAILED);
}

static void go_on(struct handshakes *all, struct handshake *one)
{
    enum tls_step step = TLS_WAITS;
    if (one->line == &all->quiet) {
        quiet_no_more(all, one);
        return;
    }
    if (one->stream == NULL) {
        if (!header_read(one, &step)) {
            if (step == TLS_FAILED)
                give_up(all, one, FAILED);
            return;
        }
        if (!begin(all, one)) {
            give_up(all, one, REFUSED);
            return;
        }
    }
    step = tls_stream_handshake(one->stream);
    if (step == TLS_DONE)
        done(all, one);
    else if (step == TLS_FAILED)
        give_up(all, one, FAILED);
}

/* ---- the thread */

/* The one to close when all slots are taken: one that asks for nothing, else the oldest. */
static struct handshake *longest(const struct handshakes *all)
{
    return &all->slots[all->quiet.oldest != NONE ? all->quiet.oldest : all->under_way.oldest];
}

static void admit(struct handshakes *all, int fd, const struct address *peer)
{
    const struct trusted *trusted = all->config.trusted;
    if (all->free == NONE && all->quiet.oldest != NONE)
        hand_over(all, longest(all)); /* its edge may have a place */
    else if (all->free == NONE)
        give_up(all, longest(all), REFUSED);
    const uint32_t index = all->free;
    struct handshake *one = &all->slots[index];
    all->free = one->newer;
    *one = (struct handshake){ .fd = fd, .generation = one->generation + 1, .client = *peer };
    line_join(all, &all->under_way, one, all->config.timeout_ms);
    all->count++;
    const bool header = trusted != NULL && trusted->proxy_protocol && trusted_holds(trusted, peer);
    if (!header && !begin(all, one)) {
        give_up(all, one, REFUSED);
        return;
    }
    if (!watch(all, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, (uint64_t)one->generation << 32 | index))
        give_up(all, one, FAILED);
}

static void accept_new(struct handshakes *all)
{
    struct address peer;
    int fd;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        switch (accept_next(all->listen_fd, &fd, &peer)) {
        case ACCEPTED_ONE:
            admit(all, fd, &peer);
            break;
        case ACCEPTED_ALL:
            return;
        case ACCEPTED_GONE:
            break;
        case ACCEPTED_NO_PLACE:
            log_warn("tls", "no more connections can be accepted: %m");
            if (all->count == 0) {
                wake_wait(&all->wake, TICK_MS); /* until somebody else closes some */
                return;
            }
            give_up(all, longest(all), REFUSED);
            break;
        }
    }
}

static void event_handle(struct handshakes *all, const struct epoll_event *event)
{
    const uint64_t data = event->data.u64;
    if (data == EVENT_WAKE) {
        wake_clear(&all->wake);
        return;
    }
    if (data == EVENT_LISTENER) {
        if (all->listen_fd >= 0)
            accept_new(all);
        return;
    }
    struct handshake *one = &all->slots[(uint32_t)data];
    if (one->fd >= 0 && one->generation == (uint32_t)(data >> 32))
        go_on(all, one);
}

static bool is_late(const struct handshakes *all, const struct line *line)
{
    return line->oldest != NONE && all->slots[line->oldest].until_ms <= all->now_ms;
}

static void deadlines_watch(struct handshakes *all)
{
    while (is_late(all, &all->under_way))
        give_up(all, &all->slots[all->under_way.oldest], LATE);
    while (is_late(all, &all->quiet))
        hand_over(all, &all->slots[all->quiet.oldest]);
}

void handshakes_run(void *context)
{
    struct handshakes *all = context;
    struct epoll_event events[EVENTS_MAX];
    uint64_t end_ms = 0; /* 0: nobody wants the end */
    invariant(all->edge != NULL);
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    thread_half_take();
    for (;;) {
        const int count = epoll_wait(all->epoll_fd, events, EVENTS_MAX, TICK_MS);
        invariant(count >= 0 || errno == EINTR);
        all->now_ms = clock_now_ms();
        for (int i = 0; i < count; i++)
            event_handle(all, &events[i]);
        deadlines_watch(all);
        dead_free(all);
        if (end_ms == 0 && atomic_load(&all->stop)) {
            end_ms = all->now_ms + STOP_MS;
            accept_new(all); /* already connected from the client's point of view */
            listener_end(all);
        }
        while (end_ms != 0 && all->quiet.oldest != NONE)
            hand_over(all, &all->slots[all->quiet.oldest]); /* its edge ends or serves it */
        if (end_ms != 0 && (all->count == 0 || all->now_ms >= end_ms))
            return;
    }
}

void handshakes_stop(struct handshakes *all)
{
    atomic_store(&all->stop, true);
    wake_signal(&all->wake);
}

void handshakes_bury(struct handshakes *all, struct tls_stream *stream)
{
    if (!ring_push(&all->dead, &stream))
        tls_stream_close(stream);
}

bool handshakes_take(struct handshakes *all, struct secure_arrival *arrival)
{
    const struct secure_arrival *found = ring_peek(&all->arrivals);
    if (found == NULL)
        return false;
    *arrival = *found;
    ring_pop(&all->arrivals);
    ring_release(&all->arrivals);
    return true;
}
