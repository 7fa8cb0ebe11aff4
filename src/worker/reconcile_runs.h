/* SPDX-License-Identifier: Apache-2.0 */
/* worker/reconcile_runs.h: when reconciliation runs (orders/reconcile.h), and what follows from its
 * report. By itself: every reconcile.interval_ms while a sale is open, and once a minute after a
 * sale is over. On many machines also every ten minutes while partitions are open in Redis and no sale is;
 * by itself only the leader runs, but what was asked for is done where it was asked for.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_RECONCILE_RUNS_H
#define STAMPEDE_WORKER_RECONCILE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct board;
struct catalog_updates;
struct inventory_port;
struct order_store;
struct part_checks;
struct reconcile_report;
struct returns;
struct task;

struct reconcile_runs;
struct reconcile_runs_config {
    uint64_t interval_ms; /* 0: only when somebody asks for it */
    struct order_store *store;
    struct inventory_port *port; /* its own */
    const struct board *board;
    bool partitions; /* many machines: */
    struct part_checks *checks;
    struct returns *returns; /* what a repair has left to do */
    struct catalog_updates *updates;
};
size_t reconcile_runs_bytes(void);
struct reconcile_runs *reconcile_runs_open(
    struct arena *arena, const struct reconcile_runs_config *config, struct task *task);
/* False: one runs. */
bool reconcile_runs_begin(
    struct reconcile_runs *runs, const char *actor, bool repair, bool recent, uint64_t now_ms);
bool reconcile_runs_is_running(const struct reconcile_runs *runs);
const struct reconcile_report *reconcile_runs_report(const struct reconcile_runs *runs, uint64_t *run);

#endif
