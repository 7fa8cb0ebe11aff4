/* SPDX-License-Identifier: Apache-2.0 */
/* worker/payment_requests.h: what users do about the money of their orders: start to pay, ask whether
 * it came, say where it goes, give it back. Thread: the worker's. */
#ifndef STAMPEDE_WORKER_PAYMENT_REQUESTS_H
#define STAMPEDE_WORKER_PAYMENT_REQUESTS_H

#include "api/json_fields.h"
#include "contract/payment.h"
#include "worker/public_requests.h"
#include "worker/services.h"

void public_order_pay(struct worker *worker, struct job *job, uint32_t id);
void public_order_query(struct worker *worker, struct job *job, uint32_t id);
void public_order_refund(struct worker *worker, struct job *job, uint32_t id);
void public_intent_pay(struct worker *worker, struct job *job, uint32_t id);
void public_payment_ways(struct worker *worker, struct job *job, uint32_t id);

/* delivery_details.c */
void public_order_details_set(struct worker *worker, struct job *job, uint32_t id);
void public_order_details(struct worker *worker, struct job *job, uint32_t id);
enum { DETAIL_FIELDS = 4 };
void details_fields(struct order_details *details, struct field fields[DETAIL_FIELDS]);
/* False: the job is answered with what is wrong. */
MUST_CHECK bool details_check(struct job *job, const struct order_details *details);

/* The cashier: the payment can be paid, or (`error`) never will. context: the worker. */
void worker_payment_opened(void *context, const struct payment *payment, const char *error);
/* Units that were taken and whose orders are there by now. */
void worker_payments_turn(struct worker *worker);
/* payment_view.c: payment or refund of the order, as members that begin with a comma; nothing
 * where there is none. */
void worker_payment_json(const struct worker *worker, const struct order *order, struct text *out);
/* The order has live payments: they are closed at their providers, then it. Answers the job. */
void worker_cancel_later(struct worker *worker, struct job *job, struct order *order);

#endif
