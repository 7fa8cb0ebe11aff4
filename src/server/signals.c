/* SPDX-License-Identifier: Apache-2.0 */
#include "server/signals.h"

#include "base/status.h"

#include <pthread.h>

void signals_block(sigset_t *signals)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    invariant(pthread_sigmask(SIG_BLOCK, signals, NULL) == 0);
    invariant(sigaction(SIGPIPE, &ignore, NULL) == 0);
}
