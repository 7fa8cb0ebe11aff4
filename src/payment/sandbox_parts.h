/* SPDX-License-Identifier: Apache-2.0 */
/* payment/sandbox_parts.h: parts of a payment that the sandbox's bank has given back; a piece of a row of its
 * file. Pure functions, any thread. */
#ifndef STAMPEDE_PAYMENT_SANDBOX_PARTS_H
#define STAMPEDE_PAYMENT_SANDBOX_PARTS_H

#include "contract/payment.h"

/* Name 0: a free place. */
struct bank_parts {
    uint64_t names[REFUND_PARTS_MAX], amounts[REFUND_PARTS_MAX];
};

uint64_t bank_part_name(const char *key); /* a hash of the key, never 0, the same after a restart */
uint32_t bank_part_find(const struct bank_parts *parts, uint64_t name); /* REFUND_PARTS_MAX: not there */
uint64_t bank_parts_sum(const struct bank_parts *parts);

#endif
