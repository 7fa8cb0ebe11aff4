/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine.h: the deterministic state machine that decides. engine_apply(state, command)
 * → outcome: no clock, no disk, no randomness, no settings inside; all of that comes in with the
 * command. The running server, recovery, the simulator and `stampede verify` call this same
 * function.
 *
 * Model. A sale has a window, gates and an optional limit per user over all its items. An item
 * belongs to a sale and has units in channel pools and in safety stock. A win moves units from a
 * pool to held; a settle step moves them on: held → sold, held or sold → back to a pool or to
 * safety, sold → written off. At every moment
 *     given = Σ pools + safety + held + sold + written off          (I1)
 * and every change re-checks it for the item it touched.
 *
 * Thread: one owner. Memory: one arena, sized at create, nothing to free piece by piece.
 * Errors: refusals are outcomes and change nothing; a full table is an outcome
 * (ANSWER_UNAVAILABLE, CONFLICT_FULL). */
#ifndef STAMPEDE_INVENTORY_ENGINE_H
#define STAMPEDE_INVENTORY_ENGINE_H

#include "base/arena.h"
#include "base/thread.h"
#include "contract/board.h"
#include "contract/command.h"
#include "inventory/buyers.h"
#include "inventory/engine_config.h"
#include "inventory/places.h"
#include "inventory/tickets.h"

struct engine_sale {
    uint64_t start_ms, end_ms;
    uint32_t limit_per_user;
    uint32_t items;   /* preheated */
    uint32_t arrived; /* in the waiting room; arrival numbers are below this */
    uint32_t drawn;   /* visitors when the sale started: the draw is among them */
    uint32_t head;    /* places below this were admitted */
    bool defined, eligible_only, opened, paused, ended, one_open_order;
    bool draw_done;                                     /* `drawn` is final */
    uint32_t cooldown_s, return_draw_ms, start_draw_ms; /* as in command_sale */
    /* Where there is a draw at the start: what it is drawn with, and when it was opened by hand. */
    uint64_t draw_seed, opened_ms;
};

/* Users have a row for the whole sale: what they have of one item decides about the others. */
static inline bool engine_sale_counts_users(const struct engine_sale *sale)
{
    return sale->limit_per_user != 0 || sale->one_open_order;
}

struct engine_item {
    sale_id sale; /* 0: not preheated */
    uint32_t limit_per_user;
    uint64_t unit_price;
    uint32_t pay_window_ms;
    uint32_t total, locked;
    uint32_t given, held, sold, safety, written_off;
    uint32_t free[CHANNELS_MAX];
    /* The return draw of each pool (engine_returns.c): when it is over, and what it is drawn with. */
    uint64_t draw_until_ms[CHANNELS_MAX];
    uint64_t draw_seed[CHANNELS_MAX];
};

/* What became of the last COMMAND_KEYS_MAX commands that had a key, the oldest replaced first. */
struct engine_key {
    uint64_t key, request;
    int32_t applied;
    uint8_t answer, detail;
    uint16_t unused; /* 0: rows are compared and kept as bytes */
};
struct engine_keys {
    uint64_t count; /* ever noted */
    struct engine_key *rows;
};
static inline uint64_t engine_keys_kept(uint64_t noted)
{
    return noted < COMMAND_KEYS_MAX ? noted : COMMAND_KEYS_MAX;
}

/* Transfers between this shard of a sale and each other one: the number of the last one that was given to it,
 * and of the last one that was taken from it. One machine has none. */
struct engine_transfers {
    uint32_t given[SHARDS_MAX], taken[SHARDS_MAX];
};

struct engine {
    struct engine_config config;
    struct arena arena;
    struct engine_sale *sales;
    struct engine_item *items;
    struct tickets tickets;
    struct buyers buyers;
    struct places places;
    struct engine_keys keys;
    struct engine_transfers transfers;
    struct thread_owner owner;
};

MUST_CHECK enum status engine_open(struct engine *engine, const struct engine_config *config);
void engine_close(struct engine *engine);
/* Before a crowd comes, any thread: arena_touch of the tables that purchases and arrivals look up. */
void engine_touch(const struct engine *engine);

/* may_change false: a command that would change state is answered ANSWER_UNAVAILABLE and changes
 * nothing. */
void engine_apply(
    struct engine *engine, const struct command *command, bool may_change, struct outcome *outcome);

/* No win finds room any more: of tickets, or of users. */
static inline bool engine_full(const struct engine *engine)
{
    return tickets_full(&engine->tickets) || buyers_room(&engine->buyers) < BUYER_ROWS_PER_WIN;
}

/* The item a command is about, for publishing: 0 if it is a whole sale or none. */
item_id engine_command_item(const struct command *command, const struct outcome *outcome);
/* False: unknown. */
bool engine_item_view(const struct engine *engine, item_id item, struct board_update *view);
struct board_room_update engine_room_view(const struct engine *engine, sale_id id);
void engine_counts(const struct engine_item *item, struct item_counts *counts);
void engine_item_counts(const struct engine *engine, item_id id, struct item_counts *counts);

/* Everything at once, slowly: I1, I2, I4 and that tickets, counters and counts agree. NULL:
 * fine, else what is wrong. */
const char *engine_check(const struct engine *engine);
/* A digest of the whole state; equal states have equal digests whatever their history of tables. */
uint64_t engine_digest(const struct engine *engine);

#endif
