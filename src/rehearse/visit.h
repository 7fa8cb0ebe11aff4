/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/visit.h: what a visitor does after an answer. People do what the storefront does: they wait
 * as long as Retry-After says and a random while more, six times at most; they think before they pay. Bots
 * ask at moments that were fixed before, whatever the server answers. Pure but for the visitor's own
 * memory. */
#ifndef STAMPEDE_REHEARSE_VISIT_H
#define STAMPEDE_REHEARSE_VISIT_H

#include "rehearse/heard.h"
#include "rehearse/plan.h"

enum {
    VISIT_TRIES_MAX = 6, /* as web/purchase.js */
    HAMMER_REQUESTS = 20,
    HAMMER_EVERY_MS = 100,
    REPLAY_REQUESTS = 10,
    REPLAY_EVERY_MS = 200,
    HOARDER_ROUNDS = 3,
};

/* Sets step and due_ns of the next request, or ends the visit: `over`, with `last` the layer where it
 * ended. */
void visit_answered(const struct sale_facts *facts, uint64_t seed, struct visitor *visitor,
    const struct heard *heard, uint64_t now_ns);

#endif
