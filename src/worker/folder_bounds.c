/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/folder_bounds.h"

#include "base/arena.h"
#include "base/metrics.h"
#include "config/config.h"
#include "contract/bans.h"
#include "contract/board.h"
#include "contract/restore.h"
#include "worker/alarms.h"
#include "worker/ban_list.h"
#include "worker/task.h"

#include <string.h>

enum { LOOK_MS = 1000, NEARLY_FULL_PERCENT = 80 };

/* A row each: name; what its metrics are labelled with. */
#define BOUND_LIST(X) \
    X(TICKETS, "tickets") \
    X(PLACES, "places") \
    X(SALES, "sales") \
    X(ITEMS, "items") \
    X(BANS, "bans")
enum bound {
#define BOUND(bound, label) BOUND_##bound,
    BOUND_LIST(BOUND)
#undef BOUND
        BOUNDS,
};

#define USED(bound, label) \
    [BOUND_##bound] = METRIC_ROW(METRIC_GAUGE, "stampede_bound_used", "of=\"" label "\"", \
        "How much of a bound of the data folder is used."),
static struct metric used_metrics[BOUNDS] = { BOUND_LIST(USED) };
METRIC_TABLE(used_metrics);
#define MAX(bound, label) \
    [BOUND_##bound] = METRIC_ROW(METRIC_GAUGE, "stampede_bound_max", "of=\"" label "\"", \
        "The bound: what is used can't be more."),
static struct metric max_metrics[BOUNDS] = { BOUND_LIST(MAX) };
METRIC_TABLE(max_metrics);

struct folder_bounds {
    struct folder_bounds_config config;
    uint64_t used[BOUNDS], max[BOUNDS];
};

static uint64_t sequence_last(const struct store_sequence *sequences, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sequences[i].name, name) == 0)
            return sequences[i].last;
    return 0;
}

/* Numbers of sales and items are never given again: what counts is the highest. */
static void used_read(struct folder_bounds *bounds)
{
    struct order_store *store = bounds->config.store;
    const struct board *board = bounds->config.board;
    struct store_sequence sequences[SEQUENCES_MAX];
    uint32_t count = 0;
    bounds->used[BOUND_TICKETS] = atomic_load_explicit(&board->tickets, memory_order_relaxed);
    const uint64_t freed = atomic_load_explicit(&board->places_freed, memory_order_relaxed);
    const uint64_t places = atomic_load_explicit(&board->places_durable, memory_order_relaxed);
    bounds->used[BOUND_PLACES] = places > freed ? places - freed : 0;
    bounds->used[BOUND_BANS] = ban_list_count(bounds->config.bans);
    if (store->ops->restore->sequences(store, sequences, SEQUENCES_MAX, &count) != STATUS_OK)
        return; /* next time */
    bounds->used[BOUND_SALES] = sequence_last(sequences, count, "sales");
    bounds->used[BOUND_ITEMS] = sequence_last(sequences, count, "items");
}

static bool is_nearly_full(const struct folder_bounds *bounds, enum bound bound)
{
    return bounds->max[bound] > 0 && bounds->used[bound] * 100 >= bounds->max[bound] * NEARLY_FULL_PERCENT;
}

/* Tickets have an alarm of their own: what of them can be reclaimed counts there (alarm_checks.c). */
static void alarms_set(const struct folder_bounds *bounds, uint64_t now_ms)
{
    const unsigned long long places = bounds->used[BOUND_PLACES], sales = bounds->used[BOUND_SALES],
                             items = bounds->used[BOUND_ITEMS], bans = bounds->used[BOUND_BANS];
    alarm_set(ALARM_PLACES, is_nearly_full(bounds, BOUND_PLACES), now_ms,
        "%llu of %llu places in waiting rooms are used: raise room.places_max and restart before "
        "nobody can enter a room",
        places, (unsigned long long)bounds->max[BOUND_PLACES]);
    alarm_set(ALARM_SALES, is_nearly_full(bounds, BOUND_SALES), now_ms,
        "%llu of %llu sales are used: raise data.sales_max (%u at most) and restart, or plan a new "
        "data folder",
        sales, (unsigned long long)bounds->max[BOUND_SALES], SALES_LIMIT);
    alarm_set(ALARM_ITEMS, is_nearly_full(bounds, BOUND_ITEMS), now_ms,
        "%llu of %llu items are used: raise data.items_max (%u at most) and restart, or plan a new "
        "data folder",
        items, (unsigned long long)bounds->max[BOUND_ITEMS], ITEMS_LIMIT);
    alarm_set(ALARM_BANS, is_nearly_full(bounds, BOUND_BANS), now_ms,
        "%llu of %llu bans are in force: ban blocks instead of single addresses, or lift some",
        bans, (unsigned long long)bounds->max[BOUND_BANS]);
}

static uint64_t bounds_turn(void *self, uint64_t now_ms)
{
    struct folder_bounds *bounds = self;
    used_read(bounds);
    for (uint32_t i = 0; i < BOUNDS; i++) {
        metric_set(&used_metrics[i], bounds->used[i]);
        metric_set(&max_metrics[i], bounds->max[i]);
    }
    alarms_set(bounds, now_ms);
    return now_ms + LOOK_MS;
}

void folder_bounds_open(struct arena *arena, const struct folder_bounds_config *config, struct task *task)
{
    struct folder_bounds *bounds = arena_take(arena, 1, sizeof *bounds);
    bounds->config = *config;
    bounds->max[BOUND_TICKETS] = config->config->tickets_max;
    bounds->max[BOUND_PLACES] = config->config->room_places_max;
    bounds->max[BOUND_SALES] = config->config->sales_max - 1; /* numbers begin at 1 */
    bounds->max[BOUND_ITEMS] = config->config->items_max - 1;
    bounds->max[BOUND_BANS] = BANS_MAX;
    *task = (struct task){ .name = "bounds", .self = bounds, .turn = bounds_turn };
}
