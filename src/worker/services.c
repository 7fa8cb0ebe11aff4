/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/services.h"

#include "api/catalog.h"
#include "contract/command.h"
#include "funnel/door.h"
#include "worker/alarm_checks.h"
#include "worker/anomaly_findings.h"
#include "worker/archiving.h"
#include "worker/ban_list.h"
#include "worker/catalog_updates.h"
#include "worker/job_group.h"
#include "worker/mails.h"
#include "worker/money.h"
#include "worker/reconcile_runs.h"
#include "worker/returns.h"
#include "worker/sale_report.h"
#include "worker/unpaid_orders.h"
#include "worker/webhooks.h"
#include "worker/worker_parts.h"

#include <string.h>

const struct worker_config *worker_lent(const struct worker *worker)
{
    return &worker->config;
}

uint64_t worker_now_ms(const struct worker *worker)
{
    return worker->now_ms;
}

void worker_acting(struct worker *worker, struct job *job)
{
    errands_acting(worker->errands, job);
}

void worker_sale_changed(struct worker *worker, sale_id sale)
{
    catalog_updates_part(worker->catalog, &(struct catalog_change){ CATALOG_SALE, sale });
}

void worker_item_changed(struct worker *worker, item_id item)
{
    catalog_updates_part(worker->catalog, &(struct catalog_change){ CATALOG_ITEM, item });
}

void worker_product_changed(struct worker *worker, uint32_t product)
{
    catalog_updates_part(worker->catalog, &(struct catalog_change){ CATALOG_PRODUCT, product });
}

void worker_ban_lifted(struct worker *worker, uint64_t id)
{
    ban_list_lifted(worker->bans, id, worker->now_ms);
}

void worker_letters_changed(struct worker *worker)
{
    alarm_checks_letters_changed(worker->alarms);
}

/* A sale, an item or an order may have been in them. */
void worker_letters_retried(struct worker *worker)
{
    returns_look(worker->returns);
    unpaid_orders_look(worker->unpaid);
    catalog_updates_all(worker->catalog);
}

void worker_payments_due(struct worker *worker)
{
    money_look(worker->money);
}

struct bank *worker_bank(struct worker *worker)
{
    return money_bank(worker->money);
}

bool worker_webhooks_are_on(const struct worker *worker)
{
    return webhooks_enabled(worker->webhooks);
}

const struct reconcile_report *worker_reconcile_report(const struct worker *worker, uint64_t *run)
{
    return reconcile_runs_report(worker->reconciling, run);
}

bool worker_reconcile_begin(struct worker *worker, const char *actor, bool repair, bool recent)
{
    return reconcile_runs_begin(worker->reconciling, actor, repair, recent, worker->now_ms);
}

/* ---- the inventory ---- */

enum status worker_ask(struct worker *worker, const struct command *command, struct outcome *outcome)
{
    return errands_ask(worker->errands, command, outcome);
}

enum status worker_ask_all(struct worker *worker, uint32_t count,
    void (*fill)(void *context, uint32_t index, struct command *command), void *context,
    struct outcome *outcome)
{
    return errands_ask_all(worker->errands, count, fill, context, outcome);
}

void worker_origin_read(const struct worker *worker, struct job *job)
{
    origin_read(worker->config.keys, job);
}

struct errands *worker_errands(struct worker *worker)
{
    return worker->errands;
}

const char *channel_name(
    const struct door_channels *channels, channel_index channel, char out[CHANNEL_NAME_MAX + 1])
{
    if (channel == CHANNEL_SAFETY)
        return "safety";
    if (channel >= channels->count)
        return "?";
    memcpy(out, channels->names[channel].name, channels->names[channel].size);
    out[channels->names[channel].size] = 0;
    return out;
}

/* ---- orders ---- */

void worker_order_changed(struct worker *worker, ticket_number ticket, user_id user)
{
    order_news_tell(&worker->news, ticket, user);
}

const struct order_views *worker_order_views(const struct worker *worker)
{
    return &worker->views;
}

/* ---- webhooks, reports, bans, findings ---- */

void worker_webhooks_look(struct worker *worker)
{
    webhooks_look(worker->webhooks);
}

bool worker_mails_are_on(const struct worker *worker)
{
    return mails_enabled(worker->mails);
}

void worker_mails_look(struct worker *worker)
{
    mails_look(worker->mails);
}

void worker_archiving_look(struct worker *worker)
{
    archiving_wake(worker->tasks[TASK_ARCHIVING].self);
}

void worker_report_look(struct worker *worker)
{
    sale_report_look(worker->report, worker->now_ms);
}

void worker_report_opened(struct worker *worker, const struct sale *sale)
{
    sale_report_opened(worker->report, sale, worker->now_ms);
}

void worker_report_write(struct worker *worker)
{
    job_group_end(worker->group); /* else a reader would not see what is written */
    sale_report_look(worker->report, worker->now_ms);
    sale_report_flush(worker->report, worker->now_ms);
}

void worker_sale_funnel_json(const struct worker *worker, sale_id sale, struct text *out)
{
    sale_report_funnel_json(worker->report, sale, out);
}

const struct history *worker_history(const struct worker *worker)
{
    return worker->history;
}

enum status worker_ban_put(struct worker *worker, struct ban *ban)
{
    return ban_list_put(worker->bans, ban);
}

bool worker_block_protected(const struct worker *worker, const struct address_block *block)
{
    return ban_list_is_protected(worker->bans, block);
}

void worker_watch_json(const struct worker *worker, struct text *out)
{
    anomaly_findings_json(worker->findings, out);
}

void worker_watch_forgive(struct worker *worker, const struct ban *ban)
{
    anomaly_findings_forgive(worker->findings, ban);
}
