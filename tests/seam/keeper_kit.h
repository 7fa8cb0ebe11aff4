/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/keeper_kit.h: keepers of partitions: on a thread of this process, or in a process of its own
 * that can be killed and halted (this program again, with the word "keep"). */
#ifndef STAMPEDE_TESTS_SEAM_KEEPER_KIT_H
#define STAMPEDE_TESTS_SEAM_KEEPER_KIT_H

#include "base/thread.h"
#include "partition/keeper.h"
#include "tests/seam/partition_kit.h"
#include "tests/unit/store/place.h"

#include <sys/types.h>

enum { LEASE_MS = 600, PATIENCE_MS = 60 * 1000, KEPT_LAG_MAX = 100000 };

uint64_t kit_now_ms(void);
bool kit_still(uint64_t since_ms, const char *what); /* a failed test after a minute */
#define EVENTUALLY(condition) \
    for (const uint64_t since_ms = kit_now_ms(); !(condition) && kit_still(since_ms, #condition);) \
        ;

/* What the callbacks were told so far. */
struct heard {
    uint32_t changed, alarms, cleared;
    uint32_t strange; /* what must not be */
    char first_alarm[320];
};
struct worker {
    struct order_store *store;
    struct keeper *keeper;
    struct thread thread;
    pthread_mutex_t guard; /* of: */
    struct heard heard;
};
void kept_start(struct worker *worker, const struct place *place, const struct shop *shop,
    uint64_t holder, uint32_t lease_ms);
void kept_stop(struct worker *worker); /* or nothing */
struct keeper_health kept_health(const struct worker *worker);
struct heard kept_heard(struct worker *worker);

struct child {
    const struct place *place;
    pid_t id; /* 0: none */
};
void child_start(struct child *child, const struct place *place, const struct shop *shop);
void child_kill(struct child *child); /* or nothing */
void child_halt(struct child *child); /* while it writes nothing */
void child_go_on(struct child *child);
int child_run(const char *addresses, char **words); /* what main does with the words after "keep" */

#endif
