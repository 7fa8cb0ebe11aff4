/* SPDX-License-Identifier: Apache-2.0 */
/* worker/payment_requests.h: what users do about the money of their orders: start to pay, ask
 * whether it came, say where it goes, give it back. Thread: the worker's. */
#ifndef STAMPEDE_WORKER_PAYMENT_REQUESTS_H
#define STAMPEDE_WORKER_PAYMENT_REQUESTS_H

#include "base/status.h"
#include "contract/types.h"

#include <stdbool.h>

struct field;
struct job;
struct order;
struct order_details;
struct worker;

/* Whoever started to pay and waits: is there an address by now? */
void worker_payment_job(struct worker *worker, struct job *job);

void public_order_pay(struct worker *worker, struct job *job, uint32_t id);
void public_order_query(struct worker *worker, struct job *job, uint32_t id);
void public_order_refund(struct worker *worker, struct job *job, uint32_t id);
void public_intent_pay(struct worker *worker, struct job *job, uint32_t id);
void public_payment_ways(struct worker *worker, struct job *job, uint32_t id);

/* delivery_details.c */
void public_order_details_set(struct worker *worker, struct job *job, uint32_t id);
void public_order_details(struct worker *worker, struct job *job, uint32_t id);
enum { DETAIL_FIELDS = 5 };
bool email_is_good(const char *email);
void details_fields(struct order_details *details, struct field *fields); /* DETAIL_FIELDS of them */
/* False: the job is answered with what is wrong. */
MUST_CHECK bool details_check(struct job *job, const struct order_details *details);

/* The order has live payments: they are closed at their providers, then it. Answers the job. */
void worker_cancel_later(struct worker *worker, struct job *job, struct order *order);

#endif
