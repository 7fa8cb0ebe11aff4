/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_level.c: units travel between the shards of a sale, so that none stay where nobody
 * wants them. One process does it, the leader (remote_config.levels).
 *
 *   GIVE at one shard ── kept by the database ──► TAKE at the other one
 *
 * Nothing but the logs says how far a transfer is: given there and not taken here. A TAKE is asked for as
 * long as that is so, by whoever leads. Between two shards one transfer is on its way at a time, and its
 * number lets each end do it once; so a failover, a second leader or a lost answer can't double units or lose
 * them (engine_stock.c).
 *
 * Need. A gateway whose purchase finds its shard empty while others are not says so on the channel that
 * workers follow: "short <part> <item> <channel> <units>". The message may be lost: the purchase is tried
 * again, and it is said again. */
#include "base/metrics.h"
#include "contract/ticket_number.h"
#include "inventory/redis/level.h"
#include "inventory/redis/remote_call.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"

#include <stdio.h>

enum {
    LEVEL_MS = 10,
    SHORT_TELL_MS = 10, /* between two messages about the same pool */
    SHORT_LIVES_MS = 1000,
    SHORTS_MAX = 256,
};

COUNTER(transfers_given, "stampede_transfers_given_total",
    "Transfers of units between shards that this process has asked for.");
COUNTER(transfers_taken, "stampede_transfers_taken_total",
    "Transfers that this process has asked the receiving shard to take.");
GAUGE(transfers_open, "stampede_transfers_open", "Transfers between shards that are given and not taken.");

struct level {
    uint64_t due_ms;
    uint32_t count; /* of `items` */
    item_id *items; /* whose units should be looked at */
    bool *is_listed;
    struct shortage shorts[SHORTS_MAX];
};

size_t remote_level_bytes(const struct remote_config *config)
{
    return sizeof(struct level) + config->engine.items_max * (sizeof(item_id) + sizeof(bool));
}

void remote_level_create(struct remote *remote)
{
    const uint32_t items_max = remote->config.engine.items_max;
    if (remote->config.levels == NULL)
        return;
    remote->level = arena_take(&remote->arena, 1, sizeof *remote->level);
    remote->level->items = arena_take(&remote->arena, items_max, sizeof *remote->level->items);
    remote->level->is_listed = arena_take(&remote->arena, items_max, sizeof *remote->level->is_listed);
}

void remote_level_item(struct remote *remote, item_id item)
{
    struct level *level = remote->level;
    if (level == NULL || level->is_listed[item])
        return;
    level->is_listed[item] = true;
    level->items[level->count++] = item;
}

/* ---- need ---- */

void remote_short_tell(
    struct remote *remote, struct partition *partition, const struct command_reserve *purchase)
{
    const struct span channel = partition->keys.proposed;
    struct shortage *told = &partition->told;
    char text[64];
    if (told->item == purchase->item && told->channel == purchase->channel
        && told->quantity >= purchase->quantity && remote->now_ms < told->at_ms + SHORT_TELL_MS)
        return;
    *told = (struct shortage){ .item = purchase->item,
        .channel = purchase->channel,
        .quantity = purchase->quantity,
        .at_ms = remote->now_ms };
    snprintf(text, sizeof text, "short %u %u %u %u", replica_part(partition->replica),
        purchase->item, purchase->channel, purchase->quantity);
    (void)!redis_client_send(remote->client, channel, NOTE_TAG, remote->now_ms + remote->config.timeout_ms,
        REDIS_WORDS(SPAN("SPUBLISH"), channel, span_from_string(text)));
}

static struct shortage *short_find(struct level *level, const struct shortage *like)
{
    struct shortage *oldest = &level->shorts[0];
    for (uint32_t i = 0; i < SHORTS_MAX; i++) {
        struct shortage *one = &level->shorts[i];
        if (one->part == like->part && one->item == like->item && one->channel == like->channel)
            return one;
        if (one->at_ms < oldest->at_ms)
            oldest = one;
    }
    *oldest = (struct shortage){ .part = like->part, .item = like->item, .channel = like->channel };
    return oldest;
}

bool remote_short_heard(struct remote *remote, struct span message)
{
    uint32_t numbers[4];
    struct span word = SPAN_NONE;
    if (!span_take_until(&message, ' ', &word) || !span_equal(word, SPAN("short")))
        return false;
    for (uint32_t i = 0; i < 4; i++)
        if (!span_take_until(&message, ' ', &word) || span_to_u32(word, &numbers[i]) != STATUS_OK)
            return true;
    const struct shortage said = {
        .part = numbers[0], .item = numbers[1], .channel = (channel_index)numbers[2]
    };
    if (remote->level == NULL || said.item >= remote->config.engine.items_max || numbers[2] >= CHANNELS_MAX)
        return true;
    struct shortage *kept = short_find(remote->level, &said);
    kept->quantity = numbers[3] < QUANTITY_MAX ? numbers[3] : QUANTITY_MAX;
    kept->at_ms = remote->now_ms;
    remote_level_item(remote, said.item);
    remote->level->due_ms = 0;
    return true;
}

static uint32_t wanted(const struct remote *remote, uint32_t part, item_id item, channel_index channel)
{
    for (uint32_t i = 0; i < SHORTS_MAX; i++) {
        const struct shortage *one = &remote->level->shorts[i];
        if (one->part == part && one->item == item && one->channel == channel
            && remote->now_ms < one->at_ms + SHORT_LIVES_MS)
            return one->quantity;
    }
    return 0;
}

/* ---- transfers ---- */

static bool transfer_ask(struct remote *remote, struct partition *partition, uint8_t type,
    const struct command_transfer *transfer)
{
    const struct asker asker = { .tag = (uint64_t)(partition - remote->partitions), .kind = ASKER_LEVEL };
    const struct command command = { .type = type, .transfer = *transfer };
    if (partition->level_asked || partition->damaged)
        return false;
    partition->level_asked = true; /* it may be answered at once */
    if (remote_command(remote, partition, &asker, &command)) {
        metric_add(type == COMMAND_GIVE ? &transfers_given : &transfers_taken, 1);
        return true;
    }
    partition->level_asked = false;
    return false;
}

void remote_level_answered(struct remote *remote, uint64_t partition)
{
    invariant(partition < remote->partition_count);
    remote->partitions[partition].level_asked = false;
    if (remote->level != NULL)
        remote->level->due_ms = 0;
}

/* What was given and is not taken. Answers how many. */
static uint32_t gifts_take(struct remote *remote, const struct shards *shards)
{
    uint32_t open = 0;
    for (uint32_t from = 0; from < shards->count; from++)
        for (uint32_t to = 0; to < shards->count; to++) {
            if (shards->list[from] == NULL || shards->list[to] == NULL)
                continue;
            const struct command_transfer *gift = replica_gift(shards->list[from]->replica, to);
            if (gift->number <= replica_taken(shards->list[to]->replica, from))
                continue;
            struct command_transfer take = *gift;
            take.shard = (uint8_t)from;
            (void)!transfer_ask(remote, shards->list[to], COMMAND_TAKE, &take); /* not now: the next turn */
            open++;
        }
    return open;
}

/* ---- levelling ---- */

static bool shards_look(const struct remote *remote, const struct shards *shards, item_id item,
    channel_index channel, struct level_shard *pools)
{
    uint64_t units = 0;
    for (uint32_t i = 0; i < shards->count; i++) {
        struct board_update view;
        if (shards->list[i] == NULL || !replica_item(shards->list[i]->replica, item, &view))
            return false;
        const struct replica *replica = shards->list[i]->replica;
        pools[i] = (struct level_shard){
            .free = view.counts.channel_free[channel]
                + shards_in_transit(shards, shards->list[i], item, channel),
            .wanted = wanted(remote, replica_part(replica), item, channel),
            .fixed = replica_draw_ms(replica, item, channel) > remote->now_ms,
        };
        units += pools[i].free;
    }
    return units > 0;
}

/* Only one transfer is on its way from one shard to another. */
static bool move_ask(struct remote *remote, const struct shards *shards, item_id item,
    channel_index channel, const struct level_move *move)
{
    struct partition *from = shards->list[move->from];
    const uint32_t given = replica_given(from->replica, move->to);
    if (given != replica_taken(shards->list[move->to]->replica, move->from))
        return false;
    const struct command_transfer give = { .item = item,
        .quantity = move->quantity,
        .number = given + 1,
        .channel = channel,
        .shard = (uint8_t)move->to };
    return transfer_ask(remote, from, COMMAND_GIVE, &give);
}

/* True: there is more to do, when what is on its way has arrived. */
static bool pool_level(struct remote *remote, const struct shards *shards, item_id item,
    channel_index channel, bool ahead)
{
    struct level_shard pools[SHARDS_MAX];
    struct level_move move;
    bool more = false;
    if (!shards_look(remote, shards, item, channel, pools))
        return false;
    for (uint32_t i = 0; i < shards->count
         && level_plan(pools, shards->count, ahead && channel != CHANNEL_LINE, &move);
         i++) {
        more |= !move_ask(remote, shards, item, channel, &move);
        pools[move.from].free -= move.quantity;
        pools[move.to].free += move.quantity;
    }
    return more;
}

static void items_level(struct remote *remote)
{
    struct level *level = remote->level;
    uint32_t left = 0;
    for (uint32_t i = 0; i < level->count; i++) {
        const item_id item = level->items[i];
        const struct shards *shards = remote_shards(remote, remote->item_sale[item]);
        struct board_update shown;
        bool more = false;
        const bool sells = board_read(&remote->board, item, &shown) && shown.gate != GATE_ENDED
            && remote->now_ms < shown.end_ms;
        for (uint32_t channel = 0; channel < CHANNELS_MAX && shards != NULL && shards->count > 1;
             channel++)
            more |= pool_level(remote, shards, item, (channel_index)channel, sells);
        level->is_listed[item] = more;
        if (more)
            level->items[left++] = item;
    }
    level->count = left;
}

void remote_level_turn(struct remote *remote)
{
    uint32_t open = 0;
    if (remote->level == NULL || remote->now_ms < remote->level->due_ms
        || !remote->config.levels(remote->config.context))
        return;
    remote->level->due_ms = remote->now_ms + LEVEL_MS;
    for (uint32_t i = 0; i < remote->partition_count; i++) {
        const uint32_t part = replica_part(remote->partitions[i].replica);
        const struct shards *shards = remote_shards(remote, part_sale(part));
        if (part_shard(part) == 0 && shards != NULL && shards->count > 1)
            open += gifts_take(remote, shards);
    }
    metric_set(&transfers_open, open);
    items_level(remote);
}
