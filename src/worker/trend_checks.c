/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/trend_checks.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "base/arena.h"
#include "base/disk.h"
#include "base/histogram.h"
#include "config/config.h"
#include "contract/board.h"
#include "worker/alarms.h"
#include "worker/task.h"

#include <string.h>

enum {
    WINDOW_MS = 5000,
    LOOK_MS = 500,
    DISK_SEGMENTS = 10, /* alarms.disk_free_bytes 0: room for so many segments */
    SALES_LOOK = 64,    /* sales that are looked at, those that start first */
    ITEMS_LOOK = 1024,
};

GAUGE(disk_free, "stampede_disk_free_bytes", "Free bytes on the disk of the data folder.");

struct trend_checks {
    struct trend_checks_config config;
    uint64_t window_ms; /* when the present window ends */
    struct histogram_counts syncs;
    uint64_t attacks, amounts, unreadable;
    uint64_t attack_ms, amount_ms, unreadable_ms; /* when they were last seen; 0: not yet */
};

/* What honest clients hardly ever get. */
static uint64_t attacks_counted(void)
{
    return metrics_total("stampede_door_total",
               " too-fast banned session-invalid pass-invalid pass-foreign pass-spent ")
        + metrics_total("stampede_limits_refused_total", " address ")
        + metrics_total("stampede_human_total", " failed spent refused malformed ")
        + metrics_total("stampede_edge_requests_refused_total", NULL)
        + metrics_total("stampede_payment_callbacks_refused_total", NULL);
}

static void sync_look(struct trend_checks *checks, uint64_t now_ms)
{
    const struct histogram *times = histogram_find("stampede_journal_sync_seconds");
    const uint64_t bound_ms = checks->config.config->alarms_sync_ms;
    struct histogram_counts now;
    if (times == NULL)
        return;
    histogram_read(times, &now);
    const uint64_t p99_ms = histogram_quantile_us(&checks->syncs, &now, 990) / 1000;
    checks->syncs = now;
    alarm_set(ALARM_JOURNAL_SLOW, trend_is_up(alarm_is_up(ALARM_JOURNAL_SLOW), p99_ms, bound_ms),
        now_ms, "a sync of the journal takes %llu ms: look at the disk of the data folder",
        (unsigned long long)p99_ms);
}

static void attack_look(struct trend_checks *checks, uint64_t now_ms)
{
    const struct config *config = checks->config.config;
    const uint64_t now = attacks_counted(), per_s = (now - checks->attacks) * 1000 / WINDOW_MS;
    checks->attacks = now;
    if (config->alarms_attack_per_s != 0 && per_s >= config->alarms_attack_per_s) {
        checks->attack_ms = now_ms;
        alarm_raise(ALARM_ATTACK, now_ms,
            "%llu requests a second were refused as too fast, banned, forged or malformed: see "
            "stampede admin bans, docs/funnel.md#switches",
            (unsigned long long)per_s);
    } else if (now_ms >= checks->attack_ms + config->alarms_calm_ms) {
        alarm_clear(ALARM_ATTACK);
    }
}

static void amount_look(struct trend_checks *checks, uint64_t now_ms)
{
    const uint64_t now = metrics_total("stampede_payment_news_total", " amount ");
    if (now != checks->amounts) {
        checks->amount_ms = now_ms;
        alarm_raise(ALARM_PAYMENT_MISMATCH, now_ms,
            "providers told of %llu payments with another amount or currency than their order has: "
            "see the log",
            (unsigned long long)now);
    } else if (now_ms >= checks->amount_ms + checks->config.config->alarms_calm_ms) {
        alarm_clear(ALARM_PAYMENT_MISMATCH);
    }
    checks->amounts = now;
}

/* Messages are only read while a partition is opened: nobody can tell that a stranger has stopped. */
static void unreadable_look(struct trend_checks *checks, uint64_t now_ms)
{
    const uint64_t now = metrics_total("stampede_broker_unreadable_total", NULL);
    if (now != checks->unreadable) {
        checks->unreadable_ms = now_ms;
        alarm_raise(ALARM_MESSAGE_UNREADABLE, now_ms,
            "%llu messages of topic %.60s are none of ours: the log says where they are",
            (unsigned long long)now, checks->config.config->queue_topic);
    } else if (now_ms >= checks->unreadable_ms + checks->config.config->alarms_calm_ms) {
        alarm_clear(ALARM_MESSAGE_UNREADABLE);
    }
    checks->unreadable = now;
}

static void lag_look(const struct trend_checks *checks, uint64_t now_ms)
{
    const uint64_t lag =
        metrics_total("stampede_order_lag", NULL) + metrics_total("stampede_partition_lag", NULL);
    alarm_set(ALARM_ORDERS_LAG,
        trend_is_up(alarm_is_up(ALARM_ORDERS_LAG), lag, checks->config.config->alarms_order_lag),
        now_ms, "%llu records are not orders yet: look at the disk and at other users of the database",
        (unsigned long long)lag);
}

static void disk_look(const struct trend_checks *checks, uint64_t now_ms)
{
    const struct config *config = checks->config.config;
    const uint64_t set = config->alarms_disk_free_bytes;
    const uint64_t bound = set != 0 ? set : DISK_SEGMENTS * config->segment_bytes;
    uint64_t bytes;
    if (!disk_room(config->folder, &bytes))
        return;
    metric_set(&disk_free, bytes);
    alarm_set(ALARM_DISK_LOW, bytes < bound, now_ms,
        "%llu MiB are free on the disk of the data folder: free space before wins stop",
        (unsigned long long)(bytes >> 20));
}

/* An item that sold out so soon after its start that nobody but machines may have been that fast. */
static bool item_is_early(const struct board *board, item_id item, uint64_t early_ms, uint64_t *after_ms)
{
    struct board_update view;
    const uint64_t sold_out_ms = board_sold_out_ms(board, item);
    if (sold_out_ms == 0 || !board_read(board, item, &view) || view.counts.free != 0
        || sold_out_ms < view.start_ms)
        return false;
    *after_ms = sold_out_ms - view.start_ms;
    return *after_ms < early_ms;
}

static void early_look(const struct trend_checks *checks, uint64_t now_ms)
{
    const struct catalog *catalog = handover_get(checks->config.catalog);
    const struct board *board = checks->config.board;
    const uint64_t early_ms = checks->config.config->alarms_sold_out_early_s * 1000;
    uint32_t looked = 0;
    const uint32_t count = catalog == NULL || early_ms == 0 ? 0 : catalog->lists->coming;
    for (uint32_t i = 0; i < count && i < SALES_LOOK; i++) {
        const struct catalog_sale *sale = catalog_sale_find(catalog, catalog->lists->by_start[i]);
        struct board_update view;
        if (sale == NULL || sale->archived)
            continue;
        catalog_sale_view(board, sale, &view);
        if (view.gate == GATE_ENDED || now_ms >= view.end_ms)
            continue;
        for (uint32_t n = 0; n < sale->item_count && looked < ITEMS_LOOK; n++, looked++) {
            uint64_t after_ms;
            if (!item_is_early(board, sale->items[n], early_ms, &after_ms))
                continue;
            alarm_raise(ALARM_SOLD_OUT_EARLY, now_ms,
                "item %u of sale %u sold out %llu s after its start: enough units? machines? see "
                "stampede admin report",
                sale->items[n], sale->id, (unsigned long long)(after_ms / 1000));
            return;
        }
    }
    alarm_clear(ALARM_SOLD_OUT_EARLY);
}

static uint64_t checks_turn(void *self, uint64_t now_ms)
{
    struct trend_checks *checks = self;
    lag_look(checks, now_ms);
    early_look(checks, now_ms);
    disk_look(checks, now_ms);
    amount_look(checks, now_ms);
    unreadable_look(checks, now_ms);
    if (now_ms >= checks->window_ms) {
        checks->window_ms = now_ms + WINDOW_MS;
        sync_look(checks, now_ms);
        attack_look(checks, now_ms);
    }
    return now_ms + LOOK_MS;
}

void trend_checks_open(struct arena *arena, const struct trend_checks_config *config, struct task *task)
{
    struct trend_checks *checks = arena_take(arena, 1, sizeof *checks);
    checks->config = *config;
    *task = (struct task){ .name = "trends", .self = checks, .turn = checks_turn };
}
