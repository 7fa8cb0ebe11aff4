/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/people.h: buyers and operators. They ask any gateway, ask again with the same key
 * when they are not answered, and ask for their ticket while it is being decided. Everything that a gateway
 * tells is compared with the database at that moment. */
#ifndef STAMPEDE_TESTS_CLUSTER_PEOPLE_H
#define STAMPEDE_TESTS_CLUSTER_PEOPLE_H

#include "tests/simulation/cluster/cluster.h"

void people_start(void);
void people_turn(void); /* somebody does something */
void people_collect(struct gateway *gateway);
void people_gateway_died(const struct gateway *gateway);
bool people_wait(void); /* somebody has no answer that is an end yet */

/* For the check at rest: a new user, one unit. */
uint32_t people_buy(item_id item);
/* What that one was told in the end; ANSWER_NONE: nothing yet. */
enum answer people_told(uint32_t attempt);
void people_rest(void); /* nobody wants anything new, and sales go on that were paused */
/* The tickets that were told as being decided, one by one; NULL: no more. Answers how many there are. */
uint32_t people_promises(const ticket_number **ticket, uint32_t index);
/* Whoever was told of a win still has it. */
void people_check(void);
uint64_t people_wins(void);
uint64_t people_asked(void);
uint64_t people_voids(void);

#endif
