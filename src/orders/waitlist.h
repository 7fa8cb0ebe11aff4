/* SPDX-License-Identifier: Apache-2.0 */
/* orders/waitlist.h: units that are free while somebody waits for them are offered to the line, in
 * order: stock that was added or moved, leftovers of a return, what a passed-over waiter did not get.
 * (What an order returns goes to the line at once, with the return itself: contract/waitlist.h.)
 *
 * An offer is a RESERVE for the waiter under the key of the place: asked twice, or after a crash, it
 * is the same ticket. The record of the win marks the place. A user who may not have the units now
 * keeps the place and is passed over for a while.
 *
 * The line (CHANNEL_LINE, on many machines): units that came back to another shard than the one where the
 * waiter is at home. They are offered first. When nobody can have them, they go to the web channel.
 *
 * Thread: the store thread only; time comes in as now_ms. The port is shared: its owner collects and
 * hands answers to waitlist_answer.
 * Errors: a store that is away: the turn says so and tries again later. */
#ifndef STAMPEDE_ORDERS_WAITLIST_H
#define STAMPEDE_ORDERS_WAITLIST_H

#include "contract/board.h"
#include "contract/inventory.h"
#include "contract/waitlist.h"

enum {
    WAITLIST_LOOK_MS = 50,
    WAITLIST_AGAIN_MS = 10000, /* users who were skipped are checked again, whatever the reason was */
    WAITLIST_LINES_MAX = 64,   /* items in one turn */
    WAITLIST_SWEEP_MS = 1000, /* between two looks for units of lines that have ended */
    WAITLIST_OFFERS_MAX = 64, /* asked and not answered */
};
static const uint64_t WAITLIST_TAG = (uint64_t)1 << 61;

struct waitlist_config {
    struct order_store *store;
    struct inventory_port *port;
    const struct board *board;
    uint32_t window_ms; /* to pay an offer */
    bool has_line;      /* many machines */
};

struct waitlist {
    struct waitlist_config config;
    uint64_t look_ms, again_ms, sweep_ms;
    item_id after;    /* the items up to this one have been looked at */
    uint32_t waiting; /* found so far in this round */
    uint32_t in_flight;
    uint64_t asked[WAITLIST_OFFERS_MAX]; /* places */
    struct waitlist_line lines[WAITLIST_LINES_MAX];
    struct waitlist_place places[WAITLIST_OFFERS_MAX];
};

void waitlist_start(struct waitlist *waitlist, const struct waitlist_config *config);
void waitlist_look(struct waitlist *waitlist); /* units may have become free: don't wait */
MUST_CHECK enum status waitlist_turn(struct waitlist *waitlist, uint64_t now_ms);
/* False: somebody else's. */
bool waitlist_answer(struct waitlist *waitlist, const struct inventory_answer *answer);

#endif
