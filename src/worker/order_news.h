/* SPDX-License-Identifier: Apache-2.0 */
/* worker/order_news.h: an order has changed: the edges hear of it at once, the shop by a webhook.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ORDER_NEWS_H
#define STAMPEDE_WORKER_ORDER_NEWS_H

#include "contract/types.h"

struct link;
struct order_recent;
struct order_store;
struct webhooks;

struct order_news {
    struct link *link;
    struct order_store *store;
    struct webhooks *webhooks;
    struct order_recent *recent;
};
/* context: the struct order_news; user 0: whoever the store says. */
void order_news_tell(void *context, ticket_number ticket, user_id user);

/* Another process has told it. */
void order_news_heard(struct order_news *news, ticket_number ticket, user_id user);

void order_news_many(struct order_news *news); /* which orders have changed is not known */

#endif
