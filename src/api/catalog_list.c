/* SPDX-License-Identifier: Apache-2.0 */
/* api/catalog_list.c: the list of sales that the front page shows, in one answer: sales that are
 * not over in the order of their start, or sales that are over, the latest end first. A shop
 * collects hundreds of old sales, so those are sent only on request.
 *
 * The page ends where the next sale would not fit any more. "next" names the last sale by its time
 * and number, so that a sale that comes or goes between two pages moves no other one. */
#include "api/catalog.h"

#include <stdlib.h>
#include <string.h>

enum { ITEM_BYTES = 512, END_BYTES = 128 }; /* what is added to an item's, to a list's own bytes */

static int by_time(uint64_t a_ms, sale_id a, uint64_t b_ms, sale_id b)
{
    return a_ms != b_ms ? (a_ms > b_ms ? 1 : -1) : (a > b) - (a < b);
}

static int start_compare(const void *a, const void *b, void *context)
{
    const struct catalog_sale *sales = context;
    const struct catalog_sale *left = &sales[*(const uint32_t *)a],
                              *right = &sales[*(const uint32_t *)b];
    return by_time(left->start_ms, left->id, right->start_ms, right->id);
}

static int end_compare(const void *a, const void *b, void *context)
{
    const struct catalog_sale *sales = context;
    const struct catalog_sale *left = &sales[*(const uint32_t *)a],
                              *right = &sales[*(const uint32_t *)b];
    return by_time(right->end_ms, right->id, left->end_ms, left->id);
}

/* A sale whose end has passed never comes back, so who asks for the others need not look at it. */
void catalog_list_make(struct catalog *catalog, uint64_t now_ms)
{
    catalog->by_start = calloc(catalog->sale_count + 1, sizeof *catalog->by_start);
    catalog->by_end = calloc(catalog->sale_count + 1, sizeof *catalog->by_end);
    invariant(catalog->by_start != NULL && catalog->by_end != NULL);
    for (uint32_t i = 0; i < catalog->sale_count; i++) {
        if (catalog->sales[i].archived)
            continue;
        catalog->by_end[catalog->listed++] = i;
        if (catalog->sales[i].end_ms > now_ms)
            catalog->by_start[catalog->coming++] = i;
    }
    qsort_r(catalog->by_start, catalog->coming, sizeof *catalog->by_start, start_compare, catalog->sales);
    qsort_r(catalog->by_end, catalog->listed, sizeof *catalog->by_end, end_compare, catalog->sales);
}

static bool sale_is_over(const struct catalog *catalog, const struct board *board,
    const struct catalog_sale *sale, uint64_t now_ms)
{
    struct board_update view;
    catalog_sale_view(catalog, board, sale, &view);
    return view.gate == GATE_ENDED || now_ms >= view.end_ms;
}

static bool comes_after(const struct catalog_sale *sale, const struct catalog_wish *wish)
{
    if (wish->after == 0)
        return true;
    return wish->ended ? by_time(sale->end_ms, sale->id, wish->after_ms, wish->after) < 0
                       : by_time(sale->start_ms, sale->id, wish->after_ms, wish->after) > 0;
}

/* The sale with as many of its items as may be and fit; one always does. */
static void sale_render(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_sale *sale, uint64_t now_ms, size_t room, struct text *out)
{
    const size_t from = out->size;
    catalog_sale_members(catalog, board, sale, now_ms, out);
    text_format(out, ",\"item_count\":%u,\"items\":[", sale->item_count);
    for (uint32_t i = 0; i < sale->item_count && i < CATALOG_LIST_ITEMS_MAX; i++) {
        const struct catalog_item *item = &catalog->items[sale->first_item + i];
        if (i > 0 && out->size - from + item->head.size + item->tail.size + ITEM_BYTES > room)
            break;
        text_string(out, i == 0 ? "" : ",");
        catalog_render_item(catalog, board, channel, item, false, now_ms, out);
    }
    text_literal(out, "]}");
}

/* False: there was no room for it, and nothing is written. */
static bool sale_add(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_sale *sale, uint64_t now_ms, size_t room, bool first, struct text *out)
{
    const struct text before = *out;
    text_string(out, first ? "" : ",");
    sale_render(catalog, board, channel, sale, now_ms, room, out);
    if (first || (!out->overflow && out->size <= room))
        return true;
    *out = before;
    return false;
}

void catalog_render_sales(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_wish *wish, uint64_t now_ms, size_t room, struct text *out)
{
    const uint32_t *order = wish->ended ? catalog->by_end : catalog->by_start;
    const uint32_t count = wish->ended ? catalog->listed : catalog->coming;
    const struct catalog_sale *last = NULL;
    bool full = false;
    uint32_t over_count = catalog->listed - count;
    text_format(out, "{\"now_ms\":%llu,\"sales\":[", (unsigned long long)now_ms);
    for (uint32_t i = 0; i < count; i++) {
        const struct catalog_sale *sale = &catalog->sales[order[i]];
        const bool over = sale_is_over(catalog, board, sale, now_ms);
        over_count += over;
        if (full || over != wish->ended || !comes_after(sale, wish))
            continue;
        full = !sale_add(catalog, board, channel, sale, now_ms, room - END_BYTES, last == NULL, out);
        if (!full)
            last = sale;
    }
    text_format(out, "],\"ended_count\":%u", over_count);
    if (full && last != NULL)
        text_format(out, ",\"next\":\"%llu.%u\"",
            (unsigned long long)(wish->ended ? last->end_ms : last->start_ms), last->id);
    text_literal(out, "}");
}
