/* SPDX-License-Identifier: Apache-2.0 */
/* orders/provider_news.h: what a provider has said of a payment, as news for the store. Pure. */
#ifndef STAMPEDE_ORDERS_PROVIDER_NEWS_H
#define STAMPEDE_ORDERS_PROVIDER_NEWS_H

#include "base/hash.h"
#include "contract/provider.h"

/* WORD_CAPTURED, or closed. The payer's name is replaced by its keyed hash and kept nowhere. */
struct payment_news provider_news(struct hash_key payer_key, const char *provider,
    const struct provider_said *said, uint64_t now_ms);

#endif
