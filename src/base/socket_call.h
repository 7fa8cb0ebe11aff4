/* SPDX-License-Identifier: Apache-2.0 */
/* base/socket_call.h: recv and send of a socket that does not block.
 * Thread: any. Errors: as those calls have them, in errno. */
#ifndef STAMPEDE_BASE_SOCKET_CALL_H
#define STAMPEDE_BASE_SOCKET_CALL_H

#include <errno.h>
#include <stdint.h>
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

#endif
