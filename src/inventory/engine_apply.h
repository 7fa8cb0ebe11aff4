/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/engine_apply.h: one function per command; engine.c has the table. Inside the
 * inventory only. */
#ifndef STAMPEDE_INVENTORY_ENGINE_APPLY_H
#define STAMPEDE_INVENTORY_ENGINE_APPLY_H

#include "inventory/engine.h"

/* engine_keys.c. True: the key was used before, and the outcome says what became of it. */
bool engine_keys_repeated(
    const struct engine *engine, const struct command *command, struct outcome *outcome);
void engine_keys_note(struct engine *engine, const struct command *command, const struct outcome *outcome);

struct engine_item *engine_item_find(const struct engine *engine, item_id item); /* NULL: not preheated */
struct engine_sale *engine_sale_find(const struct engine *engine, sale_id sale); /* NULL: not defined */
/* The same for a command about it: where there is none, the outcome says so. */
struct engine_item *engine_item_asked(const struct engine *engine, item_id item, struct outcome *outcome);
struct engine_sale *engine_sale_asked(const struct engine *engine, sale_id sale, struct outcome *outcome);
void engine_item_recheck(const struct engine_item *item);

/* engine_returns.c: what a return changes. */
/* When this user may take the item again; 0: now. */
uint64_t engine_cooling_until_ms(
    const struct engine *engine, sale_id sale, const struct buyer_row *row, uint64_t now_ms);
void engine_cool_down(struct engine *engine, sale_id sale, struct buyer_row *row, uint64_t now_ms);
/* Units came to an empty pool: a draw decides who gets them. */
void engine_return_draw_begin(struct engine *engine, item_id id, channel_index channel,
    const struct ticket_row *returned, uint64_t now_ms);
/* The user's moment in the draws of the start and of this pool, if it is still to come; 0: there is no
 * draw, or it has come. */
uint64_t engine_draw_moment_ms(
    const struct engine *engine, item_id id, channel_index channel, user_id user, uint64_t now_ms);
uint64_t engine_draw_seed(uint64_t a, uint64_t b, uint64_t c);

const char *engine_check_places(const struct engine *engine); /* engine_room.c; NULL: fine */

#define ENGINE_APPLY(name) \
    void name(struct engine *engine, const struct command *command, bool may_change, \
        struct outcome *outcome)
ENGINE_APPLY(engine_apply_sale);     /* engine_setup.c */
ENGINE_APPLY(engine_apply_preheat);  /* engine_setup.c */
ENGINE_APPLY(engine_apply_gate);     /* engine_setup.c */
ENGINE_APPLY(engine_apply_users);    /* engine_setup.c */
ENGINE_APPLY(engine_apply_adjust);   /* engine_stock.c */
ENGINE_APPLY(engine_apply_move);     /* engine_stock.c */
ENGINE_APPLY(engine_apply_transfer); /* engine_stock.c */
ENGINE_APPLY(engine_apply_reserve);  /* engine_purchase.c */
ENGINE_APPLY(engine_apply_settle);   /* engine_purchase.c */
ENGINE_APPLY(engine_apply_arrive);   /* engine_room.c */
ENGINE_APPLY(engine_apply_admit);    /* engine_room.c */
ENGINE_APPLY(engine_apply_reclaim);  /* engine_reclaim.c */
ENGINE_APPLY(engine_apply_archive);  /* engine_archive.c */
ENGINE_APPLY(engine_apply_skip);     /* engine_archive.c */
ENGINE_APPLY(engine_ask_mine);       /* engine_ask.c */
ENGINE_APPLY(engine_ask_ticket);     /* engine_ask.c */
ENGINE_APPLY(engine_ask_counts);     /* engine_ask.c */
ENGINE_APPLY(engine_ask_sale);       /* engine_ask.c */

/* The last step of every change: with may_change false nothing has been touched yet and nothing
 * will be. */
static inline bool engine_may(bool may_change, struct outcome *outcome)
{
    if (!may_change)
        outcome->answer = ANSWER_UNAVAILABLE;
    return may_change;
}
static inline void engine_conflict(struct outcome *outcome, enum conflict conflict)
{
    outcome->answer = ANSWER_CONFLICT;
    outcome->detail = (uint8_t)conflict;
}
static inline bool engine_conflicts(struct outcome *outcome, enum conflict conflict)
{
    if (conflict != CONFLICT_NONE)
        engine_conflict(outcome, conflict);
    return conflict != CONFLICT_NONE;
}
static inline void engine_done(struct outcome *outcome)
{
    outcome->answer = ANSWER_DONE;
    outcome->changed = true;
}

#endif
