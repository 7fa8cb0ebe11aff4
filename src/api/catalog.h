/* SPDX-License-Identifier: Apache-2.0 */
/* api/catalog.h: what the public may read about published sales, rendered as far as it does
 * not change by itself. Built by the worker whenever a sale, item or product changes, never
 * altered afterwards, and handed to the edges by one pointer (handover.h). Counts and gates are
 * not in it: they come from the board at the moment of the request. */
#ifndef STAMPEDE_API_CATALOG_H
#define STAMPEDE_API_CATALOG_H

#include "base/text.h"
#include "contract/board.h"
#include "contract/order_store.h"
#include "funnel/item_rules.h"

struct catalog_item {
    item_id id;
    sale_id sale;
    uint32_t sale_at; /* in sales */
    char currency[4];
    bool deduct_on_payment;
    uint64_t list_price, flash_price;
    struct span name, about, image; /* of the product, as they are; image: the first, or empty */
    struct span head;               /* members up to the product's, which is still open */
    struct span description;        /* of the product, as a JSON string */
    struct span tail;               /* closes the product; members up to deduct */
};
struct catalog_sale {
    sale_id id;
    uint64_t start_ms, end_ms;
    uint32_t limit_per_user;
    bool details_required, waiting_room, pass_once;
    uint8_t human_check; /* enum human_check */
    uint32_t drop_percent, pace_per_s;
    uint8_t gate;
    bool archived;                   /* in no list; it can still be found by its number */
    uint32_t first_item, item_count; /* in items */
    struct span title;               /* as a JSON string */
    struct span beacon_name; /* as a JSON string; empty: none is named, or there is no room */
};
struct catalog {
    uint32_t sale_count, item_count;
    struct catalog_sale *sales; /* by id, ascending */
    struct catalog_item *items; /* by sale, then id */
    uint32_t *item_by_id;       /* index + 1; 0: not public */
    uint32_t item_ids;          /* size of item_by_id */
    uint32_t listed;            /* sales that are not archived: the number of rows in by_end */
    uint32_t coming;    /* those that had not ended at build: the number of rows in by_start */
    uint32_t *by_start; /* in sales; the earliest first */
    uint32_t *by_end;   /* in sales; the latest first */
    char *text;         /* what the spans point into */
};

/* Reads the store. Thread: the worker. */
MUST_CHECK enum status catalog_build(struct catalog **catalog, struct order_store *store);
void catalog_free(void *pointer); /* to a catalog */

/* What the sales in it tell the door, for the items 1 … items_max − 1. Thread: the worker. */
void catalog_rules_show(const struct catalog *catalog, struct item_rules *rules, uint32_t items_max);

/* Any thread, while the catalog is held. NULL: not public. */
const struct catalog_sale *catalog_sale_find(const struct catalog *catalog, sale_id sale);
const struct catalog_item *catalog_item_find(const struct catalog *catalog, item_id item);
static inline const struct catalog_sale *catalog_sale_of(
    const struct catalog *catalog, const struct catalog_item *item)
{
    return &catalog->sales[item->sale_at];
}

/* "scheduled", "open", "paused" or "ended", by gate and time: what the public sees. */
const char *sale_state_name(uint8_t gate, uint64_t start_ms, uint64_t end_ms, uint64_t now_ms);
/* The same of a row of the store; of a public sale the board knows before the store does. */
const char *catalog_sale_state(const struct catalog *catalog, const struct board *board,
    const struct sale *row, uint64_t now_ms);
/* ,"currency":"CNY","minor_units":2: how many digits its smallest unit has. The digits are left out
 * for what is no currency (an old database may hold that). */
void currency_members(const char *currency, struct text *out);
/* "given":…,"free":… without braces, all of them: for the shop, not for the public. */
void counts_members(const struct item_counts *counts, struct text *out);
/* The gate and schedule of a sale as the board has it (through any preheated item), else as the
 * store had it. */
void catalog_sale_view(const struct catalog *catalog, const struct board *board,
    const struct catalog_sale *sale, struct board_update *view);

/* Whether the board says that somebody opened the sale by hand. */
bool catalog_sale_opened(
    const struct catalog *catalog, const struct board *board, const struct catalog_sale *sale);

/* JSON, with the board's numbers of this moment, as a buyer of that channel may know them: `free` is the
 * channel's own, what is kept as safety stock or written off does not show, and given is the sum of what
 * does. Lists stop before `room` bytes are used and say where to go on ("next"). */
void catalog_render_item(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_item *item, bool with_description, uint64_t now_ms, struct text *out);
void catalog_render_sale(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_sale *sale, item_id after, uint64_t now_ms, size_t room, struct text *out);
/* An object of the sale, still open. */
void catalog_sale_members(const struct catalog *catalog, const struct board *board,
    const struct catalog_sale *sale, uint64_t now_ms, struct text *out);

/* catalog_list.c: all sales that are not over, or all that are, each with its first items. */
enum { CATALOG_LIST_ITEMS_MAX = 12 }; /* of one sale in a list */
struct catalog_wish {
    bool ended;
    /* Where the page before ended ("next" of it); id 0: from the beginning. */
    uint64_t after_ms;
    sale_id after;
};
void catalog_list_make(struct catalog *catalog, uint64_t now_ms); /* once, by catalog_build */
void catalog_render_sales(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_wish *wish, uint64_t now_ms, size_t room, struct text *out);

#endif
