/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/order_news.h"

#include "api/link.h"
#include "base/clock.h"
#include "contract/order_store.h"
#include "worker/order_recent.h"
#include "worker/webhooks.h"

/* Whose order it is; 0: nobody's. A store that is away knows nothing: all edges are to look. */
static user_id order_user(struct order_news *news, ticket_number ticket)
{
    struct order order;
    const enum status status = news->store->ops->order_by_ticket(news->store, ticket, &order);
    if (status == STATUS_OK)
        return order.user;
    if (status != STATUS_NOT_FOUND)
        link_many_changed(news->link);
    return 0;
}

void order_news_tell(void *context, ticket_number ticket, user_id user)
{
    struct order_news *news = context;
    webhooks_look(news->webhooks);
    order_recent_note(news->recent, ticket, clock_monotonic_ms());
    link_order_changed(news->link, ticket, user != 0 ? user : order_user(news, ticket));
}

void order_news_heard(struct order_news *news, ticket_number ticket, user_id user)
{
    webhooks_look(news->webhooks);
    order_recent_note(news->recent, ticket, clock_monotonic_ms());
    link_order_heard(news->link, ticket, user != 0 ? user : order_user(news, ticket));
}

void order_news_many(struct order_news *news)
{
    webhooks_look(news->webhooks);
    order_recent_note_all(news->recent, clock_monotonic_ms());
    link_many_changed(news->link);
}
