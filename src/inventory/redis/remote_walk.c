/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote_walk.c: operators' commands. They go to the shards of a sale one after the other,
 * from shard 0 on, and each answer is waited for until it is kept. So a command that is repeated with its key
 * after a failure comes to the same in the shards that it had reached, and goes on in the others.
 *
 *   SALE, GATE      as they are
 *   USERS           each shard gets those who are at home there
 *   PREHEAT         each shard gets its share; shards that have the item already are passed over
 *   ADJUST          more units: each shard its share. Fewer: what is free in the first shard, then what is
 *                   still missing in the next one
 *   MOVE            like fewer
 *
 * A refusal ends the walk. A sale that has no partition yet waits for it. */
#include "base/status.h"
#include "contract/ticket_number.h"
#include "inventory/engine.h"
#include "inventory/redis/remote_call.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"

enum { WALKS_MAX = 64 };

struct walk {
    bool used;
    bool asked; /* the present shard was asked, and has not answered */
    bool done;  /* a shard has changed something */
    uint32_t shard;
    uint64_t begun_ms;
    struct asker asker;
    struct command command;
    struct outcome sum;
};

size_t remote_walks_bytes(void)
{
    return WALKS_MAX * sizeof(struct walk);
}

void remote_walks_create(struct remote *remote)
{
    remote->walks = arena_take(&remote->arena, WALKS_MAX, sizeof *remote->walks);
}

bool remote_walk_begin(struct remote *remote, const struct asker *asker, const struct command *command)
{
    for (uint32_t i = 0; i < WALKS_MAX; i++) {
        struct walk *walk = &remote->walks[i];
        if (walk->used)
            continue;
        *walk = (struct walk){
            .used = true, .begun_ms = remote->now_ms, .asker = *asker, .command = *command
        };
        remote->walks_used++;
        return true;
    }
    return false;
}

static void walk_end(struct remote *remote, struct walk *walk, const struct outcome *outcome)
{
    walk->used = false;
    remote->walks_used--;
    remote_answer(remote, &walk->asker, outcome);
}

static void walk_refuse(struct remote *remote, struct walk *walk, enum answer answer, enum conflict conflict)
{
    const struct outcome outcome = { .answer = (uint8_t)answer, .detail = (uint8_t)conflict };
    walk_end(remote, walk, &outcome);
}

/* ---- what each shard is asked ---- */

static uint32_t share(uint32_t units, uint32_t shard, uint32_t shards)
{
    return units / shards + (shard < units % shards);
}

static bool users_pick(struct command_users *users, uint32_t shard, uint32_t shards)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < users->count; i++)
        if (shard_of_user(users->users[i], shards) == shard)
            users->users[count++] = users->users[i];
    for (uint32_t i = count; i < users->count; i++)
        users->users[i] = 0;
    const bool some = count > 0 || (users->count == 0 && shard == 0);
    users->count = count;
    return some;
}

/* What is locked or was sold before stays out of the pools: shard 0 has it in its books. */
static void preheat_share(struct command_preheat *preheat, uint32_t shard, uint32_t shards)
{
    if (shard > 0)
        preheat->locked = preheat->sold_before = 0;
    preheat->safety = share(preheat->safety, shard, shards);
    preheat->total = preheat->locked + preheat->sold_before + preheat->safety;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++) {
        preheat->channel_units[channel] = share(preheat->channel_units[channel], shard, shards);
        preheat->total += preheat->channel_units[channel];
    }
}

static bool units_split(const struct walk *walk, struct command *command, uint32_t shards)
{
    const int64_t done = walk->sum.applied < 0 ? -(int64_t)walk->sum.applied : walk->sum.applied;
    if (command->type == COMMAND_MOVE) {
        command->move.quantity -= (uint32_t)done;
        return command->move.quantity > 0;
    }
    if (command->adjust.delta > 0)
        command->adjust.delta = (int32_t)share((uint32_t)command->adjust.delta, walk->shard, shards);
    else
        command->adjust.delta = (int32_t)(command->adjust.delta + done);
    return command->adjust.delta != 0;
}

/* The command of the present shard; false: it has nothing to do. */
static bool shard_command(const struct walk *walk, const struct shards *shards, struct command *command)
{
    struct board_update view;
    *command = walk->command;
    switch (command->type) {
    case COMMAND_USERS:
        return users_pick(&command->users, walk->shard, shards->count);
    case COMMAND_PREHEAT:
        if (command->preheat.change)
            return true;
        preheat_share(&command->preheat, walk->shard, shards->count);
        return !replica_item(shards->list[walk->shard]->replica, command->preheat.item, &view);
    case COMMAND_ADJUST:
    case COMMAND_MOVE:
        return units_split(walk, command, shards->count);
    default:
        return true;
    }
}

/* ---- commands that are judged for all shards together ---- */

struct totals {
    uint64_t total, locked;
    uint32_t shards; /* that have the item */
};

static struct totals totals_of(const struct shards *shards, item_id item)
{
    struct totals totals = { 0 };
    for (uint32_t i = 0; i < shards->count; i++) {
        uint32_t total, locked;
        if (!replica_totals(shards->list[i]->replica, item, &total, &locked))
            continue;
        totals.total += total;
        totals.locked += locked;
        totals.shards++;
    }
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        totals.total += shards_in_transit(shards, NULL, item, (channel_index)channel);
    return totals;
}

/* An item that all shards have: shard 0 says whether its terms are the same, once the totals are. */
static enum conflict preheat_again(const struct shards *shards, struct command_preheat *preheat)
{
    const struct totals totals = totals_of(shards, preheat->item);
    if (preheat->change || totals.shards < shards->count)
        return CONFLICT_NONE;
    return totals.total == preheat->total && totals.locked == preheat->locked ? CONFLICT_NONE
                                                                              : CONFLICT_OTHER_TOTAL;
}

/* A price changes while nobody has a unit: in all shards, or in none. */
static bool has_buyers(const struct shards *shards, const struct command_preheat *change)
{
    bool buyers = false, other = false;
    for (uint32_t i = 0; i < shards->count; i++) {
        struct board_update view;
        if (!replica_item(shards->list[i]->replica, change->item, &view))
            continue;
        buyers |= view.counts.held + view.counts.sold + view.counts.written_off > 0;
        other |= view.unit_price != change->unit_price || view.limit_per_user != change->limit_per_user;
    }
    return buyers && other;
}

/* False: it was refused. */
static bool walk_judge(struct remote *remote, struct walk *walk, const struct shards *shards)
{
    struct command *command = &walk->command;
    if (shards->count == 1)
        return true;
    if (command->type == COMMAND_PREHEAT) {
        const enum conflict conflict = command->preheat.change && has_buyers(shards, &command->preheat)
            ? CONFLICT_HAS_BUYERS
            : preheat_again(shards, &command->preheat);
        if (conflict != CONFLICT_NONE)
            walk_refuse(remote, walk, ANSWER_CONFLICT, conflict);
        return conflict == CONFLICT_NONE;
    }
    if (command->type == COMMAND_ADJUST && command->adjust.delta > 0
        && totals_of(shards, command->adjust.item).total + (uint64_t)command->adjust.delta > UNITS_MAX) {
        walk_refuse(remote, walk, ANSWER_BAD_QUANTITY, CONFLICT_NONE);
        return false;
    }
    return true;
}

/* ---- the walk ---- */

static bool shards_are_there(const struct shards *shards)
{
    for (uint32_t i = 0; shards != NULL && i < shards->count; i++)
        if (shards->list[i] == NULL)
            return false;
    return shards != NULL && shards->count > 0;
}

/* All shards have the item: the last word is shard 0's, about terms. */
static void preheat_ask_terms(const struct walk *walk, const struct shards *shards, struct command *command)
{
    struct command_preheat *preheat = &command->preheat;
    *command = walk->command;
    invariant(replica_totals(shards->list[0]->replica, preheat->item, &preheat->total, &preheat->locked));
}

static bool shard_ask(struct remote *remote, struct walk *walk, struct partition *partition,
    const struct command *command)
{
    const struct asker asker = { .tag = (uint64_t)(walk - remote->walks), .kind = ASKER_WALK };
    walk->asked = true; /* it may be answered at once */
    if (remote_command(remote, partition, &asker, command))
        return true;
    walk->asked = false;
    return false;
}

static void walk_step(struct remote *remote, struct walk *walk)
{
    const struct shards *shards = remote_shards_of(remote, &walk->command);
    struct command command;
    if (!shards_are_there(shards)) {
        if (remote->now_ms >= walk->begun_ms + REMOTE_CONTROL_MS)
            walk_refuse(remote, walk, ANSWER_UNAVAILABLE, CONFLICT_NONE);
        return;
    }
    if (walk->shard == 0 && !walk_judge(remote, walk, shards))
        return;
    while (walk->shard < shards->count && shards->count > 1 && !shard_command(walk, shards, &command))
        walk->shard++;
    if (shards->count == 1 && walk->shard == 0)
        command = walk->command;
    if (walk->shard < shards->count) {
        (void)!shard_ask(remote, walk, shards->list[walk->shard], &command); /* no place: the next turn */
        return;
    }
    if (walk->command.type == COMMAND_PREHEAT && !walk->done && walk->sum.answer == 0) {
        preheat_ask_terms(walk, shards, &command);
        (void)!shard_ask(remote, walk, shards->list[0], &command);
        return;
    }
    if (shards->count > 1)
        walk->sum.answer = walk->done ? ANSWER_DONE : ANSWER_UNCHANGED;
    walk_end(remote, walk, &walk->sum);
}

void remote_walks_send(struct remote *remote)
{
    for (uint32_t i = 0; i < WALKS_MAX && remote->walks_used > 0; i++)
        if (remote->walks[i].used && !remote->walks[i].asked)
            walk_step(remote, &remote->walks[i]);
}

void remote_walk_answered(struct remote *remote, uint64_t index, const struct outcome *outcome)
{
    struct walk *walk = &remote->walks[index];
    invariant(index < WALKS_MAX && walk->used && walk->asked);
    const int32_t applied = walk->sum.applied;
    const bool repeated = walk->sum.repeated || walk->sum.answer == ANSWER_NONE;
    walk->asked = false;
    if (outcome->answer != ANSWER_DONE && outcome->answer != ANSWER_UNCHANGED) {
        walk_end(remote, walk, outcome);
        return;
    }
    walk->done |= outcome->answer == ANSWER_DONE;
    walk->sum = *outcome;
    walk->sum.applied += applied;
    walk->sum.repeated = repeated && outcome->repeated;
    walk->shard++;
}
