/* SPDX-License-Identifier: Apache-2.0 */
/* redis/subscriber.h: messages of sharded channels (SSUBSCRIBE), on connections of their own beside
 * those of a client, to the masters of the channels' slots.
 *
 * Messages are not kept by Redis. Whoever subscribes, also again after a lost connection or a moved
 * slot, may have missed some: `subscribed` says so each time, and the owner then looks at the state itself.
 *
 * Thread: that of the client, whose epoll set it shares: redis_client_turn first, then
 * redis_subscriber_turn. Memory: taken at open, and for each master when it is seen first. Callbacks run
 * inside of redis_subscriber_turn. */
#ifndef STAMPEDE_REDIS_SUBSCRIBER_H
#define STAMPEDE_REDIS_SUBSCRIBER_H

#include "redis/client.h"

enum { REDIS_CHANNELS_MAX = 256, REDIS_CHANNEL_CHARS_MAX = 127 };

struct redis_subscriber_owner {
    void *self;
    /* From now on messages come; those before may be missing. */
    void (*subscribed)(void *self, struct span channel);
    void (*noted)(void *self, struct span channel, struct span message);
};

struct redis_subscriber;
MUST_CHECK enum status redis_subscriber_open(struct redis_subscriber **subscriber,
    struct redis_client *client, const struct redis_subscriber_owner *owner);
void redis_subscriber_close(struct redis_subscriber *subscriber); /* before its client; accepts NULL */
/* STATUS_FULL: too many; STATUS_BAD_INPUT: the name is empty or too long; STATUS_CONFLICT: it is there. */
MUST_CHECK enum status redis_subscriber_add(struct redis_subscriber *subscriber, struct span name);
void redis_subscriber_remove(struct redis_subscriber *subscriber, struct span name); /* or nothing */
void redis_subscriber_turn(struct redis_subscriber *subscriber, uint64_t now_ms);
uint64_t redis_subscriber_next_due(const struct redis_subscriber *subscriber);
bool redis_subscriber_is_whole(const struct redis_subscriber *subscriber); /* all are subscribed */

#endif
