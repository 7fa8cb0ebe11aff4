/* SPDX-License-Identifier: Apache-2.0 */
/* worker/services.h: what the admin API may have done by the worker's tasks. Its handlers run on the worker's
 * thread, between two rounds of the tasks, and see nothing else of it.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_SERVICES_H
#define STAMPEDE_WORKER_SERVICES_H

#include "api/job.h"
#include "base/text.h"
#include "contract/bans.h"
#include "contract/order_store.h"
#include "contract/outbox.h"
#include "outgoing/webhook.h"
#include "worker/worker.h"

struct bank;
struct reconcile_report;

/* The configuration that the worker was opened with, and the time of its present round. */
const struct worker_config *worker_lent(const struct worker *worker);
uint64_t worker_now_ms(const struct worker *worker);
/* Commands and audit rows from now on are of this request; NULL: of nobody's. */
void worker_acting(struct worker *worker, struct job *job);
/* Something of it has changed and is to be read again, or looked at, soon. */
void worker_catalog_changed(struct worker *worker);
void worker_bans_changed(struct worker *worker);
void worker_letters_changed(struct worker *worker);
void worker_letters_retried(struct worker *worker); /* records that were set aside were applied */
void worker_payments_due(struct worker *worker);
struct bank *worker_bank(struct worker *worker);          /* the sandbox's; NULL: it is not used */
bool worker_webhooks_are_on(const struct worker *worker); /* webhook.url is set */
const struct reconcile_report *worker_reconcile_report(const struct worker *worker, uint64_t *run);

/* The inventory. */
/* Asks the inventory and waits for the durable answer. STATUS_AWAY: it was not asked, nothing
 * changes. STATUS_UNKNOWN: no answer within WORKER_ASK_MS, it may still be done. Commands that
 * `worker->acting` causes carry its origin. */
MUST_CHECK enum status worker_ask(
    struct worker *worker, const struct command *command, struct outcome *outcome);
/* Reads job->origin of an administrator's request. */
void worker_origin_read(const struct worker *worker, struct job *job);

/* Sales and items in the inventory. */
enum preheat_result {
    PREHEAT_DONE,
    PREHEAT_UNCHANGED,
    PREHEAT_REFUSED,
    PREHEAT_AWAY,    /* it was not changed */
    PREHEAT_UNKNOWN, /* no answer: it may be */
};
struct command worker_preheat_command(const struct item *item);
enum preheat_result worker_preheat(struct worker *worker, const struct sale *sale,
    const struct item *item, struct outcome *outcome);
/* The terms of a sale that the inventory knows are the inventory's. A row may be behind it. */
MUST_CHECK enum status worker_sale_terms(struct worker *worker, struct sale *sale, bool *known);
/* Makes these its terms. */
MUST_CHECK enum status worker_sale_define(
    struct worker *worker, const struct sale *sale, struct outcome *outcome);
/* Defines it with the terms of the row, if the inventory does not know it yet. */
MUST_CHECK enum status worker_sale_ensure(
    struct worker *worker, const struct sale *sale, struct outcome *outcome);
const char *channel_name(
    const struct worker *worker, channel_index channel, char out[CHANNEL_NAME_MAX + 1]);

/* Orders. */
/* Tells the edges. context: the worker; user 0: whoever the store says. */
void worker_order_changed(void *context, ticket_number ticket, user_id user);
/* Makes the move; answers the job unless it is done or repeated (then: true). */
MUST_CHECK bool worker_order_move(struct worker *worker, struct job *job,
    const struct order_move *move, struct order *after, bool *done);
void worker_order_json(const struct worker *worker, const struct order *order, struct text *out);
/* The order as JSON; "returning" as long as its units are on their way. */
void worker_returned_json(struct worker *worker, const struct order *order, struct text *out);
/* What only the shop may know of an order: ,"customer":…,"details":… without braces;
 * `details`: whether the asker may see where it goes. STATUS_AWAY: the store can't say now. */
MUST_CHECK enum status worker_order_contact_json(
    const struct worker *worker, const struct order *order, bool details, struct text *out);
/* Address and note of an order, as an answer. */
void worker_details_reply(struct worker *worker, struct job *job, ticket_number ticket);

/* Money. */
/* Paid, or to be paid, through the sandbox: no real money. */
bool worker_provider_is_test(const char *provider);
struct payment;
const char *worker_payment_state_name(const struct payment *payment);
const char *worker_refund_state_name(uint8_t state);

/* Webhooks, reports, bans, findings, reconciliation. */
void worker_webhooks_look(struct worker *worker); /* something may be due */
/* "order.paid". An order that was offered to somebody who waited begins with "order.offered". */
MUST_CHECK enum status webhook_event_name(
    struct order_store *store, const struct outbox_event *event, const char **name);
void webhook_event_id(
    const struct worker *worker, ticket_number ticket, uint64_t version, char out[WEBHOOK_ID_MAX]);
void worker_report_look(struct worker *worker);
void worker_report_opened(struct worker *worker, const struct sale *sale); /* by hand, now */
void worker_report_flush(struct worker *worker);
MUST_CHECK enum status worker_ban_put(struct worker *worker, struct ban *ban); /* fills the id */
void worker_ban_whom(const struct ban *ban, char out[ADDRESS_BLOCK_CHARS_MAX + 8]);
/* The machine itself, or a proxy of it: never banned by a rule. */
bool worker_block_protected(const struct worker *worker, const struct address_block *block);
/* What was found lately and how the rules fare, as JSON. */
void worker_watch_json(const struct worker *worker, struct text *out);
void worker_watch_forgive(struct worker *worker, const struct ban *ban);
bool worker_reconcile_begin(struct worker *worker, const char *actor, bool repair); /* false: one runs */

#endif
