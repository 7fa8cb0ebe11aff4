/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/db_ops.c: the operations of contract/order_store.h and contract/cluster_store.h
 * that
 * workers, log readers and pumps use. Each waits on its way there and back, where its task can wait. */
#include "tests/simulation/cluster/db_parts.h"
#include "tests/simulation/cluster/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_MS = 4000, SLOW_MS = 600 };

/* A transaction whose client has given up. */
struct late {
    struct late *next;
    uint64_t at_ms;
    uint32_t part, from;        /* an epoch is raised; or: */
    struct journal_entry entry; /* of these: */
    uint32_t count;
    char *bytes;
    struct queue_record records[];
};

static struct db_connection *of(struct order_store *store)
{
    return (struct db_connection *)store;
}

static bool chance(uint32_t one_in)
{
    return db.faults && random_below(db.random, one_in) == 0;
}

static void way(void)
{
    if (random_below(db.random, db.faults ? 2 : 8) == 0)
        task_pause(random_below(db.random, (chance(20) ? SLOW_MS : sim_net.latency_ms) + 1));
}

/* False: it can't be asked. */
static bool reached(struct order_store *store)
{
    const struct process *process = of(store)->process;
    if (!process->dead)
        way();
    return !process->dead && db.away_until_ms <= sim_now_ms && !chance(200);
}

static enum status read_answered(struct order_store *store, enum status status)
{
    if (!of(store)->process->dead)
        way();
    return of(store)->process->dead || chance(300) ? STATUS_AWAY : status;
}

static enum status write_answered(struct order_store *store, enum status status)
{
    if (!of(store)->process->dead)
        way();
    return of(store)->process->dead || chance(40) ? STATUS_UNKNOWN : status;
}

/* ---- the log ---- */

static void entry_keep(struct db_part *part, const struct journal_entry *entry, uint64_t last)
{
    char *bytes = malloc(entry->bytes.size);
    if (part->entry_count == part->entry_room) {
        part->entry_room = part->entry_room == 0 ? 32 : 2 * part->entry_room;
        part->entries = realloc(part->entries, part->entry_room * sizeof *part->entries);
    }
    invariant(bytes != NULL && part->entries != NULL);
    memcpy(bytes, entry->bytes.data, entry->bytes.size);
    part->entries[part->entry_count] = (struct db_entry){ .entry = *entry, .last_seq = last };
    part->entries[part->entry_count++].entry.bytes = span_of(bytes, entry->bytes.size);
}

/* All of its records are in: by the same entry, or by another one, which somebody else wrote. */
static enum status entry_compare(
    const struct db_part *part, const struct journal_entry *entry, struct refusal *refusal)
{
    for (uint32_t i = 0; i < part->entry_count; i++) {
        const struct journal_entry *kept = &part->entries[i].entry;
        if (kept->first_seq == entry->first_seq && kept->epoch == entry->epoch
            && span_equal(kept->bytes, entry->bytes))
            return STATUS_OK;
    }
    snprintf(refusal->text, sizeof refusal->text, "another entry is there");
    return STATUS_CONFLICT;
}

/* As store_entry_write: the fence, then the position. */
static enum status entry_apply(const struct journal_entry *entry,
    const struct queue_record *records, uint32_t count, struct refusal *refusal)
{
    struct db_part *part = db_part(entry->part);
    const uint64_t last = records[count - 1].at.seq;
    invariant(part != NULL && records[0].at.seq == entry->first_seq);
    if (part->state.epoch != entry->epoch) {
        db.fenced++;
        snprintf(refusal->text, sizeof refusal->text, "another epoch");
        return STATUS_CONFLICT;
    }
    if (last <= part->state.seq)
        return entry_compare(part, entry, refusal);
    if (entry->first_seq != part->state.seq + 1) {
        snprintf(refusal->text, sizeof refusal->text, "does not go on");
        return STATUS_CORRUPT;
    }
    entry_keep(part, entry, last);
    for (uint32_t i = 0; i < count; i++)
        db_record_apply(part, &records[i], entry->epoch);
    part->state.seq = last;
    db.commits++;
    return STATUS_OK;
}

static enum status epoch_apply(uint32_t number, uint32_t from)
{
    db_parts_make(number);
    struct db_part *part = db_part(number);
    if (part == NULL)
        return STATUS_NOT_FOUND;
    if (part->state.epoch != from)
        return STATUS_CONFLICT;
    part->state.epoch = from + 1;
    return STATUS_OK;
}

static struct late *late_make(uint32_t count)
{
    struct late *late = calloc(1, sizeof *late + count * sizeof *late->records);
    invariant(late != NULL);
    late->at_ms = sim_now_ms + random_below(db.random, LATE_MS);
    late->count = count;
    late->next = db.late;
    db.late = late;
    return late;
}

static void late_free(struct late *late)
{
    free(late->bytes);
    free(late);
}

void db_late_forget(void)
{
    for (struct late *next; db.late != NULL; db.late = next) {
        next = db.late->next;
        late_free(db.late);
    }
}

void db_turn(void)
{
    for (struct late **at = &db.late; *at != NULL;) {
        struct late *late = *at;
        struct refusal refusal;
        if (late->at_ms > sim_now_ms) {
            at = &late->next;
            continue;
        }
        *at = late->next;
        if (late->count == 0)
            (void)epoch_apply(late->part, late->from);
        else
            (void)entry_apply(&late->entry, late->records, late->count, &refusal);
        late_free(late);
    }
}

static enum status op_apply(struct order_store *store, const struct journal_entry *entry,
    const struct queue_record *records, const uint8_t *dispositions, uint32_t count,
    struct refusal *refusal)
{
    (void)dispositions;
    snprintf(refusal->text, sizeof refusal->text, "the database is away");
    if (chance(25))
        process_stop(of(store)->process);
    if (!reached(store))
        return STATUS_AWAY;
    if (chance(60)) {
        struct late *late = late_make(count);
        late->bytes = malloc(entry->bytes.size);
        invariant(late->bytes != NULL);
        memcpy(late->bytes, entry->bytes.data, entry->bytes.size);
        memcpy(late->records, records, count * sizeof *records);
        late->entry = *entry;
        late->entry.bytes.data = late->bytes;
        return STATUS_UNKNOWN;
    }
    return write_answered(store, entry_apply(entry, records, count, refusal));
}

static enum status op_epoch_raise(struct order_store *store, uint32_t part, uint32_t from)
{
    if (chance(20))
        process_stop(of(store)->process);
    if (!reached(store))
        return STATUS_AWAY;
    if (chance(20)) {
        struct late *late = late_make(0);
        late->part = part;
        late->from = from;
        return STATUS_UNKNOWN;
    }
    return write_answered(store, epoch_apply(part, from));
}

static enum status op_journal_next(struct order_store *store, uint32_t number, uint64_t after,
    struct journal_entry *entry, uint8_t *buffer)
{
    const struct db_part *part = db_part(number);
    if (of(store)->process->dead || db.away_until_ms > sim_now_ms)
        return STATUS_AWAY;
    for (uint32_t i = 0; part != NULL && i < part->entry_count; i++) {
        const struct journal_entry *found = &part->entries[i].entry;
        if (found->first_seq <= after)
            continue;
        memcpy(buffer, found->bytes.data, found->bytes.size);
        *entry = *found;
        entry->bytes = span_of(buffer, found->bytes.size);
        return read_answered(store, STATUS_OK);
    }
    return STATUS_NOT_FOUND;
}

/* ---- partitions and leases ---- */

static enum status op_part(struct order_store *store, uint32_t part, struct part_state *state)
{
    if (!reached(store))
        return STATUS_AWAY;
    const struct db_part *found = db_part(part);
    *state = found == NULL ? (struct part_state){ .part = part } : found->state;
    return read_answered(store, STATUS_OK);
}

static enum status op_applied(struct order_store *store, uint32_t part, struct position *position)
{
    struct part_state state;
    const enum status status = op_part(store, part, &state);
    if (status == STATUS_OK)
        *position = (struct position){ part, state.seq };
    return status;
}

static enum status op_parts(struct order_store *store, uint32_t from, struct part_state *states,
    uint32_t max, uint32_t *count)
{
    *count = 0;
    if (!reached(store))
        return STATUS_AWAY;
    while (*count < max) {
        const struct db_part *next = NULL;
        for (uint32_t i = 0; i < db.part_count; i++)
            if (db.parts[i].state.part >= from
                && (next == NULL || db.parts[i].state.part < next->state.part))
                next = &db.parts[i];
        if (next == NULL)
            break;
        states[(*count)++] = next->state;
        from = next->state.part + 1;
    }
    return read_answered(store, STATUS_OK);
}

static enum status op_part_want(struct order_store *store, uint32_t part)
{
    if (!reached(store))
        return STATUS_AWAY;
    db_parts_make(part);
    return write_answered(store, STATUS_OK);
}

static struct db_part *lease_part(const char *name)
{
    for (uint32_t i = 0; i < db.part_count; i++) {
        char expected[LEASE_NAME_MAX + 1];
        snprintf(expected, sizeof expected, "part %u", db.parts[i].state.part);
        if (strcmp(expected, name) == 0)
            return &db.parts[i];
    }
    return NULL;
}

static enum status op_lease_take(
    struct order_store *store, const char *name, uint64_t holder, uint32_t ms, struct lease *lease)
{
    if (!reached(store))
        return STATUS_AWAY;
    struct db_part *part = lease_part(name);
    invariant(part != NULL);
    struct lease *kept = &part->lease;
    kept->now_ms = sim_now_ms;
    const bool is_free = kept->holder == 0 || kept->holder == holder || kept->until_ms <= sim_now_ms;
    if (is_free) {
        kept->token += kept->holder != holder;
        kept->holder = holder;
        kept->until_ms = sim_now_ms + ms;
    }
    *lease = *kept;
    return write_answered(store, is_free ? STATUS_OK : STATUS_CONFLICT);
}

static enum status op_lease_give(struct order_store *store, const char *name, uint64_t holder)
{
    if (!reached(store))
        return STATUS_AWAY;
    struct db_part *part = lease_part(name);
    if (part != NULL && part->lease.holder == holder)
        part->lease.holder = part->lease.until_ms = 0;
    return write_answered(store, STATUS_OK);
}

/* ---- events ---- */

static enum status op_stock_events(struct order_store *store, uint64_t after,
    struct stock_event *events, uint32_t max, uint32_t *count)
{
    *count = 0;
    if (!reached(store))
        return STATUS_AWAY;
    for (uint64_t i = after; i < db.event_count && *count < max; i++) {
        const struct db_event *event = &db.events[i];
        if (event->confirmed)
            continue;
        events[*count] = (struct stock_event){ .id = i + 1 };
        events[(*count)++].settle = (struct command_settle){
            .ticket = event->ticket, .step = (uint8_t)event->step, .to = event->to, .let_go = event->let_go
        };
    }
    return STATUS_OK;
}

static const struct cluster_store_ops cluster_ops = {
    .lease_take = op_lease_take,
    .lease_give = op_lease_give,
    .part = op_part,
    .parts = op_parts,
    .part_want = op_part_want,
    .epoch_raise = op_epoch_raise,
    .apply = op_apply,
    .journal_next = op_journal_next,
};
static const struct order_store_ops store_ops = {
    .cluster = &cluster_ops,
    .applied = op_applied,
    .stock_events = op_stock_events,
};

void db_connect(struct db_connection *connection, struct process *process)
{
    *connection = (struct db_connection){ .store = { .ops = &store_ops }, .process = process };
}
