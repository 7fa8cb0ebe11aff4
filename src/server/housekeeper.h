/* SPDX-License-Identifier: Apache-2.0 */
/* server/housekeeper.h: the thread for what can wait: the next journal segment, snapshots, gauges, and a look
 * at whether the wall clock has left ours. It gives way to all other threads.
 * Thread: main starts and stops it. */
#ifndef STAMPEDE_SERVER_HOUSEKEEPER_H
#define STAMPEDE_SERVER_HOUSEKEEPER_H

#include "base/thread.h"

struct host;
struct link;

struct housekeeper {
    struct host *host;
    const struct link *link;
    struct wake wake;
    struct thread thread;
    _Atomic bool stop;
};

MUST_CHECK enum status housekeeper_start(
    struct housekeeper *housekeeper, struct host *host, const struct link *link);
void housekeeper_stop(struct housekeeper *housekeeper); /* accepts one that was never started */

#endif
