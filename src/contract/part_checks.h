/* SPDX-License-Identifier: Apache-2.0 */
/* contract/part_checks.h: on many machines: is what Redis has of a partition that which its log says? One
 * question at a time; the inventory answers it while it goes on deciding (inventory/redis/remote_check.c).
 * Thread: one that asks. Errors: an answer that never comes is PART_NOT_KNOWN after some seconds. */
#ifndef STAMPEDE_CONTRACT_PART_CHECKS_H
#define STAMPEDE_CONTRACT_PART_CHECKS_H

#include "contract/types.h"

enum { PART_DIFFERENCES_MAX = 8, PART_DIFFERENCE_TEXT_MAX = 200 };

enum part_question {
    PART_COMPARE,        /* everything */
    PART_COMPARE_RECENT, /* counters of items, and rows that came since a comparison found nothing */
    PART_RELOAD,         /* what Redis has is wrong: a worker loads it anew from the log */
    PART_REST, /* a reconciliation found nothing wrong with it: it may be put to rest, if it is over */
};
enum part_answer {
    PART_WAIT,  /* not answered yet */
    PART_EQUAL, /* to PART_RELOAD: it was loaded, and is open; to PART_REST: it is at rest */
    PART_OVER,  /* equal, and nothing is expected any more: the sale is over, and no unit is held */
    PART_DIFFERS,   /* the differences say how */
    PART_NOT_OPEN,  /* nobody has it open in Redis, or it is at rest: there is nothing to compare */
    PART_NOT_KNOWN, /* it could not be found out now */
};
struct part_differences {
    uint32_t found; /* all, also those that did not fit */
    uint32_t count;
    char texts[PART_DIFFERENCES_MAX][PART_DIFFERENCE_TEXT_MAX + 1];
};

struct part_checks {
    const struct part_checks_ops *ops;
};
struct part_checks_ops {
    void (*ask)(struct part_checks *, uint32_t part, enum part_question); /* an older one is given up */
    /* PART_DIFFERS: *differences says how. */
    enum part_answer (*answer)(struct part_checks *, struct part_differences *differences);
    /* A partition is open in Redis; any thread. */
    bool (*is_any_open)(struct part_checks *);
};

#endif
