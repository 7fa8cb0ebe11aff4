/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/opening.h: opening a partition in Redis: the one recovery for everything (a promoted or
 * empty server, a moved slot, a script that differs, the first start).
 *
 *   1. partition_shut    the script of the old epoch is refused from now on; what it proposed is still in the
 *                        stream, and the worker takes it in
 *   2.                   the epoch is raised in the store (contract/cluster_store.h): it is ours alone
 *   3. partition_begin   Redis is claimed for the epoch; whoever comes with an older one is refused
 *   4. partition_load    the state of the engine, unless Redis has it already
 *   5. partition_admit   the script of the epoch is there, and is allowed to run
 *
 * Steps 3 to 5 compare the epoch inside of Redis each time, so that a process that was stopped in between
 * can't spoil what a later one has opened. They are repeated from the beginning after any failure.
 * Thread: the caller's (redis/caller.h). */
#ifndef STAMPEDE_INVENTORY_REDIS_OPENING_H
#define STAMPEDE_INVENTORY_REDIS_OPENING_H

#include "inventory/redis/keys.h"
#include "redis/info.h"
#include "redis/reply.h"

struct engine;
struct image_head;
struct redis_caller;
struct opening {
    struct redis_caller *caller;
    const struct partition_keys *keys;
    uint32_t timeout_ms; /* for each answer */
};

/* What Redis has of a partition. */
struct partition_found {
    uint32_t epoch; /* whose script may run; 0: none */
    uint32_t shut;  /* whose script ran last, if none may run now; 0: not known */
    uint32_t open;  /* the last one that claimed it */
    bool has_state; /* else nothing is there, or only what an opening has begun with */
    uint64_t seq;   /* the last record of the state */
    uint32_t doubt; /* the state of this epoch is not that of the log; 0: it was not found so */
    /* The replication id of the master when the script was last admitted; empty: not known. A master with
     * another one may have lost what this one has acknowledged. */
    char replid[REDIS_ID_CHARS + 1];
};

/* For EVAL, by any process, with the first key and an epoch: if that is the one that may run, it may not any
 * more, and its state is not to be trusted: whoever opens the partition next loads it anew. May be repeated.
 * FENCED: it is another one. */
extern const char partition_doubt_text[];

/* A partition at rest: its sale is over, everything of it is in the database, its script may not run, and its
 * keys go after a while. The mark says which epoch and record that was; it counts as long as the database is
 * there, too, and goes when the partition is opened anew. */
struct partition_rest {
    uint32_t epoch; /* 0: there is no mark */
    uint64_t seq;
};
/* For EVAL, by any process, with the five keys, the mark's, and three arguments: the epoch, the last record,
 * after how many ms the keys go. Answers 1; 0: there are more records. FENCED: another epoch may run. */
extern const char partition_rest_text[];
#define PARTITION_REST_WORDS(keys) REDIS_WORDS(SPAN("HMGET"), (keys)->rest, SPAN("rest"))
void partition_rest_read(const struct redis_value *value, struct partition_rest *rest);

/* All of them: REDIS_ANSWER_OK, or why not. REDIS_ANSWER_FENCED: a later epoch has claimed the partition. */
MUST_CHECK enum redis_answer partition_look(const struct opening *, struct partition_found *found);
MUST_CHECK enum redis_answer partition_rest_look(const struct opening *, struct partition_rest *rest);
/* Only if `epoch` is the one that may run. */
MUST_CHECK enum redis_answer partition_shut(const struct opening *, uint32_t epoch);
MUST_CHECK enum redis_answer partition_begin(const struct opening *, uint32_t epoch);
/* Clears what is there, and writes the state. head->epoch is the one that has begun. */
MUST_CHECK enum redis_answer partition_load(
    const struct opening *, const struct engine *engine, const struct image_head *head);
/* `replid`: of the master now, which is noted. `sha`: what EVALSHA calls the script. */
MUST_CHECK enum redis_answer partition_admit(
    const struct opening *, uint32_t epoch, const char *replid, char sha[SCRIPT_SHA_DIGITS + 1]);

#endif
