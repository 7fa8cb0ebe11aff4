/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/sim_store.h"

#include <stdio.h>
#include <string.h>

static struct sim_store *of(struct order_store *store)
{
    return (struct sim_store *)store;
}

enum sim_verdict sim_store_verdict(const struct sim_store *store, const struct queue_record *record)
{
    uint64_t hash = (record->at.seq + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ store->salt;
    hash = (hash ^ hash >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 29;
    if (store->refusing == 0 || hash % store->refusing != 0)
        return SIM_TAKE;
    const uint64_t kind = hash / store->refusing % 8;
    if (record->command.type != COMMAND_RESERVE || kind < 3)
        return SIM_REFUSE_SOME_TIMES;
    return kind < 7 ? SIM_REFUSE_LIMIT : SIM_REFUSE_UNKNOWN;
}

static bool refuses(struct sim_store *store, const struct queue_record *record, uint8_t disposition,
    struct refusal *refusal)
{
    const enum sim_verdict verdict = sim_store_verdict(store, record);
    if (disposition != DISPOSE_APPLY || verdict == SIM_TAKE)
        return false;
    if (verdict == SIM_REFUSE_SOME_TIMES) {
        uint8_t *times = &store->refused[record->at.seq % SIM_STORE_RECORDS];
        if (*times >= 1 + record->at.seq % (ORDER_TRIES_MAX - 2))
            return false;
        ++*times;
    }
    refusal->kind = verdict == SIM_REFUSE_LIMIT ? REFUSAL_LIMIT : REFUSAL_UNKNOWN;
    snprintf(refusal->text, sizeof refusal->text, "the simulator does not like record %llu",
        (unsigned long long)record->at.seq);
    return true;
}

static enum status store_apply(struct order_store *base, const struct queue_record *records,
    const uint8_t *dispositions, uint32_t count, struct refusal *refusal)
{
    struct sim_store *store = of(base);
    struct position position = { 0 };
    if (store->away) {
        snprintf(refusal->text, sizeof refusal->text, "gone fishing");
        return STATUS_AWAY;
    }
    enum status status = store->inner->ops->applied(store->inner, records[0].at.part, &position);
    if (status != STATUS_OK)
        return status;
    for (uint32_t i = 0; i < count && store->refusing != 0; i++) {
        if (records[i].at.seq <= position.seq || !refuses(store, &records[i], dispositions[i], refusal))
            continue;
        /* Some databases say which row it was, some don't. */
        refusal->index = records[i].at.seq % 3 == 0 ? UINT32_MAX : i;
        return STATUS_REFUSED;
    }
    return store->inner->ops->apply(store->inner, records, dispositions, count, refusal);
}

static enum status store_applied(struct order_store *base, uint32_t part, struct position *position)
{
    if (of(base)->away)
        return STATUS_AWAY;
    return of(base)->inner->ops->applied(of(base)->inner, part, position);
}

static enum status store_stock_events(struct order_store *base, uint64_t after,
    struct stock_event *events, uint32_t max, uint32_t *count)
{
    if (of(base)->away)
        return STATUS_AWAY;
    return of(base)->inner->ops->stock_events(of(base)->inner, after, events, max, count);
}

static void store_group_begin(struct order_store *base)
{
    of(base)->inner->ops->group_begin(of(base)->inner);
}

static bool store_group_is_open(const struct order_store *base)
{
    const struct sim_store *store = (const struct sim_store *)(const void *)base;
    return store->inner->ops->group_is_open(store->inner);
}

static enum status store_group_end(struct order_store *base)
{
    return of(base)->inner->ops->group_end(of(base)->inner);
}

/* What the order side calls; the harness asks the inner store for the rest. */
static const struct order_store_ops ops = {
    .applied = store_applied,
    .apply = store_apply,
    .stock_events = store_stock_events,
    .group_begin = store_group_begin,
    .group_is_open = store_group_is_open,
    .group_end = store_group_end,
};

void sim_store_start(struct sim_store *store, struct order_store *inner, struct random *random,
    uint64_t salt, uint32_t refusing)
{
    *store = (struct sim_store){
        .store = { .ops = &ops }, .inner = inner, .random = random, .refusing = refusing, .salt = salt
    };
}
