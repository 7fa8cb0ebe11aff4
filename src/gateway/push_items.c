/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/push_items.h"

#include "edge/websocket.h"

static enum push_item_state state_of(const struct board_update *view, channel_index channel, uint64_t now_ms)
{
    if (view->gate == GATE_ENDED || now_ms >= view->end_ms)
        return PUSH_ITEM_ENDED;
    if (view->gate == GATE_PAUSED)
        return PUSH_ITEM_PAUSED;
    if (view->gate != GATE_OPENED && now_ms < view->start_ms)
        return PUSH_ITEM_SCHEDULED;
    return view->counts.channel_free[channel] > 0 ? PUSH_ITEM_AVAILABLE : PUSH_ITEM_SOLD_OUT;
}

static void members(const struct push_item *item, struct text *out)
{
    static const char *const names[] = {
        [PUSH_ITEM_SCHEDULED] = "scheduled",
        [PUSH_ITEM_AVAILABLE] = "available",
        [PUSH_ITEM_SOLD_OUT] = "sold-out",
        [PUSH_ITEM_PAUSED] = "paused",
        [PUSH_ITEM_ENDED] = "ended",
    };
    text_format(out, "\"item\":%u,\"state\":\"%s\",\"free\":%u,\"version\":%llu}", item->item,
        names[item->state], item->free, (unsigned long long)item->version);
}

void push_item_json(const struct push_item *item, struct text *out)
{
    text_literal(out, "{");
    members(item, out);
}

static void item_set(struct push_item *item, enum push_item_state state,
    const struct board_update *view, uint64_t now_ms)
{
    char bytes[PUSH_ITEM_FRAME_BYTES];
    struct text payload = text_in(bytes, sizeof bytes);
    struct text frame = text_in(item->frame, sizeof item->frame);
    item->state = (uint8_t)state;
    item->free = view->counts.channel_free[item->channel];
    item->version = now_ms > item->version ? now_ms : item->version + 1;
    text_literal(&payload, "{\"type\":\"item\",");
    members(item, &payload);
    websocket_frame(&frame, WEBSOCKET_TEXT, text_span(&payload));
    invariant(!payload.overflow && !frame.overflow);
    item->frame_bytes = (uint8_t)frame.size;
}

static int place_find(struct push_items *items, item_id item, channel_index channel)
{
    int vacant = -1;
    for (uint32_t i = 0; i < items->used; i++) {
        if (items->items[i].item == item && items->items[i].channel == channel)
            return (int)i;
        if (items->items[i].item == 0 && vacant < 0)
            vacant = (int)i;
    }
    if (vacant < 0 && items->used < PUSH_ITEMS_MAX)
        vacant = (int)items->used++;
    return vacant;
}

int push_items_watch(struct push_items *items, const struct board *board, item_id item,
    channel_index channel, uint64_t now_ms)
{
    struct board_update view;
    if (!board_read(board, item, &view))
        return -1;
    const int place = place_find(items, item, channel);
    if (place < 0)
        return -1;
    struct push_item *watched = &items->items[place];
    if (watched->item == 0) {
        *watched = (struct push_item){ .item = item, .channel = channel, .changed_at = items->changes };
        item_set(watched, state_of(&view, channel, now_ms), &view, now_ms);
    }
    watched->watchers++;
    return place;
}

void push_items_unwatch(struct push_items *items, uint8_t place)
{
    struct push_item *item = &items->items[place];
    invariant(item->watchers > 0);
    if (--item->watchers == 0)
        item->item = 0;
}

bool push_items_look(struct push_items *items, const struct board *board, uint64_t now_ms)
{
    bool news = false;
    for (uint32_t i = 0; i < items->used; i++) {
        struct push_item *item = &items->items[i];
        struct board_update view;
        if (item->item == 0 || !board_read(board, item->item, &view))
            continue;
        const enum push_item_state state = state_of(&view, item->channel, now_ms);
        if (state == item->state)
            continue;
        item_set(item, state, &view, now_ms);
        item->changed_at = ++items->changes;
        news = true;
    }
    return news;
}
