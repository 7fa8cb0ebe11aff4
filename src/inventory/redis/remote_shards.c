/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_shards.c: the shards of a sale: who is at home where, and what they have together.
 *
 * What is shown of an item is the sum of its shards, and of the units that are on their way between them: a
 * transfer is counted from the record that gives it to the record that takes it. Logs of two shards are read
 * one after the other; where the taker's is ahead, its units count twice for a moment, which hides nothing.
 * Gates and terms are those of shard 0, which operators' commands reach first. */
#include "contract/ticket_number.h"
#include "inventory/engine.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"

#include <string.h>

static void shard_note(struct remote *remote, struct partition *partition, sale_id sale,
    const struct part_state *state)
{
    struct shards *of = remote_shards(remote, sale);
    if (of == NULL)
        return;
    of->list[part_shard(state->part)] = partition;
    if (state->shards > 0 && state->shards <= SHARDS_MAX)
        of->count = state->shards;
    if (part_shard(state->part) == 0) /* the room is there */
        atomic_store_explicit(&remote->by_sale[sale], partition->replica, memory_order_release);
}

void remote_shards_note(struct remote *remote, struct partition *partition, const struct part_state *state)
{
    for (sale_id moved = 1; moved <= state->sales && moved < remote->config.engine.sales_max; moved++)
        shard_note(remote, partition, moved, state);
    shard_note(remote, partition, part_sale(state->part), state);
}

struct shards *remote_shards(struct remote *remote, sale_id sale)
{
    return sale > 0 && sale < remote->config.engine.sales_max ? &remote->sales[sale] : NULL;
}

/* The sale that a command names; 0: it names an item, a ticket, or nothing. */
static sale_id command_sale(const struct command *command)
{
    static const uint16_t places[UINT8_MAX + 1] = {
        [COMMAND_SALE] = offsetof(struct command, sale.sale),
        [COMMAND_PREHEAT] = offsetof(struct command, preheat.sale),
        [COMMAND_GATE] = offsetof(struct command, gate.sale),
        [COMMAND_USERS] = offsetof(struct command, users.sale),
        [COMMAND_ARRIVE] = offsetof(struct command, arrive.sale),
        [COMMAND_ADMIT] = offsetof(struct command, admit.sale),
        [COMMAND_ASK_SALE] = offsetof(struct command, ask.sale),
    };
    sale_id sale = 0;
    if (places[command->type] != 0)
        memcpy(&sale, (const char *)command + places[command->type], sizeof sale);
    return sale;
}

struct shards *remote_shards_of(struct remote *remote, const struct command *command)
{
    static const struct outcome none;
    sale_id sale = command_sale(command);
    if (sale == 0) {
        const item_id item = engine_command_item(command, &none);
        sale = item < remote->config.engine.items_max ? remote->item_sale[item] : 0;
    }
    return remote_shards(remote, sale);
}

bool command_is_for_all(const struct command *command)
{
    return command_has_origin(command->type);
}

struct partition *remote_partition_of(struct remote *remote, const struct command *command)
{
    if (command->type == COMMAND_SETTLE)
        return remote_partition(remote, ticket_part(command->settle.ticket));
    if (command->type == COMMAND_ASK_TICKET)
        return remote_partition(remote, ticket_part(command->ask.ticket));
    const struct shards *shards = remote_shards_of(remote, command);
    if (shards == NULL || shards->count == 0)
        return NULL;
    if (command->type == COMMAND_RESERVE)
        return shards->list[shard_of_user(command->reserve.user, shards->count)];
    if (command->type == COMMAND_ASK_MINE)
        return shards->list[shard_of_user(command->ask.user, shards->count)];
    return shards->list[0];
}

void shards_settle(const struct shards *shards, uint32_t part, struct command_settle *settle)
{
    bool at_home = true;
    for (uint32_t i = 0; shards != NULL && shards->count > 1 && i < settle->waiter_count; i++)
        at_home &= shard_of_user(settle->waiters[i].user, shards->count) == part_shard(part);
    if (at_home)
        return;
    memset(settle->waiters, 0, sizeof settle->waiters);
    settle->waiter_count = 0;
    settle->waiter_window_ms = 0;
    settle->to = CHANNEL_LINE;
}

/* ---- what they have together ---- */

/* What `from` gave to `to`, and `to` has not taken as far as is read here; NULL: nothing. */
static const struct command_transfer *gift_open(const struct partition *from, const struct partition *to)
{
    if (from == NULL || to == NULL)
        return NULL;
    const uint32_t giver = part_shard(replica_part(from->replica));
    const uint32_t taker = part_shard(replica_part(to->replica));
    const struct command_transfer *gift = replica_gift(from->replica, taker);
    return gift->number > replica_taken(to->replica, giver) ? gift : NULL;
}

/* Adds to `units` of each channel. */
static void transit_count(const struct shards *shards, const struct partition *to, item_id item,
    uint32_t units[CHANNELS_MAX])
{
    for (uint32_t from = 0; from < shards->count && shards->count > 1; from++)
        for (uint32_t i = 0; i < shards->count; i++) {
            const struct command_transfer *gift = gift_open(shards->list[from], shards->list[i]);
            if (gift != NULL && gift->item == item && gift->channel < CHANNELS_MAX
                && (to == NULL || to == shards->list[i]))
                units[gift->channel] += gift->quantity;
        }
}

uint32_t shards_in_transit(
    const struct shards *shards, const struct partition *to, item_id item, channel_index channel)
{
    uint32_t units[CHANNELS_MAX] = { 0 };
    transit_count(shards, to, item, units);
    return units[channel];
}

static uint32_t units_elsewhere(
    const struct shards *shards, const struct partition *home, item_id item, channel_index channel)
{
    uint32_t units = shards_in_transit(shards, NULL, item, channel);
    for (uint32_t i = 0; i < shards->count; i++) {
        struct board_update view;
        if (shards->list[i] != NULL && shards->list[i] != home
            && replica_item(shards->list[i]->replica, item, &view))
            units += view.counts.channel_free[channel];
    }
    return units;
}

bool purchase_is_short(struct remote *remote, const struct partition *home,
    const struct command_reserve *purchase, const struct outcome *outcome)
{
    if (outcome->answer != ANSWER_SOLD_OUT || (purchase->flags & RESERVE_REPEAT) != 0)
        return false;
    const struct shards *shards = remote_shards(remote, part_sale(replica_part(home->replica)));
    if (shards == NULL || shards->count < 2)
        return false;
    const uint32_t others = units_elsewhere(shards, home, purchase->item, purchase->channel);
    /* More here than the script saw: they have come since it answered, or are sold and not kept yet. */
    struct board_update view;
    const uint32_t kept = replica_item(home->replica, purchase->item, &view)
        ? view.counts.channel_free[purchase->channel]
        : 0;
    const uint32_t here = kept > outcome->free ? kept : outcome->free;
    return others + here > outcome->free && (uint64_t)others + here >= purchase->quantity;
}

static void transit_add(const struct shards *shards, item_id item, struct item_counts *sum)
{
    uint32_t units[CHANNELS_MAX] = { 0 };
    transit_count(shards, NULL, item, units);
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++) {
        sum->channel_free[channel] += units[channel];
        sum->given += units[channel];
    }
}

void remote_item_show(void *context, item_id item, uint64_t at_ms)
{
    struct remote *remote = context;
    const struct shards *shards = remote_shards(remote, remote->item_sale[item]);
    struct board_update sum, view;
    bool known = false;
    if (shards == NULL || shards->count == 0)
        return;
    for (uint32_t i = 0; i < shards->count; i++) {
        if (shards->list[i] == NULL || !replica_item(shards->list[i]->replica, item, &view))
            continue;
        if (known)
            item_counts_add(&sum.counts, &view.counts);
        else
            sum = view;
        known = true;
    }
    if (!known)
        return;
    if (shards->count > 1)
        transit_add(shards, item, &sum.counts);
    board_publish(&remote->board, &sum);
    board_note_sold_out(&remote->board, &sum, at_ms);
    if (shards->count > 1)
        remote_level_item(remote, item);
}
