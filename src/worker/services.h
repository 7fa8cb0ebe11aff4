/* SPDX-License-Identifier: Apache-2.0 */
/* worker/services.h: what the admin API may have done by the worker's tasks. Its handlers run on
 * the worker's thread, between two rounds of the tasks, and see nothing else of it.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_SERVICES_H
#define STAMPEDE_WORKER_SERVICES_H

#include "base/address.h"
#include "base/status.h"
#include "contract/limits.h"
#include "contract/types.h"
#include "worker/errands.h"
#include "worker/sale_commands.h"
#include "worker/worker.h"

struct ban;
struct bank;
struct history;
struct item;
struct order;
struct order_move;
struct order_views;
struct outbox_event;
struct reconcile_report;
struct text;

/* The configuration that the worker was opened with, and the time of its present round. */
const struct worker_config *worker_lent(const struct worker *worker);
uint64_t worker_now_ms(const struct worker *worker);
/* Commands and audit rows from now on are of this request; NULL: of nobody's. */
void worker_acting(struct worker *worker, struct job *job);
/* The database has something new for the public; it sees it before the present job is answered. */
void worker_sale_changed(struct worker *worker, sale_id sale);
void worker_item_changed(struct worker *worker, item_id item);
void worker_product_changed(struct worker *worker, uint32_t product);
void worker_ban_lifted(struct worker *worker, uint64_t id);
/* Something of it has changed and is looked at soon. */
void worker_letters_changed(struct worker *worker);
void worker_letters_retried(struct worker *worker); /* records that were set aside were applied */
void worker_payments_due(struct worker *worker);
struct bank *worker_bank(struct worker *worker);          /* the sandbox's; NULL: it is not used */
bool worker_webhooks_are_on(const struct worker *worker); /* webhook.url is set */
const struct reconcile_report *worker_reconcile_report(const struct worker *worker, uint64_t *run);

/* The inventory. */
/* As errands_ask, errands_ask_all (worker/errands.h). */
MUST_CHECK enum status worker_ask(
    struct worker *worker, const struct command *command, struct outcome *outcome);
MUST_CHECK enum status worker_ask_all(struct worker *worker, uint32_t count,
    void (*fill)(void *context, uint32_t index, struct command *command), void *context,
    struct outcome *outcome);
/* Reads job->origin of an administrator's request. */
void worker_origin_read(const struct worker *worker, struct job *job);

struct errands *worker_errands(struct worker *worker); /* for worker/sale_commands.h */
const char *channel_name(
    const struct door_channels *channels, channel_index channel, char out[CHANNEL_NAME_MAX + 1]);

/* Orders: as in worker/order_requests.h, order_views.h and payment_requests.h. */
void worker_order_changed(struct worker *worker, ticket_number ticket, user_id user); /* tells the edges */
MUST_CHECK bool worker_order_move(struct worker *worker, struct job *job,
    const struct order_move *move, struct order *after, bool *done);
const struct order_views *worker_order_views(const struct worker *worker);
void worker_returned_json(struct worker *worker, const struct order *order, struct text *out);

/* Webhooks, reports, bans, findings, reconciliation. */
void worker_webhooks_look(struct worker *worker);      /* something may be due */
bool worker_mails_are_on(const struct worker *worker); /* mail.server is set */
void worker_mails_look(struct worker *worker);
void worker_report_look(struct worker *worker);
void worker_report_opened(struct worker *worker, const struct sale *sale); /* by hand, now */
void worker_report_write(struct worker *worker); /* what was counted up to now, committed */
void worker_sale_funnel_json(const struct worker *worker, sale_id sale, struct text *out); /* a member */
const struct history *worker_history(const struct worker *worker);
MUST_CHECK enum status worker_ban_put(struct worker *worker, struct ban *ban); /* fills the id */
void worker_ban_whom(const struct ban *ban, char out[ADDRESS_BLOCK_CHARS_MAX + 8]);
/* The machine itself, or a proxy of it: never banned by a rule. */
bool worker_block_protected(const struct worker *worker, const struct address_block *block);
/* What was found lately and how the rules fare, as JSON. */
void worker_watch_json(const struct worker *worker, struct text *out);
void worker_watch_forgive(struct worker *worker, const struct ban *ban);
/* As reconcile_begin (orders/reconcile.h). */
bool worker_reconcile_begin(struct worker *worker, const char *actor, bool repair, bool recent);

#endif
