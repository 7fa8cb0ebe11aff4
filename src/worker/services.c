/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/services.h"

#include "worker/worker_parts.h"

const struct desk_config *desk_lent(const struct desk *desk)
{
    return &desk->config;
}

uint64_t desk_now_ms(const struct desk *desk)
{
    return desk->now_ms;
}

void desk_acting(struct desk *desk, struct job *job)
{
    desk->acting = job;
}

void desk_catalog_changed(struct desk *desk)
{
    desk->catalog_stale = true;
}

void desk_bans_changed(struct desk *desk)
{
    desk->bans_stale = true;
}

void desk_letters_changed(struct desk *desk)
{
    desk->letters_stale = true;
}

/* A sale, an item or an order may have been in them. */
void desk_letters_retried(struct desk *desk)
{
    stock_pump_look(desk->pump);
    expiry_look(&desk->expiry);
    desk->catalog_stale = true;
}

void desk_payments_due(struct desk *desk)
{
    cashier_look(&desk->money.cashier);
}

struct bank *desk_bank(struct desk *desk)
{
    return desk->money.bank;
}

bool desk_webhooks_are_on(const struct desk *desk)
{
    return desk->webhooks.on;
}

const struct reconcile_report *desk_reconcile_report(const struct desk *desk, uint64_t *run)
{
    *run = desk->reconciling.run;
    return reconcile_report(desk->reconcile);
}
