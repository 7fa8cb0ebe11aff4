/* SPDX-License-Identifier: Apache-2.0 */
/* policy/sale_copy.h: a new sale after the model of another one: what it inherits. Pure functions. */
#ifndef STAMPEDE_POLICY_SALE_COPY_H
#define STAMPEDE_POLICY_SALE_COPY_H

#include "contract/order_store.h"

/* The item as it was before anything was sold. What the other channels and the safety stock do not
 * get is the web channel's, as when it is preheated. False: there is not enough for them. */
MUST_CHECK bool item_renew(struct item *item);
/* What a copy does not inherit: everything that has happened to the old sale, and its beacon, which
 * must be named before anybody can know its value. */
void sale_renew(struct sale *sale);

#endif
