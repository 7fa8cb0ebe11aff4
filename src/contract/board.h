/* contract/board.h: what the inventory shows to the edges, readable from any thread without a
 * lock. Written by the inventory thread, and only with what is durable. The counts of one item
 * are a consistent set (sequence number, even when stable). The buyer filter has no false
 * negatives for durable tickets: it decides who is still let through to the inventory when the
 * sold-out flag is up, so that a lost win can be learned again. */
#ifndef STAMPEDE_CONTRACT_BOARD_H
#define STAMPEDE_CONTRACT_BOARD_H

#include "base/arena.h"
#include "base/hash.h"
#include "contract/types.h"

#include <stdalign.h>
#include <stdatomic.h>

enum wins_stopped { WINS_RUNNING, WINS_NO_DISK, WINS_ORDERS_LAG, WINS_FULL, WINS_FAILED };

struct board_item {
    alignas(64) _Atomic uint32_t sequence;
    _Atomic uint32_t sale; /* 0: not preheated */
    _Atomic uint64_t start_ms, end_ms;
    _Atomic uint32_t gate; /* enum gate */
    _Atomic uint32_t limit_per_user;
    _Atomic uint32_t channel_free[CHANNELS_MAX];
    _Atomic uint64_t unit_price;
    _Atomic uint32_t given, held, sold, safety, written_off;
};

struct board {
    uint32_t item_count; /* valid ids are 1 … item_count − 1 */
    struct board_item *items;
    _Atomic uint32_t wins_stopped; /* enum wins_stopped */
    _Atomic uint64_t durable_lsn;
    uint64_t filter_mask; /* bits − 1 */
    _Atomic uint64_t *filter;
    struct hash_key filter_key;
};

void board_create(struct board *board, struct arena *arena, uint32_t item_count, uint64_t buyers_max);
size_t board_bytes(uint32_t item_count, uint64_t buyers_max); /* arena bytes that board_create takes */

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
void board_add_buyer(struct board *board, item_id item, user_id user);

/* Any thread. */
bool board_may_have_bought(const struct board *board, item_id item, user_id user);
bool board_read(const struct board *board, item_id item, struct board_update *copy); /* false: no such item */

#endif
