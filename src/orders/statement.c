/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/statement.h"

#include <string.h>

#define VERDICT_NAME(verdict, name) [STATEMENT_##verdict] = (name),
static const char *const names[STATEMENT_VERDICTS] = { STATEMENT_VERDICT_LIST(VERDICT_NAME) };

const char *statement_verdict_name(enum statement_verdict verdict)
{
    return names[verdict];
}

bool statement_reference_is_ours(struct span reference)
{
    enum { ID_CHARS = 16, ATTEMPT_CHARS_MAX = 2 };
    uint64_t id;
    uint32_t attempt;
    return reference.size > ID_CHARS + 1 && reference.size <= ID_CHARS + 1 + ATTEMPT_CHARS_MAX
        && reference.data[ID_CHARS] == '-'
        && span_to_hex64(span_of(reference.data, ID_CHARS), &id) == STATUS_OK
        && span_to_u32(span_of(reference.data + ID_CHARS + 1, reference.size - ID_CHARS - 1), &attempt)
        == STATUS_OK;
}

enum statement_verdict statement_judge(
    const struct statement_row *row, const struct payment *payment, const struct refund *refund)
{
    if (payment == NULL)
        return statement_reference_is_ours(span_from_string(row->reference)) ? STATEMENT_UNKNOWN_PAYMENT
                                                                             : STATEMENT_OF_OTHERS;
    if (row->kind == STATEMENT_CAPTURED) {
        if (payment->state != PAYMENT_CAPTURED)
            return STATEMENT_NOT_CAPTURED;
        return payment->captured == row->amount && strcmp(payment->currency, row->currency) == 0
            ? STATEMENT_AGREES
            : STATEMENT_OTHER_AMOUNT;
    }
    if (refund == NULL)
        return STATEMENT_UNKNOWN_REFUND;
    if (refund->amount != row->amount || strcmp(refund->currency, row->currency) != 0)
        return STATEMENT_OTHER_REFUND;
    return refund->state == REFUND_DONE ? STATEMENT_AGREES : STATEMENT_REFUND_OPEN;
}
