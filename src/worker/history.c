/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/history.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "base/arena.h"
#include "base/histogram.h"
#include "base/json_write.h"
#include "contract/board.h"
#include "worker/task.h"

#include <stdio.h>

enum { ITEMS_MAX = 24, LOOK_MS = 1000 };
static const char *const timed[] = { "stampede_purchase_seconds", "stampede_journal_sync_seconds" };
enum { TIMED = sizeof timed / sizeof *timed };

/* What is kept of /metrics: the sum of these series of one name. */
struct figure {
    const char *name, *metric;
    const char *labels; /* values of the label, each between spaces; NULL: all; "!…": all but these */
};
static const struct figure figures[] = {
    { "requests", "stampede_edge_requests_total", NULL },
    { "arrived", "stampede_door_total", NULL },
    { "asked", "stampede_door_total", " go " },
    { "won", "stampede_purchases_total", " won " },
    { "sold_out", "stampede_door_total", " sold-out no-chance " },
    { "sold_out", "stampede_purchases_total", " sold-out no-chance " },
    { "too_fast", "stampede_door_total", " too-fast too-popular banned " },
    { "too_fast", "stampede_purchases_total", " too-fast too-popular banned " },
    { "closed", "stampede_door_total", " not-started ended paused unavailable unknown-item " },
    { "closed", "stampede_purchases_total", " not-started ended paused unavailable unknown-item " },
    { "refused", "stampede_door_total",
        "! go sold-out no-chance too-fast too-popular banned not-started ended paused unavailable "
        "unknown-item " },
    { "refused", "stampede_purchases_total",
        "! won deciding sold-out no-chance too-fast too-popular banned not-started ended paused "
        "unavailable unknown-item " },
    { "ordered", "stampede_orders_written_total", NULL },
    { "paid", "stampede_payment_news_total", " paid " },
    { "paid", "stampede_orders_reported_paid_total", NULL },
    { "journal", "stampede_journal_durable_position", NULL },
    { "lag", "stampede_order_lag", NULL },
};
enum { FIGURES = sizeof figures / sizeof *figures };

struct item_free {
    item_id item;
    uint32_t free;
};
struct row {
    uint64_t time_ms;
    uint64_t figures[FIGURES];
    uint32_t p50_us[TIMED], p99_us[TIMED];
    uint32_t line; /* people in all waiting rooms */
    uint32_t item_count;
    struct item_free items[ITEMS_MAX];
};
struct ring {
    uint32_t step_s, size;
    uint64_t written; /* rows in all; the last `size` are here */
    uint64_t due_ms;
    struct histogram_counts before[TIMED];
    struct row *rows;
};
static const struct {
    uint32_t step_s, rows;
} steps[] = { { 1, 600 }, { 10, 720 }, { 60, 2880 } };
enum { STEPS = sizeof steps / sizeof *steps };

struct history {
    struct history_config config;
    struct ring rings[STEPS];
};

static void items_read(const struct history *history, uint64_t now_ms, struct row *row)
{
    const struct catalog *catalog = handover_get(history->config.catalog);
    const struct board *board = history->config.board;
    const struct catalog_sale *sale = catalog == NULL ? NULL : catalog_sale_next(catalog, 0);
    for (; sale != NULL; sale = catalog_sale_next(catalog, sale->id)) {
        struct board_update view;
        struct board_room_update room;
        if (sale->archived || now_ms > sale->end_ms)
            continue;
        if (sale->waiting_room && board_read_room(board, sale->id, &room) && room.arrived > room.head)
            row->line += room.arrived - room.head;
        for (uint32_t n = 0; n < sale->item_count && row->item_count < ITEMS_MAX; n++) {
            const item_id item = sale->items[n];
            if (board_read(board, item, &view))
                row->items[row->item_count++] = (struct item_free){ item, (uint32_t)view.counts.free };
        }
    }
}

static void row_read(const struct history *history, uint64_t now_ms, struct row *row)
{
    *row = (struct row){ .time_ms = now_ms };
    for (uint32_t i = 0; i < FIGURES; i++) {
        row->figures[i] = metrics_total(figures[i].metric, figures[i].labels);
    }
    items_read(history, now_ms, row);
}

static uint64_t history_turn(void *self, uint64_t now_ms)
{
    struct history *history = self;
    struct row row;
    struct histogram_counts now[TIMED];
    row_read(history, now_ms, &row);
    for (uint32_t i = 0; i < TIMED; i++) {
        const struct histogram *times = histogram_find(timed[i]);
        invariant(times != NULL);
        histogram_read(times, &now[i]);
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        struct ring *ring = &history->rings[step];
        if (now_ms < ring->due_ms)
            continue;
        for (uint32_t i = 0; i < TIMED; i++) {
            row.p50_us[i] = (uint32_t)histogram_quantile_us(&ring->before[i], &now[i], 500);
            row.p99_us[i] = (uint32_t)histogram_quantile_us(&ring->before[i], &now[i], 990);
            ring->before[i] = now[i];
        }
        ring->rows[ring->written++ % ring->size] = row;
        ring->due_ms = now_ms + ring->step_s * 1000ull - LOOK_MS / 2;
    }
    return now_ms + LOOK_MS;
}

size_t history_bytes(void)
{
    size_t rows = 0;
    for (uint32_t step = 0; step < STEPS; step++)
        rows += steps[step].rows;
    return rows * sizeof(struct row);
}

struct history *history_open(struct arena *arena, const struct history_config *config, struct task *task)
{
    struct history *history = arena_take(arena, 1, sizeof *history);
    history->config = *config;
    for (uint32_t step = 0; step < STEPS; step++)
        history->rings[step] = (struct ring){ .step_s = steps[step].step_s,
            .size = steps[step].rows,
            .rows = arena_take(arena, steps[step].rows, sizeof(struct row)) };
    *task = (struct task){ .name = "history", .self = history, .turn = history_turn };
    return history;
}

static const struct ring *ring_find(const struct history *history, uint64_t step_s)
{
    for (uint32_t step = 0; step < STEPS; step++)
        if (history->rings[step].step_s == step_s)
            return &history->rings[step];
    return NULL;
}

bool history_has_step(uint64_t step_s)
{
    for (uint32_t step = 0; step < STEPS; step++)
        if (steps[step].step_s == step_s)
            return true;
    return false;
}

static void row_json(const struct row *row, struct text *out)
{
    json_object_begin(out, NULL);
    json_u64(out, "time_ms", row->time_ms);
    for (uint32_t i = 0; i < FIGURES; i++) {
        uint64_t sum = row->figures[i];
        while (i + 1 < FIGURES && strcmp(figures[i].name, figures[i + 1].name) == 0)
            sum += row->figures[++i];
        json_u64(out, figures[i].name, sum);
    }
    json_u64(out, "line", row->line);
    json_u64(out, "purchase_p50_us", row->p50_us[0]);
    json_u64(out, "purchase_p99_us", row->p99_us[0]);
    json_u64(out, "sync_p50_us", row->p50_us[1]);
    json_u64(out, "sync_p99_us", row->p99_us[1]);
    json_object_begin(out, "free");
    for (uint32_t i = 0; i < row->item_count; i++) {
        char name[12];
        snprintf(name, sizeof name, "%u", row->items[i].item);
        json_u64(out, name, row->items[i].free);
    }
    json_object_end(out);
    json_object_end(out);
}

void history_json(const struct history *history, uint64_t step_s, uint64_t after_ms,
    struct text *out, uint64_t *next_ms)
{
    const struct ring *ring = ring_find(history, step_s);
    uint32_t shown = 0;
    invariant(ring != NULL);
    *next_ms = 0;
    json_list_begin(out, "rows");
    for (uint64_t at = ring->written < ring->size ? 0 : ring->written - ring->size;
         at < ring->written; at++) {
        const struct row *row = &ring->rows[at % ring->size];
        if (row->time_ms <= after_ms)
            continue;
        if (shown++ == HISTORY_PAGE_ROWS)
            break;
        row_json(row, out);
        *next_ms = at + 1 < ring->written && shown == HISTORY_PAGE_ROWS ? row->time_ms : 0;
    }
    json_list_end(out);
}
