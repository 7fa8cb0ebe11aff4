/* SPDX-License-Identifier: Apache-2.0 */
/* edge/accept.h: takes in the connections that wait at the listener. Private to the edge; thread: its
 * own. */
#ifndef STAMPEDE_EDGE_ACCEPT_H
#define STAMPEDE_EDGE_ACCEPT_H

#include "edge/edge_state.h"

/* The next connection that waits there, and who it is; -1 with errno. Thread: any. */
MUST_CHECK int accept_next(int listen_fd, struct address *peer);
bool accept_is_short(int why); /* errno of accept_next: the system has no descriptor or memory left */

/* As many as one turn may have. When the system has no descriptor left and no connection is idle, the
 * listener leaves the epoll set until edge->listen_again. */
void accept_some(struct edge *edge);
/* Those whose TLS handshake is done (edge/handshakes.h). */
void accept_secure(struct edge *edge);

#endif
