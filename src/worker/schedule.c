/* SPDX-License-Identifier: Apache-2.0 */
/* worker/schedule.c: bringing sales and items from the store to the inventory: preheat, by
 * hand and on time. */
#include "api/refusals.h"
#include "base/log.h"
#include "contract/currency.h"
#include "worker/worker_parts.h"

#include <string.h>

enum { READ_ROWS = 32 };

const char *channel_name(
    const struct worker *worker, channel_index channel, char out[CHANNEL_NAME_MAX + 1])
{
    const struct door_channels *channels = worker->config.channels;
    if (channel == CHANNEL_SAFETY)
        return "safety";
    if (channel >= channels->count)
        return "?";
    memcpy(out, channels->names[channel].name, channels->names[channel].size);
    out[channels->names[channel].size] = 0;
    return out;
}

enum status worker_sale_terms(struct worker *worker, struct sale *sale, bool *known)
{
    const struct command command = { .type = COMMAND_ASK_SALE, .ask = { .sale = sale->id } };
    struct outcome outcome;
    const enum status status = worker_ask(worker, &command, &outcome);
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

enum status worker_sale_define(struct worker *worker, const struct sale *sale, struct outcome *outcome)
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
    return worker_ask(worker, &command, outcome);
}

enum status worker_sale_ensure(struct worker *worker, const struct sale *sale, struct outcome *outcome)
{
    struct sale now = *sale;
    bool known = false;
    const enum status status = worker_sale_terms(worker, &now, &known);
    *outcome = (struct outcome){ .answer = ANSWER_UNCHANGED };
    return status != STATUS_OK || known ? status : worker_sale_define(worker, sale, outcome);
}

/* sellable = total − locked − sold, of one row read at one moment. What the other channels and
 * the safety stock do not get is the web channel's. */
struct command worker_preheat_command(const struct item *item)
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

enum preheat_result worker_preheat(struct worker *worker, const struct sale *sale,
    const struct item *item, struct outcome *outcome)
{
    enum status status = worker_sale_ensure(worker, sale, outcome);
    if (status != STATUS_OK)
        return status == STATUS_UNKNOWN ? PREHEAT_UNKNOWN : PREHEAT_AWAY;
    if (outcome->answer != ANSWER_DONE && outcome->answer != ANSWER_UNCHANGED)
        return PREHEAT_REFUSED;
    const struct command command = worker_preheat_command(item);
    status = worker_ask(worker, &command, outcome);
    if (status == STATUS_UNKNOWN)
        return PREHEAT_UNKNOWN;
    if (status != STATUS_OK || outcome->answer == ANSWER_UNAVAILABLE)
        return PREHEAT_AWAY;
    if (outcome->answer == ANSWER_DONE)
        return PREHEAT_DONE;
    return outcome->answer == ANSWER_UNCHANGED ? PREHEAT_UNCHANGED : PREHEAT_REFUSED;
}

static bool sale_is_due(const struct worker *worker, const struct sale *sale)
{
    if (sale->gate == GATE_ENDED || worker->now_ms >= sale->end_ms)
        return false;
    const bool asked = sale->preheat_at_ms != 0 && worker->now_ms >= sale->preheat_at_ms;
    const bool near = sale->published && worker->now_ms + WORKER_PREHEAT_AHEAD_MS >= sale->start_ms;
    return asked || near;
}

static void sale_preheat_due(struct worker *worker, const struct sale *sale)
{
    struct item items[READ_ROWS];
    uint32_t count = READ_ROWS;
    struct order_store *store = worker->config.store;
    for (item_id after = 0; count == READ_ROWS;) {
        if (store->ops->items(store, sale->id, after, items, READ_ROWS, &count) != STATUS_OK)
            return;
        for (uint32_t i = 0; i < count; i++) {
            struct outcome outcome = { 0 };
            after = items[i].id;
            if (items[i].preheated)
                continue;
            const enum preheat_result result = worker_preheat(worker, sale, &items[i], &outcome);
            if (result == PREHEAT_DONE)
                log_info("worker", "preheated item %u of sale %u on schedule", items[i].id, sale->id);
            else if (result != PREHEAT_UNCHANGED)
                log_error("worker", "item %u of sale %u can't be preheated: %s", items[i].id, sale->id,
                    result >= PREHEAT_AWAY ? "the inventory can't write now"
                                           : refusal_conflict_text(outcome.detail));
        }
    }
}

/* No sale opens unpreheated: what is due, or opens within a minute, is preheated here if nobody
 * did it by hand. */
void worker_schedule(struct worker *worker)
{
    struct sale sales[READ_ROWS];
    uint32_t count = READ_ROWS;
    struct order_store *store = worker->config.store;
    for (sale_id after = 0; count == READ_ROWS;) {
        if (store->ops->sales(store, after, sales, READ_ROWS, &count) != STATUS_OK)
            return; /* away: the order writer tells */
        for (uint32_t i = 0; i < count; i++) {
            after = sales[i].id;
            worker_rooms_define(worker, &sales[i]);
            if (sale_is_due(worker, &sales[i]))
                sale_preheat_due(worker, &sales[i]);
        }
    }
}
