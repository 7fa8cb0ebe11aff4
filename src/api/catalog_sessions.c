/* SPDX-License-Identifier: Apache-2.0 */
#include "api/catalog.h"
#include "contract/timetable.h"

/* Of a day there, whatever its time zone is. */
static bool is_today(const struct catalog_sale *sale, uint64_t now_ms)
{
    return sale->timetable != 0 && now_ms >= sale->day_ms && now_ms < sale->day_ms + DAY_MS;
}

/* by_end has the latest end first; before a day that has not ended nothing is today's. */
static uint32_t today_find(
    const struct catalog *catalog, uint64_t now_ms, sale_id found[CATALOG_SESSIONS_MAX])
{
    const struct catalog_lists *lists = catalog->lists;
    uint32_t count = 0;
    for (uint32_t i = 0; i < lists->listed && count < CATALOG_SESSIONS_MAX; i++) {
        const struct catalog_sale *sale = id_table_at(&catalog->sales, lists->by_end[i]);
        if (sale->end_ms + DAY_MS < now_ms)
            break;
        if (!is_today(sale, now_ms))
            continue;
        uint32_t at = count++;
        for (; at > 0; at--) {
            const struct catalog_sale *other = id_table_at(&catalog->sales, found[at - 1]);
            if (other->start_ms <= sale->start_ms)
                break;
            found[at] = found[at - 1];
        }
        found[at] = sale->id;
    }
    return count;
}

void catalog_render_sessions(
    const struct catalog *catalog, const struct board *board, uint64_t now_ms, struct text *out)
{
    sale_id found[CATALOG_SESSIONS_MAX];
    const uint32_t count = today_find(catalog, now_ms, found);
    text_format(out, "{\"now_ms\":%llu,\"sessions\":[", (unsigned long long)now_ms);
    for (uint32_t i = 0; i < count; i++) {
        const struct catalog_sale *sale = id_table_at(&catalog->sales, found[i]);
        struct board_update view;
        catalog_sale_view(board, sale, &view);
        text_format(out, "%s{\"sale\":%u,\"timetable\":%u,\"title\":", i == 0 ? "" : ",", sale->id,
            sale->timetable);
        text_add(out, sale->title);
        text_add(out, sale->texts);
        text_format(out, ",\"state\":\"%s\",\"start_ms\":%llu,\"end_ms\":%llu,\"item_count\":%u}",
            sale_state_name((uint8_t)view.gate, view.start_ms, view.end_ms, now_ms),
            (unsigned long long)view.start_ms, (unsigned long long)view.end_ms, sale->item_count);
    }
    text_literal(out, "]}");
}
