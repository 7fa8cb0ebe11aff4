/* SPDX-License-Identifier: Apache-2.0 */
/* api/customers.h: the shop's names for users, on their way from the edges to the store and back to the
 * shop. An edge notes the name when a token opens a session; the worker seals it (AES-256-GCM under a key of
 * the master secret) and writes it; orders and webhooks show it to the shop.
 *
 * A name that can't be noted refuses its session: a session without a name would be an order that nobody can
 * ship. What was noted and not yet written is lost in a crash; the customer's next session notes it again.
 * Threads: customers_note an edge's own; the rest the worker's. Memory: rings at open. */
#ifndef STAMPEDE_API_CUSTOMERS_H
#define STAMPEDE_API_CUSTOMERS_H

#include "base/text.h"
#include "contract/types.h"

struct funnel_keys;
struct order_store;

struct customers;
MUST_CHECK enum status customers_open(
    struct customers **customers, uint32_t edges, const struct funnel_keys *keys);
void customers_close(struct customers *customers); /* accepts NULL */

/* False: too many wait to be written. */
MUST_CHECK bool customers_note(
    struct customers *customers, uint32_t edge, user_id user, struct span subject);

/* Writes what was noted. True: there is more. While the store is away everything stays. */
bool customers_turn(struct customers *customers, struct order_store *store, uint64_t now_ms);
/* The shop's own name for the user as a JSON string; null for a guest and for a name that is not known.
 * STATUS_AWAY: the store can't say now. */
MUST_CHECK enum status customers_json(
    const struct customers *customers, struct order_store *store, user_id user, struct text *out);

#endif
