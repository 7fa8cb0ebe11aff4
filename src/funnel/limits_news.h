/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/limits_news.h: what the gateways of a shop tell each other about their limits, as messages; and
 * how many gateways there are, which is who was heard of late.
 *
 * FORMAT: three words for each use, with one blank between all: "a" with the name of an address in hex and
 * what it has used in eighths of a request; "i" with an item and the time of its pace that was used in ns;
 * "d" with 0 and that time for admission. An empty message says only that its sender is there.
 *
 * Messages may be lost: then this gateway is too generous by what the lost one said. They may lie: a bucket
 * never owes more than its burst and LIMITS_DEBT_MS. Unknown words end the reading of a message.
 * Thread: one. Memory: the caller's. */
#ifndef STAMPEDE_FUNNEL_LIMITS_NEWS_H
#define STAMPEDE_FUNNEL_LIMITS_NEWS_H

#include "base/text.h"
#include "funnel/limits.h"

enum {
    NEWS_BYTES_MAX = 8 * 1024, /* of a message; what does not fit is told by the next one */
    NEWS_ALIVE_MS = 1000,      /* an empty message, if there is nothing to tell */
    NEWS_GONE_MS = 5000,       /* who was not heard for so long does not count any more */
    NEWS_PEERS_MAX = 64,
};

struct limits_news {
    struct limits *limits;
    uint64_t told_ms; /* the last message */
    struct {
        uint64_t process; /* 0: nobody */
        uint64_t heard_ms;
    } peers[NEWS_PEERS_MAX];
};

/* False: there is nothing to tell now. `message` has NEWS_BYTES_MAX bytes. */
bool limits_news_write(struct limits_news *news, uint64_t now_ms, struct text *message);
void limits_news_heard(struct limits_news *news, uint64_t process, struct span message, uint64_t now_ms);
uint32_t limits_news_gateways(const struct limits_news *news, uint64_t now_ms); /* with this one */

#endif
