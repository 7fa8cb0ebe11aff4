/* SPDX-License-Identifier: Apache-2.0 */
/* worker/store_readers.h: threads that only read the database, each with a connection of its own. What an
 * operator asks and only reads (a report over millions of orders, a list) is done there, so that no order
 * waits for it. The worker hands a job over when a reader is free, the reader answers it, and the worker
 * gives it back to its edge. Several readers, so that a list need not wait for a report.
 * Why: docs/decisions/0026-operators-read-on-connections-of-their-own.md.
 * Threads: `read` runs on a reader's, everything else on the worker's.
 * Errors: a reader that can't be opened or started is logged; without any the worker reads itself. */
#ifndef STAMPEDE_WORKER_STORE_READERS_H
#define STAMPEDE_WORKER_STORE_READERS_H

#include <stdint.h>

enum { STORE_READERS_MAX = 2 };

struct arena;
struct job;
struct order_store;
struct task;
struct wake;

struct store_readers;
struct store_readers_config {
    struct order_store *store; /* the worker's own */
    struct wake *wake;         /* the worker's */
    uint32_t count;            /* of readers */
    void (*read)(void *context, struct order_store *reader, struct job *job);
    void (*done)(void *context, struct job *job); /* the job is answered */
    void *context;
};
struct store_readers *store_readers_open(
    struct arena *arena, const struct store_readers_config *config, struct task *task);
void store_readers_start(struct store_readers *readers); /* once, before the first job */
void store_readers_add(struct store_readers *readers, struct job *job);

#endif
