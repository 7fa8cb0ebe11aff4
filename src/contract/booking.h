/* SPDX-License-Identifier: Apache-2.0 */
/* contract/booking.h: presale: an item takes bookings while it has no units to sell. A booking is a place in
 * the item's line (contract/waitlist.h) that was made before there is stock; with a deposit it becomes one
 * when the deposit is paid. The deposit is an order of its own, of the item that the presale names: so it is
 * paid, closed and refunded like any order, once. When units arrive, the line is served in order.
 * Thread: the store thread only. Errors: as in contract/order_store.h. */
#ifndef STAMPEDE_CONTRACT_BOOKING_H
#define STAMPEDE_CONTRACT_BOOKING_H

#include "contract/waitlist.h"

/* Numbers in the database. */
enum booking_state {
    BOOKING_NONE,
    BOOKING_DUE,    /* its deposit is to be paid */
    BOOKING_PLACED, /* in line, or an order was offered */
    BOOKING_BOUGHT,
    BOOKING_ENDED,    /* given up, not paid, or the deposit was not paid */
    BOOKING_REFUNDED, /* the same, and the deposit goes back */
    BOOKING_STATES,
};
struct booking {
    uint64_t id; /* the order of booking */
    user_id user;
    uint64_t booked_ms;
    ticket_number deposit; /* of the deposit's order; 0: none, or not written yet */
    uint64_t place;        /* in line; 0: not yet */
    ticket_number ticket;  /* of the order that was offered; 0: none yet */
    item_id item;
    uint32_t quantity;
    uint8_t state;                         /* enum booking_state */
    uint8_t place_state;                   /* enum place_state; PLACE_NONE: no place */
    uint8_t deposit_state, deposit_reason; /* of its order; ORDER_NONE: none, or not written yet */
    bool has_deposit;
};
/* What procurement is to buy of an item. */
struct purchase_line {
    item_id item;
    uint32_t product;
    char name[NAME_BYTES_MAX + 1], currency[4];
    uint64_t bookings, units;           /* in line, or offered and not paid */
    uint64_t deposits, deposits_amount; /* paid and not given back */
    uint64_t due;                       /* bookings whose deposit is not paid yet */
    uint64_t bought;                    /* units */
};
enum book_answer { BOOK_DONE, BOOK_THERE, BOOK_FULL };

/* The key of a deposit's purchase: a crash in between repeats the same ticket. */
enum { BOOKING_KEY = 0x626f6f6b };
static inline uint64_t booking_key(uint64_t booking)
{
    return (uint64_t)BOOKING_KEY << 32 | (uint32_t)booking;
}
static inline uint64_t booking_of_key(uint64_t key) /* 0: it is none */
{
    const bool is_ours = key >> 32 == BOOKING_KEY;
    return is_ours ? (uint32_t)key : 0;
}

struct booking_store_ops {
    /* Item, user, quantity, booked_ms and has_deposit come in, the booking comes back: due with a deposit,
     * else in line. BOOK_THERE: the one that the user has; BOOK_FULL: the cap is reached. */
    enum status (*book)(struct order_store *, struct booking *, uint32_t cap, uint8_t *answer);
    /* The user's latest. */
    enum status (*get)(struct order_store *, item_id, user_id, struct booking *);
    /* Of an item, with id > after; open_only: due and in line. item 0: of all. Ascending. */
    enum status (*list)(struct order_store *, item_id, bool open_only, uint64_t after,
        struct booking *, uint32_t max, uint32_t *count);
    /* Due → in line: its deposit is paid. STATUS_CONFLICT: it is not due any more. */
    enum status (*place)(struct order_store *, const struct booking *, uint64_t now_ms);
    /* It is over: bought, ended or refunded. STATUS_CONFLICT: it was. */
    enum status (*finish)(struct order_store *, const struct booking *, enum booking_state);
    /* Items with bookings, with id > after. */
    enum status (*purchases)(
        struct order_store *, item_id after, struct purchase_line *, uint32_t max, uint32_t *count);
};

#endif
