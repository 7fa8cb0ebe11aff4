/* SPDX-License-Identifier: Apache-2.0 */
/* orders/statement.h: one row of a provider's statement against our books. Pure functions, any
 * thread. docs/payments.md has the names. */
#ifndef STAMPEDE_ORDERS_STATEMENT_H
#define STAMPEDE_ORDERS_STATEMENT_H

#include "base/span.h"
#include "contract/payment.h"
#include "contract/statement.h"

/* What a line of a statement comes to, a row each: name; what reports call it. */
#define STATEMENT_VERDICT_LIST(X) \
    X(AGREES, "agrees") \
    /* the reference is none of ours: the account takes other money too */ \
    X(OF_OTHERS, "of-others") \
    /* our reference, and no such payment here: money without an order */ \
    X(UNKNOWN_PAYMENT, "unknown-payment") \
    /* captured there, not here: the provider is asked */ \
    X(NOT_CAPTURED, "not-captured-here") \
    X(OTHER_AMOUNT, "other-amount") \
    /* given back there, and no refund here */ \
    X(UNKNOWN_REFUND, "unknown-refund") \
    /* given back there, not confirmed here yet */ \
    X(REFUND_OPEN, "refund-not-confirmed-here") \
    X(OTHER_REFUND, "other-refund-amount")

enum statement_verdict {
#define STATEMENT_VERDICT(verdict, name) STATEMENT_##verdict,
    STATEMENT_VERDICT_LIST(STATEMENT_VERDICT)
#undef STATEMENT_VERDICT
        STATEMENT_VERDICTS,
};

/* As we make references: 16 hex digits, a dash, the number of the attempt. */
bool statement_reference_is_ours(struct span reference);
/* `payment` NULL: no payment of this provider has the reference. `refund` NULL: the payment has none. */
enum statement_verdict statement_judge(
    const struct statement_row *row, const struct payment *payment, const struct refund *refund);
const char *statement_verdict_name(enum statement_verdict verdict); /* stable: "unknown-payment" */

#endif
