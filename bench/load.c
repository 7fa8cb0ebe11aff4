/* SPDX-License-Identifier: Apache-2.0 */
/* Load client: one thread, one epoll loop, requests that are built before they are needed.
 *
 * DESIGN
 * Closed loop (no --rate): every connection sends `depth` requests with one send, waits for all
 * their replies, sends the next. That is as lean as a client can be, and it finds out how much a
 * server can do; its latencies only describe that load.
 * Open loop (--rate R): request k is due at start + k/R whatever the server does, goes out on the
 * connection that has been free for longest, and its latency counts from when it was *due*: a
 * stalled server can't hide the requests that it kept from being sent. The loop spins, so that the
 * client adds no wake-up of its own.
 * Replies count from the end of the warm-up to the end of the run; what is still in flight then is
 * awaited (bounded) but not counted, so that --outcomes knows every answer.
 * One line of JSON goes to standard output. Connects to 127.0.0.1 only; every run is bounded. */
#include "base/latency.h"
#include "load_options.h"
#include "reply.h"
#include "source.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum {
    EVENTS_MAX = 512,
    RECEIVE_BYTES_BASE = 8192,
    RECEIVE_BYTES_PER_REQUEST = 1024,
    DRAIN_SECONDS_MAX = 5,
    HOLD_SECONDS_MAX = 600,
};
static const uint64_t NS_PER_S = 1000000000, TICK_NS = 200000;

struct connection {
    int fd;
    bool prepared; /* `out` holds `depth` copies of the template */
    uint32_t in_flight;
    uint32_t answered; /* of this round */
    uint64_t rounds;
    size_t out_bytes, out_sent;
    size_t in_bytes;
    uint64_t due_ns;
    char *out;
    char *in;
    uint64_t *indices; /* of the requests of this round */
};

struct load {
    struct options options;
    struct source source;
    struct connection *connections;
    size_t in_capacity;
    int epoll;
    FILE *outcomes;

    uint32_t *free_ring; /* open loop: connections without a request, longest free first */
    uint64_t free_head, free_tail;

    uint64_t sent;     /* requests handed to connections, warm-up included */
    uint64_t answered; /* replies, warm-up included */
    uint32_t closed;   /* connections that the server closed */
    bool exhausted;    /* --once and every request of the source was sent */

    bool counting;
    uint64_t start_ns, count_from_ns, end_ns, last_ns;
    uint64_t replies, bytes, errors;
    uint64_t by_status[REPLY_STATUS_MAX];
    struct latency latency;
    uint32_t gaps_20ms, gaps_50ms; /* times without an answer that were longer */
    uint64_t longest_gap_ns;
    double busy_start_s;
};

static void fail(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    exit(2);
}

static void fail_errno(const char *what)
{
    fprintf(stderr, "load: %s: %m\n", what);
    exit(2);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* -- sending ----------------------------------------------------------------------------------- */

/* Which request comes next on this connection; false when there is none left. Without --once,
 * connection i of n cycles through i, i + n, i + 2n… so that a user stays on one connection; with
 * it, each request goes out once. */
static bool request_next(
    struct load *load, const struct connection *connection, uint64_t offset, uint64_t *index)
{
    const struct options *options = &load->options;
    if (options->count != 0 && load->sent == options->count)
        return false;
    if (options->once) {
        *index = load->sent;
        load->exhausted = load->sent >= load->source.count;
        return !load->exhausted;
    }
    uint64_t number = (uint64_t)(connection - load->connections);
    *index = (number + (connection->rounds * options->depth + offset) * options->connections)
        % load->source.count;
    return true;
}

static void connection_lost(struct load *load, struct connection *connection)
{
    load->errors += connection->in_flight;
    load->answered += connection->in_flight;
    load->closed++;
    close(connection->fd);
    connection->fd = -1;
    connection->in_flight = 0;
}

static void connection_flush(struct load *load, struct connection *connection)
{
    ssize_t bytes = send(connection->fd, connection->out + connection->out_sent,
        connection->out_bytes - connection->out_sent, MSG_NOSIGNAL);
    if (bytes >= 0)
        connection->out_sent += (size_t)bytes;
    else if (errno != EAGAIN)
        connection_lost(load, connection);
}

/* Fills one round and sends it. Nothing happens when no request is left. */
static void connection_send(struct load *load, struct connection *connection, uint64_t due_ns)
{
    uint64_t index;
    uint32_t number = 0;
    size_t bytes = 0;
    while (number < load->options.depth && request_next(load, connection, number, &index)) {
        bytes += source_write(&load->source, index, connection->out + bytes, connection->prepared);
        connection->indices[number++] = index;
        load->sent++;
    }
    if (number == 0)
        return;
    connection->prepared = connection->prepared || number == load->options.depth;
    connection->rounds++;
    connection->in_flight = number;
    connection->answered = 0;
    connection->due_ns = due_ns;
    connection->out_bytes = bytes;
    connection->out_sent = 0;
    connection_flush(load, connection);
}

/* -- receiving --------------------------------------------------------------------------------- */

static void outcome_write(struct load *load, uint64_t index, const struct reply *reply)
{
    size_t ticket_bytes = 1, order_bytes = 1;
    const char *ticket = reply_member(reply, "\"ticket\":", &ticket_bytes);
    const char *order = reply_member(reply, "\"order\":", &order_bytes);
    fprintf(load->outcomes, "%" PRIu64 "\t%u\t%.*s\t%.*s\n", index, reply->status, (int)ticket_bytes,
        ticket != NULL ? ticket : "-", (int)order_bytes, order != NULL ? order : "-");
}

/* A time without any counted answer. */
static void gap_note(struct load *load, uint64_t now)
{
    const uint64_t since = load->last_ns > load->count_from_ns ? load->last_ns : load->count_from_ns;
    const uint64_t gap = now > since ? now - since : 0;
    load->gaps_20ms += gap > 20 * UINT64_C(1000000);
    load->gaps_50ms += gap > 50 * UINT64_C(1000000);
    load->longest_gap_ns = gap > load->longest_gap_ns ? gap : load->longest_gap_ns;
}

static void reply_count(
    struct load *load, struct connection *connection, const struct reply *reply, uint64_t now)
{
    if (load->outcomes != NULL)
        outcome_write(load, connection->indices[connection->answered], reply);
    connection->answered++;
    connection->in_flight--;
    load->answered++;
    bool due_counts = load->options.rate > 0
        ? connection->due_ns >= load->count_from_ns && connection->due_ns < load->end_ns
        : load->counting && now < load->end_ns;
    if (!due_counts)
        return;
    load->replies++;
    load->bytes += reply->bytes;
    load->by_status[reply->status]++;
    gap_note(load, now);
    load->last_ns = now;
    latency_add(&load->latency, now > connection->due_ns ? now - connection->due_ns : 0);
}

/* Takes whole replies off the connection's bytes and keeps the rest. */
static void connection_parse(struct load *load, struct connection *connection, uint64_t now)
{
    size_t at = 0;
    while (at < connection->in_bytes) {
        struct reply reply;
        const char *text = connection->in + at;
        size_t bytes = connection->in_bytes - at;
        enum reply_state state = load->options.resp ? reply_parse_resp(text, bytes, &reply)
                                                    : reply_parse_http(text, bytes, &reply);
        if (state == REPLY_MORE)
            break;
        if (state == REPLY_BROKEN || connection->in_flight == 0) {
            fprintf(stderr, "load: a reply that was not expected: %.*s\n",
                (int)(bytes < 200 ? bytes : 200), text);
            exit(2);
        }
        if (load->options.resp && reply.status == REPLY_RESP_ERROR)
            fprintf(stderr, "load: %.*s", (int)reply.bytes, text);
        reply_count(load, connection, &reply, now);
        at += reply.bytes;
    }
    connection->in_bytes -= at;
    if (connection->in_bytes > 0 && at > 0)
        memmove(connection->in, connection->in + at, connection->in_bytes);
    if (connection->in_bytes == load->in_capacity)
        fail("a reply is longer than the receive buffer");
}

/* Edge-triggered: a read that does not fill the buffer has drained the socket. */
static void connection_receive(struct load *load, struct connection *connection)
{
    for (;;) {
        size_t room = load->in_capacity - connection->in_bytes;
        ssize_t bytes = recv(connection->fd, connection->in + connection->in_bytes, room, 0);
        if (bytes < 0 && errno == EAGAIN)
            return;
        if (bytes <= 0) {
            connection_lost(load, connection);
            return;
        }
        connection->in_bytes += (size_t)bytes;
        uint64_t now = now_ns();
        bool waited = connection->in_flight > 0;
        connection_parse(load, connection, now);
        if (waited && connection->in_flight == 0) {
            if (load->options.rate > 0)
                load->free_ring[load->free_tail++ % load->options.connections] =
                    (uint32_t)(connection - load->connections);
            else if (now < load->end_ns)
                connection_send(load, connection, now);
        }
        if ((size_t)bytes < room || connection->fd < 0)
            return;
    }
}

/* -- the run ----------------------------------------------------------------------------------- */

static void counting_start(struct load *load, uint64_t now)
{
    load->counting = true;
    load->count_from_ns = now;
    load->last_ns = now;
    load->busy_start_s = cpu_seconds();
}

static void events_handle(struct load *load, uint64_t timeout_ns)
{
    struct epoll_event events[EVENTS_MAX];
    const struct timespec timeout = { .tv_sec = (time_t)(timeout_ns / NS_PER_S),
        .tv_nsec = (long)(timeout_ns % NS_PER_S) };
    int ready = epoll_pwait2(load->epoll, events, EVENTS_MAX, &timeout, NULL);
    for (int i = 0; i < ready; i++) {
        struct connection *connection = &load->connections[events[i].data.u32];
        if (connection->fd >= 0 && connection->out_sent < connection->out_bytes)
            connection_flush(load, connection);
        if (connection->fd >= 0 && (events[i].events & ~(uint32_t)EPOLLOUT) != 0)
            connection_receive(load, connection);
    }
}

static bool more_to_do(const struct load *load, uint64_t now)
{
    bool all_sent = load->exhausted || load->closed == load->options.connections
        || (load->options.count != 0 && load->sent == load->options.count);
    if (all_sent || (load->options.rate <= 0 && now >= load->end_ns))
        return load->answered < load->sent;
    return true;
}

static void run_closed(struct load *load)
{
    for (uint32_t i = 0; i < load->options.connections; i++)
        connection_send(load, &load->connections[i], load->start_ns);
    uint64_t now = now_ns();
    while (more_to_do(load, now) && now < load->end_ns + DRAIN_SECONDS_MAX * NS_PER_S) {
        if (!load->counting && now >= load->start_ns + (uint64_t)(load->options.warm_seconds * 1e9))
            counting_start(load, now);
        events_handle(load, NS_PER_S / 10);
        now = now_ns();
    }
}

/* How long a loop that does not spin may sleep: until a request is due, if there is a connection for it. */
static uint64_t until_due(const struct load *load, uint64_t due, uint64_t due_count, double gap_ns)
{
    const uint64_t due_ns = load->start_ns + (uint64_t)((double)due * gap_ns), now = now_ns();
    if (due == due_count || load->free_head == load->free_tail)
        return NS_PER_S / 100;
    const uint64_t wait_ns = due_ns > now ? due_ns - now : 0;
    /* Those that are due within a tick go out together: a wake-up for each takes more time than all else. */
    return gap_ns < (double)TICK_NS / 2 && wait_ns < TICK_NS ? TICK_NS : wait_ns;
}

/* Returns how many requests were due but could not be sent before the bound. */
static uint64_t run_open(struct load *load)
{
    const struct options *options = &load->options;
    double gap_ns = 1e9 / options->rate;
    uint64_t due_count = (uint64_t)((double)(load->end_ns - load->start_ns) / gap_ns);
    if (options->count != 0 && options->count < due_count)
        due_count = options->count;
    uint64_t due = 0;
    uint64_t now = load->start_ns;
    load->count_from_ns = load->start_ns + (uint64_t)(options->warm_seconds * 1e9);
    load->last_ns = load->count_from_ns;
    for (uint32_t i = 0; i < options->connections; i++)
        load->free_ring[load->free_tail++] = i;
    while ((due < due_count || load->answered < load->sent) && load->closed < options->connections
        && now < load->end_ns + DRAIN_SECONDS_MAX * NS_PER_S) {
        if (!load->counting && now >= load->count_from_ns)
            counting_start(load, load->count_from_ns);
        while (due < due_count && load->free_head < load->free_tail) {
            uint64_t due_ns = load->start_ns + (uint64_t)((double)due * gap_ns);
            if (due_ns > now)
                break;
            struct connection *connection =
                &load->connections[load->free_ring[load->free_head++ % options->connections]];
            if (connection->fd < 0)
                continue;
            connection_send(load, connection, due_ns);
            if (load->exhausted)
                due_count = due;
            else
                due++;
        }
        events_handle(load, options->sleeps ? until_due(load, due, due_count, gap_ns) : 0);
        now = now_ns();
    }
    return due_count - due;
}

/* -- start and end ----------------------------------------------------------------------------- */

static int connection_open(const struct options *options, uint32_t number)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        fail_errno("socket");
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (options->source_addresses > 1) {
        uint32_t address = number % options->source_addresses;
        struct sockaddr_in from = { .sin_family = AF_INET,
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 256 + address) };
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
        if (bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0)
            fail_errno("bind");
    }
    struct sockaddr_in to = { .sin_family = AF_INET,
        .sin_port = htons(options->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        fail_errno("connect");
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        fail_errno("fcntl");
    return fd;
}

static void *must_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        fail("out of memory");
    return memory;
}

static void connections_open(struct load *load)
{
    const struct options *options = &load->options;
    load->in_capacity = RECEIVE_BYTES_BASE + (size_t)options->depth * RECEIVE_BYTES_PER_REQUEST;
    load->connections = must_allocate(options->connections, sizeof(*load->connections));
    load->free_ring = must_allocate(options->connections, sizeof(*load->free_ring));
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (load->epoll < 0)
        fail_errno("epoll_create1");
    for (uint32_t i = 0; i < options->connections; i++) {
        struct connection *connection = &load->connections[i];
        connection->out = must_allocate(options->depth, load->source.request_bytes_max);
        connection->in = must_allocate(1, load->in_capacity);
        connection->indices = must_allocate(options->depth, sizeof(*connection->indices));
        connection->fd = connection_open(options, i);
        struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.u32 = i };
        if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->fd, &event) != 0)
            fail_errno("epoll_ctl");
    }
}

static double microseconds(uint64_t ns)
{
    return (double)ns / 1e3;
}

static void report(const struct load *load, uint64_t unsent)
{
    double seconds = (double)(load->last_ns - load->count_from_ns) / 1e9;
    double busy = seconds > 0 ? (cpu_seconds() - load->busy_start_s) / seconds : 0;
    printf("{\"requests\":%" PRIu64 ",\"seconds\":%.6f,\"rate\":%.1f,\"sent\":%" PRIu64
           ",\"unsent\":%" PRIu64 ",\"errors\":%" PRIu64
           ",\"closed\":%u,\"exhausted\":%s,\"bytes\":%" PRIu64 ",\"busy\":%.3f",
        load->replies, seconds, seconds > 0 ? (double)load->replies / seconds : 0, load->sent,
        unsent, load->errors, load->closed, load->exhausted ? "true" : "false", load->bytes, busy);
    printf(",\"gaps_20ms\":%u,\"gaps_50ms\":%u,\"longest_gap_us\":%.1f", load->gaps_20ms,
        load->gaps_50ms, microseconds(load->longest_gap_ns));
    printf(",\"p50_us\":%.1f,\"p90_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,\"status\":{",
        microseconds(latency_quantile_ns(&load->latency, 500)),
        microseconds(latency_quantile_ns(&load->latency, 900)),
        microseconds(latency_quantile_ns(&load->latency, 990)), microseconds(load->latency.max_ns));
    const char *comma = "";
    for (uint32_t status = 0; status < REPLY_STATUS_MAX; status++) {
        if (load->by_status[status] == 0)
            continue;
        printf("%s\"%u\":%" PRIu64, comma, status, load->by_status[status]);
        comma = ",";
    }
    printf("}}\n");
    fflush(stdout);
}

static void core_pin(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET((unsigned)core, &cores);
    if (sched_setaffinity(0, sizeof(cores), &cores) != 0)
        fail_errno("sched_setaffinity");
}

/* All clients of a crowd begin together. */
static void gate(uint32_t connections)
{
    struct pollfd input = { .fd = 0, .events = POLLIN };
    char byte;
    printf("{\"open\":%u}\n", connections);
    fflush(stdout);
    if (poll(&input, 1, HOLD_SECONDS_MAX * 1000) <= 0 || read(0, &byte, 1) != 1)
        fail("nobody said that it begins");
}

/* Keeps the connections open until the other end of standard input closes it. */
static void hold(void)
{
    struct pollfd input = { .fd = 0, .events = POLLIN };
    char byte;
    while (poll(&input, 1, HOLD_SECONDS_MAX * 1000) > 0 && read(0, &byte, 1) > 0)
        ;
}

int main(int argc, char **argv)
{
    static struct load load;
    options_read(&load.options, argc, argv);
    const struct options *options = &load.options;
    if (options->core >= 0)
        core_pin(options->core);
    const char *wrong = options->list_path != NULL
        ? source_open_list(&load.source, options->list_path)
        : source_open_template(
            &load.source, options->template_path, options->fill_path, options->counter_first);
    if (wrong != NULL)
        fail(wrong);
    if (options->outcomes_path != NULL && (load.outcomes = fopen(options->outcomes_path, "w")) == NULL)
        fail_errno(options->outcomes_path);
    connections_open(&load);
    if (options->gate)
        gate(options->connections);

    uint64_t unsent = 0;
    load.start_ns = now_ns();
    load.end_ns = load.start_ns + (uint64_t)((options->warm_seconds + options->seconds) * 1e9);
    if (options->warm_seconds <= 0)
        counting_start(&load, load.start_ns);
    if (options->rate > 0)
        unsent = run_open(&load);
    else
        run_closed(&load);
    report(&load, unsent);
    if (load.outcomes != NULL && fclose(load.outcomes) != 0)
        fail_errno(options->outcomes_path);
    if (options->hold)
        hold();
    return 0;
}
