/* SPDX-License-Identifier: Apache-2.0 */
/* worker/order_views.h: orders as JSON: for their owner, the shop and webhooks.
 * Thread: the one that owns the store.
 * Errors: what the database can't say now is left out, unless said otherwise. */
#ifndef STAMPEDE_WORKER_ORDER_VIEWS_H
#define STAMPEDE_WORKER_ORDER_VIEWS_H

#include "base/status.h"
#include "contract/types.h"

#include <stdbool.h>

struct customers;
struct funnel_keys;
struct handover;
struct job;
struct order;
struct order_cache;
struct order_recent;
struct order_store;
struct payment;
struct reader_turns;
struct text;

/* What they are written from. */
struct order_views {
    const struct funnel_keys *keys;
    struct order_store *store;
    struct handover *catalog;   /* NULL: everything is read from the store */
    struct reader_turns *turns; /* of a thread that is not the catalog's own; NULL: it is */
    uint32_t reader;            /* which of its readers */
    uint64_t *entered;          /* see reader_enter (api/handover.h) */
    const struct customers *customers;
    bool sandbox; /* it handles the payments: all orders are tests */
    /* Of a thread that shows orders to their owners on many machines; NULL: one machine. */
    struct order_cache *cache;
    const struct order_recent *recent;
};

/* {"ticket":…,"order":… without the brace at its end */
void order_ids_json(const struct order_views *views, ticket_number ticket, struct text *out);
/* False: something was left out. */
bool order_json(const struct order_views *views, const struct order *order, struct text *out);
/* ,"state":"closed","reason":"expired" */
void order_state_members(const struct order *order, struct text *out);
/* What only the shop may know of an order: ,"customer":…,"details":… without braces; `details`:
 * whether the asker may see where it goes. STATUS_AWAY: the store can't say now. */
MUST_CHECK enum status order_contact_json(
    const struct order_views *views, const struct order *order, bool details, struct text *out);
/* {"name":…}. STATUS_NOT_FOUND: nobody has said where it goes; nothing is written. */
MUST_CHECK enum status order_details_json(
    const struct order_views *views, ticket_number ticket, struct text *out);
/* Answers with them. */
void order_details_reply(const struct order_views *views, struct job *job, ticket_number ticket);
/* payment_view.c: payment or refund of the order, as members that begin with a comma; nothing where
 * there is none. False: something was left out. */
bool order_payment_json(const struct order_views *views, const struct order *order, struct text *out);

/* Paid, or to be paid, through the sandbox: no real money. */
bool provider_is_test(const char *provider);
const char *payment_state_name(const struct payment *payment);
const char *refund_state_name(uint8_t state);

#endif
