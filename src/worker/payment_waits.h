/* SPDX-License-Identifier: Apache-2.0 */
/* worker/payment_waits.h: payments that start, and payers who wait for theirs. Requests that wait
 * stay at the edge, which asks again on news of their order. A unit that was taken on payment is
 * remembered here until its order is written; then its payment starts. Why one did not start is
 * kept for the payer who waits.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_PAYMENT_WAITS_H
#define STAMPEDE_WORKER_PAYMENT_WAITS_H

#include "api/problems.h"
#include "contract/order_store.h"
#include "contract/payment.h"

struct arena;
struct funnel_keys;
struct money;
struct order_news;
struct provider;
struct task;

enum {
    PENDING_INTENTS_MAX = 1024, /* units taken on payment whose orders are being written */
    PAY_VERDICTS_MAX = 256,     /* refusals that somebody may wait to hear */
    ORDER_WAIT_MS = 5000,       /* for the order of a unit that was just taken */
};

/* What became of starting to pay. */
struct pay_start {
    enum status status;   /* of the store */
    enum problem problem; /* why not; PROBLEM_NONE: it is started */
    const char *detail;   /* NULL: the problem's own */
    bool open;            /* it can be paid at once */
    struct order after;
};
/* A unit that was taken on payment: its payment starts when its order is written. */
struct pending_intent {
    ticket_number ticket;
    uint64_t until_ms;
    const struct provider *provider;
    bool has_details;
    struct order_details details;
};
/* Why a payment did not start, for the payer who waits. */
struct pay_verdict {
    ticket_number ticket; /* 0: none */
    uint8_t problem;
    char detail[PAYMENT_ERROR_MAX + 1];
};

struct payment_waits;
struct payment_waits_config {
    struct order_store *store;
    const struct funnel_keys *keys;
    uint64_t extend_ms;
    struct order_news *news;
    struct money *money;
};
struct payment_waits *payment_waits_open(
    struct arena *arena, const struct payment_waits_config *config, struct task *task);
void payment_waits_start(struct payment_waits *waits, const struct order *order,
    const struct provider *provider, uint64_t now_ms, struct pay_start *result);
/* False: too many wait for their orders. */
bool payment_waits_add(struct payment_waits *waits, const struct pending_intent *intent);
/* A payment can be paid now, or (`error`) never. */
void payment_waits_opened(struct payment_waits *waits, const struct payment *payment, const char *error);
/* NULL: none. It is told once; valid until the next call. */
const struct pay_verdict *payment_waits_verdict(struct payment_waits *waits, ticket_number ticket);

#endif
