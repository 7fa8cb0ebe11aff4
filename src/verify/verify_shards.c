/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_shards.c: items whose sale has several shards, and so stand in several logs. Their units are
 * those of all shards, and of transfers that one has given and the other has not taken. */
#include "contract/ticket_number.h"
#include "verify/verify_parts.h"

#include <inttypes.h>

/* The logs of a sale stand together. */
static const struct verify_log *logs_of_sale(
    const struct verify *verify, const struct verify_log *one, uint32_t *count)
{
    const struct verify_log *first = one, *end = one + 1;
    const sale_id sale = part_sale(one->state.part);
    while (verify->source.partitions && first > verify->logs && part_sale(first[-1].state.part) == sale)
        first--;
    while (verify->source.partitions && end < verify->logs + verify->log_count
        && part_sale(end->state.part) == sale)
        end++;
    *count = (uint32_t)(end - first);
    return first;
}

/* Given by `from`, and not taken by `to`; NULL: nothing. */
static const struct command_transfer *gift_open(
    const struct verify_log *from, const struct verify_log *to)
{
    const struct command_transfer *gift = &from->gifts[part_shard(to->state.part)];
    return gift->number > to->engine->transfers.taken[part_shard(from->state.part)] ? gift : NULL;
}

static void transit_add(
    const struct verify_log *logs, uint32_t count, item_id item, struct verify_units *sum)
{
    for (uint32_t pair = 0; pair < count * count; pair++) {
        const struct command_transfer *gift = gift_open(&logs[pair / count], &logs[pair % count]);
        if (gift == NULL || gift->item != item || gift->channel >= CHANNELS_MAX)
            continue;
        sum->counts.channel_free[gift->channel] += gift->quantity;
        sum->counts.free += gift->quantity;
        sum->counts.given += gift->quantity;
        sum->total += gift->quantity;
    }
}

bool verify_item_sum(const struct verify *verify, item_id item, struct verify_units *sum)
{
    uint32_t count = 0;
    const struct verify_log *log = verify->items[item].log;
    if (log == NULL || log->engine->items[item].sale == 0)
        return false;
    *sum = (struct verify_units){ .unit_price = log->engine->items[item].unit_price };
    log = logs_of_sale(verify, log, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct engine_item *part = &log[i].engine->items[item];
        struct item_counts counts;
        if (part->sale == 0)
            continue;
        engine_counts(part, &counts);
        item_counts_add(&sum->counts, &counts);
        sum->total += part->total;
        sum->locked += part->locked;
    }
    transit_add(log, count, item, sum);
    return true;
}

bool verify_item_broken(const struct verify *verify, item_id item)
{
    uint32_t count = 0;
    bool broken = false;
    const struct verify_log *log = logs_of_sale(verify, verify->items[item].log, &count);
    for (uint32_t i = 0; i < count; i++)
        broken |= log[i].broken;
    return broken;
}

void verify_transfer_note(struct verify *verify)
{
    const struct command *command = &verify->replay->command;
    const struct command_transfer *transfer = &command->transfer;
    const uint32_t units = (uint32_t)verify->replay->outcome.applied;
    struct verify_log *log = verify->log;
    if (command->type == COMMAND_GIVE) {
        log->gifts[transfer->shard] = *transfer;
        log->gifts[transfer->shard].quantity = units;
        log->given_units[transfer->shard] += units;
    } else if (command->type == COMMAND_TAKE) {
        log->taken_units[transfer->shard] += units;
    }
}

/* What left one shard came to the other, or is on its way. */
static void pair_check(struct verify *verify, const struct verify_log *from, const struct verify_log *to)
{
    const uint32_t giver = part_shard(from->state.part), taker = part_shard(to->state.part);
    const struct command_transfer *gift = gift_open(from, to);
    const uint64_t given = from->given_units[taker], open = gift == NULL ? 0 : gift->quantity;
    const uint64_t taken = to->taken_units[giver];
    const uint32_t numbers = from->engine->transfers.given[taker];
    if (given == 0 && taken == 0)
        return;
    verify->checks[CHECK_CONSERVATION].looked++;
    if (taken + open != given || to->engine->transfers.taken[giver] > numbers)
        verify_fail(verify, CHECK_CONSERVATION,
            "partition %u gave %" PRIu64
            " units to partition %u in %u transfers, which took %" PRIu64 " in %u",
            from->state.part, given, to->state.part, numbers, taken,
            to->engine->transfers.taken[giver]);
}

void verify_transfers_check(struct verify *verify)
{
    for (uint32_t i = 0; i < verify->log_count; i++) {
        uint32_t count = 0;
        const struct verify_log *log = logs_of_sale(verify, &verify->logs[i], &count);
        for (uint32_t to = 0; to < count; to++)
            if (!verify->logs[i].broken && !log[to].broken)
                pair_check(verify, &verify->logs[i], &log[to]);
    }
}
