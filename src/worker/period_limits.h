/* SPDX-License-Identifier: Apache-2.0 */
/* worker/period_limits.h: what the database says of a limit over a period before something is asked of the
 * inventory: a place in line, units that are taken on payment, units of a channel. Not exact: the order's
 * transaction decides (contract/limit_uses.h). Purchases of users are asked about by
 * gateway/period_limits.h.
 * Thread: the store's. */
#ifndef STAMPEDE_WORKER_PERIOD_LIMITS_H
#define STAMPEDE_WORKER_PERIOD_LIMITS_H

#include "base/status.h"
#include "contract/types.h"

#include <stdbool.h>

struct command_reserve;
struct job;
struct order_store;
struct outcome;

/* Whether so many more units would pass the limit. */
MUST_CHECK enum status period_limit_look(struct order_store *store, item_id item, user_id user,
    uint32_t quantity, uint64_t now_ms, bool *over);
/* The same for a purchase: one past the limit only hears an old answer (RESERVE_REPEAT). */
MUST_CHECK enum status period_limit_apply(
    struct order_store *store, struct command_reserve *wish, uint64_t now_ms);
/* The answer to such a purchase: there is no old one. */
bool period_limit_refused(const struct command_reserve *wish, const struct outcome *outcome);
void period_limit_reply(struct job *job); /* 409 limit-reached */

#endif
