/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing/addresses.h: which addresses of the network the program may call when it was not told
 * that private ones are fine: only such as the whole Internet can reach.
 * Thread: any. */
#ifndef STAMPEDE_OUTGOING_ADDRESSES_H
#define STAMPEDE_OUTGOING_ADDRESSES_H

#include <stdbool.h>
#include <sys/socket.h>

/* False: private, local, link-local, multicast, reserved, or a family that is not IP. An IPv6
 * address that carries an IPv4 address is what that one is. */
bool address_is_public(const struct sockaddr *address, socklen_t size);

#endif
