/* SPDX-License-Identifier: Apache-2.0 */
/* orders/statement.h: one row of a provider's statement against our books. Pure functions, any
 * thread. docs/payments.md has the names. */
#ifndef STAMPEDE_ORDERS_STATEMENT_H
#define STAMPEDE_ORDERS_STATEMENT_H

#include "base/span.h"
#include "contract/payment.h"
#include "contract/statement.h"

enum statement_verdict {
    STATEMENT_AGREES,
    STATEMENT_OF_OTHERS, /* the reference is none of ours: the account takes other money too */
    STATEMENT_UNKNOWN_PAYMENT, /* our reference, and no such payment here: money without an order */
    STATEMENT_NOT_CAPTURED,    /* captured there, not here: the provider is asked */
    STATEMENT_OTHER_AMOUNT,
    STATEMENT_UNKNOWN_REFUND, /* given back there, and no refund here */
    STATEMENT_REFUND_OPEN,    /* given back there, not confirmed here yet */
    STATEMENT_OTHER_REFUND,
    STATEMENT_VERDICTS,
};

/* As we make references: 16 hex digits, a dash, the number of the attempt. */
bool statement_reference_is_ours(struct span reference);
/* `payment` NULL: no payment of this provider has the reference. `refund` NULL: the payment has none. */
enum statement_verdict statement_judge(
    const struct statement_row *row, const struct payment *payment, const struct refund *refund);
const char *statement_verdict_name(enum statement_verdict verdict); /* stable: "unknown-payment" */

#endif
