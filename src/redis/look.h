/* SPDX-License-Identifier: Apache-2.0 */
/* redis/look.h: what a server is asked now and then, besides what it is (info.h): its clock (TIME) and how
 * much memory it may use (INFO memory).
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_REDIS_LOOK_H
#define STAMPEDE_REDIS_LOOK_H

#include "redis/info.h"
#include "redis/reply.h"

struct redis_look {
    bool clock_known, memory_known; /* it has answered since it was connected */
    int64_t apart_ms; /* how far its clock is ahead of the asker's, surely (base/clock.h: clock_apart_ms) */
    uint64_t memory_max; /* bytes; 0: as many as there are */
    char policy[REDIS_POLICY_CHARS_MAX + 1];
};

/* The reply to TIME, which was asked and heard at these moments of our clock. STATUS_BAD_INPUT here and
 * below: it is strange; the look stays as it was. */
MUST_CHECK enum status redis_look_time(
    struct redis_look *look, const struct redis_value *reply, uint64_t asked_ms, uint64_t heard_ms);
MUST_CHECK enum status redis_look_memory(struct redis_look *look, const struct redis_value *reply);

#endif
