/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/crowd.h: plays a plan against a server. One thread, one epoll loop, a pool of connections with one
 * request in flight on each. A request that is due while no connection is free waits for one, and that
 * counts: its time runs from the moment that was meant, so a server that stalls can't hide the requests it
 * kept from being sent. Bounded in visitors, connections and time. Thread: the caller's. */
#ifndef STAMPEDE_REHEARSE_CROWD_H
#define STAMPEDE_REHEARSE_CROWD_H

#include "rehearse/request.h"
#include "rehearse/tally.h"

#include <stdatomic.h>
#include <sys/socket.h>

enum { CROWD_CONNECTIONS_MAX = 16000, CROWD_GRACE_S = 10 };

struct crowd_options {
    struct sockaddr_storage server;
    socklen_t server_bytes;
    struct request_place place;
    uint64_t seed;
    uint64_t begin_ns;       /* monotonic clock: moment 0 of the plan */
    uint64_t length_ns;      /* visits that are not over then are given up */
    uint32_t connections;    /* at most */
    const atomic_bool *stop; /* ends the play early */
    void (*second)(void *context, const struct tally *tally); /* once a second */
    void *context;
};

/* STATUS_FULL: no memory; STATUS_IO: no sockets. Anything else that goes wrong is in the tally. */
MUST_CHECK enum status crowd_play(const struct crowd_options *options,
    const struct sale_facts *facts, struct visitor *visitors, uint32_t count, struct tally *tally);

#endif
