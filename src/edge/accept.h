/* SPDX-License-Identifier: Apache-2.0 */
/* edge/accept.h: takes in the connections that wait at the listener. Private to the edge; thread: its
 * own. */
#ifndef STAMPEDE_EDGE_ACCEPT_H
#define STAMPEDE_EDGE_ACCEPT_H

#include "edge/edge_state.h"

enum accepted {
    ACCEPTED_ONE,
    ACCEPTED_ALL,      /* nobody waits any more */
    ACCEPTED_GONE,     /* one has left before it was taken in */
    ACCEPTED_NO_PLACE, /* the system has no descriptor or memory left; errno tells */
};
/* Takes in one connection. Thread: any. */
enum accepted accept_next(int listen_fd, int *fd, struct address *peer);

/* As many as one turn may have. When the system has no descriptor left and no connection is idle, the
 * listener leaves the epoll set until edge->listen_again. */
void accept_some(struct edge *edge);
/* Those whose TLS handshake is done (edge/handshakes.h). */
void accept_secure(struct edge *edge);

#endif
