/* SPDX-License-Identifier: Apache-2.0 */
/* orders/late_payment.h: what the cashier does with money that came after its order was over. It asks the
 * inventory for a unit (orders/late_money.h). With a unit, the money pays the new order; without one, or when
 * the inventory is unavailable for late_wait_ms, the money is refunded. Each payment asks under its own key,
 * so that after a crash it finds the same ticket. Money for the balance of a booking (contract/booking.h) is
 * always refunded.
 * Thread, errors: as the cashier (orders/cashier.h). */
#ifndef STAMPEDE_ORDERS_LATE_PAYMENT_H
#define STAMPEDE_ORDERS_LATE_PAYMENT_H

#include "orders/cashier.h"

/* A captured payment that is due. */
MUST_CHECK enum status late_payment_turn(
    struct cashier *cashier, const struct payment *payment, uint64_t now_ms);

#endif
