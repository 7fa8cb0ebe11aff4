/* SPDX-License-Identifier: Apache-2.0 */
/* contract/currency.h: the currencies that a price may be in: the active codes of ISO 4217 that
 * people pay with (no funds, metals or test codes), and how many digits their smallest unit has.
 * The one table of them. Thread: any. */
#ifndef STAMPEDE_CONTRACT_CURRENCY_H
#define STAMPEDE_CONTRACT_CURRENCY_H

#include "base/span.h"

enum { CURRENCY_DIGITS_MAX = 3, AMOUNT_CHARS_MAX = 24 };

/* False: not a code of the table (which is in capital letters). *digits: after the point. */
bool currency_find(struct span code, unsigned *digits);
/* "99.00" with 2 digits → 9900; "99.5" → 9950; "99" with no digits → 99. STATUS_BAD_INPUT: not an
 * amount, no point or too many digits after it, or above INT64_MAX. "99" is refused where there
 * are digits, because as a number it would mean the smallest unit. */
MUST_CHECK enum status amount_parse(struct span text, unsigned digits, uint64_t *minor);
/* 9900 with 2 digits → "99.00". */
void amount_format(uint64_t minor, unsigned digits, char out[AMOUNT_CHARS_MAX]);

#endif
