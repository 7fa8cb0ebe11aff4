/* SPDX-License-Identifier: Apache-2.0 */
/* worker/limit_holders.h: users who have units that count against a limit over a period, from the database
 * to the board (board_add_holder): some at a time, at the start and again after longer and longer pauses.
 * Those who buy meanwhile are added by the inventory; the later rounds find whoever was missed.
 * Why: docs/decisions/0059-limits-over-a-period-are-rows-of-the-orders-own-transaction.md.
 * Thread: the worker's. Errors: a database that is away is asked again. */
#ifndef STAMPEDE_WORKER_LIMIT_HOLDERS_H
#define STAMPEDE_WORKER_LIMIT_HOLDERS_H

struct arena;
struct board;
struct order_store;
struct task;

void limit_holders_open(
    struct arena *arena, struct order_store *store, const struct board *board, struct task *task);

#endif
