/* SPDX-License-Identifier: Apache-2.0 */
/* redis/info.h: what a server tells about itself (INFO): lines "name:value".
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_REDIS_INFO_H
#define STAMPEDE_REDIS_INFO_H

#include "base/span.h"

enum { REDIS_ID_CHARS = 40, REDIS_POLICY_CHARS_MAX = 31 };

struct redis_info {
    char run_id[REDIS_ID_CHARS + 1]; /* another one after each start */
    /* Another one after each start and each promotion: what was acknowledged before may be lost. */
    char replid[REDIS_ID_CHARS + 1];
    char policy[REDIS_POLICY_CHARS_MAX + 1]; /* maxmemory_policy */
    uint32_t version[3];
    uint32_t process_id;
    bool master;
    bool cluster;      /* it is a node of a cluster */
    uint64_t asked_ms; /* when it was asked for this, by the asker's clock */
};

/* STATUS_BAD_INPUT: a field is missing or strange; `info` stays as it was. */
MUST_CHECK enum status redis_info_read(struct span text, struct redis_info *info); /* INFO */
/* The value of one line; false: there is none. */
bool redis_info_field(struct span text, struct span name, struct span *value);
/* INFO replication */
MUST_CHECK enum status redis_info_read_again(struct span text, struct redis_info *info);

#endif
