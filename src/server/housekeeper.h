/* SPDX-License-Identifier: Apache-2.0 */
/* server/housekeeper.h: two threads for what can wait. One prepares the next journal segment, sets gauges,
 * and looks whether the wall clock has left ours. The other makes snapshots and packs segments, which may
 * take seconds, and a segment must be ready before the present one is full. Both give way to all other
 * threads.
 * Thread: main starts and stops it. */
#ifndef STAMPEDE_SERVER_HOUSEKEEPER_H
#define STAMPEDE_SERVER_HOUSEKEEPER_H

#include "base/thread.h"

struct host;
struct link;

struct housekeeper {
    struct host *host;
    const struct link *link;
    struct wake wake, keeper_wake;
    struct thread thread, keeper;
    _Atomic bool stop;
};

MUST_CHECK enum status housekeeper_start(
    struct housekeeper *housekeeper, struct host *host, const struct link *link);
void housekeeper_stop(struct housekeeper *housekeeper); /* accepts one that was never started */

#endif
