/* SPDX-License-Identifier: Apache-2.0 */
/* policy/limit_rules.h: limits over a period, per user and per payment identity (contract/limit_uses.h).
 * Pure functions. */
#ifndef STAMPEDE_POLICY_LIMIT_RULES_H
#define STAMPEDE_POLICY_LIMIT_RULES_H

#include "contract/limit_uses.h"

/* NULL: they fit together; else what is wrong with them. */
const char *limit_rules_wrong(const struct item_limits *limits);
/* The units of one holder that the item allows; 0: any number. */
uint32_t limit_most(const struct item_limits *limits, enum limit_kind kind);
/* What counts together: the product's items, or those of a numbered group; users and payers apart. */
uint64_t limit_scope(const struct item_limits *limits, uint32_t product, enum limit_kind kind);
/* A use counts while it began after this. */
uint64_t limit_since_ms(const struct item_limits *limits, uint64_t now_ms);
/* From this time on a use that begins now does not count any more. */
uint64_t limit_until_ms(const struct item_limits *limits, uint64_t now_ms);
/* Whether so many more units are within the limit; most 0: there is none. */
bool limit_allows(uint64_t used, uint32_t quantity, uint32_t most);

#endif
