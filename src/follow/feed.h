/* SPDX-License-Identifier: Apache-2.0 */
/* follow/feed.h: the server's connection to its follower: it learns what the follower has, sends it what the
 * stream has, and hears acknowledgements. One follower at a time.
 *
 * * Thread: one of its own, "follow-link"; feed_take and feed_had are others'. */
#ifndef STAMPEDE_FOLLOW_FEED_H
#define STAMPEDE_FOLLOW_FEED_H

#include "follow/blocks.h"
#include "follow/peer.h"
#include "follow/stream.h"

struct feed_config { /* what it points to outlives the feed */
    struct stream *stream;
    const struct peer *self;
    struct wake *wake; /* the stream's */
    uint64_t away_ms;
};

struct feed; /* opaque */
MUST_CHECK enum status feed_open(struct feed **feed, const struct feed_config *config);
MUST_CHECK enum status feed_start(struct feed *feed);
void feed_stop(struct feed *feed);  /* ends the thread; accepts NULL */
void feed_close(struct feed *feed); /* accepts NULL */

/* A follower that was greeted, and its first word. False: another one is connected; the session stays the
 * caller's. */
bool feed_take(struct feed *feed, struct session *session, const struct wire_word *word);

/* What the follower has that gets the base of this number: *had, which is the caller's then, of *had_number;
 * what was in *had before is closed. False: that is not known yet. */
bool feed_had(struct feed *feed, uint64_t number, struct block_set **had, uint64_t *had_number);

#endif
