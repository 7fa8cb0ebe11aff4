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

uint64_t model_draw_moment(
    const struct model *model, user_id user, item_id item, channel_index channel, uint64_t now_ms)
{
    const struct model_item *its = &model->items[item];
    const uint64_t half_ms = model->sales[its->sale].return_draw_ms / 2;
    const struct hash_key key = { its->draw_seed[channel], item };
    const uint64_t chance = hash_siphash_pair(key, user, channel) >> 32; /* of 2^32 */
    const uint64_t moment_ms = its->draw_until_ms[channel] - (chance * half_ms >> 32);
    return now_ms < its->draw_until_ms[channel] && now_ms < moment_ms ? moment_ms : 0;
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
    uint64_t from_ms, uint64_t now_ms, uint64_t moments[2])
{
    const struct command_reserve *asked = &command->reserve;
    if (command->type != COMMAND_RESERVE || asked->item == 0 || asked->item >= SIM_ITEMS
        || asked->channel >= CHANNELS_MAX)
        return;
    const uint64_t ends[2] = { model_cooling_until(model, asked->user, asked->item, from_ms),
        model_draw_moment(model, asked->user, asked->item, asked->channel, from_ms) };
    for (uint32_t i = 0; i < 2; i++)
        if (ends[i] != 0 && ends[i] < now_ms)
            moments[i] = ends[i];
}
