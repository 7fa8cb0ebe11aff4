/* SPDX-License-Identifier: Apache-2.0 */
/* contract/booking.h: presale: an item takes bookings while it has no units to sell. A booking is a place in
 * the item's line (contract/waitlist.h) that was made before there is stock; with a deposit it becomes one
 * when the deposit is paid. The deposit is an order of its own, of the item that the presale names: so it is
 * paid, closed and refunded like any order, once. When units arrive, the line is served in order. A booking
 * that is over for the user's sake and whose deposit is still paid: the shop keeps the deposit.
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
    ticket_number deposit;        /* of the deposit's order; 0: none, or not written yet */
    ticket_number closed_deposit; /* of the order before that, whose money came late; 0: none */
    uint64_t place;               /* in line; 0: not yet */
    ticket_number ticket;         /* of the order that was offered; 0: none yet */
    item_id item;
    uint32_t quantity;
    uint8_t state;                         /* enum booking_state */
    uint8_t place_state;                   /* enum place_state; PLACE_NONE: no place */
    uint8_t deposit_state, deposit_reason; /* of its order; ORDER_NONE: none, or not written yet */
    uint8_t offer_reason;                  /* why the order that was offered is closed */
    uint8_t deposit_kept; /* enum deposit_kept, as the item said when it was booked */
    bool has_deposit;
};
/* As the API spells them. */
static inline const char *deposit_kept_name(uint8_t terms)
{
    static const char *const names[] = { "never", "unpaid", "given-up" };
    static_assert(sizeof names / sizeof *names == DEPOSIT_KEPT_TERMS, "a name for each");
    return names[terms < DEPOSIT_KEPT_TERMS ? terms : DEPOSIT_KEPT_NEVER];
}
/* Its deposit stays with the shop. */
static inline bool booking_deposit_is_kept(const struct booking *booking)
{
    return booking->state == BOOKING_ENDED && booking->deposit_state == ORDER_PAID;
}
/* What procurement is to buy of an item. */
struct purchase_line {
    item_id item;
    uint32_t product;
    char name[NAME_BYTES_MAX + 1], currency[4];
    uint64_t bookings, units;           /* in line, or offered and not paid */
    uint64_t deposits, deposits_amount; /* paid and not given back */
    uint64_t due;                       /* bookings whose deposit is not paid yet */
    uint64_t bought;                    /* units */
    uint64_t kept, kept_amount;         /* of the deposits: those that the shop keeps */
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
    /* Item, user, quantity, booked_ms, has_deposit and deposit_kept come in, the booking comes back: due with
     * a deposit, else in line. BOOK_THERE: the one that the user has; BOOK_FULL: the cap is reached. */
    enum status (*book)(struct order_store *, struct booking *, uint32_t cap, uint8_t *answer);
    /* The user's latest. */
    enum status (*get)(struct order_store *, item_id, user_id, struct booking *);
    /* Of an item, with id > after; open_only: due and in line. item 0: of all. Ascending. */
    enum status (*list)(struct order_store *, item_id, bool open_only, uint64_t after,
        struct booking *, uint32_t max, uint32_t *count);
    /* Due → in line: its deposit is paid. STATUS_CONFLICT: it is not due any more. */
    enum status (*place)(struct order_store *, const struct booking *, uint64_t now_ms);
    /* It is over: bought, ended or refunded. STATUS_CONFLICT: it was, or it has another deposit by now. */
    enum status (*finish)(struct order_store *, const struct booking *, enum booking_state);
    /* Its deposit goes back and it is over, in one transaction, if the rule (policy/booking_rules.h)
     * says so of the booking as it is then: an offer that is on its way is made before that, or never.
     * *state: BOOKING_ENDED: the deposit's order can't be refunded. STATUS_CONFLICT: something else is to be
     * done. */
    enum status (*refund)(struct order_store *, const struct booking *, uint64_t now_ms, uint8_t *state);
    /* The shop ends it: it leaves the line, and its deposit goes back whatever its terms say. An order
     * that was offered stays. */
    enum status (*dismiss)(struct order_store *, const struct booking *);
    /* Whether this order was offered for a booking with a deposit: then money that comes too late for it
     * buys no other unit, because the deposit may be gone. */
    enum status (*is_balance)(struct order_store *, ticket_number, bool *is);
    /* Items with bookings, with id > after. */
    enum status (*purchases)(
        struct order_store *, item_id after, struct purchase_line *, uint32_t max, uint32_t *count);
};

#endif
