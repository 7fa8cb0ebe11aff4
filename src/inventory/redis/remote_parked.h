/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_parked.h: answers that wait until the database has kept what they show. Private to
 * the inventory over Redis (remote_parts.h). Thread: the host's. */
#ifndef STAMPEDE_INVENTORY_REDIS_REMOTE_PARKED_H
#define STAMPEDE_INVENTORY_REDIS_REMOTE_PARKED_H

#include "inventory/redis/remote_call.h"

enum { PARKED_LOOK_MS = 10 }; /* between two looks for answers whose time is over */

struct remote;
/* What an answer waits for. */
struct parking {
    uint64_t seq;   /* of the record that it saw */
    uint32_t epoch; /* that it was proposed under */
    user_id user;   /* of a purchase; 0: it is none */
    uint64_t key;
    bool is_purchase; /* of somebody who can be told that it is being decided */
};
struct parked {
    struct parked *next;
    struct parking saw;
    uint64_t since_ms, until_ms;
    struct asker asker;
    struct outcome outcome; /* its ticket is the engine's own number */
};

void parked_add(struct remote *remote, struct partition *partition, const struct asker *asker,
    const struct outcome *outcome, const struct parking *parking);
void parked_release(struct remote *remote, struct partition *partition); /* what is kept by now */
/* What was proposed under older epochs than the present one, all of which was read, and is not kept. */
void parked_void(struct remote *remote, struct partition *partition);
void parked_look(struct remote *remote); /* whose time is over */

#endif
