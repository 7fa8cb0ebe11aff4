/* SPDX-License-Identifier: Apache-2.0 */
/* The limit: an epoll loop that answers every request with the same bytes and understands nothing.
 *
 * A request ends at its first empty line (the load client sends no bodies). One recv and one send
 * per wake-up of a connection; the replies to all requests of one recv leave together. What a real
 * server costs above this is its work.
 * usage: bare_epoll PORT BODY_FILE      listens on 127.0.0.1, ends on SIGTERM */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 20000, /* by descriptor */
    EVENTS_MAX = 512,
    RECEIVE_BYTES = 32768,
    BODY_BYTES_MAX = 4096,
    REPLIES_PER_SEND_MAX = 64,
};

struct bare {
    int epoll;
    int listener;
    size_t reply_bytes;
    uint8_t matched[CONNECTIONS_MAX]; /* bytes of "\r\n\r\n" that a connection's input ended with */
    char in[RECEIVE_BYTES];
    char replies[REPLIES_PER_SEND_MAX * (BODY_BYTES_MAX + 256)];
};

static volatile sig_atomic_t stopping;

static void stop(int signal_number)
{
    (void)signal_number;
    stopping = 1;
}

static void fail(const char *what)
{
    fprintf(stderr, "bare_epoll: %s: %m\n", what);
    exit(2);
}

static void replies_build(struct bare *bare, const char *body_path)
{
    char body[BODY_BYTES_MAX];
    FILE *file = fopen(body_path, "r");
    if (file == NULL)
        fail(body_path);
    size_t body_bytes = fread(body, 1, sizeof(body), file);
    fclose(file);
    int head_bytes = snprintf(bare->replies, 256,
        "HTTP/1.1 409 Conflict\r\nContent-Type: application/problem+json\r\n"
        "Content-Length: %zu\r\n\r\n",
        body_bytes);
    memcpy(bare->replies + head_bytes, body, body_bytes);
    bare->reply_bytes = (size_t)head_bytes + body_bytes;
    for (size_t i = 1; i < REPLIES_PER_SEND_MAX; i++)
        memcpy(bare->replies + i * bare->reply_bytes, bare->replies, bare->reply_bytes);
}

static void listen_on(struct bare *bare, uint16_t port)
{
    int on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
    bare->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(bare->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(bare->listener, (struct sockaddr *)&address, sizeof(address)) != 0
        || listen(bare->listener, 4096) != 0)
        fail("listen");
    bare->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = bare->listener };
    if (bare->epoll < 0 || epoll_ctl(bare->epoll, EPOLL_CTL_ADD, bare->listener, &event) != 0)
        fail("epoll");
}

static void connections_accept(struct bare *bare)
{
    int fd;
    while ((fd = accept4(bare->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        int on = 1;
        struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.fd = fd };
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        if (fd >= CONNECTIONS_MAX || epoll_ctl(bare->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
            close(fd);
            continue;
        }
        bare->matched[fd] = 0;
    }
}

/* How many requests end in these bytes. Lines are found with memchr, as a lean parser would. */
static size_t requests_end(struct bare *bare, int fd, size_t bytes)
{
    size_t requests = 0;
    size_t matched = bare->matched[fd];
    const char *at = bare->in;
    const char *end = at + bytes;
    while (at < end) {
        if (matched == 0) {
            at = memchr(at, '\r', (size_t)(end - at));
            if (at == NULL)
                break;
        }
        matched = *at == "\r\n\r\n"[matched] ? matched + 1 : (*at == '\r' ? 1 : 0);
        at++;
        if (matched == 4) {
            requests++;
            matched = 0;
        }
    }
    bare->matched[fd] = (uint8_t)matched;
    return requests;
}

static void connection_serve(struct bare *bare, int fd)
{
    ssize_t bytes;
    do {
        bytes = recv(fd, bare->in, sizeof(bare->in), 0);
        if (bytes == 0 || (bytes < 0 && errno != EAGAIN)) {
            close(fd);
            return;
        }
        if (bytes < 0)
            return;
        size_t requests = requests_end(bare, fd, (size_t)bytes);
        if (requests > REPLIES_PER_SEND_MAX) {
            close(fd);
            return;
        }
        size_t reply_bytes = requests * bare->reply_bytes;
        if (reply_bytes > 0 && send(fd, bare->replies, reply_bytes, MSG_NOSIGNAL) != (ssize_t)reply_bytes) {
            close(fd);
            return;
        }
    } while (bytes == (ssize_t)sizeof(bare->in));
}

int main(int argc, char **argv)
{
    static struct bare bare;
    double port = argc == 3 ? strtod(argv[1], NULL) : 0;
    if (!(port >= 1 && port <= UINT16_MAX)) {
        fprintf(stderr, "usage: bare_epoll PORT BODY_FILE\n");
        return 2;
    }
    struct sigaction action = { .sa_handler = stop };
    sigaction(SIGTERM, &action, NULL);
    replies_build(&bare, argv[2]);
    listen_on(&bare, (uint16_t)port);
    while (!stopping) {
        struct epoll_event events[EVENTS_MAX];
        int ready = epoll_wait(bare.epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < ready; i++) {
            if (events[i].data.fd == bare.listener)
                connections_accept(&bare);
            else
                connection_serve(&bare, events[i].data.fd);
        }
    }
    return 0;
}
