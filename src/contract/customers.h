/* SPDX-License-Identifier: Apache-2.0 */
/* contract/customers.h: who a user is to the shop. A user id is a keyed hash of the shop's own name for the
 * customer (`sub` of its token), so the way back has to be kept: one row a user, written when the shop's
 * token opens a session. The name is sealed before it comes here; the store keeps bytes.
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_CUSTOMERS_H
#define STAMPEDE_CONTRACT_CUSTOMERS_H

#include "contract/order_store.h"

enum {
    CUSTOMER_NONCE_BYTES = 12, /* in front of what is sealed */
    CUSTOMER_TAG_BYTES = 16,   /* after it */
    CUSTOMER_SEALED_MAX = CUSTOMER_NONCE_BYTES + SUBJECT_BYTES_MAX + CUSTOMER_TAG_BYTES,
    CUSTOMERS_PUT_MAX = 512,
};

struct customer {
    user_id user;
    uint32_t bytes;
    uint8_t sealed[CUSTOMER_SEALED_MAX];
};

/* A part of the order store's operations; NULL where a store keeps no customers. */
struct customer_store_ops {
    /* One transaction, at most CUSTOMERS_PUT_MAX; users that are known stay as they are. */
    enum status (*put)(struct order_store *, const struct customer *, uint32_t count, uint64_t now_ms);
    /* STATUS_NOT_FOUND: nobody. */
    enum status (*get)(struct order_store *, user_id, struct customer *);
    /* Whether the order came from an offer to somebody who waited. */
    enum status (*was_offered)(struct order_store *, ticket_number, bool *offered);
};

#endif
