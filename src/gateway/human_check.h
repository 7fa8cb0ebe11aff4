/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/human_check.h: the human check on the edge. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_HUMAN_CHECK_H
#define STAMPEDE_GATEWAY_HUMAN_CHECK_H

#include "contract/types.h"
#include "edge/edge.h"

struct catalog_sale;
struct exchange;
struct pass;

enum edge_verdict public_challenge(struct exchange *exchange, item_id item);
/* Gives the pass, if the sale asks for no human check, or it is passed. */
enum edge_verdict human_pass(
    struct exchange *exchange, const struct catalog_sale *sale, const struct pass *pass);

#endif
