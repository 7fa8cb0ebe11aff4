/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/sale_series.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "api/sale_meters.h"
#include "contract/inventory.h"
#include "gateway/routes_state.h"

#include <inttypes.h>

/* What purchases of a sale came to, in few words; stampede_door_total and stampede_purchases_total have
 * all of them. */
enum outcome_class {
    CLASS_WON,
    CLASS_SOLD_OUT,
    CLASS_TOO_FAST,
    CLASS_CLOSED,
    CLASS_REFUSED,
    CLASSES,
    CLASS_NONE
};
static const char *const class_names[] = { "won", "sold-out", "too-fast", "closed", "refused" };
static_assert(sizeof class_names / sizeof *class_names == CLASSES, "a name for each");

static enum outcome_class door_class(enum door_reason reason)
{
    switch ((int)reason) {
    case DOOR_GO:
        return CLASS_NONE; /* the inventory's answer counts */
    case DOOR_SOLD_OUT:
    case DOOR_NO_CHANCE:
        return CLASS_SOLD_OUT;
    case DOOR_TOO_FAST:
    case DOOR_TOO_POPULAR:
    case DOOR_BANNED:
        return CLASS_TOO_FAST;
    case DOOR_NOT_STARTED:
    case DOOR_ENDED:
    case DOOR_PAUSED:
    case DOOR_UNAVAILABLE:
    case DOOR_UNKNOWN_ITEM:
        return CLASS_CLOSED;
    default:
        return CLASS_REFUSED;
    }
}

static enum outcome_class answer_class(enum answer answer)
{
    switch ((int)answer) {
    case ANSWER_NONE:
        return CLASS_NONE;
    case ANSWER_WON:
        return CLASS_WON;
    case ANSWER_SOLD_OUT:
        return CLASS_SOLD_OUT;
    case ANSWER_TOO_POPULAR:
        return CLASS_TOO_FAST;
    case ANSWER_NOT_STARTED:
    case ANSWER_ENDED:
    case ANSWER_PAUSED:
    case ANSWER_UNAVAILABLE:
        return CLASS_CLOSED;
    default:
        return CLASS_REFUSED;
    }
}

static void meter_sums(const struct sale_meters *meters, uint32_t meter, uint64_t sums[CLASSES])
{
    for (uint32_t layer = 0; layer < METER_LAYERS; layer++) {
        const enum outcome_class class = layer < DOOR_REASONS
            ? door_class((enum door_reason)layer)
            : answer_class((enum answer)(layer - DOOR_REASONS));
        if (class != CLASS_NONE)
            sums[class] += sale_meters_since(meters, meter, layer);
    }
}

struct live {
    const struct catalog *catalog;
    const struct board *board;
    const struct catalog_sale *sales[SERIES_SALES];
    uint32_t sale_count;
};

static bool sale_is_live(const struct live *live, const struct catalog_sale *sale, uint64_t now_ms)
{
    struct board_update view;
    catalog_sale_view(live->board, sale, &view);
    return !sale->archived && view.gate != GATE_ENDED && now_ms < view.end_ms;
}

/* Those that start first. */
static void live_find(struct live *live, const struct routes *routes, uint64_t now_ms)
{
    *live = (struct live){ .catalog = handover_get(routes->shared.catalog),
        .board = routes->shared.inventory->board };
    if (live->catalog == NULL || live->catalog->lists == NULL)
        return;
    const struct catalog_lists *lists = live->catalog->lists;
    for (uint32_t i = 0; i < lists->coming && live->sale_count < SERIES_SALES; i++) {
        const struct catalog_sale *sale = catalog_sale_find(live->catalog, lists->by_start[i]);
        if (sale != NULL && sale_is_live(live, sale, now_ms))
            live->sales[live->sale_count++] = sale;
    }
}

/* ---- purchases of a sale, by class ---- */

static void classes_render(struct text *out, const char *sale, const uint64_t sums[CLASSES])
{
    for (uint32_t class = 0; class < CLASSES; class ++)
        text_format(out, "stampede_sale_purchases_total{sale=\"%s\",answer=\"%s\"} %" PRIu64 "\n",
            sale, class_names[class], sums[class]);
}

static void sales_render(const struct live *live, const struct sale_meters *meters, struct text *out)
{
    uint64_t other[CLASSES] = { 0 };
    text_literal(out,
        "# HELP stampede_sale_purchases_total Purchases of a sale that is not over, by what came "
        "of "
        "them.\n# TYPE stampede_sale_purchases_total counter\n");
    for (uint32_t i = 0; i < live->sale_count; i++) {
        const struct catalog_sale *sale = live->sales[i];
        const uint32_t meter = sale->item_count == 0 ? 0 : sale_meter_of(meters, sale->items[0]);
        uint64_t sums[CLASSES] = { 0 };
        char name[16];
        struct text label = text_in(name, sizeof name - 1);
        if (meter == 0)
            continue; /* it has not opened yet, or too many are open */
        text_u64(&label, sale->id);
        name[label.size] = '\0';
        meter_sums(meters, meter, sums);
        classes_render(out, name, sums);
    }
    meter_sums(meters, 0, other);
    classes_render(out, "other", other);
}

/* ---- units of an item ---- */

struct units {
    uint64_t free, held, sold, safety;
};

static void units_render(struct text *out, uint64_t sale, uint64_t item, const struct units *units)
{
    const struct {
        const char *name;
        uint64_t value;
    } states[] = { { "free", units->free }, { "held", units->held }, { "sold", units->sold },
        { "safety", units->safety } };
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        text_literal(out, "stampede_item_units{");
        if (item != 0)
            text_format(out, "sale=\"%" PRIu64 "\",item=\"%" PRIu64 "\"", sale, item);
        else
            text_literal(out, "sale=\"other\",item=\"other\"");
        text_format(out, ",state=\"%s\"} %" PRIu64 "\n", states[i].name, states[i].value);
    }
}

static void items_render(const struct live *live, struct text *out)
{
    struct units other = { 0 };
    uint32_t shown = 0, looked = 0;
    text_literal(out,
        "# HELP stampede_item_units Units of an item of a sale that is not over, by where they "
        "are.\n"
        "# TYPE stampede_item_units gauge\n");
    for (uint32_t i = 0; i < live->sale_count; i++) {
        const struct catalog_sale *sale = live->sales[i];
        for (uint32_t n = 0; n < sale->item_count && looked < SERIES_LOOK_ITEMS; n++, looked++) {
            struct board_update view;
            if (!board_read(live->board, sale->items[n], &view))
                continue;
            const struct item_counts *counts = &view.counts;
            const struct units units = { .free = (uint64_t)counts->free,
                .held = (uint64_t)counts->held,
                .sold = (uint64_t)counts->sold,
                .safety = (uint64_t)counts->safety };
            if (shown < SERIES_ITEMS) {
                shown++;
                units_render(out, sale->id, sale->items[n], &units);
                continue;
            }
            other.free += units.free;
            other.held += units.held;
            other.sold += units.sold;
            other.safety += units.safety;
        }
    }
    units_render(out, 0, 0, &other);
}

void sale_series_render(const struct routes *routes, struct text *out)
{
    struct live live;
    live_find(&live, routes, edge_now_ms(routes->edge));
    sales_render(&live, routes->meters, out);
    items_render(&live, out);
}
