/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/payment_reference.h"

#include "base/span.h"

#include <stdio.h>
#include <string.h>

enum { ORDER_DIGITS = 16 };

void payment_reference_write(uint64_t order_id, uint32_t attempt, char reference[REFERENCE_BYTES_MAX + 1])
{
    snprintf(reference, REFERENCE_BYTES_MAX + 1, "%016llx-%u", (unsigned long long)order_id, attempt);
}

bool payment_reference_read(const char *reference, uint64_t *order_id, uint32_t *attempt)
{
    if (strlen(reference) != ORDER_DIGITS + 2 || reference[ORDER_DIGITS] != '-')
        return false;
    const char digit = reference[ORDER_DIGITS + 1];
    if (digit < '1' || digit > '0' + PAYMENTS_PER_ORDER)
        return false;
    *attempt = (uint32_t)(digit - '0');
    return span_to_hex64(span_of(reference, ORDER_DIGITS), order_id) == STATUS_OK;
}
static_assert(PAYMENTS_PER_ORDER <= 9, "an attempt is one digit");

uint32_t payment_reference_next(const struct payment *payments, uint32_t count)
{
    uint32_t next = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t order_id;
        uint32_t attempt;
        if (payment_reference_read(payments[i].reference, &order_id, &attempt) && attempt >= next)
            next = attempt + 1;
    }
    return next;
}
