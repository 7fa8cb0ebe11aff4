/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/human_shared.h: what the edges share for the human check, single-use passes and tokens: what
 * was spent, whose checks failed, who took passes, and the pictures, with the thread that draws them.
 * Thread: opened and closed by the main thread; the pieces have their own rules (funnel/human/human.h). */
#ifndef STAMPEDE_GATEWAY_HUMAN_SHARED_H
#define STAMPEDE_GATEWAY_HUMAN_SHARED_H

#include "base/thread.h"
#include "config/config.h"
#include "gateway/human_outside.h"

struct funnel_keys;
struct human;
struct picture_pool;
struct suspicion;

struct human_shared {
    struct arena arena;
    struct spent *spent;
    struct spent *tokens; /* of the shop, by jti */
    struct spent *tries;
    struct suspicion *failures, *passes;
    struct picture_pool *pool; /* NULL: human.pictures is 0, or a service stands in for them */
    struct outside_service outside;
    uint32_t start; /* names who may accept its challenges: this process, or all gateways of a cluster */
    struct thread thread;
    struct wake wake;
    _Atomic bool stop;
};

MUST_CHECK enum status human_shared_open(struct human_shared *shared, const struct config *config,
    uint32_t edges, char error[CONFIG_ERROR]);
/* Before the edges are made: challenges are used up over all gateways with these keys, so all of them accept
 * them. */
void human_shared_join(struct human_shared *shared, const struct funnel_keys *keys);
MUST_CHECK enum status human_shared_start(struct human_shared *shared);
void human_shared_stop(struct human_shared *shared); /* accepts one that was never started */
void human_shared_close(struct human_shared *shared); /* accepts a zeroed one; when no edge runs any more */

/* The human check of one edge; `keys` are its own. */
struct human human_shared_edge(const struct human_shared *shared, const struct config *config,
    const struct funnel_keys *keys, uint32_t edge);

#endif
