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
const struct desk_config *desk_lent(const struct desk *desk);
uint64_t desk_now_ms(const struct desk *desk);
/* Commands and audit rows from now on are of this request; NULL: of nobody's. */
void desk_acting(struct desk *desk, struct job *job);
/* Something of it has changed and is to be read again, or looked at, soon. */
void desk_catalog_changed(struct desk *desk);
void desk_bans_changed(struct desk *desk);
void desk_letters_changed(struct desk *desk);
void desk_letters_retried(struct desk *desk); /* records that were set aside were applied */
void desk_payments_due(struct desk *desk);
struct bank *desk_bank(struct desk *desk);          /* the sandbox's; NULL: it is not used */
bool desk_webhooks_are_on(const struct desk *desk); /* webhook.url is set */
const struct reconcile_report *desk_reconcile_report(const struct desk *desk, uint64_t *run);

/* The inventory. */
/* Asks the inventory and waits for the durable answer. STATUS_AWAY: it was not asked, nothing
 * changes. STATUS_UNKNOWN: no answer within DESK_ASK_MS, it may still be done. Commands that
 * `desk->acting` causes carry its origin. */
MUST_CHECK enum status desk_ask(struct desk *desk, const struct command *command, struct outcome *outcome);
/* Reads job->origin of an administrator's request. */
void desk_origin_read(const struct desk *desk, struct job *job);

/* Sales and items in the inventory. */
enum preheat_result {
    PREHEAT_DONE,
    PREHEAT_UNCHANGED,
    PREHEAT_REFUSED,
    PREHEAT_AWAY,    /* it was not changed */
    PREHEAT_UNKNOWN, /* no answer: it may be */
};
struct command desk_preheat_command(const struct item *item);
enum preheat_result desk_preheat(
    struct desk *desk, const struct sale *sale, const struct item *item, struct outcome *outcome);
/* The terms of a sale that the inventory knows are the inventory's. A row may be behind it. */
MUST_CHECK enum status desk_sale_terms(struct desk *desk, struct sale *sale, bool *known);
/* Makes these its terms. */
MUST_CHECK enum status desk_sale_define(
    struct desk *desk, const struct sale *sale, struct outcome *outcome);
/* Defines it with the terms of the row, if the inventory does not know it yet. */
MUST_CHECK enum status desk_sale_ensure(
    struct desk *desk, const struct sale *sale, struct outcome *outcome);
const char *channel_name(const struct desk *desk, channel_index channel, char out[CHANNEL_NAME_MAX + 1]);

/* Orders. */
/* Tells the edges. context: the desk; user 0: whoever the store says. */
void desk_order_changed(void *context, ticket_number ticket, user_id user);
/* Makes the move; answers the job unless it is done or repeated (then: true). */
MUST_CHECK bool desk_order_move(struct desk *desk, struct job *job, const struct order_move *move,
    struct order *after, bool *done);
void desk_order_json(const struct desk *desk, const struct order *order, struct text *out);
/* The order as JSON; "returning" as long as its units are on their way. */
void desk_returned_json(struct desk *desk, const struct order *order, struct text *out);
/* What only the shop may know of an order: ,"customer":…,"details":… without braces;
 * `details`: whether the asker may see where it goes. STATUS_AWAY: the store can't say now. */
MUST_CHECK enum status desk_order_contact_json(
    const struct desk *desk, const struct order *order, bool details, struct text *out);
/* Address and note of an order, as an answer. */
void desk_details_reply(struct desk *desk, struct job *job, ticket_number ticket);

/* Money. */
/* Paid, or to be paid, through the sandbox: no real money. */
bool desk_provider_is_test(const char *provider);
const char *desk_payment_state_name(const struct payment *payment);
const char *desk_refund_state_name(uint8_t state);

/* Webhooks, reports, bans, findings, reconciliation. */
void desk_webhooks_look(struct desk *desk); /* something may be due */
/* "order.paid". An order that was offered to somebody who waited begins with "order.offered". */
MUST_CHECK enum status webhook_event_name(
    struct order_store *store, const struct outbox_event *event, const char **name);
void webhook_event_id(
    const struct desk *desk, ticket_number ticket, uint64_t version, char out[WEBHOOK_ID_MAX]);
void desk_report_look(struct desk *desk);
void desk_report_opened(struct desk *desk, const struct sale *sale); /* by hand, now */
void desk_report_flush(struct desk *desk);
MUST_CHECK enum status desk_ban_put(struct desk *desk, struct ban *ban); /* fills the id */
void desk_ban_whom(const struct ban *ban, char out[ADDRESS_BLOCK_CHARS_MAX + 8]);
/* The machine itself, or a proxy of it: never banned by a rule. */
bool desk_block_protected(const struct desk *desk, const struct address_block *block);
/* What was found lately and how the rules fare, as JSON. */
void desk_watch_json(const struct desk *desk, struct text *out);
void desk_watch_forgive(struct desk *desk, const struct ban *ban);
bool desk_reconcile_begin(struct desk *desk, const char *actor, bool repair); /* false: one runs */

#endif
