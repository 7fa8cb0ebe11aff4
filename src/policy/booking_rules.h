/* SPDX-License-Identifier: Apache-2.0 */
/* policy/booking_rules.h: what is to be done about a booking (contract/booking.h). Pure functions. */
#ifndef STAMPEDE_POLICY_BOOKING_RULES_H
#define STAMPEDE_POLICY_BOOKING_RULES_H

#include "contract/booking.h"

enum booking_step {
    BOOKING_WAIT,          /* nothing */
    BOOKING_PUT_IN_LINE,   /* its deposit is paid */
    BOOKING_REFUND,        /* its deposit goes back */
    BOOKING_CLOSE_BOUGHT,  /* its order is paid: the deposit stays, it is part of the price */
    BOOKING_CLOSE_ENDED,   /* nothing is to be paid back */
    BOOKING_CLOSE_REFUNDED /* the deposit went back */
};
enum { BOOKING_LOST_MS = 3600 * 1000 }; /* so old, a deposit without an order was never won */

enum booking_step booking_step(const struct booking *booking, uint64_t now_ms);
enum book_answer book_decide(enum booking_state latest, uint64_t booked, uint32_t cap);

#endif
