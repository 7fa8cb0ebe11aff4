/* SPDX-License-Identifier: Apache-2.0 */
/* contract/payment_reference.h: how a payment is named to its provider: "<order id>-<attempt>", the
 * order id in 16 hex digits. So a payment that nobody remembers can be asked about, and news of one
 * lead back to its order. Pure functions, any thread. */
#ifndef STAMPEDE_CONTRACT_PAYMENT_REFERENCE_H
#define STAMPEDE_CONTRACT_PAYMENT_REFERENCE_H

#include "contract/payment.h"

/* attempt: 1 … PAYMENTS_PER_ORDER */
void payment_reference_write(
    uint64_t order_id, uint32_t attempt, char reference[REFERENCE_BYTES_MAX + 1]);
/* False: it is no reference of ours. */
bool payment_reference_read(const char *reference, uint64_t *order_id, uint32_t *attempt);
/* The first attempt that none of these payments is; above PAYMENTS_PER_ORDER: there is none. */
uint32_t payment_reference_next(const struct payment *payments, uint32_t count);

#endif
