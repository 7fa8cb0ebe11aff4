/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/sim_redis.h: a Redis cluster of one slot: two servers, one of them the master. The
 * scripts are the product's own texts in Lua 5.1 (tests/differential/lua_host.h); commands that nobody uses
 * are missing. A replica has a beginning of what its master wrote, script by script; the rest is lost when it
 * is promoted. A script cache is of one server and lost with its process. A master that was cut off goes on
 * answering whoever still talks to it, until it comes back as a replica.
 * Thread: one at a time. Memory: its own until sim_redis_stop. */
#ifndef STAMPEDE_TESTS_CLUSTER_SIM_REDIS_H
#define STAMPEDE_TESTS_CLUSTER_SIM_REDIS_H

#include "base/random.h"
#include "redis/info.h"
#include "redis/reply.h"
#include "redis/request.h"
#include "tests/differential/map.h"

enum { SIM_SERVERS = 2, SIM_SERVER_NONE = 255, SIM_KEYS_MAX = 64, SIM_REPLY_PIECES = 1024 };

struct sim_stream_entry {
    uint64_t seq;
    char *bytes; /* epoch, time and lines, each with its end */
};
struct sim_key {
    char name[88];
    struct map hash;
    struct sim_stream_entry *entries; /* of a stream */
    uint32_t entry_count, entry_room;
    uint64_t last_seq;
};
struct sim_data {
    struct sim_key *keys[SIM_KEYS_MAX];
    uint32_t count;
};

enum { SIM_SCRIPTS_MAX = 128 };
struct sim_server {
    bool alive, master;
    uint32_t process; /* another one after each start */
    char replid[REDIS_ID_CHARS + 1];
    struct sim_data data;
    int scripts[SIM_SCRIPTS_MAX]; /* its script cache */
    uint32_t script_count;
};

/* A reply, and the memory of its parts. */
struct sim_reply {
    struct redis_value value;
    void *pieces[SIM_REPLY_PIECES];
    uint32_t count;
};
void sim_reply_free(struct sim_reply *reply);

struct sim_redis {
    struct sim_server servers[SIM_SERVERS];
    uint8_t master;   /* as the cluster sees it */
    bool synced;      /* the other one follows it */
    bool repeats;     /* readers of the stream may hear entries again, and some later */
    uint32_t changes; /* replication ids so far */
    struct random *random;
    uint64_t scripts_run;
};

void sim_redis_start(struct sim_redis *redis, struct random *random);
void sim_redis_stop(struct sim_redis *redis);
/* What one server makes of a request. It is alive. */
void sim_redis_do(struct sim_redis *redis, uint8_t at, struct redis_words words, struct sim_reply *reply);
/* The replica takes up to so many writes, or is copied if it is new. */
void sim_redis_replicate(struct sim_redis *redis, uint32_t writes);

/* What can happen. False: not now. */
bool sim_redis_promote(struct sim_redis *redis, bool kill); /* the old master dies, or is cut off */
bool sim_redis_hand_over(struct sim_redis *redis);          /* by an operator: nothing is lost */
void sim_redis_restart(struct sim_redis *redis);            /* the master comes back without data */
void sim_redis_flush_all(struct sim_redis *redis);
void sim_redis_flush_scripts(struct sim_redis *redis);
void sim_redis_forget_script(struct sim_redis *redis, struct span text); /* of the master */
/* A field is not what the script wrote: the units of an item. */
bool sim_redis_tamper(struct sim_redis *redis, struct span key, struct span field);
void sim_redis_rejoin(struct sim_redis *redis); /* whoever is not the master becomes its replica */

/* For checks: a hash of the present master; NULL: there is no such key. */
const struct map *sim_redis_hash(const struct sim_redis *redis, struct span name);

#endif
