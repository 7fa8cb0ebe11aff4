/* SPDX-License-Identifier: Apache-2.0 */
/* api/catalog.h: what the public may read about published sales, rendered as far as it does
 * not change by itself. The worker makes a new version whenever a sale, item or product changes,
 * never alters it afterwards, and hands it to the edges by one pointer (handover.h). Counts and
 * gates are not in it: they come from the board at the moment of the request.
 *
 * Sales, items and products are blocks of their own, found by id (id_table.h). A version shares
 * with the one before whatever did not change, so that a change costs the same however many
 * there are. A block names others by id only, never by address. */
#ifndef STAMPEDE_API_CATALOG_H
#define STAMPEDE_API_CATALOG_H

#include "api/id_table.h"
#include "base/text.h"
#include "contract/board.h"
#include "contract/order_store.h"
#include "funnel/item_rules.h"

/* In a further language: what it leaves out is as without a language. */
struct catalog_text {
    struct span tag, name, about;
};
struct catalog_product {
    uint32_t id;
    char currency[4];
    uint64_t list_price;
    struct span name, about, image; /* as they are; image: the first, or empty */
    struct span head;               /* "product":{… which is still open */
    struct span description;        /* as a JSON string */
    struct span tail;               /* closes the product; members up to list_price */
    struct span texts, names; /* ,"texts":{…}: all, only the names; empty: no further language */
    uint32_t language_count;
    const struct catalog_text *languages;
};
struct catalog_item {
    item_id id;
    sale_id sale;
    uint32_t product;
    bool deduct_on_payment;
    uint32_t limit_per_user; /* 0: none */
    struct item_limits limits;
    uint64_t flash_price;
    struct span head;   /* members before the product's */
    struct span tail;   /* members behind them, up to deduct */
    struct span offers; /* ,"offers":{…}: when it is sold out; empty: nothing */
};
struct catalog_sale {
    sale_id id;
    uint64_t start_ms, end_ms;
    uint32_t limit_per_user;
    bool details_required, waiting_room, pass_once;
    uint8_t human_check; /* enum human_check */
    uint32_t drop_percent, pace_per_s;
    uint32_t timetable; /* that made it; 0: none */
    uint64_t day_ms;    /* the beginning of the day that it was made for */
    uint8_t gate;
    bool archived; /* in no list; it can still be found by its number */
    uint32_t item_count;
    const item_id *items;    /* ascending */
    struct span title;       /* as a JSON string */
    struct span beacon_name; /* as a JSON string; empty: none is named, or there is no room */
    struct span message;     /* of its waiting room, the same */
    struct span texts;       /* ,"texts":{…}, or empty */
    uint32_t message_mark;   /* another one, most likely, when the message is another */
};
/* Sales that are not archived. */
struct catalog_lists {
    uint32_t listed; /* the number of rows in by_end */
    uint32_t coming; /* the number of rows in by_start: those that had not ended when it was made */
    uint64_t until_ms; /* no sale of by_start ends before */
    sale_id *by_start; /* the earliest first */
    sale_id *by_end;   /* the latest first */
};
struct catalog {
    uint64_t version;
    struct id_table sales, items, products; /* items: of public sales; products: of those, and maybe more */
    struct catalog_lists *lists;
    /* The worker's: */
    struct blocks dropped; /* what the next version does not have; freed with this one */
    bool replaced;         /* there is a next version, which has the rest */
};

/* catalog_build.c. Reads the store. Thread: the worker. */
MUST_CHECK enum status catalog_build(struct catalog **catalog, struct order_store *store);
enum catalog_part { CATALOG_SALE, CATALOG_ITEM, CATALOG_PRODUCT };
struct catalog_change {
    enum catalog_part part;
    uint32_t id;
};
/* *next: what `now` becomes by a change in the store; `now`, if it is nothing that the public sees.
 * `now` may still be read, and is freed before *next. Anything but STATUS_OK: nothing is changed. */
MUST_CHECK enum status catalog_change(struct catalog *now, struct order_store *store,
    const struct catalog_change *change, struct catalog **next);
/* Versions are freed in the order in which they were made. */
void catalog_free(void *pointer); /* to a catalog */

/* What the sales in it tell the door, for the items 1 … items_max − 1: all of them,
 * or those that differ since the version before. Thread: the worker. */
void catalog_rules_show(const struct catalog *catalog, struct item_rules *rules, uint32_t items_max);
void catalog_rules_change(const struct catalog *before, const struct catalog *after,
    const struct catalog_change *change, struct item_rules *rules, uint32_t items_max);

/* Any thread, while the catalog is held. NULL: not public. */
static inline const struct catalog_sale *catalog_sale_find(const struct catalog *catalog, sale_id sale)
{
    return id_table_find(&catalog->sales, sale);
}
static inline const struct catalog_item *catalog_item_find(const struct catalog *catalog, item_id item)
{
    return id_table_find(&catalog->items, item);
}
/* The one with the next higher id; NULL: there is none. 0: the first. */
static inline const struct catalog_sale *catalog_sale_next(const struct catalog *catalog, sale_id after)
{
    return id_table_next(&catalog->sales, after);
}
static inline const struct catalog_item *catalog_item_next(const struct catalog *catalog, item_id after)
{
    return id_table_next(&catalog->items, after);
}
/* These are always there. `i`: below sale->item_count. */
static inline const struct catalog_item *catalog_item_at(
    const struct catalog *catalog, const struct catalog_sale *sale, uint32_t i)
{
    return id_table_at(&catalog->items, sale->items[i]);
}
static inline const struct catalog_sale *catalog_sale_of(
    const struct catalog *catalog, const struct catalog_item *item)
{
    return id_table_at(&catalog->sales, item->sale);
}
static inline const struct catalog_product *catalog_product_of(
    const struct catalog *catalog, const struct catalog_item *item)
{
    return id_table_at(&catalog->products, item->product);
}

/* "scheduled", "open", "paused" or "ended", by gate and time: what the public sees. */
const char *sale_state_name(uint8_t gate, uint64_t start_ms, uint64_t end_ms, uint64_t now_ms);
/* ,"currency":"CNY","minor_units":2: how many digits its smallest unit has. The digits are left out
 * for what is no currency (an old database may hold that). */
void currency_members(const char *currency, struct text *out);
/* "given":…,"free":… without braces, all of them: for the shop, not for the public. */
void counts_members(const struct item_counts *counts, struct text *out);
/* The gate and schedule of a sale as the board has it (through any preheated item), else as the
 * store had it. */
void catalog_sale_view(
    const struct board *board, const struct catalog_sale *sale, struct board_update *view);

/* Whether the board says that somebody opened the sale by hand. */
bool catalog_sale_opened(const struct board *board, const struct catalog_sale *sale);

/* "id":… up to "deduct":…, without braces: what does not change by itself. */
void catalog_item_members(const struct catalog *catalog, const struct catalog_item *item,
    bool with_description, struct text *out);
/* What an item takes in a list, at most. */
size_t catalog_item_bytes(const struct catalog *catalog, const struct catalog_item *item);

/* JSON, with the board's numbers of this moment, as a buyer of that channel may know them: `free` is the
 * channel's own, what is kept as safety stock or written off does not show, and given is the sum of what
 * does. Lists stop before `room` bytes are used and say where to go on ("next"). */
void catalog_render_item(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_item *item, bool with_description, uint64_t now_ms, struct text *out);
void catalog_render_sale(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_sale *sale, item_id after, uint64_t now_ms, size_t room, struct text *out);
/* An object of the sale, still open. */
void catalog_sale_members(
    const struct board *board, const struct catalog_sale *sale, uint64_t now_ms, struct text *out);

/* catalog_list.c: all sales that are not over, or all that are, each with its first items. */
enum { CATALOG_LIST_ITEMS_MAX = 12 }; /* of one sale in a list */
struct catalog_wish {
    bool ended;
    /* Where the page before ended ("next" of it); id 0: from the beginning. */
    uint64_t after_ms;
    sale_id after;
};
/* For catalog_build.c: the lists of all sales; or those of the version before, with this one as it
 * is now (NULL: it is not there any more). They are one piece of memory. */
struct catalog_lists *catalog_lists_make(const struct catalog *catalog, uint64_t now_ms);
struct catalog_lists *catalog_lists_change(
    const struct catalog *catalog, sale_id id, const struct catalog_sale *sale, uint64_t now_ms);
void catalog_render_sales(const struct catalog *catalog, const struct board *board, channel_index channel,
    const struct catalog_wish *wish, uint64_t now_ms, size_t room, struct text *out);

/* catalog_sessions.c: the sales that timetables made for today, by the calendar there, the earliest first. */
enum { CATALOG_SESSIONS_MAX = 64 };
void catalog_render_sessions(
    const struct catalog *catalog, const struct board *board, uint64_t now_ms, struct text *out);

#endif
