/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/news_marks.h: whether there was news of an order since a job about it was handed in. Order views
 * are read beside the worker (api/link.h): news may come before the job that was read too early for it.
 * Thread: the edge's own. Memory: plain data, zeroed. */
#ifndef STAMPEDE_GATEWAY_NEWS_MARKS_H
#define STAMPEDE_GATEWAY_NEWS_MARKS_H

#include "contract/types.h"

#include <assert.h>
#include <stdbool.h>

enum { NEWS_ROWS = 4096 }; /* tickets share a row: an order is then read once more than needed */
static_assert((NEWS_ROWS & (NEWS_ROWS - 1)) == 0, "index uses a mask");

struct news_marks {
    uint64_t count, of_all; /* how much news there was; when all orders were meant */
    uint64_t of[NEWS_ROWS]; /* the last one of a ticket */
};

static inline void news_mark(struct news_marks *marks, ticket_number ticket) /* 0: of any order */
{
    marks->count++;
    if (ticket == 0)
        marks->of_all = marks->count;
    else
        marks->of[ticket & (NEWS_ROWS - 1)] = marks->count;
}

/* `seen`: the count when the job was handed in. */
static inline bool news_since(const struct news_marks *marks, ticket_number ticket, uint64_t seen)
{
    return marks->of_all > seen || marks->of[ticket & (NEWS_ROWS - 1)] > seen;
}

#endif
