/* SPDX-License-Identifier: Apache-2.0 */
/* What a shop with several channels does to its units while they sell: shares them out anew
 * (policy/allocation.h), gives back what a channel has not sold, takes what a channel reports as sold
 * elsewhere, raises and releases the safety stock, and takes units out of it. All of it is moves and
 * adjustments that are worked out from counts which may be old by the time that the engine sees them. */
#include "policy/allocation.h"
#include "policy/safety_stock.h"
#include "tests/simulation/world.h"

#include <stdio.h>
#include <string.h>

static const char reporter[] = "marketplace";

static struct command move_make(item_id item, uint32_t from, uint32_t to, uint32_t units)
{
    return (struct command){ .type = COMMAND_MOVE,
        .move = { .item = item, .from = (channel_index)from, .to = (channel_index)to, .quantity = units } };
}

static struct command adjust_make(item_id item, uint32_t channel, uint32_t taken)
{
    return (struct command){ .type = COMMAND_ADJUST,
        .adjust = {
            .item = item, .channel = (channel_index)channel, .delta = -(int32_t)taken, .gone = true } };
}

/* The units of all channels stay the same in number, whatever the shares. */
static void shares_apply(struct world *world, item_id id)
{
    const struct model_item *item = &world->model.items[id];
    uint32_t shares[CHANNELS_MAX], now[CHANNELS_MAX], wanted[CHANNELS_MAX], before = 0, after = 0;
    struct allocation_move moves[CHANNELS_MAX];
    for (uint32_t i = 0; i < world->channel_count; i++) {
        shares[i] = (uint32_t)world_below(world, SHARE_ONE + 1);
        now[i] = item->free[i];
        before += now[i];
    }
    allocation_units(before, shares, world->channel_count, wanted);
    for (uint32_t i = 0; i < world->channel_count; i++)
        after += wanted[i];
    if (before != after)
        violation("I1 units are conserved", "%u units are shared out as %u", before, after);
    const uint32_t count = allocation_moves(now, wanted, world->channel_count, moves);
    for (uint32_t i = 0; i < count; i++) {
        const struct command command = move_make(id, moves[i].from, moves[i].to, moves[i].quantity);
        if (!client_ask(world, 0, &command))
            return; /* the server is away in the middle of it */
    }
}

/* A report has a reference of its own: repeated (clients.c) it takes nothing more. */
static void report_name(struct world *world, struct command *command)
{
    snprintf(command->origin.actor, sizeof command->origin.actor, "%s", reporter);
    command->origin.key = 1 + world_below(world, UINT64_MAX - 1);
    command->origin.request = (uint64_t) - (int64_t)command->adjust.delta;
}

void channels_told(struct world *world, const struct command *command, const struct outcome *told)
{
    if (command->type != COMMAND_ADJUST || strcmp(command->origin.actor, reporter) != 0
        || (told->answer != ANSWER_DONE && told->answer != ANSWER_UNCHANGED))
        return;
    const int64_t taken = -(int64_t)told->applied, reported = -(int64_t)command->adjust.delta;
    if (taken < 0 || taken > reported)
        violation("channels sell their own units", "%d units are reported, %d are taken",
            (int)reported, (int)taken);
    if (taken < reported)
        world_remedies(world, command->adjust.item, (uint32_t)(reported - taken));
}

void world_channels_act(struct world *world)
{
    const item_id id = (item_id)(1 + world_below(world, world->item_count));
    const struct model_item *item = &world->model.items[id];
    const uint32_t channel = (uint32_t)world_below(world, world->channel_count);
    const struct safety_bounds bounds = { 50, 150 };
    struct command command;
    if (item->sale == 0)
        return;
    const uint32_t suggested = safety_stock_suggest(
        &(struct safety_history){ .sold = 100, .returned = world_below(world, 30) }, &bounds, item->given)
                                   .units;
    switch (world_below(world, 5)) {
    case 0:
        shares_apply(world, id);
        return;
    case 1: /* its time is over */
        command = move_make(id, channel == 0 ? 1 : channel, 0, item->free[channel]);
        break;
    case 2: /* now and then it reports more than it had */
        command = adjust_make(id, channel, 1 + (uint32_t)world_below(world, item->free[channel] + 3));
        report_name(world, &command);
        break;
    case 3:
        command = suggested > item->safety
            ? move_make(id, channel, CHANNEL_SAFETY, suggested - item->safety)
            : move_make(id, CHANNEL_SAFETY, channel, item->safety - suggested);
        break;
    default: /* an exchange */
        command = adjust_make(id, CHANNEL_SAFETY, 1);
        break;
    }
    (void)client_ask(world, 0, &command);
}
