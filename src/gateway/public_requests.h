/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/public_requests.h: what everybody may read, and how a visitor gets a session and a pass.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_PUBLIC_REQUESTS_H
#define STAMPEDE_GATEWAY_PUBLIC_REQUESTS_H

#include "contract/types.h"
#include "edge/edge.h"

struct address;
struct exchange;
struct pass;
struct reply_to;
struct routes;

enum edge_verdict public_time(struct exchange *exchange);
enum edge_verdict public_shop(struct exchange *exchange);
enum edge_verdict public_today(struct exchange *exchange);
enum edge_verdict public_sales(struct exchange *exchange);
enum edge_verdict public_sale(struct exchange *exchange, sale_id id);
enum edge_verdict public_item(struct exchange *exchange, item_id id);
enum edge_verdict public_session(struct exchange *exchange);
enum edge_verdict public_pass(struct exchange *exchange, item_id item);
/* The pass is given: now, or to a request that was deferred. */
enum edge_verdict pass_reply(struct exchange *exchange, const struct pass *pass);
void pass_complete(struct routes *routes, const struct reply_to *to, const struct address *client,
    const struct pass *pass);
enum edge_verdict public_ready(struct exchange *exchange);
enum edge_verdict public_metrics(struct exchange *exchange);

#endif
