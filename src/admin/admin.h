/* SPDX-License-Identifier: Apache-2.0 */
/* admin/admin.h: the admin API's routes. Each handler runs on the desk, answers the job,
 * and changes nothing when it refuses. What changed something is written to the audit chain: for
 * commands to the inventory by whoever writes their record to the database, for the rest here. */
#ifndef STAMPEDE_ADMIN_ADMIN_H
#define STAMPEDE_ADMIN_ADMIN_H

#include "api/job_reply.h"
#include "worker/worker_parts.h"

static const int64_t PRICE_MAX = 1000LL * 1000 * 1000 * 1000;

void admin_job(struct desk *desk, struct job *job); /* carries out one request */

/* `id`: the number in the path, or 0. */
typedef void (*admin_handler)(struct desk *desk, struct job *job, uint32_t id);

/* products.c */
void admin_products_list(struct desk *desk, struct job *job, uint32_t id);
void admin_product_create(struct desk *desk, struct job *job, uint32_t id);
void admin_product_show(struct desk *desk, struct job *job, uint32_t id);
void admin_product_change(struct desk *desk, struct job *job, uint32_t id);
/* sales.c */
void admin_sale_create(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_show(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_change(struct desk *desk, struct job *job, uint32_t id);
/* items.c */
void admin_items_list(struct desk *desk, struct job *job, uint32_t id);
void admin_item_create(struct desk *desk, struct job *job, uint32_t id);
void admin_item_show(struct desk *desk, struct job *job, uint32_t id);
void admin_item_change(struct desk *desk, struct job *job, uint32_t id);
void admin_item_remove(struct desk *desk, struct job *job, uint32_t id);
/* users.c */
void admin_sale_users(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_users_list(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_users_remove(struct desk *desk, struct job *job, uint32_t id);
/* beacon.c */
void admin_sale_beacon(struct desk *desk, struct job *job, uint32_t id);
void admin_beacon_members(const struct sale *sale, struct text *out); /* beginning with a comma */
/* False and the job is answered: the beacon of `sale`, as it is to be, may not be named so now. */
MUST_CHECK bool admin_beacon_may_be(
    struct desk *desk, struct job *job, const struct sale *before, const struct sale *sale);
/* stock.c */
void admin_sale_preheat(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_publish(struct desk *desk, struct job *job, uint32_t id);
void admin_item_preheat(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_open(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_pause(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_resume(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_end(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_reopen(struct desk *desk, struct job *job, uint32_t id);
/* Asks the inventory; false and the job is answered when it could not or would not. */
MUST_CHECK bool admin_ask(
    struct desk *desk, struct job *job, const struct command *command, struct outcome *outcome);
void admin_item_adjust(struct desk *desk, struct job *job, uint32_t id);
void admin_item_move(struct desk *desk, struct job *job, uint32_t id);
void admin_item_counts(struct desk *desk, struct job *job, uint32_t id);
/* orders.c: job->ticket says which order. */
void admin_order_paid(struct desk *desk, struct job *job, uint32_t id);
void admin_order_cancel(struct desk *desk, struct job *job, uint32_t id);
void admin_order_refund(struct desk *desk, struct job *job, uint32_t id);
/* payments.c: job->ticket says which order, where there is one. */
void admin_order_payments(struct desk *desk, struct job *job, uint32_t id);
void admin_order_details(struct desk *desk, struct job *job, uint32_t id);
void admin_refunds(struct desk *desk, struct job *job, uint32_t id);
void admin_money_totals(struct desk *desk, struct job *job, uint32_t id);
void admin_sandbox(struct desk *desk, struct job *job, uint32_t id);
void admin_sandbox_change(struct desk *desk, struct job *job, uint32_t id);
/* statements.c */
void admin_statement_import(struct desk *desk, struct job *job, uint32_t id);
void admin_statement_missing(struct desk *desk, struct job *job, uint32_t id);
/* lists.c */
void admin_orders_list(struct desk *desk, struct job *job, uint32_t id);
void admin_order_show(struct desk *desk, struct job *job, uint32_t id);
void admin_item_waitlist(struct desk *desk, struct job *job, uint32_t id); /* waitlist.c */
void admin_audit(struct desk *desk, struct job *job, uint32_t id);

/* dead_letters.c */
void admin_dead_letters(struct desk *desk, struct job *job, uint32_t id);
void admin_dead_letter_show(struct desk *desk, struct job *job, uint32_t id);
void admin_dead_letter_retry(struct desk *desk, struct job *job, uint32_t id);
void admin_dead_letter_return(struct desk *desk, struct job *job, uint32_t id);
void admin_dead_letter_dismiss(struct desk *desk, struct job *job, uint32_t id);
void admin_alarms(struct desk *desk, struct job *job, uint32_t id);

/* reconciliation.c */
void admin_reconcile_run(struct desk *desk, struct job *job, uint32_t id);
void admin_reconcile_show(struct desk *desk, struct job *job, uint32_t id);
/* webhook_list.c */
void admin_webhooks_list(struct desk *desk, struct job *job, uint32_t id);
void admin_webhook_replay(struct desk *desk, struct job *job, uint32_t id);
void admin_webhooks_replay(struct desk *desk, struct job *job, uint32_t id);

/* switches.c */
void admin_switches(struct desk *desk, struct job *job, uint32_t id);
void admin_switches_change(struct desk *desk, struct job *job, uint32_t id);
/* bans.c */
void admin_bans_list(struct desk *desk, struct job *job, uint32_t id);
void admin_ban_add(struct desk *desk, struct job *job, uint32_t id);
void admin_ban_lift(struct desk *desk, struct job *job, uint32_t id);
void admin_watch(struct desk *desk, struct job *job, uint32_t id);

/* pictures.c */
void admin_media_list(struct desk *desk, struct job *job, uint32_t id);
void admin_media_add(struct desk *desk, struct job *job, uint32_t id);
void admin_media_upload(struct desk *desk, struct job *job, uint32_t id);
void admin_media_remove(struct desk *desk, struct job *job, uint32_t id);

/* sale_life.c */
void admin_sales_list(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_unpublish(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_archive(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_unarchive(struct desk *desk, struct job *job, uint32_t id);
void admin_sale_clone(struct desk *desk, struct job *job, uint32_t id);
/* False: it is archived, and the job is answered. */
MUST_CHECK bool admin_sale_in_use(struct job *job, const struct sale *sale);

/* sales.c */
void admin_sale_json(const struct desk *desk, const struct sale *sale, struct text *out);

/* reports.c */
void admin_sale_report(struct desk *desk, struct job *job, uint32_t id);

/* repeated_changes.c: carries out a request that changes something. `writes`: it changes the database, so
 * that is one transaction with its audit rows and, if it has a key, its answer. */
void admin_change_run(struct desk *desk, struct job *job, admin_handler handler, uint32_t id, bool writes);
/* Within that transaction. If it can't be written, the request fails and nothing is changed. */
void admin_audit_write(struct desk *desk, struct job *job, const char *action, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* For what is in memory only: its audit rows are kept first. False and the job is answered when they
 * can't be. */
MUST_CHECK bool admin_audit_keep(struct desk *desk, struct job *job);
/* admin.c: shared by the handlers. */
/* False and the job is answered when it can't be. */
MUST_CHECK bool admin_sale_read(struct desk *desk, struct job *job, sale_id id, struct sale *sale);

/* "scheduled", "open", "paused" or "ended", by gate and time: what the public sees. */
const char *admin_sale_gate(const struct desk *desk, const struct sale *sale);

#endif
