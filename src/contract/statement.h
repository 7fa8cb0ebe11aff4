/* SPDX-License-Identifier: Apache-2.0 */
/* contract/statement.h: a provider's statement (bill, list of balance transactions), row by row, as
 * it is compared with our books. payment/statement.h reads files, orders/statement.h judges rows. */
#ifndef STAMPEDE_CONTRACT_STATEMENT_H
#define STAMPEDE_CONTRACT_STATEMENT_H

#include "contract/limits.h"
#include "contract/types.h"

enum statement_kind { STATEMENT_CAPTURED, STATEMENT_REFUNDED };
struct statement_row {
    uint8_t kind;                            /* enum statement_kind */
    char reference[REFERENCE_BYTES_MAX + 1]; /* "": the provider does not say */
    uint64_t amount;                         /* minor units */
    char currency[4];
    uint64_t time_ms; /* 0: not said */
};

/* Of ours, and in no statement so far. */
struct statement_missing {
    uint64_t id; /* of the payment, or of the refund */
    ticket_number ticket;
    char reference[REFERENCE_BYTES_MAX + 1]; /* the payment's */
    uint64_t amount;
    char currency[4];
    uint64_t time_ms;
};

#endif
