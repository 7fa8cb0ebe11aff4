/* SPDX-License-Identifier: Apache-2.0 */
/* worker/view_readers.h: threads that show users their orders, and say whether a purchase is within a limit
 * over a period (JOB_LIMIT), each with a connection that only reads. Edges
 * hand jobs to them and get them back (api/link.h) without the worker: a transaction of the worker or of the
 * order writer that takes long, or hangs, keeps nobody from seeing an order, and views take none of their
 * time. Operators have readers of their own (store_readers.h): a report keeps no view waiting.
 *
 * What a user was told before is never contradicted: answers and notes are given out after the commit of what
 * they tell, and a reader begins to read after the job was handed in, so it sees at least that. The jobs that
 * are there when a reader looks, VIEW_BATCH at most, are read in one moment of the database, so that an
 * order and its payment agree.
 *
 * On many machines an order is first looked up in the views that processes share (contract/order_cache.h).
 * When the database leaves a read unanswered, those who wait behind it are answered by the shared view, or
 * refused (503).
 * Why: docs/decisions/0032-order-views-are-read-beside-the-worker.md.
 * Threads: open, start and the task are the worker's (open: the starting one's). */
#ifndef STAMPEDE_WORKER_VIEW_READERS_H
#define STAMPEDE_WORKER_VIEW_READERS_H

#include "base/status.h"

#include <stdint.h>

struct arena;
struct link;
struct order_cache;
struct order_store;
struct order_views;
struct reader_turns;
struct task;

enum {
    VIEW_BATCH = 32,
    VIEW_PATIENCE_MS = 2000,    /* for one statement */
    VIEW_CACHED_MS = 60 * 1000, /* a shared view is that old at most, unless the database is away */
    VIEW_UNANSWERED_MS = 1000,  /* a read that fails after so long: the others need not try */
};

struct view_readers;
struct view_readers_config {
    struct order_store *store; /* the worker's own */
    struct link *link;
    uint32_t edges, count;
    const struct order_views *views;   /* copied when the threads start */
    struct reader_turns *turns;        /* of the catalog; the readers stand behind the edges */
    struct order_cache *const *caches; /* one for each reader; NULL: none (one machine) */
};
/* Opens the connections. */
MUST_CHECK enum status view_readers_open(struct view_readers **readers, struct arena *arena,
    const struct view_readers_config *config, struct task *task);
MUST_CHECK enum status view_readers_start(struct view_readers *readers); /* once */

#endif
