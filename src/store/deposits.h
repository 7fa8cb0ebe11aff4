/* SPDX-License-Identifier: Apache-2.0 */
/* store/deposits.h: what bookings, their deposits and late money share (contract/booking.h). Parts of other
 * transactions, except for the operations.
 * Thread, errors: as the store's. */
#ifndef STAMPEDE_STORE_DEPOSITS_H
#define STAMPEDE_STORE_DEPOSITS_H

#include "policy/booking_rules.h"
#include "store/parts.h"

/* bookings.c */
MUST_CHECK enum status store_booking_read(struct store *, uint64_t id, struct booking *);
MUST_CHECK enum status store_booking_count(struct store *, item_id, int64_t add); /* items.booked */
/* It is over. STATUS_CONFLICT: it was, or it has another deposit by now. */
MUST_CHECK enum status store_booking_end(struct store *, const struct booking *, enum booking_state);

/* deposits.c: operations of the seam */
enum status store_booking_refund(
    struct order_store *, const struct booking *, uint64_t now_ms, uint8_t *state);
enum status store_booking_dismiss(struct order_store *, const struct booking *);
enum status store_booking_is_balance(struct order_store *, ticket_number, bool *is);

/* Late money for the order `first` has got the order `second`. If `first` is a deposit, the item of its
 * booking is locked, and the items of both orders. */
MUST_CHECK enum status store_booking_late(
    struct store *, ticket_number first, ticket_number second, struct booking_late *late);
/* The order `second` is the booking's deposit from now on. */
MUST_CHECK enum status store_booking_join(
    struct store *, const struct booking_late *late, ticket_number second);

#endif
