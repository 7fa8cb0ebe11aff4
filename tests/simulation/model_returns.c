/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of returns: who let an item go waits, and units that came back to an empty pool are drawn
 * for. */
#include "base/hash.h"
#include "tests/simulation/model.h"

uint64_t model_cooling_until(const struct model *model, user_id user, item_id item, uint64_t now_ms)
{
    const uint64_t until_ms = model->cool_until_ms[user_index(user)][item];
    const bool counts = model->sales[model->items[item].sale].cooldown_s > 0;
    return counts && now_ms < until_ms ? until_ms : 0;
}

static uint64_t moment_of(uint64_t until_ms, uint64_t length_ms, uint64_t seed, user_id user,
    item_id item, channel_index channel)
{
    const struct hash_key key = { seed, item };
    const uint64_t chance = hash_siphash_pair(key, user, channel) >> 32; /* of 2^32 */
    return until_ms - (chance * (length_ms / 2) >> 32);
}

uint64_t model_draw_moment(
    const struct model *model, user_id user, item_id item, channel_index channel, uint64_t now_ms)
{
    const struct model_item *its = &model->items[item];
    const struct model_sale *sale = &model->sales[its->sale];
    const bool early = sale->opened && sale->opened_ms < sale->start_ms;
    const uint64_t opening_ms = early ? sale->opened_ms : sale->start_ms;
    uint64_t moment_ms = 0, last_ms = 0;
    if (sale->start_draw_ms > 0 && now_ms < opening_ms + sale->start_draw_ms)
        last_ms = moment_of(opening_ms + sale->start_draw_ms, sale->start_draw_ms, sale->draw_seed,
            user, item, channel);
    if (now_ms < its->draw_until_ms[channel])
        moment_ms = moment_of(its->draw_until_ms[channel], sale->return_draw_ms,
            its->draw_seed[channel], user, item, channel);
    if (moment_ms > last_ms)
        last_ms = moment_ms;
    return last_ms > now_ms ? last_ms : 0;
}

void model_fold_terms(struct model_sale *sale, const struct command *command)
{
    const struct command_sale *asked = &command->sale;
    const struct hash_key key = { asked->sale, 0 };
    sale->start_draw_ms = asked->start_draw_ms;
    if (sale->start_draw_ms != 0 && sale->draw_seed == 0)
        sale->draw_seed = hash_siphash_pair(key, command->time_ms, asked->start_ms) | 1;
}

void model_fold_let_go(struct model *model, const struct queue_record *record)
{
    const struct command_settle *asked = &record->command.settle;
    const struct model_ticket *ticket = &model->tickets[asked->ticket];
    const uint32_t who = user_index(ticket->user);
    const uint64_t seconds = model->sales[model->items[ticket->item].sale].cooldown_s;
    if (!asked->let_go || ticket->state != TICKET_HELD || seconds == 0)
        return;
    const uint32_t before = model->let_go[who][ticket->item]++;
    const uint64_t times = UINT64_C(1) << (before < 6 ? before : 6);
    const uint64_t from_s = (record->command.time_ms + 999) / 1000;
    model->cool_until_ms[who][ticket->item] = (from_s + seconds * times) * 1000;
}

void model_fold_draw(struct model *model, const struct queue_record *record, bool was_empty)
{
    const struct command_settle *asked = &record->command.settle;
    const struct model_ticket *ticket = &model->tickets[asked->ticket];
    struct model_item *item = &model->items[ticket->item];
    const uint32_t length_ms = model->sales[item->sale].return_draw_ms;
    if (!was_empty || length_ms == 0 || item->free[asked->to] == 0)
        return;
    const uint64_t now_ms = record->command.time_ms;
    const struct hash_key key = { item->draw_seed[asked->to], model->ticket_count };
    item->draw_seed[asked->to] = hash_siphash_pair(key, ticket->key ^ now_ms, ticket->user);
    item->draw_until_ms[asked->to] = now_ms + length_ms;
}

void model_moments_of_user(const struct model *model, const struct command *command,
    uint64_t from_ms, uint64_t now_ms, uint64_t moments[3])
{
    const struct command_reserve *asked = &command->reserve;
    if (command->type != COMMAND_RESERVE || asked->item == 0 || asked->item >= SIM_ITEMS
        || asked->channel >= CHANNELS_MAX)
        return;
    const uint64_t ends[3] = { model_cooling_until(model, asked->user, asked->item, from_ms),
        model_draw_moment(model, asked->user, asked->item, asked->channel, from_ms),
        model->sales[model->items[asked->item].sale].start_ms };
    for (uint32_t i = 0; i < 3; i++)
        if (ends[i] > from_ms && ends[i] < now_ms)
            moments[i] = ends[i];
}
