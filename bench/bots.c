/* SPDX-License-Identifier: Apache-2.0 */
/* Honest users and bots against one server, in an open loop, from as many loopback addresses as wanted.
 *
 * DESIGN
 * One thread and one epoll loop play all groups of a plan (bots_plan.h). A paced group's requests are due
 * whatever the server does and go out on the group's connection that has been free for longest; latency
 * counts from when a request was *due*, so a server that makes people wait can't hide it. `late` is the part
 * of it before the request was sent: no free connection, or this program was busy. Groups of single users
 * and slow connections have a moment of their own for each connection (bots_timers.h).
 * A connection that the server closes is opened again after a pause; the request on it counts as lost.
 * The loop spins: give it a core of its own. One line of JSON goes to standard output. Connects to
 * 127.0.0.1 only; connections, requests and time are bounded. */
#include "base/random.h"
#include "bots_plan.h"
#include "bots_timers.h"
#include "reply.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum {
    EVENTS_MAX = 512,
    RECEIVE_BYTES = 4096,
    SEND_BYTES = 512,
    SLOW_READ_REQUESTS = 64, /* of the largest document: more than the kernel holds for a connection */
    SLOW_READ_BUFFER = 2304,
    SECONDS_MAX = 600,
    DRAIN_SECONDS = 5,
    SENDS_PER_TURN = 64, /* of one group, before answers are looked at */
};
static const uint64_t NS_PER_S = 1000000000, NS_PER_MS = 1000000, REOPEN_NS = 50000000;

struct connection {
    int fd;
    uint16_t group;
    bool busy;  /* a request is on its way */
    bool fresh; /* being connected */
    bool begun; /* slow ones: the request's first words are sent */
    uint32_t tries;
    uint32_t out_bytes, out_sent, in_bytes;
    uint64_t due_ns, pass;
    char *out, *in; /* not for slow ones */
};

struct bots {
    uint16_t port;
    double seconds;
    uint64_t start_wall_ms; /* 0: at once */
    int core, epoll;
    uint32_t group_count, connection_count;
    struct group groups[BOTS_GROUPS_MAX];
    struct connection *connections;
    struct timers timers;
    struct random random;
    uint64_t start_ns, end_ns;
    uint64_t in_flight;
};

static void fail_errno(const char *what)
{
    fprintf(stderr, "bots: %s: %m\n", what);
    exit(2);
}

static void *must_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        plan_wrong("out of memory", "");
    return memory;
}

static uint64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* -- connections ------------------------------------------------------------------------------- */

static void connection_open(struct bots *bots, struct connection *connection, bool wait)
{
    const struct group *group = &bots->groups[connection->group];
    const uint32_t number = (uint32_t)(connection - bots->connections);
    const int on = 1, small = SLOW_READ_BUFFER;
    const int kind = SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK);
    connection->fd = socket(AF_INET, kind, 0);
    if (connection->fd < 0)
        fail_errno("socket");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(connection->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (group->pace == PACE_SLOW_READ)
        setsockopt(connection->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    struct sockaddr_in from = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(group->address + (number - group->first) % group->addresses) };
    struct sockaddr_in to = { .sin_family = AF_INET,
        .sin_port = htons(bots->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (bind(connection->fd, (struct sockaddr *)&from, sizeof from) != 0)
        fail_errno("bind");
    if (connect(connection->fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
        fail_errno("connect");
    if (fcntl(connection->fd, F_SETFL, O_NONBLOCK) != 0)
        fail_errno("fcntl");
    connection->fresh = !wait;
    connection->in_bytes = connection->out_bytes = connection->out_sent = 0;
    uint32_t events = EPOLLOUT | EPOLLRDHUP | EPOLLET;
    if (group->pace != PACE_SLOW_READ)
        events |= EPOLLIN;
    struct epoll_event event = { .events = events, .data.u32 = number };
    if (epoll_ctl(bots->epoll, EPOLL_CTL_ADD, connection->fd, &event) != 0)
        fail_errno("epoll_ctl");
}

static void connection_free(struct bots *bots, struct connection *connection)
{
    struct group *group = &bots->groups[connection->group];
    if (group_paced(group))
        group->free_ring[group->free_tail++ % group->connections] =
            (uint32_t)(connection - bots->connections);
}

/* The server, or the network, has ended it: once more after a pause. Slow ones have a timer already. */
static void connection_lost(struct bots *bots, struct connection *connection)
{
    struct group *group = &bots->groups[connection->group];
    close(connection->fd);
    connection->fd = -1;
    if (connection->busy) {
        group->lost++;
        bots->in_flight--;
    }
    const bool was_used = connection->busy || connection->fresh;
    connection->busy = false;
    if (group_paced(group) && was_used)
        timer_add(&bots->timers, (uint32_t)(connection - bots->connections), now_ns() + REOPEN_NS);
}

static void connection_flush(struct bots *bots, struct connection *connection)
{
    if (connection->out_sent == connection->out_bytes)
        return;
    ssize_t bytes = send(connection->fd, connection->out + connection->out_sent,
        connection->out_bytes - connection->out_sent, MSG_NOSIGNAL);
    if (bytes >= 0)
        connection->out_sent += (uint32_t)bytes;
    else if (errno != EAGAIN)
        connection_lost(bots, connection);
}

/* -- asking ------------------------------------------------------------------------------------ */

static void request_send(struct bots *bots, struct connection *connection, uint64_t due_ns, uint64_t now)
{
    struct group *group = &bots->groups[connection->group];
    const char *pass = group->passes + connection->pass * (BOTS_PASS_CHARS + 1);
    connection->out_bytes = (uint32_t)snprintf(connection->out, SEND_BYTES,
        "POST /v1/items/%u/buy HTTP/1.1\r\nHost: 127.0.0.1\r\nStampede-Pass: "
        "%.*s\r\nContent-Length: "
        "0\r\n\r\n",
        group->item, (int)BOTS_PASS_CHARS, pass);
    connection->out_sent = 0;
    connection->due_ns = due_ns;
    connection->busy = true;
    bots->in_flight++;
    group->sent++;
    latency_add(&group->late, now > due_ns ? now - due_ns : 0);
    connection_flush(bots, connection);
}

static uint64_t group_gap_ns(struct bots *bots, const struct group *group)
{
    if (group->pace == PACE_REGULAR)
        return (uint64_t)(1e9 / group->rate);
    const double chance = ((double)random_below(&bots->random, UINT32_MAX) + 1) / UINT32_MAX;
    return (uint64_t)(-log(chance) * 1e9 / group->rate);
}

static void group_send(struct bots *bots, struct group *group, uint64_t now)
{
    for (uint32_t sent = 0; sent < SENDS_PER_TURN && group->next_due_ns <= now; sent++) {
        if (group->next_due_ns >= bots->end_ns || group->free_head == group->free_tail)
            return;
        if (group->once && group->next_pass == group->pass_count)
            return;
        const uint32_t number = group->free_ring[group->free_head++ % group->connections];
        struct connection *connection = &bots->connections[number];
        if (connection->fd < 0) { /* closed while it had nothing to do */
            timer_add(&bots->timers, number, now + REOPEN_NS);
            continue;
        }
        connection->pass = group->next_pass++ % group->pass_count;
        request_send(bots, connection, group->next_due_ns, now);
        group->next_due_ns += group_gap_ns(bots, group);
    }
}

/* -- slow ones --------------------------------------------------------------------------------- */

static void slow_begin(const struct connection *connection, const struct group *group)
{
    char text[SLOW_READ_REQUESTS * 64];
    int size = 0;
    if (group->pace == PACE_SLOW_HEAD)
        size = snprintf(text, sizeof text,
            "POST /v1/items/%u/buy HTTP/1.1\r\nHost: slow\r\nSlow: ", group->item);
    else if (group->pace == PACE_SLOW_BODY)
        size = snprintf(text, sizeof text,
            "POST /v1/items/%u/buy HTTP/1.1\r\nHost: slow\r\nContent-Length: 1000\r\n\r\n{",
            group->item);
    else
        for (unsigned i = 0; i < SLOW_READ_REQUESTS; i++)
            size += snprintf(text + size, sizeof text - (size_t)size,
                "GET /openapi.json HTTP/1.1\r\nHost: slow\r\n\r\n");
    (void)!send(connection->fd, text, (size_t)size, MSG_NOSIGNAL);
}

static void slow_step(struct bots *bots, struct connection *connection, uint64_t now)
{
    struct group *group = &bots->groups[connection->group];
    char byte = ' ';
    timer_add(&bots->timers, (uint32_t)(connection - bots->connections),
        now + group->every_ms * NS_PER_MS);
    if (connection->fd < 0) {
        group->reopened++;
        connection_open(bots, connection, false);
        return;
    }
    if (connection->fresh)
        return;
    if (!connection->begun) {
        connection->begun = true;
        slow_begin(connection, group);
    } else if (group->pace == PACE_SLOW_READ) {
        (void)!recv(connection->fd, &byte, 1, 0);
    } else {
        (void)!send(connection->fd, &byte, 1, MSG_NOSIGNAL);
    }
    group->sent++;
}

static uint32_t status_of(const char *text)
{
    return (uint32_t)(text[9] - '0') * 100 + (uint32_t)(text[10] - '0') * 10 + (uint32_t)(text[11] - '0');
}

/* What slow ones hear is a refusal, then the end. */
static void slow_receive(struct bots *bots, struct connection *connection, uint32_t events)
{
    struct group *group = &bots->groups[connection->group];
    char text[RECEIVE_BYTES];
    bool over = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (group->pace != PACE_SLOW_READ && (events & EPOLLIN) != 0) {
        ssize_t bytes = recv(connection->fd, text, sizeof text, 0);
        over = over || bytes == 0;
        if (bytes > 12 && memcmp(text, "HTTP/1.1 ", 9) == 0) {
            group_outcome(group, status_of(text), "", 0);
            group->answered++;
        }
    }
    if (over) {
        connection->begun = false;
        connection_lost(bots, connection);
    }
}

/* -- answers ----------------------------------------------------------------------------------- */

/* The last word of "type" in a problem, or "outcome" of a purchase. */
static size_t reply_word(const struct reply *reply, const char **word)
{
    static const char problem[] = "\"/problems/", outcome[] = "\"outcome\":\"";
    const char *name = reply->status == 202 ? outcome : problem;
    const size_t name_bytes = strlen(name);
    const char *start = memmem(reply->body, reply->body_bytes, name, name_bytes);
    if (start == NULL)
        return 0;
    start += name_bytes;
    const char *end = memchr(start, '"', (size_t)(reply->body + reply->body_bytes - start));
    *word = start;
    return end == NULL || end - start > 20 ? 0 : (size_t)(end - start);
}

/* Seconds; 1 where the answer does not say. */
static uint64_t reply_retry_after(const char *text, const struct reply *reply)
{
    static const char name[] = "\r\nRetry-After: ";
    const size_t head_bytes = reply->bytes - reply->body_bytes;
    const char *start = memmem(text, head_bytes, name, sizeof name - 1);
    size_t seconds;
    if (start == NULL || !reply_take_number(start + sizeof name - 1, text + head_bytes, &seconds))
        return 1;
    return seconds;
}

static void reply_take(
    struct bots *bots, struct connection *connection, const char *text, const struct reply *reply)
{
    struct group *group = &bots->groups[connection->group];
    const uint64_t now = now_ns();
    const char *word = "";
    const size_t word_chars = reply_word(reply, &word);
    group_outcome(group, reply->status, word, word_chars);
    group->answered++;
    latency_add(&group->latency, now > connection->due_ns ? now - connection->due_ns : 0);
    connection->busy = false;
    bots->in_flight--;
    const bool again =
        (reply->status == 429 || reply->status == 503) && connection->tries < group->retries;
    if (group->pace == PACE_REACTION && again) {
        connection->tries++;
        timer_add(&bots->timers, (uint32_t)(connection - bots->connections),
            now + reply_retry_after(text, reply) * NS_PER_S + random_below(&bots->random, NS_PER_S / 4));
    }
    connection_free(bots, connection);
}

static void connection_receive(struct bots *bots, struct connection *connection)
{
    while (connection->fd >= 0) {
        const size_t room = RECEIVE_BYTES - connection->in_bytes;
        ssize_t bytes = recv(connection->fd, connection->in + connection->in_bytes, room, 0);
        if (bytes < 0 && errno == EAGAIN)
            return;
        if (bytes <= 0) {
            connection_lost(bots, connection);
            return;
        }
        connection->in_bytes += (uint32_t)bytes;
        struct reply reply;
        const enum reply_state state = reply_parse_http(connection->in, connection->in_bytes, &reply);
        if (state == REPLY_WHOLE && connection->busy && reply.bytes == connection->in_bytes) {
            reply_take(bots, connection, connection->in, &reply);
            connection->in_bytes = 0;
        } else if (state != REPLY_MORE || connection->in_bytes == RECEIVE_BYTES) {
            connection_lost(bots, connection); /* an answer to nothing (408), or none of ours */
        }
    }
}

static void event_handle(struct bots *bots, struct connection *connection, uint32_t events)
{
    const bool slow = group_slow(&bots->groups[connection->group]);
    if (connection->fd < 0)
        return;
    if (connection->fresh && (events & (EPOLLERR | EPOLLHUP)) == 0) {
        connection->fresh = false;
        connection_free(bots, connection);
    }
    if (slow) {
        slow_receive(bots, connection, events);
        return;
    }
    connection_flush(bots, connection);
    if (connection->fd >= 0 && (events & ~(uint32_t)EPOLLOUT) != 0)
        connection_receive(bots, connection);
}

/* -- the run ----------------------------------------------------------------------------------- */

static void timer_fire(struct bots *bots, const struct timer *timer, uint64_t now)
{
    struct connection *connection = &bots->connections[timer->connection];
    struct group *group = &bots->groups[connection->group];
    if (group_slow(group)) {
        if (now < bots->end_ns)
            slow_step(bots, connection, now);
    } else if (group->pace == PACE_REACTION) {
        if (connection->fd >= 0)
            request_send(bots, connection, timer->due_ns, now);
    } else if (now < bots->end_ns) {
        group->reopened++;
        connection_open(bots, connection, false);
    }
}

static bool people_wait(const struct bots *bots)
{
    for (uint32_t i = 0; i < bots->group_count; i++)
        if (bots->groups[i].pace == PACE_REACTION && bots->timers.count > 0)
            return true;
    return bots->in_flight > 0;
}

static void run(struct bots *bots)
{
    uint64_t now = now_ns();
    while (now < bots->end_ns || (people_wait(bots) && now < bots->end_ns + DRAIN_SECONDS * NS_PER_S)) {
        struct epoll_event events[EVENTS_MAX];
        struct timer timer;
        for (uint32_t i = 0; i < bots->group_count && now < bots->end_ns; i++)
            if (group_paced(&bots->groups[i]))
                group_send(bots, &bots->groups[i], now);
        while (timer_due(&bots->timers, now, &timer))
            timer_fire(bots, &timer, now);
        const int ready = epoll_wait(bots->epoll, events, EVENTS_MAX, 0);
        for (int i = 0; i < ready; i++)
            event_handle(bots, &bots->connections[events[i].data.u32], events[i].events);
        now = now_ns();
    }
}

static void start_wait(struct bots *bots)
{
    bots->start_ns = now_ns();
    if (bots->start_wall_ms != 0) {
        const uint64_t wall_ns = clock_ns(CLOCK_REALTIME), start_ns = bots->start_wall_ms * NS_PER_MS;
        if (start_ns < wall_ns || start_ns - wall_ns > SECONDS_MAX * NS_PER_S)
            plan_wrong("the start is over, or too far away", "--start-ms");
        bots->start_ns += start_ns - wall_ns;
        while (now_ns() < bots->start_ns)
            ;
    }
    bots->end_ns = bots->start_ns + (uint64_t)(bots->seconds * 1e9);
}

/* First moments: paced groups at once, people within their reaction, slow ones spread over a step. */
static void moments_set(struct bots *bots)
{
    for (uint32_t i = 0; i < bots->connection_count; i++) {
        const struct group *group = &bots->groups[bots->connections[i].group];
        uint64_t wait_ns = 0;
        if (group->pace == PACE_REACTION)
            wait_ns = group->after_ms * NS_PER_MS
                + random_below(&bots->random, (group->until_ms - group->after_ms + 1) * NS_PER_MS);
        else if (group_slow(group))
            wait_ns = random_below(&bots->random, group->every_ms * NS_PER_MS);
        else
            continue;
        timer_add(&bots->timers, i, bots->start_ns + wait_ns);
    }
    for (uint32_t i = 0; i < bots->group_count; i++)
        bots->groups[i].next_due_ns = bots->start_ns;
}

static void connections_open(struct bots *bots)
{
    bots->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (bots->epoll < 0)
        fail_errno("epoll_create1");
    bots->connections = must_allocate(bots->connection_count, sizeof *bots->connections);
    bots->timers.heap = must_allocate(bots->connection_count, sizeof *bots->timers.heap);
    bots->timers.room = bots->connection_count;
    for (uint32_t g = 0; g < bots->group_count; g++) {
        struct group *group = &bots->groups[g];
        group->free_ring = must_allocate(group->connections, sizeof *group->free_ring);
        for (uint32_t i = 0; i < group->connections; i++) {
            struct connection *connection = &bots->connections[group->first + i];
            connection->group = (uint16_t)g;
            connection->pass = i; /* of single users */
            connection->out = group_slow(group) ? NULL : must_allocate(1, SEND_BYTES);
            connection->in = group_slow(group) ? NULL : must_allocate(1, RECEIVE_BYTES);
            connection_open(bots, connection, true);
            connection_free(bots, connection);
        }
    }
}

static double us(uint64_t ns)
{
    return (double)ns / 1e3;
}

static void report(const struct bots *bots)
{
    printf("{\"seconds\":%.3f,\"unanswered\":%" PRIu64 ",\"groups\":{", bots->seconds, bots->in_flight);
    for (uint32_t i = 0; i < bots->group_count; i++) {
        const struct group *group = &bots->groups[i];
        printf("%s\"%s\":{\"sent\":%" PRIu64 ",\"answered\":%" PRIu64 ",\"lost\":%" PRIu64
               ",\"reopened\":%" PRIu64,
            i > 0 ? "," : "", group->name, group->sent, group->answered, group->lost, group->reopened);
        printf(
            ",\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,\"late_p99_us\":%.1f,\"answers\":{",
            us(latency_quantile_ns(&group->latency, 500)),
            us(latency_quantile_ns(&group->latency, 990)), us(group->latency.max_ns),
            us(latency_quantile_ns(&group->late, 990)));
        for (uint32_t k = 0; k < group->outcome_count; k++)
            printf("%s\"%s\":%" PRIu64, k > 0 ? "," : "", group->outcomes[k].name,
                group->outcomes[k].count);
        printf("}}");
    }
    printf("}}\n");
}

static void core_pin(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET((unsigned)core, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) != 0)
        fail_errno("sched_setaffinity");
}

static const char *options_read(struct bots *bots, int argc, char **argv)
{
    static const struct option names[] = { { "port", 1, NULL, 'p' }, { "plan", 1, NULL, 'f' },
        { "seconds", 1, NULL, 's' }, { "start-ms", 1, NULL, 't' }, { "core", 1, NULL, 'C' },
        { "seed", 1, NULL, 'x' }, { NULL, 0, NULL, 0 } };
    const char *plan = NULL;
    uint64_t seed = 1;
    int name;
    bots->core = -1;
    bots->seconds = 1;
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (name == 'p')
            bots->port = (uint16_t)plan_number("--port", optarg, UINT16_MAX);
        else if (name == 'f')
            plan = optarg;
        else if (name == 's')
            bots->seconds = strtod(optarg, NULL);
        else if (name == 't')
            bots->start_wall_ms = strtoull(optarg, NULL, 10);
        else if (name == 'C')
            bots->core = (int)plan_number("--core", optarg, CPU_SETSIZE - 1);
        else if (name == 'x')
            seed = strtoull(optarg, NULL, 10);
        else
            plan = NULL;
    }
    if (plan == NULL || bots->port == 0 || optind != argc
        || !(bots->seconds > 0 && bots->seconds <= SECONDS_MAX))
        plan_wrong("usage",
            "bots --port P --plan FILE [--seconds S] [--start-ms T] [--core C] [--seed N]");
    random_seed(&bots->random, seed);
    return plan;
}

int main(int argc, char **argv)
{
    static struct bots bots;
    const char *plan = options_read(&bots, argc, argv);
    bots.group_count = plan_read(plan, bots.groups, &bots.connection_count);
    if (bots.core >= 0)
        core_pin(bots.core);
    connections_open(&bots);
    start_wait(&bots);
    moments_set(&bots);
    run(&bots);
    report(&bots);
    return 0;
}
