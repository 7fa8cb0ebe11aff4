/* SPDX-License-Identifier: Apache-2.0 */
/* worker/remedies.h: cases (contract/remedy.h) as the parts that open and show them use them.
 * Thread: the one that owns the store. */
#ifndef STAMPEDE_WORKER_REMEDIES_H
#define STAMPEDE_WORKER_REMEDIES_H

#include "base/status.h"
#include "contract/types.h"

#include <stdbool.h>

struct order_store;
struct order_views;
struct remedy_case;
struct remedy_order;
struct text;

/* A channel has reported more than it had: opens the case, with the newest orders of the item that have no
 * goods yet, as many as cover the missing units. The same report again is the same case: *fresh false, and
 * nothing changes. The caller's transaction; `remedy` is filled. */
MUST_CHECK enum status remedies_open(
    struct order_store *store, struct remedy_case *remedy, uint64_t now_ms, bool *fresh);
/* Adds the newest orders of the item, until so many units are covered; *added: orders. */
MUST_CHECK enum status remedies_propose(
    struct order_store *store, const struct remedy_case *remedy, uint64_t now_ms, uint32_t *added);
/* ,"remedy":{…}: what was done for an order, and its coupon; nothing where there is none. False: the database
 * could not say. */
bool order_remedy_json(const struct order_views *views, ticket_number ticket, struct text *out);
/* Its members, for operators as well. */
void remedy_members(const struct remedy_order *done, struct text *out);

#endif
