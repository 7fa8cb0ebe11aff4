/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/history.h: what happens to one partition, by seed: a list of steps, each a call with its
 * commands, or something that happens between calls. The steps are complete in themselves, so that some can
 * be left out and the rest done again. */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_HISTORY_H
#define STAMPEDE_TESTS_DIFFERENTIAL_HISTORY_H

#include "base/random.h"
#include "inventory/engine.h"
#include "inventory/redis/command_text.h"

enum {
    HISTORY_COMMANDS_MAX = 16 * 1024,
    HISTORY_USERS_MAX = 64,
    HISTORY_KEYS_MAX = 64,
    HISTORY_MARKS_MAX = 16
};

enum step_kind {
    STEP_CALL,
    STEP_DONE,    /* the worker tells how far the database is */
    STEP_REOPEN,  /* Redis has lost all, and the partition is loaded from the engine */
    STEP_RECLAIM, /* the engine forgets tickets, and the partition is loaded from it */
};
struct step {
    enum step_kind kind;
    uint64_t time_ms;      /* CALL */
    uint32_t first, count; /* CALL: commands */
    uint64_t seq, ticket;  /* DONE */
    bool left_out;
};

/* How this partition is: drawn once, from the seed. */
struct profile {
    struct engine_config config;
    uint64_t lag_max;
    uint64_t start_ms; /* the first time */
    uint32_t commands; /* so many in all */
    uint32_t items, sales, users, keys, units, step_ms, batch;
    bool operators; /* mostly their commands, with keys */
    bool returns;   /* cool-downs and draws */
    bool door;      /* some purchases have questions of the door, with this window */
    uint32_t requests, window_ms;
    user_id user_ids[HISTORY_USERS_MAX];
    uint64_t key_ids[HISTORY_KEYS_MAX];
    uint64_t mark_ids[HISTORY_MARKS_MAX];
};

struct history {
    uint64_t seed;
    struct random random;
    struct profile profile;
    uint64_t now_ms;
    uint32_t step_count, command_count;
    struct step steps[HISTORY_COMMANDS_MAX];
    struct command commands[HISTORY_COMMANDS_MAX];
    struct purchase_door doors[HISTORY_COMMANDS_MAX]; /* all 0: none */
};

void history_begin(struct history *history, uint64_t seed);
/* The next step; it sees the engine as it is. False: the history is over. */
bool history_next(struct history *history, const struct engine *engine, uint64_t seq);

#endif
