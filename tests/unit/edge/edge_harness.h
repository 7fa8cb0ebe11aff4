/* SPDX-License-Identifier: Apache-2.0 */
/* A real edge on its own thread with a handler made for tests, and a blocking client.
 *
 * What the handler answers (the body names the path and its query):
 *   /now      replied at once         /echo    replied with the request's body
 *   /answer   answered (overlaps)     /defer   deferred, completed in the next turns, newest first (overlaps)
 *   /never    deferred for ever       /bytes   deferred, completed with bytes
 *   /big      HARNESS_BIG_BYTES left in place as the body
 *   /flood    an answer that does not fit    /page  HARNESS_PAGE_BYTES written to out
 *   /client   the client's address
 *   /hold     deferred (overlaps) until harness_release()
 *   /socket   becomes a websocket: a text message comes back, "close" closes it with 1000, "page" gets
 *             one frame of HARNESS_PAGE_BYTES, a number so many frames of HARNESS_FRAME_BYTES */
#ifndef STAMPEDE_TESTS_EDGE_HARNESS_H
#define STAMPEDE_TESTS_EDGE_HARNESS_H

#include "edge/edge.h"

enum {
    HARNESS_BIG_BYTES = 8 * 1024 * 1024,
    HARNESS_PAGE_BYTES = 200 * 1024,
    HARNESS_WAITING_MAX = 1024,
    HARNESS_FRAME_BYTES = 1000,
    HARNESS_REPLY_MAX = 256 * 1024,
};

struct harness_waiter {
    uint64_t token;
    uint64_t since_ms;
    uint32_t number;
    bool bytes, hold;
};
struct harness {
    struct edge *edge;
    struct thread thread;
    _Atomic bool released;
    _Atomic uint32_t waiting; /* readable from the test */
    _Atomic uint32_t handled;
    _Atomic uint32_t gone[EDGE_SOCKET_ENDS]; /* websockets, by how they ended */
    struct harness_waiter waiters[HARNESS_WAITING_MAX];
    uint32_t waiter_count;
    char *big;
};

/* Zero fields of `config` get values that suit tests (listen on 127.0.0.1, any port). */
void harness_start(struct harness *harness, struct edge_config config);
void harness_stop(struct harness *harness); /* stops at once, joins, closes */
void harness_join(struct harness *harness); /* waits for the edge to end by itself (drain), closes */
void harness_release(struct harness *harness);

int client_connect(const struct harness *harness);
void client_send(int fd, const char *text);
void client_send_bytes(int fd, const void *data, size_t size);
/* Reads one response (by Content-Length; head only if `head_only`) into text, NUL-terminated; its
 * status, or 0 when the connection ended before one byte, or -1 when it ended in the middle. */
int client_read(int fd, char *text, size_t capacity, bool head_only);
/* End of stream or reset within that time, dropping what comes. */
bool client_is_closed(int fd, uint32_t within_ms);
uint64_t test_now_ms(void);
void test_sleep_ms(uint32_t ms);

#endif
