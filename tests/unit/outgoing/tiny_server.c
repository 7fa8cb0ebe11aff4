/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/outgoing/tiny_server.h"

#include "tests/unit/base/unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* the other side had enough */
        data += sent;
        size -= (size_t)sent;
    }
}

static void send_reply(int fd, int status, const char *more, const char *body, size_t size)
{
    char head[512];
    const int bytes = snprintf(head, sizeof head,
        "HTTP/1.1 %d x\r\nX-Echo: 1\r\nContent-Length: %zu\r\n%s\r\n", status, size, more);
    send_all(fd, head, (size_t)bytes);
    send_all(fd, body, size);
}

static void send_many(int fd, const char *path)
{
    static char bytes[1024 * 1024];
    memset(bytes, 'y', sizeof bytes);
    const size_t count = strtoul(path + 6, NULL, 10);
    if (strncmp(path, "/long/", 6) == 0) {
        send_reply(fd, 200, "", bytes, count);
        return;
    }
    char line[] = "HTTP/1.1 200 x\r\nContent-Length: 0\r\nX: ";
    send_all(fd, line, sizeof line - 1);
    send_all(fd, bytes, count);
    send_all(fd, "\r\n\r\n", 4);
}

/* False: the connection is to be closed. */
static bool request_answer(struct tiny_connection *connection)
{
    const char *path = strchr(connection->data, ' ') + 1;
    const int fd = connection->fd;
    static const char hints[] = "HTTP/1.1 103 x\r\nX-Echo: 0\r\n\r\n";
    if (strncmp(path, "/early", 6) == 0)
        send_all(fd, hints, sizeof hints - 1);
    if (strncmp(path, "/echo", 5) == 0 || strncmp(path, "/early", 6) == 0)
        send_reply(fd, 200, "", connection->data, connection->size);
    else if (strncmp(path, "/status/", 8) == 0)
        send_reply(fd, (int)strtoul(path + 8, NULL, 10), "Location: /echo\r\n", "", 0);
    else if (strncmp(path, "/long/", 6) == 0 || strncmp(path, "/head/", 6) == 0)
        send_many(fd, path);
    else if (strncmp(path, "/half", 5) == 0)
        send_all(fd, "HTTP/1.1 200 x\r\nContent-Length: 100\r\n\r\nhalf", 43);
    connection->size = 0;
    return strncmp(path, "/half", 5) != 0 && strncmp(path, "/cut", 4) != 0;
}

static bool request_whole(const struct tiny_connection *connection)
{
    const char *end = strstr(connection->data, "\r\n\r\n");
    if (end == NULL)
        return false;
    const char *length = strcasestr(connection->data, "\r\nContent-Length: ");
    const size_t body = length != NULL && length < end ? strtoul(length + 18, NULL, 10) : 0;
    return connection->size >= (size_t)(end + 4 - connection->data) + body;
}

static void connection_read(struct tiny_server *server, struct tiny_connection *connection)
{
    const ssize_t got = recv(connection->fd, connection->data + connection->size,
        TINY_REQUEST_MAX - connection->size, 0);
    bool keep = got > 0;
    if (keep) {
        connection->size += (uint32_t)got;
        connection->data[connection->size] = '\0';
        if (request_whole(connection)) {
            atomic_fetch_add(&server->requests, 1);
            keep = request_answer(connection);
        }
    }
    if (!keep) {
        close(connection->fd);
        connection->fd = -1;
    }
}

static void connection_accept(struct tiny_server *server)
{
    for (int i = 0; i < TINY_CONNECTIONS; i++) {
        if (server->connections[i].fd >= 0)
            continue;
        server->connections[i].fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        server->connections[i].size = 0;
        atomic_fetch_add(&server->accepted, 1);
        return;
    }
}

static void server_run(void *context)
{
    struct tiny_server *server = context;
    for (;;) {
        struct pollfd waiting[TINY_CONNECTIONS + 2];
        for (int i = 0; i < TINY_CONNECTIONS; i++)
            waiting[i] = (struct pollfd){ .fd = server->connections[i].fd, .events = POLLIN };
        waiting[TINY_CONNECTIONS] = (struct pollfd){ .fd = server->listener, .events = POLLIN };
        waiting[TINY_CONNECTIONS + 1] = (struct pollfd){ .fd = server->stop.fd, .events = POLLIN };
        poll(waiting, TINY_CONNECTIONS + 2, -1);
        if (waiting[TINY_CONNECTIONS + 1].revents != 0)
            return;
        for (int i = 0; i < TINY_CONNECTIONS; i++)
            if (waiting[i].fd >= 0 && waiting[i].revents != 0)
                connection_read(server, &server->connections[i]);
        if (waiting[TINY_CONNECTIONS].revents != 0)
            connection_accept(server);
    }
}

struct tiny_server *tiny_server_start(void)
{
    struct tiny_server *server = calloc(1, sizeof *server);
    assert_non_null(server);
    for (int i = 0; i < TINY_CONNECTIONS; i++)
        server->connections[i].fd = -1;
    struct sockaddr_in address = { .sin_family = AF_INET };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(server->listener, 256), 0);
    assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    assert_int_equal(wake_open(&server->stop), STATUS_OK);
    assert_int_equal(thread_start(&server->thread, "tiny", server_run, server), STATUS_OK);
    return server;
}

void tiny_server_stop(struct tiny_server *server)
{
    wake_signal(&server->stop);
    thread_join(&server->thread);
    for (int i = 0; i < TINY_CONNECTIONS; i++)
        if (server->connections[i].fd >= 0)
            close(server->connections[i].fd);
    close(server->listener);
    wake_close(&server->stop);
    free(server);
}
