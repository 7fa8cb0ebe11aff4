/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/merge.h"

#include <stdio.h>

static enum status conflict(struct merge *merge, const char *what, uint32_t number)
{
    snprintf(merge->what, sizeof merge->what, "%s %u", what, number);
    return STATUS_CONFLICT;
}

/* ---- sales and items ---- */

static bool has_room(const struct engine_sale *sale)
{
    return sale->arrived > 0 || sale->draw_done;
}

/* The terms are the same in all shards of a sale; its waiting room is in one of them. */
static enum status sale_add(struct merge *merge, sale_id id, const struct engine_sale *from)
{
    struct engine_sale *to = &merge->to->sales[id];
    const uint32_t items = to->items;
    const struct engine_sale before = *to;
    if (!before.defined) {
        *to = *from;
    } else if (has_room(from) && has_room(&before)) {
        return conflict(merge, "two shards have a waiting room of sale", id);
    } else if (has_room(from)) {
        to->arrived = from->arrived;
        to->drawn = from->drawn;
        to->head = from->head;
        to->draw_done = from->draw_done;
    }
    to->items = items;
    return STATUS_OK;
}

static void draws_add(struct engine_item *to, const struct engine_item *from)
{
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++) {
        if (from->draw_until_ms[channel] <= to->draw_until_ms[channel])
            continue;
        to->draw_until_ms[channel] = from->draw_until_ms[channel];
        to->draw_seed[channel] = from->draw_seed[channel];
    }
}

static enum status item_add(struct merge *merge, item_id id, const struct engine_item *from)
{
    struct engine_item *to = &merge->to->items[id];
    if (from->free[CHANNEL_LINE] > 0)
        return conflict(merge, "units lie ready for somebody who waits at another shard, of item", id);
    if (to->sale == 0) {
        *to = *from;
        merge->to->sales[from->sale].items++;
        return STATUS_OK;
    }
    if (to->sale != from->sale || to->unit_price != from->unit_price
        || to->limit_per_user != from->limit_per_user || to->pay_window_ms != from->pay_window_ms)
        return conflict(merge, "shards have other terms of item", id);
    const struct {
        uint32_t *sum, more;
    } units[] = { { &to->total, from->total }, { &to->locked, from->locked },
        { &to->given, from->given }, { &to->held, from->held }, { &to->sold, from->sold },
        { &to->safety, from->safety }, { &to->written_off, from->written_off } };
    for (uint32_t i = 0; i < sizeof units / sizeof *units; i++)
        *units[i].sum += units[i].more;
    for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
        to->free[channel] += from->free[channel];
    draws_add(to, from);
    return STATUS_OK;
}

/* ---- tickets, users, places, keys ---- */

static enum status tickets_add_all(struct merge *merge, const struct tickets *from)
{
    struct tickets *to = &merge->to->tickets;
    if (merge->last + from->last >= TICKET_NUMBER_MAX)
        return conflict(merge, "one machine has no numbers for so many tickets; partitions end at", 0);
    for (uint64_t i = 0; i < from->rows_end; i++) {
        struct ticket_row row = from->rows[i];
        if (!row.used)
            continue;
        const ticket_number number = merge->last + tickets_number(from, &from->rows[i]);
        row.used = row.moved = 0;
        if (row.key != 0 && tickets_find_key(to, row.key) != 0) {
            row.key = 0;
            merge->keys_dropped++;
        }
        if (to->rows_end == to->capacity || !tickets_restore_row(to, &row, (uint32_t)number))
            return STATUS_FULL;
    }
    return STATUS_OK;
}

/* A user is at home in one shard of a sale, but a list of eligible users may be in several. */
static enum status buyers_add_all(struct merge *merge, const struct buyers *from)
{
    struct buyers *to = &merge->to->buyers;
    for (uint64_t i = 0; i < from->rows_end; i++) {
        struct buyer_row row = from->rows[i];
        if (row.scope == 0)
            continue;
        row.last += row.last == 0 ? 0 : (uint32_t)merge->last;
        struct buyer_row *there = buyers_find(to, row.scope, row.user);
        if (there == NULL) {
            if (!buyers_restore_row(to, &row, buyers_cool_until_s(from, &from->rows[i])))
                return STATUS_FULL;
            continue;
        }
        if (row.returns > 0 && there->returns > 0)
            return conflict(merge, "a user is at home in two shards, of scope", row.scope);
        buyer_use(there, row.used);
        there->last = row.last > there->last ? row.last : there->last;
        if (row.returns > 0) {
            there->returns = row.returns & BUYER_RETURNS_MAX;
            to->cool_until_s[there - to->rows] = buyers_cool_until_s(from, &from->rows[i]);
        }
    }
    return STATUS_OK;
}

static enum status places_add_all(struct merge *merge, const struct places *from)
{
    struct places *to = &merge->to->places;
    for (uint64_t i = from->begin; i < from->count; i++) {
        const struct place_row *row = places_at(from, i);
        if (row->sale == 0)
            continue;
        if (places_full(to))
            return STATUS_FULL;
        if (places_find(to, row->sale, row->user) != UINT64_MAX)
            return conflict(merge, "somebody has two places in the waiting room of sale", row->sale);
        places_add(to, row->sale, row->user, row->number);
    }
    return STATUS_OK;
}

/* Those of later partitions drive out those of earlier ones, as later commands do. */
static void keys_add_all(struct merge *merge, const struct engine_keys *from)
{
    struct engine_keys *to = &merge->to->keys;
    const uint64_t kept = engine_keys_kept(from->count);
    for (uint64_t i = from->count - kept; i < from->count; i++)
        to->rows[to->count++ % COMMAND_KEYS_MAX] = from->rows[i % COMMAND_KEYS_MAX];
}

enum status merge_add(struct merge *merge, const struct engine *from)
{
    enum status status = STATUS_OK;
    const struct engine_config *room = &merge->to->config;
    if (from->config.sales_max > room->sales_max || from->config.items_max > room->items_max)
        return STATUS_FULL;
    for (sale_id id = 1; id < from->config.sales_max && status == STATUS_OK; id++)
        if (from->sales[id].defined)
            status = sale_add(merge, id, &from->sales[id]);
    for (item_id id = 1; id < from->config.items_max && status == STATUS_OK; id++)
        if (from->items[id].sale != 0)
            status = item_add(merge, id, &from->items[id]);
    if (status == STATUS_OK)
        status = tickets_add_all(merge, &from->tickets);
    if (status == STATUS_OK)
        status = buyers_add_all(merge, &from->buyers);
    if (status == STATUS_OK)
        status = places_add_all(merge, &from->places);
    if (status != STATUS_OK)
        return status;
    keys_add_all(merge, &from->keys);
    merge->last += from->tickets.last;
    return STATUS_OK;
}

enum status merge_end(struct merge *merge)
{
    if (!tickets_restore_end(&merge->to->tickets, merge->last, 0)
        || !buyers_restore_end(&merge->to->buyers, 0))
        return STATUS_CORRUPT;
    const char *wrong = engine_check(merge->to);
    if (wrong == NULL)
        return STATUS_OK;
    snprintf(merge->what, sizeof merge->what, "%s", wrong);
    return STATUS_CONFLICT;
}
