/* SPDX-License-Identifier: Apache-2.0 */
/* contract/board.h: what the inventory shows to the edges, readable from any thread without a
 * lock. Written by the inventory thread, and only with what is durable. The counts of one item
 * are a consistent set (sequence number, even when stable). The buyer filter has no false
 * negatives for durable tickets: it decides who is still let through to the inventory when the
 * sold-out flag is up, so that a lost win can be learned again.
 * The holder filter tells who may have units that count against a limit over a period
 * (contract/limit_uses.h), in any sale. It is a hint: a user in it is asked about in the database, and one
 * who is missing there meets the limit when the order is written. */
#ifndef STAMPEDE_CONTRACT_BOARD_H
#define STAMPEDE_CONTRACT_BOARD_H

#include "base/arena.h"
#include "base/hash.h"
#include "contract/types.h"

#include <stdalign.h>
#include <stdatomic.h>

enum wins_stopped {
    WINS_RUNNING,
    WINS_NO_DISK,
    WINS_ORDERS_LAG,
    WINS_FULL,
    WINS_FAILED,
    WINS_NO_FOLLOWER, /* the second machine must have each win, and is away */
};

struct board_item {
    alignas(64) _Atomic uint32_t sequence;
    _Atomic uint32_t sale; /* 0: not preheated */
    _Atomic uint64_t start_ms, end_ms;
    _Atomic uint32_t gate; /* enum gate */
    _Atomic uint32_t limit_per_user;
    _Atomic uint32_t channel_free[CHANNELS_MAX];
    _Atomic uint64_t unit_price;
    _Atomic uint32_t given, held, sold, safety, written_off;
    _Atomic uint64_t sold_out_ms; /* board_note_sold_out; beside the sequence */
};

/* The waiting room of a sale. */
struct board_room {
    _Atomic uint32_t arrived;
    _Atomic uint32_t head;
    _Atomic uint64_t draw; /* 0: not yet; else 1 + how many take part */
};

/* Units of purchases of one item on their way, by channel: what was asked for and what was decided,
 * since the start, modulo 2^32; the difference is what the inventory has still to decide or to make
 * durable. Whoever hands a purchase in adds to `asked` before that; the inventory adds to `decided`
 * before it publishes the counts after the decision. So with board_queued after a look at
 * channel_free, no unit counts as taken twice: free − queued is never less than what will be left. */
struct board_flow {
    alignas(64) _Atomic uint32_t asked[CHANNELS_MAX];
    _Atomic uint32_t decided[CHANNELS_MAX];
};

/* The holder filter: pairs of a limit group and a user. Any thread adds. */
struct board_holders {
    uint64_t max;            /* pairs that are taken in */
    _Atomic uint64_t count;  /* those that were */
    _Atomic uint64_t *words; /* as many as the buyer filter has */
};

struct board {
    uint32_t item_count; /* valid ids are 1 … item_count − 1 */
    uint32_t free_channels; /* the first so many are counted as free: not CHANNEL_LINE, where there is one */
    struct board_item *items;
    struct board_flow *flows;      /* likewise */
    _Atomic uint32_t wins_stopped; /* enum wins_stopped */
    _Atomic uint64_t durable_lsn;
    _Atomic uint64_t tickets;        /* of config tickets_max, those that are used */
    _Atomic uint32_t buyers_percent; /* of the rows that count what users have */
    uint32_t sale_count;             /* of rooms; 0: there are none */
    struct board_room *rooms;
    _Atomic uint64_t places_durable; /* rows of the table of places that may be told */
    _Atomic uint64_t places_freed;   /* of these, the first so many are free again */
    uint64_t filter_mask;            /* bits − 1 */
    _Atomic uint64_t *filter;
    struct hash_key filter_key;
    _Atomic uint64_t *limit_groups; /* by item: what its limit over a period counts together; 0: no limit */
    struct board_holders *holders;
};

void board_create(struct board *board, struct arena *arena, uint32_t item_count, uint64_t buyers_max);
/* Before a crowd comes, any thread: arena_touch of the buyer filter. */
void board_touch(const struct board *board);
size_t board_bytes(uint32_t item_count, uint64_t buyers_max); /* arena bytes that board_create takes */

/* After board_create: room for the waiting rooms of sales 1 … sale_count − 1. */
void board_create_rooms(struct board *board, struct arena *arena, uint32_t sale_count);
size_t board_rooms_bytes(uint32_t sale_count);

/* Inventory thread. */
struct board_update {
    item_id item;
    sale_id sale;
    uint64_t start_ms, end_ms, unit_price;
    enum gate gate;
    uint32_t limit_per_user;
    struct item_counts counts;
};
void board_publish(struct board *board, const struct board_update *update);
/* With what was published: remembers when the last free unit went, the first time. now_ms 0: at the start
 * of the program; if units were taken before, that moment is not known and is never told. */
void board_note_sold_out(struct board *board, const struct board_update *update, uint64_t now_ms);
struct board_room_update {
    sale_id sale;
    uint32_t arrived, drawn, head;
    bool draw_done;
};
void board_publish_room(struct board *board, const struct board_room_update *update);
void board_decided(struct board *board, item_id item, channel_index channel, uint32_t units);
void board_expect_buyer(const struct board *board, item_id item, user_id user); /* a prefetch */
void board_add_buyer(struct board *board, item_id item, user_id user);

/* Any thread. */
/* Units asked for and not decided yet; `item` and `channel` are valid. */
static inline uint32_t board_queued(const struct board *board, item_id item, channel_index channel)
{
    const struct board_flow *flow = &board->flows[item];
    const uint32_t decided = atomic_load_explicit(&flow->decided[channel], memory_order_acquire);
    return atomic_load_explicit(&flow->asked[channel], memory_order_relaxed) - decided;
}
bool board_may_have_bought(const struct board *board, item_id item, user_id user);
static inline uint64_t board_limit_group(const struct board *board, item_id item) /* `item` is valid */
{
    return atomic_load_explicit(&board->limit_groups[item], memory_order_relaxed);
}
/* `group`: not 0. False: for certain not, as far as this process has heard. */
bool board_may_hold(const struct board *board, uint64_t group, user_id user);
/* A full filter takes nobody in: it would send everybody to the database. */
void board_add_holder(const struct board *board, uint64_t group, user_id user);
bool board_holders_full(const struct board *board);
void board_asked(struct board *board, item_id item, channel_index channel, uint32_t units);
bool board_read(const struct board *board, item_id item, struct board_update *copy); /* false: no such item */
uint64_t board_sold_out_ms(const struct board *board, item_id item); /* 0: never yet, or not known */
/* Each number is one that was true; `arrived` is never below `drawn` or `head`. False: no such sale. */
bool board_read_room(const struct board *board, sale_id sale, struct board_room_update *copy);

/* The worker, with the catalog; from then on each buyer of the item is a holder. */
void board_set_limit_group(const struct board *board, item_id item, uint64_t group);
/* The worker, to fill it again: others may add meanwhile, and some of what they add may be lost. */
void board_clear_holders(const struct board *board);

#endif
