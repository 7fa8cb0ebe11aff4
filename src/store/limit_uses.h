/* SPDX-License-Identifier: Apache-2.0 */
/* store/limit_uses.h: limits over a period (contract/limit_uses.h), inside of the transaction that writes an
 * order or pays it. `holder`: a user, or a payment identity. The order that a limit is asked for has its item
 * locked; here the group is, so that two sales at once don't both let the last unit through. */
#ifndef STAMPEDE_STORE_LIMIT_USES_H
#define STAMPEDE_STORE_LIMIT_USES_H

#include "contract/limit_uses.h"
#include "store/parts.h"

extern const char store_limit_tables[];
extern const struct limit_store_ops store_limit_ops;
enum status store_item_limits(struct order_store *, item_id, const struct item_limits *);

/* Whether so many more units would pass the limit. */
MUST_CHECK enum status store_limit_look(struct store *, const struct stock_row *, enum limit_kind,
    uint64_t holder, uint32_t quantity, uint64_t now_ms, bool *over);
/* The order's units count from now on. */
MUST_CHECK enum status store_limit_take(struct store *, const struct stock_row *, enum limit_kind,
    uint64_t holder, ticket_number, uint32_t quantity, uint64_t now_ms);
/* They don't any more. */
MUST_CHECK enum status store_limit_free(struct store *, const struct stock_row *, ticket_number);
/* The order was closed for this limit. */
MUST_CHECK enum status store_limit_mark(struct store *, ticket_number, enum limit_kind);

#endif
