/* SPDX-License-Identifier: Apache-2.0 */
/* admin/admin.h: the admin API's routes. Each handler runs on the admin, answers the job,
 * and changes nothing when it refuses. What changed something is written to the audit chain: for
 * commands to the inventory by whoever writes their record to the database, for the rest here. */
#ifndef STAMPEDE_ADMIN_ADMIN_H
#define STAMPEDE_ADMIN_ADMIN_H

#include "api/job_reply.h"
#include "contract/order_store.h"
#include "worker/services.h"

static const int64_t PRICE_MAX = 1000LL * 1000 * 1000 * 1000;

extern const struct worker_admin admin_of_worker;

/* What the handlers use: of one request. */
struct admin {
    struct order_store *store;
    const struct worker_config *lent; /* what the worker was given */
    const struct order_views *views;
    struct worker *worker;   /* NULL: it only reads the database, on another thread */
    struct errands *errands; /* the worker's; NULL likewise */
    uint64_t now_ms;
    bool together; /* its transaction is open (contract/admin_store.h) */
};

/* `id`: the number in the path, or 0. */
typedef void (*admin_handler)(struct admin *admin, struct job *job, uint32_t id);

/* products.c */
void admin_products_list(struct admin *admin, struct job *job, uint32_t id);
void admin_product_create(struct admin *admin, struct job *job, uint32_t id);
void admin_product_show(struct admin *admin, struct job *job, uint32_t id);
void admin_product_change(struct admin *admin, struct job *job, uint32_t id);
/* sales.c */
void admin_sale_create(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_show(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_change(struct admin *admin, struct job *job, uint32_t id);
/* items.c */
void admin_items_list(struct admin *admin, struct job *job, uint32_t id);
void admin_item_create(struct admin *admin, struct job *job, uint32_t id);
void admin_item_show(struct admin *admin, struct job *job, uint32_t id);
void admin_item_change(struct admin *admin, struct job *job, uint32_t id);
void admin_item_remove(struct admin *admin, struct job *job, uint32_t id);
/* orders.c: before the shop cancels this order: if a booking became it, its deposit goes back whatever
 * its terms say. False: answered. */
MUST_CHECK bool admin_booking_free(struct admin *admin, struct job *job, ticket_number ticket);

/* presale.c */
void admin_item_sold_out(struct admin *admin, struct job *job, uint32_t id);
void admin_item_presale(struct admin *admin, struct job *job, uint32_t id);
void admin_item_arrive(struct admin *admin, struct job *job, uint32_t id);
void admin_purchases(struct admin *admin, struct job *job, uint32_t id);
void admin_sold_out_members(const struct item *item, struct text *out); /* of an object, not the first */
/* timetables.c */
void admin_timetables_list(struct admin *admin, struct job *job, uint32_t id);
void admin_timetable_create(struct admin *admin, struct job *job, uint32_t id);
void admin_timetable_show(struct admin *admin, struct job *job, uint32_t id);
void admin_timetable_change(struct admin *admin, struct job *job, uint32_t id);
void admin_timetable_day(struct admin *admin, struct job *job, uint32_t id);
/* users.c */
void admin_sale_users(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_users_list(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_users_remove(struct admin *admin, struct job *job, uint32_t id);
/* archive.c */
void admin_sale_bundle_show(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_bundle(struct admin *admin, struct job *job, uint32_t id);
void admin_archive_show(struct admin *admin, struct job *job, uint32_t id);
void admin_archive_due(struct admin *admin, struct job *job, uint32_t id);
bool admin_sale_has_left(struct admin *admin, uint32_t id); /* for a bundle */
void admin_customer_erase(struct admin *admin, struct job *job, uint32_t id);

/* beacon.c */
/* One line of visible characters, at most so many, without spaces around it. */
bool admin_line_is_good(const char *text, uint32_t characters_max);
void admin_sale_beacon(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_message(struct admin *admin, struct job *job, uint32_t id); /* room_message.c */
void admin_beacon_members(const struct sale *sale, struct text *out); /* beginning with a comma */
/* False and the job is answered: the beacon of `sale`, as it is to be, may not be named so now. */
MUST_CHECK bool admin_beacon_may_be(
    struct admin *admin, struct job *job, const struct sale *before, const struct sale *sale);
/* stock.c */
void admin_sale_preheat(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_publish(struct admin *admin, struct job *job, uint32_t id);
void admin_item_preheat(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_open(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_pause(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_resume(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_end(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_reopen(struct admin *admin, struct job *job, uint32_t id);
/* Asks the inventory; false and the job is answered when it could not or would not. */
MUST_CHECK bool admin_ask(
    struct admin *admin, struct job *job, const struct command *command, struct outcome *outcome);
/* The same of what the inventory has been asked. */
MUST_CHECK bool admin_asked(struct admin *admin, struct job *job, const struct command *command,
    enum status status, const struct outcome *outcome);
void admin_item_adjust(struct admin *admin, struct job *job, uint32_t id);
void admin_item_move(struct admin *admin, struct job *job, uint32_t id);
void admin_item_counts(struct admin *admin, struct job *job, uint32_t id);
/* allocation.c */
void admin_item_allocation(struct admin *admin, struct job *job, uint32_t id);
void admin_item_allocate(struct admin *admin, struct job *job, uint32_t id);
/* safety.c */
void admin_item_safety(struct admin *admin, struct job *job, uint32_t id);
void admin_item_safety_use(struct admin *admin, struct job *job, uint32_t id);
/* channels.c */
struct channel_figures;
struct channel_report;
void admin_channels_list(struct admin *admin, struct job *job, uint32_t id);
void admin_channel_figures_set(struct admin *admin, struct job *job, uint32_t id);
void admin_channel_reports(struct admin *admin, struct job *job, uint32_t id);
/* What the body tells; `named`: also of which channel. False: answered. */
MUST_CHECK bool admin_figures_read(struct job *job, struct channel_figures *told, bool named);
void admin_figures_keep(struct admin *admin, struct job *job, struct channel_figures *told); /* answers */
void admin_report_json(const struct channel_report *report, struct text *out); /* its members, but the id */
/* channel_requests.c: of a channel, with its own key; job->channel says which */
void admin_channel_item(struct admin *admin, struct job *job, uint32_t id);
void admin_channel_reserve(struct admin *admin, struct job *job, uint32_t id);
void admin_channel_report(struct admin *admin, struct job *job, uint32_t id);
void admin_channel_order(struct admin *admin, struct job *job, uint32_t id);
void admin_channel_confirm(struct admin *admin, struct job *job, uint32_t id);
void admin_channel_return(struct admin *admin, struct job *job, uint32_t id);
void admin_channel_figures(struct admin *admin, struct job *job, uint32_t id);
/* orders.c: job->ticket says which order. */
void admin_order_paid(struct admin *admin, struct job *job, uint32_t id);
void admin_order_cancel(struct admin *admin, struct job *job, uint32_t id);
void admin_order_refund(struct admin *admin, struct job *job, uint32_t id);
/* Where refunded units go (enum refund_to), by its name. False: answered. */
MUST_CHECK bool admin_refund_to_read(struct job *job, const char *name, uint8_t *to);
/* fulfilment.c: likewise; orders_ship: many. */
void admin_order_ship(struct admin *admin, struct job *job, uint32_t id);
void admin_order_deliver(struct admin *admin, struct job *job, uint32_t id);
void admin_orders_ship(struct admin *admin, struct job *job, uint32_t id);
void admin_order_refund_part(struct admin *admin, struct job *job, uint32_t id);
void admin_orders_export(struct admin *admin, struct job *job, uint32_t id); /* order_export.c */
/* cases.c */
void admin_cases_list(struct admin *admin, struct job *job, uint32_t id);
void admin_case_create(struct admin *admin, struct job *job, uint32_t id);
void admin_case_show(struct admin *admin, struct job *job, uint32_t id);
void admin_case_notes(struct admin *admin, struct job *job, uint32_t id);
void admin_cases_costs(struct admin *admin, struct job *job, uint32_t id);
/* remedies.c */
void admin_case_orders(struct admin *admin, struct job *job, uint32_t id);
void admin_case_assign(struct admin *admin, struct job *job, uint32_t id);
void admin_case_note(struct admin *admin, struct job *job, uint32_t id);
void admin_case_apply(struct admin *admin, struct job *job, uint32_t id);
void admin_case_close(struct admin *admin, struct job *job, uint32_t id);
/* order_notes.c: likewise. */
void admin_order_note(struct admin *admin, struct job *job, uint32_t id);
/* payments.c: job->ticket says which order, where there is one. */
void admin_order_payments(struct admin *admin, struct job *job, uint32_t id);
void admin_order_details(struct admin *admin, struct job *job, uint32_t id);
void admin_refunds(struct admin *admin, struct job *job, uint32_t id);
void admin_money_totals(struct admin *admin, struct job *job, uint32_t id);
void admin_sandbox(struct admin *admin, struct job *job, uint32_t id);
void admin_sandbox_change(struct admin *admin, struct job *job, uint32_t id);
/* statements.c */
void admin_statement_import(struct admin *admin, struct job *job, uint32_t id);
void admin_statement_missing(struct admin *admin, struct job *job, uint32_t id);
/* lists.c */
void admin_orders_list(struct admin *admin, struct job *job, uint32_t id);
/* The filters of a list of orders; false: answered. */
MUST_CHECK bool admin_order_filter(
    struct admin *admin, struct job *job, struct order_filter *filter, uint64_t *limit);
void admin_order_show(struct admin *admin, struct job *job, uint32_t id);
void admin_item_waitlist(struct admin *admin, struct job *job, uint32_t id); /* waitlist.c */
void admin_audit(struct admin *admin, struct job *job, uint32_t id);

/* members.c */
void admin_members(struct admin *admin, struct job *job, uint32_t id);
void admin_partitions(struct admin *admin, struct job *job, uint32_t id);
/* dead_letters.c */
void admin_dead_letters(struct admin *admin, struct job *job, uint32_t id);
void admin_dead_letter_show(struct admin *admin, struct job *job, uint32_t id);
void admin_dead_letter_retry(struct admin *admin, struct job *job, uint32_t id);
void admin_dead_letter_return(struct admin *admin, struct job *job, uint32_t id);
void admin_dead_letter_dismiss(struct admin *admin, struct job *job, uint32_t id);
void admin_alarms(struct admin *admin, struct job *job, uint32_t id);

/* live.c */
void admin_live(struct admin *admin, struct job *job, uint32_t id);
void admin_live_history(struct admin *admin, struct job *job, uint32_t id); /* live_history.c */

/* reconciliation.c */
void admin_reconcile_run(struct admin *admin, struct job *job, uint32_t id);
void admin_reconcile_show(struct admin *admin, struct job *job, uint32_t id);
/* webhook_list.c */
void admin_webhooks_list(struct admin *admin, struct job *job, uint32_t id);
void admin_webhook_replay(struct admin *admin, struct job *job, uint32_t id);
void admin_webhooks_replay(struct admin *admin, struct job *job, uint32_t id);

/* switches.c */
void admin_switches(struct admin *admin, struct job *job, uint32_t id);
void admin_switches_change(struct admin *admin, struct job *job, uint32_t id);
/* bans.c */
void admin_bans_list(struct admin *admin, struct job *job, uint32_t id);
void admin_ban_add(struct admin *admin, struct job *job, uint32_t id);
void admin_ban_lift(struct admin *admin, struct job *job, uint32_t id);
void admin_watch(struct admin *admin, struct job *job, uint32_t id);

/* settings.c */
void admin_settings(struct admin *admin, struct job *job, uint32_t id);
/* keys.c */
void admin_key_create(struct admin *admin, struct job *job, uint32_t id);
void admin_key_revoke(struct admin *admin, struct job *job, uint32_t id);
void admin_keys_member(const struct admin *admin, struct text *out); /* "keys":[…]: who has one */

/* pictures.c */
void admin_media_list(struct admin *admin, struct job *job, uint32_t id);
void admin_media_add(struct admin *admin, struct job *job, uint32_t id);
void admin_media_upload(struct admin *admin, struct job *job, uint32_t id);
void admin_media_remove(struct admin *admin, struct job *job, uint32_t id);

/* sale_life.c */
void admin_sales_list(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_unpublish(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_archive(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_unarchive(struct admin *admin, struct job *job, uint32_t id);
void admin_sale_clone(struct admin *admin, struct job *job, uint32_t id);
/* False: it is archived, and the job is answered. */
MUST_CHECK bool admin_sale_in_use(struct job *job, const struct sale *sale);

/* sales.c */
void admin_sale_json(const struct admin *admin, const struct sale *sale, struct text *out);
void admin_sale_reply(const struct admin *admin, struct job *job, int status, const struct sale *sale);

/* reports.c */
void admin_sale_report(struct admin *admin, struct job *job, uint32_t id);

/* repeated_changes.c: carries out a request that changes something. `writes`: it changes the database, so
 * that is one transaction with its audit rows and, if it has a key, its answer. */
void admin_change_run(
    struct admin *admin, struct job *job, admin_handler handler, uint32_t id, bool writes);
/* Within that transaction. If it can't be written, the request fails and nothing is changed. */
void admin_audit_write(struct admin *admin, struct job *job, const char *action, const char *format,
    ...) __attribute__((format(printf, 4, 5)));
/* For what is in memory only: its audit rows are kept first. False and the job is answered when they
 * can't be. */
MUST_CHECK bool admin_audit_keep(struct admin *admin, struct job *job);
/* admin.c: shared by the handlers. */
/* False and the job is answered when it can't be. */
MUST_CHECK bool admin_item_read(struct admin *admin, struct job *job, item_id id, struct item *item);
MUST_CHECK bool admin_sale_read(struct admin *admin, struct job *job, sale_id id, struct sale *sale);
/* ,"channels":{"web":10}: the units of each channel. */
void admin_channels_member(
    const struct admin *admin, const uint32_t units[CHANNELS_MAX], struct text *out);

/* "scheduled", "open", "paused" or "ended", by gate and time: what the public sees. */
const char *admin_sale_gate(const struct admin *admin, const struct sale *sale);

#endif
