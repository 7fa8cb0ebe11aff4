/* SPDX-License-Identifier: Apache-2.0 */
/* worker/money.h: which payment providers there are, the calls to them, and what the cashier needs
 * of the worker. What happens to money is decided in orders/cashier.h and in the store.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_MONEY_H
#define STAMPEDE_WORKER_MONEY_H

#include "base/span.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bank;
struct board;
struct config;
struct funnel_keys;
struct inventory_answer;
struct inventory_port;
struct order;
struct order_store;
struct outgoing_calls;
struct payment;
struct provider;
struct provider_said;
struct sandbox_secret;
struct task;

struct money;
struct money_config {
    const struct config *config; /* payment.*, sandbox.*, those of the providers */
    const struct funnel_keys *keys;
    struct order_store *store;
    const struct board *board;
    struct inventory_port *port; /* for late money; shared, answers come by money_late_answer */
    bool has_bank;               /* the sandbox's is here, if the sandbox is used */
    struct outgoing_calls *calls;
    void (*changed)(void *context, const struct order *order); /* an order, by its money */
    /* A payment can be paid now, or (`error`) never. */
    void (*opened)(void *context, const struct payment *payment, const char *error);
    void (*stuck)(void *context); /* a provider refuses a refund for good */
    void *context;
};
struct money *money_open(struct arena *arena, const struct money_config *config, struct task *task);
/* Providers and bank, when it is known where this server listens; before the threads run. `error`:
 * CONFIG_ERROR bytes. */
MUST_CHECK enum status money_start(struct money *money, uint16_t port, char *error);
void money_look(struct money *money); /* payments or refunds were written: something may be due */
/* An answer on the shared port. False: somebody else's. */
bool money_late_answer(struct money *money, const struct inventory_answer *answer);
/* News from a callback; *answer: enum learn_answer. */
MUST_CHECK enum status money_news(struct money *money, const char *provider,
    const struct provider_said *said, uint64_t now_ms, uint8_t *answer);
/* A callback that its provider has signed, of a payment that the database does not know. If its
 * name is ours it was lost by a restore, and is taken up again. STATUS_NOT_FOUND: not ours.
 * STATUS_AWAY: ours, but there is no such order. */
MUST_CHECK enum status money_adopt(
    struct money *money, const char *provider, const char *reference, uint64_t now_ms);

/* As payment.providers lists them. NULL: none. */
struct provider *money_provider(const struct money *money, uint32_t index);
struct provider *money_provider_find(const struct money *money, struct span name, uint32_t *index);
const char *money_public_url(const struct money *money);
/* The sandbox, if it is one of them; NULL: it is not. */
struct bank *money_bank(const struct money *money);
const struct sandbox_secret *money_bank_secret(const struct money *money);

#endif
