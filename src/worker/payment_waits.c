/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/payment_waits.h"

#include "base/arena.h"
#include "contract/limits.h"
#include "contract/payment_reference.h"
#include "funnel/keys.h"
#include "payment/provider.h"
#include "worker/money.h"
#include "worker/order_news.h"
#include "worker/task.h"

#include <stdio.h>

struct payment_waits {
    struct payment_waits_config config;
    struct task *task;
    struct pending_intent intents[PENDING_INTENTS_MAX];
    uint32_t intent_count;
    struct pay_verdict verdicts[PAY_VERDICTS_MAX]; /* the oldest is overwritten */
    uint32_t verdict_next;
};

static const struct payment_store_ops *ops_of(const struct payment_waits *waits)
{
    return waits->config.store->ops->payment;
}

/* ---- why a payment did not start ---- */

/* A payer who waits is told this instead of the order. */
static void verdict_keep(
    struct payment_waits *waits, ticket_number ticket, enum problem problem, const char *detail)
{
    struct pay_verdict *verdict = &waits->verdicts[waits->verdict_next++ % PAY_VERDICTS_MAX];
    *verdict = (struct pay_verdict){ .ticket = ticket, .problem = (uint8_t)problem };
    snprintf(verdict->detail, sizeof verdict->detail, "%s",
        detail != NULL ? detail : problem_texts[problem].detail);
}

const struct pay_verdict *payment_waits_verdict(struct payment_waits *waits, ticket_number ticket)
{
    for (uint32_t i = 0; i < PAY_VERDICTS_MAX; i++) {
        struct pay_verdict *verdict = &waits->verdicts[i];
        if (verdict->ticket != ticket)
            continue;
        verdict->ticket = 0;
        return verdict;
    }
    return NULL;
}

void payment_waits_opened(struct payment_waits *waits, const struct payment *payment, const char *error)
{
    if (error != NULL)
        verdict_keep(waits, payment->ticket, PROBLEM_PAYMENT_REFUSED, error);
    order_news_tell(waits->config.news, payment->ticket, 0);
}

/* ---- starting to pay ---- */

static const enum problem start_problems[START_ANSWERS] = {
    [START_UNKNOWN] = PROBLEM_UNKNOWN_ORDER,
    [START_REFUSED] = PROBLEM_ORDER_CLOSED,
    [START_TOO_LATE] = PROBLEM_ORDER_CLOSED,
    [START_DETAILS] = PROBLEM_DETAILS_REQUIRED,
    [START_TOO_MANY] = PROBLEM_TOO_MANY_PAYMENTS,
};

static void start_refused(struct pay_start *start, enum start_answer answer)
{
    start->problem = start_problems[answer];
    if (answer == START_TOO_LATE)
        start->detail = "The time to pay has passed.";
    else if (answer == START_REFUSED && start->after.state == ORDER_PAID)
        start->problem = PROBLEM_ALREADY_PAID;
}

/* Ours, for the provider to carry: the order's id and which attempt it is. */
static enum status reference_make(
    struct payment_waits *waits, const struct order *order, char out[REFERENCE_BYTES_MAX + 1])
{
    struct payment last[PAYMENTS_PER_ORDER];
    uint32_t count = 0;
    const enum status status =
        ops_of(waits)->of_order(waits->config.store, order->ticket, last, PAYMENTS_PER_ORDER, &count);
    payment_reference_write(funnel_order_id(waits->config.keys, order->ticket),
        payment_reference_next(last, count), out);
    return status;
}

void payment_waits_start(struct payment_waits *waits, const struct order *order,
    const struct provider *provider, uint64_t now_ms, struct pay_start *result)
{
    struct payment_start start = {
        .ticket = order->ticket, .now_ms = now_ms, .extend_ms = waits->config.extend_ms
    };
    struct payment payment;
    uint8_t answer;
    *result = (struct pay_start){ .problem = PROBLEM_NONE };
    snprintf(start.provider, sizeof start.provider, "%s", provider->ops->name);
    result->status = reference_make(waits, order, start.reference);
    if (result->status == STATUS_OK)
        result->status =
            ops_of(waits)->start(waits->config.store, &start, &payment, &result->after, &answer);
    if (result->status != STATUS_OK)
        return;
    if (answer != START_DONE && answer != START_REPEATED) {
        start_refused(result, (enum start_answer)answer);
        return;
    }
    (void)payment_waits_verdict(waits, order->ticket); /* of an earlier attempt */
    if (answer == START_DONE)
        order_news_tell(waits->config.news, order->ticket, order->user);
    money_look(waits->config.money);
    result->open = payment.state == PAYMENT_OPEN;
}

/* ---- deduct on payment: the unit is taken, its order is being written ---- */

bool payment_waits_add(struct payment_waits *waits, const struct pending_intent *intent)
{
    uint32_t place = 0;
    while (place < waits->intent_count && waits->intents[place].ticket != intent->ticket)
        place++; /* found: asked again */
    if (place == PENDING_INTENTS_MAX)
        return false;
    waits->intents[place] = *intent;
    if (place == waits->intent_count)
        waits->intent_count++;
    task_wake(waits->task);
    return true;
}

/* The unit was taken and its order is there: payment starts. What goes wrong is told to who waits. */
static void intent_order_pay(struct payment_waits *waits, const struct pending_intent *intent,
    const struct order *order, uint64_t now_ms)
{
    struct order after = *order;
    struct pay_start start = { .status = STATUS_OK };
    if (intent->has_details)
        start.status = ops_of(waits)->details_set(
            waits->config.store, order->ticket, &intent->details, now_ms, &after);
    if (start.status == STATUS_CONFLICT)
        start = (struct pay_start){ .problem = order->state == ORDER_PAID ? PROBLEM_ALREADY_PAID
                                                                          : PROBLEM_ORDER_CLOSED };
    else if (start.status == STATUS_OK)
        payment_waits_start(waits, &after, intent->provider, now_ms, &start);
    if (start.status != STATUS_OK)
        verdict_keep(waits, order->ticket, PROBLEM_UNAVAILABLE,
            "The database is unavailable. Try again shortly.");
    else if (start.problem != PROBLEM_NONE)
        verdict_keep(waits, order->ticket, start.problem, start.detail);
    order_news_tell(waits->config.news, order->ticket, order->user);
}

/* True: it is done with: its order is there, or does not come. */
static bool intent_turn(struct payment_waits *waits, const struct pending_intent *intent, uint64_t now_ms)
{
    struct order_store *store = waits->config.store;
    struct order order;
    const enum status status = store->ops->order_by_ticket(store, intent->ticket, &order);
    if (status == STATUS_OK)
        intent_order_pay(waits, intent, &order, now_ms);
    return status == STATUS_OK || now_ms >= intent->until_ms;
}

static uint64_t waits_turn(void *self, uint64_t now_ms)
{
    struct payment_waits *waits = self;
    for (uint32_t i = waits->intent_count; i-- > 0;) {
        const struct pending_intent intent = waits->intents[i];
        if (intent_turn(waits, &intent, now_ms))
            waits->intents[i] = waits->intents[--waits->intent_count];
    }
    return waits->intent_count == 0 ? TASK_IDLE : now_ms + ORDER_BATCH_WAIT_MS;
}

struct payment_waits *payment_waits_open(
    struct arena *arena, const struct payment_waits_config *config, struct task *task)
{
    struct payment_waits *waits = arena_take(arena, 1, sizeof *waits);
    waits->config = *config;
    waits->task = task;
    *task = (struct task){ .name = "payment waits", .self = waits, .turn = waits_turn, .listens = true };
    return waits;
}
