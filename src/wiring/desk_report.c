/* wiring/desk_report.c: counts of the funnel for the final report of each sale. The process counts
 * all requests together; what is added between two looks belongs to the sales that are open then,
 * and where several are, the report says so. Written every few seconds. */
#include "base/log.h"
#include "base/metrics.h"
#include "contract/report.h"
#include "wiring/desk_parts.h"

#include <stdio.h>
#include <string.h>

enum { READ_ROWS = 32 };

struct look {
    struct desk_report *report;
    const char *prefix;
    uint32_t index;
};

/* labels: answer="won" */
static void layer_see(void *context, const char *labels, uint64_t value)
{
    struct look *look = context;
    if (look->index == LAYERS_MAX)
        return;
    struct desk_layer *layer = &look->report->layers[look->index++];
    const char *from = labels == NULL ? NULL : strchr(labels, '"');
    const char *to = from == NULL ? NULL : strchr(from + 1, '"');
    if (layer->name[0] == 0)
        snprintf(layer->name, sizeof layer->name, "%s.%.*s", look->prefix,
            to == NULL ? 0 : (int)(to - from - 1), to == NULL ? "" : from + 1);
    layer->fresh = value - layer->seen;
    layer->seen = value;
}

static void layers_look(struct desk_report *report)
{
    struct look look = { .report = report, .prefix = "door" };
    metrics_each("stampede_door_total", layer_see, &look);
    look.prefix = "purchase";
    metrics_each("stampede_purchases_total", layer_see, &look);
    report->layer_count = look.index;
}

static struct desk_meter *meter_of(struct desk_report *report, sale_id sale)
{
    for (uint32_t i = 0; i < report->meter_count; i++) {
        if (report->meters[i].sale == sale)
            return &report->meters[i];
    }
    if (report->meter_count == DESK_METERS_MAX)
        return NULL; /* more sales at once than are told apart */
    struct desk_meter *meter = &report->meters[report->meter_count++];
    *meter = (struct desk_meter){ .sale = sale };
    return meter;
}

static bool sale_is_open(const struct desk *desk, const struct sale *sale)
{
    /* What came since the last look came before the end. */
    const bool ended = sale->gate == GATE_ENDED || desk->now_ms >= sale->end_ms + DESK_SCHEDULE_MS;
    return sale->published && !ended && (sale->gate == GATE_OPENED || desk->now_ms >= sale->start_ms);
}

/* Every preheated item of the sale is without a free unit. */
static bool sale_is_sold_out(const struct desk *desk, sale_id sale)
{
    const struct board *board = embedded_board(desk->config.embedded);
    struct order_store *store = desk->config.store;
    struct item items[READ_ROWS];
    uint32_t count = READ_ROWS, seen = 0;
    for (item_id after = 0; count == READ_ROWS;) {
        if (store->ops->items(store, sale, after, items, READ_ROWS, &count) != STATUS_OK)
            return false;
        for (uint32_t i = 0; i < count; i++) {
            struct board_update view;
            after = items[i].id;
            if (!board_read(board, items[i].id, &view))
                continue;
            if (view.counts.free > 0)
                return false;
            seen++;
        }
    }
    return seen > 0;
}

static void sale_meter(struct desk *desk, sale_id sale, bool alone, uint64_t since_ms)
{
    struct desk_report *report = &desk->report;
    struct desk_meter *meter = meter_of(report, sale);
    if (meter == NULL)
        return;
    for (uint32_t i = 0; i < report->layer_count; i++)
        meter->counts[i] += report->layers[i].fresh;
    if (!alone)
        meter->overlap_ms += desk->now_ms - since_ms;
    if (meter->sold_out_ms == 0 && sale_is_sold_out(desk, sale))
        meter->sold_out_ms = desk->now_ms;
}

static bool meter_write(struct desk *desk, struct desk_meter *meter)
{
    struct desk_report *report = &desk->report;
    struct order_store *store = desk->config.store;
    struct sale_count rows[LAYERS_MAX + 2];
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->layer_count; i++) {
        if (meter->counts[i] == 0)
            continue;
        rows[count].count = meter->counts[i];
        memcpy(rows[count++].layer, report->layers[i].name, sizeof rows[0].layer);
    }
    if (meter->overlap_ms > 0) {
        rows[count].count = (meter->overlap_ms + 999) / 1000;
        snprintf(rows[count++].layer, sizeof rows[0].layer, "%s", LAYER_OVERLAP);
    }
    if (meter->sold_out_ms > 0 && !meter->sold_out_told) {
        rows[count].count = meter->sold_out_ms;
        snprintf(rows[count++].layer, sizeof rows[0].layer, "%s", LAYER_SOLD_OUT);
    }
    if (count > 0 && store->ops->report->counts_add(store, meter->sale, rows, count) != STATUS_OK)
        return false; /* kept for the next time */
    memset(meter->counts, 0, sizeof meter->counts);
    meter->overlap_ms = 0;
    meter->sold_out_told = meter->sold_out_ms > 0;
    return true;
}

void desk_report_flush(struct desk *desk)
{
    for (uint32_t i = 0; i < desk->report.meter_count; i++)
        (void)!meter_write(desk, &desk->report.meters[i]);
    desk->report.write_ms = desk->now_ms + DESK_REPORT_MS;
}

/* Meters of sales that are over make room. */
static void meters_drop(struct desk *desk, const sale_id *open, uint32_t open_count)
{
    struct desk_report *report = &desk->report;
    for (uint32_t i = 0; i < report->meter_count;) {
        bool found = false;
        for (uint32_t j = 0; j < open_count; j++)
            found |= open[j] == report->meters[i].sale;
        if (found || !meter_write(desk, &report->meters[i]))
            i++;
        else
            report->meters[i] = report->meters[--report->meter_count];
    }
}

void desk_report_look(struct desk *desk)
{
    struct desk_report *report = &desk->report;
    struct order_store *store = desk->config.store;
    sale_id open[DESK_METERS_MAX];
    struct sale sales[READ_ROWS];
    uint32_t count = READ_ROWS, open_count = 0;
    if (store->ops->report == NULL)
        return;
    for (sale_id after = 0; count == READ_ROWS;) {
        if (store->ops->sales(store, after, sales, READ_ROWS, &count) != STATUS_OK)
            return;
        for (uint32_t i = 0; i < count; i++) {
            after = sales[i].id;
            if (sale_is_open(desk, &sales[i]) && open_count < DESK_METERS_MAX)
                open[open_count++] = sales[i].id;
        }
    }
    layers_look(report);
    for (uint32_t i = 0; i < open_count; i++)
        sale_meter(desk, open[i], open_count == 1,
            report->looked_ms == 0 ? desk->now_ms : report->looked_ms);
    report->looked_ms = desk->now_ms;
    meters_drop(desk, open, open_count);
    if (desk->now_ms >= report->write_ms)
        desk_report_flush(desk);
}
