/* SPDX-License-Identifier: Apache-2.0 */
/* server/follow_host.h: a server that a second machine follows (docs/follow.md): puts the mirror between the
 * parts that write the data folder and their files, and tells inventory and alarms how the follower is.
 * Thread: main. All calls accept a zeroed one: nobody follows. */
#ifndef STAMPEDE_SERVER_FOLLOW_HOST_H
#define STAMPEDE_SERVER_FOLLOW_HOST_H

#include "config/data_folder.h"
#include "server/host.h"

struct follow_host {
    struct primary *primary; /* NULL: no follow.listen */
    const char *vfs;         /* what the database is opened with */
    struct disk *journal;    /* the folder's own, under the mirror */
    uint64_t lag_bytes_max;  /* above: an alarm */
};

/* STATUS_CONFLICT: another machine has taken over. */
MUST_CHECK enum status follow_host_open(struct follow_host *, const struct config *,
    struct data_folder *folder, char error[CONFIG_ERROR]);
MUST_CHECK enum status follow_host_start(struct follow_host *); /* before anybody is told anything */
void follow_host_watch(struct follow_host *, struct host *);    /* ten times a second */
/* At a stop: whoever waits for a follower that is not there gives up. */
void follow_host_release(struct follow_host *);
void follow_host_close(struct follow_host *, struct data_folder *folder); /* when the database is closed */

#endif
