/* SPDX-License-Identifier: Apache-2.0 */
/* worker/written_news.h: what the thread that writes orders tells the worker: which orders were written, how
 * far it is, what troubles it. One lock, held for a few instructions; each side has one of two blocks.
 *   the writing thread   fills the block that is out: notes as orders are committed, then the progress of the
 *                        turn that they belong to
 *   the worker           takes it when a turn has ended, and puts the other one out; what it took is its own
 *                        until it takes again
 * Bounded: notes that have no room become "many". Nothing else is lost: what turns have counted is summed up.
 * Memory: from the arena at open. */
#ifndef STAMPEDE_WORKER_WRITTEN_NEWS_H
#define STAMPEDE_WORKER_WRITTEN_NEWS_H

#include "orders/order_writer.h"

#include <pthread.h>

enum {
    WRITTEN_NOTES_MAX = 4 * ORDER_BATCH_MAX,
    WRITTEN_TROUBLE_BYTES = sizeof((struct refusal *)0)->text,
};

struct written_note {
    ticket_number ticket;
    user_id user;
};
struct written_block {
    uint64_t turns;                        /* that ended so far */
    struct order_writer_progress progress; /* the last; what it counts: since the block was put out */
    char trouble[WRITTEN_TROUBLE_BYTES];   /* where progress.trouble points, once it is taken */
    bool many;                             /* more notes than there is room for */
    uint32_t note_count;
    struct written_note notes[WRITTEN_NOTES_MAX];
};
struct written_news {
    pthread_mutex_t lock;
    struct written_block *out;   /* the writing thread's, under the lock */
    struct written_block *taken; /* the worker's */
};

size_t written_news_bytes(void);
void written_news_open(struct written_news *news, struct arena *arena);
void written_news_close(struct written_news *news);
/* The writing thread. */
void written_news_note(struct written_news *news, ticket_number ticket, user_id user);
void written_news_many(struct written_news *news); /* which ones is not known */
void written_news_turn(struct written_news *news, const struct order_writer_progress *progress);
/* The worker. True: news->taken is new. */
MUST_CHECK bool written_news_take(struct written_news *news);

#endif
