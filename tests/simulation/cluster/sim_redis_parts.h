/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/sim_redis_parts.h: what sim_redis.c (servers), sim_redis_data.c (keys) and
 * sim_redis_lua.c (scripts) share. */
#ifndef STAMPEDE_TESTS_CLUSTER_SIM_REDIS_PARTS_H
#define STAMPEDE_TESTS_CLUSTER_SIM_REDIS_PARTS_H

#include "tests/simulation/cluster/sim_redis.h"

/* sim_redis_data.c: a command that writes, as a master does it and a replica again. False: an error, and
 * *number is nothing. */
bool sim_data_write(struct sim_data *data, struct redis_words words, int64_t *number, const char **error);
struct sim_key *sim_data_key(const struct sim_data *data, struct span name); /* NULL: there is none */
void sim_data_copy(struct sim_data *to, const struct sim_data *from);
void sim_data_clear(struct sim_data *data);

/* sim_redis.c: writes, and keeps it for the replica. */
bool sim_server_write(struct sim_redis *redis, uint8_t server, struct redis_words words,
    int64_t *number, const char **error);

/* Parts of a reply. */
struct span sim_reply_text(struct sim_reply *reply, struct span text);
struct redis_value *sim_reply_list(struct sim_reply *reply, uint32_t count);
void sim_reply_error(struct sim_reply *reply, const char *text);

/* sim_redis_lua.c: the number of a script's text. One Lua has the scripts of all servers and runs. */
int sim_script_load(struct span text);
int sim_script_find(struct span sha); /* −1: nobody ever loaded it */
void sim_script_run(struct sim_redis *redis, uint8_t server, int script, struct redis_words keys,
    struct redis_words arguments, struct sim_reply *reply);

#endif
