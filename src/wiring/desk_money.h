/* wiring/desk_money.h: the desk's side of payments: which providers there are, the calls to them, the
 * users who wait for an answer. What happens to money is decided in orders/cashier.h and in the
 * store. Thread: the desk's. */
#ifndef STAMPEDE_WIRING_DESK_MONEY_H
#define STAMPEDE_WIRING_DESK_MONEY_H

#include "orders/cashier.h"
#include "outgoing/courier.h"
#include "payment/provider.h"
#include "payment/sandbox_bank.h"
#include "wiring/desk.h"

enum {
    HELD_JOBS_MAX = 512,     /* users who wait for a provider */
    SANDBOX_FLIGHT_MAX = 16, /* callbacks of the bank under way */
    ORDER_WAIT_MS = 5000,    /* for the order of a unit that was just taken */
    QUERY_SOON_MS = 200,     /* after the user has said "I have paid" */
};

/* A request that is answered later: when its order is written, then when its payment can be paid. */
struct held_job {
    struct job *job;
    uint64_t payment; /* 0: its order is awaited */
    uint64_t until_ms;
    const struct provider *provider;
    bool has_details;
    struct order_details details;
};

struct desk_money {
    struct provider *providers[PROVIDERS_MAX]; /* as payment.providers lists them */
    uint32_t provider_count;
    struct cashier cashier;
    char public_url[CONFIG_TEXT];
    struct held_job held[HELD_JOBS_MAX];
    uint32_t held_count;
    /* The sandbox, if it is one of them. */
    struct bank *bank;
    struct sandbox_secret bank_secret;
    uint32_t bank_flights;
};

/* Providers and bank, when it is known where this server listens; before the threads run. */
MUST_CHECK enum status desk_money_start(struct desk *desk, uint16_t port, char error[CONFIG_ERROR]);
void desk_money_close(struct desk *desk);
/* A provider has answered a question of the cashier. */
void desk_money_answered(struct desk *desk, const struct outgoing_call *call);
/* What is due, and who waits too long. */
void desk_money_turn(struct desk *desk);

/* NULL: not one of ours. */
struct provider *desk_provider_find(const struct desk *desk, struct span name, uint32_t *index);
/* desk_outside.c: callbacks of providers; requests to the sandbox's bank. */
void desk_outside_job(struct desk *desk, struct job *job);
void desk_sandbox_job(struct desk *desk, struct job *job, struct span path);
void desk_sandbox_turn(struct desk *desk);
void desk_sandbox_answered(struct desk *desk, const struct outgoing_call *call);

#endif
