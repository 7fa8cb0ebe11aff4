/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/outgoing/tiny_server.h: a real HTTP server on a loopback port and a thread of its own,
 * as small as can be. What it answers is in the path:
 *   /echo      200, header X-Echo: 1, body: the request's head and body
 *   /status/N  status N, no body, Location: /echo
 *   /long/N    200 with N bytes;  /head/N  200 with N bytes of headers
 *   /early     a 103 with X-Echo: 0, then 200 as usual
 *   /slow      nothing, ever;  /half  a part of the answer, then the end;  /cut  the end at once
 * Memory: its own. */
#ifndef STAMPEDE_TESTS_UNIT_OUTGOING_TINY_SERVER_H
#define STAMPEDE_TESTS_UNIT_OUTGOING_TINY_SERVER_H

#include "base/thread.h"

enum { TINY_CONNECTIONS = 64, TINY_REQUEST_MAX = 64 * 1024 };

struct tiny_connection {
    int fd;
    uint32_t size;
    char data[TINY_REQUEST_MAX + 1];
};
struct tiny_server {
    struct thread thread;
    struct wake stop;
    int listener;
    uint16_t port;
    _Atomic uint32_t requests, accepted;
    struct tiny_connection connections[TINY_CONNECTIONS];
};
struct tiny_server *tiny_server_start(void);
void tiny_server_stop(struct tiny_server *server);

#endif
