/* SPDX-License-Identifier: Apache-2.0 */
/* edge/listener.h: the listening socket of one edge. SO_REUSEPORT lets each edge have its own on
 * the same port. */
#ifndef STAMPEDE_EDGE_LISTENER_H
#define STAMPEDE_EDGE_LISTENER_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* `address` is numeric, IPv4 or IPv6 ("::" takes both); NULL means all of IPv4. Port 0 lets the
 * system choose. Errors: STATUS_BAD_INPUT for an address that is none, STATUS_IO with errno
 * else; then nothing is left open. */
MUST_CHECK enum status listener_open(const char *address, uint16_t port, int *fd);
/* Sets what accepted sockets inherit; listener_open has done it. False: it is not a TCP socket. */
bool listener_prepare(int fd);
/* Whether somebody listens there already. SO_REUSEPORT would let two servers of one user share a port
 * without noticing; ask this once, before the first listener_open. */
bool listener_taken(const char *address, uint16_t port);
uint16_t listener_port(int fd); /* 0 if it has none */

#endif
