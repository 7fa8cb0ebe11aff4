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

enum { END_BYTES = 128 }; /* what is added to a list's own bytes */

static int by_time(uint64_t a_ms, sale_id a, uint64_t b_ms, sale_id b)
{
    return a_ms != b_ms ? (a_ms > b_ms ? 1 : -1) : (a > b) - (a < b);
}

typedef int sale_compare(const struct catalog_sale *left, const struct catalog_sale *right);

static int start_compare(const struct catalog_sale *left, const struct catalog_sale *right)
{
    return by_time(left->start_ms, left->id, right->start_ms, right->id);
}

static int end_compare(const struct catalog_sale *left, const struct catalog_sale *right)
{
    return by_time(right->end_ms, right->id, left->end_ms, left->id);
}

static struct catalog_lists *lists_take(uint32_t rows_max)
{
    struct catalog_lists *lists = malloc(sizeof *lists + 2 * rows_max * sizeof(sale_id));
    invariant(lists != NULL);
    sale_id *rows = (sale_id *)(lists + 1);
    *lists =
        (struct catalog_lists){ .until_ms = UINT64_MAX, .by_start = rows, .by_end = rows + rows_max };
    return lists;
}

/* A sale whose end has passed never comes back, so who asks for the others need not look at it. */
static bool comes(struct catalog_lists *lists, const struct catalog_sale *sale, uint64_t now_ms)
{
    if (sale->end_ms > now_ms && sale->end_ms < lists->until_ms)
        lists->until_ms = sale->end_ms;
    return sale->end_ms > now_ms;
}

struct sorting {
    const struct catalog *catalog;
    sale_compare *compare;
};
static int rows_compare(const void *a, const void *b, void *context)
{
    const struct sorting *sorting = context;
    return sorting->compare(id_table_at(&sorting->catalog->sales, *(const sale_id *)a),
        id_table_at(&sorting->catalog->sales, *(const sale_id *)b));
}

struct catalog_lists *catalog_lists_make(const struct catalog *catalog, uint64_t now_ms)
{
    const struct catalog_sale *sale;
    uint32_t count = 0;
    for (sale = catalog_sale_next(catalog, 0); sale != NULL; sale = catalog_sale_next(catalog, sale->id))
        count++;
    struct catalog_lists *lists = lists_take(count);
    for (sale = catalog_sale_next(catalog, 0); sale != NULL;
         sale = catalog_sale_next(catalog, sale->id)) {
        if (sale->archived)
            continue;
        lists->by_end[lists->listed++] = sale->id;
        if (comes(lists, sale, now_ms))
            lists->by_start[lists->coming++] = sale->id;
    }
    qsort_r(lists->by_start, lists->coming, sizeof(sale_id), rows_compare,
        &(struct sorting){ catalog, start_compare });
    qsort_r(lists->by_end, lists->listed, sizeof(sale_id), rows_compare,
        &(struct sorting){ catalog, end_compare });
    return lists;
}

static uint32_t rows_copy(const sale_id *from, uint32_t count, sale_id without, sale_id *to)
{
    uint32_t copied = 0;
    for (uint32_t i = 0; i < count; i++)
        if (from[i] != without)
            to[copied++] = from[i];
    return copied;
}

static void row_insert(const struct catalog *catalog, const struct catalog_sale *sale,
    sale_compare *compare, sale_id *rows, uint32_t *count)
{
    uint32_t low = 0, high = *count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare(id_table_at(&catalog->sales, rows[middle]), sale) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&rows[low + 1], &rows[low], (*count - low) * sizeof *rows);
    rows[low] = sale->id;
    ++*count;
}

static void ended_drop(const struct catalog *catalog, struct catalog_lists *lists, uint64_t now_ms)
{
    const uint32_t count = lists->coming;
    lists->coming = 0;
    lists->until_ms = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (comes(lists, id_table_at(&catalog->sales, lists->by_start[i]), now_ms))
            lists->by_start[lists->coming++] = lists->by_start[i];
}

struct catalog_lists *catalog_lists_change(
    const struct catalog *catalog, sale_id id, const struct catalog_sale *sale, uint64_t now_ms)
{
    const struct catalog_lists *before = catalog->lists;
    struct catalog_lists *lists = lists_take(before->listed + 1);
    lists->listed = rows_copy(before->by_end, before->listed, id, lists->by_end);
    lists->coming = rows_copy(before->by_start, before->coming, id, lists->by_start);
    lists->until_ms = before->until_ms;
    if (now_ms >= lists->until_ms)
        ended_drop(catalog, lists, now_ms);
    if (sale == NULL || sale->archived)
        return lists;
    row_insert(catalog, sale, end_compare, lists->by_end, &lists->listed);
    if (comes(lists, sale, now_ms))
        row_insert(catalog, sale, start_compare, lists->by_start, &lists->coming);
    return lists;
}

static bool sale_is_over(const struct board *board, const struct catalog_sale *sale, uint64_t now_ms)
{
    struct board_update view;
    catalog_sale_view(board, sale, &view);
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
    catalog_sale_members(board, sale, now_ms, out);
    text_format(out, ",\"item_count\":%u,\"items\":[", sale->item_count);
    for (uint32_t i = 0; i < sale->item_count && i < CATALOG_LIST_ITEMS_MAX; i++) {
        const struct catalog_item *item = catalog_item_at(catalog, sale, i);
        if (i > 0 && out->size - from + catalog_item_bytes(catalog, item) > room)
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
    const struct catalog_lists *lists = catalog->lists;
    const sale_id *order = wish->ended ? lists->by_end : lists->by_start;
    const uint32_t count = wish->ended ? lists->listed : lists->coming;
    const struct catalog_sale *last = NULL;
    bool full = false;
    uint32_t over_count = lists->listed - count;
    text_format(out, "{\"now_ms\":%llu,\"sales\":[", (unsigned long long)now_ms);
    for (uint32_t i = 0; i < count; i++) {
        const struct catalog_sale *sale = id_table_at(&catalog->sales, order[i]);
        const bool over = sale_is_over(board, sale, now_ms);
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
