/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LISTEN_BACKLOG = 4096,
    /* Bytes of a connection that the kernel keeps before they are on their way. Its own bound is
     * megabytes: a thousand clients that ask for much and read nothing would cost gigabytes. */
    UNSENT_BYTES = 16 * 1024,
};

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static bool address_parse(const char *text, uint16_t port, union address *address, socklen_t *bytes)
{
    memset(address, 0, sizeof(*address));
    if (inet_pton(AF_INET, text == NULL ? "0.0.0.0" : text, &address->v4.sin_addr) == 1) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons(port);
        *bytes = sizeof(address->v4);
        return true;
    }
    if (inet_pton(AF_INET6, text, &address->v6.sin6_addr) == 1) {
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons(port);
        *bytes = sizeof(address->v6);
        return true;
    }
    return false;
}

static bool option_set(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

bool listener_prepare(int fd)
{
    return option_set(fd, IPPROTO_TCP, TCP_NODELAY, 1)
        && option_set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES);
}

enum status listener_open(const char *address, uint16_t port, int *fd)
{
    union address where;
    socklen_t bytes = 0;
    *fd = -1;
    if (!address_parse(address, port, &where, &bytes))
        return STATUS_BAD_INPUT;
    int opened = socket(where.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (opened < 0)
        return STATUS_IO;
    bool ready = option_set(opened, SOL_SOCKET, SO_REUSEADDR, 1)
        && option_set(opened, SOL_SOCKET, SO_REUSEPORT, 1) && listener_prepare(opened);
    if (ready && where.any.sa_family == AF_INET6)
        ready = option_set(opened, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    if (!ready || bind(opened, &where.any, bytes) != 0 || listen(opened, LISTEN_BACKLOG) != 0) {
        int why = errno;
        close(opened);
        errno = why;
        return STATUS_IO;
    }
    *fd = opened;
    return STATUS_OK;
}

bool listener_taken(const char *address, uint16_t port)
{
    union address where;
    socklen_t bytes = 0;
    if (port == 0 || !address_parse(address, port, &where, &bytes))
        return false;
    int probe = socket(where.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return false;
    bool taken = option_set(probe, SOL_SOCKET, SO_REUSEADDR, 1)
        && bind(probe, &where.any, bytes) != 0 && errno == EADDRINUSE;
    close(probe);
    return taken;
}

uint16_t listener_port(int fd)
{
    union address where = { .any = { .sa_family = AF_UNSPEC } };
    socklen_t bytes = sizeof(where);
    if (getsockname(fd, &where.any, &bytes) != 0)
        return 0;
    if (where.any.sa_family == AF_INET)
        return ntohs(where.v4.sin_port);
    return where.any.sa_family == AF_INET6 ? ntohs(where.v6.sin6_port) : 0;
}
