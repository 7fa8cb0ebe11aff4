/* SPDX-License-Identifier: Apache-2.0 */
/* How far database and log are, on one machine and on many, and which partitions there are. */
#include "contract/cluster_store.h"
#include "orders/reconcile_parts.h"

#include <string.h>

enum { PARTS_PER_READ = 64 };

/* All partitions in their order. */
static enum status parts_each(const struct reconcile *reconcile, void *context,
    void (*each)(void *context, const struct part_state *state))
{
    struct order_store *store = reconcile->config.store;
    struct part_state states[PARTS_PER_READ];
    uint32_t count = PARTS_PER_READ, from = 0;
    enum status status = STATUS_OK;
    while (status == STATUS_OK && count == PARTS_PER_READ) {
        status = store->ops->cluster->parts(store, from, states, PARTS_PER_READ, &count);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
            each(context, &states[i]);
            from = states[i].part + 1;
        }
    }
    return status;
}

static void seq_add(void *context, const struct part_state *state)
{
    struct position *position = context;
    position->seq += state->seq;
}

enum status reconcile_store_position(const struct reconcile *reconcile, struct position *position)
{
    struct order_store *store = reconcile->config.store;
    if (!reconcile->config.partitions)
        return store->ops->applied(store, reconcile->config.part, position);
    *position = (struct position){ .part = PART_EMBEDDED };
    return parts_each(reconcile, position, seq_add);
}

enum status reconcile_seen_mark(struct reconcile *reconcile)
{
    struct position position = { 0 };
    const enum status status = reconcile_store_position(reconcile, &position);
    const uint64_t log_end = reconcile_log_end(reconcile);
    reconcile->seen = log_end > position.seq ? log_end : position.seq;
    return status;
}

enum status reconcile_seen_reached(const struct reconcile *reconcile, bool *there)
{
    struct position position = { 0 };
    const enum status status = reconcile_store_position(reconcile, &position);
    *there = status == STATUS_OK && position.seq >= reconcile->seen
        && reconcile_log_end(reconcile) >= reconcile->seen;
    return status;
}

/* ---- the partitions ---- */

static void part_add(void *context, const struct part_state *state)
{
    struct reconcile *reconcile = context;
    uint32_t at = reconcile->part_count;
    while (at > 0 && reconcile->parts[at - 1].part >= state->part)
        at--;
    struct reconcile_part *part = &reconcile->parts[at];
    if (at == reconcile->part_count || part->part != state->part) {
        reconcile->parts_too_many |= reconcile->part_count == RECONCILE_PARTS_MAX;
        if (reconcile->parts_too_many)
            return;
        memmove(part + 1, part, (reconcile->part_count - at) * sizeof *part);
        reconcile->part_count++;
        *part = (struct reconcile_part){ .part = state->part };
    }
    part->told_seq = state->seq;
    part->is_over = false;
    part->reached = part->clean;
}

enum status reconcile_parts_read(struct reconcile *reconcile)
{
    static const struct part_state one_machine = { .part = PART_EMBEDDED };
    reconcile->parts_known = true;
    if (reconcile->config.partitions)
        return parts_each(reconcile, reconcile, part_add);
    part_add(reconcile, &one_machine);
    return STATUS_OK;
}

void reconcile_parts_clean(struct reconcile *reconcile)
{
    for (uint32_t i = 0; i < reconcile->part_count; i++) {
        struct reconcile_part *part = &reconcile->parts[i];
        part->clean = part->reached;
        part->clean_seq = part->told_seq;
    }
}
