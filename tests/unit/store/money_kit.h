/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/store/money_kit.h: a database with one pending order, ticket 1, and its money. */
#ifndef STAMPEDE_TESTS_SQLITE_MONEY_H
#define STAMPEDE_TESTS_SQLITE_MONEY_H

#include "contract/payment.h"
#include "tests/unit/store/place.h"

/* The state is a struct place. */
int money_rows_setup(void **state);
int money_rows_teardown(void **state);
/* Through the provider alpha. */
enum status row_started(struct place *place, ticket_number ticket, const char *reference);
void row_paid_by_another(struct place *place); /* than what was started */
/* What ticket 1 costs, in a callback. */
enum status row_captured(struct place *place, const char *reference, uint8_t *answer);

#endif
