/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/push_items.h: the items that push connections of one edge watch: their state as the board
 * shows it, and the one frame that tells all watchers of a change.
 *
 * A version is the server time in ms at which the edge saw the state, and grows with every change.
 * Thread: the edge's. Memory: in the structure. Errors: an item that can't be watched any more
 * (PUSH_ITEMS_MAX) is left out. */
#ifndef STAMPEDE_GATEWAY_PUSH_ITEMS_H
#define STAMPEDE_GATEWAY_PUSH_ITEMS_H

#include "base/text.h"
#include "contract/board.h"

enum {
    PUSH_ITEMS_MAX = 256, /* watched at once on one edge */
    PUSH_ITEM_FRAME_BYTES = 126,
};

enum push_item_state {
    PUSH_ITEM_SCHEDULED,
    PUSH_ITEM_AVAILABLE,
    PUSH_ITEM_SOLD_OUT,
    PUSH_ITEM_PAUSED,
    PUSH_ITEM_ENDED,
};
struct push_item {
    item_id item;          /* 0: the place is free */
    channel_index channel; /* whose units count */
    uint32_t free;         /* units of that channel, when the state was seen */
    uint32_t watchers;
    uint32_t changed_at; /* which change of the table was its last */
    uint8_t state;       /* enum push_item_state */
    uint8_t frame_bytes;
    uint64_t version;
    char frame[PUSH_ITEM_FRAME_BYTES];
};
struct push_items {
    struct push_item items[PUSH_ITEMS_MAX];
    uint32_t used;    /* places from here on were never used */
    uint32_t changes; /* so far; compared by difference */
};

/* The item's place with one watcher more, or -1: there is none left, or no such item. */
int push_items_watch(struct push_items *items, const struct board *board, item_id item,
    channel_index channel, uint64_t now_ms);
void push_items_unwatch(struct push_items *items, uint8_t place);
/* Looks at the board; true: something has changed. */
bool push_items_look(struct push_items *items, const struct board *board, uint64_t now_ms);
/* {"item":3,"state":"sold-out","free":0,"version":17…} */
void push_item_json(const struct push_item *item, struct text *out);

#endif
