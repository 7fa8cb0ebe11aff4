/* SPDX-License-Identifier: Apache-2.0 */
/* worker/folder_bounds.h: how much of its bounds a data folder has used up: two metrics for each, and an
 * alarm while there is still time to raise it.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_FOLDER_BOUNDS_H
#define STAMPEDE_WORKER_FOLDER_BOUNDS_H

struct arena;
struct ban_list;
struct board;
struct config;
struct order_store;
struct task;

struct folder_bounds_config {
    const struct config *config;
    struct order_store *store;
    const struct board *board;
    const struct ban_list *bans;
};
void folder_bounds_open(
    struct arena *arena, const struct folder_bounds_config *config, struct task *task);

#endif
