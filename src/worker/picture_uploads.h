/* SPDX-License-Identifier: Apache-2.0 */
/* worker/picture_uploads.h: uploads that have ended are noted in the audit chain, or refused in the
 * log.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_PICTURE_UPLOADS_H
#define STAMPEDE_WORKER_PICTURE_UPLOADS_H

struct arena;
struct media_service;
struct order_store;
struct reader_turns;
struct task;

void picture_uploads_open(struct arena *arena, struct media_service *media,
    struct reader_turns *turns, struct order_store *store, struct task *task);

#endif
