/* SPDX-License-Identifier: Apache-2.0 */
/* edge/sending.h: bytes out of a connection, now or when the socket takes them. What it does not
 * take stays with the connection: the first part by copy in a buffer, the second by address. Of
 * the second no more than EDGE_SEND_PIECE goes in one call; connection->takes_more says that the
 * socket is not why the rest waits.
 * Thread: the edge's. Errors: a broken socket or a lack of buffers sets connection->failed. */
#ifndef STAMPEDE_EDGE_SENDING_H
#define STAMPEDE_EDGE_SENDING_H

#include "edge/edge_state.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As recv and send, but without being cancellation points: those cost more than all the rest of
 * a call here. */
#ifdef __x86_64__
static inline ssize_t socket_call(long number, int fd, uintptr_t data, size_t size, long flags)
{
    register long fourth __asm__("r10") = flags, fifth __asm__("r8") = 0, sixth __asm__("r9") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"((long)fd), "S"(data), "d"(size), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    if (__builtin_expect(result < 0, 0)) {
        errno = (int)-result;
        return -1;
    }
    return result;
}
#else
static inline ssize_t socket_call(long number, int fd, uintptr_t data, size_t size, long flags)
{
    return syscall(number, fd, data, size, flags, NULL, 0);
}
#endif

static inline ssize_t socket_receive(int fd, void *data, size_t size)
{
    return socket_call(SYS_recvfrom, fd, (uintptr_t)data, size, 0);
}

static inline ssize_t socket_send(int fd, const void *data, size_t size)
{
    return socket_call(SYS_sendto, fd, (uintptr_t)data, size, MSG_NOSIGNAL);
}

static inline bool sending_pending(const struct connection *connection)
{
    return connection->out.data != NULL || connection->body.size > 0;
}

/* Sends both parts. Nothing may be pending. */
void sending_start(
    struct edge *edge, struct connection *connection, struct span first, struct span second);
/* Of both, `sent` bytes have gone; keeps what is left and starts its deadline. */
void sending_keep(struct edge *edge, struct connection *connection, struct span first,
    struct span second, size_t sent);
/* Goes on with what was kept; every EDGE_SEND_PROGRESS bytes earn a new deadline. */
void sending_continue(struct edge *edge, struct connection *connection);

#endif
