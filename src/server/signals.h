/* SPDX-License-Identifier: Apache-2.0 */
/* server/signals.h: the signals that the server waits for are blocked in all its threads; a peer that closes
 * its end is told by write() and not by a signal. Thread: main, before the others start. */
#ifndef STAMPEDE_SERVER_SIGNALS_H
#define STAMPEDE_SERVER_SIGNALS_H

#include <signal.h>

void signals_block(sigset_t *signals); /* SIGTERM, SIGINT, SIGHUP: for sigtimedwait */

#endif
