/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/runner.h: what runs the script: Lua 5.1 in this process with the few commands of Redis
 * that the script uses (runner_lua.c), or a real server (runner_redis.c). */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_RUNNER_H
#define STAMPEDE_TESTS_DIFFERENTIAL_RUNNER_H

#include "inventory/redis/command_text.h"
#include "tests/differential/map.h"

#define RUNNER_PREFIX "st:0123456789abcdef:{7}"
enum {
    RUNNER_EPOCH = 3,
    RUNNER_LINES_MAX = SCRIPT_PURCHASES_MAX + 1,
    RUNNER_WORDS_MAX = 2 + PURCHASE_WORDS * (SCRIPT_PURCHASES_MAX + 1), /* one purchase too many, too */
    RUNNER_ENTRY_MAX = 64 * 1024,
    RUNNER_WRONG_MAX = 512,
    RUNNER_KEY_MAX = SCRIPT_PREFIX_MAX + 32,
};

struct reply {
    uint32_t count;
    struct span lines[RUNNER_LINES_MAX]; /* live until the next call */
    char wrong[RUNNER_WRONG_MAX]; /* an error instead, or a reply that is not texts; "": none */
};

/* The last entry of the stream. */
struct entry {
    uint64_t entries; /* how many there are */
    char id[64], epoch[16], time[32];
    char lines[RUNNER_ENTRY_MAX];
};

struct runner {
    void (*clear)(struct runner *runner);
    void (*put)(struct runner *runner, enum script_key key, struct span field, struct span value);
    /* ARGV of the script. */
    void (*call)(struct runner *runner, const struct span *words, uint32_t count, struct reply *reply);
    const struct map *(*hash)(struct runner *runner, enum script_key key);
    void (*entry)(struct runner *runner, struct entry *entry);
    /* How many keys there are of used passes and users' windows. */
    uint64_t (*door_keys)(struct runner *runner);
    double (*cpu_us)(struct runner *runner); /* what runs the script has used so far */
    /* Only on a server, else NULL: purchases by the script of bench/peers/deduct.lua, the yardstick, and how
     * many were won; the bytes of a key. */
    uint32_t (*plain)(struct runner *runner, bool sold_out, uint64_t first_user, uint32_t count);
    uint64_t (*bytes)(struct runner *runner, enum script_key key);
    void (*close)(struct runner *runner);
};

struct runner *runner_lua_open(struct span script);
/* NULL: no server there; it says why on standard error. */
struct runner *runner_redis_open(const char *address, struct span script);

#endif
