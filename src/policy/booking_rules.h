/* SPDX-License-Identifier: Apache-2.0 */
/* policy/booking_rules.h: what is to be done about a booking (contract/booking.h). Pure functions. */
#ifndef STAMPEDE_POLICY_BOOKING_RULES_H
#define STAMPEDE_POLICY_BOOKING_RULES_H

#include "contract/booking.h"
#include "contract/command.h"

enum booking_step {
    BOOKING_WAIT,          /* nothing */
    BOOKING_PUT_IN_LINE,   /* its deposit is paid */
    BOOKING_REFUND,        /* its deposit goes back */
    BOOKING_DISMISS,       /* a person has refunded its deposit: it leaves the line */
    BOOKING_CANCEL_ORDER,  /* the same, and an order was offered */
    BOOKING_CLOSE_BOUGHT,  /* its order is paid: the deposit stays, it is part of the price */
    BOOKING_CLOSE_ENDED,   /* nothing is to be paid back, or the shop keeps the deposit */
    BOOKING_CLOSE_REFUNDED /* the deposit went back */
};
enum { BOOKING_LOST_MS = 3600 * 1000 }; /* so old, a deposit without an order was never won */

enum booking_step booking_step(const struct booking *booking, uint64_t now_ms);
/* The purchase of the deposit, under the key of the booking: asked twice it is the same ticket, and
 * the record tells the database whose it is. */
struct command booking_deposit_command(
    const struct booking *booking, const struct item *deposit, uint64_t now_ms);
/* Whether to ask for it. Not of a booking that is soon given up for lost: it could be won afterwards. */
bool booking_wants_deposit(const struct booking *booking, uint64_t now_ms);
enum deposit_answer {
    DEPOSIT_BOUGHT, /* or it is being decided: the record tells */
    DEPOSIT_AGAIN,  /* not known, or not now: the booking stays due */
    DEPOSIT_REFUSED /* the booking is over */
};
enum deposit_answer booking_deposit_answer(enum answer answer);
enum book_answer book_decide(enum booking_state latest, uint64_t booked, uint32_t cap);

/* Late money (contract/payment_rules.h) for the deposit of a booking has got another order of the same
 * item. */
struct booking_late {
    struct booking booking;    /* id 0: the money is for no deposit */
    bool takes_bookings;       /* the item does, today */
    enum booking_state latest; /* of the user's latest booking of the item, if it is another one */
    uint64_t booked;           /* of the item, and */
    uint32_t cap;
};
/* Whether that order is the booking's deposit from now on. Else the money goes back by itself, and the
 * order is closed. */
bool booking_late_joins(const struct booking_late *late);

#endif
