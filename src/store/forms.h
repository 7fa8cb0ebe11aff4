/* SPDX-License-Identifier: Apache-2.0 */
/* store/forms.h: reads the forms of store/driver.h that every database says in another way.
 * Pure functions; what they answer points into the statement. */
#ifndef STAMPEDE_STORE_FORMS_H
#define STAMPEDE_STORE_FORMS_H

#include "base/span.h"

/* Form 8: ALTER TABLE table CHECK number column(condition). */
struct check_change {
    struct span table, column;
    uint32_t number;
    struct span condition; /* with its brackets, and whatever follows them */
};

/* False: the statement has another form. */
static inline bool check_change_read(struct span statement, struct check_change *change)
{
    const struct span start = SPAN("ALTER TABLE "), word = SPAN("CHECK "), blank = SPAN(" ");
    struct span rest = statement;
    if (!span_starts_with(rest, start))
        return false;
    rest = span_of(rest.data + start.size, rest.size - start.size);
    if (!span_take_until(&rest, ' ', &change->table) || !span_starts_with(rest, word))
        return false;
    rest = span_of(rest.data + word.size, rest.size - word.size);
    if (!span_take_u32(&rest, &change->number) || !span_take_until(&rest, '(', &change->column))
        return false;
    change->column = span_trim(change->column, blank);
    change->condition = span_of(rest.data - 1, rest.size + 1);
    return true;
}

#endif
