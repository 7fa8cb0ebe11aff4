/* SPDX-License-Identifier: Apache-2.0 */
/* redis/client.h: one thread's way to Redis: a cluster, or a single server that has all slots.
 *
 * From a list of addresses (seeds) it finds out who has which slot, connects to all masters, and sends
 * each request to the master of its key. A slot that has moved: the map is corrected at once and asked
 * for again, and the request is passed on; a slot that is moving: the request is passed on once, with
 * ASKING. It is passed on only to a server that is connected; otherwise the answer is
 * REDIS_ANSWER_AGAIN, as it is for everything that was not done and soon can be.
 * Several plain servers as seeds: the first master that answers is used. There is no Sentinel.
 *
 * The loop: redis_client_fd is an epoll set that can be waited for like a socket. When it is readable,
 * when redis_client_next_due has come, or after requests were sent: redis_client_turn.
 *
 * Thread: one. Memory: as redis/connection.h, for each master when it is seen first; none per request.
 * Callbacks run inside of redis_client_turn; they may send. Time: any clock in ms that does not go
 * back. */
#ifndef STAMPEDE_REDIS_CLIENT_H
#define STAMPEDE_REDIS_CLIENT_H

#include "redis/connection.h"
#include "redis/look.h"

enum { REDIS_SEEDS_MAX = 16, REDIS_LOOK_MS = 10 * 1000 };

struct redis_client_config {
    struct redis_node seeds[REDIS_SEEDS_MAX];
    uint32_t seed_count;
    struct redis_login login;
    struct redis_limits limits; /* of each connection; in_flight_max also of all together */
};

struct redis_client_owner {
    void *self;
    /* Each request that was taken, exactly once. `value` is NULL where no reply came. Never
     * REDIS_ANSWER_MOVED or REDIS_ANSWER_ASK. */
    void (*answered)(void *self, uint64_t tag, enum redis_answer answer, const struct redis_value *value);
    /* A server has greeted, before the first request to it is taken; or was asked again, each second. NULL:
     * nobody wants to know. */
    void (*informed)(void *self, const struct redis_node *node, const struct redis_info *info);
    /* Each REDIS_LOOK_MS all masters are asked for their clock and memory (redis_client_each), compared with
     * this clock, ms since 1970; then `informed` comes, too. NULL: they are not asked. */
    uint64_t (*clock_ms)(void);
};

struct redis_client;
/* STATUS_BAD_INPUT: no seeds, or too many. STATUS_FULL, STATUS_IO: no memory, no descriptor. */
MUST_CHECK enum status redis_client_open(struct redis_client **client,
    const struct redis_client_config *config, const struct redis_client_owner *owner);
void redis_client_close(struct redis_client *client); /* accepts NULL; tells nobody */
int redis_client_fd(const struct redis_client *client);
void redis_client_turn(struct redis_client *client, uint64_t now_ms);
uint64_t redis_client_next_due(const struct redis_client *client);

/* The words go to the master of `key`, which need not be one of them. STATUS_AWAY: it is not known or not
 * connected; STATUS_FULL: too much is in flight; STATUS_BAD_INPUT: too long for ever. Then nothing will
 * be told. */
MUST_CHECK enum status redis_client_send(struct redis_client *client, struct span key, uint64_t tag,
    uint64_t due_ms, struct redis_words words);
uint32_t redis_client_in_flight(const struct redis_client *client);

/* The master of a slot; NULL: nobody has it, as far as is known. */
const struct redis_node *redis_client_master(const struct redis_client *client, uint16_t slot);
/* What that server last told about itself; NULL: it is not connected. */
const struct redis_info *redis_client_info(const struct redis_client *client, uint16_t slot);
/* Each master that is connected. */
typedef void redis_client_see(void *context, const struct redis_node *node,
    const struct redis_info *info, const struct redis_look *look);
void redis_client_each(const struct redis_client *client, redis_client_see *see, void *context);
bool redis_client_is_whole(const struct redis_client *client); /* each slot has a master that is connected */
/* One of its troubles in words, for people; empty: none. */
void redis_client_trouble(const struct redis_client *client, struct text *out);
/* For redis/subscriber.c: what a server said about a slot; and: the map may be wrong. */
void redis_client_moved(struct redis_client *client, const struct redis_node *asked, struct span error);
void redis_client_doubt(struct redis_client *client);
const struct redis_client_config *redis_client_configured(const struct redis_client *client);

#endif
