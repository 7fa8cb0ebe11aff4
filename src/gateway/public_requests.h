/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/public_requests.h: what everybody may read, and how a visitor gets a session and a pass.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_PUBLIC_REQUESTS_H
#define STAMPEDE_GATEWAY_PUBLIC_REQUESTS_H

#include "contract/types.h"
#include "edge/edge.h"

struct exchange;

enum edge_verdict public_time(struct exchange *exchange);
enum edge_verdict public_shop(struct exchange *exchange);
enum edge_verdict public_sales(struct exchange *exchange);
enum edge_verdict public_sale(struct exchange *exchange, sale_id id);
enum edge_verdict public_item(struct exchange *exchange, item_id id);
enum edge_verdict public_session(struct exchange *exchange);
enum edge_verdict public_pass(struct exchange *exchange, item_id item);
enum edge_verdict public_ready(struct exchange *exchange);
enum edge_verdict public_metrics(struct exchange *exchange);

#endif
