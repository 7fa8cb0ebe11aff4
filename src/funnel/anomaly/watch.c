/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/anomaly/watch.h"

size_t watch_bytes(void)
{
    return sizeof(struct watch) + 2 * sizeof(struct watch_table) + 256;
}

struct watch *watch_create(struct arena *arena, struct hash_key key, uint32_t early_ms)
{
    struct watch *watch = arena_take(arena, 1, sizeof *watch);
    watch->key = key;
    watch->early_ms = early_ms;
    for (uint32_t i = 0; i < 2; i++)
        watch->tables[i] = arena_take(arena, 1, sizeof *watch->tables[i]);
    return watch;
}

static bool row_is(const struct watch_row *row, const struct address *address, user_id user)
{
    return row->user == user && (user != 0 || address_equal(&row->address, address));
}

/* The row of this address or user, made if there is none. */
static inline __attribute__((always_inline)) struct watch_row *row_find(
    struct watch_table *table, uint64_t hash, const struct address *address, user_id user)
{
    struct watch_row *bucket = &table->rows[hash & (WATCH_ROWS - WATCH_WAYS)], *least = bucket;
    for (uint32_t way = 0; way < WATCH_WAYS; way++) {
        struct watch_row *row = &bucket[way];
        if (row->noted != 0 && row_is(row, address, user))
            return row;
        if (row->noted < least->noted)
            least = row;
    }
    table->lost += least->noted != 0;
    *least = (struct watch_row){ .address = *address, .user = user };
    return least;
}

static void asked_note(struct watch_row *row, uint64_t now_ms)
{
    const uint64_t apart_ms = row->asked == 0 ? 0 : now_ms - row->asked_last_ms;
    if (row->asked == 0)
        row->asked_first_ms = now_ms;
    row->asked_last_ms = now_ms;
    row->asked_squares += apart_ms * apart_ms;
    row->asked++;
}

static void early_note(struct watch_row *row, uint64_t start_ms)
{
    if (row->start_ms == 0)
        row->noted += WATCH_EARLY_WEIGHT;
    row->start_ms = start_ms;
}

static void mark(struct watch_row *row, uint64_t hash)
{
    row->marks[hash % WATCH_MARKS / 64] |= 1ull << (hash % 64);
}

static void address_note(struct watch_table *table, const struct watch_event *event,
    const struct address *group, uint64_t hash)
{
    struct watch_row *row = row_find(table, hash, group, 0);
    row->noted++;
    if (event->signal == WATCH_TOO_FAST)
        row->too_fast++;
    else if (event->signal == WATCH_FAILED)
        row->failed++;
    else if (event->signal == WATCH_SEEN)
        mark(row, event->user);
    else
        asked_note(row, event->now_ms);
}

static inline struct watch_row *user_find(struct watch_table *table, user_id user)
{
    static const struct address nowhere;
    struct watch_row *row = row_find(table, user, &nowhere, user);
    row->noted++;
    return row;
}

static void user_note(struct watch_table *table, const struct watch_event *event, uint64_t address_hash)
{
    struct watch_row *row = user_find(table, event->user);
    if (event->signal == WATCH_TOO_FAST)
        row->too_fast++;
    else
        mark(row, address_hash >> 32); /* other bits than those that found the bucket */
}

static struct watch_table *table_now(const struct watch *watch)
{
    return watch->tables[atomic_load_explicit(&watch->given, memory_order_relaxed) & 1];
}

void watch_purchase(struct watch *watch, user_id user, uint64_t now_ms, uint64_t start_ms)
{
    struct watch_row *row = user_find(table_now(watch), user);
    asked_note(row, now_ms);
    if (start_ms != 0 && now_ms - start_ms <= watch->early_ms)
        early_note(row, start_ms);
}

void watch_note(struct watch *watch, const struct watch_event *event)
{
    struct watch_table *table = table_now(watch);
    const bool of_user = event->user != 0 && event->signal != WATCH_FAILED;
    const bool of_address = !of_user || event->signal == WATCH_SEEN;
    invariant(event->signal != WATCH_NOTHING && event->signal < WATCH_SIGNALS);
    invariant(event->signal != WATCH_ASKED || event->user == 0);
    uint64_t hash = 0;
    if (of_address) {
        const struct address group = address_group(&event->client, ADDRESS_GROUP_BITS);
        hash = address_hash(watch->key, &group);
        address_note(table, event, &group, hash);
    }
    if (of_user)
        user_note(table, event, hash);
}

const struct watch_table *watch_take(struct watch *watch)
{
    const uint32_t wanted = atomic_load_explicit(&watch->wanted, memory_order_relaxed);
    const uint32_t given = atomic_load_explicit(&watch->given, memory_order_acquire);
    return wanted == 0 || given != wanted ? NULL : watch->tables[(given & 1) ^ 1];
}

void watch_give(struct watch *watch)
{
    const uint32_t wanted = atomic_load_explicit(&watch->wanted, memory_order_relaxed);
    invariant(atomic_load_explicit(&watch->given, memory_order_acquire) == wanted);
    memset(watch->tables[(wanted & 1) ^ 1], 0, sizeof *watch->tables[0]);
    atomic_store_explicit(&watch->wanted, wanted + 1, memory_order_release);
}
