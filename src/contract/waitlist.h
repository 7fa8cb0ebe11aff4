/* SPDX-License-Identifier: Apache-2.0 */
/* contract/waitlist.h: who waits for units of an item. A place is held in the order of joining, one
 * per user and item. Units of the web channel that come back go to the line in the transaction that
 * returns them: it names the first places that fit, the stock event carries them, and the SETTLE
 * record says who was served. Only then is a place offered; users who were skipped keep their
 * place. An offer is an order like any other, so what became of it is read from the order.
 * Thread: the store thread only. Errors: as in contract/order_store.h. */
#ifndef STAMPEDE_CONTRACT_WAITLIST_H
#define STAMPEDE_CONTRACT_WAITLIST_H

#include "contract/order_store.h"

enum { WAITLIST_CHANNEL = 0, WAITLIST_POSITION_MAX = 10000 };

enum place_state {
    PLACE_NONE,
    PLACE_WAITING,
    PLACE_OFFERED, /* an order waits to be paid */
    PLACE_LEFT,    /* left the line, or cancelled the offer */
    PLACE_BOUGHT,
    PLACE_EXPIRED, /* did not pay in time */
    PLACE_STATES,
};

struct waitlist_place {
    uint64_t id; /* the order of joining */
    user_id user;
    uint64_t joined_ms;
    ticket_number ticket; /* of the offer; 0: none yet */
    item_id item;
    uint32_t quantity;
    uint32_t position; /* 1: next; WAITLIST_POSITION_MAX: that or more; 0: not waiting */
    uint8_t state;     /* enum place_state */
};
struct waitlist_line {
    item_id item;
    uint32_t waiting;
    uint32_t window_ms; /* to pay an offer of this item; 0: as everywhere */
};
enum join_answer { JOIN_DONE, JOIN_THERE, JOIN_FULL };

/* The key of an offer: a crash in between repeats the same ticket. Keys of users are keyed hashes
 * and can't be chosen. */
static const uint64_t WAITLIST_KEY = (uint64_t)0x77616974 << 32;
static inline uint64_t waitlist_key(uint64_t place)
{
    return WAITLIST_KEY | (place & UINT32_MAX);
}
/* 0: not the key of a place. */
static inline uint64_t waitlist_place_of(uint64_t key)
{
    return (key & ~(uint64_t)UINT32_MAX) == WAITLIST_KEY ? key & UINT32_MAX : 0;
}

struct waitlist_store_ops {
    /* Item, user, quantity and joined_ms come in, the place comes back. JOIN_THERE: the place that
     * the user has already; JOIN_FULL: line_max wait. */
    enum status (*join)(struct order_store *, struct waitlist_place *, uint32_t line_max, uint8_t *answer);
    /* An offer that is on its way already is still made. */
    enum status (*leave)(struct order_store *, item_id, user_id, bool *left);
    /* The user's latest place. */
    enum status (*place)(struct order_store *, item_id, user_id, struct waitlist_place *);
    /* Who waits, in order, places with id > after. position is not filled. */
    enum status (*list)(struct order_store *, item_id, uint64_t after, struct waitlist_place *,
        uint32_t max, uint32_t *count);
    /* Items > after for which somebody waits, ascending. */
    enum status (*lines)(
        struct order_store *, item_id after, struct waitlist_line *, uint32_t max, uint32_t *count);
    /* Like list, but only whom units could be offered now: wants at most `units`, is named by no
     * stock event, was not passed over. */
    enum status (*next)(struct order_store *, item_id, uint32_t units, struct waitlist_place *,
        uint32_t max, uint32_t *count);
    /* The inventory refused this place its units. It is not asked for again until the user's orders
     * or the terms of a sale change, or `again` is called. */
    enum status (*pass)(struct order_store *, uint64_t place);
    enum status (*again)(struct order_store *);
};

#endif
