/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sale_report.h"

#include "api/refusals.h"
#include "api/sale_meters.h"
#include "base/arena.h"
#include "base/json_write.h"
#include "contract/board.h"
#include "contract/order_store.h"
#include "contract/report.h"
#include "worker/task.h"

#include <stdio.h>
#include <string.h>

enum {
    READ_ROWS = 32,
    LOOK_MS = 250,
    WRITE_MS = 3000,
    METER_AHEAD_MS = 2000,
    OPENED_LAG_MS = 60000,
};
static_assert(METER_LAYERS + 3 <= LAYERS_MAX, "a report has room for all layers and times");

struct sale_meter {
    sale_id sale; /* 0: free */
    bool wanted;  /* seen open, or about to be, in the present look */
    uint64_t seen[METER_LAYERS], fresh[METER_LAYERS]; /* fresh: not written yet */
    uint64_t total[METER_LAYERS];                     /* since this meter is the sale's */
    uint64_t opened_ms, sold_out_ms;                  /* 0: no; opened by hand, before its start */
    bool opened_told, sold_out_told;
};

struct sale_report {
    struct sale_report_config config;
    struct sale_meters *counts;
    struct sale_meter meters[SALE_METERS]; /* meter number − 1 */
    uint64_t write_ms;
};

size_t sale_report_bytes(const struct sale_report_config *config)
{
    return sale_meters_bytes(config->items_max, config->edges);
}

struct sale_meters *sale_report_meters(struct sale_report *report)
{
    return report->counts;
}

/* False: a layer that is not told. */
static bool layer_name(uint32_t layer, char out[LAYER_NAME_MAX + 1])
{
    const char *answer = layer < DOOR_REASONS
        ? door_reason_name((enum door_reason)layer)
        : refusal_answer_name((enum answer)(layer - DOOR_REASONS));
    snprintf(out, LAYER_NAME_MAX + 1, "%s.%s", layer < DOOR_REASONS ? "door" : "purchase", answer);
    return answer[0] != 0;
}

/* What was counted since the last look. */
static void meter_look(struct sale_report *report, struct sale_meter *meter, bool own)
{
    const uint32_t number = (uint32_t)(meter - report->meters) + 1;
    for (uint32_t layer = 0; layer < METER_LAYERS; layer++) {
        const uint64_t now = sale_meters_read(report->counts, number, layer);
        if (own) {
            meter->fresh[layer] += now - meter->seen[layer];
            meter->total[layer] += now - meter->seen[layer];
        }
        meter->seen[layer] = now;
    }
}

/* NULL: more sales at once than are told apart. */
static struct sale_meter *meter_of(struct sale_report *report, sale_id sale)
{
    struct sale_meter *empty = NULL;
    for (uint32_t i = 0; i < SALE_METERS; i++) {
        if (report->meters[i].sale == sale)
            return &report->meters[i];
        if (report->meters[i].sale == 0 && empty == NULL)
            empty = &report->meters[i];
    }
    if (empty == NULL)
        return NULL;
    *empty = (struct sale_meter){ .sale = sale };
    meter_look(report, empty, false);
    sale_meters_begin(report->counts, (uint32_t)(empty - report->meters) + 1);
    return empty;
}

static bool sale_is_open(const struct sale *sale, uint64_t now_ms)
{
    /* What came since the last look came before the end. */
    const bool ended = sale->gate == GATE_ENDED || now_ms >= sale->end_ms + LOOK_MS;
    return sale->published && !ended && (sale->gate == GATE_OPENED || now_ms >= sale->start_ms);
}

/* Opened by hand; the store hears of it with the orders, a little later. */
static bool sale_was_opened(const struct sale_report *report, const struct sale *sale, uint64_t now_ms)
{
    for (uint32_t i = 0; i < SALE_METERS; i++) {
        const struct sale_meter *meter = &report->meters[i];
        if (meter->sale == sale->id)
            return sale->gate == GATE_SCHEDULED && meter->opened_ms != 0
                && now_ms < meter->opened_ms + OPENED_LAG_MS;
    }
    return false;
}

static bool sale_opens_soon(const struct sale *sale, uint64_t now_ms)
{
    return sale->published && sale->gate == GATE_SCHEDULED && now_ms < sale->start_ms
        && now_ms + METER_AHEAD_MS >= sale->start_ms;
}

/* Its items count in this meter. True: every preheated one is without a free unit. */
static bool items_look(struct sale_report *report, const struct sale_meter *meter)
{
    const uint32_t number = (uint32_t)(meter - report->meters) + 1;
    const struct board *board = report->config.board;
    struct order_store *store = report->config.store;
    struct item items[READ_ROWS];
    uint32_t count = READ_ROWS, seen = 0, empty = 0;
    for (item_id after = 0; count == READ_ROWS;) {
        if (store->ops->items(store, meter->sale, after, items, READ_ROWS, &count) != STATUS_OK)
            return false;
        for (uint32_t i = 0; i < count; i++) {
            struct board_update view;
            after = items[i].id;
            sale_meters_assign(report->counts, items[i].id, number);
            if (!board_read(board, items[i].id, &view))
                continue;
            seen++;
            empty += view.counts.free == 0;
        }
    }
    return seen > 0 && seen == empty;
}

static void sale_look(struct sale_report *report, const struct sale *sale, bool open, uint64_t now_ms)
{
    struct sale_meter *meter = meter_of(report, sale->id);
    if (meter == NULL)
        return;
    meter->wanted = true;
    meter_look(report, meter, open);
    const bool sold_out = items_look(report, meter);
    if (open && sold_out && meter->sold_out_ms == 0)
        meter->sold_out_ms = now_ms;
}

static void row_add(struct sale_count *rows, uint32_t *count, const char *layer, uint64_t value)
{
    rows[*count].count = value;
    snprintf(rows[(*count)++].layer, sizeof rows->layer, "%s", layer);
}

static bool meter_write(const struct sale_report *report, struct sale_meter *meter)
{
    struct order_store *store = report->config.store;
    struct sale_count rows[LAYERS_MAX];
    char name[LAYER_NAME_MAX + 1];
    uint32_t count = 0;
    for (uint32_t layer = 0; layer < METER_LAYERS; layer++)
        if (meter->fresh[layer] != 0 && layer_name(layer, name))
            row_add(rows, &count, name, meter->fresh[layer]);
    if (meter->opened_ms > 0 && !meter->opened_told)
        row_add(rows, &count, LAYER_OPENED, meter->opened_ms);
    if (meter->sold_out_ms > 0 && !meter->sold_out_told)
        row_add(rows, &count, LAYER_SOLD_OUT, meter->sold_out_ms);
    if (count > 0 && store->ops->report->counts_add(store, meter->sale, rows, count) != STATUS_OK)
        return false; /* kept for the next time */
    memset(meter->fresh, 0, sizeof meter->fresh);
    meter->opened_told = meter->opened_ms > 0;
    meter->sold_out_told = meter->sold_out_ms > 0;
    return true;
}

void sale_report_flush(struct sale_report *report, uint64_t now_ms)
{
    for (uint32_t i = 0; i < SALE_METERS; i++)
        if (report->meters[i].sale != 0)
            (void)!meter_write(report, &report->meters[i]);
    report->write_ms = now_ms + WRITE_MS;
}

/* Meters of sales that are over make room. */
static void meters_drop(struct sale_report *report)
{
    for (uint32_t i = 0; i < SALE_METERS; i++) {
        struct sale_meter *meter = &report->meters[i];
        if (meter->sale == 0 || meter->wanted || !meter_write(report, meter))
            continue;
        sale_meters_release(report->counts, i + 1);
        *meter = (struct sale_meter){ 0 };
    }
}

void sale_report_opened(struct sale_report *report, const struct sale *sale, uint64_t now_ms)
{
    struct sale_meter *meter = meter_of(report, sale->id);
    if (meter == NULL)
        return;
    (void)items_look(report, meter);
    if (now_ms < sale->start_ms)
        meter->opened_ms = now_ms;
}

/* Sales that the store does not call open yet. */
static void opened_look(struct sale_report *report, uint64_t now_ms)
{
    struct order_store *store = report->config.store;
    struct sale sale;
    for (uint32_t i = 0; i < SALE_METERS; i++) {
        const struct sale_meter *meter = &report->meters[i];
        if (meter->sale != 0 && !meter->wanted && meter->opened_ms != 0
            && store->ops->sale_get(store, meter->sale, &sale) == STATUS_OK
            && sale_was_opened(report, &sale, now_ms))
            sale_look(report, &sale, true, now_ms);
    }
}

void sale_report_look(struct sale_report *report, uint64_t now_ms)
{
    struct order_store *store = report->config.store;
    struct sale sales[READ_ROWS];
    uint32_t count = READ_ROWS;
    if (store->ops->report == NULL)
        return;
    for (uint32_t i = 0; i < SALE_METERS; i++)
        report->meters[i].wanted = false;
    struct sales_cursor cursor = sales_cursor_after(now_ms < LOOK_MS ? 0 : now_ms - LOOK_MS);
    while (count == READ_ROWS) {
        if (store->ops->sales_due(store, &cursor, now_ms + METER_AHEAD_MS, sales, READ_ROWS, &count)
            != STATUS_OK)
            return;
        for (uint32_t i = 0; i < count; i++) {
            const bool open =
                sale_is_open(&sales[i], now_ms) || sale_was_opened(report, &sales[i], now_ms);
            if (open || sale_opens_soon(&sales[i], now_ms))
                sale_look(report, &sales[i], open, now_ms);
        }
    }
    opened_look(report, now_ms);
    meters_drop(report);
    if (now_ms >= report->write_ms)
        sale_report_flush(report, now_ms);
}

static uint64_t report_turn(void *self, uint64_t now_ms)
{
    sale_report_look(self, now_ms);
    return now_ms + LOOK_MS;
}

static void report_end(void *self, uint64_t now_ms)
{
    sale_report_look(self, now_ms);
    sale_report_flush(self, now_ms);
}

struct sale_report *sale_report_open(
    struct arena *arena, const struct sale_report_config *config, struct task *task)
{
    struct sale_report *report = arena_take(arena, 1, sizeof *report);
    report->config = *config;
    report->counts = sale_meters_create(arena, config->items_max, config->edges);
    *task = (struct task){
        .name = "sale report", .self = report, .turn = report_turn, .end = report_end, .rests = true
    };
    return report;
}

void sale_report_funnel_json(const struct sale_report *report, sale_id sale, struct text *out)
{
    json_object_begin(out, "funnel");
    for (uint32_t i = 0; i < SALE_METERS; i++) {
        if (report->meters[i].sale != sale)
            continue;
        for (uint32_t layer = 0; layer < METER_LAYERS; layer++) {
            char name[LAYER_NAME_MAX + 1];
            if (report->meters[i].total[layer] > 0 && layer_name(layer, name))
                json_u64(out, name, report->meters[i].total[layer]);
        }
    }
    json_object_end(out);
}
