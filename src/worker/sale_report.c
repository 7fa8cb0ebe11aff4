/* SPDX-License-Identifier: Apache-2.0 */
/* worker/sale_report.c: counts of the funnel for the final report of each sale (sale_meters.h). A
 * sale has a meter from shortly before it opens until it is over; what comes before the opening is
 * not its own. Written every few seconds. */
#include "api/refusals.h"
#include "base/log.h"
#include "contract/report.h"
#include "worker/worker_parts.h"

#include <stdio.h>
#include <string.h>

enum { READ_ROWS = 32, METER_AHEAD_MS = 2000, OPENED_LAG_MS = 60000 };
static_assert(METER_LAYERS + 3 <= LAYERS_MAX, "a report has room for all layers and times");

size_t worker_report_bytes(const struct worker_config *config)
{
    return sale_meters_bytes((uint32_t)config->config->items_max, config->edges);
}

void worker_report_open(struct worker *worker, struct arena *arena)
{
    worker->report.counts =
        sale_meters_create(arena, (uint32_t)worker->config.config->items_max, worker->config.edges);
}

struct sale_meters *worker_sale_meters(struct worker *worker)
{
    return worker->report.counts;
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
static void meter_look(struct worker_report *report, struct worker_meter *meter, bool own)
{
    const uint32_t number = (uint32_t)(meter - report->meters) + 1;
    for (uint32_t layer = 0; layer < METER_LAYERS; layer++) {
        const uint64_t now = sale_meters_read(report->counts, number, layer);
        if (own)
            meter->fresh[layer] += now - meter->seen[layer];
        meter->seen[layer] = now;
    }
}

/* NULL: more sales at once than are told apart. */
static struct worker_meter *meter_of(struct worker_report *report, sale_id sale)
{
    struct worker_meter *empty = NULL;
    for (uint32_t i = 0; i < SALE_METERS; i++) {
        if (report->meters[i].sale == sale)
            return &report->meters[i];
        if (report->meters[i].sale == 0 && empty == NULL)
            empty = &report->meters[i];
    }
    if (empty == NULL)
        return NULL;
    *empty = (struct worker_meter){ .sale = sale };
    meter_look(report, empty, false);
    return empty;
}

static bool sale_is_open(const struct worker *worker, const struct sale *sale)
{
    /* What came since the last look came before the end. */
    const bool ended = sale->gate == GATE_ENDED || worker->now_ms >= sale->end_ms + WORKER_SCHEDULE_MS;
    return sale->published && !ended && (sale->gate == GATE_OPENED || worker->now_ms >= sale->start_ms);
}

/* Opened by hand; the store hears of it with the orders, a little later. */
static bool sale_was_opened(const struct worker *worker, const struct sale *sale)
{
    for (uint32_t i = 0; i < SALE_METERS; i++) {
        const struct worker_meter *meter = &worker->report.meters[i];
        if (meter->sale == sale->id)
            return sale->gate == GATE_SCHEDULED && meter->opened_ms != 0
                && worker->now_ms < meter->opened_ms + OPENED_LAG_MS;
    }
    return false;
}

static bool sale_opens_soon(const struct worker *worker, const struct sale *sale)
{
    return sale->published && sale->gate == GATE_SCHEDULED && worker->now_ms < sale->start_ms
        && worker->now_ms + METER_AHEAD_MS >= sale->start_ms;
}

/* Its items count in this meter. True: every preheated one is without a free unit. */
static bool items_look(struct worker *worker, const struct worker_meter *meter)
{
    const uint32_t number = (uint32_t)(meter - worker->report.meters) + 1;
    const struct board *board = worker->config.inventory->board;
    struct order_store *store = worker->config.store;
    struct item items[READ_ROWS];
    uint32_t count = READ_ROWS, seen = 0, empty = 0;
    for (item_id after = 0; count == READ_ROWS;) {
        if (store->ops->items(store, meter->sale, after, items, READ_ROWS, &count) != STATUS_OK)
            return false;
        for (uint32_t i = 0; i < count; i++) {
            struct board_update view;
            after = items[i].id;
            sale_meters_assign(worker->report.counts, items[i].id, number);
            if (!board_read(board, items[i].id, &view))
                continue;
            seen++;
            empty += view.counts.free == 0;
        }
    }
    return seen > 0 && seen == empty;
}

static void sale_look(struct worker *worker, const struct sale *sale, bool open)
{
    struct worker_meter *meter = meter_of(&worker->report, sale->id);
    if (meter == NULL)
        return;
    meter->wanted = true;
    meter_look(&worker->report, meter, open);
    const bool sold_out = items_look(worker, meter);
    if (open && sold_out && meter->sold_out_ms == 0)
        meter->sold_out_ms = worker->now_ms;
}

static void row_add(struct sale_count *rows, uint32_t *count, const char *layer, uint64_t value)
{
    rows[*count].count = value;
    snprintf(rows[(*count)++].layer, sizeof rows->layer, "%s", layer);
}

static bool meter_write(struct worker *worker, struct worker_meter *meter)
{
    struct order_store *store = worker->config.store;
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

void worker_report_flush(struct worker *worker)
{
    for (uint32_t i = 0; i < SALE_METERS; i++)
        if (worker->report.meters[i].sale != 0)
            (void)!meter_write(worker, &worker->report.meters[i]);
    worker->report.write_ms = worker->now_ms + WORKER_REPORT_MS;
}

/* Meters of sales that are over make room. */
static void meters_drop(struct worker *worker)
{
    struct worker_report *report = &worker->report;
    for (uint32_t i = 0; i < SALE_METERS; i++) {
        struct worker_meter *meter = &report->meters[i];
        if (meter->sale == 0 || meter->wanted || !meter_write(worker, meter))
            continue;
        sale_meters_release(report->counts, i + 1);
        *meter = (struct worker_meter){ 0 };
    }
}

void worker_report_opened(struct worker *worker, const struct sale *sale)
{
    struct worker_meter *meter = meter_of(&worker->report, sale->id);
    if (meter == NULL)
        return;
    (void)items_look(worker, meter);
    if (worker->now_ms < sale->start_ms)
        meter->opened_ms = worker->now_ms;
}

void worker_report_look(struct worker *worker)
{
    struct worker_report *report = &worker->report;
    struct order_store *store = worker->config.store;
    struct sale sales[READ_ROWS];
    uint32_t count = READ_ROWS;
    if (store->ops->report == NULL)
        return;
    for (uint32_t i = 0; i < SALE_METERS; i++)
        report->meters[i].wanted = false;
    for (sale_id after = 0; count == READ_ROWS;) {
        if (store->ops->sales(store, after, sales, READ_ROWS, &count) != STATUS_OK)
            return;
        for (uint32_t i = 0; i < count; i++) {
            const bool open = sale_is_open(worker, &sales[i]) || sale_was_opened(worker, &sales[i]);
            after = sales[i].id;
            if (open || sale_opens_soon(worker, &sales[i]))
                sale_look(worker, &sales[i], open);
        }
    }
    meters_drop(worker);
    if (worker->now_ms >= report->write_ms)
        worker_report_flush(worker);
}
