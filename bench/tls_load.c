/* SPDX-License-Identifier: Apache-2.0 */
/* A load client that speaks TLS: requests on connections that are kept, or handshakes and nothing else.
 *
 * usage: tls_load PORT CONNECTIONS SECONDS RATE [PATH]
 *   RATE 0: each connection sends its next request when it has its answer. RATE n: n requests a second on
 *   all connections together; a latency counts from the moment at which the request was due.
 *        tls_load PORT CONNECTIONS SECONDS handshakes
 *   Each connection does a whole handshake, closes and begins anew, from one of 200 loopback addresses.
 * Prints {"done":…,"failed":…,"p50_us":…,"p99_us":…}. A failure is an answer that is not 200, or none. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 4096,
    EVENTS_MAX = 256,
    ANSWER_BYTES = 16384,
    SAMPLES_MAX = 4 * 1000 * 1000,
    SOURCES = 200,
    WAIT_NS = 1000 * 1000,
    DRAIN_NS = 1000 * 1000 * 1000, /* for answers that are due at the end */
};
enum state { CLOSED, CONNECTING, IDLE, WAITING };

struct client {
    int fd;
    enum state state;
    SSL *ssl;
    uint64_t due_ns; /* of the request that waits for its answer */
    size_t have;
    char answer[ANSWER_BYTES];
};

static struct {
    SSL_CTX *context;
    int epoll, port, connections;
    bool handshakes_only;
    uint64_t interval_ns, next_ns, end_ns; /* interval 0: as fast as answers come */
    char request[512];
    int request_bytes;
    uint64_t done, failed, opened;
    uint32_t *samples_us;
    struct client *clients;
} load;

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void client_close(struct client *client)
{
    SSL_free(client->ssl);
    if (client->fd >= 0)
        close(client->fd);
    client->ssl = NULL;
    client->fd = -1;
    client->state = CLOSED;
}

static void client_open(struct client *client)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)load.port) };
    struct sockaddr_in from = { .sin_family = AF_INET };
    const int on = 1;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (load.handshakes_only) {
        const struct linger reset = { .l_onoff = 1, .l_linger = 0 }; /* or ports would run out */
        setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        from.sin_addr.s_addr = htonl(0x7f010001 + (uint32_t)(load.opened % SOURCES));
        if (bind(client->fd, (struct sockaddr *)&from, sizeof from) != 0)
            load.failed++;
    }
    load.opened++;
    client->ssl = SSL_new(load.context);
    client->state = CONNECTING;
    client->have = 0;
    SSL_set_fd(client->ssl, client->fd);
    SSL_set_connect_state(client->ssl);
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = client };
    if ((connect(client->fd, (struct sockaddr *)&to, sizeof to) != 0 && errno != EINPROGRESS)
        || epoll_ctl(load.epoll, EPOLL_CTL_ADD, client->fd, &event) != 0) {
        load.failed++;
        client_close(client);
    }
}

static void request_send(struct client *client, uint64_t due_ns)
{
    client->due_ns = due_ns;
    client->have = 0;
    client->state = WAITING;
    if (SSL_write(client->ssl, load.request, load.request_bytes) != load.request_bytes) {
        load.failed++;
        client_close(client);
    }
}

/* Whole answers have a Content-Length, as those of both servers do. */
static bool answer_is_whole(const struct client *client)
{
    const char *head_end = memmem(client->answer, client->have, "\r\n\r\n", 4);
    const char *length = memmem(client->answer, client->have, "Content-Length: ", 16);
    if (head_end == NULL)
        return false;
    const size_t body = length == NULL || length > head_end ? 0 : strtoul(length + 16, NULL, 10);
    return client->have >= (size_t)(head_end - client->answer) + 4 + body;
}

static void answer_count(struct client *client)
{
    if (strncmp(client->answer, "HTTP/1.1 200", 12) != 0)
        load.failed++;
    else if (load.done < SAMPLES_MAX)
        load.samples_us[load.done++] = (uint32_t)((now_ns() - client->due_ns) / 1000);
    client->state = IDLE;
    if (load.interval_ns == 0 && now_ns() < load.end_ns)
        request_send(client, now_ns());
}

static void handshake_go_on(struct client *client)
{
    const int result = SSL_do_handshake(client->ssl);
    if (result != 1) {
        const int why = SSL_get_error(client->ssl, result);
        if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
            return;
        load.failed++;
        client_close(client);
        return;
    }
    client->state = IDLE;
    if (load.handshakes_only) {
        load.done++;
        client_close(client);
        if (now_ns() < load.end_ns)
            client_open(client);
    } else if (load.interval_ns == 0) {
        request_send(client, now_ns());
    }
}

static void client_go_on(struct client *client)
{
    if (client->state == CONNECTING)
        handshake_go_on(client);
    while (client->state == WAITING || client->state == IDLE) {
        const int got = SSL_read(client->ssl, client->answer + client->have,
            (int)(sizeof client->answer - client->have));
        if (got <= 0) {
            if (SSL_get_error(client->ssl, got) != SSL_ERROR_WANT_READ) {
                load.failed += client->state == WAITING;
                client_close(client);
            }
            return;
        }
        client->have += (size_t)got;
        if (client->state == WAITING && answer_is_whole(client))
            answer_count(client);
    }
}

/* The clock starts when all are connected. */
static bool all_connected(void)
{
    static bool started;
    for (int i = 0; i < load.connections && !started; i++)
        if (load.clients[i].state != IDLE)
            return false;
    if (!started) {
        load.end_ns += now_ns() - load.next_ns;
        load.next_ns = now_ns();
    }
    return started = true;
}

/* Those whose time has come, on connections that are free. */
static void due_send(void)
{
    static int at;
    if (load.interval_ns == 0 || !all_connected())
        return;
    for (int looked = 0; now_ns() >= load.next_ns && looked < load.connections; looked++) {
        struct client *client = &load.clients[at];
        at = (at + 1) % load.connections;
        if (client->state == CLOSED)
            client_open(client);
        if (client->state != IDLE)
            continue;
        request_send(client, load.next_ns);
        load.next_ns += load.interval_ns;
    }
}

static void run(void)
{
    struct epoll_event events[EVENTS_MAX];
    for (;;) {
        const uint64_t now = now_ns();
        bool waiting = false;
        if (now >= load.end_ns) {
            for (int i = 0; i < load.connections; i++)
                waiting = waiting || load.clients[i].state == WAITING;
            if (!waiting || now >= load.end_ns + DRAIN_NS)
                break;
        } else {
            due_send();
        }
        const uint64_t rest_ns = load.interval_ns == 0 || load.next_ns > now + WAIT_NS ? WAIT_NS
            : load.next_ns > now ? load.next_ns - now
                                 : 0;
        const struct timespec rest = { .tv_nsec = (long)rest_ns };
        const int count = epoll_pwait2(load.epoll, events, EVENTS_MAX, &rest, NULL);
        for (int i = 0; i < count; i++)
            client_go_on(events[i].data.ptr);
    }
    for (int i = 0; i < load.connections; i++) {
        load.failed += load.clients[i].state == WAITING;
        client_close(&load.clients[i]);
    }
}

static int sample_compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Those who flood have machines of their own: they take what is left of this one, and give it back at once to
 * whoever wakes up (src/base/thread_rank.c says why that takes a long turn). */
static void stand_back(void)
{
    const struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t turn_ns, deadline_ns, period_ns;
    } attributes = {
        .size = sizeof attributes, .policy = SCHED_OTHER, .nice = 19, .turn_ns = 100 * 1000 * 1000
    };
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0)
        perror("tls_load: sched_setattr");
}

static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        load.connections = number(argv[2]);
    if (argc < 5 || load.connections < 1 || load.connections > CONNECTIONS_MAX) {
        fprintf(stderr, "usage: tls_load PORT CONNECTIONS SECONDS RATE|handshakes [PATH]\n");
        return 2;
    }
    load.port = number(argv[1]);
    load.handshakes_only = strcmp(argv[4], "handshakes") == 0;
    if (load.handshakes_only)
        stand_back();
    const int rate = load.handshakes_only ? 0 : number(argv[4]);
    load.interval_ns = rate > 0 ? 1000000000u / (uint64_t)rate : 0;
    load.request_bytes = snprintf(load.request, sizeof load.request,
        "GET %s HTTP/1.1\r\nHost: a.example\r\n\r\n", argc > 5 ? argv[5] : "/livez");
    load.context = SSL_CTX_new(TLS_client_method());
    load.epoll = epoll_create1(0);
    load.clients = calloc((size_t)load.connections, sizeof *load.clients);
    load.samples_us = calloc(SAMPLES_MAX, sizeof *load.samples_us);
    if (load.context == NULL || load.epoll < 0 || load.clients == NULL || load.samples_us == NULL)
        return 1;
    SSL_CTX_set_session_cache_mode(load.context, SSL_SESS_CACHE_OFF);
    load.next_ns = now_ns();
    load.end_ns = load.next_ns + (uint64_t)(strtod(argv[3], NULL) * 1e9);
    for (int i = 0; i < load.connections; i++)
        client_open(&load.clients[i]);
    run();
    qsort(load.samples_us, load.handshakes_only ? 0 : load.done, sizeof *load.samples_us, sample_compare);
    printf("{\"done\":%llu,\"failed\":%llu,\"p50_us\":%u,\"p99_us\":%u}\n",
        (unsigned long long)load.done, (unsigned long long)load.failed,
        load.samples_us[load.done / 2], load.samples_us[load.done * 99 / 100]);
    return 0;
}
