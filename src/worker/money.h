/* SPDX-License-Identifier: Apache-2.0 */
/* worker/money.h: the worker's side of payments: which providers there are, the calls to them, the
 * users who wait for an answer. What happens to money is decided in orders/cashier.h and in the
 * store. Thread: the worker's. */
#ifndef STAMPEDE_WORKER_MONEY_H
#define STAMPEDE_WORKER_MONEY_H

#include "orders/cashier.h"
#include "outgoing/courier.h"
#include "payment/provider.h"
#include "payment/sandbox_bank.h"
#include "worker/worker.h"

enum {
    PENDING_INTENTS_MAX = 1024, /* units taken on payment whose orders are being written */
    PAY_VERDICTS_MAX = 256,     /* refusals that somebody may wait to hear */
    SANDBOX_FLIGHT_MAX = 16,    /* callbacks of the bank under way */
    ORDER_WAIT_MS = 5000,       /* for the order of a unit that was just taken */
    QUERY_SOON_MS = 200,        /* after the user has said "I have paid" */
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

struct worker_money {
    struct provider *providers[PROVIDERS_MAX]; /* as payment.providers lists them */
    uint32_t provider_count;
    struct cashier cashier;
    struct late_money late;
    char public_url[CONFIG_TEXT];
    struct pending_intent intents[PENDING_INTENTS_MAX];
    uint32_t intent_count;
    struct pay_verdict verdicts[PAY_VERDICTS_MAX]; /* the oldest is overwritten */
    uint32_t verdict_next;
    /* The sandbox, if it is one of them. */
    struct bank *bank;
    struct sandbox_secret bank_secret;
    uint32_t bank_flights;
};

/* Providers and bank, when it is known where this server listens; before the threads run. */
MUST_CHECK enum status worker_money_start(struct worker *worker, uint16_t port, char error[CONFIG_ERROR]);
void worker_money_close(struct worker *worker);
/* A provider has answered a question of the cashier. */
void worker_money_answered(struct worker *worker, const struct outgoing_call *call);
/* What is due, and who waits too long. */
void worker_money_turn(struct worker *worker);

/* NULL: not one of ours. */
/* Of a callback whose payment is not known; see there. */
MUST_CHECK enum status worker_payment_adopt(
    struct worker *worker, const char *provider, const char *reference);
struct provider *worker_provider_find(const struct worker *worker, struct span name, uint32_t *index);
/* callbacks.c: callbacks of providers; requests to the sandbox's bank. */
void worker_outside_job(struct worker *worker, struct job *job);
void worker_sandbox_job(struct worker *worker, struct job *job, struct span path);
void worker_sandbox_turn(struct worker *worker);
void worker_sandbox_answered(struct worker *worker, const struct outgoing_call *call);

#endif
