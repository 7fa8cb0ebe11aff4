/* SPDX-License-Identifier: Apache-2.0 */
/* worker/history.h: the figures of the live screen as they were: once a second for ten minutes, every ten
 * seconds for two hours, every minute for two days. Counters are as in /metrics; from two rows follows what
 * happened between them. Kept in memory: a restart empties it.
 * Thread: the worker's. Memory: from the arena at start. */
#ifndef STAMPEDE_WORKER_HISTORY_H
#define STAMPEDE_WORKER_HISTORY_H

#include "base/text.h"
#include "contract/types.h"

struct arena;
struct board;
struct handover;
struct history;
struct task;

enum { HISTORY_PAGE_ROWS = 200 };

struct history_config {
    const struct board *board;
    struct handover *catalog;
};
size_t history_bytes(void);
struct history *history_open(struct arena *arena, const struct history_config *config, struct task *task);
/* Whether rows are kept at this step: 1, 10 or 60 s. */
bool history_has_step(uint64_t step_s);
/* Rows after this time, the oldest first, HISTORY_PAGE_ROWS at most, as JSON. *next_ms: where the next page
 * begins; 0: there is none. */
void history_json(const struct history *history, uint64_t step_s, uint64_t after_ms,
    struct text *out, uint64_t *next_ms);

#endif
