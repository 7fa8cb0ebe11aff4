/* SPDX-License-Identifier: Apache-2.0 */
/* api/catalog_item.c: an item as the catalog shows it. */
#include "api/catalog_blocks.h"
#include "contract/booking.h"

/* What people may do instead of buying it. Prepared here: the door's answers only copy it. */
static void offers_write(const struct item *row, struct text *out)
{
    const struct sold_out_offer *offer = &row->offer;
    const item_id presale = offer->presale_item != 0 ? offer->presale_item : row->id;
    if (offer->kind == SOLD_OUT_WAITLIST)
        text_format(out,
            ",\"offers\":{\"kind\":\"waitlist\",\"waitlist\":\"/v1/items/%u/waitlist\"}", row->id);
    if (offer->kind == SOLD_OUT_SUBSTITUTES)
        text_format(
            out, ",\"offers\":{\"kind\":\"substitutes\",\"substitutes\":[%s]}", offer->substitutes);
    if (offer->kind != SOLD_OUT_PRESALE)
        return;
    text_format(out, ",\"offers\":{\"kind\":\"presale\",\"item\":%u,\"presale\":\"/v1/items/%u/presale\"",
        presale, presale);
    if (offer->deposit_item != 0)
        text_format(out, ",\"deposit_item\":%u,\"deposit_kept\":\"%s\"", offer->deposit_item,
            deposit_kept_name(offer->deposit_kept));
    text_literal(out, "}");
}

/* Without text_format: a start makes all items that there ever were. */
static void number_add(struct text *text, const char *name, uint64_t number)
{
    text_string(text, name);
    text_u64(text, number);
}

struct catalog_item *catalog_item_make(const struct item *row)
{
    char bytes[512];
    struct text text = text_in(bytes, sizeof bytes);
    number_add(&text, "\"id\":", row->id);
    number_add(&text, ",\"sale\":", row->sale);
    text_literal(&text, ",");
    const size_t head_bytes = text.size;
    number_add(&text, ",\"flash_price\":", row->flash_price);
    number_add(&text, ",\"limit_per_user\":", row->limit_per_user);
    text_string(&text, row->deduct_on_payment ? ",\"deduct\":\"payment\"" : ",\"deduct\":\"order\"");
    if (row->limits.period_limit > 0)
        text_format(&text, ",\"period_limit\":%u,\"period_days\":%u", row->limits.period_limit,
            row->limits.period_days);
    const size_t tail_bytes = text.size - head_bytes;
    offers_write(row, &text);
    invariant(!text.overflow);
    struct catalog_item *item = block_take(sizeof *item + text.size);
    *item = (struct catalog_item){ .head = span_of(bytes, head_bytes),
        .tail = span_of(bytes + head_bytes, tail_bytes),
        .offers = text_since(&text, head_bytes + tail_bytes),
        .id = row->id,
        .sale = row->sale,
        .product = row->product,
        .deduct_on_payment = row->deduct_on_payment,
        .limit_per_user = row->limit_per_user,
        .limits = row->limits,
        .flash_price = row->flash_price };
    span_keep(&item->offers, span_keep(&item->tail, span_keep(&item->head, (char *)(item + 1))));
    return item;
}
