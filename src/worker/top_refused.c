/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/top_refused.h"

#include "base/json_write.h"

enum { MINUTE_MS = 60 * 1000 };

static bool same_one(const struct refused_row *row, const struct watch_row *noted)
{
    return row->weight != 0 && row->user == noted->user
        && (noted->user != 0 || address_equal(&row->address, &noted->address));
}

/* Its row, a free one, or that of whoever was refused least. */
static struct refused_row *row_take(struct top_refused *top, const struct watch_row *noted)
{
    struct refused_row *least = &top->rows[0];
    for (uint32_t i = 0; i < TOP_REFUSED_ROWS; i++) {
        struct refused_row *row = &top->rows[i];
        if (same_one(row, noted))
            return row;
        if (row->weight < least->weight)
            least = row;
    }
    *least = (struct refused_row){ .address = noted->address, .user = noted->user };
    return least;
}

static void minute_turn(struct top_refused *top, uint64_t now_ms)
{
    if (now_ms - top->minute_ms < MINUTE_MS)
        return;
    top->minute_ms = now_ms;
    for (uint32_t i = 0; i < TOP_REFUSED_ROWS; i++)
        if (top->rows[i].last_ms + MINUTE_MS < now_ms)
            top->rows[i].weight /= 2;
}

void top_refused_fold(struct top_refused *top, const struct watch_table *table, uint64_t now_ms)
{
    minute_turn(top, now_ms);
    for (uint32_t i = 0; i < WATCH_ROWS; i++) {
        const struct watch_row *noted = &table->rows[i];
        const uint64_t refused = (uint64_t)noted->too_fast + noted->failed;
        if (noted->noted == 0 || refused == 0)
            continue;
        struct refused_row *row = row_take(top, noted);
        row->weight += refused;
        row->too_fast += noted->too_fast;
        row->failed += noted->failed;
        row->last_ms = now_ms;
    }
}

/* The heaviest row after `before` (NULL: of all): lighter, or as heavy and further on in the table.
 * NULL: there is none. */
static const struct refused_row *row_next(const struct top_refused *top, const struct refused_row *before)
{
    const struct refused_row *found = NULL;
    for (uint32_t i = 0; i < TOP_REFUSED_ROWS; i++) {
        const struct refused_row *row = &top->rows[i];
        const bool later = before == NULL || row->weight < before->weight
            || (row->weight == before->weight && row > before);
        if (row->weight != 0 && later && (found == NULL || row->weight > found->weight))
            found = row;
    }
    return found;
}

static void row_json(const struct refused_row *row, struct text *out)
{
    char bytes[ADDRESS_BLOCK_CHARS_MAX + 1];
    struct text whom = text_in(bytes, sizeof bytes - 1);
    if (row->user != 0) {
        text_hex64(&whom, row->user);
    } else {
        const struct address_block block = { row->address,
            address_is_v4(&row->address) ? ADDRESS_BITS : ADDRESS_GROUP_BITS };
        address_block_text(&whom, &block);
    }
    bytes[whom.size] = '\0';
    json_object_begin(out, NULL);
    json_text(out, "kind", row->user != 0 ? "user" : "address");
    json_text(out, row->user != 0 ? "user_id" : "address", bytes);
    json_u64(out, "too_fast", row->too_fast);
    json_u64(out, "failed", row->failed);
    json_u64(out, "last_ms", row->last_ms);
    json_object_end(out);
}

void top_refused_json(const struct top_refused *top, struct text *out)
{
    const struct refused_row *row = NULL;
    json_list_begin(out, "refused");
    for (uint32_t shown = 0; shown < TOP_REFUSED_SHOWN && (row = row_next(top, row)) != NULL; shown++)
        row_json(row, out);
    json_list_end(out);
}
