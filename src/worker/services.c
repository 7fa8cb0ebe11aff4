/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/services.h"

#include "worker/worker_parts.h"

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
    worker->acting = job;
}

void worker_catalog_changed(struct worker *worker)
{
    worker->catalog_stale = true;
}

void worker_bans_changed(struct worker *worker)
{
    worker->bans_stale = true;
}

void worker_letters_changed(struct worker *worker)
{
    worker->letters_stale = true;
}

/* A sale, an item or an order may have been in them. */
void worker_letters_retried(struct worker *worker)
{
    stock_pump_look(worker->pump);
    expiry_look(&worker->expiry);
    worker->catalog_stale = true;
}

void worker_payments_due(struct worker *worker)
{
    cashier_look(&worker->money.cashier);
}

struct bank *worker_bank(struct worker *worker)
{
    return worker->money.bank;
}

bool worker_webhooks_are_on(const struct worker *worker)
{
    return worker->webhooks.on;
}

const struct reconcile_report *worker_reconcile_report(const struct worker *worker, uint64_t *run)
{
    *run = worker->reconciling.run;
    return reconcile_report(worker->reconcile);
}
