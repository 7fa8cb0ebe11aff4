/* SPDX-License-Identifier: Apache-2.0 */
/* orders/booking_follow.h: follows bookings of presales (contract/booking.h): those whose deposit is paid
 * stand in line, in the order of booking; the deposit of those that came to nothing goes back, once, or
 * stays with the shop; those whose deposit a person has refunded leave the line. What is
 * to be done is decided by policy/booking_rules.h; each step may be repeated after a crash.
 * Thread: the store thread only; time comes in as now_ms. Memory: the owner's.
 * Errors: a store that is away: the turn says so, and the next one begins again. */
#ifndef STAMPEDE_ORDERS_BOOKING_FOLLOW_H
#define STAMPEDE_ORDERS_BOOKING_FOLLOW_H

#include "contract/booking.h"

enum { BOOKING_FOLLOW_ROWS = 128 }; /* in one turn */

struct booking_follow_config {
    struct order_store *store;
    void (*refunded)(void *context, const struct booking *booking); /* its deposit goes back */
    void (*placed)(void *context, const struct booking *booking);   /* it stands in line */
    /* Its order is closed, or its payments are being closed. */
    void (*cancelled)(void *context, const struct booking *booking);
    void *context;
};

struct booking_follow {
    struct booking_follow_config config;
    uint64_t after; /* of the round that is under way */
    struct booking rows[BOOKING_FOLLOW_ROWS];
};

void booking_follow_start(struct booking_follow *follow, const struct booking_follow_config *config);
/* *more: the round is not over. */
MUST_CHECK enum status booking_follow_turn(struct booking_follow *follow, uint64_t now_ms, bool *more);

#endif
