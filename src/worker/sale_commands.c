/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sale_commands.h"

#include "base/span.h"
#include "contract/admin_store.h"
#include "contract/command.h"
#include "contract/currency.h"
#include "contract/order_store.h"
#include "worker/errands.h"

#include <string.h>

enum status sale_terms(struct errands *errands, struct sale *sale, bool *known)
{
    const struct command command = { .type = COMMAND_ASK_SALE, .ask = { .sale = sale->id } };
    struct outcome outcome;
    const enum status status = errands_ask(errands, &command, &outcome);
    *known = status == STATUS_OK && outcome.answer == ANSWER_FOUND;
    if (!*known)
        return status;
    sale->start_ms = outcome.terms.start_ms;
    sale->end_ms = outcome.terms.end_ms;
    sale->limit_per_user = outcome.terms.limit_per_user;
    sale->eligible_only = outcome.terms.eligible_only;
    sale->one_open_order = outcome.terms.one_open_order;
    sale->cooldown_s = outcome.terms.cooldown_s;
    sale->return_draw_ms = outcome.terms.return_draw_ms;
    sale->start_draw_ms = outcome.terms.start_draw_ms;
    sale->terms_lsn = outcome.lsn;
    return STATUS_OK;
}

enum status sale_define(struct errands *errands, const struct sale *sale, struct outcome *outcome)
{
    const struct command command = { .type = COMMAND_SALE,
        .sale = { .sale = sale->id,
            .start_ms = sale->start_ms,
            .end_ms = sale->end_ms,
            .limit_per_user = sale->limit_per_user,
            .eligible_only = sale->eligible_only,
            .one_open_order = sale->one_open_order,
            .cooldown_s = (uint16_t)sale->cooldown_s,
            .return_draw_ms = (uint16_t)sale->return_draw_ms,
            .start_draw_ms = (uint16_t)sale->start_draw_ms } };
    return errands_ask(errands, &command, outcome);
}

enum status sale_ensure(struct errands *errands, const struct sale *sale, struct outcome *outcome)
{
    struct sale now = *sale;
    bool known = false;
    const enum status status = sale_terms(errands, &now, &known);
    *outcome = (struct outcome){ .answer = ANSWER_UNCHANGED };
    return status != STATUS_OK || known ? status : sale_define(errands, sale, outcome);
}

/* sellable = total − locked − sold, of one row read at one moment. What the other channels and
 * the safety stock do not get is the web channel's. */
struct command preheat_command(const struct item *item)
{
    struct command command = { .type = COMMAND_PREHEAT,
        .preheat = { .item = item->id,
            .sale = item->sale,
            .unit_price = item->flash_price,
            .limit_per_user = item->limit_per_user,
            .pay_window_ms = item->pay_window_ms,
            .total = item->total,
            .locked = item->locked,
            .sold_before = item->sold,
            .safety = item->safety } };
    int64_t web = (int64_t)item->total - item->locked - item->sold - item->safety;
    for (uint32_t channel = 1; channel < CHANNELS_MAX; channel++) {
        command.preheat.channel_units[channel] = item->channel_units[channel];
        web -= item->channel_units[channel];
    }
    /* Below 0: the engine refuses the split. */
    command.preheat.channel_units[0] = web < 0 ? 0 : (uint32_t)web;
    unsigned digits; /* an old database may hold what is no currency */
    if (currency_find(span_from_string(item->currency), &digits))
        memcpy(command.preheat.currency, item->currency, sizeof command.preheat.currency);
    return command;
}

/* What is taken from the product's stock is kept before the inventory is asked, also in a request of an
 * administrator: the second time nothing is taken. */
static enum status item_draw(struct order_store *store, struct item *item)
{
    if (item->preheated)
        return STATUS_OK;
    const bool together = store->ops->admin->pause(store);
    const enum status status = store->ops->item_draw(store, item);
    return status == STATUS_OK && together ? store->ops->admin->begin(store) : status;
}

enum preheat_result item_preheat(struct order_store *store, struct errands *errands,
    const struct sale *sale, struct item *item, struct outcome *outcome)
{
    enum status status = item_draw(store, item);
    if (status != STATUS_OK)
        return PREHEAT_AWAY;
    status = sale_ensure(errands, sale, outcome);
    if (status != STATUS_OK)
        return status == STATUS_UNKNOWN ? PREHEAT_UNKNOWN : PREHEAT_AWAY;
    if (outcome->answer == ANSWER_UNAVAILABLE)
        return PREHEAT_AWAY;
    if (outcome->answer != ANSWER_DONE && outcome->answer != ANSWER_UNCHANGED)
        return PREHEAT_REFUSED;
    const struct command command = preheat_command(item);
    status = errands_ask(errands, &command, outcome);
    if (status == STATUS_UNKNOWN)
        return PREHEAT_UNKNOWN;
    if (status != STATUS_OK || outcome->answer == ANSWER_UNAVAILABLE)
        return PREHEAT_AWAY;
    if (outcome->answer == ANSWER_DONE)
        return PREHEAT_DONE;
    return outcome->answer == ANSWER_UNCHANGED ? PREHEAT_UNCHANGED : PREHEAT_REFUSED;
}
